//! What a scene tells people about moves: a log line, and a row of the chronicle.
//!
//! Thousands of moves a second are told to nobody as a rule. So a story is what happened and the names that the
//! places have at that time; it is put into words when somebody reads it, which may be never.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use slipgate_cluster::moves::{Cost, MoveId, Outcome, Refusal, Step};
use slipgate_cluster::scene::Event;
use slipgate_cluster::{Epoch, Own, View};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_proto::admin::{self, MoveReport};
use tracing::Level;

use crate::clock::rfc3339_of;

/// An event of a scene, for whoever wants to read it.
#[derive(Clone, Debug)]
pub struct Story {
    event: Event,
    here: Arc<str>,
    /// The other place: where a move leads, or comes from.
    there: Arc<str>,
    unix_ms: u64,
}

/// The names that owners have, as texts that stories share.
#[derive(Debug, Default)]
pub(super) struct Names {
    view: Arc<View>,
    known: BTreeMap<Own, Arc<str>>,
}

/// A target in words: `harbor@n2`.
#[must_use]
pub fn scene_text(to: Result<Own, SceneId>, view: &View) -> String {
    match to {
        Ok(own) => view.own_text(own),
        Err(scene) => nowhere(scene),
    }
}

fn nowhere(scene: SceneId) -> String {
    format!("scene{scene}@nowhere")
}

impl Names {
    /// Takes a view, which may be the one that is known already.
    pub(super) fn look_at(&mut self, view: Arc<View>) {
        if !Arc::ptr_eq(&self.view, &view) {
            *self = Self { view, known: BTreeMap::new() };
        }
    }

    pub(super) fn of(&mut self, own: Own) -> Arc<str> {
        if self.known.len() >= NAMES_MAX {
            self.known.clear();
        }
        self.known.entry(own).or_insert_with(|| self.view.own_text(own).into()).clone()
    }
}

/// What all lines about moves begin with.
struct Opening<'a> {
    name: &'static str,
    id: MoveId,
    entity: OnlineId,
    label: Option<&'a String>,
    from: &'a str,
    to: &'a str,
    epoch: u64,
}

impl Story {
    pub(super) fn new(event: Event, me: Own, unix_ms: u64, names: &mut Names) -> Self {
        let here = names.of(me);
        let mut target = |to: &Result<Own, SceneId>| match to {
            Ok(own) => names.of(*own),
            Err(scene) => nowhere(*scene).into(),
        };
        let there = match &event {
            Event::MoveBegan { to, .. } => target(to),
            Event::MoveEnded { done, .. } => target(&done.to),
            Event::MoveArrived { from, .. } => names.of(*from),
            Event::MoveDecided { owner, .. } => owner.map_or_else(|| "nowhere".into(), |own| names.of(own)),
        };
        Self { event, here, there, unix_ms }
    }

    /// The move that it is about.
    #[must_use]
    pub fn id(&self) -> MoveId {
        self.opening().id
    }

