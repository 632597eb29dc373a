//! The node's budget, as its routers, scenes and links draw on it from their threads.
//!
//! ```text
//!   NodeBudget   one for the node: per part, what is taken of what all have in common
//!   Share        one holder's: a router's, a scene's two, a lane's, a mailbox's
//! ```
//!
//! What may be taken is decided in [`cluster::budget`](slipgate_cluster::budget); here it is counted. A holder takes
//! room before it lets something wait, and tells what waits once it has. It has
//! [`OWN_BYTES`] for itself, for which nobody is asked: a holder that keeps little touches nothing that threads share.
//!
//! Keeps: two that take at once never have more than there is; a share that is dropped leaves nothing taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use slipgate_cluster::budget::{Budget, OWN_BYTES, Part, Taken};

/// What waits on a node, and may; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct NodeBudget {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    budget: Budget,
    accepted: Count,
    passing: Count,
    held: Count,
}

/// What is taken of a part.
#[derive(Debug, Default)]
struct Count {
    holders: AtomicUsize,
    /// Beyond what each holder has for itself.
    common: AtomicUsize,
    /// All that waits.
    waits: AtomicUsize,
}

impl NodeBudget {
    /// Nothing waits yet.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { inner: Arc::new(Inner { budget, ..Inner::default() }) }
    }

    /// One more holder.
    #[must_use]
    pub fn share(&self, part: Part) -> Share {
        self.count(part).holders.fetch_add(1, Ordering::Relaxed);
        Share { node: self.clone(), part, common: 0, waits: 0 }
    }

    /// Bytes that wait in a part.
    #[must_use]
    pub fn waits(&self, part: Part) -> usize {
        self.count(part).waits.load(Ordering::Relaxed)
    }

    /// Tells what waits, and how much may.
    pub fn tell_gauges(&self) {
        for (part, name) in [(Part::Accepted, "accepted"), (Part::Passing, "passing"), (Part::Held, "held")] {
            metrics::gauge!("slipgate_waiting_bytes", "part" => name).set(float(self.waits(part)));
            metrics::gauge!("slipgate_waiting_bytes_max", "part" => name).set(float(self.inner.budget.of(part)));
        }
    }

    fn count(&self, part: Part) -> &Count {
        match part {
            Part::Accepted => &self.inner.accepted,
            Part::Passing => &self.inner.passing,
            Part::Held => &self.inner.held,
        }
    }
}

/// What one holder may let wait.
#[derive(Debug)]
pub struct Share {
    node: NodeBudget,
    part: Part,
    /// Taken of what all have in common.
    common: usize,
    /// What waits, as it was told last.
    waits: usize,
}

impl Share {
    /// Bytes that may wait.
    #[must_use]
    pub fn allowed(&self) -> usize {
        OWN_BYTES + self.common
    }

    /// Takes room, as far as there is any, so that so many bytes may wait.
    pub fn widen(&mut self, wanted: usize) {
        let Some(more @ 1..) = wanted.checked_sub(self.allowed()) else { return };
        let (budget, count) = (self.node.inner.budget, self.node.count(self.part));
        let holders = count.holders.load(Ordering::Relaxed);
        let room = |common| more.min(budget.room(self.part, self.common, Taken { holders, common }));
        let take = |common| Some(common + room(common));
        let (Ok(before) | Err(before)) = count.common.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let taken = room(before);
        self.common += taken;
    }

    /// So many bytes wait, whether or not there was room for them; room that is not needed for that is given back.
    pub fn settle(&mut self, waits: usize) {
        let count = self.node.count(self.part);
        change(&count.common, self.common, waits.saturating_sub(OWN_BYTES));
        change(&count.waits, self.waits, waits);
        (self.common, self.waits) = (waits.saturating_sub(OWN_BYTES), waits);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.settle(0);
        self.node.count(self.part).holders.fetch_sub(1, Ordering::Relaxed);
    }
}

fn change(sum: &AtomicUsize, before: usize, after: usize) {
    if after > before {
        sum.fetch_add(after - before, Ordering::Relaxed);
    } else if before > after {
        sum.fetch_sub(before - after, Ordering::Relaxed);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
fn float(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const MIB: usize = 1 << 20;

    fn node() -> NodeBudget {
        NodeBudget::new(Budget::new(64 * MIB))
    }

    fn common(node: &NodeBudget, part: Part) -> usize {
        node.count(part).common.load(Ordering::Relaxed)
    }

    #[test]
    fn what_a_holder_has_for_itself_is_there_whatever_others_have_taken() {
        let node = node();
        let mut greedy: Vec<_> = (0..40).map(|_| node.share(Part::Held)).collect();
        for share in &mut greedy {
            share.widen(usize::MAX);
            share.settle(share.allowed());
        }
        let share = node.share(Part::Held);
        assert_eq!(share.allowed(), OWN_BYTES);
        assert!(node.waits(Part::Held) <= 16 * MIB, "{}", node.waits(Part::Held));
        assert_eq!(node.waits(Part::Passing), 0, "parts take nothing from each other");
    }

    #[test]
    fn no_more_room_is_taken_than_is_wanted_and_what_is_not_needed_is_given_back() {
        let node = node();
        let mut share = node.share(Part::Accepted);
        share.widen(MIB);
        assert_eq!((share.allowed(), common(&node, Part::Accepted)), (MIB, MIB - OWN_BYTES));
        share.settle(OWN_BYTES + 10);
        assert_eq!((share.allowed(), common(&node, Part::Accepted)), (OWN_BYTES + 10, 10));
        share.settle(5);
        assert_eq!((common(&node, Part::Accepted), node.waits(Part::Accepted)), (0, 5));
    }

    #[test]
    fn what_waits_although_there_was_no_room_counts_and_nothing_of_a_dropped_share_is_left() {
        let node = node();
        let mut adopting = node.share(Part::Accepted);
        adopting.settle(100 * MIB);
        let mut other = node.share(Part::Accepted);
        other.widen(MIB);
        assert_eq!(other.allowed(), OWN_BYTES);
        drop(adopting);
        other.widen(MIB);
        assert_eq!(other.allowed(), MIB);
        drop(other);
        let count = node.count(Part::Accepted);
        assert_eq!([&count.common, &count.waits, &count.holders].map(|sum| sum.load(Ordering::Relaxed)), [0; 3]);
    }

    #[test]
    fn threads_that_take_at_once_never_have_more_than_there_is() {
        let node = node();
        thread::scope(|scope| {
            for number in 0..8 {
                let mut share = node.share(Part::Passing);
                let node = &node;
                scope.spawn(move || {
                    for turn in 0..2_000 {
                        share.widen(turn * 4_096 + number);
                        share.settle(share.allowed());
                        let taken = common(node, Part::Passing);
                        assert!(taken <= 16 * MIB, "{taken}");
                        if turn % 7 == 0 {
                            share.settle(0);
                        }
                    }
                });
            }
        });
        assert_eq!((common(&node, Part::Passing), node.waits(Part::Passing)), (0, 0));
    }
}
