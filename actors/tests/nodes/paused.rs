//! A node whose lease has ended accepts nothing, says so, and loses nothing of what it had begun.

use std::sync::Arc;
use std::time::Duration;

use slipgate_actors::scene::{AskScene, Question, SpawnOrder};
use slipgate_cluster::Now;
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_proto::admin::SendReport;
use tokio::sync::oneshot;

use crate::node::{Make, Node, ask, me};

#[actix_rt::test]
async fn what_a_tool_sends_through_a_paused_node_comes_back_as_busy_all_of_it() {
    let (node, _) = Node::start(me(), Make { lease: Now(0), ..Make::default() });
    let message = |position: u32| (position, OnlineId::new(RangeId(1), position), Arc::from([1u8].as_slice()));
    let report = node.send(vec![message(4), message(7)], Some(Duration::from_secs(9)));
    let busy = SendReport { busy: 2, busy_at: vec![4, 7], incarnation: 1, ..SendReport::default() };
    assert_eq!(report.await, busy);
}

#[actix_rt::test]
async fn a_spawn_that_meets_the_end_of_the_lease_waits_for_the_next_one() {
    let (node, _) = Node::start(me(), Make { lease: Now(0), scenes: vec![SceneId(1)], ..Make::default() });
    let scene = node.scene(SceneId(1));

    let (reply, mut spawned) = oneshot::channel();
    scene.tell(AskScene(Question::Spawn(SpawnOrder::of("walker", reply))));
    assert_eq!(ask(&scene, Question::Census).await.entities, 0, "looking takes no lease");
    assert!(spawned.try_recv().is_err(), "nothing is spawned without a lease");
    node.post.lease().prolong(Now(u64::MAX));
    assert!(spawned.await.expect("an answer").is_ok());
}
