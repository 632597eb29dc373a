//! The node program and the command line of Slipgate.
//!
//! | module | holds |
//! |---|---|
//! | [`admin`] | the HTTP interface that tools speak: JSON, events, health, metrics |
//! | [`cli`] | the commands: what they take, print and return |
//! | [`client`] | asks an admin interface, blocking |
//! | [`config`] | `cluster.toml`, environment and flags, as checked values with their origins |
//! | [`dev`] | a whole cluster of processes on this machine |
//! | [`node`] | one node of a cluster |
//! | [`signals`] | the wish to stop, from Ctrl-C or a supervisor |
//! | [`telemetry`] | log lines: flat JSON, or columns for people |
//! | [`tour`] | moves walkers around under fire, and counts what came of it |
//! | [`transport`] | TCP behind the seam of links |

pub mod admin;
pub mod cli;
pub mod client;
pub mod config;
pub mod dev;
pub mod node;
mod parent;
pub mod signals;
pub mod telemetry;
pub mod tour;
pub mod transport;
