//! The node's membership on its arbiter: the lease, the view, and a link to every other member.

mod catching_up;
mod standing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, ResponseFuture};
use serde_json::json;
use slipgate_cluster::member::{Input, Member, Output, Welcome};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::{NodeId, Port, Session, View};
use slipgate_entity::RangeId;
use tokio::sync::{oneshot, watch};

pub use self::catching_up::CatchUp;
use self::catching_up::Waiting;
pub use self::standing::{AskStanding, Standing};

use crate::chronicle::{Chronicle, Happening, take_down};
use crate::clock::NodeClock;
use crate::directory::{DirectoryActor, ViewChanged};
use crate::link::dial::Caller;
use crate::link::queue::Queue;
use crate::link::{self, Close, Dialled, LinkActor, Peer, Probe};
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::manager::{Left, Link, ProbeAnswered};
use crate::manager_seat::Seat;
use crate::post::Post;
use crate::scene::PeerLost;
use crate::scenes::Scenes;
use crate::scenes::keeper::{SceneKeeper, Seen};
use crate::transport::{Connection, Transport};

/// A member of the cluster has dialled this node.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Incoming {
    /// The life that dials.
    pub session: Session,
    /// The connection.
    pub connection: Connection,
}

/// Something happened to a link.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct LinkNews {
    /// The peer.
    pub session: Session,
    /// What happened.
    pub state: LinkState,
}

/// What can happen to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It is up.
    Up,
    /// It is lost; it is being built anew.
    Down,
    /// It has been lost for so long that nobody should wait for it.
    Lost,
    /// The peer stops.
    Left,
    /// The peer answered a probe.
    Answered,
    /// The peer has begun this new life.
    Reborn,
    /// The peer has been told that this node's own life is over.
    Condemned,
    /// The peer has not been told of this node, or is in a life before the one that was told here.
    Stranger,
}

/// Asks a peer whether it lives, on the manager's behalf.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct ProbePeer(pub Session);

/// Asks which peers have a link that is up.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Links {
    /// Takes the answer.
    pub reply: oneshot::Sender<Vec<Session>>,
}

/// Whether this node is about to stop: the manager is told, and with the view everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub enum Intent {
    /// It is: nobody should be sent here.
    Drain,
    /// It goes on after all.
    Resume,
}

/// This node stops: every peer is told, and every link closed.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Goodbye;

/// What the membership needs of its node.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where envelopes go.
    pub post: Post,
    /// The node's clock.
    pub clock: NodeClock,
    /// The network.
    pub transport: Arc<dyn Transport>,
    /// Who this node is.
    pub caller: Caller,
    /// Name of the node that runs the manager.
    pub manager: String,
    /// The manager's seat, if it is here.
    pub seat: Option<Seat>,
    /// Takes down who joins, and which links come and go.
    pub chronicle: Mailbox<Chronicle>,
    /// The node's directory: it hears of new views at once.
    pub directory: Mailbox<DirectoryActor>,
    /// The node's scenes: they hear of peers that are lost.
    pub scenes: Scenes,
    /// Opens and ends scenes: it hears of new views, too.
    pub keeper: Mailbox<SceneKeeper>,
    /// How long a peer may say nothing at all before its link is built anew.
    pub silence: Duration,
    /// The highest range of ids that this node ever heard of.
    pub seen: watch::Sender<Option<RangeId>>,
    /// Told when this session is over: there was a verdict on it, or there is a later life of this node.
    pub over: watch::Sender<bool>,
}

/// The membership's actor.
#[derive(Debug)]
pub struct MemberActor {
    machine: Member,
    around: Surroundings,
    mailbox: Option<Mailbox<MemberActor>>,
    links: BTreeMap<NodeId, Linked>,
    stopping: bool,
    /// Whether there was a lease when somebody last looked.
    held: bool,
    /// Who waits for the latest view.
    waiting: Waiting,
}

#[derive(Clone, Debug)]
struct Linked {
    session: Session,
    link: Mailbox<LinkActor>,
    queue: Arc<Queue>,
    up: bool,
}

impl MemberActor {
    /// The membership of a session that has just been welcomed.
    #[must_use]
    pub fn new(welcome: Welcome, around: Surroundings) -> Self {
        Self {
            machine: Member::new(welcome),
            around,
            mailbox: None,
            links: BTreeMap::new(),
            stopping: false,
            held: true,
            waiting: Waiting::default(),
        }
    }

