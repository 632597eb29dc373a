//! Two nodes in one process, over a network in memory that can be cut: links, routers, scenes and
//! directories together, without sockets and without a manager.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use slipgate_actors::link::gate::{self, Gate, Joined, Standing};
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::scene::{Question, SceneActor};
use slipgate_actors::transport::memory::MemoryNetwork;
use slipgate_actors::transport::{Connection, Later, Transport};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::{NodeName, Own, Session};
use slipgate_entity::game::Types;
use slipgate_entity::{OnlineId, SceneId};
use slipgate_proto::admin::SendReport;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use crate::node::{self, CLUSTER, Make, name, view, walkers};

#[actix_rt::test]
async fn messages_cross_a_link_that_is_cut_again_and_again_and_each_is_applied_once() {
    let cluster = Cluster::start();
    let ann = cluster.nodes[1].spawn().await;
    let mut accepted = 0;
    for round in 0..5u64 {
        let batch = cluster.nodes[0].send(ann, round * 100 + 1..=round * 100 + 100, Duration::from_secs(20));
        cluster.network.cut();
        accepted += u64::from(batch.await.applied);
    }
    assert_eq!(accepted, 500);
    let told = cluster.nodes[1].show(ann).await.expect("it lives there");
    assert!(told.contains(r#""count":500,"gaps":0,"last":500,"repeats":0"#), "{told}");
}

#[actix_rt::test]
async fn an_entity_moves_there_and_back_while_it_is_written_to_and_keeps_every_message() {
    let cluster = Cluster::start();
    let ann = cluster.nodes[0].spawn().await;
    let batch = cluster.nodes[0].send(ann, 1..=400, Duration::from_secs(20));
    for (from, to) in [(0, 1), (1, 0), (0, 1)] {
        assert!(matches!(cluster.migrate(ann, from, to).await, Outcome::Moved { .. }));
    }
    let report = batch.await;
    assert_eq!((report.accepted, report.applied, report.open), (400, 400, 0));
    let told = cluster.nodes[1].show(ann).await.expect("it lives there");
    assert!(told.contains(r#""count":400,"gaps":0,"last":400,"repeats":0"#), "{told}");
    assert_eq!(cluster.nodes[0].show(ann).await, None);
}

#[actix_rt::test]
async fn a_move_whose_link_is_cut_at_any_moment_ends_with_the_entity_in_one_place() {
    let cluster = Cluster::start();
    let ann = cluster.nodes[0].spawn().await;
    let (mut here, mut there) = (0, 1);
    for turns in 0..12 {
        let moving = cluster.migrate(ann, here, there);
        let cutting = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            cluster.network.cut();
        };
        let (outcome, ()) = tokio::join!(moving, cutting);
        if matches!(outcome, Outcome::Moved { .. }) {
            std::mem::swap(&mut here, &mut there);
        }
        let places = [cluster.nodes[0].show(ann).await, cluster.nodes[1].show(ann).await];
        assert_eq!(places.iter().flatten().count(), 1, "after {turns} turns: {outcome:?}");
    }
}

#[actix_rt::test]
async fn an_entity_whose_handler_panics_is_parked_and_moves_so_and_nothing_behind_that_is_applied() {
    let cluster = Cluster::start();
    let (ann, bob) = (cluster.nodes[0].spawn().await, cluster.nodes[0].spawn().await);
    let messages = [("hit", r#"{"hp":1}"#), ("stumble", "{}"), ("hit", r#"{"hp":1}"#)];
    let report = cluster.nodes[1].say(ann, &messages).await;
    assert_eq!((report.applied, report.failed, report.parked, report.open), (1, 1, 1, 0));
    assert_eq!(cluster.nodes[0].say(bob, &messages[..1]).await.applied, 1, "the scene goes on");
    assert!(matches!(cluster.migrate(ann, 0, 1).await, Outcome::Moved { .. }));
    assert_eq!(cluster.nodes[0].say(ann, &messages[..1]).await.parked, 1);
    assert!(cluster.nodes[1].show(ann).await.expect("it lives there").contains(r#""hp":99"#));
    let unpark = |reply| Question::Unpark { entity: ann, reply };
    assert_eq!(cluster.nodes[1].ask(unpark).await, Ok(true));
    assert_eq!(cluster.nodes[1].ask(unpark).await, Ok(false));
    assert_eq!(cluster.nodes[0].say(ann, &messages[..1]).await.applied, 1);
    assert_eq!(cluster.nodes[1].say(ann, &messages[..1]).await.applied, 1);
    assert!(cluster.nodes[1].show(ann).await.expect("it lives there").contains(r#""hp":97"#));
}

/// A network in memory whose connections can all be cut.
#[derive(Clone, Debug, Default)]
struct Breakable {
    network: MemoryNetwork,
    wires: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Breakable {
    fn cut(&self) {
        self.wires.lock().expect("no holder panics").drain(..).for_each(|wire| wire.abort());
    }
}

impl Transport for Breakable {
    fn dial<'a>(&'a self, address: &'a str) -> Later<'a, io::Result<Connection>> {
        Box::pin(async move {
            let mut far = self.network.dial(address).await?;
            let (near, mut middle) = tokio::io::duplex(64 << 10);
            let wire = tokio::spawn(async move {
                // The wire ends with either end; there is nothing to do about it.
                let _ = tokio::io::copy_bidirectional(&mut middle, &mut far).await;
            });
            self.wires.lock().expect("no holder panics").push(wire.abort_handle());
            Ok(Box::new(near) as Connection)
        })
    }
}

/// Nodes n1 and n2, each with the scene of its number.
pub(crate) struct Cluster {
    network: Breakable,
    pub(crate) nodes: Vec<Node>,
}

pub(crate) struct Node {
    pub(crate) node: node::Node,
    pub(crate) own: Own,
    _standing: watch::Sender<Standing>,
}

impl Cluster {
    fn start() -> Self {
        Self::of([walkers(), walkers()])
    }

    /// Nodes that know these types.
    pub(crate) fn of(types: [Types; 2]) -> Self {
        let network = Breakable::default();
        let nodes = (1..).zip(types).map(|(number, types)| Node::start(number, types, &network)).collect();
        Self { network, nodes }
    }

    pub(crate) async fn migrate(&self, entity: OnlineId, from: usize, to: usize) -> Outcome {
        node::migrate(&self.nodes[from].scene(), entity, self.nodes[to].own).await
    }
}

impl Node {
    fn start(number: u16, types: Types, network: &Breakable) -> Self {
        let own = Own::new(Session::new(number, 1), SceneId::from(number));
        let scenes = [1, 2].map(|number| (number, SceneId::from(number)));
        let make = Make { view: view(2, &scenes), types, scenes: vec![own.scene], ..Make::default() };
        let (node, workshop) = node::Node::start(own.session, make);
        let (_, member) = node.join(workshop, Arc::new(network.clone()));
        let (tell_standing, standing) = watch::channel(Standing::Joined(Joined { post: node.post.clone(), member }));
        let manager = NodeName::new("m").expect("a name");
        let gate = Gate { cluster: CLUSTER.to_owned(), name: name(number), manager, seat: None, standing };
        actix_rt::spawn(gate::keep(gate, Box::new(network.network.listen(name(number).as_str()))));
        Self { node, own, _standing: tell_standing }
    }

    pub(crate) fn scene(&self) -> Mailbox<SceneActor> {
        self.node.scene(self.own.scene)
    }

    pub(crate) async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> T {
        node::ask(&self.scene(), question).await
    }

    async fn spawn(&self) -> OnlineId {
        node::spawn(&self.scene(), "walker").await
    }

    pub(crate) async fn show(&self, entity: OnlineId) -> Option<String> {
        self.ask(|reply| Question::Show { entity, reply }).await.map(|(_, body)| body)
    }

    /// Sends numbered notes through this node's router; the report comes when all are answered.
    fn send(
        &self,
        entity: OnlineId,
        numbers: std::ops::RangeInclusive<u64>,
        wait: Duration,
    ) -> impl Future<Output = SendReport> + use<> {
        let notes = numbers.map(|number| ("note", format!(r#"{{"sender":"t","number":{number}}}"#)));
        self.hand_in(entity, notes.collect(), wait)
    }

    /// Sends messages by their names and arguments.
    fn say(&self, entity: OnlineId, messages: &[(&str, &str)]) -> impl Future<Output = SendReport> + use<> {
        let messages = messages.iter().map(|(name, arguments)| (*name, (*arguments).to_owned()));
        self.hand_in(entity, messages.collect(), Duration::from_secs(20))
    }

    fn hand_in(
        &self,
        entity: OnlineId,
        messages: Vec<(&str, String)>,
        wait: Duration,
    ) -> impl Future<Output = SendReport> + use<> {
        let types = walkers();
        let payload = |(name, arguments): (&str, String)| types.parse("walker", name, &arguments).expect("a message");
        let payloads = messages.into_iter().map(payload).map(Arc::from);
        let messages = (0u32..).zip(payloads).map(|(at, payload)| (at, entity, payload)).collect();
        self.node.send(messages, Some(wait))
    }
}
