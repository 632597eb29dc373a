//! What a home tells its witness, and what the witness says once that home is dead.
//!
//! An entity that lives where its home is leaves no trace elsewhere: if the node dies, nobody claims it. So a home tells
//! one other member who was born and who has died, by id and label, and no more than that.
//!
//! Leaves out: where they live; whoever lives claims its entity itself (`claim`).

use serde::{Deserialize, Serialize};
use slipgate_entity::{OnlineId, RangeId};

use crate::Session;

/// What is new in one range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosterNews {
    /// The range.
    pub range: RangeId,
    /// The home's term.
    pub term: u32,
    /// Those that live and were not told of before, by id.
    pub born: Vec<Born>,
    /// Those that were told of and have died since, by id.
    pub dead: Vec<OnlineId>,
}

/// An entity that lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Born {
    /// The entity.
    pub entity: OnlineId,
    /// Its label, as far as the home knows it.
    pub label: Option<String>,
}

/// An entity that lived, as far as a witness was told, when its home died.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bereft {
    /// The entity.
    pub entity: OnlineId,
    /// Its label.
    pub label: Option<String>,
    /// The home that told of it.
    pub home: Session,
}
