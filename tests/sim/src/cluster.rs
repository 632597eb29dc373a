//! The simulated cluster: nodes, the manager's seat and the network between them, under one clock.
//!
//! ```text
//!   script ──> mischief ──> machines ──┐      one input to one machine at a time; what it orders is done at once,
//!                             ^        │      or goes into the network; then what it may have broken is looked at
//!                             └─ network
//! ```

use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::manager::{JoinRequest, SceneDeclaration, Ticket};
use slipgate_cluster::scene::Route;
use slipgate_cluster::{Envelope, NodeId, NodeName, Now, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, SceneId};

use crate::cast::{Cast, Staged, Walkers};
use crate::dice::Dice;
use crate::history::History;
use crate::invariants::{Verdict, one_active_owner};
use crate::life::{Doing, Life, LifeIndex, Node};
use crate::links::Links;
use crate::mutant::Mutant;
use crate::network::{Load, Network, NodeIndex, Parcel};
use crate::plan::Plan;
use crate::scenario::Play;
use crate::seat::Seat;

/// Virtual time between two ticks.
pub(crate) const TICK_US: u64 = 10_000;

/// The node that runs the manager.
pub(crate) const SEAT: NodeIndex = 0;

#[derive(Debug)]
pub(crate) struct Cluster<C: Cast = Walkers> {
    pub(crate) cast: C,
    pub(crate) now: Now,
    pub(crate) plan: Plan,
    pub(crate) nodes: Vec<Node>,
    pub(crate) lives: Vec<Life>,
    pub(crate) stages: Vec<C::Stage>,
    pub(crate) seat: Seat,
    pub(crate) network: Network,
    pub(crate) links: Links,
    pub(crate) history: History,
    pub(crate) dice: Dice,
    /// Moves that an arrival provoked: from the stage with this index to that owner.
    pub(crate) provoked: Vec<(usize, OnlineId, Own)>,
    /// Which node has which number.
    pub(crate) numbers: BTreeMap<NodeId, NodeIndex>,
    pub(crate) is_calm: bool,
    /// Inputs that machines were given.
    pub(crate) events: u64,
    tickets: u64,
    /// What happened, if somebody wants to read it.
    pub(crate) trace: Option<Vec<String>>,
    /// The same as a play, of a cluster that is directed.
    pub(crate) play: Option<Box<Play>>,
}

impl<C: Cast> Cluster<C> {
    pub(crate) fn of(cast: C, plan: &Plan, is_traced: bool) -> Self {
        let mut dice = Dice::new(plan.seed);
        let count = usize::from(plan.nodes);
        let node = |index: usize| Node {
            doing: Doing::Down { until: Now(index as u64 * 1_000) },
            ahead_us: dice.within(0..5_000_000),
            stopped_until: Now(0),
            seen: None,
            seen_before: None,
        };
        let nodes = (0..count).map(node).collect();
        Self {
            cast,
            now: Now(1),
            nodes,
            lives: Vec::new(),
            stages: Vec::new(),
            seat: Seat::new(plan.waits, plan.mutant),
            network: Network::new(count, plan.faults, dice.child()),
            links: Links::new(count),
            history: History::default(),
            dice,
            provoked: Vec::new(),
            numbers: BTreeMap::new(),
            is_calm: false,
            events: 0,
            tickets: 0,
            trace: is_traced.then(Vec::new),
            play: None,
            plan: plan.clone(),
        }
    }

    /// The time by a node's own clock.
    pub(crate) fn clock(&self, node: NodeIndex) -> Now {
        Now(self.now.0 + self.nodes[node].ahead_us)
    }

    pub(crate) fn is_stopped(&self, node: NodeIndex) -> bool {
        self.now < self.nodes[node].stopped_until
    }

    /// Whether a life may act: it is there, and has a lease.
    pub(crate) fn may_act(&self, life: LifeIndex) -> bool {
        let Life { is_gone, member, node, .. } = &self.lives[life];
        let has_lease = !member.lease_left(self.clock(*node)).is_zero();
        !is_gone && (has_lease || self.is(Mutant::ActsWithoutLease))
    }

    pub(crate) fn life_of(&self, session: Session) -> Option<LifeIndex> {
        self.lives.iter().rposition(|life| life.session == session && !life.is_gone)
    }

