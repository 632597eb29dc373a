//! A scene whose handler does not return, under a flood of ten times of what its node lets wait; another scene of
//! the node goes on.
//!
//! The slow scene runs on a thread of its own; everything else on the test's.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use actix::Actor;
use actix_rt::Arbiter;
use slipgate_actors::budget::NodeBudget;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::lease::Lease;
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::post::Post;
use slipgate_actors::router::{AwaitAnswers, RouterActor, SendBatch};
use slipgate_actors::scene::{AskScene, MoveOrder, Question, SpawnOrder};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::workshop::{Materials, Plan, Thread, Workshop};
use slipgate_actors::types::{EntityType, MessageKind, Types};
use slipgate_cluster::budget::{Budget, Part};
use slipgate_cluster::manager::{Counter, ManagerReply};
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::scene::OnPanic;
use slipgate_cluster::view::{Home, Member, ScenePlacement, View};
use slipgate_cluster::{Limits, NodeName, Now, Own, Place, Port, Session};
use slipgate_entity::{ApplyError, Body, Effect, OnlineId, RangeId, SceneId, TypeName};
use slipgate_proto::admin::SendReport;
use tokio::sync::{Notify, oneshot};

/// Bytes of messages that may wait on the node.
const BUDGET: usize = 4 << 20;

/// Bytes of a message.
const MESSAGE: usize = 16 << 10;

#[actix_rt::test]
async fn a_flood_to_a_scene_that_does_not_return_comes_back_beyond_its_share_and_other_scenes_do_not_wait() {
    let gate = Gate::default();
    let node = Node::start(&gate);
    let sleeper = node.spawn(SLOW, "sleeper").await;
    let (one, other) = (node.spawn(QUICK, "walker").await, node.spawn(QUICK, "walker").await);
    gate.shut();
    let began = node.send(&messages(sleeper, 0..1, &[]), None).await;
    assert_eq!(began.accepted, 1);
    gate.await_visitor().await;

    let mut taken: Vec<u64> = vec![0];
    let count = u64::try_from(10 * BUDGET / MESSAGE).expect("few messages");
    for first in (1..count).step_by(100) {
        let batch = messages(sleeper, first..first + 100, &[0; MESSAGE]);
        let report = node.send(&batch, None).await;
        assert_eq!(report.accepted + report.busy, 100);
        assert_eq!(report.busy_at, (report.accepted..100).collect::<Vec<_>>(), "and it is said which came back");
        taken.extend(first..first + u64::from(report.accepted));
        let waits = Part::ALL.map(|part| node.budget.waits(part));
        assert!(waits.iter().sum::<usize>() <= BUDGET, "{waits:?}");
        // In the midst of the flood others are written to and move, on the thread that takes it in.
        let note =
            types(&gate).parse("note", &format!(r#"{{"sender":"t","number":{}}}"#, first / 100 + 1)).expect("a note");
        let told = node.send(&[(0, one, note.into())], Some(Duration::from_secs(10))).await;
        assert_eq!((told.accepted, told.applied), (1, 1));
    }
    assert!(taken.len() * MESSAGE < BUDGET, "{} of {count} were taken", taken.len());
    let moved = node.migrate(other, QUICK, THIRD).await;
    assert!(matches!(moved, Outcome::Moved { .. }), "{moved:?}");

    gate.open();
    node.await_answers().await;
    let marker = node.send(&messages(sleeper, u64::MAX - 1..u64::MAX, &[]), Some(Duration::from_secs(20))).await;
    assert_eq!((marker.busy, marker.applied), (0, 1), "there is room again, and what came before it is applied");
    taken.push(u64::MAX - 1);
    assert_eq!(gate.seen(), taken, "each once, in order");
    node.await_turns().await;
    assert_eq!(Part::ALL.map(|part| node.budget.waits(part)), [0; 3], "nothing waits any more");
}

/// Messages with a number and some bytes each.
fn messages(to: OnlineId, numbers: std::ops::Range<u64>, bytes: &[u8]) -> Vec<(u32, OnlineId, Arc<[u8]>)> {
    let message = |number: u64| [&number.to_le_bytes(), bytes].concat().into();
    (0..).zip(numbers).map(|(at, number)| (at, to, message(number))).collect()
}

/// What a handler stands before while it is shut, and the numbers of those that came through.
#[derive(Clone, Debug, Default)]
struct Gate {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    opened: Condvar,
    visited: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_shut: bool,
    seen: Vec<u64>,
}

impl Gate {
    fn shut(&self) {
        self.state().is_shut = true;
    }

    fn open(&self) {
        self.state().is_shut = false;
        self.inner.opened.notify_all();
    }

    fn pass(&self, number: u64) {
        self.inner.visited.notify_one();
        let mut state = self.inner.opened.wait_while(self.state(), |state| state.is_shut).expect("no holder panics");
        state.seen.push(number);
    }

    async fn await_visitor(&self) {
        self.inner.visited.notified().await;
    }

    fn seen(&self) -> Vec<u64> {
        self.state().seen.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().expect("no holder panics")
    }
}

/// A type whose handler waits at a gate.
#[derive(Clone, Debug)]
struct Sleeper(Gate);

impl EntityType for Sleeper {
    fn name(&self) -> TypeName {
        TypeName("sleeper".to_owned())
    }

    fn version(&self) -> u16 {
        1
    }

    fn create(&self, _: OnlineId) -> Box<dyn Body> {
        Box::new(self.clone())
    }

    fn decode(&self, _: &[u8]) -> Result<Box<dyn Body>, String> {
        Ok(Box::new(self.clone()))
    }

    fn messages(&self) -> &'static [MessageKind] {
        &[]
    }

    fn parse(&self, _: &str, _: &str) -> Result<Vec<u8>, String> {
        Err("it takes none from tools".to_owned())
    }

    fn kind_of(&self, _: &[u8]) -> Option<&'static str> {
        None
    }
}

