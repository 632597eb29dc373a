//! Owners under small numbers, each with the list of its entities.
//!
//! An owner has a number while it owns something. The number of one that lost its last entity goes to
//! the next newcomer, so a hundred thousand sessions that come and go take as many numbers as there
//! are at once.

use std::num::NonZeroU32;

use slipgate_entity::{FixedMap, OnlineId};

use super::Seat;
use crate::Own;

/// Number of an owner that has entities; from 1, so that a word without an owner needs no extra room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnerNumber(NonZeroU32);

#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    numbers: FixedMap<Own, OwnerNumber>,
    /// By number, apart from their lists: it is what every message asks for. Where the list is empty, the number is
    /// free and this is whoever had it last.
    owners: Vec<Own>,
    /// By number.
    lists: Vec<Vec<OnlineId>>,
    free: Vec<OwnerNumber>,
}

impl Owners {
    #[inline]
    pub(super) fn own(&self, number: OwnerNumber) -> Own {
        self.owners[number.index()]
    }

    pub(super) fn list(&self, own: Own) -> &[OnlineId] {
        self.numbers.get(&own).map_or(&[], |number| &self.lists[number.index()])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Own> + '_ {
        self.owners.iter().zip(&self.lists).filter(|(_, list)| !list.is_empty()).map(|(&own, _)| own)
    }

    /// Puts `id` at the end of the list of `own`, which gets a number if it has none.
    pub(super) fn join(&mut self, own: Own, id: OnlineId) -> Seat {
        let owner = match self.numbers.get(&own) {
            Some(&number) => number,
            None => self.admit(own),
        };
        let list = &mut self.lists[owner.index()];
        let place = u32::try_from(list.len()).expect("an owner has fewer than 2^32 entities");
        list.push(id);
        Seat { owner, place }
    }

    /// Empties a seat; returns the entity that was moved into it from the end of the list.
    pub(super) fn leave(&mut self, seat: Seat) -> Option<OnlineId> {
        let list = &mut self.lists[seat.owner.index()];
        list.swap_remove(seat.place as usize);
        if list.is_empty() {
            list.shrink_to(LIST_KEPT);
            self.numbers.remove(&self.owners[seat.owner.index()]);
            self.free.push(seat.owner);
            return None;
        }
        list.get(seat.place as usize).copied()
    }

    /// Numbers ever given, free ones among them.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        self.owners.len()
    }

    fn admit(&mut self, own: Own) -> OwnerNumber {
        let number = match self.free.pop() {
            Some(number) => {
                self.owners[number.index()] = own;
                number
            }
            None => {
                self.owners.push(own);
                self.lists.push(Vec::new());
                OwnerNumber::of_last(&self.owners)
            }
        };
        self.numbers.insert(own, number);
        number
    }
}

impl OwnerNumber {
    fn of_last(owners: &[Own]) -> Self {
        let number = u32::try_from(owners.len()).ok().and_then(NonZeroU32::new);
        Self(number.expect("1 to 2^32 - 1 owners have entities at once"))
    }

    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Room that an empty list keeps, in entities: half a KiB, so that an owner whose one entity comes and
/// goes does not allocate each time. A guess.
const LIST_KEPT: usize = 64;

const _: () = assert!(usize::BITS >= u32::BITS, "an owner's number and a place are array indices");
