//! Time as the machines see it: microseconds since the node's start, always an argument; and waits that double.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in microseconds since the node's start; never compared between nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Now(pub u64);

impl Now {
    /// Microseconds from `earlier` to this moment; 0 if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Now {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)))
    }
}

/// How long whoever repeats something waits before it is said again: twice as long as the time before.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wait(Duration);

impl Wait {
    /// The next wait: `first` the first time, `longest` in the end.
    pub(crate) fn next(&mut self, first: Duration, longest: Duration) -> Duration {
        self.0 = self.0.saturating_mul(2).clamp(first, longest);
        self.0
    }

    /// Whether there was a wait already.
    pub(crate) fn has_begun(self) -> bool {
        self.0 > Duration::ZERO
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_the_first_up_to_the_longest() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_millis(350));
        let mut wait = Wait::default();
        assert!(!wait.has_begun());
        let waits: Vec<_> = (0..4).map(|_| wait.next(first, longest).as_millis()).collect();
        assert_eq!(waits, [100, 200, 350, 350]);
        assert!(wait.has_begun());
        let mut endless = Wait(Duration::MAX);
        assert_eq!(endless.next(first, Duration::MAX), Duration::MAX);
    }
}
