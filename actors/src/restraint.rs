//! One line per cause, and how many were left out: what strangers can cause must not fill a log.
//!
//! ```text
//!   told        +------- 5 s -------+ 41 left out: told once     +------- 5 s -------+ nothing: forgotten
//!   x           x x x x (41 of them)|                            |
//! ```
//!
//! Keeps: per cause one yes per [`QUIET`], and one sum at its end if there is something to tell; memory
//! follows the causes, of which there are few by their type.
//! Leaves out: the lines themselves, and who wakes it.

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_cluster::Now;

/// How long a cause is quiet after a line. A guess: short enough to see that it goes on.
pub const QUIET: Duration = Duration::from_secs(5);

/// Which causes are quiet, and how many of each were left out.
#[derive(Debug)]
pub struct Restraint<C> {
    causes: BTreeMap<C, Quiet>,
}

#[derive(Debug)]
struct Quiet {
    until: Now,
    left_out: u64,
}

impl<C> Default for Restraint<C> {
    fn default() -> Self {
        Self { causes: BTreeMap::new() }
    }
}

impl<C: Copy + Ord> Restraint<C> {
    /// Whether this one is to be told; it is counted otherwise.
    pub fn tells(&mut self, cause: C, now: Now) -> bool {
        match self.causes.get_mut(&cause) {
            Some(quiet) => {
                quiet.left_out += 1;
                false
            }
            None => {
                self.causes.insert(cause, Quiet { until: now + QUIET, left_out: 0 });
                true
            }
        }
    }

    /// The causes whose quiet is over, with how many were left out; those go on to be quiet.
    pub fn sums(&mut self, now: Now) -> Vec<(C, u64)> {
        self.causes.retain(|_, quiet| quiet.until > now || quiet.left_out > 0);
        let over = self.causes.iter_mut().filter(|(_, quiet)| quiet.until <= now);
        over.map(|(cause, quiet)| {
            quiet.until = now + QUIET;
            (*cause, std::mem::take(&mut quiet.left_out))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Now {
        Now(seconds * 1_000_000)
    }

    #[test]
    fn the_first_of_a_cause_is_told_and_the_others_are_summed_up_when_its_quiet_is_over() {
        let mut restraint = Restraint::default();
        assert!(restraint.tells('a', s(0)));
        assert!(!restraint.tells('a', s(1)));
        assert!(!restraint.tells('a', s(4)));
        assert_eq!(restraint.sums(s(4)), []);
        assert_eq!(restraint.sums(s(5)), [('a', 2)]);
    }

    #[test]
    fn causes_do_not_wait_for_each_other() {
        let mut restraint = Restraint::default();
        assert!(restraint.tells('a', s(0)));
        assert!(restraint.tells('b', s(1)));
        assert!(!restraint.tells('b', s(1)));
        assert_eq!(restraint.sums(s(5)), []);
        assert!(restraint.tells('a', s(5)), "nothing was left out, so it is forgotten");
        assert_eq!(restraint.sums(s(6)), [('b', 1)]);
    }

    #[test]
    fn a_flood_that_goes_on_is_told_once_in_each_quiet_and_then_forgotten() {
        let mut restraint = Restraint::default();
        let mut lines = 0;
        for ms in 0..60_000 {
            let now = Now(ms * 1_000);
            lines += u64::from(restraint.tells('a', now)) + restraint.sums(now).len() as u64;
        }
        assert_eq!(lines, 12);
        assert_eq!(restraint.sums(s(60)).len(), 1);
        assert_eq!(restraint.sums(s(65)), []);
        assert!(restraint.causes.is_empty());
    }
}
