//! What is told of homes that are rebuilt or handed over: a line of the log each, and the same to watchers.

use std::time::Duration;

use serde_json::{Value, json};
use slipgate_cluster::View;
use slipgate_cluster::directory::{HomeEvent, Tally};

use crate::words::counted;

/// A line of the log.
pub(super) fn log(event: &HomeEvent, view: &View) {
    match event {
        HomeEvent::Rebuilding { range, term, scenes } => {
            let former = former_home(view, *range);
            tracing::info!(
                event = "home.rebuilding", range = range.0, term, scenes, former = %former,
                "this node is the home of range {range} after {former}, which is dead; it asks {} what they know",
                counted(*scenes as u64, "scene", "scenes")
            );
        }
        HomeEvent::Rebuilt { range, term, tally: Tally { kept, reset, lost, dead }, took_us } => {
            metrics::histogram!("slipgate_home_rebuild_seconds").record(Duration::from_micros(*took_us));
            tracing::info!(
                event = "home.rebuilt",
                range = range.0,
                term,
                kept,
                reset,
                lost,
                dead,
                took_us,
                "the home of range {range} is complete again: {kept} entities as they were, {reset} with their streams begun \
                 anew, {lost} lost; whoever lived on the dead node is named by the witness of that, if it knows them"
            );
        }
        HomeEvent::Inherited { range, term, from, kept } => {
            let former = view.node_text(from.node);
            tracing::info!(
                event = "home.inherited", range = range.0, term, kept, former = %former,
                "this node is the home of range {range}: {former} has handed the records of {} over",
                counted(*kept, "entity", "entities")
            );
        }
        HomeEvent::Named { range, home, witness, lost } => {
            let (node, witness) = (view.node_text(home.node), view.node_text(witness.node));
            tracing::info!(
                event = "entities.lost", at = %node, entities = lost, range = range.0, witness = %witness,
                "lost with that life of its node, which was the home of their ids, too: {} of {node}; {witness} has named them: \
                 slipgate entities --lost",
                counted(*lost, "entity", "entities")
            );
        }
        HomeEvent::Bequeathed { range, to, kept } => {
            let heir = view.node_text(to.node);
            tracing::info!(
                event = "home.handed_over", range = range.0, kept, to = %heir,
                "{heir} is the home of range {range}: it has the records of {} from here",
                counted(*kept, "entity", "entities")
            );
        }
    }
}

/// The event for watchers, in the words of the log.
pub(super) fn for_watchers(event: &HomeEvent, view: &View) -> (&'static str, Value) {
    match event {
        HomeEvent::Rebuilding { range, term, scenes } => {
            let former = former_home(view, *range);
            ("home.rebuilding", json!({ "range": range.0, "term": term, "scenes": scenes, "former": former }))
        }
        HomeEvent::Rebuilt { range, term, tally: Tally { kept, reset, lost, dead }, took_us } => (
            "home.rebuilt",
            json!({
                "range": range.0, "term": term, "kept": kept, "reset": reset, "lost": lost, "dead": dead, "took_us": took_us,
            }),
        ),
        HomeEvent::Inherited { range, term, from, kept } => {
            let former = view.node_text(from.node);
            ("home.inherited", json!({ "range": range.0, "term": term, "kept": kept, "former": former }))
        }
        HomeEvent::Named { range, home, witness, lost } => {
            let (at, witness) = (view.node_text(home.node), view.node_text(witness.node));
            ("entities.lost", json!({ "at": at, "entities": lost, "range": range.0, "witness": witness }))
        }
        HomeEvent::Bequeathed { range, to, kept } => {
            ("home.handed_over", json!({ "range": range.0, "kept": kept, "to": view.node_text(to.node) }))
        }
    }
}

fn former_home(view: &View, range: slipgate_entity::RangeId) -> String {
    let before = view.homes.get(&range).and_then(|home| home.before);
    before.map_or_else(|| "nobody".to_owned(), |session| view.node_text(session.node))
}
