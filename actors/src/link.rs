//! The link to one peer: one connection at a time, its queue, and what happens when it breaks.
//!
//! Of two members the one with the higher number dials, so there is one connection; after a loss it dials
//! again, with backoff and jitter, also after the peer's goodbye: it may start again. What waits in the
//! lanes survives a reconnect; what was on the way is sent again by whoever keeps it (streams, hand-offs).
//!
//! Keeps: the lanes' bounds; one connection; a newer one of the same session replaces the older, unless that
//! still answers: then the newer one is a handshake that somebody has recorded; what was meant for one life of
//! the peer is not told to the next; a connection over which nothing comes any more is given up, as it may be open at
//! this end alone.
//! Leaves out: what the messages mean; whether a silent peer is dead.

mod credence;
pub mod dial;
pub mod gate;
pub mod queue;
pub mod text;
mod wire;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, Message, SpawnHandle, WrapFuture};
use backon::{BackoffBuilder, ExponentialBuilder};
use slipgate_cluster::Session;
use slipgate_proto::admin::LinkReport;
use slipgate_proto::handshake::Refusal;
use slipgate_proto::lanes::Lanes;
use tokio::sync::oneshot;

use self::dial::{Caller, DialError};
use self::queue::Queue;
use self::wire::{Ended, Shared};
use crate::clock::NodeClock;
use crate::mailbox::Mailbox;
use crate::member::{LinkState, MemberActor};
use crate::post::Post;
use crate::restraint::Restraint;
use crate::transport::{Connection, Transport};

/// The peer of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its life.
    pub session: Session,
    /// Its name.
    pub name: String,
    /// Where it is dialled.
    pub address: String,
}

/// A connection that the peer has dialled.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Dialled(pub Connection);

/// The link is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub enum Close {
    /// This node stops: the peer is told.
    Goodbye,
    /// The peer has a later life: whatever was meant for this one is dropped.
    Superseded,
}

/// Asks the peer whether it lives; the member hears of the answer.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Probe;

/// Asks how the link is.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Report {
    /// Takes the answer.
    pub reply: oneshot::Sender<LinkReport>,
}

/// What a link needs of its node.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where what comes in goes.
    pub post: Post,
    /// The network.
    pub transport: Arc<dyn Transport>,
    /// Who this node is.
    pub caller: Caller,
    /// Hears of the link's ups and downs.
    pub member: Mailbox<MemberActor>,
    /// How long the peer may say nothing at all, not even an answer to a ping, before the connection is given up.
    pub silence: Duration,
}

/// A link's actor.
#[derive(Debug)]
pub struct LinkActor {
    peer: Peer,
    around: Surroundings,
    shared: Rc<Shared>,
    state: State,
    reason: Option<String>,
    task: Option<SpawnHandle>,
    /// Set while a short loss is forgiven.
    grace: Option<SpawnHandle>,
    stopping: bool,
    /// A newer connection, until it is known whether the one that is up still answers.
    newer: Option<Connection>,
    /// When the newer one is decided about, while one is there.
    trial: Option<SpawnHandle>,
    doubts: Restraint<()>,
    clock: NodeClock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Connecting,
    Up,
    Closed,
}

impl LinkActor {
    /// A link to `peer` that is not up yet.
    #[must_use]
    pub fn new(peer: Peer, around: Surroundings) -> Self {
        let shared = Rc::new(Shared::new(peer.session, around.post.budget()));
        Self {
            peer,
            around,
            shared,
            state: State::Connecting,
            reason: None,
            task: None,
            grace: None,
            stopping: false,
            newer: None,
            trial: None,
            doubts: Restraint::default(),
            clock: NodeClock::start(),
        }
    }

    /// What waits for the peer: the way to it.
    #[must_use]
    pub fn queue(&self) -> Arc<Queue> {
        self.shared.queue.clone()
    }

    fn dials(&self) -> bool {
        self.around.post.me().node > self.peer.session.node
    }

    fn dial(&mut self, ctx: &mut Context<Self>) {
        if !self.dials() || self.stopping {
            return;
        }
        let (peer, around) = (self.peer.clone(), self.around.clone());
        let dialling = async move { keep_dialling(&peer, &around).await };
        let task = ctx.spawn(dialling.into_actor(self).map(|dialled, link, ctx| match dialled {
            Ok(connection) => link.connected(connection, ctx),
            Err(DialError::Refused { refusal: Refusal::NotMe { here, .. }, .. }) => link.reborn(here, ctx),
            Err(DialError::Refused { refusal: Refusal::Dead { .. } | Refusal::OldIncarnation { .. }, .. }) => {
                link.tell_member(LinkState::Condemned);
            }
            Err(error) => link.give_up(&error, ctx),
        }));
        self.task = Some(task);
    }

