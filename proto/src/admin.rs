//! Questions of tools and their answers: the admin interface's vocabulary.
//!
//! The same types serve twice: as JSON under `/api/v1`, where they are a contract, and encoded by
//! [`codec`](crate::codec) between the admin desks of two nodes. Ids are text (`3.1204`), because
//! 64-bit numbers do not survive readers that hold numbers as doubles.
//!
//! What a type or an event says of itself is JSON text between nodes, and an object in JSON.
//!
//! Keeps: no field is renamed or removed within `v1`; new ones are added at the end.
//! Leaves out: transport (HTTP in `slipgate::admin`, links in `slipgate_actors`).

mod drain;
mod json_text;
mod moves;
mod partial;
mod scenes;
mod sending;

pub use drain::{DrainOrder, DrainReport, KeptRow, PauseReport};
pub use moves::{CompanionRow, MoveReport};
pub use partial::{PartialList, Rows, SomeSpawned};
pub use scenes::{Clearing, CloseReport};
pub use sending::{AskReport, NotTaken, Outgoing, Panicked, REFUSALS_MAX, SendReport};

use serde::{Deserialize, Serialize};
use slipgate_entity::{PersistId, PlayerId};
use thiserror::Error;

/// What a tool can ask of a cluster, at any node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// How every node is. Answer: [`Answer::Nodes`].
    Nodes,
    /// How the asked node is. Answer: [`Answer::Nodes`] with this one alone.
    Node,
    /// Every scene. Answer: [`Answer::Scenes`].
    Scenes,
    /// Entities, by scene and id. Answer: [`Answer::Entities`].
    Entities {
        /// Only those of the scene with this name or number.
        scene: Option<String>,
        /// Only those of the type with this name, or of one below it.
        type_name: Option<String>,
        /// At most so many.
        limit: u32,
    },
    /// Entities whose label is the text, or whose id begins with it. Answer: [`Answer::Entities`].
    Find {
        /// The text.
        text: String,
        /// At most so many per node.
        limit: u32,
    },
    /// Everything about one entity. Answer: [`Answer::Entity`].
    Show {
        /// An id, a unique prefix of one, or a unique label.
        entity: String,
    },
    /// New entities. Answer: [`Answer::Spawned`], or [`Answer::SomeSpawned`].
    Spawn {
        /// Stable name of the type.
        type_name: String,
        /// Name or number of the scene.
        scene: String,
        /// A label; with `count` above 1 a number is appended.
        label: Option<String>,
        /// How many; 1 to 10,000.
        count: u32,
        /// What they begin with: JSON text of an object with the fields of parts, by the names of the parts; the rest is
        /// as the type has it.
        data: Option<String>,
        /// Its number over restarts; a fresh one, if none. With `count` above 1 there is none.
        persist: Option<PersistId>,
        /// The player that they belong to; 0: none.
        player: PlayerId,
    },
    /// Messages to entities, in order, through the router of the node `via`. Answer: [`Answer::Sent`].
    /// A problem other than a time-out says that none of them was accepted.
    Send {
        /// The node whose router sends; the asked one where none is named.
        via: Option<String>,
        /// The messages; at most 1,024.
        messages: Vec<Outgoing>,
        /// Whether to wait until every accepted message is applied or answered.
        wait: bool,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// Moves one entity. Answer: [`Answer::Move`], also where the move was refused or failed.
    Migrate {
        /// An id, a unique prefix of one, or a unique label.
        entity: String,
        /// Name or number of the scene, optionally `@node`.
        to: String,
        /// How long to wait for the outcome, in milliseconds.
        timeout_ms: u64,
    },
    /// Removes one entity for good. Answer: [`Answer::Despawned`].
    Despawn {
        /// An id, a unique prefix of one, or a unique label.
        entity: String,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// Moves under way and the latest ended ones, newest first. Answer: [`Answer::Moves`].
    Moves {
        /// At most so many.
        limit: u32,
    },
    /// What happened after the positions given, per node. Answer: [`Answer::Events`].
    Events {
        /// Per node name, the number of the last event seen. Of nodes not named, the newest event alone is
        /// answered, so that the asker learns where they are.
        after: Vec<Cursor>,
        /// At most so many per node.
        limit: u32,
    },
    /// Entities that were lost with their nodes, latest first. Answer: [`Answer::Lost`].
    Lost {
        /// At most so many.
        limit: u32,
    },
    /// The planned stop of a node. Answer: [`Answer::Drain`].
    Drain {
        /// Its name.
        node: String,
        /// What is wanted.
        order: DrainOrder,
    },
    /// A new scene. Answered once it is open. Answer: [`Answer::Opened`].
    OpenScene {
        /// Its name.
        name: String,
        /// The node that is to have it; the manager chooses if none is named.
        node: Option<String>,
        /// Entities it may hold.
        capacity: u32,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// A scene that was made at run time takes nobody in any more, and ends. Answer: [`Answer::Closed`].
    CloseScene {
        /// Its name or number.
        scene: String,
        /// What becomes of those who are in it.
        clearing: Clearing,
        /// Whether to wait until it is over, or somebody could not move.
        wait: bool,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// A parked entity is to take messages again. Answer: [`Answer::Unparked`].
    Unpark {
        /// An id, a unique prefix of one, or a unique label.
        entity: String,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// A message to an entity whose answer is waited for. Answer: [`Answer::Asked`], also where there is none.
    Ask {
        /// The node whose router sends; the asked one where none is named.
        via: Option<String>,
        /// The message.
        message: Outgoing,
        /// Whether the answer is wanted as the bytes that it is, not as JSON.
        raw: bool,
        /// How long to wait, in milliseconds.
        timeout_ms: u64,
    },
    /// Entities that wear a label that a spawn would give. Answer: [`Answer::Entities`].
    Labelled {
        /// The label; with `count` above 1 a number is appended.
        label: String,
        /// How many would be spawned.
        count: u32,
        /// At most so many per node.
        limit: u32,
    },
}

/// A position in one node's events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The node's name.
    pub node: String,
    /// Number of an event of that node.
    pub number: u64,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Every member, answering or not.
    Nodes(ClusterReport),
    /// Every scene, by number.
    Scenes(Vec<SceneReport>),
    /// Entities, by scene and id.
    Entities(Vec<EntityRow>),
    /// One entity.
    Entity(EntityReport),
    /// The new entities.
    Spawned(Vec<EntityRow>),
    /// How sending went.
    Sent(SendReport),
    /// How the move ended.
    Move(MoveReport),
    /// It is gone.
    Despawned(EntityRow),
    /// Moves, newest first.
    Moves(Vec<MoveReport>),
    /// Events, per node in order.
    Events(Vec<Event>),
    /// Lost entities, per home the latest first.
    Lost(Vec<LostRow>),
    /// How the drain goes.
    Drain(DrainReport),
    /// The new scene.
    Opened(SceneReport),
    /// How the closing goes.
    Closed(CloseReport),
    /// It takes messages again.
    Unparked(EntityRow),
    /// A list without what silent nodes have.
    Partial(PartialList),
    /// What came of an ask.
    Asked(AskReport),
    /// Not all of the new entities.
    SomeSpawned(SomeSpawned),
}

/// The cluster at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterReport {
    /// Its name.
    pub cluster: String,
    /// Version of the view that the asked node has.
    pub view: u64,
    /// The node that runs the manager.
    pub manager: String,
    /// Members by name.
    pub nodes: Vec<NodeReport>,
}

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Its name.
    pub node: String,
    /// `ready`, `starting`, `draining`, `stopping`, `paused` while it has no lease, `silent` where it did not answer in
    /// time, or `dead` where that life of it is over.
    pub state: String,
    /// Its number.
    pub id: u16,
    /// Its life.
    pub incarnation: u32,
    /// What peers dial.
    pub address: String,
    /// Where its admin interface listens.
    pub admin: String,
    /// Open scenes.
    pub scenes: u32,
    /// Live entities.
    pub entities: u64,
    /// Moves under way from here.
    pub moves: u64,
    /// Moves ended since the start, by how they ended.
    pub moves_ok: u64,
    /// Refused ones.
    pub moves_refused: u64,
    /// Failed ones.
    pub moves_failed: u64,
    /// Messages applied since the start.
    pub applied: u64,
    /// Messages waiting in routers and entities.
    pub waiting: u64,
    /// Ranges of ids held.
    pub ranges: u32,
    /// Milliseconds of the lease that are left; 0 before the first renewal.
    pub lease_left_ms: u64,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Version of the program.
    pub version: String,
    /// Links to the other members.
    pub links: Vec<LinkReport>,
    /// What keeps the node from being ready, in words; empty when ready.
    pub not_ready: Vec<String>,
    /// While it drains: how many of 100 of its entities have moved out.
    pub drain_percent: Option<u8>,
    /// Entities that its homes have called lost since its start: with a scene or a home that died.
    pub lost: u64,
}

/// One link of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReport {
    /// The peer's name.
    pub peer: String,
    /// `up`, `connecting`, or `closed`.
    pub state: String,
    /// Why it is not up, in words.
    pub reason: Option<String>,
    /// Bytes sent since the link came up.
    pub bytes_out: u64,
    /// Bytes received since the link came up.
    pub bytes_in: u64,
    /// Messages that wait in its lanes.
    pub waiting: u64,
}

