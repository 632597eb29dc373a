//! What each metric tells, for the HELP lines of `/metrics`. Labels are in the README.

use metrics::{describe_counter, describe_gauge, describe_histogram};

use Kind::{Counter, Gauge, Histogram};

enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Tells the recorder of the process about every metric.
pub(super) fn describe() {
    for (name, kind, text) in METRICS {
        match kind {
            Counter => describe_counter!(name, text),
            Gauge => describe_gauge!(name, text),
            Histogram => describe_histogram!(name, text),
        }
    }
}

const METRICS: [(&str, Kind, &str); 24] = [
    ("slipgate_build_info", Gauge, "1, with the version of the program"),
    ("slipgate_entities", Gauge, "entities that live in the scene"),
    ("slipgate_entities_arriving", Gauge, "copies in the scene that are not active yet"),
    (
        "slipgate_entities_parked",
        Gauge,
        "entities in the scene that take no messages since a handler of theirs panicked",
    ),
    ("slipgate_moves_under_way", Gauge, "moves out of the scene that are under way"),
    ("slipgate_scenes", Gauge, "scenes of this node: open, or over and still asked where everybody went"),
    ("slipgate_moves_total", Counter, "moves out of scenes of this node that ended, by result and reason"),
    ("slipgate_move_seconds", Histogram, "time from the order of a move to its good end"),
    (
        "slipgate_move_paused_seconds",
        Histogram,
        "time for which an entity took no turns because of a move that ended well",
    ),
    ("slipgate_move_bytes_total", Counter, "bytes of state that moves have sent"),
    ("slipgate_scene_rows", Gauge, "rows of the tables of scenes"),
    ("slipgate_router_rows", Gauge, "rows of the tables of routers"),
    ("slipgate_home_rows", Gauge, "rows of the tables of homes"),
    ("slipgate_messages_applied_total", Counter, "messages that entities have applied"),
    ("slipgate_messages_held_total", Counter, "messages that had to wait for an entity"),
    ("slipgate_messages_bounced_total", Counter, "messages of entities that came back to them, by reason"),
    ("slipgate_messages_failed_total", Counter, "messages that an entity panicked at"),
    ("slipgate_messages_refused_total", Counter, "messages that an entity did not take"),
    (
        "slipgate_messages_dropped_total",
        Counter,
        "messages dropped on their way, which whoever keeps them sends again, by place",
    ),
    ("slipgate_entities_lost_total", Counter, "entities that homes on this node have written down as lost"),
    (
        "slipgate_home_rebuild_seconds",
        Histogram,
        "time until a home that takes the place of a dead one knows everything",
    ),
    ("slipgate_peer_bytes_total", Counter, "bytes to and from other nodes"),
    ("slipgate_waiting_bytes", Gauge, "bytes of messages that wait on this node"),
    ("slipgate_waiting_bytes_max", Gauge, "bytes of messages that may wait on this node, [limits] node_bytes"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_of_the_readme_is_described_once_and_no_other() {
        let readme = include_str!("../../README.md");
        let rows = readme.lines().filter(|line| line.starts_with("| `slipgate_"));
        let first = rows.filter_map(|row| row.split('|').nth(1));
        let told: BTreeSet<&str> =
            first.flat_map(|cell| cell.split('`')).filter(|t| t.starts_with("slipgate_")).collect();
        assert_eq!(METRICS.iter().map(|(name, ..)| *name).collect::<BTreeSet<_>>(), told);
        assert_eq!(METRICS.len(), told.len());
    }
}
