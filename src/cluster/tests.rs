//! A cluster in this process, as a program uses it.

use serde_json::json;

use super::*;
use crate::block_on;

async fn two_nodes() -> Cluster {
    let builder = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]);
    builder.start().await.expect("a cluster")
}

#[test]
fn an_entity_is_spawned_spoken_to_moved_looked_at_and_ended() {
    block_on(async {
        let cluster = two_nodes().await;
        let ann = cluster.scene("forest").spawn_named("walker").label("ann").await.expect("spawned");
        ann.send_named("hit", &json!({ "hp": 5 })).await.expect("applied");
        let moved = ann.move_to("harbor").await.expect("moved");
        assert_eq!((moved.from.to_string(), moved.to.to_string()), ("forest@n1".into(), "harbor@n2".into()));
        ann.tell_named("hit", &json!({ "hp": 1 })).await.expect("accepted");
        ann.send_named("hit", &json!({ "hp": 1 })).await.expect("applied, and so is all before");
        let shown = ann.show().await.expect("shown");
        assert_eq!((shown.at, shown.epoch, shown.applied), (moved.to, moved.epoch, 3));
        assert_eq!((shown.label.as_deref(), shown.state["hp"].as_i64()), (Some("ann"), Some(93)));
        ann.despawn().await.expect("gone");
        assert_eq!(ann.send_named("hit", &json!({ "hp": 5 })).await, Err(SendError::Dead));
        cluster.stop().await.expect("a clean end");
    });
}
