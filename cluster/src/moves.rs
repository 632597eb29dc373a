//! Attempts to move an entity: their ids, and how each of them ends.

use std::fmt;

use serde::{Deserialize, Serialize};
use slipgate_entity::{OnlineId, SceneId, TypeName};
use thiserror::Error;
use uuid::Uuid;

use crate::bounds::{COMPANIONS, VETO_BYTES};
use crate::record::Epoch;
use crate::schema::Versions;

/// Names one attempt to move one entity: a UUID of version 4 made at the source.
///
/// Joins the log lines of both nodes; printed whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MoveId(pub Uuid);

impl fmt::Display for MoveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for MoveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The step of a move that a deadline belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Asking the target for room, while the entity runs on.
    Reserve,
    /// From the freeze to the decision.
    Transfer,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reserve => "reserve",
            Self::Transfer => "transfer",
        })
    }
}

/// Why the target would not take the entity. The entity never stopped, or runs again, at the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum Refusal {
    /// No open scene has that number.
    #[error("there is no open scene {scene}")]
    NoScene {
        /// The scene asked for.
        scene: SceneId,
    },
    /// The target does not know the entity's type.
    #[error("the target does not know the type {type_name}")]
    NoType {
        /// The type's stable name.
        type_name: TypeName,
    },
    /// The target reads other versions of a part.
    #[error("its {part} is of version {ours}, the target reads {theirs}")]
    SchemaDiffers {
        /// The part: the type or a component.
        part: TypeName,
        /// Version at the source.
        ours: u16,
        /// Versions that the target reads.
        theirs: Versions,
    },
    /// The state is larger than one of the two sides allows.
    #[error("its state of {bytes} bytes is above the limit of {bytes_max}")]
    TooLarge {
        /// Encoded size.
        bytes: u64,
        /// The limit that it exceeds.
        bytes_max: u64,
    },
    /// The target has no room.
    #[error("the scene is full ({capacity} of {capacity})")]
    Full {
        /// Entities it may hold.
        capacity: u32,
    },
    /// The target takes nobody in: it is stopping.
    #[error("the scene is draining")]
    Draining,
    /// The entity is in that scene already.
    #[error("it is in that scene already")]
    AlreadyThere,
    /// The source allows no more moves at once.
    #[error("{under_way} moves are under way, which is the limit")]
    Busy {
        /// Moves under way at the source.
        under_way: u32,
    },
    /// The bytes that arrived could not be read as the type.
    #[error("the target cannot read the state ({reason})")]
    Unreadable {
        /// What the decoder said.
        reason: String,
    },
    /// The target takes nobody in: it is being closed.
    #[error("the scene is closing")]
    Closing,
    /// Entities of its kind stay where they are: its flags say so.
    #[error("it is of those that do not move: it does not have the flag support_migrate")]
    NotMovable,
    /// The entity itself will not leave now.
    #[error("it may not leave: {reason}")]
    Vetoed {
        /// What its game code says; at most [`VETO_BYTES`].
        reason: String,
    },
    /// The target does not know a component that the entity has.
    #[error("the target does not know the component {component}")]
    NoComponent {
        /// The component's stable name.
        component: TypeName,
    },
    /// Another one of those who were to set out together does not come. Only a source says so, of its own, so it has no
    /// form on the wire.
    #[serde(skip)]
    #[error("{who} was to come along and does not ({why})")]
    Companion {
        /// Who.
        who: OnlineId,
        /// How the attempt of that one ended.
        why: Box<Outcome>,
    },
}

impl Refusal {
    /// The same, with what game code says of it cut to its bound.
    pub(crate) fn bounded(mut self) -> Self {
        if let Self::Vetoed { reason } = &mut self {
            reason.truncate(reason.floor_char_boundary(VETO_BYTES));
        }
        self
    }
}

/// How an attempt to move ended, and so where the entity is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It lives at the target.
    Moved {
        /// Epoch under which the target took over.
        epoch: Epoch,
    },
    /// It is still here: the target or the source said no.
    Refused(Refusal),
    /// It is still here: a step was not done by its deadline, and the source gave up.
    Timeout {
        /// The step that was late.
        step: Step,
    },
    /// It is still here: the link to the target's node was lost, and the source gave up.
    NodeLost,
    /// It is still here: somebody cancelled the move.
    Cancelled,
    /// It is frozen here until its home answers; the decision follows as an event.
    Undecided,
    /// The scene stopped before the move was decided.
    SceneStopped,
    /// It is still here, and never stopped: its home is new, and has not told the record by the deadline.
    HomeUnreachable,
    /// It is not here any more, and not because of this move: its home says that it is lost, or somebody else's.
    Lost,
}

/// What happened, in words for people; where to, and where the entity is by now, is said elsewhere.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { .. } => f.write_str("it has moved"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Timeout { step: Step::Reserve } => f.write_str("the target did not answer in time"),
            Self::Timeout { step: Step::Transfer } => f.write_str("the target did not take over in time"),
            Self::NodeLost => f.write_str("the link to the target's node was lost"),
            Self::Cancelled => f.write_str("its move was cancelled"),
            Self::Undecided => f.write_str("its home has not answered yet"),
            Self::SceneStopped => f.write_str("the scene stopped"),
            Self::HomeUnreachable => f.write_str("its home has not rebuilt its record yet"),
            Self::Lost => f.write_str("it is not here any more"),
        }
    }
}

/// Why a request about an entity or a move was not taken up at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum MoveError {
    /// The scene does not own the entity.
    #[error("the scene does not own {entity}")]
    NotOwner {
        /// The entity.
        entity: OnlineId,
    },
    /// A move or despawn of the entity is under way.
    #[error("a move of {entity} is under way")]
    Migrating {
        /// The entity.
        entity: OnlineId,
    },
    /// No such move is under way.
    #[error("no move {id} is under way")]
    NoMigration {
        /// The move asked for.
        id: MoveId,
    },
    /// Somebody who was to come along cannot, so nobody sets out.
    #[error("{who} was to come along and cannot ({why})")]
    NoCompany {
        /// Who.
        who: OnlineId,
        /// Why not.
        why: NoCompany,
    },
    /// More were to come along than may.
    #[error("{companions} entities were to come along, and at most {COMPANIONS} may")]
    TooManyCompanions {
        /// How many.
        companions: usize,
    },
}

/// Why somebody cannot come along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum NoCompany {
    /// It does not live in the scene of the one that it was to accompany.
    #[error("it is not in the scene from which they were to set out")]
    NotHere,
    /// A move or despawn of it is under way.
    #[error("a move of it is under way already, or its end")]
    Migrating,
    /// It was named twice, or is to accompany itself.
    #[error("it is named twice, or is the one who moves")]
    Twice,
}

/// What a move cost, as far as the source saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// From the request to the target's report, or to the end of the attempt, in microseconds.
    pub total_us: u64,
    /// From the freeze to the target's report that it is active, in microseconds; 0 if never frozen.
    pub pause_us: u64,
    /// Messages that the source held while the entity was frozen.
    pub held: u64,
    /// How many of the held ones the target reports as applied.
    pub delivered: u64,
    /// Encoded size of the state that travelled.
    pub bytes: u64,
}
