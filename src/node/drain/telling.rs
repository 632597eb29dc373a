//! What people are told of a drain: the report that tools read, log lines, the chronicle, refusals.

use serde_json::json;
use slipgate_actors::chronicle::{Happening, take_down};
use slipgate_actors::words::counted;
use slipgate_cluster::NodeName;
use slipgate_cluster::drain::{Event, Refusal, Report, Step};
use slipgate_entity::OnlineId;
use slipgate_proto::admin::{DrainReport, KeptRow, Problem, ProblemKind};

use super::Drain;

impl Drain<'_> {
    /// Brings the report up to date, where there is news.
    pub(super) fn tell(&self) {
        let told = self.teller.told();
        let Report { step, entities, moved, kept, homes, took_us, .. } = self.machine.report(self.now());
        let (state, step) = words(step);
        let news = DrainReport {
            node: self.name.to_string(),
            state: state.to_owned(),
            step: step.map(str::to_owned),
            entities,
            moved,
            kept,
            kept_first: self.kept_first.clone(),
            homes,
            unanswered: self.unanswered.values().sum(),
            unanswered_first: self.unanswered.keys().take(UNANSWERED_TOLD).map(OnlineId::to_string).collect(),
            took_ms: told.took_ms,
            pause_us: self.pause_us,
        };
        if news != told {
            self.teller.tell(|report| *report = DrainReport { took_ms: took_us / 1000, ..news });
        }
    }

    pub(super) fn report(&self, event: Event) {
        let Report { timeout, entities, moved, .. } = self.machine.report(self.now());
        let name = self.name;
        match event {
            Event::Begun => {
                let timeout = humantime::format_duration(timeout).to_string();
                tracing::info!(
                    event = "node.draining", entities, timeout = %timeout,
                    "node {name} takes nobody in any more, and moves {} out",
                    counted(entities, "entity", "entities")
                );
                self.chronicle("node.draining", &json!({ "entities": entities }));
            }
            Event::Resumed => {
                tracing::info!(
                    event = "node.resumed",
                    moved,
                    entities,
                    "node {name} goes on after all; {moved} of {} have moved and stay where they are",
                    counted(entities, "entity", "entities")
                );
                self.chronicle("node.resumed", &json!({ "moved": moved, "entities": entities }));
            }
            Event::Stopping => tracing::info!(event = "node.stopping", "node {name} stops"),
            Event::Kept => {
                self.list("it stays here, and the node with it");
                self.report_end("node.kept", "is not empty, and stays");
            }
            Event::Drained => {
                self.list("it ends with the node");
                self.list_unanswered();
                self.report_end("node.drained", "has drained");
            }
        }
    }

    /// One line for each that could not move, the first ones.
    fn list(&self, what_follows: &str) {
        for KeptRow { entity, label, scene, reason, text } in &self.kept_first {
            tracing::info!(
                event = "drain.kept", entity = %entity, label = label.as_deref(), scene = %scene, reason = %reason,
                "{entity} could not move: {text}; {what_follows}"
            );
        }
        let kept = self.machine.report(self.now()).kept;
        let more = kept.saturating_sub(self.kept_first.len() as u64);
        if more > 0 {
            tracing::info!(event = "drain.kept", left_out = more, "{more} more could not move; {what_follows}");
        }
    }

    fn list_unanswered(&self) {
        let DrainReport { unanswered, unanswered_first, .. } = self.teller.told();
        if unanswered > 0 {
            tracing::info!(
                event = "drain.unanswered", unanswered, entities = %unanswered_first.join(","),
                "nobody has answered {unanswered} messages, to {}; whether they are applied is not known here",
                unanswered_first.join(", ")
            );
        }
    }

    fn report_end(&self, event: &'static str, words: &str) {
        let Report { moved, kept, homes, homes_left, took_us, .. } = self.machine.report(self.now());
        let took_ms = took_us / 1000;
        let rest = match homes_left {
            0 => String::new(),
            left => format!(", {left} were not taken over in time and are rebuilt elsewhere"),
        };
        tracing::info!(
            event,
            moved,
            kept,
            homes,
            homes_left,
            took_ms,
            pause_p50_us = self.pause_us.p50,
            pause_p99_us = self.pause_us.p99,
            "node {} {words}: {} moved, {kept} could not, {} handed over{rest}",
            self.name,
            counted(moved, "entity", "entities"),
            counted(homes, "home", "homes")
        );
        self.chronicle(event, &json!({ "moved": moved, "kept": kept, "homes": homes, "took_ms": took_ms }));
    }

    fn chronicle(&self, event: &str, fields: &serde_json::Value) {
        take_down(&self.wired.chronicle, Happening::now(event, fields, self.clock));
    }
}

/// Entities named one by one that have not answered.
const UNANSWERED_TOLD: usize = 10;

/// The state and the step, as tools read them.
fn words(step: Step) -> (&'static str, Option<&'static str>) {
    match step {
        Step::Working => (DrainReport::WORKING, None),
        Step::Moving => (DrainReport::DRAINING, Some("moving")),
        Step::HandingOver => (DrainReport::DRAINING, Some("handing_over")),
        Step::Settling => (DrainReport::DRAINING, Some("settling")),
        Step::Kept => (DrainReport::KEPT, None),
        Step::Drained => (DrainReport::DRAINED, None),
    }
}

/// Why an order is not taken up, for whoever has given it.
pub(super) fn refused(refusal: Refusal, node: &NodeName) -> Problem {
    let (reason, text, state, hint) = match refusal {
        Refusal::DoesNotDrain => (
            "not_draining",
            format!("node {node} does not drain"),
            "it takes newcomers in, as before",
            "slipgate nodes".to_owned(),
        ),
        Refusal::StopsForGood => (
            "stopping",
            format!("node {node} was told to stop by a signal, and that is for good"),
            "whoever sent the signal waits for its end",
            format!("start it again after that; slipgate drain {node} --wait"),
        ),
    };
    let (reason, state, hint) = (reason.to_owned(), Some(state.to_owned()), Some(hint));
    Problem { kind: ProblemKind::Refused, reason, text, state, hint }
}
