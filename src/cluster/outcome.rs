//! What becomes of what a program asks: the desk's words as values.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;
use slipgate_entity::game::{Fate, Message, Part};
use slipgate_entity::{OnlineId, codec};
use slipgate_proto::admin::{AskReport, CompanionRow, EntityReport, MoveReport, Panicked, SendReport};
pub use slipgate_proto::admin::{Problem, ProblemKind};
use thiserror::Error;

/// A scene and its node. Prints as `forest@n1`.
///
/// ```
/// use slipgate::Place;
///
/// let place = Place { scene: "forest".to_owned(), node: "n1".to_owned() };
/// assert_eq!(place.to_string(), "forest@n1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The scene's name.
    pub scene: String,
    /// The node's name.
    pub node: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.scene, self.node)
    }
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        let (scene, node) = text.rsplit_once('@')?;
        Some(Self { scene: scene.to_owned(), node: node.to_owned() })
    }
}

/// A move that ended well.
///
/// ```
/// # use slipgate::doc::Player;
/// # slipgate::doc::run(async |cluster| {
/// let ann = cluster.scene("forest").spawn(Player::default()).await?;
/// let moved = ann.move_to("harbor").await?;
/// assert_eq!((moved.from.to_string(), moved.to.to_string()), ("forest@n1".to_owned(), "harbor@n2".to_owned()));
/// assert!(moved.paused <= moved.took && moved.companions.is_empty());
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// Where the entity was.
    pub from: Place,
    /// Where it is.
    pub to: Place,
    /// Its epoch there.
    pub epoch: u64,
    /// The move's id, as all log lines about it have it.
    pub id: String,
    /// From the request to the target's report.
    pub took: Duration,
    /// How long the entity took no turns.
    pub paused: Duration,
    /// Messages that came in that time, and wait at the target no more.
    pub held: u64,
    /// Bytes of state that travelled.
    pub bytes: u64,
    /// How it went for those who were to come along.
    pub companions: Vec<Companion>,
}

/// How it went for one who was to come along: each moves by itself, once all have room.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Companion {
    /// Its id.
    pub id: OnlineId,
    /// That it came, or why not and where it is.
    pub outcome: Result<(), MoveError>,
}

/// Why a move did not end well, and where the entity is now.
///
/// ```
/// # use slipgate::doc::Player;
/// # use slipgate::prelude::*;
/// # slipgate::doc::run(async |cluster| {
/// let ann = cluster.scene("forest").spawn(Player::default()).await?;
/// let error = ann.move_to("forest").await.unwrap_err();
/// assert_eq!((error.kind, error.reason.as_str()), (ProblemKind::Refused, "already_there"));
/// assert!(error.to_string().ends_with("; it is in forest@n1"));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}; {}", self.whereabouts())]
#[non_exhaustive]
pub struct MoveError {
    /// What kind it is. `Refused`: somebody said no, and the entity never stopped. `Timeout`: it may still move.
    pub kind: ProblemKind,
    /// Stable word: `refused`, `full`, `no_scene`, `timeout`, `node_lost`, ...
    pub reason: String,
    /// What happened, in one sentence.
    pub text: String,
    /// Where it is, where that is known; else `state` says what is.
    pub at: Option<Box<Place>>,
    /// What state is left, in words.
    pub state: Option<String>,
    /// How it went for those who were to come along: each is decided by itself, and may have moved.
    pub companions: Vec<Companion>,
}

impl MoveError {
    fn whereabouts(&self) -> String {
        match (&self.at, &self.state) {
            (Some(at), _) => format!("it is in {at}"),
            (None, Some(state)) => state.clone(),
            (None, None) => "where it is, is not known here".to_owned(),
        }
    }
}

impl From<Problem> for MoveError {
    fn from(problem: Problem) -> Self {
        let Problem { kind, reason, text, state, hint: _ } = problem;
        Self { kind, reason, text, at: None, state, companions: Vec::new() }
    }
}

/// An entity as it stood when it was looked at.
///
/// ```
/// # use slipgate::doc::{Health, Hit, Player};
/// # slipgate::doc::run(async |cluster| {
/// let ann = cluster.scene("forest").spawn(Player::default()).label("ann").await?;
/// ann.send(Hit { hp: 1 }).await?;
/// let shown = ann.show().await?;
/// assert_eq!((shown.label.as_deref(), shown.applied, shown.standing.as_str()), (Some("ann"), 1, "active"));
/// assert_eq!(shown.part::<Health>()?, Health { hp: 99 });
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shown {
    /// Its id.
    pub id: OnlineId,
    /// Stable name of its type.
    pub type_name: String,
    /// Its label.
    pub label: Option<String>,
    /// Where it is.
    pub at: Place,
    /// `active`, `parked`, `frozen`, or `deciding`.
    pub standing: String,
    /// Its epoch: it rises with each change of its owner.
    pub epoch: u64,
    /// Its handle in the scene where it is.
    pub handle: String,
    /// Messages applied, over its whole life.
    pub applied: u64,
    /// Its state, as its type describes it.
    pub state: Value,
    /// Why it is parked; none if it is not.
    pub parked: Option<String>,
}

