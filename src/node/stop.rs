//! What ends a node: a signal, a parent that is gone, a later life of its own.

use std::io::{self, Read};

use slipgate_actors::manager_seat::Keeper;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use super::NodeError;

/// The wish that this node stops.
pub(super) struct Wish {
    interrupt: Signal,
    terminate: Signal,
    parent: oneshot::Receiver<()>,
}

impl Wish {
    pub(super) fn listen() -> Result<Self, NodeError> {
        let failed = |source| NodeError::Disk { what: "cannot listen for signals".to_owned(), source };
        let (gone, parent) = oneshot::channel();
        if std::env::var_os(PARENT_PIPE).is_some() {
            std::thread::spawn(move || wait_for_parent(gone));
        } else {
            // Without a parent to watch, nobody ever tells.
            std::mem::forget(gone);
        }
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            parent,
        })
    }

    /// Waits until the wish comes.
    pub(super) async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = &mut self.parent => {}
        }
    }
}

/// The parent holds the other end of this process's standard input, so its end is the parent's end.
fn wait_for_parent(gone: oneshot::Sender<()>) {
    let mut buffer = [0; 64];
    loop {
        match io::stdin().read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    // A node that has stopped already does not listen.
    let _ = gone.send(());
}

/// Waits until a later life of this node is known, and says so.
pub(super) async fn superseded(news: &mut watch::Receiver<Option<String>>) -> String {
    loop {
        if let Some(reason) = news.borrow_and_update().clone() {
            return reason;
        }
        if news.changed().await.is_err() {
            return "its membership ended".to_owned();
        }
    }
}

/// Closes the manager's store, where there is one.
pub(super) async fn keeper(keeper: Option<Keeper>) {
    if let Some(keeper) = keeper {
        keeper.stop().await;
    }
}

/// Set by a parent that wants its nodes to end with it.
const PARENT_PIPE: &str = "SLIPGATE_PARENT_PIPE";
