//! Whole clusters in one thread, each from one seed: the machines that ship, with the manager and its disk, on a network that
//! loses, doubles, delays, reorders and is cut, with processes that stop, crash and come back, and clocks that jump.
//!
//! ```text
//! seed ──> plan: sizes, bounds, faults      script: who talks, moves, spawns, dies, when
//!                    │                          │
//!                    v                          v
//!                cluster: a tick, then the acts of the tick ... then rest: all is whole, everything must be answered
//!                    │
//!                    v
//!                invariants, at each step and at rest ──> violation: replay, cut the script short, tell the story
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `plan` | the shape of a seed's cluster, and its script |
//! | `cluster`, `life`, `links`, `network`, `seat` | the simulated world |
//! | `cast` | who plays: the simulator's own walkers, or a studio's games |
//! | `turns`, `renown`, `scenes`, `stage` | the shells of the machines |
//! | `mischief`, `rest` | the two phases |
//! | [`games`] | games of studios in such a cluster, for `slipgate::test` |
//! | `history`, `invariants` | what really happened, and what must be true of it |
//! | `mutant` | rules that are broken on purpose |
//! | `story` | how a violation is cut short and told |
//! | `scenario` | clusters that are directed: no chance, and what happens is told as a play |
//!
//! Keeps: one seed is one run, byte for byte, on every machine.
//! Leaves out: bytes on wires, sockets, files, threads, which are for tests of real processes; how long anything takes
//! but for the deadlines of the machines.

mod cast;
mod cluster;
mod dice;
pub mod games;
mod history;
mod invariants;
mod life;
mod links;
mod mischief;
mod mutant;
mod network;
mod plan;
mod renown;
mod rest;
mod scenario;
mod scenes;
mod seat;
mod stage;
mod story;
mod tally;
mod turns;
mod walker;

pub use mutant::Mutant;
pub use scenario::{Fault, perform};
pub use story::{Run, Story, Violation, replay, run, run_mutant, shorten};
pub use tally::Tally;
