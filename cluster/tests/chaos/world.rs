//! The simulated cluster: scenes, directories and routers as they ship, a network, and one clock.
//!
//! ```text
//!   mischief ──> scene ──┐                     each step: one input to one machine, its outputs are
//!                        ├── network ── ...    performed at once, then the invariants are checked
//!   mischief ──> router ─┘
//! ```

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::message::{Control, Message};

use slipgate_cluster::router::{self, Router};
use slipgate_cluster::scene::{OnPanic, Route, Settings, answer_for_a_missing_scene};
use slipgate_cluster::{Envelope, Limits, Now, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId, TypeName};

use super::dice::Dice;
use super::history::History;
use super::invariants::{acknowledged, answered, one_owner};
use super::network::{Faults, Network};
use super::stage::Stage;
use super::tally::Tally;
use super::walker::Speech;

/// Virtual time between two ticks.
pub(crate) const TICK_US: u64 = 10_000;

/// What a world is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) nodes: u16,
    pub(crate) scenes: u16,
    pub(crate) capacity: u32,
    pub(crate) limits: Limits,
    pub(crate) faults: Faults,
    pub(crate) trace: bool,
}

/// A node, apart from its scenes: the home of its own range, and its router.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) session: Session,
    pub(crate) directory: Directory,
    router: Router,
    spawned: u32,
}

/// The cluster.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Now,
    pub(crate) nodes: Vec<Node>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) network: Network,
    pub(crate) history: History,
    pub(crate) tally: Tally,
    /// Moves that an arrival provoked: from the stage with this index to that owner.
    pub(crate) provoked: Vec<(usize, OnlineId, Own)>,
    pub(crate) dice: Dice,
    trace: bool,
}

impl World {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut dice = Dice::new(plan.seed);
        let node = |number| {
            let session = Session::new(number, 1);
            let mut directory = Directory::new(session);
            directory.handle(directory::Input::Opened { range: range(session) }, Now(0), &mut Vec::new());
            let router = Router::new(Place { session, port: Port::Router(0) }, plan.limits.clone());
            Node { session, directory, router, spawned: 0 }
        };
        let stage = |number| {
            let me = Own::new(Session::new(1 + number % plan.nodes, 1), SceneId::from(1 + number));
            let schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
            Stage::new(Settings {
                me,
                capacity: plan.capacity,
                schema,
                limits: plan.limits.clone(),
                on_panic: OnPanic::Park,
            })
        };
        Self {
            now: Now(0),
            nodes: (1..=plan.nodes).map(node).collect(),
            stages: (0..plan.scenes).map(stage).collect(),
            network: Network::new(plan.faults, dice.child()),
            history: History::default(),
            tally: Tally::default(),
            provoked: Vec::new(),
            dice,
            trace: plan.trace,
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
        for stage in 0..self.stages.len() {
            self.tell_scene(stage, slipgate_cluster::scene::Input::Tick);
            self.tell_scene(stage, slipgate_cluster::scene::Input::Flush);
        }
        for node in 0..self.nodes.len() {
            self.tell_router(node, router::Input::Tick);
        }
    }

    fn deliver(&mut self, envelope: Envelope) {
        let Envelope { from, to, message } = envelope;
        self.note(|| format!("{from:?} -> {to:?}: {message:?}"));
        match (to.port, message) {
            (Port::Scene(scene), message) => {
                let addressed = |stage: &Stage| stage.me() == Own::new(to.session, scene);
                if let Some(stage) = self.stages.iter().position(addressed) {
                    self.tell_scene_of(stage, from, message);
                } else if self.nodes.iter().any(|node| node.session == to.session)
                    && let Some(answer) = answer_for_a_missing_scene(Envelope { from, to, message })
                {
                    self.send(answer.from, answer.to, answer.message);
                }
            }
            (Port::Router(_), Message::Control(control)) => {
                self.tell_router(self.node_of(to.session), router::Input::Heard { from, control });
            }
            (Port::Directory, Message::Control(control)) => self.tell_directory(to, from, control),
            (to, message) => panic!("expected an actor of the simulation, got {message:?} to {to:?}"),
        }
    }

    fn tell_directory(&mut self, me: Place, from: Place, control: Control) {
        let node = self.node_of(me.session);
        let mut out = Vec::new();
        self.nodes[node].directory.handle(directory::Input::Heard { from, control }, self.now, &mut out);
        for output in out {
            let directory::Output::Tell { to, control } = output else { panic!("nobody died: {output:?}") };
            self.send(me, to, Message::Control(control));
        }
        self.check_owners();
    }

