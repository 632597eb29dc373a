//! What the manager knows of a session only while its own process lives: the link and the lease.

use std::time::Duration;

use crate::Now;

/// How long the manager waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// How long a lease lasts. Default 10 s; nodes renew it five times as often.
    pub lease: Duration,
    /// How long after the end of a lease, by the manager's clock, a session is declared dead. Default 2 s:
    /// clocks run apart by far less than that within a lease (a guess), and the holder counts from earlier.
    pub margin: Duration,
    /// How long a join waits for the holder of its name to answer. Default 1 s: a round trip and a
    /// busy turn of the holder many times over (a guess).
    pub probe: Duration,
    /// How long a join waits for the link of a holder that was welcomed, counted from the welcome. Default 2 s: time
    /// to dial and to shake hands (a guess).
    pub welcomed: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            margin: Duration::from_secs(2),
            probe: Duration::from_secs(1),
            welcomed: Duration::from_secs(2),
        }
    }
}

/// How the manager sees the latest session of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Loaded from disk: it may live, its link may come up any moment.
    Loaded,
    /// The session of the manager's own process: alive as long as the manager is.
    OwnNode,
    /// Welcomed; its link is not up yet.
    Welcomed {
        /// When.
        at: Now,
    },
    /// Its link is up.
    Linked,
    /// Its link was up and is down.
    Unlinked,
    /// It said goodbye.
    Left,
}

/// The volatile side of a node's latest session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// How the manager sees it.
    pub(super) presence: Presence,
    /// When its lease ends, by the manager's clock.
    pub(super) lease_until: Now,
    /// Whether the end of the lease was reported.
    pub(super) lease_ended: bool,
}

impl Life {
    pub(super) fn begin(presence: Presence, lease_until: Now) -> Self {
        Self { presence, lease_until, lease_ended: false }
    }

    pub(super) fn renew(&mut self, lease_until: Now) {
        self.lease_until = lease_until;
        self.lease_ended = false;
    }

    /// Gives a session that has no link yet all the time for one: what came meanwhile was not heard.
    pub(super) fn await_link_anew(&mut self, now: Now) {
        if let Presence::Welcomed { at } = &mut self.presence {
            *at = now;
        }
    }
}
