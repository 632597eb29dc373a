//! Where envelopes go: into a door of this node, or onto the link to another.
//!
//! Every actor holds the post and writes one batch a turn; the post sorts it by destination, so that a
//! turn costs one wake-up per destination and not one per message.
//!
//! Keeps: envelopes of one batch to one destination stay in order; an envelope for a session that is
//! not the one at the other end of a link is dropped, for its sender repeats what matters; without a lease
//! nothing leaves.
//! Leaves out: decisions. Who lives where is in the view, who owns what at the homes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use slipgate_cluster::globals::Names;
use slipgate_cluster::message::Message;
use slipgate_cluster::scene::answer_for_a_missing_scene;
use slipgate_cluster::{Envelope, NodeId, Place, Port, Session, View};
use slipgate_entity::OnlineId;
use tokio::sync::watch;

use crate::budget::NodeBudget;
use crate::lease::Lease;
use crate::mailbox::Door;

/// A handle on the node's post; cheap to clone.
#[derive(Clone, Debug)]
pub struct Post {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    me: Session,
    lease: Lease,
    budget: NodeBudget,
    view: ArcSwap<View>,
    /// Its version, for those who wait for news.
    version: watch::Sender<u64>,
    doors: ArcSwap<BTreeMap<Port, Arc<dyn Door>>>,
    links: ArcSwap<BTreeMap<NodeId, LinkDoor>>,
    /// Global entities by name.
    globals: ArcSwap<Names>,
    /// Sessions whose links are lost for so long, or on purpose, that nobody should wait for them.
    lost: ArcSwap<BTreeSet<Session>>,
}

#[derive(Clone, Debug)]
struct LinkDoor {
    session: Session,
    door: Arc<dyn Door>,
}

impl Post {
    /// The post of session `me`, without doors or links.
    #[must_use]
    pub fn new(me: Session, view: Arc<View>, lease: Lease) -> Self {
        Self::within(NodeBudget::default(), me, view, lease)
    }

    /// The same, on a node that lets no more wait than `budget`.
    #[must_use]
    pub fn within(budget: NodeBudget, me: Session, view: Arc<View>, lease: Lease) -> Self {
        let inner = Inner {
            me,
            lease,
            version: watch::Sender::new(view.version),
            budget,
            view: ArcSwap::new(view),
            doors: ArcSwap::default(),
            links: ArcSwap::default(),
            globals: ArcSwap::default(),
            lost: ArcSwap::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The session that this node is.
    #[must_use]
    pub fn me(&self) -> Session {
        self.inner.me
    }

    /// What allows this session to act.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.inner.lease
    }

    /// What may wait on this node.
    #[must_use]
    pub fn budget(&self) -> &NodeBudget {
        &self.inner.budget
    }

    /// A port of this node.
    #[must_use]
    pub fn here(&self, port: Port) -> Place {
        Place { session: self.inner.me, port }
    }

    /// The cluster, as far as this node has been told.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.inner.view.load_full()
    }

    /// Its version.
    #[must_use]
    pub fn view_version(&self) -> u64 {
        self.inner.view.load().version
    }

    /// Takes a newer view.
    pub fn set_view(&self, view: Arc<View>) {
        let version = view.version;
        self.inner.view.store(view);
        self.inner.version.send_replace(version);
    }

    /// Waits until the view says what is looked for; for ever, if it never does.
    pub async fn await_view<T>(&self, mut find: impl FnMut(&View) -> Option<T>) -> T {
        let mut version = self.inner.version.subscribe();
        loop {
            if let Some(found) = find(&self.view()) {
                return found;
            }
            version.changed().await.expect("the post that tells of views is kept by whoever waits");
        }
    }

    /// Global entities by name, as far as this node has been told.
    #[must_use]
    pub fn globals(&self) -> Arc<Names> {
        self.inner.globals.load_full()
    }

    /// Takes what is known of global entities from here on.
    pub fn set_globals(&self, names: Arc<Names>) {
        self.inner.globals.store(names);
    }

    /// The home of an entity, if this node has been told of it.
    #[must_use]
    pub fn home_of(&self, entity: OnlineId) -> Option<Place> {
        self.inner.view.load().home_of(entity.range())
    }

    /// The manager, if this node has been told where it is.
    #[must_use]
    pub fn manager(&self, name: &str) -> Option<Place> {
        let view = self.inner.view.load();
        Some(Place { session: view.member_named(name)?.session, port: Port::Manager })
    }

    /// Whether a place is on the node with this name, in whichever of its lives, for a view may be older than
    /// the life that speaks; or in this process, which speaks for itself.
    #[must_use]
    pub fn is_of_node(&self, place: Place, name: &str) -> bool {
        place.session == self.inner.me
            || self.inner.view.load().member_named(name).is_some_and(|member| member.session.node == place.session.node)
    }

