//! What a directory is told and asked, and what it wants done.

use std::sync::Arc;

use slipgate_entity::{OnlineId, RangeId, SceneId};

use crate::manager::ManagerRequest;
use crate::message::Control;
use crate::{Own, Place, Session, View};

/// What a directory is told or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The manager granted this session a range: it is its first home.
    Opened {
        /// The range.
        range: RangeId,
    },
    /// A scene of this session spawned an entity under a fresh id of an opened range.
    Registered {
        /// The id.
        entity: OnlineId,
        /// The scene.
        owner: Own,
        /// The entity's label, to name it by should it be lost.
        label: Option<String>,
    },
    /// The cluster as the manager now tells it: which ranges this session is the home of, and who is dead.
    View(Arc<View>),
    /// Somebody asks for a record, or to change it, or says what a home has to know.
    Heard {
        /// Who; gets the answer.
        from: Place,
        /// What; anything that is not said to a directory is ignored.
        control: Control,
    },
    /// This session is about to stop: its homes are to be given away.
    Retire,
    /// It goes on after all. What is given away stays so.
    Stay,
    /// Time passes.
    Tick,
}

/// What a directory wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message to a place.
    Tell {
        /// To whom.
        to: Place,
        /// What.
        control: Control,
    },
    /// A question to the manager.
    Ask(ManagerRequest),
    /// An entity was lost with the session that owned it.
    Lost(Lost),
    /// Nothing is left of what was to be given away, or nobody is there to take it.
    GivenAway,
    /// Something to tell people.
    Event(HomeEvent),
}

/// An entity that was lost with the session that owned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The entity.
    pub entity: OnlineId,
    /// Its label.
    pub label: Option<String>,
    /// The session that it was lost with: where it lived, or its home, if it died with that.
    pub session: Session,
    /// The scene where it was; none if nobody knows.
    pub scene: Option<SceneId>,
}

/// What happened to the home of a range; nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HomeEvent {
    /// This session is the home of a range whose former home is dead, and asks every scene.
    Rebuilding {
        /// The range.
        range: RangeId,
        /// The new term.
        term: u32,
        /// Scenes that are asked.
        scenes: usize,
    },
    /// Everybody has answered, or is dead: the home is complete.
    Rebuilt {
        /// The range.
        range: RangeId,
        /// Its term.
        term: u32,
        /// What came of its entities.
        tally: Tally,
        /// How long it took, in microseconds.
        took_us: u64,
    },
    /// The former home has handed all of its records over.
    Inherited {
        /// The range.
        range: RangeId,
        /// The new term.
        term: u32,
        /// The former home.
        from: Session,
        /// Entities that live.
        kept: u64,
    },
    /// The next home has all records of this one.
    Bequeathed {
        /// The range.
        range: RangeId,
        /// The next home.
        to: Session,
        /// Entities that live.
        kept: u64,
    },
    /// A witness has said who died with a former home, and was claimed by nobody.
    Named {
        /// The range.
        range: RangeId,
        /// The former home.
        home: Session,
        /// Its witness.
        witness: Session,
        /// Entities that are lost.
        lost: u64,
    },
}

/// What came of the entities of a home that was rebuilt; those that nobody knows of are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// They stay where they are, as they are.
    pub kept: u64,
    /// They stay, or a copy of them, and their streams begin anew.
    pub reset: u64,
    /// Nobody has a copy that counts.
    pub lost: u64,
    /// They were dead before.
    pub dead: u64,
}
