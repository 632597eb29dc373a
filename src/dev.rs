//! A whole cluster of node processes on this machine, for development and tests.
//!
//! ```text
//! slipgate dev ─┬─ node n1 (manager)   its stderr is relayed, line by line
//!               ├─ node n2             its stdin is a pipe: when dev is gone, the node ends
//!               └─ node n3
//! ```
//!
//! Every node runs this very program with one generated `cluster.toml`. Ports are chosen by the system; a
//! node writes where it listens to `addresses.json` in its data folder, which is a temporary one.
//!
//! | module | holds |
//! |---|---|
//! | [`plan`] | names, scenes, the configuration, the arguments |
//! | `child` | one process |
//! | [`cluster`] | all of them: start, watch, stop |
//!
//! Keeps: no process outlives `dev`, however it ends; the data folder goes last.
//! Leaves out: restarting what fell; that is an operator's decision.

mod child;
pub mod cluster;
pub mod plan;

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

pub use cluster::{Cluster, Fallen, Started};
pub use plan::{Plan, PlanError};

/// Why a cluster did not come up. Every process that was started is stopped again.
#[derive(Debug, Error)]
pub enum DevError {
    /// The data folder or the configuration cannot be written.
    #[error("the data folder cannot be written: {0}")]
    Folder(#[source] io::Error),
    /// A process cannot be started.
    #[error("{} cannot be started: {source}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A node ended before it was ready; what it said stands above.
    #[error("{name} ended before it was ready ({status})")]
    Ended {
        /// The node.
        name: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A node runs, but is not ready in time.
    #[error("{name} is not ready after {}: {why}", humantime::format_duration(*.within))]
    NotReady {
        /// The node.
        name: String,
        /// How long it was waited for.
        within: Duration,
        /// What it said last.
        why: String,
    },
    /// Somebody stopped it before it was up.
    #[error("stopped before the cluster was ready")]
    Stopped,
}

#[cfg(test)]
mod tests;
