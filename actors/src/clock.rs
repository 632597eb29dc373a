//! The node's clock: microseconds since its start. The only place in this crate that reads one.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use slipgate_cluster::Now;

/// A node's clock; every copy counts from the same start.
#[derive(Clone, Copy, Debug)]
pub struct NodeClock {
    start: Instant,
}

impl NodeClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Time since the start.
    #[must_use]
    pub fn now(self) -> Now {
        Now(u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Milliseconds since 1970, for people; 0 before that.
    #[must_use]
    pub fn unix_ms(self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// The time of day in RFC 3339, UTC, with milliseconds, for people.
    #[must_use]
    pub fn rfc3339(self) -> String {
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(self.unix_ms())).to_string()
    }
}