impl Shown {
    /// One of its parts: its own, or a component. Fields that do not travel are as in the part's `Default`.
    ///
    /// # Errors
    ///
    /// If it has no such part, or another version of it than this program.
    pub fn part<P: Part>(&self) -> Result<P, PartError> {
        let own = (self.type_name == P::NAME).then(|| &self.state["own"]);
        let fields = own.or_else(|| self.state["components"].get(P::NAME));
        let fields = fields.ok_or_else(|| PartError::None { of: self.type_name.clone(), part: P::NAME })?;
        P::deserialize(fields).map_err(|error| PartError::Unlike { part: P::NAME, why: error.to_string() })
    }
}

/// Why a part of an entity cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartError {
    /// It has none of that name.
    #[error("this {of} has no {part}")]
    None {
        /// The entity's type.
        of: String,
        /// Name of the part.
        part: &'static str,
    },
    /// It has one with other fields.
    #[error("its {part} is another than that of this program: {why}")]
    Unlike {
        /// Name of the part.
        part: &'static str,
        /// What does not fit.
        why: String,
    },
}

/// Why there is no new entity.
///
/// ```
/// # use slipgate::doc::Player;
/// # use slipgate::prelude::*;
/// # slipgate::doc::run(async |cluster| {
/// let error = cluster.scene("attic").spawn(Player::default()).await.unwrap_err();
/// let SpawnError::Refused(problem) = error else { panic!("{error}") };
/// assert_eq!(problem.reason, "unknown_scene");
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpawnError {
    /// A part cannot be written as JSON: a map whose keys are no text. Nothing was asked.
    #[error("{part} cannot be written as JSON: {why}")]
    NotJson {
        /// Name of the part.
        part: &'static str,
        /// What cannot be written.
        why: String,
    },
    /// The desk says why.
    #[error(transparent)]
    Refused(#[from] Problem),
}

/// Why a message was not applied, or may not have been.
///
/// ```
/// # use slipgate::doc::{Hit, Player};
/// # use slipgate::prelude::*;
/// # slipgate::doc::run(async |cluster| {
/// let ann = cluster.scene("forest").spawn(Player::default()).await?;
/// ann.despawn().await?;
/// match ann.send(Hit { hp: 1 }).await {
///     Err(SendError::Dead) => {}
///     other => panic!("expected her to be gone, found {other:?}"),
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// It was not accepted: too much waits for that entity already. Send it again later.
    #[error("too much waits for it already; the message was not taken")]
    Busy,
    /// The entity is gone: the message was not applied, and never will be.
    #[error("it is gone: it was despawned, or lost with its node")]
    Dead,
    /// The entity was lost with its node, before or after it had applied the message.
    #[error("it was lost with its node, and whether it had applied the message is unknown")]
    Unknown,
    /// The entity was lost with its node before the message had left: it was not applied, and never will be.
    #[error("it was lost with its node, before the message had left")]
    Lost,
    /// Its handler panicked; what that had done by then is done.
    #[error("{why}{}", fate.map_or("", then))]
    Failed {
        /// What the panic said, and in which handler.
        why: String,
        /// What becomes of the entity; none where that was lost on the way.
        fate: Option<Fate>,
    },
    /// It takes no messages since one of its handlers has panicked; this one is never applied.
    #[error("it takes no messages since a handler of it panicked")]
    Parked,
    /// No answer came in time. The message comes to the entity once, as soon as its way is free.
    #[error("no answer came in time; it is applied as soon as its way is free")]
    Late,
    /// It cannot be written as JSON: a map whose keys are no text. Nothing was sent.
    #[error("{message} cannot be written as JSON: {why}")]
    NotJson {
        /// Name of the message.
        message: &'static str,
        /// What cannot be written.
        why: String,
    },
    /// The entity does not take such a message: its type and components have none, it is not for programs, or the
    /// arguments do not fit. It was not applied.
    #[error("{why}")]
    NotTaken {
        /// Why not.
        why: String,
    },
    /// It came to the entity, and what became of it there was lost on the way: it was applied, unless the entity does not take
    /// such a message.
    #[error("it came there, and whether it was taken was lost on the way")]
    Passed,
    /// It was applied, and there is no answer to be had: it is too large, or none of the message in this program.
    #[error("it was applied, but its answer cannot be had: {why}")]
    Unreadable {
        /// Why not.
        why: String,
    },
    /// It was not accepted, for the reason given.
    #[error(transparent)]
    Refused(#[from] Problem),
}

/// That a message was applied.
pub(crate) fn applied(report: &SendReport) -> Result<(), SendError> {
    accepted(report)?;
    if report.applied > 0 { Ok(()) } else { Err(SendError::Late) }
}

/// What a message was answered.
pub(super) fn answered<M: Message>(report: &AskReport) -> Result<M::Answer, SendError> {
    applied(&report.sent)?;
    let unreadable = |why: String| SendError::Unreadable { why };
    if !report.answered {
        return Err(unreadable(report.why.clone().unwrap_or_else(|| "there is none".to_owned())));
    }
    let bytes: Vec<u8> = serde_json::from_str(&report.answer).map_err(|error| unreadable(error.to_string()))?;
    codec::decode_part(&bytes).map_err(|error| unreadable(error.to_string()))
}

/// That a message was accepted, and nothing is known that speaks against it.
pub(crate) fn accepted(report: &SendReport) -> Result<(), SendError> {
    let SendReport { busy, dead, unknown, lost, failed, parked, passed, .. } = report;
    if report.refused > 0 {
        let why = report.refusals.first().map_or_else(|| "it does not take it".to_owned(), |first| first.why.clone());
        return Err(SendError::NotTaken { why });
    }
    let what_was = [
        (busy, SendError::Busy),
        (dead, SendError::Dead),
        (unknown, SendError::Unknown),
        (lost, SendError::Lost),
        (failed, panicked(report.failures.first())),
        (parked, SendError::Parked),
        (passed, SendError::Passed),
    ];
    what_was.into_iter().find(|(count, _)| **count > 0).map_or(Ok(()), |(_, error)| Err(error))
}

fn panicked(first: Option<&Panicked>) -> SendError {
    let why = first.map_or_else(|| "its handler panicked at the message".to_owned(), |first| first.why.clone());
    SendError::Failed { why, fate: first.map(|first| first.fate) }
}

fn then(fate: Fate) -> &'static str {
    match fate {
        Fate::Parked => "; it is parked and takes no messages until it is unparked",
        Fate::Despawned => "; it is despawned",
    }
}

