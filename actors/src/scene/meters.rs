//! What a scene measures, for Prometheus. Labels are few and bounded: scene names, results, reasons.

use slipgate_cluster::scene::Event;

use super::SceneActor;
use super::story::outcome_word;

impl SceneActor {
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

    /// Tells how the scene stands; once a second is often enough for anybody who scrapes.
    pub(super) fn tell_gauges(&mut self) {
        let view = self.around.post.view();
        let name = view.scenes.get(&self.me.scene).map_or_else(|| self.me.scene.to_string(), |s| s.name.to_string());
        let gauge = |key: &'static str, value: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
            metrics::gauge!(key, "scene" => name.clone()).set(value as f64);
        };
        gauge("slipgate_entities", self.machine.len());
        gauge("slipgate_moves_under_way", self.machine.moves_under_way());
        gauge("slipgate_entities_arriving", self.machine.arriving());
        let left_out = self.machine.take_left_out();
        if left_out > 0 {
            metrics::counter!("slipgate_messages_dropped_total", "at" => "scene").increment(left_out);
        }
        metrics::counter!("slipgate_messages_applied_total", "scene" => name.clone()).absolute(self.applied);
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a move are exact far beyond any move")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