impl Body for Sleeper {
    fn type_name(&self) -> TypeName {
        self.name()
    }

    fn apply(&mut self, payload: &[u8], _: &mut Vec<Effect>) -> Result<(), ApplyError> {
        let number = payload.first_chunk().expect("a number comes first");
        self.0.pass(u64::from_le_bytes(*number));
        Ok(())
    }

    fn encode(&self, _: &mut Vec<u8>) {}

    fn describe(&self) -> String {
        "{}".to_owned()
    }
}

fn types(gate: &Gate) -> Types {
    let walker = Types::built_in().get("walker").expect("it is built in").clone();
    Types::new(vec![walker, Arc::new(Sleeper(gate.clone()))])
}

struct Node {
    budget: NodeBudget,
    router: Mailbox<RouterActor>,
    scenes: Scenes,
    thread: Arbiter,
}

const ME: Session = Session { node: slipgate_cluster::NodeId(1), incarnation: slipgate_cluster::Incarnation(1) };

/// On its own thread, which is the first that is given a scene.
const SLOW: SceneId = SceneId(1);
const QUICK: SceneId = SceneId(2);
const THIRD: SceneId = SceneId(3);

impl Node {
    fn start(gate: &Gate) -> Self {
        let clock = NodeClock::start();
        let budget = NodeBudget::new(Budget::new(BUDGET));
        let post = Post::within(budget.clone(), ME, Arc::new(view()), Lease::new(Now(u64::MAX), clock));
        let directory = Mailbox::new(DirectoryActor::new(post.clone(), clock, "n1".to_owned()).start(), 64);
        post.open(Port::Directory, Arc::new(directory.clone()));
        let range = ManagerReply::Range { session: ME, request: 1, counter: Counter::Online, range: RangeId(1) };
        let to = Place { session: ME, port: Port::Directory };
        post.send_one(Port::Manager, to, Message::Manager(ManagerMessage::Reply(range)));
        let limits = Limits { stream_bytes: BUDGET, ..Limits::default() };
        let router = Mailbox::new(RouterActor::new(0, limits.clone(), post.clone(), clock).start(), 1 << 16);
        post.open(Port::Router(0), Arc::new(router.clone()));
        let thread = Arbiter::new();
        let on = |arbiter| Thread { arbiter, router: router.clone() };
        let scenes = Scenes::default();
        // One workshop for each thread, so that it is known which scene is on which.
        for (arbiter, open) in [(Some(thread.handle()), &[SLOW][..]), (None, &[QUICK, THIRD])] {
            let materials = Materials {
                post: post.clone(),
                clock,
                types: types(gate),
                limits: limits.clone(),
                on_panic: OnPanic::Park,
                directory: directory.clone(),
                chronicle: Mailbox::new(Chronicle::new("n1".to_owned()).start(), 64),
                threads: vec![on(arbiter)],
            };
            let mut workshop = Workshop::new(materials, scenes.clone());
            for &scene in open {
                workshop.open(Plan { scene, capacity: 10, first_generation: 1, keeper: None });
            }
        }
        Self { budget, router, scenes, thread }
    }

    async fn ask<T>(&self, scene: SceneId, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> T {
        let (reply, answer) = oneshot::channel();
        self.scenes.get(scene).expect("it is open").tell(AskScene(question(reply)));
        answer.await.expect("the scene answers")
    }

    async fn spawn(&self, scene: SceneId, type_name: &str) -> OnlineId {
        let type_name = type_name.to_owned();
        let order = |reply| Question::Spawn(SpawnOrder { type_name, label: None, reply });
        self.ask(scene, order).await.expect("room and an id")
    }

    async fn migrate(&self, entity: OnlineId, from: SceneId, to: SceneId) -> Outcome {
        let order = |reply| Question::Migrate(MoveOrder { entity, to: Ok(Own::new(ME, to)), reply });
        self.ask(from, order).await.expect("it lives there").outcome
    }

    async fn send(&self, messages: &[(u32, OnlineId, Arc<[u8]>)], wait: Option<Duration>) -> SendReport {
        let (reply, report) = oneshot::channel();
        self.router.tell(SendBatch { messages: messages.to_vec(), wait, reply });
        report.await.expect("the router answers")
    }

    /// Waits until all that the router has accepted is answered.
    async fn await_answers(&self) {
        let (reply, answered) = oneshot::channel();
        self.router.tell(AwaitAnswers { reply });
        answered.await.expect("the router answers");
    }

    /// Waits until the scenes have done with all that had come to them.
    async fn await_turns(&self) {
        for scene in [SLOW, QUICK, THIRD] {
            self.ask(scene, Question::Census).await;
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.thread.stop();
    }
}

fn view() -> View {
    let name = |text: &str| NodeName::new(text).expect("a name");
    let member = Member { session: ME, name: name("n1"), address: String::new(), admin: String::new() };
    let scenes = [SLOW, QUICK, THIRD].map(|id| {
        let placement = ScenePlacement::declared(id, name(&format!("s{}", id.number())), ME.node, 10);
        (id, placement)
    });
    View {
        version: 1,
        members: [(ME.node, member)].into(),
        scenes: scenes.into(),
        homes: [(RangeId(1), Home::first(RangeId(1), ME))].into(),
        ..View::default()
    }
}
