//! What ends a node: a signal, a parent that is gone, a later life of its own.

use slipgate_actors::manager_seat::Keeper;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use super::NodeError;
use crate::parent;

/// The wish that this node stops.
pub(super) struct Wish {
    interrupt: Signal,
    terminate: Signal,
    parent: Option<oneshot::Receiver<()>>,
}

impl Wish {
    pub(super) fn listen() -> Result<Self, NodeError> {
        let failed = |source| NodeError::Disk { what: "cannot listen for signals".to_owned(), source };
        let (gone, parent) = oneshot::channel();
        // A node that has stopped already does not listen.
        let watched = parent::watch(move || gone.send(()).unwrap_or_default());
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            parent: watched.then_some(parent),
        })
    }

    /// Waits until the wish comes.
    pub(super) async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = gone(&mut self.parent) => {}
        }
    }
}

async fn gone(parent: &mut Option<oneshot::Receiver<()>>) {
    match parent {
        Some(gone) => {
            drop(gone.await);
            // It is gone once.
            *parent = None;
        }
        None => std::future::pending().await,
    }
}

/// Waits until this life of the node is over.
pub(super) async fn over(news: &mut watch::Receiver<bool>) {
    // A membership that is gone has nothing more to say; it ends with its life.
    let _ = news.wait_for(|over| *over).await;
}

/// Closes the manager's store, where there is one.
pub(super) async fn keeper(keeper: Option<Keeper>) {
    if let Some(keeper) = keeper {
        keeper.stop().await;
    }
}
