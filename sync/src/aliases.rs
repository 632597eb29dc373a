//! What entities are called on the wire to the clients of a node.
//!
//! ```text
//! 3.1204 --> 7     in view at some client
//! 3.1205 --> 8     out of all views since tick 40: 8 rests until no client has a baseline of tick 40 or before
//! ```
//!
//! Keeps: an entity has one alias for as long as somebody sees it, over any number of moves; an alias is not given to another while
//! some baseline may hold it. 0 is nobody's.

use std::collections::VecDeque;

use slipgate_entity::{FixedMap, OnlineId};

use crate::state::Alias;

/// The aliases of a node's session.
///
/// ```
/// use slipgate_entity::{OnlineId, RangeId};
/// use slipgate_sync::{Alias, Aliases};
///
/// let mut aliases = Aliases::default();
/// let [ann, bob, cid] = [1, 2, 3].map(|counter| OnlineId::new(RangeId(3), counter));
/// assert_eq!((aliases.of(ann), aliases.of(bob), aliases.of(ann)), (Alias(1), Alias(2), Alias(1)));
///
/// aliases.release(ann, 40);
/// aliases.free_before(Some(40));
/// assert_eq!(aliases.of(cid), Alias(3));
/// aliases.free_before(Some(41));
/// assert_eq!(aliases.of(ann), Alias(1));
/// ```
#[derive(Debug, Default)]
pub struct Aliases {
    of: FixedMap<OnlineId, Alias>,
    /// With the last tick at which somebody may have seen them, the earliest first.
    resting: VecDeque<(u32, Alias)>,
    free: Vec<Alias>,
    given: u32,
}

impl Aliases {
    /// The alias of an entity: the one that it has, or a new one.
    ///
    /// # Panics
    ///
    /// If 2^32 - 1 are in use.
    pub fn of(&mut self, entity: OnlineId) -> Alias {
        let Self { of, free, given, .. } = self;
        *of.or_insert_with(entity, || {
            free.pop().unwrap_or_else(|| {
                *given = given.checked_add(1).expect("fewer than 2^32 entities in view at once");
                Alias(*given)
            })
        })
    }

    /// The alias that an entity has, if it has any.
    #[must_use]
    pub fn known(&self, entity: OnlineId) -> Option<Alias> {
        self.of.get(&entity).copied()
    }

    /// An entity is in no view any more: `tick` is the last at which it may have been seen. Ticks rise.
    pub fn release(&mut self, entity: OnlineId, tick: u32) {
        if let Some(alias) = self.of.remove(&entity) {
            self.resting.push_back((tick, alias));
        }
    }

    /// Gives aliases free that no baseline holds: `oldest` is the oldest tick that is somebody's, none if nobody has any.
    pub fn free_before(&mut self, oldest: Option<u32>) {
        while let Some(&(tick, alias)) = self.resting.front()
            && oldest.is_none_or(|oldest| tick < oldest)
        {
            self.resting.pop_front();
            self.free.push(alias);
        }
    }

    /// Aliases that are in use or rest.
    #[must_use]
    pub fn held(&self) -> usize {
        self.of.len() + self.resting.len()
    }
}