    /// The peer lives again, under a new session: what waits here was meant for the old one.
    fn reborn(&mut self, session: Session, ctx: &mut Context<Self>) {
        self.peer.session = session;
        self.shared.queue.begin_anew(session);
        self.shared.bye.set(false);
        self.state = State::Connecting;
        self.tell_member(LinkState::Reborn);
        self.dial(ctx);
    }

    /// Somebody has to change something before there can be a link; until then this looks now and then.
    fn give_up(&mut self, error: &DialError, ctx: &mut Context<Self>) {
        self.state = State::Closed;
        ctx.run_later(LOOK_AGAIN, |link, ctx| {
            if link.state == State::Closed && !link.stopping {
                link.dial(ctx);
            }
        });
        if self.reason.replace(error.to_string()) == self.reason {
            return;
        }
        let name = &self.peer.name;
        if self.shared.bye.get() {
            tracing::debug!(event = "link.refused", peer = %name, "somebody else is where {name} was: {error}");
            return;
        }
        tracing::warn!(event = "link.refused", peer = %name, "no link to {name}: {error}");
    }

    fn connected(&mut self, connection: Connection, ctx: &mut Context<Self>) {
        if let Some(task) = self.task.take() {
            ctx.cancel_future(task);
        }
        for waiting in [self.grace.take(), self.trial.take()].into_iter().flatten() {
            ctx.cancel_future(waiting);
        }
        self.newer = None;
        self.state = State::Up;
        self.reason = None;
        self.shared.bye.set(false);
        self.shared.queue.put_in(Lanes::reconnect);
        let session = self.peer.session;
        tracing::info!(event = "link.up", peer = %self.peer.name, address = %self.peer.address, "the link to {} is up", self.peer.name);
        self.tell_member(LinkState::Up);
        let member = self.around.member.clone();
        let on_pong = move || member.tell(crate::member::LinkNews { session, state: LinkState::Answered });
        let running =
            wire::run(connection, session, self.shared.clone(), self.around.post.clone(), self.around.silence, on_pong);
        let task = ctx.spawn(running.into_actor(self).map(|ended, link, ctx| link.ended(&ended, ctx)));
        self.task = Some(task);
    }

    /// A newer connection while one is up: as a rule the peer has given up the older one, and its end is about to
    /// be heard. Whoever answers on the older one has not.
    fn doubt(&mut self, connection: Connection, ctx: &mut Context<Self>) {
        self.newer = Some(connection);
        if self.trial.is_some() {
            return;
        }
        let heard = self.shared.heard.get();
        self.shared.queue.put_in(Lanes::ping);
        let trial = ctx.run_later(TRIAL, move |link, ctx| {
            link.trial = None;
            match link.newer.take() {
                Some(newer) if link.shared.heard.get() == heard => link.connected(newer, ctx),
                Some(_) => link.tell_of_doubt(),
                None => {}
            }
        });
        self.trial = Some(trial);
    }

    fn tell_of_doubt(&mut self) {
        let (name, now) = (&self.peer.name, self.clock.now());
        let left_out: u64 = self.doubts.sums(now).into_iter().map(|((), left_out)| left_out).sum();
        if left_out > 0 || self.doubts.tells((), now) {
            tracing::warn!(
                event = "link.doubted",
                peer = %name,
                left_out,
                "a second connection in the name of {name} was dropped, as the first one answers"
            );
        }
    }

    fn ended(&mut self, ended: &Ended, ctx: &mut Context<Self>) {
        self.task = None;
        self.reason = Some(ended.to_string());
        let name = &self.peer.name;
        if self.stopping {
            self.state = State::Closed;
            self.shared.over.notify_one();
            return;
        }
        if self.shared.bye.get() {
            self.state = State::Closed;
            tracing::info!(event = "link.closed", peer = %name, "{name} stops");
            self.tell_member(LinkState::Left);
            // Its next life is told by the manager, but the manager's own node has nobody to tell of it.
            return self.dial(ctx);
        }
        if let Some(newer) = self.newer.take() {
            return self.connected(newer, ctx);
        }
        match ended {
            Ended::Silent(_) => tracing::warn!(
                event = "link.silent",
                peer = %name,
                "{ended}; the link to {name} is being built anew"
            ),
            Ended::Closed | Ended::Bye | Ended::Broken(_) | Ended::Frame(_) | Ended::Transfer(_) => tracing::warn!(
                event = "link.lost",
                peer = %name,
                "the link to {name} is lost, it is being built anew: {ended}"
            ),
        }
        self.state = State::Connecting;
        self.tell_member(LinkState::Down);
        let grace = ctx.run_later(GRACE, |link, _| link.tell_member(LinkState::Lost));
        self.grace = Some(grace);
        self.dial(ctx);
    }

