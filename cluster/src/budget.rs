//! What a node lets wait, over all its routers, scenes and links together.
//!
//! ```text
//!   node_bytes   [ accepted: half             | passing: a quarter | held: a quarter       ]
//!                  until it is acknowledged:    lanes of links,      at its receiver: behind
//!                  windows of routers, and      mailboxes of         a gap, frozen, staged
//!                  of entities that send        scenes
//!
//!   a part       [ own | own | own |  for whoever needs more    ]
//! ```
//!
//! A message that is accepted must find its way even where everything is full, so no part takes from another: what is
//! accepted can be passed on, and what is passed on can be held. For the same reason each holder has [`OWN_BYTES`]
//! for itself, whatever the others have taken. Beyond that it may have as much as it leaves free: one that nobody
//! empties comes to half of what all have in common, the next one to a quarter
//! ([ADR 12](../../../docs/adr/0012-a-node-has-a-budget.md)).
//!
//! Keeps: what waits in a part is at most the part, or what its holders have for themselves, if they are so many;
//! what was accepted elsewhere and has moved here is not refused, and counts.
//! Leaves out: who counts, on which thread; copies of entities on their way, which have bounds of their own.

use crate::bounds::WAITING_FIXED_BYTES;

/// What waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Accepted, and kept until it is acknowledged. Whoever would send more hears `Busy`.
    Accepted,
    /// On its way, in a lane or a mailbox. Whoever keeps it sends it again.
    Passing,
    /// At its receiver, which cannot take it yet. Whoever keeps it sends it again.
    Held,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::Passing, Self::Held];
}

/// Messages that wait somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// How many.
    pub messages: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
}

impl Load {
    /// One message with so many bytes of payload.
    #[must_use]
    pub fn one(bytes: usize) -> Self {
        Self { messages: 1, bytes }
    }

    /// What they count: each has its payload, and what it costs beside it. So a bound in bytes is one for their
    /// number, too.
    #[must_use]
    pub fn weight(self) -> usize {
        self.bytes + self.messages * WAITING_FIXED_BYTES
    }
}

impl std::ops::AddAssign for Load {
    fn add_assign(&mut self, more: Self) {
        self.messages += more.messages;
        self.bytes += more.bytes;
    }
}

impl std::ops::SubAssign for Load {
    fn sub_assign(&mut self, less: Self) {
        self.messages -= less.messages;
        self.bytes -= less.bytes;
    }
}

impl std::iter::Sum for Load {
    fn sum<I: Iterator<Item = Self>>(loads: I) -> Self {
        loads.fold(Self::default(), |mut sum, load| {
            sum += load;
            sum
        })
    }
}

/// What is taken of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Those among which it is divided.
    pub holders: usize,
    /// Bytes that they have taken beyond their own.
    pub common: usize,
}

/// The bound of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    bytes: usize,
}

impl Budget {
    /// So many bytes of messages may wait on the node.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self { bytes }
    }

    /// Bytes of a part.
    #[must_use]
    pub const fn of(self, part: Part) -> usize {
        match part {
            Part::Accepted => self.bytes / 2,
            Part::Passing | Part::Held => self.bytes / 4,
        }
    }

    /// What the holders of a part have in common.
    #[must_use]
    pub const fn common(self, part: Part, holders: usize) -> usize {
        self.of(part).saturating_sub(holders.saturating_mul(OWN_BYTES))
    }

    /// How much more of what is common a holder may take that has `already` taken so much of it.
    #[must_use]
    pub const fn room(self, part: Part, already: usize, taken: Taken) -> usize {
        self.common(part, taken.holders).saturating_sub(taken.common).saturating_sub(already) / 2
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BYTES)
    }
}

/// What each holder has for itself: more than a message of the largest size.
pub const OWN_BYTES: usize = 128 << 10;

/// What a node has if nobody says otherwise: one router alone may come near to its default `router_bytes`.
pub const BYTES: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget::new(64 << 20);

    /// Takes whatever it may, as often as it may.
    fn fill(part: Part, already: &mut usize, taken: &mut Taken) {
        while let more @ 1.. = BUDGET.room(part, *already, *taken) {
            *already += more;
            taken.common += more;
        }
    }

    #[test]
    fn the_parts_together_are_the_whole() {
        assert_eq!(Part::ALL.map(|part| BUDGET.of(part) >> 20), [32, 16, 16]);
    }

    #[test]
    fn a_holder_that_nobody_empties_takes_half_of_what_is_common_to_the_byte_and_no_more() {
        for part in Part::ALL {
            let mut taken = Taken { holders: 3, common: 0 };
            let mut already = 0;
            fill(part, &mut already, &mut taken);
            assert_eq!(already, (BUDGET.of(part) - 3 * OWN_BYTES) / 2);
            assert_eq!(BUDGET.room(part, already, taken), 0);
            (already, taken.common) = (already - 2, taken.common - 2);
            assert_eq!(BUDGET.room(part, already, taken), 2, "what it gives back it may have again");
        }
    }

    #[test]
    fn however_many_holders_are_full_the_part_is_kept_and_whoever_comes_next_has_its_own() {
        for count in [1, 2, 20, 120] {
            let (mut holders, mut taken) = (vec![0; count], Taken { holders: count + 1, common: 0 });
            for already in &mut holders {
                fill(Part::Passing, already, &mut taken);
            }
            let kept: usize = holders.iter().map(|already| already + OWN_BYTES).sum();
            assert!(kept + OWN_BYTES <= BUDGET.of(Part::Passing), "{count}: {kept}");
        }
    }

    #[test]
    fn more_holders_than_a_part_has_room_for_have_their_own_and_nothing_in_common() {
        assert_eq!(BUDGET.room(Part::Held, 0, Taken { holders: 129, common: 0 }), 0);
        assert_eq!(BUDGET.room(Part::Held, 0, Taken { holders: usize::MAX, common: 0 }), 0);
    }

    #[test]
    fn what_has_moved_here_beyond_the_part_leaves_no_room() {
        assert_eq!(BUDGET.room(Part::Accepted, 0, Taken { holders: 1, common: 64 << 20 }), 0);
        assert_eq!(BUDGET.room(Part::Accepted, 64 << 20, Taken { holders: 1, common: 64 << 20 }), 0);
    }
}
