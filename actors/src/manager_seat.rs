//! The manager's seat: keeps a manager running on its node, and is how others reach it.
//!
//! A manager that stops by itself, as its disk failed, is replaced by one that continues from
//! the store; requests that were lost are repeated by the nodes. Entities notice nothing: the manager is
//! not on their way.

mod news;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::dev::ToEnvelope;
use actix::{Addr, Handler, Message};
use arc_swap::ArcSwapOption;
use slipgate_cluster::manager::{ManagerEvent, ManagerReply, Waits};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::{Envelope, NodeId, Place, Port, Session};
use tokio::sync::oneshot;

use crate::chronicle::{Chronicle, Happening, take_down};
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
    node: ArcSwapOption<Joined>,
    store: PathBuf,
    waits: Waits,
    clock: NodeClock,
    restraint: Mutex<Restraint<(&'static str, NodeId)>>,
}

/// The seat's node, once it has joined.
#[derive(Debug)]
struct Joined {
    post: Post,
    member: Mailbox<MemberActor>,
    /// What watchers read.
    chronicle: Mailbox<Chronicle>,
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
    pub fn joined(&self, post: Post, member: Mailbox<MemberActor>, chronicle: Mailbox<Chronicle>) {
        post.open(Port::Manager, Arc::new(self.clone()));
        self.inner.node.store(Some(Arc::new(Joined { post, member, chronicle })));
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
            self.tell_of_links(&node.member).await;
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
        let post = &node.post;
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
        let post = &node.post;
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
            node.member.tell(ProbePeer(session));
        }
    }

    fn event(&self, event: ManagerEvent) {
        self.sum_up();
        let now = self.inner.clock.now();
        let mut restraint = self.inner.restraint.lock().unwrap_or_else(PoisonError::into_inner);
        if news::repeated(&event).is_some_and(|cause| !restraint.tells(cause, now)) {
            return;
        }
        let node = self.inner.node.load_full();
        let name = |id: NodeId| match &node {
            Some(node) => node.post.view().node_text(id),
            None => format!("node{}", id.0),
        };
        news::log(&event, name);
        if let (Some(node), Some((event, fields))) = (&node, news::for_watchers(&event, name)) {
            take_down(&node.chronicle, Happening::now(event, &fields, self.inner.clock));
        }
    }
}

/// How often the keeper looks whether the manager still runs.
const LOOK: Duration = Duration::from_millis(200);
/// How long it waits before it tries to open the store again.
const RETRY: Duration = Duration::from_secs(1);
