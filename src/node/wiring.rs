//! Which actors a node has, on which threads, in which order, and how they end.
//!
//! | thread | actors |
//! |---|---|
//! | main | membership, links, directory, chronicle, desk, scene keeper, router 0, every k-th declared scene |
//! | arbiter 1 to k-1 | a router each, every k-th declared scene; one made at run time goes where the fewest are |
//! | manager's | the manager (on its node), whose disk may block |
//! | admin's | HTTP |

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr};
use futures_util::future::join_all;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use slipgate_actors::budget::NodeBudget;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::desk::{self, Desk, DeskActor, Stage};
use slipgate_actors::directory::{DirectoryActor, GiveAway, StayHome};
use slipgate_actors::drain::DrainDesk;
use slipgate_actors::lease::Lease;
use slipgate_actors::link::dial::Caller;
use slipgate_actors::link::gate::Joined;
use slipgate_actors::mailbox::{Halt, Mailbox};
use slipgate_actors::manager_seat::Seat;
use slipgate_actors::member::{self, Goodbye, MemberActor};
use slipgate_actors::post::Post;
use slipgate_actors::router::{self, AwaitAnswers, RouterActor};
use slipgate_actors::scene::{AskScene, HowFar, Question, Remaining, SceneActor, Wind};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::{Meet, SceneKeeper, WindAll};
use slipgate_actors::scenes::workshop::{Materials, Plan, Thread, Workshop, start_on};
use slipgate_cluster::budget::Budget;
use slipgate_cluster::drain::Homes;
use slipgate_cluster::member::Welcome;
use slipgate_cluster::{Limits, Port};
use slipgate_entity::game::Types;
use slipgate_entity::{OnlineId, RangeId, SceneId};
use tokio::sync::{oneshot, watch};

use super::threads::Threads;
use super::{NodeError, described};
use crate::config::Config;
use crate::telemetry;
use crate::transport::Tcp;

/// The actors of a node.
pub(super) struct Wired {
    pub(super) joined: Joined,
    pub(super) desk: Desk,
    pub(super) scenes: Scenes,
    pub(super) keeper: Mailbox<SceneKeeper>,
    pub(super) routers: Vec<Mailbox<RouterActor>>,
    pub(super) directory: Mailbox<DirectoryActor>,
    pub(super) chronicle: Mailbox<Chronicle>,
    threads: Threads,
}

/// What the actors of a life are given by the process that outlives it.
pub(super) struct Outside {
    pub(super) chronicle: Mailbox<Chronicle>,
    /// How far the node is.
    pub(super) stage: watch::Receiver<Stage>,
    /// Takes orders to drain.
    pub(super) drain: DrainDesk,
    /// The highest range of ids that this node ever heard of.
    pub(super) seen: watch::Sender<Option<RangeId>>,
    /// Is told when the life is over.
    pub(super) over: watch::Sender<bool>,
}

/// The chronicle of a node: it goes on over all its lives in this process.
pub(super) fn chronicle(config: &Config) -> Mailbox<Chronicle> {
    Mailbox::new(Chronicle::new(config.node.name.to_string()).start(), MAILBOX)
}

