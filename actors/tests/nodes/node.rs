//! A node's actors, wired as a node wires them, without sockets and without a manager.
//!
//! ```text
//!   Node::start   post, directory with a range, router, chronicle, scenes
//!   Node::join    keeper and member: for nodes whose scenes come and go, and that have links
//! ```
//!
//! Leaves out: the desk ([`alone`](crate::alone)) and the gate ([`two_nodes`](crate::two_nodes)).

use std::sync::Arc;
use std::time::Duration;

use actix::Actor;
use actix_rt::ArbiterHandle;
use slipgate_actors::budget::NodeBudget;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::lease::Lease;
use slipgate_actors::link::dial::Caller;
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::member::{self, MemberActor};
use slipgate_actors::post::Post;
use slipgate_actors::router::{RouterActor, SendBatch, Waiting};
use slipgate_actors::scene::{AskScene, MoveOrder, Question, SceneActor, SpawnOrder};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::SceneKeeper;
use slipgate_actors::scenes::workshop::{Materials, Plan, Thread, Workshop};
use slipgate_actors::transport::Transport;
use slipgate_actors::voices::Voices;
use slipgate_cluster::budget::Budget;
use slipgate_cluster::manager::{Counter, ManagerReply};
use slipgate_cluster::member::Welcome;
use slipgate_cluster::message::{ManagerMessage, Message, Payload};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::scene::OnPanic;
use slipgate_cluster::view::{Home, Member, ScenePlacement, View};
use slipgate_cluster::{Limits, NodeName, Now, Own, Place, Port, Session};
use slipgate_entity::game::{self, Types, payload};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_proto::admin::SendReport;
use slipgate_walker::Walker;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

/// How long anything may take that only this process does.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Types with the walker alone.
pub(crate) fn walkers() -> Types {
    Types::builder().entity::<Walker>().build().expect("a walker is a type")
}

/// What a node is made with.
pub(crate) struct Make {
    pub(crate) view: View,
    pub(crate) lease: Now,
    pub(crate) budget: Budget,
    pub(crate) limits: Limits,
    pub(crate) types: Types,
    /// What of what entities say goes into the log.
    pub(crate) voices: Voices,
    /// Open from the start.
    pub(crate) scenes: Vec<SceneId>,
    /// Where scenes are, each on the one with the fewest; none is the test's own thread.
    pub(crate) threads: Vec<Option<ArbiterHandle>>,
    /// Who is asked for ranges and leases; nobody, if the view does not know such a node.
    pub(crate) manager: &'static str,
}

impl Default for Make {
    fn default() -> Self {
        Self {
            view: view(1, &[]),
            lease: Now(u64::MAX),
            budget: Budget::default(),
            limits: Limits::default(),
            types: walkers(),
            voices: Voices::default(),
            scenes: Vec::new(),
            threads: vec![None],
            manager: "m",
        }
    }
}

/// The actors that every node has.
pub(crate) struct Node {
    pub(crate) post: Post,
    pub(crate) clock: NodeClock,
    pub(crate) scenes: Scenes,
    pub(crate) directory: Mailbox<DirectoryActor>,
    pub(crate) router: Mailbox<RouterActor>,
    pub(crate) chronicle: Mailbox<Chronicle>,
    manager: &'static str,
}

impl Node {
    /// The node that `me` is a life of. Who makes its scenes is returned for those whose scenes come and go.
    pub(crate) fn start(me: Session, make: Make) -> (Self, Workshop) {
        let Make { view, lease, budget, limits, types, voices, scenes: open, threads, manager } = make;
        let clock = NodeClock::start();
        let post = Post::within(NodeBudget::new(budget), me, Arc::new(view), Lease::new(lease, clock));
        let chronicle = Mailbox::new(Chronicle::new(name(me.node.0).to_string()).start(), MAILBOX);
        let directory = DirectoryActor::new(post.clone(), clock, manager.to_owned(), chronicle.clone()).start();
        let directory = Mailbox::new(directory, MAILBOX);
        post.open(Port::Directory, Arc::new(directory.clone()));
        let reply = ManagerReply::Range { session: me, request: 1, counter: Counter::Online, range: range_of(me) };
        let to = Place { session: me, port: Port::Directory };
        post.send_one(Port::Manager, to, Message::Manager(ManagerMessage::Reply(reply)));
        let router = RouterActor::new(0, limits.clone(), post.clone(), clock).start();
        let router = Mailbox::new(router, MAILBOX);
        post.open(Port::Router(0), Arc::new(router.clone()));
        let on = |arbiter| Thread { arbiter, router: router.clone() };
        let materials = Materials {
            post: post.clone(),
            clock,
            types,
            voices,
            limits,
            on_panic: OnPanic::Park,
            directory: directory.clone(),
            chronicle: chronicle.clone(),
            threads: threads.into_iter().map(on).collect(),
        };
        let scenes = Scenes::default();
        let mut workshop = Workshop::new(materials, scenes.clone());
        for scene in open {
            workshop.open(Plan { scene, capacity: 1_000, first_generation: 1, keeper: None });
        }
        (Self { post, clock, scenes, directory, router, chronicle, manager }, workshop)
    }