/// One scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneReport {
    /// Its number.
    pub id: u16,
    /// Its name.
    pub scene: String,
    /// The node it is placed on.
    pub node: String,
    /// `open`, `draining`, `silent` where its node did not answer in time, or `dead` where that life of it is over;
    /// of one that was made at run time also `opening` and `closing`.
    pub state: String,
    /// Live entities.
    pub entities: u64,
    /// Entities it may hold.
    pub capacity: u32,
    /// Copies staged, and room reserved, for entities on their way in.
    pub arriving: u64,
    /// Entities frozen on their way out.
    pub leaving: u64,
    /// From 1, which of the scenes made at run time under its number it is; 0 for a declared one.
    pub generation: u16,
    /// Whether it was made at run time: it ends when it is closed, or with that life of its node.
    pub made: bool,
}

/// One entity, in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityRow {
    /// Its online id.
    pub entity: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its label.
    pub label: Option<String>,
    /// Its scene.
    pub scene: String,
    /// The node of the scene.
    pub node: String,
    /// `active`, `parked`, `frozen`, or `deciding`.
    pub state: String,
    /// Its epoch.
    pub epoch: u64,
}

/// An entity that was lost with its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRow {
    /// Its online id.
    pub entity: String,
    /// Its label.
    pub label: Option<String>,
    /// The scene where it was.
    pub scene: String,
    /// The node of the scene.
    pub node: String,
    /// The life of that node that is over.
    pub incarnation: u32,
}

