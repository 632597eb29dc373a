//! The threads of scenes and routers, and their end.
//!
//! Keeps: they end with whoever has them, however that ends; one that runs without end is left behind, and told.

use std::sync::mpsc;
use std::time::Duration;

use actix_rt::{Arbiter, ArbiterHandle};
use tokio::sync::oneshot;

/// Arbiters, each on a thread of its own.
#[derive(Debug, Default)]
pub(super) struct Threads {
    arbiters: Vec<Arbiter>,
}

impl Threads {
    /// Starts so many.
    ///
    /// # Panics
    ///
    /// Outside an actix system, or if the system has no thread left.
    pub(super) fn start(count: usize) -> Self {
        Self { arbiters: (0..count).map(|_| Arbiter::new()).collect() }
    }

    /// Ways to them, in order.
    pub(super) fn handles(&self) -> Vec<ArbiterHandle> {
        self.arbiters.iter().map(Arbiter::handle).collect()
    }

    /// Ends them: what runs there stops where it is.
    pub(super) async fn end(mut self) {
        let (tell, ended) = oneshot::channel();
        self.join(move |all_well| {
            // Whoever has given up waiting does not hear it.
            let _ = tell.send(all_well);
        });
        let ended = tokio::time::timeout(THREAD_END, ended).await;
        tell_end(ended.ok().and_then(Result::ok));
    }

    /// Stops them, and says on yet another thread whether all have ended well.
    fn join(&mut self, then: impl FnOnce(bool) + Send + 'static) {
        let arbiters = std::mem::take(&mut self.arbiters);
        for arbiter in &arbiters {
            // One that has ended by itself is joined all the same.
            let _ = arbiter.stop();
        }
        std::thread::spawn(move || {
            // All of them, not up to the first that did not end well.
            let ended: Vec<_> = arbiters.into_iter().map(Arbiter::join).collect();
            then(ended.iter().all(Result::is_ok));
        });
    }
}

impl Drop for Threads {
    /// Waits for them: a fault has ended the node, and nothing of it is to be left when that is told.
    fn drop(&mut self) {
        if self.arbiters.is_empty() {
            return;
        }
        let (tell, ended) = mpsc::sync_channel(1);
        self.join(move |all_well| {
            let _ = tell.send(all_well);
        });
        tell_end(ended.recv_timeout(THREAD_END).ok());
    }
}

fn tell_end(well: Option<bool>) {
    match well {
        Some(true) => {}
        Some(false) => tracing::warn!(event = "node.thread", "a thread of scenes ended with a panic"),
        None => tracing::warn!(
            event = "node.thread",
            "a thread of scenes does not end: a handler runs without end there; it is left behind"
        ),
    }
}

/// How long the threads may take to end: far above a turn.
const THREAD_END: Duration = Duration::from_secs(2);
