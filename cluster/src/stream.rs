//! One sender's numbered messages to one entity, and what an entity has applied of them.
//!
//! ```text
//!   sender's end (SendStream)                         receiver's end (Inbox)
//!   acked      acked+1 ... sent | sent+1 ... next-1   last | last+1 (applied at once) | gap: held back
//!     ^ gone     on the way     |  waits for room           ^ acknowledged, moves with the entity
//! ```
//!
//! The sender keeps what is not acknowledged and sends it again when it learns a newer owner or hears
//! nothing for a while; the receiver applies strictly in sequence and drops what it has. So order and
//! exactly-once need no flush at a hand-off: both ends are plain numbers that move with their owners.
//!
//! A stream whose window has been empty for a while is closed: its sender forgets it, a router tells the receiver
//! until that has forgotten it too, and a later message begins another. At rest a pair costs its sender nothing, and
//! the receiver a share in one number for each place where streams are opened ([`received`](Received)).
//!
//! Keeps: numbers rise by one from 1; an owner once known is only replaced by one of a higher epoch;
//! at most a window is on the way; both ends are bounded in messages and bytes; a sender has one stream to an
//! entity at a time, and leaves it only once everything in it is acknowledged, or answered for good.

mod inbox;
mod known;
mod outgoing;
mod received;

pub use inbox::{Inbox, Verdict};
pub use known::Known;
pub use outgoing::{Alarm, Answered, Busy, End, SendStream, Speaker, StreamOutput, Waiting};
pub use received::{Open, Over, Received, Stopped};

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::Place;
use crate::bounds::{FLOOR_MAX, NUMBER_MAX};

/// Names a stream: where it was opened, and the how-many-eth it was there.
///
/// The opener's place is part of the id, so that routers and scenes number their streams without
/// sharing a counter. The id stays when the sender moves elsewhere.
/// Ids are ordered by their number first: within one place, where most comparisons are made, that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StreamId {
    /// Where it was opened.
    pub opened_at: Place,
    /// Rises with every stream opened there, from 1.
    pub generation: u64,
}

impl StreamId {
    /// Whether an honest place can have opened it.
    pub(crate) fn is_possible(self) -> bool {
        self.generation <= NUMBER_MAX
    }

    /// The next stream that `opened_at` opens; `latest` is the generation of the one before.
    pub(crate) fn next(opened_at: Place, latest: &mut u64) -> Self {
        *latest += 1;
        Self { opened_at, generation: *latest }
    }

    /// The stream that `opener` opens instead of this one: its receiver says that it is closed, and so are those
    /// that its opener's session opened, up to `floor`.
    pub(crate) fn after(self, floor: u64, opener: Place, latest: &mut u64) -> Self {
        if self.opened_at.session == opener.session && floor <= FLOOR_MAX {
            *latest = floor.max(*latest);
        }
        Self::next(opener, latest)
    }
}

impl Ord for StreamId {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.generation.cmp(&other.generation).then_with(|| self.opened_at.cmp(&other.opened_at))
    }
}

impl PartialOrd for StreamId {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
