//! Which actors a node has, on which threads, in which order, and how they end.
//!
//! | thread | actors |
//! |---|---|
//! | main | membership, links, directory, chronicle, desk, scene keeper, router 0, every k-th declared scene |
//! | arbiter 1 to k-1 | a router each, every k-th declared scene; one made at run time goes where the fewest are |
//! | manager's | the manager (on its node), whose disk may block |
//! | admin's | HTTP |

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr};
use actix_rt::Arbiter;
use futures_util::future::join_all;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
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
use slipgate_actors::router::{self, RouterActor};
use slipgate_actors::scene::{AskScene, HowFar, Question, Remaining, SceneActor, Wind};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::{Meet, SceneKeeper};
use slipgate_actors::scenes::workshop::{Materials, Plan, Thread, Workshop, start_on};
use slipgate_actors::types::Types;
use slipgate_cluster::member::Welcome;
use slipgate_cluster::{Limits, Port};
use slipgate_entity::SceneId;
use tokio::sync::{oneshot, watch};

use super::NodeError;
use crate::config::Config;
use crate::transport::Tcp;

/// The actors of a node.
pub(super) struct Wired {
    pub(super) joined: Joined,
    pub(super) desk: Desk,
    pub(super) scenes: Scenes,
    keeper: Mailbox<SceneKeeper>,
    routers: Vec<Mailbox<RouterActor>>,
    directory: Mailbox<DirectoryActor>,
    pub(super) chronicle: Mailbox<Chronicle>,
    arbiters: Vec<Arbiter>,
}

/// What the actors of a life are given by the process that outlives it.
pub(super) struct Outside {
    pub(super) chronicle: Mailbox<Chronicle>,
    /// How far the node is.
    pub(super) stage: watch::Receiver<Stage>,
    /// Takes orders to drain.
    pub(super) drain: DrainDesk,
    /// Is told when the life is over.
    pub(super) over: watch::Sender<bool>,
}

/// The chronicle of a node: it goes on over all its lives in this process.
pub(super) fn chronicle(config: &Config) -> Mailbox<Chronicle> {
    Mailbox::new(Chronicle::new(config.node.name.to_string()).start(), MAILBOX)
}

pub(super) fn wire(
    config: &Config,
    seat: Option<&Seat>,
    clock: NodeClock,
    welcome: Welcome,
    outside: Outside,
) -> Wired {
    let Outside { chronicle, stage, drain, over } = outside;
    let lease = Lease::new(welcome.asked + welcome.lease, clock);
    let post = Post::new(welcome.session, welcome.view.clone(), lease);
    let limits = Limits::from(&config.limits);
    let types = Types::built_in();
    let name = config.node.name.clone();
    let manager = config.manager.node.to_string();

    let directory = DirectoryActor::new(post.clone(), clock, manager.clone()).start();
    let directory = open(&post, Port::Directory, directory);
    let threads = threads(config);
    let arbiters: Vec<_> = (1..threads).map(|_| Arbiter::new()).collect();
    let place = |number: usize| number.checked_sub(1).map(|index| arbiters[index].handle());
    let routers: Vec<_> = (0..threads)
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
        limits: limits.clone(),
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
        over,
    };
    // Open before any actor runs: the first grant brings a view with it, and the next one is seconds away.
    let member = open(&post, Port::Member, MemberActor::new(welcome, around).start());
    if let Some(seat) = seat {
        seat.joined(post.clone(), member.clone());
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
    Wired { joined: Joined { post, member }, desk, scenes, keeper, routers, directory, chronicle, arbiters }
}

impl Wired {
    /// Ends what the scenes do: nothing more begins, moves settle, what is left of them is answered.
    pub(super) async fn wind_down(&self, settle: Duration) {
        let settled = async {
            while self.wind(Wind::Down).await > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(settle, settled).await.is_err() {
            self.wind(Wind::Up).await;
        }
    }

    /// Says goodbye to every peer.
    pub(super) async fn say_goodbye(&self) {
        // A membership that has ended has no links to say goodbye over.
        let _ = self.joined.member.addr().send(Goodbye).await;
    }

    /// Gives the homes of this node's ranges to other nodes, and returns how many ranges they have taken over. What is
    /// not taken in time is rebuilt elsewhere after the goodbye, from what every scene knows.
    pub(super) async fn hand_over_homes(&self, within: Duration) -> u64 {
        let (reply, given_away) = oneshot::channel();
        self.directory.tell(GiveAway { reply });
        tokio::time::timeout(within.min(HAND_OVER), given_away).await.ok().and_then(Result::ok).unwrap_or(0)
    }

    /// The node goes on after all: what it has not given away stays.
    pub(super) fn keep_homes(&self) {
        self.directory.tell(StayHome);
    }

    /// How far the evacuation of each scene is.
    pub(super) async fn how_far(&self) -> Vec<HowFar> {
        let over = HowFar { is_over: true, ..HowFar::default() };
        self.ask_scenes(Question::HowFar).await.into_iter().map(|far| far.unwrap_or(over)).collect()
    }

    /// Who lives in each scene, so many of each by name.
    pub(super) async fn remaining(&self, limit: usize) -> Vec<Remaining> {
        let ask = |reply| Question::Remaining { limit, reply };
        self.ask_scenes(ask).await.into_iter().flatten().collect()
    }

    /// Messages accepted from tools here that have no answer yet.
    pub(super) async fn backlog(&self) -> u64 {
        router::backlog(&self.routers).await
    }

    /// Asks every scene; none where the scene has ended.
    async fn ask_scenes<T>(&self, question: impl Fn(oneshot::Sender<T>) -> Question) -> Vec<Option<T>> {
        let ask = |scene: &Mailbox<SceneActor>| {
            let (reply, answer) = oneshot::channel();
            scene.tell(AskScene(question(reply)));
            answer
        };
        join_all(self.scenes.all().iter().map(ask)).await.into_iter().map(Result::ok).collect()
    }

    /// Ends a life that is over: its actors stop where they are, and nobody is told.
    pub(super) fn halt(self) {
        self.desk.close();
        self.keeper.tell(Halt);
        self.scenes.all().iter().for_each(|scene| scene.tell(Halt));
        self.routers.iter().for_each(|router| router.tell(Halt));
        self.directory.tell(Halt);
        self.joined.member.tell(Halt);
        self.stop_arbiters();
    }

    /// Tells every scene, and returns the number of moves under way.
    pub(super) async fn wind(&self, wind: Wind) -> usize {
        let mut under_way = 0;
        for scene in self.scenes.all() {
            under_way += scene.addr().send(wind).await.unwrap_or(0);
        }
        under_way
    }

    pub(super) fn stop_arbiters(self) {
        for arbiter in self.arbiters {
            arbiter.stop();
            if arbiter.join().is_err() {
                tracing::warn!(event = "node.thread", "a thread of scenes ended with a panic");
            }
        }
    }
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
    metrics::gauge!("slipgate_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

/// Messages that may wait for an actor: some busy turns of it.
const MAILBOX: usize = 1 << 16;
/// How long handing homes over may take at most: some round trips, and a write of the manager.
const HAND_OVER: Duration = Duration::from_secs(2);
/// Between two looks at moves that settle.
const LOOK: Duration = Duration::from_millis(10);
/// Buckets for times, in seconds: a pause is 50 us to some ms; a frozen home shows in the last ones.
const SECONDS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];
