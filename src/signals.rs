//! The wish to stop, from Ctrl-C, a supervisor or a parent that is gone, as a flag that blocking code looks at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::parent;

/// Catches SIGINT and SIGTERM for as long as it lives.
#[derive(Debug)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    _runtime: Runtime,
}

impl Signals {
    /// Begins to catch.
    ///
    /// # Errors
    ///
    /// If the system does not let us.
    pub fn catch() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (mut interrupt, mut terminate) = {
            let _entered = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        parent::watch(move || flag.store(true, Ordering::Relaxed));
        let flag = Arc::clone(&stop);
        runtime.spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            flag.store(true, Ordering::Relaxed);
        });
        Ok(Self { stop, _runtime: runtime })
    }

    /// Set once a signal has come.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether a signal has come.
    #[must_use]
    pub fn has_come(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
