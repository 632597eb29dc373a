//! Scenes that are made and closed at run time: what can be asked about them, and how a closing goes.

use serde::{Deserialize, Serialize};

use super::KeptRow;

/// What becomes of those who are in a scene that closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clearing {
    /// They move to other scenes; whoever cannot stays, and keeps the scene from ending.
    #[default]
    Move,
    /// They are despawned.
    Despawn,
}

/// How the closing of a scene goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseReport {
    /// The scene's name.
    pub scene: String,
    /// The node that it is, or was, placed on.
    pub node: String,
    /// `closed`: it is over, and its name is free; `closing`: it takes nobody in, and somebody is left in it.
    pub state: String,
    /// Entities that the latest attempt has moved elsewhere.
    pub moved: u64,
    /// Entities that went by other means meanwhile; those included that it despawned.
    pub gone: u64,
    /// Entities that are left in it.
    pub left: u64,
    /// Who is left although the attempt is over, and why; the first ones.
    pub kept_first: Vec<KeptRow>,
}

impl CloseReport {
    /// The state of a scene that is over.
    pub const CLOSED: &str = "closed";
    /// The state of a scene that somebody is left in.
    pub const CLOSING: &str = "closing";
}
