//! A node of the benches: the shipping actors over TCP, with a fixed view and no manager.
//!
//! Keeps: one thread, one router, one scene, and the home of one range, as a node with one arbiter has.
//! Leaves out: joining, renewals of the lease, the admin interface, the log.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, Context, Handler};
use anyhow::{Context as _, Result, ensure};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use slipgate::transport::{Tcp, TcpPort};
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::lease::Lease;
use slipgate_actors::link::dial::Caller;
use slipgate_actors::link::gate::{self, Gate, Joined, Standing};
use slipgate_actors::mailbox::{Mail, Mailbox};
use slipgate_actors::member::{self, MemberActor};
use slipgate_actors::post::Post;
use slipgate_actors::router::{RouterActor, SendBatch, Waiting};
use slipgate_actors::scene::{AskScene, MoveOrder, Question, SceneActor, SpawnOrder};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::SceneKeeper;
use slipgate_actors::scenes::workshop::{Materials, Plan, Thread, Workshop};
use slipgate_actors::voices::Voices;
use slipgate_cluster::manager::{Counter, ManagerReply};
use slipgate_cluster::member::Welcome;
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::moves::{Cost, Outcome};
use slipgate_cluster::view::{Home, Member, ScenePlacement, View};
use slipgate_cluster::{Limits, NodeName, Now, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use tokio::sync::{oneshot, watch};

use crate::block;

/// Messages of a batch.
pub(crate) const BATCH: usize = 64;
/// Batches on the way at once: enough that nobody waits for an acknowledgement.
const OUTSTANDING: usize = 16;
/// Longest wait for what should take milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
const CLUSTER: &str = "bench";
const CAPACITY: u32 = 1 << 20;
const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// A running node.
pub(crate) struct Node {
    router: Mailbox<RouterActor>,
    scene: Mailbox<SceneActor>,
    _standing: watch::Sender<Standing>,
    _over: watch::Receiver<bool>,
}

impl Node {
    /// Node `number` of those at `addresses`, which counts from 1; its peers dial `port`.
    pub(crate) fn start(number: u16, port: TcpListener, addresses: &[String]) -> Result<Self> {
        let session = session(number);
        let view = Arc::new(view(addresses));
        let (clock, types, limits) = (NodeClock::start(), block::types(), Limits::default());
        let post = Post::new(session, view.clone(), Lease::new(Now(0) + LEASE, clock));
        let chronicle = Mailbox::new(Chronicle::new(name(number).to_string()).start(), MAILBOX);
        let directory = DirectoryActor::new(post.clone(), clock, CLUSTER.to_owned(), chronicle.clone()).start();
        let directory = open(&post, Port::Directory, directory);
        let range = ManagerReply::Range { session, request: 1, counter: Counter::Online, range: range(number) };
        let message = Message::Manager(ManagerMessage::Reply(range));
        post.send_one(Port::Manager, Place { session, port: Port::Directory }, message);
        let router = RouterActor::new(0, limits.clone(), post.clone(), clock).start();
        let router = open(&post, Port::Router(0), router);
        let materials = Materials {
            post: post.clone(),
            clock,
            types,
            voices: Voices::default(),
            limits,
            on_panic: slipgate_cluster::scene::OnPanic::Park,
            directory: directory.clone(),
            chronicle: chronicle.clone(),
            threads: vec![Thread { arbiter: None, router: router.clone() }],
        };
        let (scenes, id) = (Scenes::default(), own(number).scene);
        let mut workshop = Workshop::new(materials, scenes.clone());
        workshop.open(Plan { scene: id, capacity: CAPACITY, first_generation: 1, keeper: None });
        let scene = scenes.get(id).context("it was opened just now")?;
        let keeper = SceneKeeper::new(workshop, post.clone(), clock, CLUSTER.to_owned()).start();
        let (over, over_news) = watch::channel(false);
        let around = member::Surroundings {
            post: post.clone(),
            clock,
            transport: Arc::new(Tcp { silence: SILENCE }),
            caller: Caller { cluster: CLUSTER.to_owned(), name: name(number) },
            manager: CLUSTER.to_owned(),
            seat: None,
            chronicle,
            directory,
            scenes,
            keeper: Mailbox::new(keeper, MAILBOX),
            silence: SILENCE,
            seen: watch::Sender::new(None),
            over,
        };
        let welcome = Welcome { session, view, lease: LEASE, asked: Now(0) };
        let member = open(&post, Port::Member, MemberActor::new(welcome, around).start());
        let (tell_standing, standing) = watch::channel(Standing::Joined(Joined { post, member }));
        let manager = NodeName::new(CLUSTER).expect("it is a name");
        let gate = Gate { cluster: CLUSTER.to_owned(), name: name(number), manager, seat: None, standing };
        actix_rt::spawn(gate::keep(gate, Box::new(TcpPort::new(port, Tcp { silence: SILENCE })?)));
        Ok(Self { router, scene, _standing: tell_standing, _over: over_news })
    }

    /// Spawns entities with `bytes` of state each.
    pub(crate) async fn spawn(&self, count: usize, bytes: usize) -> Result<Vec<OnlineId>> {
        let mut entities = Vec::with_capacity(count);
        for _ in 0..count {
            let (type_name, data) = (block::type_name(), block::data(bytes));
            let order = |reply| Question::Spawn(SpawnOrder { data, ..SpawnOrder::of(&type_name, reply) });
            entities.push(self.ask(order).await??);
        }
        Ok(entities)
    }

    /// Sends `total` messages in batches, to one entity after the other, and waits until all are applied.
    pub(crate) async fn flood(&self, entities: &[OnlineId], total: usize) -> Result<()> {
        let mut receivers = entities.iter().copied().cycle();
        let mut under_way = FuturesUnordered::new();
        for _ in 0..total.div_ceil(BATCH) {
            if under_way.len() == OUTSTANDING {
                under_way.next().await.context("there are batches on the way")??;
            }
            under_way.push(self.send(receivers.by_ref().take(BATCH).collect()));
        }
        while let Some(applied) = under_way.next().await {
            applied?;
        }
        Ok(())
    }

    /// Sends a message to each of `receivers` as one batch, and waits until they are applied.
    pub(crate) fn send(&self, receivers: Vec<OnlineId>) -> impl Future<Output = Result<()>> + use<> {
        let count = receivers.len();
        let messages = (0..).zip(receivers).map(|(at, entity)| (at, entity, block::message())).collect();
        let (reply, report) = oneshot::channel();
        self.router.tell(SendBatch { messages, waiting: Waiting::Passed(PATIENCE), reply });
        async move {
            let report = report.await?.report;
            ensure!(usize::try_from(report.applied) == Ok(count), "of {count} messages: {report:?}");
            Ok(())
        }
    }

    /// Moves an entity to the scene of node `to`.
    pub(crate) async fn migrate(&self, entity: OnlineId, to: u16) -> Result<Cost> {
        let done = self.ask(|reply| Question::Migrate(MoveOrder { entity, to: Ok(own(to)), reply })).await??;
        ensure!(matches!(done.outcome, Outcome::Moved { .. }), "{entity} was not moved: {:?}", done.outcome);
        Ok(done.cost)
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.scene.tell(AskScene(question(reply)));
        answer.await.context("the scene does not answer")
    }
}

fn open<A>(post: &Post, port: Port, addr: Addr<A>) -> Mailbox<A>
where
    A: Actor<Context = Context<A>> + Handler<Mail>,
{
    let mailbox = Mailbox::new(addr, MAILBOX);
    post.open(port, Arc::new(mailbox.clone()));
    mailbox
}

fn session(number: u16) -> Session {
    Session::new(number, 1)
}

fn own(number: u16) -> Own {
    Own::new(session(number), SceneId::from(number))
}

fn range(number: u16) -> RangeId {
    RangeId(number.into())
}

fn name(number: u16) -> NodeName {
    NodeName::new(format!("n{number}")).expect("it is a name")
}

fn view(addresses: &[String]) -> View {
    let numbers = || (1..).zip(addresses);
    let member = |(number, address): (u16, &String)| {
        let member =
            Member { session: session(number), name: name(number), address: address.clone(), admin: String::new() };
        (member.session.node, member)
    };
    let placement = |(number, _): (u16, &String)| {
        let id = own(number).scene;
        (id, ScenePlacement::declared(id, name(number), session(number).node, CAPACITY))
    };
    let home = |(number, _): (u16, &String)| {
        let range = range(number);
        (range, Home::first(range, session(number)))
    };
    View {
        version: 1,
        members: numbers().map(member).collect(),
        scenes: numbers().map(placement).collect(),
        homes: numbers().map(home).collect::<BTreeMap<_, _>>(),
        ..View::default()
    }
}

/// As in the program.
const MAILBOX: usize = 1 << 16;

/// As configured by default.
const SILENCE: Duration = Duration::from_secs(5);
