//! The manager on its own thread: performs what the machine orders.
//!
//! ```text
//!   FromNodes, JoinAsked, Link ... --> machine --> writes --> store (fsync)
//!                                                              | then, in order
//!                                                              v
//!                                              ManagerOut: tell, tell all, probe, event; join answers
//! ```
//!
//! The writes of one message go to disk as one transaction before anything else of it is performed,
//! so a batch of requests costs one fsync. redb blocks, hence the thread: [`ManagerThread`].
//!
//! Keeps: after a write that failed nothing is answered; the actor stops, with an error in the log,
//! and whoever runs the node sees that its address is not connected any more and starts another.
//! Leaves out: decisions (`slipgate_cluster::manager`), sockets and links ([`ManagerOut`]), bounds of
//! the mailbox: senders must hold a bounded number of permits, as actix does not bound `do_send`.
//!
//! A manager that starts knows no links. Whoever starts one tells it of every link that is up.

mod message;
pub mod store;
mod thread;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler};
pub use message::{FromNode, FromNodes, JoinAsked, Left, Link, ProbeAnswered, Stop};
use slipgate_cluster::manager::{Input, JoinReply, Manager, ManagerEvent, ManagerReply, Output, Ticket, Waits, Write};
use slipgate_cluster::{Now, Session};
pub use store::{Store, StoreError};
pub use thread::ManagerThread;
use tokio::sync::oneshot;

/// Where the manager's words go. Called on the manager's thread: must not block.
pub trait ManagerOut: Send {
    /// Tells one session; it may be the own node's.
    fn tell(&self, to: Session, reply: ManagerReply);
    /// Tells every session with a link, and the own node.
    fn tell_all(&self, reply: ManagerReply);
    /// Asks a session over its link whether it lives; its answer comes back as [`ProbeAnswered`].
    fn probe(&self, session: Session);
    /// Reports something for logs.
    fn event(&self, event: ManagerEvent);
}

/// Tells the time since the node's start.
pub type Clock = Box<dyn Fn() -> Now + Send>;

/// The manager's actor.
pub struct ManagerActor {
    machine: Manager,
    /// None once the manager has stopped.
    store: Option<Store>,
    out: Box<dyn ManagerOut>,
    clock: Clock,
    joins: BTreeMap<Ticket, oneshot::Sender<JoinReply>>,
    last_ticket: Ticket,
    last_tick: Now,
    margin: Duration,
}

impl fmt::Debug for ManagerActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerActor").field("machine", &self.machine).field("joins", &self.joins.len()).finish()
    }
}

impl ManagerActor {
    /// Opens the store at `path` and continues from what is in it. Blocks for the disk.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened or read; it is closed again then.
    pub fn open(path: &Path, waits: Waits, out: Box<dyn ManagerOut>, clock: Clock) -> Result<Self, StoreError> {
        Self::on(Store::open(path)?, waits, out, clock)
    }

    fn on(store: Store, waits: Waits, out: Box<dyn ManagerOut>, clock: Clock) -> Result<Self, StoreError> {
        let (now, margin) = (clock(), waits.margin);
        let machine = Manager::load(store.load()?, waits, now);
        let joins = BTreeMap::new();
        Ok(Self { machine, store: Some(store), out, clock, joins, last_ticket: Ticket(0), last_tick: now, margin })
    }

    fn give(&mut self, mut inputs: Vec<Input>, ctx: &mut Context<Self>) {
        while !inputs.is_empty() {
            // actix may still run what was due in the turn that stopped the actor.
            let Some(store) = &self.store else { return };
            let now = (self.clock)();
            let mut out = Vec::new();
            for input in inputs {
                self.machine.handle(input, now, &mut out);
            }
            let writes = take_writes(&mut out);
            if !writes.is_empty()
                && let Err(error) = store.write(&writes)
            {
                self.give_up(&error, ctx);
                return;
            }
            inputs = self.perform(out).into_iter().map(Input::Left).collect();
        }
    }

    /// Performs all but writes; returns the sessions whose welcome reached nobody.
    fn perform(&mut self, out: Vec<Output>) -> Vec<Session> {
        let mut unheard = Vec::new();
        for output in out {
            match output {
                Output::Persist(writes) => unreachable!("{} writes were taken out before", writes.len()),
                Output::Tell { to, reply } => self.out.tell(to, reply),
                Output::TellAll(reply) => self.out.tell_all(reply),
                Output::Probe(session) => self.out.probe(session),
                Output::Event(event) => self.out.event(event),
                Output::JoinAnswer { ticket, reply } => {
                    let asker = self.joins.remove(&ticket);
                    if let Some(Err(JoinReply::Welcome { session, .. })) = asker.map(|asker| asker.send(reply)) {
                        unheard.push(session);
                    }
                }
            }
        }
        unheard
    }

