//! Bodies and parameters of requests, as JSON. Shared by the routes and by the client.
//!
//! Keeps: unknown fields are refused, so that a misspelt one is never silently ignored.

use serde::{Deserialize, Serialize};
use slipgate_entity::{PersistId, PlayerId};
use slipgate_proto::admin::{Clearing, Outgoing, Question};

/// Most messages in one request.
pub const MESSAGES_MAX: u32 = 1024;

/// Most entities that one request spawns.
pub const SPAWN_MAX: u32 = 10_000;

/// Most entities in one list.
pub const ENTITIES_MAX: u32 = 10_000;

/// Most moves in one list.
pub const MOVES_MAX: u32 = 1_000;

/// Longest wait that a request can ask for, in milliseconds: ten minutes.
pub const TIMEOUT_MS_MAX: u64 = 600_000;

/// `POST entities`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpawnBody {
    /// Stable name of the type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Name or number of the scene.
    pub scene: String,
    /// A label, which nobody else wears; with `count` above 1 a number is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many: 1 to [`SPAWN_MAX`], 1 if left out.
    #[serde(default = "one")]
    pub count: u32,
    /// What they begin with: fields of parts, by the names of the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Map<String, serde_json::Value>>,
    /// Its number over restarts, a UUID; a fresh one if left out, and always with `count` above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persist: Option<PersistId>,
    /// The player that they belong to; 0, which is none, if left out.
    #[serde(default, skip_serializing_if = "is_nobody")]
    pub player: PlayerId,
}

impl SpawnBody {
    /// One entity, as its type has it.
    #[must_use]
    pub fn of(type_name: &str, scene: &str) -> Self {
        let (label, data, persist, player) = (None, None, None, PlayerId::NONE);
        Self { type_name: type_name.to_owned(), scene: scene.to_owned(), label, count: 1, data, persist, player }
    }
}

/// `POST entities/{id}/messages`: one message, or several alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageBody {
    /// Name of the message, as the type declares it.
    pub name: String,
    /// Its arguments; an empty object if left out.
    #[serde(default = "nothing")]
    pub arguments: serde_json::Value,
    /// How many times: 1 to [`MESSAGES_MAX`], 1 if left out.
    #[serde(default = "one")]
    pub count: u32,
    /// The node whose router sends; the asked one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Whether to wait until it is applied or answered.
    #[serde(default)]
    pub wait: bool,
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// `POST entities/{id}/ask`: a message whose answer is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskBody {
    /// Name of the message, as the type declares it.
    pub name: String,
    /// Its arguments; an empty object if left out.
    #[serde(default = "nothing")]
    pub arguments: serde_json::Value,
    /// The node whose router sends; the asked one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// `POST messages`: a batch to any entities, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchBody {
    /// The node whose router sends; the asked one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// 1 to [`MESSAGES_MAX`] messages.
    pub messages: Vec<BatchMessage>,
    /// Whether to wait until all are applied or answered.
    #[serde(default)]
    pub wait: bool,
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// One message of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchMessage {
    /// An id, a unique prefix of one, or a unique label.
    pub entity: String,
    /// Name of the message, as the type declares it.
    pub name: String,
    /// Its arguments as JSON text; `{}` for none.
    pub arguments: String,
}

/// `POST entities/{id}/moves`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveBody {
    /// Name or number of the scene, optionally `@node`.
    pub to: String,
    /// How long to wait for the outcome, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// Entities that a scene holds for which nothing else is said, as in the configuration.
pub const CAPACITY_DEFAULT: u32 = 100_000;

/// `POST scenes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBody {
    /// Its name, unique in the cluster.
    pub name: String,
    /// The node that is to have it; the manager chooses if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Entities it may hold: 1 or more, [`CAPACITY_DEFAULT`] if left out.
    #[serde(default = "capacity")]
    pub capacity: u32,
    /// How long to wait until it is open, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// `POST scenes/{scene}/close`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloseBody {
    /// What becomes of those who are in it: they move if left out.
    #[serde(default)]
    pub clearing: Clearing,
    /// Whether to wait until it is closed, or somebody could not move.
    #[serde(default)]
    pub wait: bool,
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// `POST nodes/{node}/drain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainBody {
    /// How long it may take in all, in milliseconds: 1 to [`TIMEOUT_MS_MAX`]; as the node is configured if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Parameters of `GET entities`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntitiesQuery {
    /// Only those of the scene with this name or number.
    #[serde(default)]
    pub scene: Option<String>,
    /// Only those of the type with this name, or of one below it.
    #[serde(default, rename = "type")]
    pub type_name: Option<String>,
    /// At most so many: 1 to [`ENTITIES_MAX`], 1,000 if left out.
    #[serde(default = "thousand")]
    pub limit: u32,
}

/// Parameters of `GET lost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostQuery {
    /// At most so many: 1 to [`ENTITIES_MAX`], 1,000 if left out.
    #[serde(default = "thousand")]
    pub limit: u32,
}

/// Parameters of `GET moves`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovesQuery {
    /// At most so many: 1 to [`MOVES_MAX`], 50 if left out.
    #[serde(default = "fifty")]
    pub limit: u32,
}

/// Parameters of `DELETE entities/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DespawnQuery {
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// Body of `POST entities/{id}/unpark`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnparkBody {
    /// How long to wait, in milliseconds: 1 to [`TIMEOUT_MS_MAX`], 10,000 if left out.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// Parameters of `GET events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events of this family; all if left out.
    #[serde(default)]
    pub what: Option<Family>,
    /// Only events about the entity with this id or label.
    #[serde(default)]
    pub entity: Option<String>,
}

/// A family of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// `move.begin`, `move.ok`, ...
    Moves,
    /// `entity.spawned`, `entity.panicked`, `entities.lost`, ...
    Entities,
    /// `node.joined`, `link.up`, `lease.ended`, `home.rebuilt`, `entities.lost`, ...
    Nodes,
    /// `scene.opened`, `scene.over`, ...
    Scenes,
}

impl From<BatchBody> for Question {
    fn from(body: BatchBody) -> Self {
        let messages = body.messages.into_iter().map(|message| Outgoing {
            entity: message.entity,
            name: message.name,
            arguments: message.arguments,
        });
        Self::Send { via: body.via, messages: messages.collect(), wait: body.wait, timeout_ms: body.timeout_ms }
    }
}

fn is_nobody(player: &PlayerId) -> bool {
    *player == PlayerId::NONE
}

fn one() -> u32 {
    1
}

fn fifty() -> u32 {
    50
}

fn thousand() -> u32 {
    1000
}

fn capacity() -> u32 {
    CAPACITY_DEFAULT
}

fn ten_seconds() -> u64 {
    10_000
}

fn nothing() -> serde_json::Value {
    serde_json::json!({})
}
