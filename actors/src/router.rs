//! A router on its arbiter: the streams of this node's tools, and of senders that are gone.

mod batch;
mod batches;

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message};
use futures_util::future::join_all;
use slipgate_cluster::budget::{Load, Part};
use slipgate_cluster::message::{Control, Message as Said, Payload};
use slipgate_cluster::router::{Input, Output, Router};
use slipgate_cluster::scene::Orphan;
use slipgate_cluster::{Envelope, Limits, Place, Port};
use slipgate_entity::OnlineId;
use slipgate_proto::admin::SendReport;
use tokio::sync::oneshot;

pub use self::batch::{REPLY_BYTES, Sent, Waiting};
pub use self::batches::Batches;
use crate::budget::Share;
use crate::clock::NodeClock;
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::post::Post;
use crate::rows::{self, Rows};

/// Messages of a tool, to be sent in this order.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct SendBatch {
    /// Receivers and what is said to them, with their positions in the request; at most 65,535.
    pub messages: Vec<(u32, OnlineId, Payload)>,
    /// Whether to answer when all that was accepted is answered, or at once.
    pub waiting: Waiting,
    /// Takes what became of them.
    pub reply: oneshot::Sender<Sent>,
}

/// Streams that their senders leave behind.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Adopt(pub Vec<Orphan>);

/// How many messages wait in a node's routers, all together. One that has ended has none.
pub async fn backlog(routers: &[Mailbox<RouterActor>]) -> u64 {
    let ask = |router: &Mailbox<RouterActor>| {
        let (reply, waiting) = oneshot::channel();
        router.tell(Backlog { reply });
        waiting
    };
    join_all(routers.iter().map(ask)).await.into_iter().map(|waiting| waiting.unwrap_or(0)).sum()
}

/// What nobody has answered, over all of a node's routers: to whom, and how many messages.
pub async fn unanswered(routers: Vec<Mailbox<RouterActor>>) -> BTreeMap<OnlineId, u64> {
    let ask = |router: &Mailbox<RouterActor>| {
        let (reply, unanswered) = oneshot::channel();
        router.tell(AskUnanswered { reply });
        unanswered
    };
    let told = join_all(routers.iter().map(ask)).await;
    told.into_iter().flat_map(Result::unwrap_or_default).collect()
}

/// Asks to whom messages wait.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct AskUnanswered {
    reply: oneshot::Sender<BTreeMap<OnlineId, u64>>,
}

/// Asks how many messages wait.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Backlog {
    reply: oneshot::Sender<u64>,
}

/// Waits until no message waits.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct AwaitAnswers {
    /// Told then.
    pub reply: oneshot::Sender<()>,
}

/// A router's actor.
#[derive(Debug)]
pub struct RouterActor {
    machine: Router,
    me: Place,
    /// Its share of what the node lets wait.
    share: Share,
    post: Post,
    clock: NodeClock,
    batches: Batches,
    /// Kept between turns for its room; empty.
    outputs: Vec<Output>,
    /// Who is told when nothing waits.
    patient: Vec<oneshot::Sender<()>>,
    rows: Rows,
    /// Of the view that the machine has.
    view_version: u64,
}

impl RouterActor {
    /// The router with number `number`.
    #[must_use]
    pub fn new(number: u16, limits: Limits, post: Post, clock: NodeClock) -> Self {
        let me = post.here(Port::Router(number));
        Self {
            machine: Router::new(me, limits),
            me,
            share: post.budget().share(Part::Accepted),
            post,
            clock,
            // Asks go by it, and only whoever is asked should know its number.
            batches: Batches::after(fastrand::u64(..Batches::FIRST_MAX)),
            outputs: Vec::new(),
            patient: Vec::new(),
            rows: Rows::new("slipgate_router_rows"),
            view_version: 0,
        }
    }

    /// Hands in inputs if the session may act. What others say without a lease is said again by whoever keeps it;
    /// what a tool wants sent is for the caller to refuse.
    fn turn(&mut self, inputs: impl IntoIterator<Item = Input>) -> bool {
        let held = self.post.lease().is_held();
        if held {
            self.give(inputs);
        }
        held
    }

