//! How much a router keeps for each owner, and over all of them.
//!
//! An owner that is slow, or cut off, acknowledges nothing, and whatever is said to its entities stays. So it may have
//! as much of the router as is left for all others, in messages and in bytes: one such owner comes to half of the
//! router, a second one to a quarter. Where the owner is not known, it is the home that keeps everybody waiting, and
//! all entities of one range have a share in common.
//!
//! Keeps: what was taken in is given back under the owner under which it stood; a share of nothing is forgotten.

use slipgate_entity::{FixedMap, RangeId};

use crate::budget::Load;
use crate::{Limits, Own};

/// Who keeps messages waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Share {
    /// The owner of their receivers.
    Owner(Own),
    /// The home of their receivers, of which the owner is not known.
    Home(RangeId),
}

/// What is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    all: Load,
    each: FixedMap<Share, Load>,
}

impl Shares {
    /// What is kept over all owners.
    pub(super) fn all(&self) -> Load {
        self.all
    }

    /// Owners for which something is kept.
    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    /// Whether a message with so many bytes may be taken in.
    pub(super) fn admit(&self, share: Share, bytes: usize, limits: &Limits) -> bool {
        let own = self.each.get(&share).copied().unwrap_or_default();
        let fits = |own: usize, all: usize, more: usize, bound: usize| own + more <= bound.saturating_sub(all);
        fits(own.messages, self.all.messages, 1, limits.router_queue)
            && fits(own.bytes, self.all.bytes, bytes, limits.router_bytes)
    }

    /// Counts what is taken in.
    pub(super) fn put(&mut self, share: Share, load: Load) {
        if load == Load::default() {
            return;
        }
        self.all += load;
        match self.each.get_mut(&share) {
            Some(own) => *own += load,
            None => drop(self.each.insert(share, load)),
        }
    }

    /// Counts what is done with.
    pub(super) fn take(&mut self, share: Share, load: Load) {
        if load == Load::default() {
            return;
        }
        self.all -= load;
        let own = self.each.get_mut(&share).expect("what is done with was taken in under the same owner");
        *own -= load;
        if *own == Load::default() {
            self.each.remove(&share);
        }
    }
}