    /// Opens a port of this node.
    pub fn open(&self, port: Port, door: Arc<dyn Door>) {
        self.inner.doors.rcu(|doors| {
            let mut doors = BTreeMap::clone(doors);
            doors.insert(port, door.clone());
            doors
        });
    }

    /// Closes a port of this node.
    pub fn close(&self, port: Port) {
        self.inner.doors.rcu(|doors| {
            let mut doors = BTreeMap::clone(doors);
            doors.remove(&port);
            doors
        });
    }

    /// Opens the way to a session of another node; an earlier session of that node has none any more.
    pub fn link(&self, session: Session, door: Arc<dyn Door>) {
        self.inner.links.rcu(|links| {
            let mut links = BTreeMap::clone(links);
            links.insert(session.node, LinkDoor { session, door: door.clone() });
            links
        });
    }

    /// The link to a session is lost for good, as far as anybody who waits is concerned.
    pub fn lose(&self, session: Session) {
        self.change_lost(|lost| lost.insert(session));
    }

    /// The link to a session is up again.
    pub fn find_again(&self, session: Session) {
        self.change_lost(|lost| lost.remove(&session));
    }

    /// Whether nobody should wait for a session: its link is lost, or it is over.
    #[must_use]
    pub fn is_gone(&self, session: Session) -> bool {
        self.inner.lost.load().contains(&session) || self.inner.view.load().is_dead(session)
    }

    /// The sessions whose links are lost.
    #[must_use]
    pub fn lost(&self) -> Arc<BTreeSet<Session>> {
        self.inner.lost.load_full()
    }

    fn change_lost(&self, change: impl Fn(&mut BTreeSet<Session>) -> bool) {
        self.inner.lost.rcu(|lost| {
            let mut lost = BTreeSet::clone(lost);
            change(&mut lost);
            lost
        });
    }

    /// Closes the way to a session that is over.
    pub fn unlink(&self, session: Session) {
        self.find_again(session);
        self.inner.links.rcu(|links| {
            let mut links = BTreeMap::clone(links);
            if links.get(&session.node).is_some_and(|link| link.session == session) {
                links.remove(&session.node);
            }
            links
        });
    }

    /// Writes a batch; without a lease nothing leaves but what asks the manager for one.
    pub fn send(&self, mut batch: Vec<Envelope>) {
        if !self.inner.lease.is_held() {
            let before = batch.len();
            batch.retain(|envelope| envelope.from.port == Port::Member || envelope.from.port == Port::Manager);
            count_dropped("lease", before - batch.len());
        }
        let Some(to) = batch.first().map(|envelope| envelope.to) else { return };
        // Most batches have one destination, and go there as they are.
        if batch.iter().all(|envelope| envelope.to == to) {
            return if to.session == self.inner.me { self.put(to.port, batch) } else { self.put_on(to.session, batch) };
        }
        let mut here: Vec<(Port, Vec<Envelope>)> = Vec::new();
        let mut away: Vec<(Session, Vec<Envelope>)> = Vec::new();
        for envelope in batch {
            if envelope.to.session == self.inner.me {
                push(&mut here, envelope.to.port, envelope);
            } else {
                push(&mut away, envelope.to.session, envelope);
            }
        }
        for (port, envelopes) in here {
            self.put(port, envelopes);
        }
        for (session, envelopes) in away {
            self.put_on(session, envelopes);
        }
    }

    /// Writes one envelope.
    pub fn send_one(&self, from: Port, to: Place, message: Message) {
        self.send(vec![Envelope { from: self.here(from), to, message }]);
    }

    fn put_on(&self, session: Session, envelopes: Vec<Envelope>) {
        let count = envelopes.len();
        let links = self.inner.links.load();
        let refused = match links.get(&session.node).filter(|link| link.session == session) {
            Some(link) => link.door.put(envelopes).len(),
            None => count,
        };
        count_dropped("link", refused);
    }

    fn put(&self, port: Port, envelopes: Vec<Envelope>) {
        let doors = self.inner.doors.load();
        match doors.get(&port) {
            Some(door) => count_dropped("mailbox", door.put(envelopes).len()),
            None => {
                let answers: Vec<_> = envelopes.into_iter().filter_map(answer_for_a_missing_scene).collect();
                // A scene that is missing here never answers itself, so this ends after one round.
                if !answers.is_empty() {
                    self.send(answers);
                }
            }
        }
    }
}

fn push<K: PartialEq>(groups: &mut Vec<(K, Vec<Envelope>)>, key: K, envelope: Envelope) {
    match groups.iter_mut().rev().find(|(known, _)| *known == key) {
        Some((_, group)) => group.push(envelope),
        None => groups.push((key, vec![envelope])),
    }
}

fn count_dropped(at: &'static str, envelopes: usize) {
    if envelopes > 0 {
        metrics::counter!("slipgate_messages_dropped_total", "at" => at).increment(envelopes as u64);
    }
}
