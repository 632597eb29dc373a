//! The second phase: faults have ceased, and everything must come to its answer.

use slipgate_cluster::Record;
use slipgate_cluster::message::Sender;
use slipgate_cluster::view::Home;
use slipgate_entity::OnlineId;

use crate::cast::{Cast, Staged};
use crate::cluster::Cluster;
use crate::history::Line;
use crate::invariants::progress_after_faults::{self, Receiver};
use crate::invariants::{
    acknowledged_is_kept, bounded_memory, found_from_everywhere, one_active_owner, quiet_leaves_nothing_behind,
};
use crate::life::Doing;
use crate::network::Load;

/// Virtual ticks until everything must be at rest: far above every deadline and the latest message.
const TICKS_MAX: u32 = 2_000;

/// Virtual time after which whatever is asked about once in a while has been asked about, and forgotten, and that between two
/// ticks meanwhile, when nothing happens: less than between two renewals of the shortest lease.
const LONG_AFTER_US: u64 = 125_000_000;
const IDLE_TICK_US: u64 = 50_000;

impl Cluster {
    /// Heals everything, waits for rest, and demands that everything is answered.
    pub(crate) fn come_to_rest(&mut self) {
        self.network.heal();
        self.seat.write_us = 0;
        self.is_calm = true;
        self.provoked.clear();
        self.note(|| "-- the network is whole again".to_owned());
        let mut ticks = 0;
        while ticks < TICKS_MAX && !self.is_at_rest() {
            self.tick();
            ticks += 1;
        }
        self.demand("quiet_leaves_nothing_behind", quiet_leaves_nothing_behind::check(&self.leftovers()));
        for entity in self.history.entities.clone() {
            self.check_entity(entity);
        }
        for (&(sender, receiver), line) in &self.history.lines {
            self.check_line(sender, receiver, line);
        }
        for (id, story) in &self.history.moves {
            if self.life_of(story.source.session).is_some() {
                let verdict = progress_after_faults::check_move(story, self.history.may_be_lost(story.entity));
                let verdict = verdict.map_err(|what| format!("{id}: {what}"));
                self.demand("progress_after_faults", verdict);
            }
        }
        for (ticket, (own, count)) in &self.history.answers {
            if self.life_of(own.session).is_some() {
                let verdict = progress_after_faults::check_request(*count);
                self.demand("progress_after_faults", verdict.map_err(|what| format!("{ticket:?} of {own:?}: {what}")));
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        // What is told first costs least.
        self.network.on_the_way(Load::is_of_entities) == 0 && self.leftovers().iter().all(|(_, count)| *count == 0)
    }

    /// Exactly one scene is active for it, or it is dead; and nobody is lost whom no end of a life has touched.
    fn check_entity(&mut self, entity: OnlineId) {
        let (record, active) = (self.record(entity), self.active(entity));
        self.demand("one_active_owner", one_active_owner::check_at_rest(entity, record.as_ref(), &active));
        let Some(record) = record else { return };
        let is_absent = record == slipgate_cluster::Record::absent(record.epoch.term(), true);
        if record.lost && is_absent {
            self.history.count("absent is lost");
        }
        if record.lost && !is_absent && !self.history.may_be_lost(entity) {
            let violation = format!("{entity} is lost, though no end of a life has touched it: {record:?}");
            self.demand("progress_after_faults", Err(violation));
        }
        self.check_witness(entity, record);
    }

    /// Whoever lives is known to the witness of its home; whoever ended with its home has been named by a witness.
    fn check_witness(&self, entity: OnlineId, record: Record) {
        if record.owner.is_none() {
            let witnesses = self.history.witnessed.get(&entity).filter(|_| record.lost);
            let is_accounted_for = self.history.named.contains(&entity) || self.history.despawned.contains(&entity);
            let verdict = progress_after_faults::check_named(witnesses, is_accounted_for);
            return self.demand("progress_after_faults", verdict.map_err(|what| format!("{entity} {what}")));
        }
        let Home { session: home, term, .. } = self.seat.disk.view.homes[&entity.range()];
        let witness = self.seat.disk.view.witness_of(home).and_then(|witness| self.life_of(witness));
        let knows = |life: &usize| self.lives[*life].directory.witnesses(entity, term);
        let ignorant = witness.filter(|life| !knows(life));
        let violation =
            ignorant.map(|life| format!("{:?} does not know of {entity} of {home:?}", self.lives[life].session));
        self.demand("progress_after_faults", violation.map_or(Ok(()), Err));
    }

    fn check_line(&self, sender: Sender, receiver: OnlineId, line: &Line) {
        let sender_is_gone = match sender {
            Sender::Tool(session) => self.life_of(session).is_none(),
            Sender::Entity(sender) => {
                self.history.reset.contains(&sender) || self.record(sender).is_none_or(|record| record.owner.is_none())
            }
        };
        if sender_is_gone {
            return;
        }
        let Some(record) = self.record(receiver) else { return };
        let is_reset = self.history.reset.contains(&receiver);
        let body = self.open_stages().filter_map(|stage| stage.bodies.get(&receiver)).last();
        let kept = body.and_then(|body| body.applied.get(&sender)).map_or(&[][..], Vec::as_slice);
        let fate = match record.owner {
            Some(_) if is_reset && self.history.despawned.contains(&receiver) => Receiver::Revived,
            Some(_) => Receiver::Lives,
            None if !record.lost => Receiver::Despawned,
            None if self.history.despawned.contains(&receiver) || !self.history.issued.knows(receiver) => {
                Receiver::Forgotten
            }
            None => Receiver::Lost,
        };
        let name = |what: String| format!("{sender:?} to {receiver}, {record:?}: {what}");
        self.demand(
            "progress_after_faults",
            progress_after_faults::check_line(line, kept, fate, is_reset).map_err(name),
        );
        if fate == Receiver::Lives && !is_reset {
            self.demand("acknowledged_is_kept", acknowledged_is_kept::check_at_rest(line, kept).map_err(name));
        }
    }

    /// Whatever is not at rest.
    pub(crate) fn leftovers(&self) -> Vec<(&'static str, u64)> {
        // What a router that died was to close is open for longer, until its senders are asked.
        let has_died = self.lives.iter().any(|life| life.is_mourned);
        let streams = if has_died { Vec::new() } else { self.open_streams() };
        self.unsettled().into_iter().chain(streams).collect()
    }
}

impl<C: Cast> Cluster<C> {
    /// Whatever is not at rest, but for streams.
    pub(crate) fn unsettled(&self) -> Vec<(&'static str, u64)> {
        let nodes = self.nodes.iter().filter(|node| !matches!(node.doing, Doing::Living(_))).count();
        let paused = self.living().filter(|&life| !self.may_act(life)).count();
        let lives: Vec<_> = self.living().map(|life| &self.lives[life]).collect();
        let is_judged = |life: &&crate::life::Life| self.seat.disk.view.is_dead(life.session);
        let verdicts = self.lives.iter().filter(|life| life.is_gone && !is_judged(life));
        let vacant = self.seat.disk.view.homes.values().filter(|home| self.life_of(home.session).is_none());
        let behind = lives.iter().filter(|life| life.member.view().version < self.seat.disk.view.version);
        let stages: Vec<_> = self.open_stages().collect();
        let tables: Vec<_> = stages.iter().map(|stage| stage.machine().tables()).collect();
        let sum = |count: fn(&slipgate_cluster::scene::Tables) -> usize| tables.iter().map(count).sum::<usize>() as u64;
        let (bodies, deferred): (Vec<_>, Vec<_>) = stages.iter().map(|stage| stage.strays()).unzip();
        let homes = lives.iter().map(|life| life.directory.unsettled());
        let witnesses = lives.iter().map(|life| {
            let tables = life.directory.tables();
            tables.naming + usize::from(!life.directory.is_witnessed())
        });
        let renowned = self.renowned();
        let astray = lives.iter().filter(|life| !found_from_everywhere::finds(&renowned, &life.names));
        vec![
            ("nodes that do not live", nodes as u64),
            ("nodes without a lease", paused as u64),
            ("verdicts to come", verdicts.count() as u64),
            ("homes of lives that are not there", vacant.count() as u64),
            ("nodes with an older view", behind.count() as u64),
            ("work of the manager", u64::from(!self.seat.is_quiet())),
            ("messages on the way", self.network.on_the_way(Load::is_of_entities)),
            ("moves and despawns", sum(|tables| tables.leaving + tables.parties)),
            ("copies and reservations", sum(|tables| tables.arriving)),
            ("spawns", sum(|tables| tables.spawning)),
            ("messages of entities", sum(|tables| tables.unacknowledged)),
            ("messages that wait", sum(|tables| tables.waiting)),
            ("messages of tools", lives.iter().map(|life| life.router.waiting() as u64).sum()),
            ("bodies without an entity", bodies.iter().sum::<usize>() as u64),
            ("inputs without a lease", deferred.iter().sum::<usize>() as u64),
            ("homes that are not complete or not handed over", homes.sum::<usize>() as u64),
            ("witnesses that are not told or not heard", witnesses.sum::<usize>() as u64),
            ("nodes that do not find global entities", astray.count() as u64),
        ]
    }
}

impl Cluster {
    /// Streams that are open, at either end, or to be closed; and alarms.
    fn open_streams(&self) -> Vec<(&'static str, u64)> {
        let tables: Vec<_> = self.open_stages().map(|stage| stage.scene.tables()).collect();
        let sum = |count: fn(&slipgate_cluster::scene::Tables) -> usize| tables.iter().map(count).sum::<usize>() as u64;
        let routers = self.living().map(|life| self.lives[life].router.tables());
        let kept = routers.map(|tables| tables.streams + tables.receivers + tables.closings + tables.alarms);
        vec![
            ("streams to entities", sum(|tables| tables.open)),
            ("streams of entities", sum(|tables| tables.outboxes + tables.receivers)),
            ("alarms", sum(|tables| tables.alarms)),
            ("rows of routers", kept.sum::<usize>() as u64),
        ]
    }

    /// Long after, nothing is remembered of where entities went, little of whose streams are over, and no stream is open.
    pub(crate) fn forget(&mut self) {
        for _ in 0..LONG_AFTER_US / IDLE_TICK_US {
            self.tick_by(IDLE_TICK_US);
        }
        let tables: Vec<_> = self.open_stages().map(|stage| stage.scene.tables()).collect();
        let sum = |count: fn(&slipgate_cluster::scene::Tables) -> usize| tables.iter().map(count).sum::<usize>();
        self.demand("quiet_leaves_nothing_behind", quiet_leaves_nothing_behind::check(&self.open_streams()));
        for life in self.living() {
            let verdict = found_from_everywhere::check(&self.renowned(), &self.lives[life].names);
            self.demand("found_from_everywhere", verdict);
        }
        let openers = self.lives.len() + self.stages.len();
        let (floors, tombstones) = (sum(|tables| tables.floors), sum(|tables| tables.tombstones));
        let verdict =
            quiet_leaves_nothing_behind::check_memory(floors, sum(|tables| tables.entities), openers, tombstones);
        self.demand("quiet_leaves_nothing_behind", verdict);
    }

    pub(crate) fn check_memory(&self) {
        for stage in self.open_stages() {
            let (tables, capacity) = (stage.scene.tables(), self.plan.capacity as usize);
            let verdict = bounded_memory::check_scene(&tables, capacity, &self.plan.limits);
            self.demand("bounded_memory", verdict.map_err(|what| format!("{:?}: {what}: {tables:?}", stage.me())));
        }
    }
}
