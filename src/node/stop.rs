//! What ends a node: a signal, a parent that is gone, the program that it is part of, a later life of its own.

use slipgate_actors::manager_seat::Keeper;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};

use super::NodeError;
use crate::parent;

/// The wish that this node stops.
pub(super) enum Wish {
    /// From outside of the process.
    Signals { interrupt: Signal, terminate: Signal, parent: Option<oneshot::Receiver<()>> },
    /// From the program that the node is part of: by a word, or because nobody is left who could say one.
    Program(Option<mpsc::Receiver<()>>),
}

impl Wish {
    pub(super) fn of_the_process() -> Result<Self, NodeError> {
        let failed = |source| NodeError::Disk { what: "cannot listen for signals".to_owned(), source };
        let (gone, parent) = oneshot::channel();
        // A node that has stopped already does not listen.
        let watched = parent::watch(move || gone.send(()).unwrap_or_default());
        Ok(Self::Signals {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            parent: watched.then_some(parent),
        })
    }

    /// Waits until the wish comes.
    pub(super) async fn come(&mut self) {
        match self {
            Self::Signals { interrupt, terminate, parent } => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = gone(parent) => {}
            },
            Self::Program(words) => word(words).await,
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

async fn word(words: &mut Option<mpsc::Receiver<()>>) {
    match words {
        Some(left) => {
            if left.recv().await.is_none() {
                *words = None;
            }
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
