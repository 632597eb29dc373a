//! The thread that a manager runs on.

use actix::{Actor, Addr, Arbiter, MailboxError};

use super::{ManagerActor, Stop};

/// A running manager on an arbiter thread of its own, where its disk may block.
#[derive(Debug)]
pub struct ManagerThread {
    addr: Addr<ManagerActor>,
    arbiter: Arbiter,
}

impl ManagerThread {
    /// Starts a manager.
    ///
    /// # Panics
    ///
    /// Outside an actix system, or if the thread cannot be made.
    #[must_use]
    pub fn start(manager: ManagerActor) -> Self {
        let arbiter = Arbiter::new();
        let addr = ManagerActor::start_in_arbiter(&arbiter.handle(), |_| manager);
        Self { addr, arbiter }
    }

    /// The manager's address. It is not connected any more once the manager has stopped, as it does
    /// by itself after a write that failed.
    #[must_use]
    pub fn addr(&self) -> &Addr<ManagerActor> {
        &self.addr
    }

    /// Stops the manager, closes its store, and ends the thread. A manager that has stopped by
    /// itself is fine.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the manager still stops; its thread is then not waited for.
    pub async fn stop(self) {
        match self.addr.send(Stop).await {
            Ok(()) | Err(MailboxError::Closed | MailboxError::Timeout) => {}
        }
        self.arbiter.stop();
        let joined = tokio::task::spawn_blocking(|| self.arbiter.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::warn!(event = "manager.thread", "the manager's thread ended with a panic");
        }
    }
}
