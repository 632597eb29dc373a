//! What the bench and its child processes say to each other: one JSON text a line.

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;

/// What a child that is a node is to do. Each order has one answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Start, together with the nodes at these addresses; answered with [`Answer::Done`].
    Meet(Vec<String>),
    /// Spawn entities of that many bytes: [`Answer::Spawned`].
    Spawn { count: usize, bytes: usize },
    /// Send messages in batches and wait until they are applied: [`Answer::Took`] as a whole.
    Flood { entities: Vec<OnlineId>, total: usize },
    /// Send one message after the other, each when the one before is applied: the median [`Answer::Took`].
    AskEach { entity: OnlineId, count: usize },
    /// Send that many messages a second until [`Order::Unload`]: [`Answer::Done`].
    Load { entities: Vec<OnlineId>, per_second: u32 },
    /// End the load: [`Answer::PerSecond`].
    Unload,
    /// Move entities one after the other: the median pause as [`Answer::Took`].
    MoveEach { entities: Vec<OnlineId>, to: u16 },
    /// Move entities all at once: [`Answer::Took`] as a whole.
    MoveAll { entities: Vec<OnlineId>, to: u16 },
    /// Tell the CPU time of the process: [`Answer::Took`].
    Cpu,
}

/// What a child says; on the way as a `Result` with why it could not do something.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Its first word: where it listens.
    At(String),
    Done,
    Spawned(Vec<OnlineId>),
    /// Nanoseconds.
    Took(f64),
    PerSecond(f64),
}
