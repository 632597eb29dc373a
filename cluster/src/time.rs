//! Time as the machines see it: microseconds since the node's start, always an argument.

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
