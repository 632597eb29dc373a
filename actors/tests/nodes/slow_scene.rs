//! A scene whose handler does not return, under a flood of ten times of what its node lets wait; another scene of
//! the node goes on.
//!
//! The slow scene runs on a thread of its own; everything else on the test's.

use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use actix_rt::Arbiter;
use slipgate_actors::router::AwaitAnswers;
use slipgate_actors::scene::Question;
use slipgate_cluster::budget::{Budget, Part};
use slipgate_cluster::message::Payload;
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::{Limits, Own};
use slipgate_entity::game::{Types, payload};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use slipgate_walker::Walker;
use tokio::sync::{Notify, oneshot};

use crate::node::{Make, Node, ask, me, migrate, spawn, view};

/// Bytes of messages that may wait on the node.
const BUDGET: usize = 4 << 20;

/// Messages that are said again at once: below what one sender may have under way.
const PORTION: usize = 20;

/// Bytes of a message.
const MESSAGE: usize = 16 << 10;

#[actix_rt::test]
async fn a_flood_to_a_scene_that_does_not_return_comes_back_beyond_its_share_and_other_scenes_do_not_wait() {
    let gate = &*GATE;
    let stage = Stage::start();
    let node = &stage.node;
    let sleeper = stage.spawn(SLOW, "sleeper").await;
    let (one, other) = (stage.spawn(QUICK, "walker").await, stage.spawn(QUICK, "walker").await);
    gate.shut();
    let began = node.send(messages(sleeper, 0..1, &[]), None).await;
    assert_eq!(began.accepted, 1);
    gate.await_visitor().await;

    let (mut taken, mut came_back): (Vec<u64>, Vec<u64>) = (vec![0], Vec::new());
    let count = u64::try_from(10 * BUDGET / MESSAGE).expect("few messages");
    for first in (1..count).step_by(100) {
        let report = node.send(messages(sleeper, first..first + 100, &[0; MESSAGE]), None).await;
        assert_eq!(report.accepted + report.busy, 100);
        assert_eq!(report.busy_at, (report.accepted..100).collect::<Vec<_>>(), "and it is said which came back");
        taken.extend(first..first + u64::from(report.accepted));
        came_back.extend(first + u64::from(report.accepted)..first + 100);
        let waits = stage.waits();
        assert!(waits.iter().sum::<usize>() <= BUDGET, "{waits:?}");
        // In the midst of the flood others are written to and move, on the thread that takes it in.
        let note = types()
            .parse("walker", "note", &format!(r#"{{"sender":"t","number":{}}}"#, first / 100 + 1))
            .expect("a note");
        let told = node.send(vec![(0, one, note.into())], Some(Duration::from_secs(10))).await;
        assert_eq!((told.accepted, told.applied), (1, 1));
    }
    assert!(taken.len() * MESSAGE < BUDGET, "{} of {count} were taken", taken.len());
    let moved = migrate(&node.scene(QUICK), other, Own::new(me(), THIRD)).await;
    assert!(matches!(moved, Outcome::Moved { .. }), "{moved:?}");

    gate.open();
    stage.await_answers().await;
    let marker = node.send(messages(sleeper, u64::MAX - 1..u64::MAX, &[]), Some(Duration::from_secs(20))).await;
    assert_eq!((marker.busy, marker.applied), (0, 1), "there is room again, and what came before it is applied");
    taken.push(u64::MAX - 1);
    // Whoever keeps what came back, and says it again as there is room, is heard to the last.
    for portion in came_back.chunks(PORTION) {
        let numbers = portion.iter().flat_map(|number| messages(sleeper, *number..number + 1, &[0; MESSAGE]));
        let numbers = (0..).zip(numbers).map(|(at, (_, to, payload))| (at, to, payload)).collect();
        let again = node.send(numbers, Some(Duration::from_secs(20))).await;
        assert_eq!((again.busy, again.applied as usize), (0, portion.len()), "{again:?}");
    }
    taken.append(&mut came_back);
    assert_eq!(gate.seen(), taken, "each once, in order");
    stage.await_turns().await;
    assert_eq!(stage.waits(), [0; 3], "nothing waits any more");
}

/// Messages with a number and some bytes each.
fn messages(to: OnlineId, numbers: std::ops::Range<u64>, bytes: &[u8]) -> Vec<(u32, OnlineId, Payload)> {
    let message = |number: u64| payload(&Pass { number, bytes: bytes.to_vec() }).into();
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

/// The gate of the one test that there is here.
static GATE: LazyLock<Gate> = LazyLock::new(Gate::default);

/// Its handler waits at the gate.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Sleeper {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Pass {
    number: u64,
    bytes: Vec<u8>,
}

#[handlers(crate = "slipgate_entity")]
impl Sleeper {
    #[from(cluster)]
    fn pass(&mut self, Pass { number, .. }: Pass) {
        GATE.pass(number);
    }
}

fn types() -> Types {
    Types::builder().entity::<Walker>().entity::<Sleeper>().build().expect("types")
}

struct Stage {
    node: Node,
    thread: Arbiter,
}

/// On its own thread, which is the first that is given a scene.
const SLOW: SceneId = SceneId(1);
const QUICK: SceneId = SceneId(2);
const THIRD: SceneId = SceneId(3);

impl Stage {
    fn start() -> Self {
        let thread = Arbiter::new();
        let make = Make {
            view: view(1, &[SLOW, QUICK, THIRD].map(|scene| (1, scene))),
            budget: Budget::new(BUDGET),
            limits: Limits { stream_bytes: BUDGET, ..Limits::default() },
            types: types(),
            scenes: vec![SLOW, QUICK, THIRD],
            // One for each scene, so that it is known which scene is on which.
            threads: vec![Some(thread.handle()), None, None],
            ..Make::default()
        };
        let (node, _) = Node::start(me(), make);
        Self { node, thread }
    }

    async fn spawn(&self, scene: SceneId, type_name: &str) -> OnlineId {
        spawn(&self.node.scene(scene), type_name).await
    }

    fn waits(&self) -> [usize; 3] {
        Part::ALL.map(|part| self.node.post.budget().waits(part))
    }

    /// Waits until all that the router has accepted is answered.
    async fn await_answers(&self) {
        let (reply, answered) = oneshot::channel();
        self.node.router.tell(AwaitAnswers { reply });
        answered.await.expect("the router answers");
    }

    /// Waits until the scenes have done with all that had come to them.
    async fn await_turns(&self) {
        for scene in [SLOW, QUICK, THIRD] {
            ask(&self.node.scene(scene), Question::Census).await;
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.thread.stop();
    }
}
