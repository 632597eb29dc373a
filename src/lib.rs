//! Slipgate as a library, a node program and a command line.
//!
//! A game's binary is `fn main() -> ExitCode { slipgate::main() }`: the whole command line, with the types that are linked
//! into it. A program, an example or a test runs a [`Cluster`] inside itself, or one [`Node`] of a real one.
//!
//! | module | holds |
//! |---|---|
//! | [`admin`] | the HTTP interface that tools speak: JSON, events, health, metrics |
//! | [`cli`] | the commands: what they take, print and return |
//! | [`cluster`] | a cluster inside this process, and references to its entities |
//! | [`client`] | asks an admin interface, blocking |
//! | [`config`] | `cluster.toml`, environment and flags, as checked values with their origins |
//! | [`dev`] | a whole cluster of processes on this machine |
//! | [`mod@game`] | games that this program links in, for `slipgate dev --game` |
//! | [`node`] | one node of a cluster |
//! | [`prelude`] | what a game imports |
//! | [`signals`] | the wish to stop, from Ctrl-C or a supervisor |
//! | [`telemetry`] | log lines: flat JSON, or columns for people |
//! | [`mod@test`] | tests of games in simulated clusters |
//! | [`tour`] | moves walkers around under fire, and counts what came of it |
//! | [`transport`] | TCP behind the seam of links |

pub mod admin;
pub mod cli;
pub mod client;
pub mod cluster;
pub mod config;
pub mod dev;
#[doc(hidden)]
pub mod doc;
mod fault;
pub mod game;
pub mod node;
mod parent;
pub mod prelude;
pub mod signals;
pub mod telemetry;
pub mod test;
pub mod tour;
pub mod transport;

use std::process::ExitCode;

pub use cluster::{
    Cluster, MoveError, Moved, Node, PartError, Place, Problem, ProblemKind, Ref, Scene, SendError, Shown, SpawnError,
    Untyped,
};
pub use fault::Fault;
/// JSON as a game meets it: what an entity brings along, and its state as it is shown.
pub use serde_json;

/// Its programs are tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// So are those of the page about tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/testing.md")]
mod testing {}

/// What macros expand to.
#[doc(hidden)]
pub mod __private {
    pub use inventory;
    pub use slipgate_entity::__private::*;
}

/// The whole command line, with the entity types that are linked into this program: a game's `main`.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     slipgate::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    cli::main(std::env::args_os())
}

/// Runs a future to its end on this thread, with timers: for programs that have no runtime of their own. Those of a
/// [`Cluster`] run on any.
///
/// # Panics
///
/// If the system gives no timer, or this is called from within an asynchronous program.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the system has a timer").block_on(future)
}
