//! The directory on its arbiter: records of this node's ranges, and its stock of ids.
//!
//! A spawn is registered here before anybody hears of the entity: the id comes from the node's own
//! stock, so its home is here and registering costs no message to another node.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message};
use slipgate_cluster::directory::{Directory, Input, Lost, Output};
use slipgate_cluster::manager::{ManagerReply, ManagerRequest};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::range::{self, RangeStock};
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::{Envelope, Incarnation, NodeId, Own, Port, Record};
use slipgate_entity::OnlineId;
use tokio::sync::oneshot;

use crate::clock::NodeClock;
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::post::Post;
use crate::scene::{Registered, SceneActor};

/// Asks for a fresh id for an entity of a scene of this node.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Register {
    /// The spawn.
    pub ticket: Ticket,
    /// The scene.
    pub owner: Own,
    /// The entity's label.
    pub label: Option<String>,
    /// Where the answer goes.
    pub scene: Mailbox<SceneActor>,
}

/// The manager's verdicts: every life of a node up to the one named is over.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Sentenced(pub BTreeMap<NodeId, Incarnation>);

/// Asks for entities that were lost, latest first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct AskLost {
    /// At most so many.
    pub limit: usize,
    /// Takes the answer.
    pub reply: oneshot::Sender<Vec<Lost>>,
}

/// Asks what the directory holds.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Census {
    /// Takes the answer.
    pub reply: oneshot::Sender<Holdings>,
}

/// What the directory holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Holdings {
    /// Ranges that this node is the home of.
    pub ranges: u32,
    /// Ids left in stock.
    pub ids_left: u64,
    /// Living entities whose home is here.
    pub records: u64,
}

/// Asks for one record.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Look {
    /// The entity.
    pub entity: OnlineId,
    /// Takes the record, if this is the entity's home.
    pub reply: oneshot::Sender<Option<Record>>,
}

/// The directory's actor.
#[derive(Debug)]
pub struct DirectoryActor {
    machine: Directory,
    stock: RangeStock,
    ranges: u32,
    /// Entities that were lost, latest first.
    lost: VecDeque<Lost>,
    post: Post,
    clock: NodeClock,
    manager: String,
}

impl DirectoryActor {
    /// A directory of a session that has just joined; `manager` is the name of the manager's node.
    #[must_use]
    pub fn new(post: Post, clock: NodeClock, manager: String) -> Self {
        let stock = RangeStock::new(post.me(), fastrand::u64(..));
        Self { machine: Directory::default(), stock, ranges: 0, lost: VecDeque::new(), post, clock, manager }
    }

    fn stock(&mut self, input: range::Input) {
        let mut out = Vec::new();
        self.stock.handle(input, self.clock.now(), &mut out);
        for output in out {
            match output {
                range::Output::Ask(request) => self.ask_manager(request),
                range::Output::Installed { range } => {
                    self.ranges += 1;
                    self.machine.handle(Input::Opened { range }, &mut Vec::new());
                    tracing::info!(
                        event = "range.opened",
                        range = range.0,
                        "this node is the home of a new range of ids"
                    );
                }
                range::Output::Refused { range, highest } => tracing::error!(
                    event = "range.refused",
                    range = range.0,
                    highest = highest.0,
                    "the manager granted a range that is not above the earlier ones, as if it ran on an old copy of its \
                     store; the range is not used, and spawning ends with the stock: bring the manager's own store back"
                ),
            }
        }
    }

    fn perform(&mut self, out: Vec<Output>) {
        let from = self.post.here(Port::Directory);
        let mut letters = Vec::new();
        let mut lost = BTreeMap::new();
        for output in out {
            match output {
                Output::Tell { to, control } => letters.push(Envelope { from, to, message: Said::Control(control) }),
                Output::Lost(entity) => {
                    *lost.entry(entity.owner).or_insert(0u64) += 1;
                    self.lost.push_front(entity);
                }
            }
        }
        self.lost.truncate(LOST_MAX);
        for (owner, entities) in lost {
            let place = self.post.view().own_text(owner);
            metrics::counter!("slipgate_entities_lost_total").increment(entities);
            // Whoever died without a goodbye has been warned of already: its link is lost, its lease late.
            tracing::info!(
                event = "entities.lost", at = %place, entities,
                "{entities} entities of {place} are lost with that life of its node: slipgate entities --lost"
            );
        }
        self.post.send(letters);
    }

    fn ask_manager(&self, request: ManagerRequest) {
        if let Some(manager) = self.post.manager(&self.manager) {
            self.post.send_one(Port::Directory, manager, Said::Manager(ManagerMessage::Request(request)));
        }
    }
}

impl Actor for DirectoryActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.stock(range::Input::Tick);
        ctx.run_interval(TICK, |actor, _| actor.stock(range::Input::Tick));
    }
}

impl Handler<Halt> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl Handler<Mail> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        let mut out = Vec::new();
        for Envelope { from, message, .. } in mail.envelopes {
            match message {
                Said::Control(control) => self.machine.handle(Input::Heard { from, control }, &mut out),
                Said::Manager(ManagerMessage::Reply(ManagerReply::Range { session, request, counter, range }))
                    if self.post.is_of_node(from, &self.manager) =>
                {
                    self.stock(range::Input::Reply { session, request, counter, range });
                }
                Said::Manager(_) | Said::Data(_) | Said::Prepare(_) | Said::Tool(_) => {}
            }
        }
        self.perform(out);
    }
}

impl Handler<Sentenced> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Sentenced(dead): Sentenced, _: &mut Context<Self>) {
        let mut out = Vec::new();
        self.machine.handle(Input::Sentenced(dead), &mut out);
        self.perform(out);
    }
}

impl Handler<AskLost> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, AskLost { limit, reply }: AskLost, _: &mut Context<Self>) {
        let _ = reply.send(self.lost.iter().take(limit).cloned().collect());
    }
}

impl Handler<Register> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Register { ticket, owner, label, scene }: Register, _: &mut Context<Self>) {
        let entity = self.stock.take().ok();
        if let Some(entity) = entity {
            self.machine.handle(Input::Registered { entity, owner, label }, &mut Vec::new());
        }
        scene.tell(Registered { ticket, entity });
    }
}

impl Handler<Look> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Look { entity, reply }: Look, _: &mut Context<Self>) {
        // Nobody listens any more if the asker has given up; then nobody misses the answer.
        let _ = reply.send(self.machine.record(entity));
    }
}

impl Handler<Census> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Census { reply }: Census, _: &mut Context<Self>) {
        let records = self.machine.ownership().len() as u64;
        let _ = reply.send(Holdings { ranges: self.ranges, ids_left: self.stock.left(), records });
    }
}

/// Lost entities that are remembered by name.
const LOST_MAX: usize = 100_000;
/// How often the stock is looked at; well below the first wait between its requests.
const TICK: Duration = Duration::from_millis(50);
