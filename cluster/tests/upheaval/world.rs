//! The simulated cluster: nodes with their scenes, homes and routers as they ship, a network, and one clock.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipgate_cluster::directory::{self, Directory, HomeEvent};
use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::router::{self, Router};
use slipgate_cluster::scene::{Input, OnPanic, Route, Settings, answer_for_a_missing_scene};
use slipgate_cluster::schema::Schema;
use slipgate_cluster::{Envelope, Limits, NodeId, Now, Own, Place, Port, Record, Session, View};
use slipgate_entity::{OnlineId, RangeId, SceneId, TypeName};

use super::dice::Dice;
use super::history::History;
use super::manager::Manager;
use super::network::{Faults, Network};
use super::stage::Stage;

/// Virtual time between two ticks.
const TICK_US: u64 = 10_000;

/// Records in a page that is handed over: a node has a few entities.
const PAGE: usize = 2;

/// What a world is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) nodes: u16,
    pub(crate) scenes_per_node: u16,
    /// How many nodes may crash; one always stays.
    pub(crate) crashes: u32,
    pub(crate) limits: Limits,
    pub(crate) faults: Faults,
    pub(crate) trace: bool,
}

/// One life of a node, apart from its scenes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) session: Session,
    pub(crate) has_crashed: bool,
    /// The cluster, as far as it has been told.
    pub(crate) view: Arc<View>,
    pub(crate) directory: Directory,
    router: Router,
    range: Option<RangeId>,
    spawned: u32,
}

/// The cluster.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Now,
    pub(crate) nodes: Vec<Node>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) manager: Manager,
    pub(crate) network: Network,
    pub(crate) history: History,
    pub(crate) dice: Dice,
    pub(crate) plan: Plan,
    pub(crate) is_calm: bool,
}

