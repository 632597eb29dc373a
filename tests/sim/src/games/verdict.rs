//! Who lives where, and whether all is at rest.

use std::time::Duration;

use slipgate_cluster::{Own, Record};
use slipgate_entity::OnlineId;

use super::World;
use crate::cast::Staged;

impl World {
    /// Where an entity is: where it takes turns, or where it waits for the end of a move.
    #[must_use]
    pub fn whereabouts(&self, entity: OnlineId) -> Option<Own> {
        let active = self.cluster.active(entity).into_iter().next();
        let has = |stage: &&super::house::House| stage.machine().stand(entity).is_some();
        active.or_else(|| self.cluster.open_stages().find(has).map(Staged::me))
    }

    /// Whether an entity was lost, with its node or the home of its id.
    #[must_use]
    pub fn is_lost(&self, entity: OnlineId) -> bool {
        let is_called_lost = self.cluster.record(entity).is_some_and(|record| record.owner.is_none() && record.lost);
        is_called_lost || self.cluster.cast.lost.contains(&entity)
    }

    /// Lets time pass until exactly one scene lets an entity take turns, and its home says so.
    ///
    /// # Errors
    ///
    /// If that does not come about within `limit`; says what there is.
    pub fn exactly_one(&mut self, entity: OnlineId, limit: Duration) -> Result<Own, String> {
        let the_one = |world: &Self| {
            let active = world.cluster.active(entity);
            let [own] = active.as_slice() else { return None };
            world.cluster.record(entity).is_some_and(|record| record.names(*own)).then_some(*own)
        };
        // Nobody who is dead comes back.
        let is_over = |world: &Self| {
            the_one(world).is_some() || world.cluster.record(entity).is_some_and(|record| record.owner.is_none())
        };
        self.run_until(limit, is_over);
        the_one(self).ok_or_else(|| self.found(entity))
    }

    fn found(&self, entity: OnlineId) -> String {
        let text = |own: &Own| self.view().own_text(*own);
        let active: Vec<String> = self.cluster.active(entity).iter().map(text).collect();
        let active = if active.is_empty() { "no scene".to_owned() } else { active.join(" and ") };
        let record = match self.cluster.record(entity) {
            None => "its home does not answer".to_owned(),
            Some(Record { owner: Some(owner), .. }) => format!("its home names {}", text(&owner)),
            Some(Record { lost: true, .. }) => "its home calls it lost".to_owned(),
            Some(Record { .. }) => "its home says that it was despawned".to_owned(),
        };
        format!("it takes turns in {active}, and {record}")
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.cluster.unsettled().iter().all(|(_, count)| *count == 0)
    }

    /// Lets time pass until nothing is under way: no move, no message, no join, no verdict.
    ///
    /// # Errors
    ///
    /// What is still under way after `limit`.
    pub fn rest(&mut self, limit: Duration) -> Result<(), Vec<(&'static str, u64)>> {
        if self.run_until(limit, Self::is_at_rest) {
            return Ok(());
        }
        Err(self.cluster.unsettled().into_iter().filter(|(_, count)| *count > 0).collect())
    }
}