    fn give(&mut self, input: Input) {
        let mut out = Vec::new();
        self.machine.handle(input, self.around.clock.now(), &mut out);
        self.around.post.lease().prolong(self.machine.lease_until());
        for output in out {
            match output {
                Output::Ask(request) => {
                    if let Some(manager) = self.around.post.manager(&self.around.manager) {
                        let message = Said::Manager(ManagerMessage::Request(request));
                        self.around.post.send_one(Port::Member, manager, message);
                    }
                }
                Output::View(view) => self.take_view(&view),
                Output::Superseded => self.end_session(),
            }
        }
    }

    /// There was a verdict on this session, or there is a later life of this node: nothing more of it counts.
    fn end_session(&self) {
        self.around.post.lease().end();
        self.around.over.send_replace(true);
    }

    fn take_view(&mut self, view: &Arc<View>) {
        self.around.post.set_view(view.clone());
        self.note_ranges(view);
        self.around.directory.tell(ViewChanged);
        self.around.keeper.tell(Seen(view.clone()));
        self.part_from_the_dead(view);
        self.link_all(view);
    }

    fn note_ranges(&self, view: &View) {
        let highest = view.highest_range();
        self.around.seen.send_if_modified(|seen| {
            let more = highest > *seen;
            *seen = highest.max(*seen);
            more
        });
    }

    /// A peer does not know this life. The manager's node knew it before this node did itself; if it does not, and
    /// there is no lease any more, there is another manager, or an older store: nobody will ever renew this life.
    fn met_stranger(&self, peer: Session) {
        let manager = self.around.post.manager(&self.around.manager);
        if manager.is_some_and(|place| place.session.node == peer.node) && !self.around.post.lease().is_held() {
            self.end_session();
        }
    }

    /// Nothing more is taken from, or sent to, a session that is over.
    fn part_from_the_dead(&mut self, view: &View) {
        let dead: Vec<_> = self.links.extract_if(.., |_, linked| view.is_dead(linked.session)).collect();
        for (_, Linked { session, link, .. }) in dead {
            link.tell(Close::Superseded);
            self.around.post.unlink(session);
            self.lost(session);
        }
    }

    /// Tells once when the lease ends, and once when it is regained.
    fn watch_lease(&mut self) {
        let held = self.around.post.lease().is_held();
        if held == self.held {
            return;
        }
        self.held = held;
        if held {
            tracing::info!(event = "lease.regained", "the manager answers again; this node goes on where it paused");
            self.chronicle("lease.regained", self.around.post.me());
        } else {
            tracing::warn!(
                event = "lease.ended",
                "the manager has not answered for a whole lease; this node pauses until it does: no turns, no output"
            );
            self.chronicle("lease.ended", self.around.post.me());
        }
    }

    fn link_all(&mut self, view: &View) {
        let me = self.around.post.me();
        let others = view.members.values().filter(|member| member.session.node != me.node);
        for member in others.filter(|member| !view.is_dead(member.session)) {
            let node = member.session.node;
            let known = self.links.get(&node).map(|linked| linked.session);
            if known.is_some_and(|known| known.incarnation >= member.session.incarnation) || self.stopping {
                continue;
            }
            if let Some(old) = self.links.remove(&node) {
                old.link.tell(Close::Superseded);
                self.lost(old.session);
            }
            let peer = Peer { session: member.session, name: member.name.to_string(), address: member.address.clone() };
            let around = link::Surroundings {
                post: self.around.post.clone(),
                transport: self.around.transport.clone(),
                caller: self.around.caller.clone(),
                member: self.mailbox.clone().expect("the mailbox is made when the actor starts"),
                silence: self.around.silence,
            };
            let link = LinkActor::new(peer, around);
            let queue = link.queue();
            let link = Mailbox::new(link.start(), LINK_MAILBOX);
            self.around.post.link(member.session, queue.clone());
            self.links.insert(node, Linked { session: member.session, link, queue, up: false });
            self.chronicle("node.joined", member.session);
        }
    }

    /// Tells watchers about a peer, or this node, in the words of the log.
    fn chronicle(&self, event: &str, session: Session) {
        let fields = json!({
            "peer": self.around.post.view().node_text(session.node),
            "incarnation": session.incarnation.0,
        });
        take_down(&self.around.chronicle, Happening::now(event, &fields, self.around.clock));
    }

    fn lost(&self, session: Session) {
        for scene in self.around.scenes.all() {
            scene.tell(PeerLost(session));
        }
    }

    fn tell_manager<M>(&self, message: M)
    where
        M: Message + Send + 'static,
        M::Result: Send,
        crate::manager::ManagerActor: Handler<M>,
        Context<crate::manager::ManagerActor>: actix::dev::ToEnvelope<crate::manager::ManagerActor, M>,
    {
        if let Some(seat) = &self.around.seat {
            seat.tell(message);
        }
    }
}

