//! The node's clock: microseconds since its start. The only place in this crate that reads one.
//!
//! It goes on while the machine sleeps (`CLOCK_BOOTTIME`): a lease must not look held after a suspend.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use slipgate_cluster::Now;

/// A node's clock; every copy counts from the same start.
#[derive(Clone, Copy, Debug)]
pub struct NodeClock {
    start_us: u64,
}

impl NodeClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start_us: boot_us() }
    }

    /// Time since the start.
    #[must_use]
    pub fn now(self) -> Now {
        Now(boot_us() - self.start_us)
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
        rfc3339_of(self.unix_ms())
    }
}

/// Milliseconds since 1970 in RFC 3339, UTC, for people.
pub(crate) fn rfc3339_of(unix_ms: u64) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(unix_ms)).to_string()
}

/// Microseconds since the machine's start, suspended ones included.
fn boot_us() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let part = |part: i64| u64::try_from(part).expect("a machine's time since its start is not negative");
    part(time.tv_sec) * 1_000_000 + part(time.tv_nsec) / 1000
}
