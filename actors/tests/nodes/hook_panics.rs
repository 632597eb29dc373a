//! Hooks and timers that panic in a real scene: their entity is parked, or is none, and whoever asked hears why.

use std::cell::RefCell;
use std::time::Duration;

use slipgate_actors::scene::{Question, SpawnError, SpawnOrder, Spawned};
use slipgate_cluster::Own;
use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_entity::game::{Context, Data, Destination, Entry, Leave, MoveFailed, Types};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use tokio::time::timeout;

use crate::node::{LIMIT, Make, Node, ask, me, migrate, view};

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);

#[actix_rt::test]
async fn an_entity_whose_init_panics_or_says_no_is_none_and_whoever_wanted_it_hears_why() {
    let node = start();
    for (fault, expected) in [("init", "its init panicked: as it was told"), ("no", "shaky says: it was told to")] {
        let Err(SpawnError::Unfit { reason }) = spawn(&node, fault).await else { panic!("it lives with {fault}") };
        assert!(reason.contains(expected), "{reason}");
    }
    assert_eq!(HEARD.take(), ["init", "init"], "it was never in the scene");
    let emptied = async { while ask(&node.scene(HERE), Question::Census).await.entities > 0 {} };
    timeout(LIMIT, emptied).await.expect("nobody is left of them");
}

#[actix_rt::test]
async fn an_entity_that_panics_as_it_comes_into_its_scene_is_spawned_and_parked() {
    let node = start();
    for hook in ["enter", "activate"] {
        let shaky = spawn(&node, hook).await.expect("it lives");
        assert_eq!(await_parked(&node, HERE, shaky).await, "a hook of shaky panicked: as it was told");
        assert_eq!(HEARD.take(), ["init", "enter", "activate"]);
    }
}

#[actix_rt::test]
async fn an_entity_whose_timer_panics_is_parked_and_its_other_timers_wait_until_it_is_unparked() {
    let node = start();
    let shaky = spawned(&node, "ring").await;
    node.say(shaky, Wind {}).await;
    assert_eq!(await_parked(&node, HERE, shaky).await, "the handler of a timer panicked: as it was told");
    assert_eq!(HEARD.take(), ["ring"]);
    // What takes turns meanwhile finds nothing that is due.
    let other = spawned(&node, "").await;
    assert_eq!(node.say(other, Calm {}).await.applied, 1);
    assert_eq!(HEARD.take(), [""; 0]);
    unpark(&node, shaky).await;
    assert_eq!(await_parked(&node, HERE, shaky).await, "the handler of a timer panicked: as it was told");
    assert_eq!(HEARD.take(), ["ring"]);
}

#[actix_rt::test]
async fn an_entity_that_panics_over_a_move_stays_is_parked_and_whoever_asked_hears_why() {
    let node = start();
    let shaky = spawned(&node, "leaving").await;
    let Outcome::Refused(Refusal::Vetoed { reason }) = go(&node, shaky).await else { panic!("it has moved") };
    assert_eq!(reason, "its leaving hook panicked: as it was told");
    assert_eq!(await_parked(&node, HERE, shaky).await, reason);
    assert_eq!(HEARD.take(), ["leaving"]);
    assert!(matches!(go(&node, shaky).await, Outcome::Moved { .. }), "one that is parked is not asked");
}

#[actix_rt::test]
async fn an_entity_that_panics_as_it_leaves_for_a_move_stays_is_parked_and_is_in_its_scene_again() {
    let node = start();
    for hook in ["deactivate", "leave"] {
        let shaky = spawned(&node, hook).await;
        let outcome = go(&node, shaky).await;
        let Outcome::Refused(Refusal::Unreadable { reason }) = &outcome else { panic!("{hook}: {outcome:?}") };
        assert_eq!(reason, "a hook of shaky panicked: as it was told");
        assert_eq!(await_parked(&node, HERE, shaky).await, *reason);
        assert_eq!(HEARD.take(), ["leaving", "deactivate", "leave", "enter", "activate", "failed"], "{hook}");
        assert!(matches!(go(&node, shaky).await, Outcome::Moved { .. }), "it moves as it is");
        assert_eq!(HEARD.take(), [""; 0]);
    }
}

