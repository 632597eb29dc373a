//! The second phase: faults have ceased, and everything must come to its answer.

use slipgate_cluster::Now;
use slipgate_cluster::message::Sender;
use slipgate_cluster::scene::Tables;
use slipgate_entity::OnlineId;

use super::invariants::answered::{self, Ends};
use super::invariants::quiet::{self, Leftovers};
use super::invariants::{moves_end, one_owner, requests};
use super::stage::Stage;
use super::world::World;

/// Virtual ticks until everything must be at rest: far above every deadline and the latest message.
const TICKS_MAX: u32 = 1_000;

impl World {
    /// Heals the network, waits for rest, and demands that everything is answered.
    pub(crate) fn come_to_rest(&mut self) {
        self.network.heal();
        self.note(|| "the network is whole again".into());
        let mut ticks = 0;
        while self.leftovers() != Leftovers::default() && ticks < TICKS_MAX {
            self.tick();
            ticks += 1;
        }
        self.demand(quiet::check(self.leftovers()));
        self.forget();
        for &entity in &self.history.entities {
            self.demand(one_owner::check_at_rest(entity, &self.record(entity), &self.active(entity)));
        }
        for (&(sender, receiver), line) in &self.history.lines {
            let verdict = answered::check_at_rest(line, self.ends(sender, receiver));
            self.demand(verdict.map_err(|what| format!("{sender:?} to {receiver}: {what}")));
        }
        for (id, story) in &self.history.moves {
            self.demand(moves_end::check_at_rest(story).map_err(|what| format!("{id}: {what}")));
        }
        self.demand(requests::check_at_rest(&self.history.answers));
    }

    /// Long after, nothing is remembered of where entities went, and little of whose streams are over.
    fn forget(&mut self) {
        // Once to ask those of whom nothing was heard, and once to forget.
        for _ in 0..2 {
            self.now = Now(self.now.0 + 60_000_000);
            self.tick();
            while self.network.on_the_way() > 0 {
                self.tick();
            }
        }
        let tables: Vec<_> = self.stages.iter().map(|stage| stage.scene.tables()).collect();
        let sum = |count: fn(&Tables) -> usize| tables.iter().map(count).sum();
        let openers = self.nodes.len() + self.stages.len();
        let (floors, tombstones) = (sum(|tables| tables.floors), sum(|tables| tables.tombstones));
        self.demand(quiet::check_memory(floors, sum(|tables| tables.entities), openers, tombstones));
    }

    fn ends(&self, sender: Sender, receiver: OnlineId) -> Ends {
        let lives = |entity| self.record(entity).owner.is_some();
        match sender {
            _ if lives(receiver) => Ends::ReceiverLives,
            Sender::Entity(sender) if !lives(sender) => Ends::BothDead,
            Sender::Entity(_) | Sender::Tool(_) => Ends::ReceiverDead,
        }
    }

    fn leftovers(&self) -> Leftovers {
        let unacknowledged = |stage: &Stage| -> u64 {
            stage.scene.entities().filter_map(|entity| stage.scene.stand(entity)).map(|s| s.unacknowledged).sum()
        };
        let tables: Vec<_> = self.stages.iter().map(|stage| stage.scene.tables()).collect();
        let routers = self.routers();
        let sum = |count: fn(&Tables) -> usize| -> usize { tables.iter().map(count).sum() };
        let kept = routers.iter().map(|tables| tables.streams + tables.receivers + tables.closings);
        let bodies = |stage: &Stage| stage.aside.len() + stage.bodies.len().abs_diff(stage.scene.len());
        Leftovers {
            busy: sum(|tables| tables.leaving + tables.parties),
            arriving: self.stages.iter().map(|stage| stage.scene.arriving()).sum(),
            unacknowledged: self.stages.iter().map(unacknowledged).sum(),
            waiting: self.waiting(),
            streams: sum(|tables| tables.open + tables.outboxes + tables.receivers) + kept.sum::<usize>(),
            held: sum(|tables| tables.waiting),
            alarms: sum(|tables| tables.alarms) + routers.iter().map(|tables| tables.alarms).sum::<usize>(),
            on_the_way: self.network.on_the_way(),
            bodies: self.stages.iter().map(bodies).sum(),
        }
    }
}
