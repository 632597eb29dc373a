//! The manager's seat: keeps a manager running on its node, and is how others reach it.
//!
//! A manager that stops by itself (its disk failed, a handler panicked) is replaced by one that continues from
//! the store; requests that were lost are repeated by the nodes. Entities notice nothing: the manager is
//! not on their way.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::dev::ToEnvelope;
use actix::{Addr, Handler, Message};
use arc_swap::ArcSwapOption;
use slipgate_cluster::manager::{ManagerEvent, ManagerReply, SceneEnd, Waits};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::view::ScenePlacement;
use slipgate_cluster::{Envelope, NodeId, Place, Port, Session};
use tokio::sync::oneshot;

use crate::clock::NodeClock;
use crate::mailbox::{Door, Mailbox, tell};
use crate::manager::{FromNode, FromNodes, Link, ManagerActor, ManagerOut, ManagerThread, StoreError};
use crate::member::{Links, MemberActor, ProbePeer};
use crate::post::Post;
use crate::restraint::Restraint;

/// A handle on the seat; cheap to clone.
#[derive(Clone, Debug)]
pub struct Seat {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    manager: ArcSwapOption<Addr<ManagerActor>>,
    node: ArcSwapOption<(Post, Mailbox<MemberActor>)>,
    store: PathBuf,
    waits: Waits,
    clock: NodeClock,
    restraint: Mutex<Restraint<(&'static str, NodeId)>>,
}

/// Keeps the seat taken; dropped, it leaves the manager to itself.
#[derive(Debug)]
pub struct Keeper {
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Seat {
    /// Starts a manager on the store at `store`, and keeps one running.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened or read the first time.
    pub async fn take(store: PathBuf, waits: Waits, clock: NodeClock) -> Result<(Self, Keeper), StoreError> {
        let (manager, node, restraint) = (ArcSwapOption::empty(), ArcSwapOption::empty(), Mutex::default());
        let inner = Inner { manager, node, store, waits, clock, restraint };
        let seat = Self { inner: Arc::new(inner) };
        let first = seat.open().await?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::task::spawn_local(seat.clone().keep(first, stopped));
        Ok((seat, Keeper { stop, task }))
    }

    /// Tells the seat of its node, each time that has joined.
    pub fn joined(&self, post: Post, member: Mailbox<MemberActor>) {
        post.open(Port::Manager, Arc::new(self.clone()));
        self.inner.node.store(Some(Arc::new((post, member))));
    }

    /// Tells the manager something of which only a few can be on their way; lost while there is none.
    pub fn tell<M>(&self, message: M)
    where
        M: Message + Send + 'static,
        M::Result: Send,
        ManagerActor: Handler<M>,
        actix::Context<ManagerActor>: ToEnvelope<ManagerActor, M>,
    {
        if let Some(manager) = &*self.inner.manager.load() {
            tell(manager, message);
        }
    }

    /// Tells how many events were left out of the log; called as often as the manager speaks.
    fn sum_up(&self) {
        let mut restraint = self.inner.restraint.lock().unwrap_or_else(PoisonError::into_inner);
        for ((what, node), left_out) in restraint.sums(self.inner.clock.now()) {
            tracing::warn!(event = what, id = node.0, left_out, "{left_out} more of the same were not told");
        }
    }

    async fn open(&self) -> Result<ManagerThread, StoreError> {
        let (seat, inner) = (self.clone(), self.inner.clone());
        let opening = tokio::task::spawn_blocking(move || {
            let clock = inner.clock;
            ManagerActor::open(&inner.store, inner.waits, Box::new(seat), Box::new(move || clock.now()))
        });
        let actor = opening.await.expect("opening a store does not panic")?;
        let thread = ManagerThread::start(actor);
        self.inner.manager.store(Some(Arc::new(thread.addr().clone())));
        if let Some(node) = self.inner.node.load_full() {
            let (_, member) = &*node;
            self.tell_of_links(member).await;
        }
        Ok(thread)
    }

    /// A new manager knows no links: it hears of every one that is up.
    async fn tell_of_links(&self, member: &Mailbox<MemberActor>) {
        let (reply, links) = oneshot::channel();
        member.tell(Links { reply });
        for session in links.await.unwrap_or_default() {
            self.tell(Link { session, up: true });
        }
    }

    async fn keep(self, mut thread: ManagerThread, mut stopped: oneshot::Receiver<()>) {
        loop {
            let stop = tokio::time::timeout(LOOK, &mut stopped).await.is_ok();
            if stop {
                self.inner.manager.store(None);
                return thread.stop().await;
            }
            if thread.addr().connected() {
                continue;
            }
            tracing::warn!(event = "manager.restart", "the manager has stopped; another one continues from its store");
            self.inner.manager.store(None);
            thread.stop().await;
            thread = loop {
                match self.open().await {
                    Ok(thread) => break thread,
                    Err(error) => tracing::error!(event = "manager.failed", "no manager: {error}"),
                }
                if tokio::time::timeout(RETRY, &mut stopped).await.is_ok() {
                    return;
                }
            };
        }
    }
}

impl Keeper {
    /// Stops the manager and closes its store.
    pub async fn stop(self) {
        // A keeper that has ended has closed the store already.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

impl Door for Seat {
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let guard = self.inner.manager.load();
        let Some(manager) = &*guard else { return envelopes };
        let requests = envelopes.into_iter().filter_map(|envelope| match envelope.message {
            Said::Manager(ManagerMessage::Request(request)) => Some(FromNode { from: envelope.from.session, request }),
            Said::Manager(ManagerMessage::Reply(_))
            | Said::Control(_)
            | Said::Data(_)
            | Said::Prepare(_)
            | Said::Tool(_) => None,
        });
        // One long-lived address: its mailbox does refuse at its bound, and every node repeats.
        if manager.try_send(FromNodes(requests.collect())).is_err() {
            metrics::counter!("slipgate_messages_dropped_total", "at" => "manager").increment(1);
        }
        Vec::new()
    }
}

impl ManagerOut for Seat {
    fn tell(&self, to: Session, reply: ManagerReply) {
        self.sum_up();
        let Some(node) = self.inner.node.load_full() else { return };
        let (post, _) = &*node;
        let port = match reply {
            ManagerReply::Range { .. } => Port::Directory,
            ManagerReply::Scene { .. } => Port::Admin,
            ManagerReply::Renewed { .. } | ManagerReply::NotMember { .. } | ManagerReply::View(_) => Port::Member,
        };
        let message = Said::Manager(ManagerMessage::Reply(reply));
        post.send_one(Port::Manager, Place { session: to, port }, message);
    }

