//! What waits for one peer, in its lanes: whoever writes to the peer puts it in, on whichever thread; the
//! connection takes it out.
//!
//! A mailbox in front of the lanes would be one more turn of the executor on the way of everything that leaves
//! the node. Like a mailbox, this is a queue that threads share, and nobody waits for room in it.
//!
//! Keeps: the lanes' bounds; nothing that was meant for one life of the peer is told to another; the lock is held
//! for one batch in, or one frame out, and never while anybody waits for something else.

use std::sync::{Mutex, MutexGuard};

use slipgate_cluster::{Envelope, Session};
use slipgate_proto::frame::Wire;
use slipgate_proto::lanes::{LaneLimits, Lanes};
use tokio::sync::Notify;

use crate::mailbox::Door;

/// The queue to one peer.
#[derive(Debug)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    /// Something was put in.
    wake: Notify,
}

#[derive(Debug)]
struct Waiting {
    /// The life of the peer that it is meant for.
    peer: Session,
    lanes: Lanes,
}

impl Queue {
    /// An empty queue to `peer`.
    pub(super) fn new(peer: Session) -> Self {
        Self { waiting: Mutex::new(Waiting::new(peer)), wake: Notify::new() }
    }

    /// The peer lives again: what waits was meant for the life before.
    pub(super) fn begin_anew(&self, peer: Session) {
        *self.lock() = Waiting::new(peer);
    }

    /// Changes the lanes, and has the connection look at them.
    pub(super) fn put_in(&self, change: impl FnOnce(&mut Lanes)) {
        change(&mut self.lock().lanes);
        self.wake.notify_one();
    }

    /// Messages that wait.
    pub(super) fn len(&self) -> usize {
        self.lock().lanes.waiting()
    }

    /// Writes the next frame behind what `bytes` holds already. Returns whether there was one.
    pub(super) fn next_frame(&self, bytes: &mut Vec<u8>) -> bool {
        self.lock().lanes.next_frame(bytes)
    }

    /// Waits until something was put in since the last time.
    pub(super) async fn filled(&self) {
        self.wake.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nobody panics with the lanes in hand")
    }
}

impl Waiting {
    fn new(peer: Session) -> Self {
        Self { peer, lanes: Lanes::new(LaneLimits::default()) }
    }
}

impl Door for Queue {
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let mut refused = 0;
        let mut waiting = self.lock();
        for Envelope { from, to, message } in envelopes {
            // Written before the peer began a new life: it was meant for the old one.
            if to.session != waiting.peer {
                refused += 1;
                continue;
            }
            refused += u64::from(waiting.lanes.push(Wire { from: from.port, to: to.port, message }).is_err());
        }
        drop(waiting);
        self.wake.notify_one();
        if refused > 0 {
            metrics::counter!("slipgate_messages_dropped_total", "at" => "lane").increment(refused);
        }
        Vec::new()
    }
}
