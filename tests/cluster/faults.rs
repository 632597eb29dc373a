//! A node that breaks an invariant of its own: it ends at once and wholly, with a line and an exit code that say so, and
//! the others go on without it.
//!
//! What breaks it is a task on a thread of its scenes that nobody guards: for the node that is as an actor of its own that
//! panics. That each actor's panic comes there is shown in `src/node/fault_tests.rs`.

use std::net::TcpStream;

use slipgate::admin::body::{BatchBody, BatchMessage, SpawnBody};
use slipgate::client::{CallError, Client};
use slipgate::prelude::*;
use slipgate_proto::admin::{EntityReport, EntityRow, SendReport};

use crate::nodes::{self, Cluster, Line};
use crate::{status, stop_all};

#[derive(Debug, Default, Entity)]
struct Saboteur;

#[derive(Debug, Message)]
struct Sabotage {}

#[handlers]
impl Saboteur {
    #[from(cluster)]
    fn sabotage(&mut self, _: Sabotage) {
        actix_rt::spawn(async { panic!("expected the slots to agree, found one of two") });
    }
}

/// Not a test by itself: [`Cluster`] starts it as a node whose program has the saboteur.
#[test]
#[ignore = "it is the process of another test"]
fn a_node_with_a_saboteur() {
    nodes::be_a_node();
}

#[test]
fn a_node_that_breaks_an_invariant_of_its_own_ends_with_101_and_the_others_go_on_without_it() {
    let cluster = Cluster::new("n1", &[("wood", "n1"), ("harbor", "n2"), ("pier", "n2")]);
    let lease = |launch: nodes::Launch<'_>| launch.set("manager.lease", "1s").set("manager.margin", "200ms").start();
    let launch = || cluster.launch("n2").played_by("faults::a_node_with_a_saboteur").set("node.arbiters", "2");
    // The scenes of the node are on its main thread and on another one.
    let whole = lease(cluster.launch("n1"));
    for scene in ["harbor", "pier"] {
        let mut broken = lease(launch());
        status(&whole, 2);
        let (near, admin) = (whole.client(), broken.admin());
        let saboteur = spawn(&near, "saboteur", scene);
        let ann = spawn(&near, "saboteur", "harbor");
        let mark = whole.count();
        let message = BatchMessage { entity: saboteur, name: "sabotage".into(), arguments: "{}".into() };
        let body = BatchBody { via: None, messages: vec![message], wait: false, timeout_ms: 5_000 };
        match broken.client().post::<SendReport>("/api/v1/messages", &body) {
            Ok(report) => assert_eq!(report.accepted, 1, "{report:?}"),
            // The node may be gone before it has answered.
            Err(CallError::Broken { .. }) => {}
            Err(error) => panic!("expected it to be accepted: {error}"),
        }

        assert_eq!(broken.end(), Some(101), "{}", broken.lines().join("\n"));
        let last: Line = serde_json::from_str(broken.lines().last().expect("lines")).expect("an object");
        let keys = ["level", "node", "event", "what"].map(|key| last[key].as_str().unwrap_or_default());
        let expected = ["ERROR", "n2", "process.panicked", "expected the slots to agree, found one of two"];
        assert_eq!(keys, expected, "{last:?}");
        assert!(last["where"].as_str().is_some_and(|place| place.contains("faults.rs")), "{last:?}");
        assert!(TcpStream::connect(&admin).is_err(), "nobody answers for it any more");

        whole.await_line(mark, "the verdict", |line| line["event"] == "node.dead" && line["peer"] == "n2");
        let gone = near.get::<EntityReport>(&format!("/api/v1/entities/{ann}")).expect_err("it went with its node");
        let CallError::Problem(problem) = gone else { panic!("expected a problem, got {gone}") };
        assert_eq!(problem.reason, "dead", "{problem:?}");
        spawn(&near, "walker", "wood");
    }
    // Under its name another life begins, and is taken in.
    let back = lease(cluster.launch("n2"));
    status(&whole, 2);
    spawn(&whole.client(), "walker", "harbor");
    stop_all(&mut [whole, back]);
}

fn spawn(client: &Client, kind: &str, scene: &str) -> String {
    let rows: Vec<EntityRow> = client.post("/api/v1/entities", &SpawnBody::of(kind, scene)).expect("an entity");
    rows[0].entity.clone()
}