    /// The lives that are there.
    pub(crate) fn living(&self) -> impl Iterator<Item = LifeIndex> + '_ {
        self.nodes.iter().filter_map(|node| match node.doing {
            Doing::Living(life) => Some(life),
            Doing::Down { .. } | Doing::Joining { .. } => None,
        })
    }

    /// The stages of lives that are there.
    pub(crate) fn open_stages(&self) -> impl Iterator<Item = &C::Stage> {
        self.stages.iter().filter(|stage| !self.lives[stage.life()].is_gone)
    }

    /// Delivers what is due, then everybody hears that time passes.
    pub(crate) fn tick(&mut self) {
        self.tick_by(TICK_US);
    }

    /// The same, with the next tick at the next multiple of `step_us`.
    pub(crate) fn tick_by(&mut self, step_us: u64) {
        let next = Now((self.now.0 / step_us + 1) * step_us);
        while let Some(parcel) = self.network.take(next) {
            self.now = parcel.at;
            self.deliver(parcel);
        }
        self.now = next;
        for node in 0..self.nodes.len() {
            if !self.is_stopped(node) {
                self.tick_node(node);
            }
        }
        self.look_at_links();
    }

    fn tick_node(&mut self, node: NodeIndex) {
        match self.nodes[node].doing {
            Doing::Down { until } if self.now >= until => self.start(node),
            Doing::Joining { again_at, .. } if self.now >= again_at => self.ask_to_join(node),
            Doing::Down { .. } | Doing::Joining { .. } => {}
            Doing::Living(life) => self.tick_life(life),
        }
        if node == SEAT && self.seat.is_open() {
            self.seat.tell(slipgate_cluster::manager::Input::Tick);
            self.work_at_seat();
        }
    }

    /// The process of a node starts.
    fn start(&mut self, node: NodeIndex) {
        self.note(|| format!("node {node} starts"));
        // A manager outlives the sessions of its node, as long as the process does.
        if node == SEAT && !self.seat.is_open() {
            let now = self.clock(node);
            self.seat.open(now);
        }
        self.ask_to_join(node);
    }

    fn ask_to_join(&mut self, node: NodeIndex) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        // Long enough for the manager to ask the holder of the name.
        let again_at = self.now + self.plan.waits.probe * 4;
        self.nodes[node].doing = Doing::Joining { ticket, asked: self.clock(node), again_at };
        let request = JoinRequest {
            name: C::node_name(self, node),
            address: format!("node{node}:1"),
            admin: format!("node{node}:2"),
            scenes: C::scenes(self, node),
            seen: self.nodes[node].seen,
        };
        let load = Load::Join { ticket, request };
        // The manager's own node does not go over the network.
        if node == SEAT { self.hear(node, node, load) } else { self.network.send(node, SEAT, load, self.now) }
    }

    fn deliver(&mut self, parcel: Parcel) {
        let until = self.nodes[parcel.to].stopped_until;
        if self.now < until {
            return self.network.keep(parcel, until);
        }
        self.hear(parcel.from, parcel.to, parcel.load);
    }

    fn hear(&mut self, from: NodeIndex, to: NodeIndex, load: Load) {
        match load {
            Load::Mail(envelope) if self.play.is_some() => self.play_mail(envelope),
            Load::Mail(envelope) => self.hear_mail(envelope),
            Load::Join { ticket, request } => self.hear_join(from, to, ticket, request),
            Load::Welcome { ticket, reply } => self.hear_welcome(to, ticket, reply),
        }
    }

    pub(crate) fn send(&mut self, from: Place, to: Place, message: slipgate_cluster::message::Message) {
        let life = self.life_of(from.session).expect("whoever speaks is there");
        self.play_say(life, from, to, &message);
        let speaks_of_leases = from.port == Port::Member || from.port == Port::Manager;
        if !speaks_of_leases && !self.may_act(life) {
            return;
        }
        let Some(&node) = self.numbers.get(&to.session.node) else { return };
        self.network.send(self.lives[life].node, node, Load::Mail(Envelope { from, to, message }), self.now);
    }

    /// A life begins, with its scenes.
    pub(crate) fn begin(&mut self, life: Life) {
        let (index, node, session) = (self.lives.len(), life.node, life.session);
        let before = self.lives.iter().rfind(|before| before.node == node).map(|before| before.session);
        if let Some(before) = before {
            let is_judged = self.seat.disk.view.is_dead(before);
            self.history.count(if is_judged { "rejoined" } else { "came back before the verdict" });
        }
        self.note(|| format!("node {node} lives as {session:?}"));
        self.numbers.insert(session.node, node);
        let at = &mut self.nodes[node];
        (at.doing, at.seen_before) = (Doing::Living(index), at.seen);
        let view = life.member.view().clone();
        self.lives.push(life);
        for SceneDeclaration { id, capacity, .. } in C::scenes(self, node) {
            let stage = C::open(self, index, Own::new(session, id), capacity);
            self.stages.push(stage);
        }
        self.play_begin(session);
        self.take_view(index, &view);
    }

    /// The process of a node is gone, with all that it held but the manager's disk.
    pub(crate) fn crash(&mut self, node: NodeIndex, until: Now) {
        self.note(|| format!("node {node} crashes"));
        if let Doing::Living(life) = self.nodes[node].doing {
            if self.living().any(|other| other != life && self.lives[other].directory.unsettled() > 0) {
                self.history.count("died while a home was rebuilt");
            }
            self.mourn(life);
            self.lives[life].is_gone = true;
        }
        if node == SEAT {
            let mut dice = self.dice.child();
            self.seat.crash(&mut dice);
        }
        self.nodes[node].doing = Doing::Down { until };
    }

    /// A life is over: whoever was with it may be lost.
    pub(crate) fn mourn(&mut self, life: LifeIndex) {
        if std::mem::replace(&mut self.lives[life].is_mourned, true) {
            return;
        }
        let session = self.lives[life].session;
        self.note(|| format!("{session:?} is over"));
        C::mourn(self, life);
    }
}

