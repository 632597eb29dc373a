//! Whether an entity is active twice, or nowhere.
//!
//! A list over all scenes is no snapshot: an entity that moves while it is made can show up at the source
//! and at the target, though never active at both at once. Epochs tell the two cases apart, because
//! an epoch has one owner and only rises:
//!
//! - one epoch, active in two scenes: twins;
//! - active under an epoch below one that an *earlier, finished* list showed active: twins, because the older
//!   copy was seen to act after the younger one had taken over.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_proto::admin::EntityRow;

/// What was seen of the walkers of a tour, list by list.
#[derive(Debug, Default)]
pub struct Sightings {
    walkers: BTreeSet<String>,
    newest: BTreeMap<String, u64>,
    places: BTreeMap<(String, u64), String>,
    twins: BTreeSet<String>,
    active_last: BTreeSet<String>,
}

impl Sightings {
    /// Watches these walkers.
    #[must_use]
    pub fn of(walkers: impl IntoIterator<Item = String>) -> Self {
        Self { walkers: walkers.into_iter().collect(), ..Self::default() }
    }

    /// Takes in a finished list. The next one must have been asked for after this one was finished.
    pub fn see(&mut self, rows: &[EntityRow]) {
        let active: Vec<&EntityRow> =
            rows.iter().filter(|row| row.state == "active" && self.walkers.contains(&row.entity)).collect();
        for row in &active {
            let is_old = self.newest.get(&row.entity).is_some_and(|newest| row.epoch < *newest);
            let place = format!("{}@{}", row.scene, row.node);
            let known = self.places.entry((row.entity.clone(), row.epoch)).or_insert_with(|| place.clone());
            if is_old || *known != place {
                self.twins.insert(row.entity.clone());
            }
        }
        self.active_last = active.iter().map(|row| row.entity.clone()).collect();
        for row in active {
            let newest = self.newest.entry(row.entity.clone()).or_default();
            *newest = row.epoch.max(*newest);
        }
        self.places.retain(|(entity, epoch), _| self.newest.get(entity) == Some(epoch));
    }

    /// Walkers that the last list did not show active; once all is quiet there must be none.
    pub fn absent(&self) -> impl Iterator<Item = &String> {
        self.walkers.difference(&self.active_last)
    }

    /// How many walkers were active twice.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.twins.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::canned;

    fn row(scene: &str, epoch: u64, state: &str) -> EntityRow {
        EntityRow { scene: scene.into(), epoch, state: state.into(), ..canned::row() }
    }

    fn twins_in(lists: &[&[EntityRow]]) -> u64 {
        let mut sightings = Sightings::of(["1.4".to_owned()]);
        lists.iter().for_each(|list| sightings.see(list));
        sightings.count()
    }

    #[test]
    fn a_walker_that_moves_between_and_during_lists_is_one() {
        let (old, new) = (row("forest", 7, "active"), row("harbor", 8, "active"));
        assert_eq!(twins_in(&[std::slice::from_ref(&old), &[old.clone(), new.clone()], &[new]]), 0);
    }

    #[test]
    fn two_places_under_one_epoch_are_twins() {
        assert_eq!(twins_in(&[&[row("forest", 7, "active"), row("harbor", 7, "active")]]), 1);
        assert_eq!(twins_in(&[&[row("forest", 7, "active")], &[row("harbor", 7, "active")]]), 1);
    }

    #[test]
    fn an_old_copy_that_acts_after_the_new_one_took_over_is_a_twin() {
        let both = [row("forest", 7, "active"), row("harbor", 8, "active")];
        assert_eq!(twins_in(&[&both, &both]), 1);
    }

    #[test]
    fn a_walker_that_is_nowhere_active_is_absent() {
        let mut sightings = Sightings::of(["1.4".to_owned()]);
        sightings.see(&[row("forest", 7, "active")]);
        assert_eq!(sightings.absent().count(), 0);
        sightings.see(&[row("forest", 7, "frozen")]);
        assert_eq!(sightings.absent().collect::<Vec<_>>(), ["1.4"]);
    }

    #[test]
    fn frozen_copies_and_strangers_do_not_count() {
        let both = [row("forest", 7, "frozen"), row("harbor", 8, "active")];
        assert_eq!(twins_in(&[&both, &both]), 0);
        let stranger = |scene: &str| EntityRow { entity: "9.9".into(), ..row(scene, 1, "active") };
        assert_eq!(twins_in(&[&[stranger("forest"), stranger("harbor")]]), 0);
    }
}
