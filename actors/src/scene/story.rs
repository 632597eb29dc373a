//! What a scene tells people about moves: a log line, and a row of the chronicle.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use slipgate_cluster::moves::{Cost, Outcome, Refusal, Step};
use slipgate_cluster::scene::{Event, MoveDone};
use slipgate_cluster::{Epoch, Own, View};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{self, MoveReport};

/// An event of a scene, in words.
#[derive(Debug)]
pub(super) struct Story {
    event: &'static str,
    /// `open`, `ok`, `refused` or `failed`; none where the move did not begin here.
    result: Option<&'static str>,
    id: String,
    entity: String,
    label: Option<String>,
    from: String,
    to: String,
    epoch: Epoch,
    reason: Option<&'static str>,
    text: Option<String>,
    at: Option<String>,
    cost: Option<Cost>,
}

/// A target in words: `harbor@n2`.
#[must_use]
pub fn scene_text(to: Result<Own, SceneId>, view: &View) -> String {
    match to {
        Ok(own) => view.own_text(own),
        Err(scene) => format!("scene{scene}@nowhere"),
    }
}

impl Story {
    pub(super) fn new(event: &Event, me: Own, view: &View) -> Self {
        let here = view.own_text(me);
        match event {
            Event::MoveBegan { id, entity, label, to, epoch } => Self {
                event: "move.begin",
                result: Some("open"),
                id: id.to_string(),
                entity: entity.to_string(),
                label: label.clone(),
                from: here.clone(),
                to: scene_text(*to, view),
                epoch: *epoch,
                reason: None,
                text: None,
                at: Some(here),
                cost: None,
            },
            Event::MoveArrived { id, entity, label, from, epoch, bytes } => Self {
                event: "move.arrived",
                result: None,
                id: id.to_string(),
                entity: entity.to_string(),
                label: label.clone(),
                from: view.own_text(*from),
                to: here.clone(),
                epoch: *epoch,
                reason: None,
                text: None,
                at: Some(here),
                cost: Some(Cost { bytes: *bytes, ..Cost::default() }),
            },
            Event::MoveEnded { label, done } => Self::ended(label.as_ref(), done, here, view),
            Event::MoveDecided { id, entity, owner, epoch } => Self {
                event: "move.decided",
                result: None,
                id: id.to_string(),
                entity: entity.to_string(),
                label: None,
                from: here,
                to: owner.map_or_else(|| "nowhere".to_owned(), |own| view.own_text(own)),
                epoch: *epoch,
                reason: None,
                text: None,
                at: owner.map(|own| view.own_text(own)),
                cost: None,
            },
        }
    }

    fn ended(label: Option<&String>, done: &MoveDone, here: String, view: &View) -> Self {
        let (event, result, reason) = outcome_word(&done.outcome);
        let to = scene_text(done.to, view);
        let text = explain(&done.outcome, &to);
        let at = place_after(&done.outcome, &here, &to);
        Self {
            event,
            result: Some(result),
            id: done.id.to_string(),
            entity: done.entity.to_string(),
            label: label.cloned(),
            from: here,
            to,
            epoch: done.epoch,
            reason,
            text,
            at,
            cost: Some(done.cost),
        }
    }

    /// Writes the log line.
    pub(super) fn log(&self) {
        let Self { event, id, entity, label, from, to, epoch, reason, text, .. } = self;
        let epoch = epoch.as_u64();
        match (*event, self.cost) {
            ("move.arrived", Some(cost)) => tracing::info!(
                event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch, bytes = cost.bytes
            ),
            (_, Some(Cost { total_us, pause_us, held, delivered, bytes })) => tracing::info!(
                event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch,
                total_us, pause_us, held, delivered, bytes, reason, text
            ),
            (_, None) => tracing::info!(event, r#move = %id, entity = %entity, label, from = %from, to = %to, epoch),
        }
    }

    /// The event for watchers, and the move as it now stands.
    pub(super) fn told(self, unix_ms: u64) -> (admin::Event, Option<MoveReport>) {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("move", json!(self.id));
        put("entity", json!(self.entity));
        put("from", json!(self.from));
        put("to", json!(self.to));
        put("epoch", json!(self.epoch.as_u64()));
        if let Some(label) = &self.label {
            put("label", json!(label));
        }
        if let Some(reason) = self.reason {
            put("reason", json!(reason));
        }
        if let Some(text) = &self.text {
            put("text", json!(text));
        }
        if let Some(cost) = self.cost {
            put("bytes", json!(cost.bytes));
            if self.result.is_some() {
                put("total_us", json!(cost.total_us));
                put("pause_us", json!(cost.pause_us));
                put("held", json!(cost.held));
                put("delivered", json!(cost.delivered));
            }
        }
        let event = admin::Event {
            node: String::new(),
            number: 0,
            ts: humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(unix_ms)).to_string(),
            event: self.event.to_owned(),
            fields: Value::Object(fields).to_string(),
        };
        let report = self.result.map(|result| MoveReport {
            id: self.id,
            entity: self.entity,
            label: self.label,
            from: self.from,
            to: self.to,
            result: result.to_owned(),
            reason: self.reason.map(str::to_owned),
            text: self.text,
            at: self.at,
            epoch: self.epoch.as_u64(),
            cost: self.cost.unwrap_or_default(),
            began_ms: unix_ms,
        });
        (event, report)
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
            Refusal::SchemaDiffers { .. } => "schema_differs",
            Refusal::TooLarge { .. } => "too_large",
            Refusal::Full { .. } => "full",
            Refusal::Draining => "draining",
            Refusal::AlreadyThere => "already_there",
            Refusal::Busy { .. } => "busy",
            Refusal::Unreadable { .. } => "unreadable",
        }),
        Outcome::Timeout { .. } => failed("timeout"),
        Outcome::NodeLost => failed("node_lost"),
        Outcome::Cancelled => failed("cancelled"),
        Outcome::Undecided => failed("undecided"),
        Outcome::SceneStopped => failed("scene_stopped"),
    }
}

/// Where the entity is after a move with this outcome, as far as that is known.
#[must_use]
pub fn place_after(outcome: &Outcome, from: &str, to: &str) -> Option<String> {
    match outcome {
        Outcome::Moved { .. } => Some(to.to_owned()),
        Outcome::Undecided | Outcome::SceneStopped => None,
        Outcome::Refused(_) | Outcome::Timeout { .. } | Outcome::NodeLost | Outcome::Cancelled => Some(from.to_owned()),
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
    })
}
