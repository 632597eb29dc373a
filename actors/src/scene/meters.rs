//! What a scene measures, for Prometheus. Labels are few and bounded: names of declared scenes, results, reasons.
//!
//! Scenes that are made at run time come and go under ever new names, and what was measured once stays for as long as
//! the process lives; so they are measured all together.

use slipgate_cluster::scene::Event;

use super::SceneActor;
use super::story::outcome_word;
use super::troupe::Troupe;

/// What the scene told last, for those that add up what they have in common with others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meters {
    gauges: [usize; GAUGES.len()],
    applied: u64,
}

impl Troupe {
    /// Counts what a move came to.
    pub(super) fn measure(event: &Event) {
        let Event::MoveEnded { done, .. } = event else { return };
        let (_, result, why) = outcome_word(&done.outcome);
        metrics::counter!("slipgate_moves_total", "result" => result, "why" => why.unwrap_or("none")).increment(1);
        if result == "ok" {
            metrics::histogram!("slipgate_move_seconds").record(seconds(done.cost.total_us));
            metrics::histogram!("slipgate_move_paused_seconds").record(seconds(done.cost.pause_us));
            metrics::counter!("slipgate_move_bytes_total").increment(done.cost.bytes);
            metrics::counter!("slipgate_messages_held_total").increment(done.cost.held);
        }
    }
}

impl SceneActor {
    /// Tells how the scene stands; once a second is often enough for anybody who scrapes.
    pub(super) fn tell_gauges(&mut self) {
        self.troupe.bodies.tell_refused(self.around.clock.now());
        let Troupe { machine, bodies, .. } = &self.troupe;
        let gauges = [machine.len(), machine.moves_under_way(), machine.arriving(), bodies.parked()];
        if self.around.keeper.is_some() {
            self.add_share(Meters { gauges, applied: self.troupe.applied });
        } else {
            self.tell_alone(gauges);
        }
        let left_out = self.troupe.machine.take_left_out();
        if left_out > 0 {
            metrics::counter!("slipgate_messages_dropped_total", "at" => "scene").increment(left_out);
        }
    }

    fn tell_alone(&self, gauges: [usize; GAUGES.len()]) {
        let view = self.around.post.view();
        let name = view.scene_text(self.troupe.me.scene);
        for (key, value) in GAUGES.into_iter().zip(gauges) {
            metrics::gauge!(key, "scene" => name.clone()).set(float(value));
        }
        metrics::counter!("slipgate_messages_applied_total", "scene" => name).absolute(self.troupe.applied);
    }

    /// Adds to the sum of all what has changed here since the last time.
    fn add_share(&mut self, meters: Meters) {
        for ((key, value), before) in GAUGES.into_iter().zip(meters.gauges).zip(self.meters.gauges) {
            metrics::gauge!(key, "scene" => MADE).increment(float(value) - float(before));
        }
        metrics::counter!("slipgate_messages_applied_total", "scene" => MADE)
            .increment(meters.applied - self.meters.applied);
        self.meters = meters;
    }

    /// The scene ends, and with it its share.
    pub(super) fn take_share_back(&mut self) {
        if self.around.keeper.is_some() {
            self.add_share(Meters { applied: self.troupe.applied, ..Meters::default() });
        }
    }
}

const GAUGES: [&str; 4] =
    ["slipgate_entities", "slipgate_moves_under_way", "slipgate_entities_arriving", "slipgate_entities_parked"];

/// What all scenes made at run time are measured as; no scene can have that name.
const MADE: &str = "*";

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
fn float(value: usize) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a move are exact far beyond any move")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
