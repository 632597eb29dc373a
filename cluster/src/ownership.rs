//! Which owner has which entities.
//!
//! ```text
//! page 3.0 (ids 3.0 to 3.1023)       owner 1: scene 1 of 7#2
//!   ...  3.41 -> owner 1, seat 0       entities  [3.41, 3.97]
//!   ...  3.97 -> owner 1, seat 1                  seat 0, seat 1
//! ```
//!
//! Each entity has a word: its owner and its seat in that owner's list. So an entity leaves a list
//! without anybody searching it: the last one takes the seat. Words lie in pages indexed by the id's
//! counter, because a node gives out its counters one after the other: neighbours share a page, and
//! a lonely high counter costs a page and the way to it, not the array below it.
//!
//! Keeps: an entity is in exactly the list of its owner, in the seat that its word names; every
//! operation touches at most two words; what is empty is given back, so memory follows the entities
//! owned at once, not the sessions ever seen.
//! Leaves out: epochs and compare-and-set (`directory`); who may change an owner.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use slipgate_entity::OnlineId;

use self::owners::Owners;
use self::pages::Pages;
use crate::Own;

mod owners;
mod pages;

#[cfg(test)]
mod tests;

/// The owners of entities, by id and by owner. All operations are O(1), whoever owns how many.
///
/// Takes 16 bytes for each entity: eight for its word, eight in its owner's list. Beside that, up to 8 KiB for
/// each page that is not full, 8 KiB for each million of counters that has an entity in it, and for each range
/// at most 64 KiB: so much for a counter at its end.
///
/// ```
/// use slipgate_cluster::ownership::Ownership;
/// use slipgate_cluster::{Own, Session};
/// use slipgate_entity::{OnlineId, RangeId, SceneId};
///
/// let forest = Own::new(Session::new(1, 1), SceneId(1));
/// let ann = OnlineId::new(RangeId(3), 1204);
/// let mut ownership = Ownership::default();
/// ownership.assign(ann, forest);
/// assert_eq!(ownership.owner_of(ann), Some(forest));
/// assert_eq!(ownership.list(forest), [ann]);
/// ```
#[derive(Clone, Default)]
pub struct Ownership {
    pages: Pages,
    owners: Owners,
    len: usize,
}

impl Ownership {
    /// Makes `own` the owner of `id` and returns who was it before.
    pub fn assign(&mut self, id: OnlineId, own: Own) -> Option<Own> {
        let before = self.pages.get(id).map(|seat| (seat, self.owners.own(seat.owner)));
        match before {
            Some((_, old)) if old == own => return Some(old),
            Some((seat, _)) => self.leave(seat),
            None => self.len += 1,
        }
        self.pages.set(id, self.owners.join(own, id));
        before.map(|(_, old)| old)
    }

    /// Who owns `id`.
    #[must_use]
    #[inline]
    pub fn owner_of(&self, id: OnlineId) -> Option<Own> {
        Some(self.owners.own(self.pages.owner(id)?))
    }

    /// Forgets `id` and returns who owned it.
    pub fn retire(&mut self, id: OnlineId) -> Option<Own> {
        let seat = self.pages.clear(id)?;
        let own = self.owners.own(seat.owner);
        self.leave(seat);
        self.len -= 1;
        Some(own)
    }

    /// How many entities `own` has.
    #[must_use]
    pub fn count(&self, own: Own) -> usize {
        self.list(own).len()
    }

    /// The entities that `own` has, in no promised order but the same in every run.
    #[must_use]
    pub fn list(&self, own: Own) -> &[OnlineId] {
        self.owners.list(own)
    }

    /// Everybody who has entities, in no promised order but the same in every run.
    pub fn owners(&self) -> impl Iterator<Item = Own> + '_ {
        self.owners.iter()
    }

    /// Entities that have an owner.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no entity has an owner.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Empties a seat; whoever is moved into it gets its word corrected.
    fn leave(&mut self, seat: Seat) {
        if let Some(moved) = self.owners.leave(seat) {
            self.pages.set(moved, seat);
        }
    }
}

/// Who owns what, in order: numbers of owners and seats are the same to everybody.
impl fmt::Debug for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owned: BTreeMap<_, BTreeSet<_>> = self.owners().map(|own| (own, self.list(own).iter().collect())).collect();
        f.debug_map().entries(owned).finish()
    }
}

/// The word of an entity: its owner, and its place in that owner's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seat {
    owner: owners::OwnerNumber,
    place: u32,
}
