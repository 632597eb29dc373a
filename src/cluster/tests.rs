//! A cluster in this process, as a program uses it.

mod labels;

use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use slipgate_entity::game::Context;
use slipgate_macros::{Entity, Message, handlers};
use slipgate_walker::{Hit, Step, Walker};

use super::*;
use crate::block_on;

fn walkers() -> Types {
    Types::builder().entity::<Walker>().build().expect("the walker is a type")
}

async fn two_nodes() -> Cluster {
    let builder = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]);
    builder.types(walkers()).start().await.expect("a cluster")
}

#[test]
fn an_entity_is_spawned_spoken_to_moved_looked_at_asked_and_ended() {
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
        assert_eq!((shown.label.as_deref(), shown.state["own"]["hp"].as_i64()), (Some("ann"), Some(93)));
        assert_eq!(ann.ask(Hit { hp: 3 }).await, Ok(90));
        assert_eq!(ann.ask(Step { dx: 1.0, dy: 0.0 }).await, Ok(()));
        let healed = ann.until_within(Duration::from_millis(20), |ann| ann.state["own"]["hp"] == 100).await;
        assert_eq!(healed.map_err(|problem| problem.text), Err(format!("{ann} is not as wanted after 20ms")));
        ann.despawn().await.expect("gone");
        assert_eq!(ann.send_named("hit", &json!({ "hp": 5 })).await, Err(SendError::Dead));
        assert_eq!(ann.ask(Hit { hp: 3 }).await, Err(SendError::Dead));
        cluster.stop().await.expect("a clean end");
    });
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", flags(is_global))]
struct Bank {
    gold: u32,
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Saver {
    found: bool,
}

#[derive(Debug, Message)]
#[message(answer = u32, crate = "slipgate_entity")]
struct Pay {
    gold: u32,
}

#[derive(Debug, Message)]
#[message(answer = bool, crate = "slipgate_entity")]
struct Save {
    gold: u32,
}

#[handlers(crate = "slipgate_entity")]
impl Bank {
    #[from(cluster)]
    fn pay(&mut self, Pay { gold }: Pay) -> u32 {
        self.gold += gold;
        self.gold
    }
}

#[handlers(crate = "slipgate_entity")]
impl Saver {
    /// Says whether there is a bank.
    #[from(cluster)]
    fn save(&mut self, Save { gold }: Save, cx: &mut Context<'_>) -> bool {
        let bank = cx.global("bank");
        bank.into_iter().for_each(|bank| cx.send(bank, Pay { gold }));
        self.found = bank.is_some();
        self.found
    }
}

#[test]
fn a_global_entity_is_found_by_name_from_every_scene_and_wherever_it_moves() {
    block_on(async {
        let types = Types::builder().entity::<Bank>().entity::<Saver>().build().expect("types");
        let builder = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).types(types);
        let cluster = builder.start().await.expect("a cluster");
        let savers = [
            cluster.scene("forest").spawn_named("saver").await.expect("spawned"),
            cluster.scene("harbor").spawn_named("saver").await.expect("spawned"),
        ];
        for saver in &savers {
            assert_eq!(saver.ask(Save { gold: 1 }).await, Ok(false), "there is none yet");
        }
        let bank = cluster.scene("forest").spawn_named("bank").await.expect("spawned");
        let mut paid = 0;
        for place in ["harbor", "forest"] {
            for saver in &savers {
                // Other nodes hear of it a little later.
                let asking = async { while !saver.ask(Save { gold: 1 }).await.expect("an answer") {} };
                tokio::time::timeout(Duration::from_secs(10), asking).await.expect("it is found");
                paid += 1;
            }
            bank.move_to(place).await.expect("moved");
            for saver in &savers {
                assert_eq!(saver.ask(Save { gold: 1 }).await, Ok(true), "it is never lost sight of");
                paid += 1;
            }
        }
        bank.until(|bank| bank.state["own"]["gold"] == paid).await.expect("all was paid");
        cluster.stop().await.expect("a clean end");
    });
}

#[test]
fn what_stopped_has_left_neither_thread_nor_port_nor_folder() {
    let folders = || {
        let all = std::fs::read_dir(std::env::temp_dir()).expect("a folder");
        all.flatten().filter(|folder| folder.path().join("leaver1").exists()).count()
    };
    let threads = || {
        let all = std::fs::read_dir("/proc/self/task").expect("threads");
        let names = all.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        names.filter(|name| name.starts_with("node leaver")).count()
    };
    block_on(async {
        let builder = Cluster::builder().node("leaver1", ["forest"]).node("leaver2", ["harbor"]);
        let cluster = builder.types(walkers()).start().await.expect("a cluster");
        cluster.scene("forest").spawn_named("walker").await.expect("spawned");
        let admin = cluster.node("leaver1").expect("declared").admin().to_owned();
        assert_eq!((folders(), threads(), TcpStream::connect(&admin).is_ok()), (1, 2, true));
        cluster.stop().await.expect("a clean end");
        assert_eq!((folders(), threads(), TcpStream::connect(&admin).is_ok()), (0, 0, false));
    });
}

#[test]
fn a_reference_is_its_id_as_data_and_is_attached_again() {
    block_on(async {
        let cluster = two_nodes().await;
        let bob = cluster.scene("harbor").spawn_named("walker").label("bob").await.expect("spawned");
        let text = serde_json::to_string(&bob).expect("JSON");
        assert_eq!(text, format!("\"{}\"", bob.id()));
        let read: Ref = serde_json::from_str(&text).expect("an id");
        assert_eq!(read.show().await.map_err(|problem| problem.reason), Err("detached".to_owned()));
        assert_eq!(cluster.attach(&read).show().await.expect("shown").label.as_deref(), Some("bob"));
        assert_eq!((cluster.find("bob").await.as_ref(), &read), (Ok(&bob), &bob));
        cluster.stop().await.expect("a clean end");
    });
}

#[test]
fn a_move_that_is_refused_says_why_and_where_the_entity_is() {
    block_on(async {
        let cluster = two_nodes().await;
        let ann = cluster.scene("forest").spawn_named("walker").label("ann").await.expect("spawned");
        let error = ann.move_to("forest").await.expect_err("it is there");
        assert_eq!(
            (error.kind, error.at.map(|at| at.to_string())),
            (ProblemKind::Refused, Some("forest@n1".to_owned()))
        );
        let error = ann.move_to("void").await.expect_err("there is no such place");
        assert_eq!((error.kind, error.reason.as_str()), (ProblemKind::NotFound, "unknown_scene"));
        assert!(error.to_string().contains("is still in forest@n1"), "{error}");
        cluster.stop().await.expect("a clean end");
    });
}

#[test]
fn a_cluster_that_cannot_be_says_why_and_leaves_nobody_waiting() {
    block_on(async {
        assert!(matches!(Cluster::builder().start().await, Err(StartError::Empty)));
        let wrong = Cluster::builder().node("n 1", ["forest"]).start().await;
        assert!(matches!(wrong, Err(StartError::Config(_))));
        let wrong = Cluster::builder().node("n1", ["forest"]).set("limits.settel", "1s").start().await;
        assert!(matches!(&wrong, Err(StartError::Config(faults)) if faults.to_string().contains("settle")));
        let twice = Cluster::builder().node("n1", ["forest"]).node("n1", ["harbor"]).start().await;
        assert!(matches!(twice, Err(StartError::Twice { node }) if node == "n1"));
    });
}
