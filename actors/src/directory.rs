//! The directory on its arbiter: records of this node's ranges, and its stock of ids.
//!
//! A spawn is registered here before anybody hears of the entity: the id comes from the node's own
//! stock, so its home is here and registering costs no message to another node.

use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, Message};
use slipgate_cluster::directory::{Directory, Input, Output};
use slipgate_cluster::manager::{ManagerReply, ManagerRequest};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::range::{self, RangeStock};
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::{Envelope, Own, Port, Record};
use slipgate_entity::OnlineId;
use tokio::sync::oneshot;

use crate::clock::NodeClock;
use crate::mailbox::{Mail, Mailbox};
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
    /// Where the answer goes.
    pub scene: Mailbox<SceneActor>,
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
    post: Post,
    clock: NodeClock,
    manager: String,
}

impl DirectoryActor {
    /// A directory of a session that has just joined; `manager` is the name of the manager's node.
    #[must_use]
    pub fn new(post: Post, clock: NodeClock, manager: String) -> Self {
        let stock = RangeStock::new(post.me(), fastrand::u64(..));
        Self { machine: Directory::default(), stock, ranges: 0, post, clock, manager }
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

impl Handler<Mail> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        let mut out = Vec::new();
        for Envelope { from, message, .. } in mail.envelopes {
            match message {
                Said::Control(control) => self.machine.handle(Input::Heard { from, control }, &mut out),
                Said::Manager(ManagerMessage::Reply(ManagerReply::Range { session, request, counter, range })) => {
                    self.stock(range::Input::Reply { session, request, counter, range });
                }
                Said::Manager(_) | Said::Data(_) | Said::Prepare(_) | Said::Tool(_) => {}
            }
        }
        let from = self.post.here(Port::Directory);
        let envelope = |Output::Tell { to, control }| Envelope { from, to, message: Said::Control(control) };
        self.post.send(out.into_iter().map(envelope).collect());
    }
}

impl Handler<Register> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Register { ticket, owner, scene }: Register, _: &mut Context<Self>) {
        let entity = self.stock.take().ok();
        if let Some(entity) = entity {
            self.machine.handle(Input::Registered { entity, owner }, &mut Vec::new());
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

/// How often the stock is looked at; well below the first wait between its requests.
const TICK: Duration = Duration::from_millis(50);
