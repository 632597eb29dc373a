//! What a scene says of an entity while the home of its id is rebuilt.
//!
//! A scene says everything that it knows of the entities of a range: whoever lives there, copies that wait for the
//! record, and where those went that have left. It has taken up the home's term before, so that none of it
//! changes any more until the home has decided: an older record is ignored from then on, an older copy is not
//! staged, and an active entity begins nothing that would change its record.

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;

use crate::message::Nonce;
use crate::{Epoch, Own, Record};

/// What one scene says of one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The entity.
    pub entity: OnlineId,
    /// Its label, to name it by should it be lost.
    pub label: Option<String>,
    /// How the scene stands to it.
    pub stake: Stake,
}

/// How a scene stands to an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stake {
    /// It takes turns there.
    Active(Title),
    /// It is frozen there: its copy was sent to a target, which may have taken over.
    Leaving {
        /// The record that the scene last knew.
        title: Title,
        /// The target.
        target: Own,
        /// Whether it has been frozen for so long that whoever had it since may have forgotten it.
        is_late: bool,
    },
    /// It is to be despawned there: the home may have done so.
    Despawning(Title),
    /// A copy waits there for the record to name it.
    Staged {
        /// The epoch that the record has once it names the copy.
        label: Epoch,
        /// Where the copy came from.
        source: Own,
        /// Of the question that the copy waits to have answered.
        nonce: Nonce,
    },
    /// It is gone from there: the last that the scene heard of it.
    Gone(Record),
}

/// A record as its owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    /// Its epoch.
    pub epoch: Epoch,
    /// Epoch at which the copy was handed over.
    pub data: Epoch,
    /// Epoch of the last reset of the entity's streams.
    pub base: Epoch,
}

impl Title {
    /// What is known of a record of which nobody knows anything.
    pub const NONE: Self = Self { epoch: Epoch::ZERO, data: Epoch::ZERO, base: Epoch::ZERO };
}

impl Stake {
    /// What the scene last knew of the record; none for a copy that waits.
    #[must_use]
    pub fn title(&self) -> Option<Title> {
        match *self {
            Self::Active(title) | Self::Despawning(title) | Self::Leaving { title, .. } => Some(title),
            Self::Gone(Record { epoch, data, base, .. }) => Some(Title { epoch, data, base }),
            Self::Staged { .. } => None,
        }
    }

    /// Whether the entity lives there, as far as the scene knows.
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self {
            Self::Active(_) | Self::Despawning(_) | Self::Leaving { .. } => true,
            Self::Staged { .. } | Self::Gone(_) => false,
        }
    }
}
