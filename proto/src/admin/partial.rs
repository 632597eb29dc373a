//! Less than was asked for: a list that lacks what silent nodes have, some of the entities that were to be spawned.

use serde::{Deserialize, Serialize};

use super::{EntityRow, LostRow, MoveReport, Problem};

/// What the others have, and who did not answer. A desk answers so to tools alone: for itself it knows everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialList {
    /// The list.
    pub rows: Rows,
    /// Names of the nodes whose rows are missing; never empty.
    pub silent: Vec<String>,
}

/// Of several entities that were to be spawned, those that were, and why the first of the others was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SomeSpawned {
    /// Those that were; at least one.
    pub rows: Vec<EntityRow>,
    /// Why the first of the others was not.
    pub problem: Problem,
}

/// What is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rows {
    /// Entities, by scene and id.
    Entities(Vec<EntityRow>),
    /// Moves, newest first.
    Moves(Vec<MoveReport>),
    /// Lost entities, per home the latest first.
    Lost(Vec<LostRow>),
}