pub(super) fn wire(
    config: &Config,
    types: Types,
    seat: Option<&Seat>,
    clock: NodeClock,
    welcome: Welcome,
    outside: Outside,
) -> Wired {
    let Outside { chronicle, stage, drain, seen, over } = outside;
    let lease = Lease::new(welcome.asked + welcome.lease, clock);
    let budget = NodeBudget::new(Budget::from(&config.limits));
    let post = Post::within(budget, welcome.session, welcome.view.clone(), lease);
    let limits = Limits::from(&config.limits);
    let name = config.node.name.clone();
    let manager = config.manager.node.to_string();

    let directory = DirectoryActor::new(post.clone(), clock, manager.clone(), chronicle.clone()).start();
    let directory = open(&post, Port::Directory, directory);
    let count = threads(config);
    let threads = Threads::start(count - 1);
    let arbiters = threads.handles();
    for arbiter in &arbiters {
        let name = name.clone();
        arbiter.spawn_fn(move || telemetry::name_thread(name));
    }
    let place = |number: usize| number.checked_sub(1).map(|index| arbiters[index].clone());
    let routers: Vec<_> = (0..count)
        .map(|number| {
            let number_text = u16::try_from(number).expect("the configuration bounds the number of threads");
            let router = RouterActor::new(number_text, limits.clone(), post.clone(), clock);
            let router = start_on(place(number).as_ref(), router);
            open(&post, Port::Router(number_text), router)
        })
        .collect();
    let thread =
        |(number, router): (usize, &Mailbox<RouterActor>)| Thread { arbiter: place(number), router: router.clone() };
    let scenes = Scenes::default();
    let materials = Materials {
        post: post.clone(),
        clock,
        types: types.clone(),
        voices: config.log.voices(),
        limits: limits.clone(),
        on_panic: config.entities.on_panic.into(),
        directory: directory.clone(),
        chronicle: chronicle.clone(),
        threads: routers.iter().enumerate().map(thread).collect(),
    };
    let mut workshop = Workshop::new(materials, scenes.clone());
    for scene in config.scenes.iter().filter(|scene| scene.node == name) {
        workshop.open(Plan {
            scene: SceneId::from(scene.id),
            capacity: scene.capacity,
            first_generation: 1,
            keeper: None,
        });
    }
    let keeper = Mailbox::new(SceneKeeper::new(workshop, post.clone(), clock, manager.clone()).start(), MAILBOX);
    let around = member::Surroundings {
        post: post.clone(),
        clock,
        transport: Arc::new(Tcp { silence: config.limits.silence }),
        caller: Caller { cluster: config.cluster.name.clone(), name: name.clone() },
        manager,
        seat: seat.cloned(),
        chronicle: chronicle.clone(),
        directory: directory.clone(),
        scenes: scenes.clone(),
        keeper: keeper.clone(),
        silence: config.limits.silence,
        seen,
        over,
    };
    // Open before any actor runs: the first grant brings a view with it, and the next one is seconds away.
    let member = open(&post, Port::Member, MemberActor::new(welcome, around).start());
    if let Some(seat) = seat {
        seat.joined(post.clone(), member.clone(), chronicle.clone());
    }
    let desk = DeskActor::open(desk::Surroundings {
        cluster: config.cluster.name.clone(),
        name,
        manager: config.manager.node.clone(),
        version: env!("CARGO_PKG_VERSION"),
        message_bytes: limits.message_bytes,
        stage,
        drain,
        post: post.clone(),
        clock,
        types,
        scenes: scenes.clone(),
        keeper: keeper.clone(),
        routers: routers.clone(),
        directory: directory.clone(),
        member: member.clone(),
        chronicle: chronicle.clone(),
    });
    keeper.tell(Meet(desk.clone()));
    Wired { joined: Joined { post, member }, desk, scenes, keeper, routers, directory, chronicle, threads }
}

impl Wired {
    /// Says goodbye to every peer.
    pub(super) async fn say_goodbye(&self) {
        // A membership that has ended has no links to say goodbye over; one that does not answer is not waited for.
        let _ = tokio::time::timeout(GOODBYE, self.joined.member.addr().send(Goodbye)).await;
    }

    /// Gives the homes of this node's ranges to other nodes, and tells how far that is. What is not taken in time is
    /// rebuilt elsewhere after the goodbye, from what every scene knows.
    pub(super) fn give_homes_away(&self) -> watch::Receiver<Homes> {
        let (told, homes) = watch::channel(Homes::default());
        self.directory.tell(GiveAway { told });
        homes
    }

    /// The node goes on after all: what it has not given away stays.
    pub(super) fn keep_homes(&self) {
        self.directory.tell(StayHome);
    }

    /// Tells every scene at once; the future ends when they all have it in their mailboxes.
    pub(super) fn wind(&self, wind: Wind) -> impl Future<Output = ()> + use<> {
        let (reply, told) = oneshot::channel();
        self.keeper.tell(WindAll { wind, told: reply });
        async {
            // A keeper that has ended has no scenes.
            let _ = told.await;
        }
    }

