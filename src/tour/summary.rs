//! The result of a tour.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use slipgate_proto::admin::PauseReport;

use super::account::Tally;
use super::itinerary::Trips;

/// What came of a tour. As JSON, one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Attempts that ended with the walker at the target.
    pub moves_ok: u64,
    /// Attempts that were refused; the walker stayed.
    pub moves_refused: u64,
    /// Attempts that failed, those without an answer among them.
    pub moves_failed: u64,
    /// Of the failed ones: nobody said how they ended.
    pub moves_unanswered: u64,
    /// Messages that were accepted.
    pub sent: u64,
    /// Messages that the ledgers show as applied, repeats among them.
    pub applied: u64,
    /// Accepted and never applied.
    pub lost: u64,
    /// Accepted, and perhaps applied: their walker, or the router that kept them, went with its node.
    pub unknown: u64,
    /// Walkers that were lost with their node.
    pub walkers_lost: u64,
    /// Applied more than once.
    pub duplicated: u64,
    /// Applied after a later one of the same sender.
    pub reordered: u64,
    /// Walkers that were active twice at once.
    pub twins: u64,
    /// Pauses of the moves that ended well.
    pub pause_us: PauseReport,
    /// From the first message until all were applied, in milliseconds.
    pub elapsed_ms: u64,
    /// Applied messages per second of that time.
    pub messages_per_s: u64,
    /// The seed.
    pub seed: String,
}

/// What became of the walkers beside their moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walkers {
    /// So many were active twice at once.
    pub twins: u64,
    /// So many were lost with their node.
    pub lost: u64,
}

impl Summary {
    /// Puts the parts together.
    #[must_use]
    pub fn new(trips: &Trips, tally: &Tally, walkers: &Walkers, elapsed: Duration, seed: u64) -> Self {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        Self {
            moves_ok: trips.ok,
            moves_refused: trips.refused,
            moves_failed: trips.failed,
            moves_unanswered: trips.unanswered,
            sent: tally.sent,
            applied: tally.applied,
            lost: tally.lost,
            unknown: tally.unknown,
            walkers_lost: walkers.lost,
            duplicated: tally.duplicated,
            reordered: tally.reordered,
            twins: walkers.twins,
            pause_us: PauseReport::of(trips.pauses_us.clone()),
            elapsed_ms,
            messages_per_s: tally.applied.saturating_mul(1000) / elapsed_ms.max(1),
            seed: seed.to_string(),
        }
    }

    /// Whether every move came to an answer, and every accepted message was applied once and in order: no node died.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let Self { lost, unknown, walkers_lost, duplicated, reordered, twins, .. } = self;
        let faults = lost + unknown + walkers_lost + duplicated + reordered + twins;
        self.moves_unanswered == 0 && self.applied == self.sent && faults == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean() -> Summary {
        let trips = Trips { ok: 2, refused: 1, failed: 1, unanswered: 0, pauses_us: vec![9, 5] };
        let tally = Tally { sent: 40, applied: 40, ..Tally::default() };
        Summary::new(&trips, &tally, &Walkers::default(), Duration::from_millis(500), 7)
    }

    #[test]
    fn refused_and_failed_moves_are_answers_and_leave_a_tour_clean() {
        assert!(clean().is_clean());
        assert_eq!(clean().messages_per_s, 80);
    }

    #[test]
    fn any_fault_spoils_a_tour() {
        let faults: [fn(&mut Summary); 8] = [
            |summary| summary.moves_unanswered = 1,
            |summary| summary.applied = 39,
            |summary| summary.lost = 1,
            |summary| summary.unknown = 1,
            |summary| summary.walkers_lost = 1,
            |summary| summary.duplicated = 1,
            |summary| summary.reordered = 1,
            |summary| summary.twins = 1,
        ];
        for fault in faults {
            let mut summary = clean();
            fault(&mut summary);
            assert!(!summary.is_clean(), "{summary:?}");
        }
    }

    #[test]
    fn the_object_has_the_promised_fields() {
        let object = serde_json::to_value(clean()).expect("plain data");
        for field in ["moves_ok", "moves_refused", "moves_failed", "sent", "applied", "lost", "duplicated", "twins"] {
            assert!(object[field].is_u64(), "{field}");
        }
        assert_eq!(object["pause_us"], serde_json::json!({"p50": 5, "p99": 9, "max": 9}));
    }
}
