//! What allows a session to act: the lease, as every actor of the node sees it.
//!
//! Without it there are no turns and no output: somebody else may have been told that this session is
//! over. The end is a moment of this node's own clock, counted from the sending of the last renewal that was
//! answered, so it comes before the manager's verdict can.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use slipgate_cluster::Now;

use crate::clock::NodeClock;

/// A handle on the lease of a session; cheap to clone.
#[derive(Clone, Debug)]
pub struct Lease {
    until: Arc<AtomicU64>,
    clock: NodeClock,
}

impl Lease {
    /// A lease that ends at `until` unless it is prolonged.
    #[must_use]
    pub fn new(until: Now, clock: NodeClock) -> Self {
        Self { until: Arc::new(AtomicU64::new(until.0.min(ENDED - 1))), clock }
    }

    /// A lease that never ends: for tests without a manager.
    #[cfg(test)]
    pub(crate) fn for_good() -> Self {
        Self::new(Now(u64::MAX), NodeClock::start())
    }

    /// Whether this session may act now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until != ENDED && self.clock.now().0 < until
    }

    /// Prolongs it to `until`; never shortens it. One that was ended stays so.
    pub fn prolong(&self, until: Now) {
        let until = until.0.min(ENDED - 1);
        let longer = |now| (now != ENDED && now < until).then_some(until);
        // It is as long already, or has ended.
        let _ = self.until.fetch_update(Ordering::AcqRel, Ordering::Acquire, longer);
    }

    /// Ends it for good: the session is over.
    pub fn end(&self) {
        self.until.store(ENDED, Ordering::Release);
    }
}

/// The end of a lease that is not prolonged any more.
const ENDED: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lease_is_held_until_its_end_prolonged_but_never_shortened_and_ends_for_good() {
        let clock = NodeClock::start();
        let lease = Lease::new(Now(0), clock);
        assert!(!lease.is_held());
        lease.prolong(clock.now() + Duration::from_secs(60));
        lease.prolong(Now(0));
        assert!(lease.is_held());
        lease.end();
        assert!(!lease.is_held());
        lease.prolong(clock.now() + Duration::from_secs(60));
        assert!(!lease.is_held(), "an answer that was on its way does not begin it anew");
    }
}
