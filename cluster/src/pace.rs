//! When something unanswered is said again; the waits double.

use std::time::Duration;

use crate::Now;
use crate::time::Wait;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    due: Now,
    wait: Wait,
    longest: Duration,
}

impl Pace {
    /// Due at once.
    pub(crate) fn fresh() -> Self {
        Self { due: Now(0), wait: Wait::default(), longest: LONGEST }
    }

    /// The same, for what nobody waits for.
    pub(crate) fn patient() -> Self {
        Self { longest: LONGEST_PATIENT, ..Self::fresh() }
    }

    /// Whether it is time; if so, the next time is set.
    pub(crate) fn is_due(&mut self, now: Now) -> bool {
        let due = self.due <= now;
        if due {
            self.due = now + self.wait.next(FIRST, self.longest);
        }
        due
    }
}

/// Above a round trip, and below what anybody would wait for.
const FIRST: Duration = Duration::from_millis(50);
/// A home is rebuilt within two seconds, so that a view that comes late must not cost one of them.
const LONGEST: Duration = Duration::from_millis(500);
/// What is said over a link that is cut waits in its lane, each repeat anew: some kilobytes.
const LONGEST_PATIENT: Duration = Duration::from_secs(10);
