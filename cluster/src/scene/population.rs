//! The entities that live in a scene, by id.
//!
//! Every message looks its receiver up here, so that costs one step of a hash map; an ordered walk is
//! for people and tools, and has a list of its own.
//!
//! Keeps: both know the same ids.

use std::collections::BTreeSet;
use std::ops::Index;

use slipgate_entity::{FixedMap, OnlineId};

use super::phase::Live;

#[derive(Clone, Debug, Default)]
pub(super) struct Population {
    /// Boxed, so that the map stays small: what a look-up walks over fits into the cache.
    lives: FixedMap<OnlineId, Box<Live>>,
    order: BTreeSet<OnlineId>,
}

impl Population {
    #[inline]
    pub(super) fn get(&self, id: &OnlineId) -> Option<&Live> {
        self.lives.get(id).map(AsRef::as_ref)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: &OnlineId) -> Option<&mut Live> {
        self.lives.get_mut(id).map(AsMut::as_mut)
    }

    pub(super) fn contains_key(&self, id: &OnlineId) -> bool {
        self.lives.contains(id)
    }

    pub(super) fn insert(&mut self, id: OnlineId, live: Live) -> Option<Box<Live>> {
        self.order.insert(id);
        self.lives.insert(id, Box::new(live))
    }

    pub(super) fn remove(&mut self, id: &OnlineId) -> Option<Box<Live>> {
        self.order.remove(id);
        self.lives.remove(id)
    }

    /// In the order of their ids.
    pub(super) fn values(&self) -> impl Iterator<Item = &Live> + '_ {
        self.order.iter().map(|id| &self[id])
    }

    /// By id.
    pub(super) fn ids(&self) -> impl Iterator<Item = OnlineId> + '_ {
        self.order.iter().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.lives.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lives.is_empty()
    }
}

impl Index<&OnlineId> for Population {
    type Output = Live;

    fn index(&self, id: &OnlineId) -> &Live {
        self.get(id).expect("the caller holds a live entity")
    }
}