#[actix_rt::test]
async fn an_entity_that_panics_where_it_arrives_is_parked_there() {
    let node = start();
    let shaky = spawned(&node, "arrived").await;
    assert!(matches!(go(&node, shaky).await, Outcome::Moved { .. }));
    assert_eq!(await_parked(&node, THERE, shaky).await, "a hook of shaky panicked: as it was told");
}

fn start() -> Node {
    let types = Types::builder().entity::<Shaky>().build().expect("a type");
    let view = view(1, &[(1, HERE), (1, THERE)]);
    Node::start(me(), Make { view, types, scenes: vec![HERE, THERE], ..Make::default() }).0
}

async fn spawn(node: &Node, panics_in: &str) -> Spawned {
    let data = Data::default().with("shaky", serde_json::json!({ "panics_in": panics_in }));
    let order = |reply| Question::Spawn(SpawnOrder { data, ..SpawnOrder::of("shaky", reply) });
    ask(&node.scene(HERE), order).await
}

/// The same, after which nothing is heard yet.
async fn spawned(node: &Node, panics_in: &str) -> OnlineId {
    let shaky = spawn(node, panics_in).await.expect("it lives");
    HEARD.take();
    shaky
}

async fn go(node: &Node, entity: OnlineId) -> Outcome {
    migrate(&node.scene(HERE), entity, Own::new(me(), THERE)).await
}

/// Why it is parked, once it is.
async fn await_parked(node: &Node, scene: SceneId, entity: OnlineId) -> String {
    let scene = node.scene(scene);
    let parked = async {
        loop {
            let shown = ask(&scene, |reply| Question::Show { entity, reply }).await;
            if let Some(parked) = shown.and_then(|(shown, _)| shown.stand.parked) {
                return parked.why;
            }
        }
    };
    timeout(LIMIT, parked).await.expect("it is parked")
}

async fn unpark(node: &Node, entity: OnlineId) {
    let unparked = ask(&node.scene(HERE), |reply| Question::Unpark { entity, reply }).await;
    assert_eq!(unparked, Ok(true));
}

thread_local! {
    /// The scenes run on the thread of their test.
    static HEARD: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Panics in one of its hooks, as it is told.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Shaky {
    panics_in: String,
}

/// Sets two timers.
#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Wind {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Ring {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Calm {}

#[handlers(crate = "slipgate_entity")]
impl Shaky {
    fn hear(&self, hook: &'static str) {
        HEARD.with_borrow_mut(|heard| heard.push(hook));
        if self.panics_in == hook {
            panic!("as it was told");
        }
    }

    #[hook]
    fn init(&mut self) -> Result<(), String> {
        self.hear("init");
        if self.panics_in == "no" { Err("it was told to".to_owned()) } else { Ok(()) }
    }

    #[hook]
    fn on_enter_scene(&mut self, _: &Entry) {
        self.hear("enter");
    }

    #[hook]
    fn activate(&mut self) {
        self.hear("activate");
    }

    #[hook]
    fn deactivate(&mut self) {
        self.hear("deactivate");
    }

    #[hook]
    fn on_leave_scene(&mut self) {
        self.hear("leave");
    }

    #[hook]
    fn leaving(&mut self, _: &Destination) -> Leave {
        self.hear("leaving");
        Leave::allow()
    }

    #[hook]
    fn arrived(&mut self) {
        self.hear("arrived");
    }

    #[hook]
    fn move_failed(&mut self, _: &MoveFailed) {
        self.hear("failed");
    }

    #[from(cluster)]
    fn wind(&mut self, _: Wind, cx: &mut Context<'_>) {
        for _ in 0..2 {
            cx.after(Duration::ZERO, Ring {}).expect("room for two");
        }
    }

    #[from(cluster)]
    fn ring(&mut self, _: Ring) {
        self.hear("ring");
    }

    #[from(cluster)]
    fn calm(&mut self, _: Calm) {}
}
