//! What an evacuation is told, and what it wants done.

use std::time::Duration;

use slipgate_entity::{OnlineId, TypeName};

use super::{Kept, Target};
use crate::moves::{MoveError, Outcome};
use crate::{Now, Own};

/// Moves that one evacuation has under way at once, by default: enough to fill the pauses of a move, and few
/// enough that the targets' answers are heard before the next ones are sent there.
pub const UNDER_WAY_MAX: usize = 64;

/// Bounds of an evacuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Moves under way at once; at least 1. Default [`UNDER_WAY_MAX`].
    pub under_way_max: usize,
    /// When it ends at the latest.
    pub deadline: Now,
    /// First wait before a move is tried again.
    pub wait_first: Duration,
    /// Longest wait between two attempts.
    pub wait_max: Duration,
}

/// What an evacuation is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// All the scenes that may take somebody; they replace those named before.
    Targets(Vec<Target>),
    /// An entity lives in the scene.
    Seen {
        /// The entity.
        entity: OnlineId,
        /// Its type.
        type_name: TypeName,
    },
    /// An entity lives in the scene, and leaves it already by the order of an evacuation before this one. Its end is
    /// told to this one, which counts it as its own.
    Leaving {
        /// The entity.
        entity: OnlineId,
        /// Its type.
        type_name: TypeName,
        /// Where to; nowhere if it is being despawned.
        to: Option<Own>,
    },
    /// Everybody was seen who lives there, and nobody can come any more.
    Settled,
    /// An entity lives in the scene no longer, by other means than a move of the evacuation.
    Gone(OnlineId),
    /// A move that was ordered has ended, or was not taken up.
    MoveEnded {
        /// The entity.
        entity: OnlineId,
        /// How.
        ended: Result<Outcome, MoveError>,
    },
    /// Time passes.
    Tick,
    /// A despawn that was ordered has ended, or was not taken up.
    DespawnEnded {
        /// The entity.
        entity: OnlineId,
        /// How.
        ended: Result<(), NotDespawned>,
    },
    /// Nobody else is to be moved. What is under way ends by itself.
    Cancel,
    /// Whoever is left is to be despawned, those included who were kept.
    Despawn,
}

/// Why an entity that was to be despawned is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDespawned {
    /// Its home has not answered. It goes once that does, and until then another attempt finds it under way.
    Undecided,
    /// The despawn was not taken up.
    Rejected(MoveError),
}

/// What an evacuation wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Move an entity; its end is to be told.
    Move {
        /// The entity.
        entity: OnlineId,
        /// The target.
        to: Own,
    },
    /// Remove an entity for good; its end is to be told.
    Despawn(OnlineId),
    /// It is over. Said once; nothing follows.
    Done(Done),
}

/// What came of an evacuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Entities moved.
    pub moved: u64,
    /// Entities that went by other means; among them those that it despawned.
    pub gone: u64,
    /// Those that are still there, and why; by id.
    pub kept: Vec<(OnlineId, Kept)>,
}

/// How far an evacuation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entities moved.
    pub moved: u64,
    /// Entities that went by other means.
    pub gone: u64,
    /// Moves and despawns under way.
    pub under_way: u64,
    /// Entities whose turn has not come, or comes again.
    pub waiting: u64,
    /// Entities that will stay, as it looks now.
    pub kept: u64,
}