    /// Who opens and ends scenes, and who links to the others of the view.
    pub(crate) fn join(
        &self,
        workshop: Workshop,
        transport: Arc<dyn Transport>,
    ) -> (Mailbox<SceneKeeper>, Mailbox<MemberActor>) {
        let Self { post, clock, scenes, directory, chronicle, manager, .. } = self;
        let me = post.me();
        let keeper = SceneKeeper::new(workshop, post.clone(), *clock, (*manager).to_owned()).start();
        let keeper = Mailbox::new(keeper, MAILBOX);
        let around = member::Surroundings {
            post: post.clone(),
            clock: *clock,
            transport,
            caller: Caller { cluster: CLUSTER.to_owned(), name: name(me.node.0) },
            manager: (*manager).to_owned(),
            seat: None,
            chronicle: chronicle.clone(),
            directory: directory.clone(),
            scenes: scenes.clone(),
            keeper: keeper.clone(),
            silence: Duration::from_secs(5),
            seen: watch::Sender::new(None),
            over: watch::Sender::new(false),
        };
        let lease = Duration::from_secs(3_600);
        let welcome = Welcome { session: me, view: post.view(), lease, asked: clock.now() };
        let member = Mailbox::new(MemberActor::new(welcome, around).start(), MAILBOX);
        post.open(Port::Member, Arc::new(member.clone()));
        (keeper, member)
    }

    pub(crate) fn scene(&self, scene: SceneId) -> Mailbox<SceneActor> {
        self.scenes.get(scene).expect("it is open")
    }

    /// Says something to an entity, and waits for what becomes of it. What its neighbours hear of it they have heard then.
    pub(crate) async fn say<M: game::Message>(&self, entity: OnlineId, message: M) -> SendReport {
        self.send(vec![(0, entity, payload(&message).into())], Some(LIMIT)).await
    }

    /// Sends messages, each with its position, through this node's router.
    pub(crate) fn send(
        &self,
        messages: Vec<(u32, OnlineId, Payload)>,
        wait: Option<Duration>,
    ) -> impl Future<Output = SendReport> + use<> {
        let (reply, report) = oneshot::channel();
        let waiting = wait.map_or(Waiting::No, Waiting::Outcome);
        self.router.tell(SendBatch { messages, waiting, reply });
        async { report.await.expect("the router answers").report }
    }
}

pub(crate) async fn ask<T>(scene: &Mailbox<SceneActor>, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> T {
    let (reply, answer) = oneshot::channel();
    scene.tell(AskScene(question(reply)));
    answer.await.expect("the scene answers")
}

pub(crate) async fn spawn(scene: &Mailbox<SceneActor>, type_name: &str) -> OnlineId {
    let order = |reply| Question::Spawn(SpawnOrder::of(type_name, reply));
    ask(scene, order).await.expect("room and an id")
}

pub(crate) async fn migrate(from: &Mailbox<SceneActor>, entity: OnlineId, to: Own) -> Outcome {
    let order = |reply| Question::Migrate(MoveOrder { entity, to: Ok(to), reply });
    ask(from, order).await.expect("it lives there").outcome
}

/// Lets all actors go on until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, waiting).await.unwrap_or_else(|_| panic!("it does not come: {what}"));
}

/// The first node's life.
pub(crate) fn me() -> Session {
    Session::new(1, 1)
}

pub(crate) fn name(number: u16) -> NodeName {
    NodeName::new(format!("n{number}")).expect("a name")
}

/// Nodes from `n1`, each the home of its own range, and scenes that are declared on some.
pub(crate) fn view(nodes: u16, scenes: &[(u16, SceneId)]) -> View {
    let sessions = || (1..=nodes).map(|number| Session::new(number, 1));
    let placement = |&(number, id): &(u16, SceneId)| {
        let name = NodeName::new(format!("s{}", id.number())).expect("a name");
        (id, ScenePlacement::declared(id, name, Session::new(number, 1).node, 10))
    };
    View {
        version: 1,
        members: sessions().map(|session| (session.node, member(session))).collect(),
        scenes: scenes.iter().map(placement).collect(),
        homes: sessions().map(range_of).zip(sessions()).map(|(range, me)| (range, Home::first(range, me))).collect(),
        ..View::default()
    }
}

/// A node whose address is its name.
pub(crate) fn member(session: Session) -> Member {
    let name = name(session.node.0);
    Member { session, address: name.to_string(), name, admin: String::new() }
}

fn range_of(session: Session) -> RangeId {
    RangeId(session.node.0.into())
}

pub(crate) const CLUSTER: &str = "test";

/// Far more than waits for any actor here, so that bounds of other kinds are met first.
const MAILBOX: usize = 1 << 16;
