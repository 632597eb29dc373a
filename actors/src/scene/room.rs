//! The room that a scene has in its node's budget.
//!
//! A handler may say anything at any time, so the scene always has room for a message of the largest size before it
//! takes a step, as long as the node has; at the end of the turn it gives back what it does not need.

use slipgate_cluster::budget::{Load, Part};
use slipgate_cluster::scene::Amount;
use slipgate_proto::lanes::MESSAGE_BYTES_MAX;

use crate::budget::{NodeBudget, Share};

#[derive(Debug)]
pub(super) struct Room {
    accepted: Share,
    held: Share,
    /// What the machine was told; nothing at first.
    told: Option<Amount>,
}

impl Room {
    pub(super) fn new(node: &NodeBudget) -> Self {
        Self { accepted: node.share(Part::Accepted), held: node.share(Part::Held), told: None }
    }

    /// Makes room for another step of the machine, in which so much waits. Returns what it is to be told, if that is
    /// anything new.
    pub(super) fn make(&mut self, waits: Amount) -> Option<Amount> {
        widen(&mut self.accepted, waits.accepted);
        widen(&mut self.held, waits.held);
        let allowed = Amount { accepted: self.accepted.allowed(), held: self.held.allowed() };
        (self.told.replace(allowed) != Some(allowed)).then_some(allowed)
    }

    /// The turn is over, and so much waits.
    pub(super) fn settle(&mut self, waits: Amount) {
        self.accepted.settle(waits.accepted);
        self.held.settle(waits.held);
    }
}

fn widen(share: &mut Share, waits: usize) {
    let largest = Load::one(MESSAGE_BYTES_MAX).weight();
    if waits + largest > share.allowed() {
        share.widen(waits + STEP.max(largest));
    }
}

/// Room is taken for some messages at a time.
const STEP: usize = 256 << 10;
