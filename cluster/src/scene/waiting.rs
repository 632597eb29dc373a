//! How much waits in a scene, over all its entities.
//!
//! Each entity has bounds of its own, but a hundred thousand entities at theirs are more than a machine has.
//! So a message is counted when it begins to wait. When it ends to wait is not counted, for it ends in many
//! ways: instead the sum is taken anew, from what is really there, once half the bound is granted.
//!
//! Keeps: what waits is at most [`WAITING_BYTES`]; a new sum is taken at most ten times a second.

use std::time::Duration;

use super::Scene;
use super::phase::Phase;
use crate::Now;
use crate::bounds::{WAITING_BYTES, WAITING_FIXED_BYTES};
use crate::message::Data;

/// What was granted since the last sum, and that sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    granted: usize,
    sum_after: Now,
}

impl Waiting {
    /// Whether a message may begin to wait.
    pub(super) fn admit(&mut self, data: &Data) -> bool {
        let granted = self.granted + weight(data.payload.len(), 1);
        let fits = granted <= WAITING_BYTES;
        if fits {
            self.granted = granted;
        }
        fits
    }

    /// Whether a new sum is wanted.
    pub(super) fn wants_sum(&self, now: Now) -> bool {
        self.granted > WAITING_BYTES / 2 && now >= self.sum_after
    }

    /// Takes a new sum.
    pub(super) fn set_sum(&mut self, bytes: usize, now: Now) {
        self.granted = bytes;
        self.sum_after = now + BETWEEN_SUMS;
    }
}

impl Scene {
    /// What waits here.
    pub(super) fn sum_of_waiting(&self) -> usize {
        let live = self.live.values().map(|live| {
            let (bytes, messages) = live.inbox.waiting();
            let held = match &live.phase {
                Phase::Active | Phase::Reserving(_) => (0, 0),
                Phase::Frozen(frozen) => frozen.held.size(),
                Phase::Deciding(deciding) => deciding.held.size(),
            };
            weight(bytes, messages) + weight(held.0, held.1)
        });
        let staged = self.staged.values().map(|staged| {
            let (bytes, messages) = staged.held.size();
            weight(bytes, messages)
        });
        live.chain(staged).sum()
    }
}

fn weight(bytes: usize, messages: usize) -> usize {
    bytes + messages * WAITING_FIXED_BYTES
}

/// A walk over 100,000 entities takes some milliseconds.
const BETWEEN_SUMS: Duration = Duration::from_millis(100);