    pub(crate) fn tell_router(&mut self, node: usize, input: router::Input) {
        let mut out = Vec::new();
        self.nodes[node].router.handle(input, self.now, &mut out);
        let session = self.nodes[node].session;
        let me = Place { session, port: Port::Router(0) };
        for output in out {
            match output {
                router::Output::Data { to, data } => self.send(me, to.into(), Message::Data(data)),
                router::Output::AskHome { entity, nonce } => {
                    self.send(me, home(entity), Message::Control(Control::Query { entity, nonce }));
                }
                router::Output::Close { to, entity, stream, sender } => {
                    self.tally.count("streams closed");
                    self.send(me, to.into(), Message::Control(Control::Close { entity, stream, sender }));
                }
                router::Output::Accepted(ticket) => self.history.accepted(session, ticket),
                router::Output::Busy(router::ToSend { ticket, .. }) => self.history.refused(ticket),
                router::Output::Applied(ticket) => {
                    let (upto, applied) = self.history.acknowledged(session, ticket);
                    self.demand(acknowledged::check(upto, applied));
                }
                router::Output::Unknown(ticket) | router::Output::Lost(ticket) => {
                    panic!("nobody died, but {ticket:?} is unknown")
                }
                router::Output::Failed(_) | router::Output::Parked(_) => panic!("no handler panics here"),
                router::Output::Dead(ticket) => {
                    let (number, receiver) = self.history.dead(session, ticket);
                    self.tally.count("dead answers");
                    self.demand(answered::check_dead(number, &self.record(receiver)));
                }
            }
        }
    }

    /// A fresh id of the node, owned by one of its scenes.
    pub(crate) fn register(&mut self, owner: Own) -> OnlineId {
        let at = self.node_of(owner.session);
        let node = &mut self.nodes[at];
        node.spawned += 1;
        let entity = OnlineId::new(range(owner.session), node.spawned);
        node.directory.handle(directory::Input::Registered { entity, owner, label: None }, self.now, &mut Vec::new());
        self.history.entities.push(entity);
        entity
    }

    pub(crate) fn send(&mut self, from: Place, to: Place, message: Message) {
        match &message {
            Message::Control(Control::Ack { stream, upto, .. }) => {
                let applied = self.history.applied_of(*stream);
                self.demand(acknowledged::check(*upto, applied));
            }
            Message::Control(Control::Redirect { .. }) => self.tally.count("redirects"),
            Message::Control(Control::Closed { .. }) => self.tally.count("closed"),
            Message::Data(data) => {
                let number = Speech::read(&data.payload).number;
                match self.history.sent(data, number) {
                    Ok(true) => self.tally.count("messages renumbered"),
                    Ok(false) => {}
                    violation => self.demand(violation.map(drop)),
                }
                if data.hops > 0 {
                    self.tally.count("messages handed on");
                }
            }
            Message::Control(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => {}
        }
        self.network.send(Envelope { from, to, message }, self.now);
    }

    pub(crate) fn record(&self, entity: OnlineId) -> Record {
        let home = self.node_of(home(entity).session);
        self.nodes[home].directory.record(entity).expect("the home of its range")
    }

    /// Scenes where `entity` takes turns.
    pub(crate) fn active(&self, entity: OnlineId) -> Vec<Own> {
        let active = |stage: &&Stage| stage.scene.route(entity) == Route::Owner(stage.me());
        self.stages.iter().filter(active).map(Stage::me).collect()
    }

    pub(crate) fn check_owners(&self) {
        for entity in self.stages.iter().flat_map(|stage| stage.scene.entities()) {
            self.demand(one_owner::check(entity, &self.record(entity), &self.active(entity)));
        }
    }

    pub(crate) fn demand(&self, verdict: Result<(), String>) {
        if let Err(violation) = verdict {
            panic!("at {} us: {violation}", self.now.0);
        }
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        if self.trace {
            eprintln!("{:>9} {}", self.now.0, line());
        }
    }

    pub(crate) fn node_of(&self, session: Session) -> usize {
        self.nodes.iter().position(|node| node.session == session).expect("a node of the simulation")
    }

    /// What the routers keep.
    pub(crate) fn routers(&self) -> Vec<router::Tables> {
        self.nodes.iter().map(|node| node.router.tables()).collect()
    }

    /// Messages that routers keep.
    pub(crate) fn waiting(&self) -> usize {
        self.nodes.iter().map(|node| node.router.waiting()).sum()
    }
}

fn range(session: Session) -> RangeId {
    RangeId(u32::from(session.node.0))
}

/// The home of an entity: the node whose range its id is of.
pub(crate) fn home(entity: OnlineId) -> Place {
    let node = u16::try_from(entity.range().0).expect("ranges are numbered like nodes");
    Place { session: Session::new(node, 1), port: Port::Directory }
}