    fn give_up(&mut self, error: &StoreError, ctx: &mut Context<Self>) {
        tracing::error!(
            event = "manager.failed",
            error = error as &dyn std::error::Error,
            "the manager stops and answers nothing: {error}"
        );
        self.close(ctx);
    }

    fn close(&mut self, ctx: &mut Context<Self>) {
        self.store = None;
        self.joins.clear();
        ctx.stop();
    }

    /// Looks at the waits. Ticks that lie far apart tell that the process was stopped (SIGSTOP, a frozen machine): it
    /// has heard nobody meanwhile, and a silence that it slept through is nobody's fault. What is shorter than the
    /// margin is what the margin is for.
    fn tick(&mut self, ctx: &mut Context<Self>) {
        let (now, mut inputs) = ((self.clock)(), self.withdrawn());
        let slept = Duration::from_micros(now.since(self.last_tick));
        self.last_tick = now;
        if slept > TICK + self.margin {
            tracing::warn!(
                event = "manager.slept",
                slept_ms = u64::try_from(slept.as_millis()).unwrap_or(u64::MAX),
                "the manager's process was stopped for {} ms; every lease begins anew",
                slept.as_millis()
            );
            inputs.push(Input::Slept);
        }
        inputs.push(Input::Tick);
        self.give(inputs, ctx);
    }

    /// Takes out the joins that nobody waits for any more.
    fn withdrawn(&mut self) -> Vec<Input> {
        let gone = self.joins.extract_if(.., |_, asker| asker.is_closed());
        gone.map(|(ticket, _)| Input::Withdrawn { ticket }).collect()
    }
}

impl Actor for ManagerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(TICK, Self::tick);
    }
}

impl Handler<FromNodes> for ManagerActor {
    type Result = ();

    fn handle(&mut self, FromNodes(requests): FromNodes, ctx: &mut Context<Self>) {
        let inputs = requests.into_iter().map(|FromNode { from, request }| Input::Request { from, request });
        self.give(inputs.collect(), ctx);
    }
}

impl Handler<JoinAsked> for ManagerActor {
    type Result = ();

    fn handle(&mut self, JoinAsked { request, own_node, reply }: JoinAsked, ctx: &mut Context<Self>) {
        let mut inputs = self.withdrawn();
        self.last_ticket = Ticket(self.last_ticket.0 + 1);
        let ticket = self.last_ticket;
        self.joins.insert(ticket, reply);
        inputs.push(Input::Join { ticket, own_node, request });
        self.give(inputs, ctx);
    }
}

impl Handler<Link> for ManagerActor {
    type Result = ();

    fn handle(&mut self, Link { session, up }: Link, ctx: &mut Context<Self>) {
        let mut inputs = self.withdrawn();
        inputs.push(if up { Input::LinkUp(session) } else { Input::LinkDown(session) });
        self.give(inputs, ctx);
    }
}

impl Handler<ProbeAnswered> for ManagerActor {
    type Result = ();

    fn handle(&mut self, ProbeAnswered { session }: ProbeAnswered, ctx: &mut Context<Self>) {
        self.give(vec![Input::ProbeAnswered(session)], ctx);
    }
}

impl Handler<Left> for ManagerActor {
    type Result = ();

    fn handle(&mut self, Left { session }: Left, ctx: &mut Context<Self>) {
        let mut inputs = self.withdrawn();
        inputs.push(Input::Left(session));
        self.give(inputs, ctx);
    }
}

impl Handler<Stop> for ManagerActor {
    type Result = ();

    fn handle(&mut self, Stop: Stop, ctx: &mut Context<Self>) {
        self.close(ctx);
    }
}

/// Takes the writes out of the outputs, in their order.
fn take_writes(out: &mut Vec<Output>) -> Vec<Write> {
    let mut all = Vec::new();
    out.retain_mut(|output| {
        let Output::Persist(writes) = output else { return true };
        all.append(writes);
        false
    });
    all
}

/// How often waits are looked at: a tenth of the shortest of them.
const TICK: Duration = Duration::from_millis(100);
