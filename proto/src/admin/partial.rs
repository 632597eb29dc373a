//! A list that lacks what some nodes have, because they did not answer.

use serde::{Deserialize, Serialize};

use super::{EntityRow, LostRow, MoveReport};

/// What the others have, and who did not answer. A desk answers so to tools alone: for itself it knows everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialList {
    /// The list.
    pub rows: Rows,
    /// Names of the nodes whose rows are missing; never empty.
    pub silent: Vec<String>,
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
