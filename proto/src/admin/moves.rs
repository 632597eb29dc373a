//! How moves go.

use serde::{Deserialize, Serialize};
use slipgate_cluster::moves::Cost;

/// One attempt to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveReport {
    /// Its id.
    #[serde(rename = "move")]
    pub id: String,
    /// The entity.
    pub entity: String,
    /// Its label.
    pub label: Option<String>,
    /// From where: `scene@node`.
    pub from: String,
    /// To where: `scene@node`.
    pub to: String,
    /// `ok`, `refused`, `failed`, or `open`.
    pub result: String,
    /// Stable word for why, where it is not `ok`: `full`, `no_scene`, `timeout`, ...
    pub reason: Option<String>,
    /// The same for people: what happened.
    pub text: Option<String>,
    /// Where the entity is now, as far as known: `scene@node`.
    pub at: Option<String>,
    /// Epoch after the attempt.
    pub epoch: u64,
    /// What it cost.
    pub cost: Cost,
    /// Milliseconds since 1970 when it began, by the source's clock.
    pub began_ms: u64,
    /// How it went for those who were to come along, in their order; told to whoever asked for the move, and empty in lists
    /// of moves, where each has its own row.
    pub companions: Vec<CompanionRow>,
}

/// How the move of one ended that was to come along with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionRow {
    /// Id of its own move.
    #[serde(rename = "move")]
    pub id: String,
    /// The entity.
    pub entity: String,
    /// `ok`, `refused`, `failed`.
    pub result: String,
    /// Stable word for why, where it is not `ok`.
    pub reason: Option<String>,
    /// The same for people.
    pub text: Option<String>,
    /// Where the entity is now, as far as known: `scene@node`.
    pub at: Option<String>,
}