    /// When it happened, in milliseconds since 1970.
    #[must_use]
    pub fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    /// `open`, `ok`, `refused` or `failed`; none where the move did not begin here.
    #[must_use]
    pub fn result(&self) -> Option<&'static str> {
        match &self.event {
            Event::MoveBegan { .. } => Some("open"),
            Event::MoveEnded { done, .. } => Some(outcome_word(&done.outcome).1),
            Event::MoveArrived { .. } | Event::MoveDecided { .. } => None,
        }
    }

    fn opening(&self) -> Opening<'_> {
        let (here, there) = (&*self.here, &*self.there);
        let opening = |name, id, entity, label, epoch: Epoch| Opening {
            name,
            id,
            entity,
            label,
            from: here,
            to: there,
            epoch: epoch.as_u64(),
        };
        match &self.event {
            Event::MoveBegan { id, entity, label, epoch, .. } => {
                opening("move.begin", *id, *entity, label.as_ref(), *epoch)
            }
            Event::MoveArrived { id, entity, label, epoch, .. } => {
                let arrived = opening("move.arrived", *id, *entity, label.as_ref(), *epoch);
                Opening { from: there, to: here, ..arrived }
            }
            Event::MoveEnded { label, done } => {
                opening(outcome_word(&done.outcome).0, done.id, done.entity, label.as_ref(), done.epoch)
            }
            Event::MoveDecided { id, entity, epoch, .. } => opening("move.decided", *id, *entity, None, *epoch),
        }
    }

    /// Why it did not go well, as a word and in words.
    fn reason(&self) -> (Option<&'static str>, Option<String>) {
        match &self.event {
            Event::MoveEnded { done, .. } => (outcome_word(&done.outcome).2, explain(&done.outcome, &self.there)),
            Event::MoveBegan { .. } | Event::MoveArrived { .. } | Event::MoveDecided { .. } => (None, None),
        }
    }

    fn at(&self) -> Option<String> {
        match &self.event {
            Event::MoveBegan { .. } | Event::MoveArrived { .. } => Some(self.here.to_string()),
            Event::MoveEnded { done, .. } => place_after(&done.outcome, &self.here, &self.there),
            Event::MoveDecided { owner, .. } => owner.map(|_| self.there.to_string()),
        }
    }

    /// Writes the log line, if anybody reads it.
    pub(super) fn log(&self) {
        if !tracing::enabled!(Level::INFO) {
            return;
        }
        let Opening { name: event, id, entity, label, from, to, epoch } = self.opening();
        match &self.event {
            Event::MoveArrived { bytes, .. } => tracing::info!(
                event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch, bytes
            ),
            Event::MoveEnded { done, .. } => {
                let Cost { total_us, pause_us, held, delivered, bytes } = done.cost;
                let (reason, text) = self.reason();
                tracing::info!(
                    event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch,
                    total_us, pause_us, held, delivered, bytes, reason, text
                );
            }
            Event::MoveBegan { .. } | Event::MoveDecided { .. } => {
                tracing::info!(event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch);
            }
        }
    }

    /// The event for watchers, without node and number.
    #[must_use]
    pub fn event(&self) -> admin::Event {
        let Opening { name, id, entity, label, from, to, epoch } = self.opening();
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("move", json!(id.to_string()));
        put("entity", json!(entity.to_string()));
        put("from", json!(from));
        put("to", json!(to));
        put("epoch", json!(epoch));
        if let Some(label) = label {
            put("label", json!(label));
        }
        let (reason, text) = self.reason();
        if let Some(reason) = reason {
            put("reason", json!(reason));
        }
        if let Some(text) = text {
            put("text", json!(text));
        }
        match &self.event {
            Event::MoveArrived { bytes, .. } => {
                put("bytes", json!(bytes));
            }
            Event::MoveEnded { done, .. } => {
                put("bytes", json!(done.cost.bytes));
                put("total_us", json!(done.cost.total_us));
                put("pause_us", json!(done.cost.pause_us));
                put("held", json!(done.cost.held));
                put("delivered", json!(done.cost.delivered));
            }
            Event::MoveBegan { .. } | Event::MoveDecided { .. } => {}
        }
        admin::Event {
            node: String::new(),
            number: 0,
            ts: rfc3339_of(self.unix_ms),
            event: name.to_owned(),
            fields: Value::Object(fields).to_string(),
        }
    }

    /// The move as it now stands, if it began here.
    #[must_use]
    pub fn report(&self) -> Option<MoveReport> {
        let result = self.result()?;
        let Opening { id, entity, label, from, to, epoch, .. } = self.opening();
        let (reason, text) = self.reason();
        let cost = match &self.event {
            Event::MoveEnded { done, .. } => done.cost,
            Event::MoveBegan { .. } | Event::MoveArrived { .. } | Event::MoveDecided { .. } => Cost::default(),
        };
        Some(MoveReport {
            id: id.to_string(),
            entity: entity.to_string(),
            label: label.cloned(),
            from: from.to_owned(),
            to: to.to_owned(),
            result: result.to_owned(),
            reason: reason.map(str::to_owned),
            text,
            at: self.at(),
            epoch,
            cost,
            began_ms: self.unix_ms,
            companions: Vec::new(),
        })
    }
}

