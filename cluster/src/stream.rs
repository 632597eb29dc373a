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
//! Keeps: numbers rise by one from 1; an owner once known is only replaced by one of a higher epoch;
//! at most a window is on the way; both ends are bounded in messages and bytes.
//! Leaves out: closing a stream at rest (a pair keeps its two numbers for now).

mod inbox;
mod known;
mod outgoing;

pub use inbox::{Inbox, Received, Verdict};
pub use known::Known;
pub use outgoing::{Busy, End, SendStream, StreamOutput, Waiting};

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::Place;

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
