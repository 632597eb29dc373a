//! Why an entity is still in a scene that was evacuated: a word for programs, a sentence for people.
//!
//! Leaves out: when it is one and when the other, which the evacuation decides.

use std::fmt;

use crate::moves::{Outcome, Refusal};

/// Why an entity is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// No target is left that would take it; what the last one said.
    NoPlace(Option<Refusal>),
    /// It cannot go anywhere.
    Refused(Refusal),
    /// It was not moved by the deadline; how its last attempt ended.
    Late(Option<Outcome>),
    /// The evacuation was cancelled before its turn came.
    Cancelled,
    /// The scene stopped under it.
    SceneStopped,
}

impl Kept {
    /// A stable word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoPlace(_) => "no_place",
            Self::Refused(_) => "refused",
            Self::Late(_) => "late",
            Self::Cancelled => "cancelled",
            Self::SceneStopped => "scene_stopped",
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace(None) => f.write_str("there is no other scene that could take it"),
            Self::NoPlace(Some(refusal)) => write!(f, "no other scene takes it; the last one said: {refusal}"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Late(_) => f.write_str("it was not moved in time"),
            Self::Cancelled => f.write_str("its turn had not come when this was cancelled"),
            Self::SceneStopped => f.write_str("the scene stopped before its move was decided"),
        }
    }
}