/// Everything about one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityReport {
    /// Its online id.
    pub entity: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its label.
    pub label: Option<String>,
    /// Its scene.
    pub scene: String,
    /// The node of the scene.
    pub node: String,
    /// `active`, `parked`, `frozen`, or `deciding`.
    pub state: String,
    /// Its epoch.
    pub epoch: u64,
    /// Its handle in the scene where it is.
    pub handle: String,
    /// Its number over restarts.
    pub persist: String,
    /// Node that keeps its record.
    pub home: String,
    /// Epoch at which the copy that counts was made.
    pub data: u64,
    /// Streams that have written to it: how many are remembered.
    pub senders: u64,
    /// Messages applied, over its whole life.
    pub applied: u64,
    /// Messages that it sent and nobody acknowledged yet.
    pub unacknowledged: u64,
    /// The state as its type describes it: JSON text, in JSON an object.
    #[serde(with = "json_text")]
    pub body: String,
    /// Epoch of the last reset of its streams; 0 if there was none. Its home, lost while it was on the move, had to name
    /// a copy that may have missed something: what was not acknowledged by then is unknown.
    pub reset: u64,
    /// Why it is parked, and since when; none if it is not.
    pub parked: Option<ParkedReport>,
}

/// Why an entity is parked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedReport {
    /// What its game code was at, and what the panic said.
    pub why: String,
    /// Milliseconds since 1970, by the clock of the node where it was.
    pub since_ms: u64,
}

/// Something that happened on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The node.
    pub node: String,
    /// Numbers the node's events; a gap says that events were dropped before they were read.
    pub number: u64,
    /// RFC 3339, UTC, with milliseconds.
    pub ts: String,
    /// `move.begin`, `move.arrived`, `move.ok`, `move.refused`, `move.failed`, `node.joined`, ...
    pub event: String,
    /// Further fields, as in the log line: JSON text of an object, in JSON that object.
    #[serde(with = "json_text")]
    pub fields: String,
}

/// Why a question has no answer. Prints as what happened and what state is left.
///
/// ```
/// use slipgate_proto::admin::{Problem, ProblemKind};
///
/// let problem = Problem {
///     kind: ProblemKind::NotFound,
///     reason: "unknown_scene".to_owned(),
///     text: "there is no scene \"attic\"".to_owned(),
///     state: Some("nothing was spawned".to_owned()),
///     hint: Some("slipgate scenes".to_owned()),
/// };
/// assert_eq!(problem.to_string(), "there is no scene \"attic\"; nothing was spawned");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{text}{}", self.state.as_deref().map(|state| format!("; {state}")).unwrap_or_default())]
pub struct Problem {
    /// What kind it is; decides exit code and HTTP status.
    pub kind: ProblemKind,
    /// Stable word: `unknown_entity`, `ambiguous`, `unknown_scene`, `no_range`, ...
    pub reason: String,
    /// What happened, in one sentence.
    pub text: String,
    /// What state is left: where the entity is, what was done already.
    pub state: Option<String>,
    /// What to do next: a command or a setting.
    pub hint: Option<String>,
}

/// Kinds of problems.
///
/// ```
/// use slipgate_proto::admin::ProblemKind;
///
/// /// Whether the same question may be answered well later.
/// fn is_worth_another_try(kind: ProblemKind) -> bool {
///     match kind {
///         ProblemKind::Timeout | ProblemKind::Unavailable | ProblemKind::Refused => true,
///         ProblemKind::Usage | ProblemKind::NotFound | ProblemKind::Unauthorized => false,
///     }
/// }
/// assert!(is_worth_another_try(ProblemKind::Timeout));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The question itself is wrong. Exit code 2, HTTP 400.
    Usage,
    /// What was asked for does not exist. Exit code 3, HTTP 404.
    NotFound,
    /// It exists and says no. Exit code 4, HTTP 409.
    Refused,
    /// No answer within the time given; it may still happen. Exit code 5, HTTP 504.
    Timeout,
    /// The node cannot answer now: it is starting or stopping. Exit code 1, HTTP 503.
    Unavailable,
    /// A token is missing or wrong. Exit code 4, HTTP 401.
    Unauthorized,
}