    fn tell_member(&self, state: LinkState) {
        self.around.member.tell(crate::member::LinkNews { session: self.peer.session, state });
    }
}

/// Dials until there is a connection, or dialling cannot help.
async fn keep_dialling(peer: &Peer, around: &Surroundings) -> Result<Connection, DialError> {
    let mut waits = ExponentialBuilder::default()
        .with_min_delay(DIAL_FIRST)
        .with_max_delay(DIAL_MAX)
        .with_jitter()
        .without_max_times()
        .build();
    let to = peer.session;
    loop {
        let dialled = dial::link(&*around.transport, &peer.address, &around.caller, around.post.me(), to).await;
        match dialled {
            // The peer has started again, and the manager, which may be on it, has not told us yet.
            Err(DialError::Refused { refusal: Refusal::NotMe { here, .. }, .. })
                if here.node == to.node && here.incarnation > to.incarnation =>
            {
                return dialled;
            }
            Err(error) if error.may_pass() => {
                if error.is_to_a_stranger(to) {
                    around.member.tell(crate::member::LinkNews { session: to, state: LinkState::Stranger });
                }
                tracing::debug!(event = "link.dial", peer = %peer.name, "not linked yet: {error}");
            }
            done => return done,
        }
        // Whoever does not listen yet cannot tell when it does.
        tokio::time::sleep(waits.next().unwrap_or(DIAL_MAX)).await;
    }
}

impl Actor for LinkActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.dial(ctx);
    }
}

impl Handler<Dialled> for LinkActor {
    type Result = ();

    fn handle(&mut self, Dialled(connection): Dialled, ctx: &mut Context<Self>) {
        match self.state {
            _ if self.stopping => {}
            State::Up => self.doubt(connection, ctx),
            State::Connecting | State::Closed => self.connected(connection, ctx),
        }
    }
}

impl Handler<Close> for LinkActor {
    type Result = actix::ResponseActFuture<Self, ()>;

    fn handle(&mut self, close: Close, ctx: &mut Context<Self>) -> Self::Result {
        self.stopping = true;
        let shared = self.shared.clone();
        let up = self.state == State::Up && close == Close::Goodbye;
        if !up && let Some(task) = self.task.take() {
            ctx.cancel_future(task);
        }
        let goodbye = async move {
            if up {
                shared.queue.put_in(Lanes::bye);
                // The peer closes when it has read the goodbye; one that takes nothing any more is not waited for.
                let _ = tokio::time::timeout(GOODBYE, shared.over.notified()).await;
            }
        };
        Box::pin(goodbye.into_actor(self).map(|(), link, ctx| {
            link.state = State::Closed;
            ctx.stop();
        }))
    }
}

impl Handler<Probe> for LinkActor {
    type Result = ();

    fn handle(&mut self, Probe: Probe, _: &mut Context<Self>) {
        self.shared.asked.set(true);
        self.shared.queue.put_in(Lanes::ping);
    }
}

impl Handler<Report> for LinkActor {
    type Result = ();

    fn handle(&mut self, Report { reply }: Report, _: &mut Context<Self>) {
        let state = match self.state {
            State::Connecting => "connecting",
            State::Up => "up",
            State::Closed => "closed",
        };
        let _ = reply.send(LinkReport {
            peer: self.peer.name.clone(),
            state: state.to_owned(),
            reason: self.reason.clone(),
            bytes_out: self.shared.bytes_out.get(),
            bytes_in: self.shared.bytes_in.get(),
            waiting: self.shared.queue.len() as u64,
        });
    }
}

impl std::fmt::Debug for Dialled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dialled")
    }
}

/// First and longest wait between dials, up to twice as long by jitter: a manager that restarts waits a
/// second for its members.
const DIAL_FIRST: Duration = Duration::from_millis(20);
const DIAL_MAX: Duration = Duration::from_millis(250);
/// Between dials of a peer that refuses for good.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How long a loss is forgiven before moves to the peer are given up.
const GRACE: Duration = Duration::from_secs(1);
/// How long a link that is up has to answer before a newer connection takes its place: a round trip and a busy turn
/// of the peer many times over, and below the loss that is forgiven.
const TRIAL: Duration = Duration::from_millis(500);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_millis(500);