/// The event's name, the result and the stable word for why.
#[must_use]
pub fn outcome_word(outcome: &Outcome) -> (&'static str, &'static str, Option<&'static str>) {
    let refused = |why| ("move.refused", "refused", Some(why));
    let failed = |why| ("move.failed", "failed", Some(why));
    match outcome {
        Outcome::Moved { .. } => ("move.ok", "ok", None),
        Outcome::Refused(refusal) => refused(match refusal {
            Refusal::NoScene { .. } => "no_scene",
            Refusal::NoType { .. } => "no_type",
            Refusal::NoComponent { .. } => "no_component",
            Refusal::SchemaDiffers { .. } => "schema_differs",
            Refusal::TooLarge { .. } => "too_large",
            Refusal::Full { .. } => "full",
            Refusal::Draining => "draining",
            Refusal::Closing => "closing",
            Refusal::AlreadyThere => "already_there",
            Refusal::Busy { .. } => "busy",
            Refusal::Unreadable { .. } => "unreadable",
            Refusal::NotMovable => "not_movable",
            Refusal::Vetoed { .. } => "vetoed",
            Refusal::Companion { .. } => "companion",
        }),
        Outcome::Timeout { .. } => failed("timeout"),
        Outcome::NodeLost => failed("node_lost"),
        Outcome::Cancelled => failed("cancelled"),
        Outcome::Undecided => failed("undecided"),
        Outcome::SceneStopped => failed("scene_stopped"),
        Outcome::HomeUnreachable => failed("home_unreachable"),
        Outcome::Lost => failed("lost"),
    }
}

/// Where the entity is after a move with this outcome, as far as that is known.
#[must_use]
pub fn place_after(outcome: &Outcome, from: &str, to: &str) -> Option<String> {
    match outcome {
        Outcome::Moved { .. } => Some(to.to_owned()),
        Outcome::Undecided | Outcome::SceneStopped | Outcome::Lost => None,
        Outcome::Refused(_)
        | Outcome::Timeout { .. }
        | Outcome::NodeLost
        | Outcome::Cancelled
        | Outcome::HomeUnreachable => Some(from.to_owned()),
    }
}

/// What happened, for people; nothing where all went well.
#[must_use]
pub fn explain(outcome: &Outcome, to: &str) -> Option<String> {
    Some(match outcome {
        Outcome::Moved { .. } => return None,
        Outcome::Refused(refusal) => refusal.to_string(),
        Outcome::Timeout { step: Step::Reserve } => format!("{to} did not answer the request for room in time"),
        Outcome::Timeout { step: Step::Transfer } => {
            format!("{to} did not take over in time, and the source has taken the entity back")
        }
        Outcome::NodeLost => format!("the link to the node of {to} was lost, and the source has kept the entity"),
        Outcome::Cancelled => "the move was cancelled".to_owned(),
        Outcome::Undecided => {
            "the entity's home has not answered yet; the entity stays frozen until it does, and move.decided follows"
                .to_owned()
        }
        Outcome::SceneStopped => "the scene stopped before the move was decided".to_owned(),
        Outcome::HomeUnreachable => {
            "the entity's home has died, and the node that takes its place has not rebuilt the record yet".to_owned()
        }
        Outcome::Lost => "meanwhile the entity's home has declared it lost, or somebody else's".to_owned(),
    })
}

/// Names that a scene remembers: as many scenes as a large cluster has.
const NAMES_MAX: usize = 1 << 13;