impl Cluster {
    /// Notes whoever was with a life that is over.
    pub(crate) fn touch(&mut self, life: LifeIndex) {
        let session = self.lives[life].session;
        self.note_witnesses(life);
        for stage in self.stages.iter().filter(|stage| !self.lives[stage.life].is_gone) {
            let is_here = stage.life == life;
            let copies = stage.aside.iter().filter(|(_, (_, from))| is_here || from.session == session);
            self.history.touched.extend(copies.map(|(entity, _)| *entity));
            let leaving = stage.leaving.iter().filter(|(_, to)| to.session == session);
            self.history.touched.extend(leaving.map(|(entity, _)| *entity));
            if is_here {
                self.history.touched.extend(stage.bodies.keys());
            }
        }
    }

    /// Who lived in a life that is over, by a record of that life, is to be named by those who have been told of it.
    fn note_witnesses(&mut self, life: LifeIndex) {
        let session = self.lives[life].session;
        let here = || self.stages.iter().filter(|stage| stage.life == life);
        let has_been_there = |entity: &OnlineId| {
            here().any(|stage| stage.bodies.contains_key(entity) || stage.aside.contains_key(entity))
        };
        // What a witness knew whose life is over as well may be lost with it.
        self.history.witnessed.retain(|entity, witnesses| !witnesses.contains(&session) && !has_been_there(entity));
        for entity in here().flat_map(|stage| stage.bodies.keys()) {
            let term = self.lives[life].member.view().term_of(entity.range());
            let others = self.living().map(|other| &self.lives[other]).filter(|other| other.session != session);
            let witnesses: BTreeSet<_> = others
                .filter(|other| !other.is_mourned && other.directory.witnesses(*entity, term))
                .map(|other| other.session)
                .collect();
            // A body that is frozen here may live elsewhere already.
            let record = self.lives[life].directory.record(*entity);
            let lived_here = record.and_then(|record| record.owner).is_some_and(|owner| owner.session == session);
            if lived_here && !witnesses.is_empty() {
                self.history.witnessed.insert(*entity, witnesses);
            }
        }
    }

    /// Whether a scene lets an entity take turns, as the scene sees it.
    pub(crate) fn runs(&self, stage: usize, entity: OnlineId) -> bool {
        let stage = &self.stages[stage];
        stage.scene.route(entity) == Route::Owner(stage.me())
    }
}

impl<C: Cast> Cluster<C> {
    /// The record of an entity, where its present home is there and complete.
    pub(crate) fn record(&self, entity: OnlineId) -> Option<Record> {
        let home = self.seat.disk.view.homes.get(&entity.range())?;
        let life = &self.lives[self.life_of(home.session)?];
        // One that has not heard yet of what the manager says speaks for an older term.
        let is_present = life.member.view().homes.get(&entity.range()) == Some(home);
        is_present.then(|| life.directory.record(entity)).flatten()
    }

    /// Scenes where `entity` takes turns.
    pub(crate) fn active(&self, entity: OnlineId) -> Vec<Own> {
        let here = |stage: &&C::Stage| stage.active().contains(&entity) && self.may_act(stage.life());
        self.open_stages().filter(here).map(Staged::me).collect()
    }

    /// A scene has had its turn: whoever it runs now, it alone runs.
    pub(crate) fn look_at_stage(&mut self, stage: usize) {
        if self.stages[stage].look() {
            for &entity in self.stages[stage].active() {
                self.check_owner(entity);
            }
        }
        self.play_stage(stage);
    }

    /// A home has had its turn: its records name those who run.
    pub(crate) fn look_at_home(&mut self, life: LifeIndex) {
        let session = self.lives[life].session;
        let is_home = |entity: &OnlineId| {
            self.seat.disk.view.homes.get(&entity.range()).is_some_and(|home| home.session == session)
        };
        for &entity in self.open_stages().flat_map(Staged::active).filter(|entity| is_home(entity)) {
            self.check_owner(entity);
        }
        self.play_home(life);
    }

    fn check_owner(&self, entity: OnlineId) {
        let (record, active) = (self.record(entity), self.active(entity));
        self.demand("one_active_owner", one_active_owner::check(entity, record.as_ref(), &active));
    }

    pub(crate) fn stage_of(&self, own: Own) -> Option<usize> {
        self.stages.iter().rposition(|stage| stage.me() == own && !self.lives[stage.life()].is_gone)
    }

    /// # Panics
    ///
    /// If an invariant does not hold: a run ends there.
    pub(crate) fn demand(&self, invariant: &str, verdict: Verdict) {
        if let Err(violation) = verdict {
            panic!("{invariant}: at {} us: {violation}", self.now.0);
        }
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>9} {}", self.now.0, line()));
        }
    }
}

pub(crate) fn scene_of(node: NodeIndex, number: u16) -> SceneId {
    let node = u16::try_from(node).expect("a few nodes");
    SceneId::from(node * 10 + number + 1)
}

pub(crate) fn name(text: String) -> NodeName {
    NodeName::new(text).expect("a name")
}
