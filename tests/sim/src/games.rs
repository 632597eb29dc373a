//! Games of studios, played in a simulated cluster: the troupes that ship, on simulated clocks and a simulated network.
//!
//! ```text
//!   slipgate::test ──> World ──> Cluster<Games> ──> Troupe: machine, bodies, turns of game code
//!                        │             │                │
//!                        │             └─ network <─────┘ envelopes
//!                        └─ questions and messages, as a node's desk and router take them
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `cast` | how scenes of a game have their turns, and who hears what comes of them |
//! | `house` | a scene of a game |
//! | `world` | the cluster as whoever drives it sees it: time, questions, messages |
//! | `trouble` | what can go wrong: the network, processes |
//! | `verdict` | who lives where, and whether all is at rest |
//!
//! Keeps: one seed is one run, as far as the game itself is: one that reads a clock, draws from the system or walks over a
//! map of random order is not.
//! Leaves out: scenes that are made at run time, drains; disks, for a manager's is whole here.

mod cast;
mod house;
mod trouble;
mod verdict;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use slipgate_actors::router::Batches;
use slipgate_cluster::manager::Waits;
use slipgate_cluster::scene::OnPanic;
use slipgate_cluster::{Limits, NodeName, Session};
use slipgate_entity::OnlineId;
use slipgate_entity::game::Types;

use crate::dice::Dice;
use crate::life::LifeIndex;

pub use world::{Pending, Unanswered, World};

/// What a cluster for a game is made of.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Names of the nodes, with those of their scenes. The first one runs the manager.
    pub nodes: Vec<(NodeName, Vec<NodeName>)>,
    /// The types that all nodes can host.
    pub types: Types,
    /// What becomes of an entity whose handler panics.
    pub on_panic: OnPanic,
    /// Bounds and deadlines.
    pub limits: Limits,
    /// Lease and verdict.
    pub waits: Waits,
}

/// A panic of game code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GamePanic {
    /// Whose it was.
    pub entity: OnlineId,
    /// In words: the entity, its type, its scene, and what the panic said.
    pub text: String,
}

/// A game in a cluster.
#[derive(Debug)]
pub(crate) struct Games {
    shape: Shape,
    /// What is random in the game's own world: apart from the network's.
    dice: Dice,
    /// By life.
    batches: BTreeMap<LifeIndex, Batches>,
    /// Whom a life does not wait for.
    lost_peers: BTreeMap<LifeIndex, BTreeSet<Session>>,
    /// Entities that a home has called lost.
    lost: BTreeSet<OnlineId>,
    panics: Vec<GamePanic>,
    /// What has happened, for people.
    story: Vec<String>,
}
