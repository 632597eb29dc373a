//! How many read events of this node: each reader makes the node ask all others, again and again.
//!
//! Keeps: never more than [`EVENT_READERS_MAX`]. Who has gone makes room once the node has twice tried to tell
//! something, at the latest at the second heartbeat: after 20 s.

use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::web::Data;
use slipgate_proto::admin::{Problem, ProblemKind};

/// Readers of events at once: those of a team and its dashboards. A guess; 150 made a tour four times slower.
pub(super) const EVENT_READERS_MAX: usize = 16;

/// Counts the readers of a node.
#[derive(Debug, Default)]
pub(super) struct Readers {
    now: AtomicUsize,
}

/// A reader that is counted for as long as this lives.
#[derive(Debug)]
pub(super) struct Admitted {
    readers: Data<Readers>,
}

/// Counts one more, if there is room.
pub(super) fn admit(readers: Data<Readers>) -> Result<Admitted, Problem> {
    let more = |now| (now < EVENT_READERS_MAX).then_some(now + 1);
    match readers.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
        Ok(_) => Ok(Admitted { readers }),
        Err(_) => Err(Problem {
            kind: ProblemKind::Unavailable,
            reason: "too_many_readers".into(),
            text: format!("{EVENT_READERS_MAX} readers of events are connected to this node, and it takes no more"),
            state: Some("the others read on".into()),
            hint: Some("end one of them, or read from another node: each tells the events of all".into()),
        }),
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.readers.now.fetch_sub(1, Ordering::Relaxed);
    }
}