impl Actor for MemberActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.mailbox = Some(Mailbox::new(ctx.address(), MAILBOX));
        let view = self.machine.view().clone();
        self.chronicle("node.joined", self.around.post.me());
        self.note_ranges(&view);
        self.link_all(&view);
        ctx.run_interval(TICK, |actor, _| {
            actor.give(Input::Tick);
            actor.watch_lease();
        });
    }
}

impl Handler<Mail> for MemberActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        for envelope in mail.envelopes {
            if let Said::Manager(ManagerMessage::Reply(reply)) = envelope.message
                && self.around.post.is_of_node(envelope.from, &self.around.manager)
            {
                self.waiting.hear(&reply, self.around.post.me());
                self.give(Input::Reply(reply));
            }
        }
    }
}

impl Handler<Incoming> for MemberActor {
    type Result = ();

    fn handle(&mut self, Incoming { session, connection }: Incoming, _: &mut Context<Self>) {
        // Without a link the view has moved on since the handshake; the peer dials again.
        if let Some(linked) = self.links.get(&session.node).filter(|linked| linked.session == session) {
            linked.link.tell(Dialled(connection));
        }
    }
}

impl Handler<LinkNews> for MemberActor {
    type Result = ();

    fn handle(&mut self, LinkNews { session, state }: LinkNews, _: &mut Context<Self>) {
        let Some(linked) = self.links.get_mut(&session.node) else { return };
        if state == LinkState::Reborn && session.incarnation > linked.session.incarnation {
            let old = std::mem::replace(&mut linked.session, session);
            self.around.post.link(session, linked.queue.clone());
            self.chronicle("node.joined", session);
            return self.lost(old);
        }
        if linked.session != session {
            return;
        }
        match state {
            LinkState::Up => {
                self.around.post.find_again(session);
                linked.up = true;
                self.chronicle("link.up", session);
                self.tell_manager(Link { session, up: true });
            }
            LinkState::Down => {
                linked.up = false;
                self.chronicle("link.lost", session);
                self.tell_manager(Link { session, up: false });
            }
            LinkState::Lost => {
                self.around.post.lose(session);
                self.lost(session);
            }
            LinkState::Left => {
                self.around.post.lose(session);
                linked.up = false;
                self.chronicle("link.closed", session);
                self.tell_manager(Left { session });
                self.lost(session);
            }
            LinkState::Answered => self.tell_manager(ProbeAnswered { session }),
            LinkState::Reborn => {}
            LinkState::Condemned => self.end_session(),
            LinkState::Stranger => self.met_stranger(session),
        }
    }
}

impl Handler<ProbePeer> for MemberActor {
    type Result = ();

    fn handle(&mut self, ProbePeer(session): ProbePeer, _: &mut Context<Self>) {
        if let Some(linked) = self.links.get(&session.node).filter(|linked| linked.session == session) {
            linked.link.tell(Probe);
        }
    }
}

impl Handler<Halt> for MemberActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        for linked in self.links.values() {
            linked.link.tell(Close::Superseded);
        }
        ctx.stop();
    }
}

impl Handler<Links> for MemberActor {
    type Result = ();

    fn handle(&mut self, Links { reply }: Links, _: &mut Context<Self>) {
        let up = self.links.values().filter(|linked| linked.up).map(|linked| linked.session);
        drop(reply.send(up.collect()));
    }
}

impl Handler<Intent> for MemberActor {
    type Result = ();

    fn handle(&mut self, intent: Intent, _: &mut Context<Self>) {
        self.give(match intent {
            Intent::Drain => Input::Drain,
            Intent::Resume => Input::Resume,
        });
    }
}

impl Handler<Goodbye> for MemberActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Goodbye: Goodbye, _: &mut Context<Self>) -> ResponseFuture<()> {
        self.stopping = true;
        let links: Vec<_> = self.links.values().map(|linked| linked.link.addr().clone()).collect();
        Box::pin(async move {
            // A link that is gone already has nobody to say goodbye to.
            let goodbyes = links.iter().map(|link| link.send(Close::Goodbye));
            let _ = futures_util::future::join_all(goodbyes).await;
        })
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Views and renewals that may wait.
const MAILBOX: usize = 1024;
/// What may wait for a link's actor: it is told of connections, and asked how it is.
const LINK_MAILBOX: usize = 1024;
/// How often the lease is looked at.
const TICK: Duration = Duration::from_millis(100);
