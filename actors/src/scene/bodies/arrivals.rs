//! Copies that are not active yet.
//!
//! Keeps: each is found by its id and by its persist id, in one look-up however many wait.

use slipgate_entity::{FixedMap, OnlineId, PersistId, SceneId};

use super::apart::Apart;

/// A copy, and what becomes of it once it is the entity.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) body: Apart,
    pub(super) from: SceneId,
    pub(super) is_parked: bool,
}

#[derive(Debug, Default)]
pub(super) struct Arrivals {
    waiting: FixedMap<OnlineId, Arrival>,
    by_persist: FixedMap<PersistId, OnlineId>,
}

impl Arrivals {
    /// Keeps a copy; returns the one of the same entity that waited before. Nobody else's copy has its persist id.
    pub(super) fn insert(&mut self, entity: OnlineId, arrival: Arrival) -> Option<Arrival> {
        let before = self.remove(entity);
        let other = self.by_persist.insert(arrival.body.body().description().persist(), entity);
        assert_eq!(other, None, "expected the persist id of {entity} to be its own");
        self.waiting.insert(entity, arrival);
        before
    }

    pub(super) fn remove(&mut self, entity: OnlineId) -> Option<Arrival> {
        let arrival = self.waiting.remove(&entity)?;
        self.by_persist.remove(&arrival.body.body().description().persist());
        Some(arrival)
    }

    /// Whose copy has a persist id.
    pub(super) fn by_persist(&self, persist: PersistId) -> Option<OnlineId> {
        self.by_persist.get(&persist).copied()
    }
}
