//! How much waits in a scene, over all its entities.
//!
//! Each entity has bounds of its own, but a hundred thousand entities at theirs are more than a machine has; so the
//! scene has one over all of them, and the node may allow it less ([`budget`](crate::budget)).
//!
//! What entities have sent is counted as it comes and goes. A message to one is counted when it begins to wait. When
//! it ends to wait is not counted, for it ends in many ways: instead it is noted for whom something waits, and the sum
//! is taken anew, from what is really there.
//!
//! Keeps: what waits is never more than what is counted, and that is at most what is allowed; a new sum is taken at
//! most ten times a second, and as long as anything is counted.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use slipgate_entity::OnlineId;

use super::Scene;
use super::phase::{Live, Phase};
use crate::Now;
use crate::bounds::WAITING_BYTES;
use crate::budget::Load;
use crate::stream::SendStream;

/// Bytes of messages that wait in a scene, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Of what its entities have sent and nobody has acknowledged, or applied where nobody acknowledges.
    pub accepted: usize,
    /// Of what was sent to them, and cannot be applied yet.
    pub held: usize,
}

/// What is counted.
#[derive(Clone)]
pub(super) struct Waiting {
    allowed: Amount,
    /// What entities have sent and nobody has acknowledged.
    sent: Load,
    /// What was granted to messages to entities since the last sum, and that sum.
    granted: usize,
    /// For whom something was granted since the last sum, or was there still.
    receivers: BTreeSet<OnlineId>,
    sum_after: Now,
}

impl Waiting {
    pub(super) fn allow(&mut self, allowed: Amount) {
        self.allowed = Amount { held: allowed.held.min(WAITING_BYTES), ..allowed };
    }

    /// Whether a message to an entity may begin to wait.
    pub(super) fn admit(&mut self, entity: OnlineId, bytes: usize) -> bool {
        let granted = self.granted + Load::one(bytes).weight();
        let fits = granted <= self.allowed.held;
        if fits {
            self.granted = granted;
            self.receivers.insert(entity);
        }
        fits
    }

    /// Whether an entity may say something more, while so much that was said directly is not applied yet.
    pub(super) fn has_room_for_sent(&self, direct: usize, bytes: usize) -> bool {
        direct + self.sent.weight() + Load::one(bytes).weight() <= self.allowed.accepted
    }

    /// Entities have said something, or brought it with them.
    pub(super) fn put_sent(&mut self, load: Load) {
        self.sent += load;
    }

    /// Something is acknowledged or ended, or goes elsewhere.
    pub(super) fn take_sent(&mut self, load: Load) {
        self.sent -= load;
    }
}

impl Default for Waiting {
    fn default() -> Self {
        let allowed = Amount { accepted: usize::MAX, held: WAITING_BYTES };
        Self { allowed, sent: Load::default(), granted: 0, receivers: BTreeSet::new(), sum_after: Now(0) }
    }
}

/// What is counted is told by what is there; when it is counted anew tells nothing.
impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

impl Scene {
    /// What waits here, as it counts against the node's budget.
    #[must_use]
    pub fn waits(&self) -> Amount {
        Amount { accepted: self.direct.weight() + self.waiting.sent.weight(), held: self.waiting.granted }
    }

    /// Takes the sum anew of what waits for entities here, if it is time.
    pub(super) fn sum_up(&mut self, now: Now) {
        if self.waiting.receivers.is_empty() || now < self.waiting.sum_after {
            return;
        }
        let (mut granted, mut receivers) = (0, std::mem::take(&mut self.waiting.receivers));
        receivers.retain(|entity| {
            let weight = self.waiting_for(*entity).weight();
            granted += weight;
            weight > 0
        });
        (self.waiting.granted, self.waiting.receivers) = (granted, receivers);
        self.waiting.sum_after = now + BETWEEN_SUMS;
    }

    /// What waits for an entity.
    fn waiting_for(&self, entity: OnlineId) -> Load {
        let live = self.live.get(&entity).map(Live::waiting);
        live.or_else(|| Some(self.staged.get(&entity)?.held.load())).unwrap_or_default()
    }

    /// What waits here for entities, and what they have sent: from what is really there. Walks over all of them; for
    /// tests and explorers.
    ///
    /// # Panics
    ///
    /// If the counts tell less of one, or anything else of the other.
    pub fn audit(&self) -> (Load, Load) {
        let here = self.live.ids().chain(self.staged.keys().copied());
        let held: Load = here.map(|entity| self.waiting_for(entity)).sum();
        let sent: Load = self.live.values().flat_map(|live| live.outbox.values().map(SendStream::load)).sum();
        let counted = (self.waiting.granted, self.waiting.sent);
        assert!(held.weight() <= counted.0, "expected at most {} bytes to wait, found {held:?}", counted.0);
        assert!(sent == counted.1, "expected {:?} to be unacknowledged, found {sent:?}", counted.1);
        (held, sent)
    }
}

impl Live {
    /// What waits for the entity.
    pub(super) fn waiting(&self) -> Load {
        let held = match &self.phase {
            Phase::Active | Phase::Reserving(_) => Load::default(),
            Phase::Frozen(frozen) => frozen.held.load(),
            Phase::Deciding(deciding) => deciding.held.load(),
        };
        [self.inbox.waiting(), held].into_iter().sum()
    }
}

/// A walk over 100,000 entities takes some milliseconds.
const BETWEEN_SUMS: Duration = Duration::from_millis(100);