    fn tell_all(&self, reply: ManagerReply) {
        let Some(node) = self.inner.node.load_full() else { return };
        let (post, _) = &*node;
        let mut sessions: Vec<_> = post.view().members.values().map(|member| member.session).collect();
        if let ManagerReply::View(view) = &reply {
            sessions.extend(view.members.values().map(|member| member.session));
        }
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            ManagerOut::tell(self, session, reply.clone());
        }
    }

    fn probe(&self, session: Session) {
        if let Some(node) = self.inner.node.load_full() {
            let (_, member) = &*node;
            member.tell(ProbePeer(session));
        }
    }

    fn event(&self, event: ManagerEvent) {
        self.sum_up();
        let now = self.inner.clock.now();
        let mut restraint = self.inner.restraint.lock().unwrap_or_else(PoisonError::into_inner);
        if repeated(&event).is_some_and(|cause| !restraint.tells(cause, now)) {
            return;
        }
        let name = |id: NodeId| match self.inner.node.load_full() {
            Some(node) => node.0.view().node_text(id),
            None => format!("node{}", id.0),
        };
        log(&event, |session: Session| name(session.node));
        log_scene(&event, name);
    }
}

/// What a node can cause as often as it likes, and which node it is.
fn repeated(event: &ManagerEvent) -> Option<(&'static str, NodeId)> {
    match event {
        ManagerEvent::NotMember { session } => Some(("node.superseded", session.node)),
        ManagerEvent::SpokeForAnother { from, .. } => Some(("node.mistaken", from.node)),
        ManagerEvent::StoreIsOld { session, .. } => Some(("manager.store_is_old", session.node)),
        ManagerEvent::CounterExhausted { session, .. } => Some(("range.exhausted", session.node)),
        // Whoever asks to join is no node yet.
        ManagerEvent::JoinRefused { .. } => Some(("node.refused", NodeId(0))),
        ManagerEvent::Asking { .. } => Some(("node.asking", NodeId(0))),
        ManagerEvent::Joined { .. }
        | ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::SceneOver { .. }
        | ManagerEvent::Left { .. }
        | ManagerEvent::Drains { .. }
        | ManagerEvent::Resumed { .. }
        | ManagerEvent::Granted { .. }
        | ManagerEvent::HomesPassed { .. }
        | ManagerEvent::LeaseEnded { .. }
        | ManagerEvent::Dead { .. } => None,
    }
}

fn log(event: &ManagerEvent, name: impl Fn(Session) -> String) {
    match event {
        ManagerEvent::Joined { session, name, address, .. } => tracing::info!(
            event = "node.joined", peer = %name, address = %address, incarnation = session.incarnation.0,
            "node {name} has joined"
        ),
        ManagerEvent::Asking { name, holder } => tracing::info!(
            event = "node.asking", peer = %name, incarnation = holder.incarnation.0,
            "somebody wants to join as {name}; the manager asks whoever has that name"
        ),
        ManagerEvent::JoinRefused { name, address, refusal } => tracing::warn!(
            event = "node.refused", peer = %name, address = %address, "a node named {name} may not join: {refusal}"
        ),
        ManagerEvent::Drains { session } => tracing::info!(
            event = "node.drains", peer = %name(*session), incarnation = session.incarnation.0,
            "{} is about to stop and takes nobody in", name(*session)
        ),
        ManagerEvent::Resumed { session } => tracing::info!(
            event = "node.resumed", peer = %name(*session), incarnation = session.incarnation.0,
            "{} goes on after all", name(*session)
        ),
        ManagerEvent::Left { session } => tracing::info!(
            event = "node.left", peer = %name(*session), incarnation = session.incarnation.0, "{} has said goodbye", name(*session)
        ),
        ManagerEvent::Granted { session, range, .. } => {
            tracing::info!(event = "range.granted", peer = %name(*session), range = range.0, "a range of ids is granted")
        }
        ManagerEvent::HomesPassed { from, to, ranges } => tracing::info!(
            event = "homes.passed", peer = %name(*to), former = %name(*from), incarnation = from.incarnation.0, ranges,
            "{} is the home of {ranges} ranges of life {} of {} from now on",
            name(*to), from.incarnation.0, name(*from)
        ),
        ManagerEvent::CounterExhausted { session, .. } => tracing::error!(
            event = "range.exhausted", peer = %name(*session),
            "no range of ids is left, the cluster has as many as its view has room for, or this node has had as many as a life \
             may; it asked in vain and will not be able to spawn"
        ),
        ManagerEvent::NotMember { session } => tracing::warn!(
            event = "node.superseded", peer = %name(*session),
            incarnation = session.incarnation.0,
            "an old life of a node asked for something, and was told to stop"
        ),
        ManagerEvent::SpokeForAnother { from, session } => tracing::warn!(
            event = "node.mistaken", peer = %name(*from), other = %name(*session),
            "a node asked on behalf of another one; the request was dropped"
        ),
        ManagerEvent::Dead { session } => tracing::info!(
            event = "node.dead",
            peer = %name(*session),
            incarnation = session.incarnation.0,
            "life {} of {} is over for good; whatever it still held is lost",
            session.incarnation.0,
            name(*session)
        ),
        ManagerEvent::LeaseEnded { session } => tracing::warn!(
            event = "lease.late",
            peer = %name(*session),
            incarnation = session.incarnation.0,
            "{} has not renewed its lease; unless it does so within the margin it is declared dead",
            name(*session)
        ),
        ManagerEvent::StoreIsOld { session, theirs, ours } => tracing::error!(
            event = "manager.store_is_old", peer = %name(*session),
            theirs,
            ours,
            "a node has a newer view than the manager's store: stop this node and bring its latest store back"
        ),
        ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::SceneOver { .. } => {}
    }
}

/// That a scene is open its node tells.
fn log_scene(event: &ManagerEvent, name: impl Fn(NodeId) -> String) {
    let tell = |event, ScenePlacement { id, name: scene, node, .. }: &ScenePlacement, text: &str| {
        tracing::info!(event, scene = %scene, number = %id, peer = %name(*node), "scene {scene} on {} {text}", name(*node));
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else is told by `log`")]
    match event {
        ManagerEvent::SceneOpening { scene } => tell("scene.opening", scene, "is to be opened"),
        ManagerEvent::SceneClosing { scene } => tell("scene.closing", scene, "takes nobody in any more, and ends"),
        ManagerEvent::SceneOver { scene, why } => {
            let text = match why {
                SceneEnd::Closed => "is over: it was closed, and nobody is left in it",
                SceneEnd::NotOpened => "could not be opened; its log says why",
                SceneEnd::NodeGone => "is over with that life of its node",
            };
            tell("scene.over", scene, text);
        }
        _ => {}
    }
}

/// How often the keeper looks whether the manager still runs.
const LOOK: Duration = Duration::from_millis(200);
/// How long it waits before it tries to open the store again.
const RETRY: Duration = Duration::from_secs(1);