impl World {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut dice = Dice::new(plan.seed);
        let mut world = Self {
            now: Now(1),
            nodes: Vec::new(),
            stages: Vec::new(),
            manager: Manager::new(dice.child()),
            network: Network::new(plan.faults, dice.child()),
            history: History::default(),
            dice,
            plan: plan.clone(),
            is_calm: false,
        };
        for node in 1..=plan.nodes {
            world.join(Session::new(node, 1));
        }
        world
    }

    /// A life of a node begins, with the view of its welcome.
    pub(crate) fn join(&mut self, session: Session) {
        let scenes: Vec<_> = (0..self.plan.scenes_per_node).map(|number| scene_of(session.node, number)).collect();
        self.manager.join(session, &scenes);
        let (node, view) = (self.nodes.len(), self.manager.view.clone());
        self.nodes.push(Node {
            session,
            has_crashed: false,
            view: Arc::default(),
            directory: Directory::new(session).with_page(PAGE),
            router: Router::new(Place { session, port: Port::Router(0) }, self.plan.limits.clone()),
            range: None,
            spawned: 0,
        });
        let schema: Schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        for scene in scenes {
            let me = Own::new(session, scene);
            let limits = self.plan.limits.clone();
            self.stages.push(Stage::new(
                node,
                Settings { me, capacity: 99, schema: schema.clone(), limits, on_panic: OnPanic::Park },
            ));
        }
        self.take_view(node, view);
        self.tell_all();
    }

    /// The manager's view is on its way to everybody.
    pub(crate) fn tell_all(&mut self) {
        for node in 0..self.nodes.len() {
            self.manager.tell(node, self.now, self.is_calm);
        }
    }

    /// A node dies, with all that it holds.
    pub(crate) fn crash(&mut self, node: usize) {
        let session = self.nodes[node].session;
        self.note(|| format!("{session:?} crashes"));
        self.history.count("crashed");
        if self.nodes.iter().any(|node| !node.has_crashed && node.directory.unsettled() > 0) {
            self.history.count("died while a home was rebuilt");
        }
        for stage in &self.stages {
            let is_here = stage.node == node;
            let copies = stage.aside.iter().filter(|(_, (_, from))| is_here || from.session == session);
            self.history.touched.extend(copies.map(|(entity, _)| *entity));
            let leaving = stage.leaving.iter().filter(|(_, to)| to.session == session);
            self.history.touched.extend(leaving.map(|(entity, _)| *entity));
            if is_here {
                self.history.touched.extend(stage.bodies.keys());
            }
        }
        self.note_witnesses(node);
        self.nodes[node].has_crashed = true;
        self.manager.miss(session, self.now);
    }

    /// Who lives on a node that dies, and has its home there, is to be named by those who have been told of it.
    fn note_witnesses(&mut self, node: usize) {
        let session = self.nodes[node].session;
        let here = || self.stages.iter().filter(|stage| stage.node == node);
        let has_lived_on = |entity: &OnlineId| {
            here().any(|stage| stage.bodies.contains_key(entity) || stage.aside.contains_key(entity))
        };
        // What a witness knew that dies as well may be lost with it.
        let may_be_lost = |witnesses: &BTreeSet<Session>| witnesses.contains(&session);
        self.history.witnessed.retain(|entity, witnesses| !may_be_lost(witnesses) && !has_lived_on(entity));
        for entity in here().flat_map(|stage| stage.bodies.keys()) {
            let others = self.nodes.iter().filter(|other| !other.has_crashed && other.session != session);
            let term = self.nodes[node].view.term_of(entity.range());
            let knows = |other: &&Node| other.directory.witnesses(*entity, term);
            let witnesses: BTreeSet<_> = others.filter(knows).map(|other| other.session).collect();
            let is_home = self.nodes[node].directory.record(*entity).is_some_and(|record| record.owner.is_some());
            if is_home && !witnesses.is_empty() {
                self.history.witnessed.insert(*entity, witnesses);
            }
        }
    }

    /// Delivers what is due, then every machine hears that time passes.
    pub(crate) fn tick(&mut self) {
        let next = Now((self.now.0 / TICK_US + 1) * TICK_US);
        while let Some((at, envelope)) = self.network.take(next) {
            self.now = at;
            self.deliver(envelope);
        }
        self.now = next;
        if self.manager.judge(self.now) {
            self.tell_all();
        }
        while let Some((node, view)) = self.manager.take(self.now) {
            self.take_view(node, view);
        }
        for stage in 0..self.stages.len() {
            self.tell_scene(stage, Input::Tick);
            self.tell_scene(stage, Input::Flush);
        }
        for node in 0..self.nodes.len() {
            self.tell_router(node, router::Input::Tick);
            self.tell_directory(node, directory::Input::Tick);
        }
    }

    fn deliver(&mut self, Envelope { from, to, message }: Envelope) {
        let Some(node) = self.nodes.iter().position(|node| node.session == to.session && !node.has_crashed) else {
            return;
        };
        self.note(|| format!("{from:?} -> {to:?}: {message:?}"));
        if let Message::Control(Control::Bequest { range, term, legacy: Legacy::Page { more: true, .. }, .. }) = message
        {
            self.history.begun.insert((range, term));
        }
        match (to.port, message) {
            (Port::Scene(scene), message) => {
                let addressed = |stage: &Stage| stage.me() == Own::new(to.session, scene);
                if let Some(stage) = self.stages.iter().position(addressed) {
                    self.tell_scene_of(stage, from, message);
                } else if let Some(answer) = answer_for_a_missing_scene(Envelope { from, to, message }) {
                    self.send(answer.from, answer.to, answer.message);
                }
            }
            (Port::Router(_), Message::Control(control)) => {
                self.tell_router(node, router::Input::Heard { from, control })
            }
            (Port::Directory, Message::Control(control)) => {
                self.tell_directory(node, directory::Input::Heard { from, control });
            }
            (to, message) => panic!("expected an actor of the simulation, got {message:?} to {to:?}"),
        }
    }

    pub(crate) fn tell_directory(&mut self, node: usize, input: directory::Input) {
        if self.nodes[node].has_crashed {
            return;
        }
        let mut out = Vec::new();
        self.nodes[node].directory.handle(input, self.now, &mut out);
        let me = Place { session: self.nodes[node].session, port: Port::Directory };
        for output in out {
            match output {
                directory::Output::Tell { to, control } => self.send(me, to, Message::Control(control)),
                directory::Output::Ask(_) => {
                    self.manager.retire(me.session);
                    self.tell_all();
                }
                directory::Output::Lost(lost) => {
                    self.note(|| format!("{me:?}: {lost:?}"));
                    self.history.count("lost by name");
                    let may_be = self.history.may_be_lost(lost.entity);
                    assert!(may_be, "{lost:?} is lost, though no death has touched it");
                    self.history.named.insert(lost.entity);
                }
                directory::Output::GivenAway => {}
                directory::Output::Event(event) => self.home_event(me, &event),
            }
        }
        self.check_owners();
    }

    fn home_event(&mut self, me: Place, event: &HomeEvent) {
        self.note(|| format!("{me:?}: {event:?}"));
        match event {
            HomeEvent::Rebuilt { .. } => self.history.count("rebuilt"),
            HomeEvent::Inherited { .. } => self.history.count("handed over"),
            HomeEvent::Rebuilding { range, term, .. } => {
                if self.history.begun.contains(&(*range, *term)) {
                    self.history.count("hand-over cut short");
                }
                let before = self.manager.view.homes[range].before;
                let is_alive = |session| self.nodes.iter().any(|node| node.session == session && !node.has_crashed);
                if before.is_some_and(is_alive) {
                    self.history.count("not complete when passed on");
                }
            }
            HomeEvent::Named { .. } => self.history.count("named by a witness"),
            HomeEvent::Bequeathed { .. } => {}
        }
    }

    pub(crate) fn tell_router(&mut self, node: usize, input: router::Input) {
        if self.nodes[node].has_crashed {
            return;
        }
        let mut out = Vec::new();
        self.nodes[node].router.handle(input, self.now, &mut out);
        let session = self.nodes[node].session;
        let me = Place { session, port: Port::Router(0) };
        for output in out {
            self.history.told(session, &output);
            match output {
                router::Output::Data { to, data } => self.send(me, to.into(), Message::Data(data)),
                router::Output::Close { to, entity, stream, sender } => {
                    self.send(me, to.into(), Message::Control(Control::Close { entity, stream, sender }));
                }
                router::Output::AskHome { entity, nonce } => {
                    if let Some(home) = self.nodes[node].view.home_of(entity.range()) {
                        self.send(me, home, Message::Control(Control::Query { entity, nonce }));
                    }
                }
                router::Output::Accepted(_)
                | router::Output::Busy(_)
                | router::Output::Applied(_)
                | router::Output::Dead(_)
                | router::Output::Unknown(_)
                | router::Output::Lost(_) => {}
                router::Output::Failed(_) | router::Output::Parked(_) => panic!("no handler panics here"),
            }
        }
    }

    /// A fresh id of the node, owned by one of its scenes; of a new range where the last one was given away.
    pub(crate) fn register(&mut self, stage: usize) -> OnlineId {
        let (node, owner) = (self.stages[stage].node, self.me(stage));
        let is_issued = |range| self.nodes[node].directory.issues(range);
        if !self.nodes[node].range.is_some_and(is_issued) {
            let range = self.manager.grant(owner.session);
            self.nodes[node].range = Some(range);
            self.tell_directory(node, directory::Input::Opened { range });
            self.tell_all();
        }
        let at = &mut self.nodes[node];
        at.spawned += 1;
        let entity = OnlineId::new(at.range.expect("it was granted"), at.spawned);
        let registered = directory::Input::Registered { entity, owner, label: None };
        at.directory.handle(registered, self.now, &mut Vec::new());
        self.history.entities.insert(entity);
        entity
    }

    pub(crate) fn send(&mut self, from: Place, to: Place, message: Message) {
        self.note_word(&message);
        self.network.send(Envelope { from, to, message }, self.now);
    }

    /// The record of an entity, where its present home is alive and complete.
    pub(crate) fn record(&self, entity: OnlineId) -> Option<Record> {
        let home = self.manager.view.homes.get(&entity.range())?.session;
        let node = self.nodes.iter().find(|node| node.session == home && !node.has_crashed)?;
        // One that has not heard yet of what the manager says speaks for an older term.
        let is_present = node.view.homes.get(&entity.range()) == self.manager.view.homes.get(&entity.range());
        is_present.then(|| node.directory.record(entity)).flatten()
    }

    /// Scenes where `entity` takes turns.
    pub(crate) fn active(&self, entity: OnlineId) -> Vec<Own> {
        let alive = |stage: &&Stage| !self.nodes[stage.node].has_crashed;
        let active = |stage: &&Stage| stage.scene.route(entity) == Route::Owner(stage.me());
        self.stages.iter().filter(alive).filter(active).map(Stage::me).collect()
    }

    /// At most one scene is active for an entity, and only where the record says so.
    pub(crate) fn check_owners(&self) {
        for stage in self.stages.iter().filter(|stage| !self.nodes[stage.node].has_crashed) {
            for entity in stage.scene.entities() {
                if stage.scene.route(entity) != Route::Owner(stage.me()) {
                    continue;
                }
                let active = self.active(entity);
                assert_eq!(active.len(), 1, "at {}: {entity} is active at {active:?}", self.now.0);
                let record = self.record(entity);
                let names = |record: Record| record.names(active[0]);
                assert!(record.is_none_or(names), "at {}: {entity} is active at {active:?}: {record:?}", self.now.0);
            }
        }
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        if self.plan.trace {
            eprintln!("{:>9} {}", self.now.0, line());
        }
    }

    /// Messages that routers keep.
    pub(crate) fn waiting(&self) -> usize {
        self.nodes.iter().filter(|node| !node.has_crashed).map(|node| node.router.waiting()).sum()
    }
}

fn scene_of(node: NodeId, number: u16) -> SceneId {
    SceneId::from(node.0 * 10 + number)
}
