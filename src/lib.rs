//! The node program and the command line of Slipgate.
//!
//! | module | holds |
//! |---|---|
//! | [`admin`] | the HTTP interface that tools speak: JSON, events, health, metrics |
//! | [`cli`] | the commands: what they take, print and return |
//! | [`client`] | asks an admin interface, blocking |
//! | [`dev`] | a whole cluster of processes on this machine |
//! | [`node`] | one node of a cluster |
//! | [`signals`] | the wish to stop, from Ctrl-C or a supervisor |
//! | [`tour`] | moves walkers around under fire, and counts what came of it |

pub mod admin;
pub mod cli;
pub mod client;
pub mod dev;
pub mod node;
pub mod signals;
pub mod tour;
