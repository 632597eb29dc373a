//! What a handler wants done once it has returned.
//!
//! Keeps: effects are carried out in their order. Those of a handler that panicked are left out.

use serde_json::Value;

use super::data::Data;
use super::message::Caller;
use super::part::{Part, Position};
use super::types::TypeNumber;
use crate::{OnlineId, PersistId, PlayerId, SceneId};

/// An order to the scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A message to an entity; may be the one that sends it.
    Send {
        /// Who should get it.
        to: OnlineId,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// What goes back to the tool whose message this was: it asked.
    Reply {
        /// Its bytes: an answer, or why the message was not taken.
        payload: Vec<u8>,
    },
    /// A message to many entities of the same scene, without the one that sends it.
    SendTo {
        /// Who should get it.
        audience: Audience,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// The entity wants to move.
    Move {
        /// Where to.
        to: SceneRef,
        /// What it brings along.
        brings: Option<Value>,
    },
    /// A new entity in the same scene.
    Spawn(Spawn),
    /// The end of an entity; may be the one that wants it.
    Despawn(OnlineId),
    /// A line of the log, under the name of the entity's type.
    Log {
        /// How urgent.
        level: Level,
        /// What it says.
        text: String,
    },
}

impl Effect {
    /// What goes back to a caller; none if it is nobody who waits.
    pub(super) fn reply(caller: Caller, payload: Vec<u8>) -> Option<Self> {
        match caller {
            Caller::Entity(to) => Some(Self::Send { to, payload }),
            Caller::Tool => Some(Self::Reply { payload }),
            Caller::Client(_) | Caller::Timer | Caller::Scene => None,
        }
    }
}

/// Entities of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Audience {
    /// All.
    Scene,
    /// All of a type, or of one below it.
    Type(TypeNumber),
    /// All that have a position in a circle.
    Around {
        /// Its middle: where the sender stood when its handler had returned.
        position: Position,
        /// Its radius, in the units of the game.
        radius: f32,
    },
}

/// A scene, as a handler names it.
///
/// ```
/// use serde_json::json;
/// use slipgate_entity::game::{Context, SceneRef};
///
/// fn through_the_gate(cx: &mut Context<'_>) {
///     cx.move_with(SceneRef::Name("harbor".to_owned()), json!({ "gate": "north" }));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneRef {
    /// By its id.
    Id(SceneId),
    /// By its name.
    Name(String),
}

/// How urgent a line of the log is.
///
/// ```
/// use slipgate_entity::game::{Context, Level};
///
/// fn look(left: u32, cx: &mut Context<'_>) {
///     let level = if left == 0 { Level::Warn } else { Level::Debug };
///     cx.log(level, format!("{left} arrows left"));
/// }
/// assert!(Level::Error < Level::Trace);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is broken.
    Error,
    /// Something is odd.
    Warn,
    /// Something happened.
    Info,
    /// For whoever looks for a fault.
    Debug,
    /// For whoever looks for a fault for long.
    Trace,
}

/// An entity to be made.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Player};
/// use slipgate_entity::game::Spawn;
/// let spawn = Spawn::of::<Player>().label("ann").part(&Health { hp: 70 });
/// assert_eq!((spawn.type_name, spawn.label.as_deref()), ("player", Some("ann")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// Name of its type.
    pub type_name: &'static str,
    /// A name for people.
    pub label: Option<String>,
    /// The player that it belongs to.
    pub player: PlayerId,
    /// Its number over restarts; none: a fresh one.
    pub persist: Option<PersistId>,
    /// What its parts begin with.
    pub data: Data,
    /// What it brings along for its parts' `on_enter_scene`.
    pub brings: Option<Value>,
}

impl Spawn {
    /// An entity of a type, as its `Default` is.
    #[must_use]
    pub fn of<T: super::Entity>() -> Self {
        let (label, player, persist) = (None, PlayerId::NONE, None);
        Self { type_name: T::NAME, label, player, persist, data: Data::default(), brings: None }
    }

    /// With the number that it has over restarts, as a database knows it. No two in a scene have the same; the scene
    /// refuses to make, or to take in, the second. That no other scene has it is for the game to see to.
    #[must_use]
    pub fn persist(self, persist: PersistId) -> Self {
        Self { persist: Some(persist), ..self }
    }

    /// With something for its parts' `on_enter_scene`.
    #[must_use]
    pub fn brings(self, brings: Value) -> Self {
        Self { brings: Some(brings), ..self }
    }

    /// With a name for people.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }

    /// With the player that it belongs to.
    #[must_use]
    pub fn player(self, player: PlayerId) -> Self {
        Self { player, ..self }
    }

    /// With one of its parts beginning as `part` is: its own, or a component, whether its type lists it or not.
    ///
    /// # Panics
    ///
    /// If serde cannot write the part.
    #[must_use]
    pub fn part<P: Part>(mut self, part: &P) -> Self {
        self.data = self.data.part(part);
        self
    }
}