pub(crate) fn moved(report: MoveReport) -> Result<Moved, MoveError> {
    let MoveReport { id: move_id, from, to, result, reason, text, at, epoch, cost, companions, .. } = report;
    let companions = companions.into_iter().map(|row| Companion { id: id(&row.entity), outcome: came(row) }).collect();
    if result == "ok" {
        return Ok(Moved {
            companions,
            from: place(&from),
            to: place(&to),
            epoch,
            id: move_id,
            took: Duration::from_micros(cost.total_us),
            paused: Duration::from_micros(cost.pause_us),
            held: cost.held,
            bytes: cost.bytes,
        });
    }
    Err(MoveError { companions, ..unmoved(&result, reason, text, at.as_deref()) })
}

fn came(CompanionRow { result, reason, text, at, .. }: CompanionRow) -> Result<(), MoveError> {
    if result == "ok" { Ok(()) } else { Err(unmoved(&result, reason, text, at.as_deref())) }
}

fn unmoved(result: &str, reason: Option<String>, text: Option<String>, at: Option<&str>) -> MoveError {
    let reason = reason.unwrap_or_else(|| result.to_owned());
    let kind = match (result, reason.as_str()) {
        ("refused", _) => ProblemKind::Refused,
        ("open", _) | (_, "timeout" | "undecided") => ProblemKind::Timeout,
        (_, _) => ProblemKind::Unavailable,
    };
    let text = text.unwrap_or_else(|| format!("the move ended as {reason}"));
    let at = at.and_then(Place::read).map(Box::new);
    MoveError { kind, reason, text, at, state: None, companions: Vec::new() }
}

pub(crate) fn shown(report: EntityReport) -> Shown {
    Shown {
        id: id(&report.entity),
        at: Place { scene: report.scene, node: report.node },
        type_name: report.type_name,
        label: report.label,
        standing: report.state,
        epoch: report.epoch,
        handle: report.handle,
        applied: report.applied,
        state: Value::from_str(&report.body).expect("a desk tells state as JSON"),
        parked: report.parked.map(|parked| parked.why),
    }
}

pub(super) fn id(text: &str) -> OnlineId {
    text.parse().expect("a desk tells ids as ids")
}

/// What was asked of a reference that was read from data.
pub(super) fn detached(id: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "detached".to_owned(),
        text: format!("the reference to {id} was read from data and belongs to no cluster yet"),
        state: Some("nothing was asked".to_owned()),
        hint: Some("cluster.attach(&reference)".to_owned()),
    }
}

/// What was waited for and did not come about.
pub(crate) fn not_so(id: OnlineId, limit: Duration) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "not_so".to_owned(),
        text: format!("{id} is not as wanted after {limit:?}"),
        state: None,
        hint: Some(format!("slipgate show {id}")),
    }
}

/// A desk answers each question with the answer to that question.
pub(super) fn not_an_answer() -> ! {
    panic!("the desk answers another question than it was asked")
}

fn place(text: &str) -> Place {
    Place::read(text).expect("a desk tells places as scene@node")
}
