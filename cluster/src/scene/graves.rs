//! What the scene remembers of entities that are gone: where they went, and the highest epoch that it knows.
//!
//! It is forgotten after a while. But where the home has named the target of a move and only the source has heard so,
//! the source's memory is all that tells a new home that the target's copy is the one that counts, should this one
//! die now. So that is kept until the target is known to have taken over, or to be dead.
//!
//! Keeps: no copy with a label up to a remembered epoch is ever staged; what is remembered is bounded.

use slipgate_entity::OnlineId;

use super::talk::send;
use super::{Destination, Output, Scene};
use crate::bounds::TOMBSTONES;
use crate::message::Control;
use crate::moves::MoveId;
use crate::{Now, Record, Rule};

/// What the scene remembers of an entity that is gone.
#[derive(Clone, Debug)]
pub(super) struct Tombstone {
    /// What the home said last. No copy with a label up to its epoch is ever staged.
    pub(super) record: Record,
    pub(super) until: Now,
    /// The move by which it left, while its target is not known to have taken over.
    handed_over: Option<MoveId>,
}

impl Scene {
    pub(super) fn bury(&mut self, entity: OnlineId, record: Record, now: Now) {
        self.put_into_grave(entity, Tombstone { record, until: now, handed_over: None }, now);
        if self.graves.len() > TOMBSTONES {
            self.forget_oldest_grave(None, &mut Vec::new());
        }
    }

    fn put_into_grave(&mut self, entity: OnlineId, tombstone: Tombstone, now: Now) {
        let until = now + self.limits.tombstone;
        self.gone.insert(entity, Tombstone { until, ..tombstone });
        self.graves.push_back((until, entity));
    }

    /// The home has named the target of a move, which has not said that it knows.
    pub(super) fn await_takeover(&mut self, entity: OnlineId, id: MoveId) {
        if let Some(tombstone) = self.gone.get_mut(&entity) {
            tombstone.handed_over = Some(id);
        }
    }

    /// The target says that it has taken over.
    pub(super) fn note_takeover(&mut self, entity: OnlineId, id: MoveId) {
        if let Some(tombstone) = self.gone.get_mut(&entity).filter(|tombstone| tombstone.handed_over == Some(id)) {
            tombstone.handed_over = None;
        }
    }

    /// The home's word on an entity that is gone: what changed since, only an owner that knew can have changed.
    pub(super) fn gone_record(&mut self, entity: OnlineId, record: Record) {
        let Some(tombstone) = self.gone.get_mut(&entity) else { return };
        let known = &tombstone.record;
        // A new home begins its term at count 0 by itself.
        let is_changed = record.owner != known.owner || record.data != known.data || record.epoch.previous().is_some();
        if record.epoch > known.epoch && is_changed {
            tombstone.handed_over = None;
        }
    }

    pub(super) fn forget_graves(&mut self, now: Now, out: &mut Vec<Output>) {
        while self.graves.front().is_some_and(|(until, _)| *until <= now) {
            self.forget_oldest_grave(Some(now), out);
        }
    }

    /// Forgets the oldest, unless there is time `now` to keep it for its target.
    fn forget_oldest_grave(&mut self, now: Option<Now>, out: &mut Vec<Output>) {
        let Some((until, entity)) = self.graves.pop_front() else { return };
        let Some(tombstone) = self.gone.get(&entity).filter(|tombstone| tombstone.until == until) else { return };
        if let (Some(now), Some(id), Some(owner)) = (now, tombstone.handed_over, tombstone.record.owner)
            && !self.view.is_dead(owner.session)
            && self.rules.keep(Rule::TombstonesAwaitTheTarget)
        {
            let (tombstone, nonce) = (tombstone.clone(), self.nonce());
            self.put_into_grave(entity, tombstone, now);
            out.push(send(Destination::Place(owner.into()), Control::IsActive { entity, id }));
            out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
            return;
        }
        self.gone.remove(&entity);
    }
}
