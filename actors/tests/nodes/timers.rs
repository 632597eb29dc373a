//! Timers of entities that move between two nodes: each comes once, where its entity is by then.

use std::cell::RefCell;
use std::time::Duration;

use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_entity::game::{Context, TimerId, Types};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_macros::{Entity, Message, handlers};

use crate::games::{IS_BROKEN, Seal};
use crate::node::{spawn, until};
use crate::two_nodes::Cluster;

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);

#[actix_rt::test]
async fn a_timer_that_is_due_while_its_entity_is_on_the_way_comes_once_and_at_the_target() {
    let (cluster, clock) = start().await;
    let other = spawn(&cluster.nodes[0].scene(), "clock").await;
    let (moved, ()) = tokio::join!(cluster.migrate(clock, 0, 1), turns(&cluster, other));
    assert!(matches!(moved, Outcome::Moved { .. }));
    until("it rings", || !RUNG.with_borrow(Vec::is_empty)).await;
    turns(&cluster, clock).await;
    turns(&cluster, other).await;
    assert_eq!(RUNG.take(), [(clock, THERE)]);
}

#[actix_rt::test]
async fn a_timer_that_is_due_while_a_move_comes_to_nothing_comes_once_and_here() {
    let (cluster, clock) = start().await;
    let other = spawn(&cluster.nodes[0].scene(), "clock").await;
    IS_BROKEN.set(true);
    let (moved, ()) = tokio::join!(cluster.migrate(clock, 0, 1), turns(&cluster, other));
    assert!(matches!(moved, Outcome::Refused(Refusal::Unreadable { .. })), "{moved:?}");
    until("it rings", || !RUNG.with_borrow(Vec::is_empty)).await;
    turns(&cluster, clock).await;
    assert_eq!(RUNG.take(), [(clock, HERE)]);
}

#[actix_rt::test]
async fn a_timer_keeps_its_number_over_a_move_and_no_other_gets_it() {
    let (cluster, clock) = start().await;
    let node = &cluster.nodes[0].node;
    node.say(clock, Wind {}).await;
    assert!(matches!(cluster.migrate(clock, 0, 1).await, Outcome::Moved { .. }));
    until("it rings", || !RUNG.with_borrow(Vec::is_empty)).await;
    node.say(clock, Wind {}).await;
    let set = SET.with_borrow(Clone::clone);
    let [(HERE, first), (THERE, second)] = set[..] else { panic!("set where it was: {set:?}") };
    assert!(second > first, "{set:?}");
    for timer in [first, second] {
        for is_running in [true, false] {
            node.say(clock, Stop { timer }).await;
            assert_eq!(STOPPED.with_borrow_mut(Vec::pop), Some(is_running), "{timer:?} of {set:?}");
        }
    }
}

/// Two nodes, and a clock at the first one.
async fn start() -> (Cluster, OnlineId) {
    let types = || Types::builder().entity::<Clock>().build().expect("a type");
    let cluster = Cluster::of([types(), types()]);
    let clock = spawn(&cluster.nodes[0].scene(), "clock").await;
    (cluster, clock)
}

/// Lets the scene of an entity take many turns.
async fn turns(cluster: &Cluster, entity: OnlineId) {
    for _ in 0..50 {
        cluster.nodes[0].node.say(entity, Look {}).await;
    }
}

thread_local! {
    /// The scenes run on the thread of their test.
    static RUNG: RefCell<Vec<(OnlineId, SceneId)>> = const { RefCell::new(Vec::new()) };
    static SET: RefCell<Vec<(SceneId, TimerId)>> = const { RefCell::new(Vec::new()) };
    static STOPPED: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

/// Sets a timer as it leaves a scene: due at once, and by then it is on its way.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Clock {
    seal: Seal,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Ring {}

/// Sets a timer that does not come in time.
#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Wind {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Stop {
    timer: TimerId,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Look {}

#[handlers(crate = "slipgate_entity")]
impl Clock {
    #[hook]
    fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
        cx.after(Duration::ZERO, Ring {}).expect("room for one");
    }

    #[from(cluster)]
    fn ring(&mut self, _: Ring, cx: &mut Context<'_>) {
        RUNG.with_borrow_mut(|rung| rung.push((cx.id(), cx.scene().id)));
    }

    #[from(cluster)]
    fn wind(&mut self, _: Wind, cx: &mut Context<'_>) {
        let timer = cx.after(Duration::from_secs(3_600), Ring {}).expect("room for one");
        SET.with_borrow_mut(|set| set.push((cx.scene().id, timer)));
    }

    #[from(cluster)]
    fn stop(&mut self, Stop { timer }: Stop, cx: &mut Context<'_>) {
        let is_running = cx.cancel(timer);
        STOPPED.with_borrow_mut(|stopped| stopped.push(is_running));
    }

    #[from(cluster)]
    fn look(&mut self, _: Look) {}
}