    /// How far each scene is; none of one that has ended.
    pub(super) fn how_far(&self) -> impl Future<Output = Vec<Option<HowFar>>> + use<> {
        join_all(self.scenes.all().iter().map(|scene| ask_how_far(scene, None)).collect::<Vec<_>>())
    }

    /// Who lives in each scene, so many of each by name; none of a scene that is silent.
    pub(super) fn remaining(&self, limit: usize) -> impl Future<Output = Vec<Option<Remaining>>> + use<> {
        let ask = |scene: &Mailbox<SceneActor>| {
            let (reply, answer) = oneshot::channel();
            scene.tell(AskScene(Question::Remaining { limit, reply }));
            async { Some(tokio::time::timeout(SCENE_ANSWER, answer).await.ok()?.unwrap_or_default()) }
        };
        join_all(self.scenes.all().iter().map(ask).collect::<Vec<_>>())
    }

    /// Whom messages are for that nobody has answered, and how many.
    pub(super) fn unanswered(&self) -> impl Future<Output = BTreeMap<OnlineId, u64>> + use<> {
        router::unanswered(self.routers.clone())
    }

    /// Waits until every message is answered that was accepted from tools here.
    pub(super) fn await_answers(&self) -> impl Future<Output = ()> + use<> {
        let ask = |router: &Mailbox<RouterActor>| {
            let (reply, answered) = oneshot::channel();
            router.tell(AwaitAnswers { reply });
            answered
        };
        let answers = join_all(self.routers.iter().map(ask).collect::<Vec<_>>());
        async { drop(answers.await) }
    }

    /// Ends a life that is over: its actors stop where they are, and nobody is told.
    pub(super) async fn halt(self) {
        self.desk.close();
        self.keeper.tell(Halt);
        self.scenes.all().iter().for_each(|scene| scene.tell(Halt));
        self.routers.iter().for_each(|router| router.tell(Halt));
        self.directory.tell(Halt);
        self.joined.member.tell(Halt);
        self.end_threads().await;
    }

    /// Ends the threads of scenes and routers.
    pub(super) async fn end_threads(self) {
        self.threads.end().await;
    }
}

/// Asks a scene how far it is: now, or as soon as it is not as far as it was. None: it has ended.
pub(super) fn ask_how_far(
    scene: &Mailbox<SceneActor>,
    was: Option<HowFar>,
) -> impl Future<Output = Option<HowFar>> + use<> {
    let (reply, far) = oneshot::channel();
    scene.tell(AskScene(match was {
        None => Question::HowFar(reply),
        Some(unlike) => Question::HowFarThen { unlike, reply },
    }));
    async { far.await.ok() }
}

fn threads(config: &Config) -> usize {
    config.node.arbiter_count(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

fn open<A>(post: &Post, port: Port, addr: Addr<A>) -> Mailbox<A>
where
    A: Actor<Context = actix::Context<A>> + actix::Handler<slipgate_actors::mailbox::Mail>,
{
    let mailbox = Mailbox::new(addr, MAILBOX);
    post.open(port, Arc::new(mailbox.clone()));
    mailbox
}

/// Sets up the process's metrics.
pub(super) fn metrics() -> Result<PrometheusHandle, NodeError> {
    let failed = |error: metrics_exporter_prometheus::BuildError| NodeError::Admin(error.to_string());
    let handle = PrometheusBuilder::new().set_buckets(&SECONDS).map_err(failed)?.install_recorder().map_err(failed)?;
    described::describe();
    metrics::gauge!("slipgate_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

/// Messages that may wait for an actor: some busy turns of it.
const MAILBOX: usize = 1 << 16;
/// How long a scene may take to say who is left, so that one that is stuck does not hide the others.
const SCENE_ANSWER: Duration = Duration::from_millis(500);
/// How long all goodbyes may take: twice what one may.
const GOODBYE: Duration = Duration::from_secs(1);
/// Buckets for times, in seconds: a pause is 50 us to some ms; a frozen home shows in the last ones.
const SECONDS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];