    fn give(&mut self, inputs: impl IntoIterator<Item = Input>) {
        let now = self.clock.now();
        let mut out = std::mem::take(&mut self.outputs);
        for input in inputs {
            if let Input::Send(batch) = &input {
                let more: Load = batch.iter().map(|message| Load::one(message.payload.len())).sum();
                self.share.widen(self.machine.load().weight() + more.weight());
                self.machine.handle(Input::Allow(self.share.allowed()), now, &mut out);
            }
            self.machine.handle(input, now, &mut out);
        }
        self.share.settle(self.machine.load().weight());
        let mut letters = Vec::with_capacity(out.len());
        for output in out.drain(..) {
            match output {
                Output::Data { to, data } => {
                    letters.push(Envelope { from: self.me, to: to.into(), message: Said::Data(data) });
                }
                Output::Close { to, entity, stream, sender } => {
                    let message = Said::Control(Control::Close { entity, stream, sender });
                    letters.push(Envelope { from: self.me, to: to.into(), message });
                }
                Output::AskHome { entity, nonce } => {
                    if let Some(to) = self.post.home_of(entity) {
                        let message = Said::Control(Control::Query { entity, nonce });
                        letters.push(Envelope { from: self.me, to, message });
                    }
                }
                told @ (Output::Accepted(_)
                | Output::Busy(_)
                | Output::Applied(_)
                | Output::Unknown(_)
                | Output::Lost(_)
                | Output::Dead(_)
                | Output::Failed(_)
                | Output::Parked(_)) => self.batches.hear(&told, now),
            }
        }
        self.outputs = out;
        self.post.send(letters);
    }

    /// Hands a new view in before the tick that acts on it.
    fn look_at_view(&mut self) {
        let version = self.post.view_version();
        if version != self.view_version && self.turn([Input::View(self.post.view())]) {
            self.view_version = version;
        }
    }

    /// A report of nothing yet, by this life of the node.
    fn blank(&self) -> SendReport {
        SendReport { incarnation: self.me.session.incarnation.0, ..SendReport::default() }
    }

    /// Answers the batches that have ended, or whose time is over.
    fn answer_ended(&mut self) {
        self.batches.answer_ended(self.clock.now());
        if self.machine.waiting() == 0 && !self.batches.await_replies() {
            for reply in self.patient.drain(..) {
                let _ = reply.send(());
            }
        }
    }
}

impl Actor for RouterActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(TICK, |actor, _| {
            actor.look_at_view();
            actor.turn([Input::Tick]);
            actor.answer_ended();
        });
        ctx.run_interval(ROWS, |actor, _| actor.rows.tell(rows::of_router(actor.machine.tables())));
    }
}

impl Handler<Halt> for RouterActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        self.rows.take_back();
        ctx.stop();
    }
}

impl Handler<Mail> for RouterActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        let mut heard = Vec::with_capacity(mail.envelopes.len());
        for Envelope { from, message, .. } in mail.envelopes {
            match message {
                Said::Control(Control::Reply { entity, payload }) => self.batches.replied(entity, payload),
                Said::Control(control) => heard.push(Input::Heard { from, control }),
                Said::Data(_) | Said::Prepare(_) | Said::Manager(_) | Said::Tool(_) => {}
            }
        }
        self.turn(heard);
        self.answer_ended();
    }
}

impl Handler<SendBatch> for RouterActor {
    type Result = ();

    fn handle(&mut self, batch: SendBatch, _: &mut Context<Self>) {
        let (number, to_send) = self.batches.open(batch, self.blank(), self.clock.now());
        if !self.turn([Input::Send(to_send)]) {
            self.batches.refuse(number);
        }
        self.answer_ended();
    }
}

impl Handler<Adopt> for RouterActor {
    type Result = ();

    fn handle(&mut self, Adopt(orphans): Adopt, _: &mut Context<Self>) {
        // Nobody else keeps them, lease or not; what they send waits for its repeat.
        self.give([Input::Adopt(orphans)]);
    }
}

impl Handler<Backlog> for RouterActor {
    type Result = ();

    fn handle(&mut self, Backlog { reply }: Backlog, _: &mut Context<Self>) {
        let _ = reply.send(self.machine.waiting() as u64);
    }
}

impl Handler<AskUnanswered> for RouterActor {
    type Result = ();

    fn handle(&mut self, AskUnanswered { reply }: AskUnanswered, _: &mut Context<Self>) {
        let mut unanswered = BTreeMap::new();
        for (entity, messages) in self.machine.unanswered() {
            *unanswered.entry(entity).or_default() += messages as u64;
        }
        let _ = reply.send(unanswered);
    }
}

impl Handler<AwaitAnswers> for RouterActor {
    type Result = ();

    fn handle(&mut self, AwaitAnswers { reply }: AwaitAnswers, _: &mut Context<Self>) {
        self.patient.push(reply);
        self.answer_ended();
    }
}

/// How often waits are looked at: below the first of them.
const TICK: Duration = Duration::from_millis(20);
/// How often rows of tables are told.
const ROWS: Duration = Duration::from_secs(5);
