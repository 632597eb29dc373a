//! Leases that end, verdicts, and what a dead node leaves behind.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use slipgate::admin::body::{BatchBody, BatchMessage, SpawnBody};
use slipgate::client::{CallError, Client, Events};
use slipgate_proto::admin::{EntityReport, EntityRow, LostRow, SceneReport, SendReport};

use crate::nodes::{Cluster, Line, Node};
use crate::{status, stop_all};

#[test]
fn what_a_killed_node_held_is_lost_by_name_and_its_senders_hear_unknown_never_dead() {
    let (cluster, mut nodes) = three();
    let ann = spawn(&nodes[1].client(), "harbor", "ann");
    let bob = spawn(&nodes[2].client(), "keep", "bob");
    // ann's home lives on, and she dies; bob lives on, and his home dies: another node takes its place.
    migrate(&nodes[0].client(), &ann, "keep");
    migrate(&nodes[0].client(), &bob, "harbor");
    assert_eq!(send(&nodes[0].client(), &ann, false).accepted, 1);
    let events = nodes[1].client().events("/api/v1/events?what=nodes").expect("a stream");

    nodes[2].kill();
    let mark = nodes[0].count();
    let report = send(&nodes[0].client(), &ann, true);
    assert_eq!((report.accepted, report.unknown, report.dead), (1, 1, 0), "{report:?}");
    nodes[0].await_line(mark, "the verdict", |line| line["event"] == "node.dead");
    let late = send(&nodes[1].client(), &ann, true);
    assert_eq!((late.accepted, late.lost, late.unknown), (1, 1, 0), "{late:?}");
    let home = |line: &Line| line["event"] == "homes.passed" && line["former"] == "n3";
    let heir = nodes[0].await_line(mark, "another home", home)["peer"].clone();
    let lost: Vec<LostRow> = nodes[0].client().get("/api/v1/lost").expect("a list");
    let named: Vec<_> = lost.iter().map(|row| (row.entity.clone(), row.label.clone(), row.scene.clone())).collect();
    assert_eq!(named, [(ann.clone(), Some("ann".to_owned()), "keep".to_owned())]);
    for (name, text) in [
        ("ann", format!("ann ({ann}) is gone: it was lost with n3")),
        (&*ann, format!("{ann} is gone: it was lost with its node")),
    ] {
        let told = nodes[0].client().get::<EntityReport>(&format!("/api/v1/entities/{name}")).expect_err("she is gone");
        let CallError::Problem(problem) = told else { panic!("expected a problem, got {told}") };
        assert_eq!((problem.text, problem.hint.as_deref()), (text, Some("slipgate entities --lost")));
    }
    let shown: EntityReport =
        nodes[0].client().get(&format!("/api/v1/entities/{bob}")).expect("he is found all the same");
    assert_eq!((shown.scene.as_str(), shown.node.as_str()), ("harbor", "n2"));
    let stays = |problem: CallError, reason: &str, state: String| {
        let CallError::Problem(problem) = problem else { panic!("expected a problem, got {problem}") };
        assert_eq!((problem.reason.as_str(), problem.state), (reason, Some(state)), "{}", problem.text);
    };
    let heir = nodes.iter().find(|node| heir == *node.name).expect("it is one of the three");
    heir.await_event("home.rebuilt");
    await_events(events, &["lease.late", "node.dead", "home.rebuilding", "home.rebuilt", "entities.lost"]);
    migrate(&nodes[0].client(), &bob, "wood");
    let scenes: Vec<SceneReport> = nodes[0].client().get("/api/v1/scenes").expect("a list");
    let states: Vec<_> = scenes.iter().map(|scene| (scene.scene.as_str(), scene.state.as_str())).collect();
    assert_eq!(states, [("harbor", "open"), ("keep", "dead"), ("wood", "open")]);
    let carl = spawn(&nodes[1].client(), "harbor", "carl");
    let gone = try_migrate(&nodes[0].client(), &carl, "keep").expect_err("nobody is there");
    stays(gone, "node_gone", format!("{carl} is still in harbor@n2 and takes messages"));

    // The node comes back under its name, and everything else goes on.
    nodes[2] = cluster.start("n3");
    nodes[2].await_range();
    migrate(&nodes[0].client(), &carl, "keep");
    stop_all(&mut nodes);
}

#[test]
fn whoever_was_spawned_on_a_killed_node_and_lived_there_is_lost_by_name_and_label() {
    let (_cluster, mut nodes) = three();
    let mut walkers = vec![(spawn(&nodes[0].client(), "keep", "ann"), Some("ann".to_owned()))];
    for label in [Some("orc"), None] {
        let (label, count) = (label.map(str::to_owned), if label.is_some() { 99 } else { 100 });
        let body = SpawnBody { label, count, ..SpawnBody::of("walker", "keep") };
        let rows: Vec<EntityRow> = nodes[0].client().post("/api/v1/entities", &body).expect("entities");
        walkers.extend(rows.into_iter().map(|row| (row.entity, row.label)));
    }
    let gone = spawn(&nodes[0].client(), "keep", "gone");
    let away = spawn(&nodes[0].client(), "keep", "away");
    migrate(&nodes[0].client(), &away, "harbor");
    let _: serde_json::Value = nodes[0].client().delete(&format!("/api/v1/entities/{gone}")).expect("an answer");
    thread::sleep(TOLD);

    nodes[2].kill();
    thread::sleep(WITHIN);
    let lost: Vec<LostRow> = nodes[0].client().get("/api/v1/lost?limit=1000").expect("a list");
    assert!(lost.iter().all(|row| (row.node.as_str(), row.incarnation) == ("n3", 1)), "{lost:?}");
    let mut named: Vec<_> = lost.into_iter().map(|row| (row.entity, row.label)).collect();
    named.sort();
    walkers.sort();
    assert_eq!((named.len(), named), (200, walkers));
    assert_eq!(status(&nodes[0], 2).nodes.iter().map(|node| node.lost).sum::<u64>(), 200);
    let told = nodes[..2].iter().flat_map(|node| node.told("entities.lost"));
    assert_eq!(told.map(|line| line["entities"].as_u64().expect("a number")).sum::<u64>(), 200);
    migrate(&nodes[0].client(), &away, "wood");
    nodes.truncate(2);
    stop_all(&mut nodes);
}

#[test]
fn a_node_that_sleeps_past_its_lease_begins_a_new_life_and_nothing_of_the_old_one_counts() {
    let (_cluster, mut nodes) = three();
    let ann = spawn(&nodes[0].client(), "harbor", "ann");
    migrate(&nodes[0].client(), &ann, "keep");
    let (mark, slept) = (nodes[0].count(), nodes[2].count());
    nodes[2].signal(Signal::STOP);
    nodes[0].await_line(mark, "the verdict", |line| line["event"] == "node.dead");
    nodes[2].signal(Signal::CONT);
    nodes[2].await_line(slept, "the end of a life", |line| line["event"] == "node.over");
    nodes[2].await_line(slept, "a new life", |line| line["event"] == "node.working" && line["incarnation"] == 2);
    nodes[2].await_line(slept, "a new range", |line| line["event"] == "range.opened");
    let mut rows: Vec<EntityRow> = Vec::new();
    for node in &nodes {
        rows.extend(node.client().get::<Vec<EntityRow>>("/api/v1/entities").expect("a list"));
    }
    assert_eq!(rows, [], "ann is lost, and nobody brings her back");
    let lost: Vec<LostRow> = nodes[1].client().get("/api/v1/lost").expect("a list");
    assert_eq!(lost.iter().map(|row| row.entity.as_str()).collect::<Vec<_>>(), [ann.as_str()]);
    let bob = spawn(&nodes[1].client(), "keep", "bob");
    migrate(&nodes[1].client(), &bob, "harbor");
    stop_all(&mut nodes);
}

#[test]
fn nodes_pause_while_the_manager_is_away_for_longer_than_the_lease_and_go_on_with_all_they_had() {
    let scenes = [("harbor", "n1"), ("keep", "n2")];
    let cluster = Cluster::new("m", &scenes);
    let mut manager = short(&cluster, "m");
    let mut nodes = vec![short(&cluster, "n1"), short(&cluster, "n2")];
    nodes.iter().for_each(Node::await_range);
    nodes[1].await_link(0, "n1");
    let ann = spawn(&nodes[0].client(), "harbor", "ann");
    migrate(&nodes[0].client(), &ann, "keep");

    let marks = [nodes[0].count(), nodes[1].count()];
    manager.kill();
    for (node, mark) in nodes.iter().zip(marks) {
        node.await_line(mark, "the pause", |line| line["event"] == "lease.ended");
    }
    let mut manager = short(&cluster, "m");
    for (node, mark) in nodes.iter().zip(marks) {
        node.await_line(mark, "its end", |line| line["event"] == "lease.regained");
        assert_eq!(node.told("node.over"), [], "the session goes on");
    }
    let report = send(&nodes[0].client(), &ann, true);
    assert_eq!((report.accepted, report.applied), (1, 1), "{report:?}");
    migrate(&nodes[0].client(), &ann, "harbor");
    assert_eq!(nodes[0].client().get::<Vec<LostRow>>("/api/v1/lost").expect("a list"), []);
    stop_all(&mut nodes);
    assert_eq!(manager.stop(), Some(0));
}

/// Longer than what was just born waits to be told: a batch goes every tenth of a second.
const TOLD: Duration = Duration::from_secs(1);
/// Lease, margin, and the two seconds in which a home is rebuilt.
const WITHIN: Duration = Duration::from_millis(3_500);

/// Three nodes with a scene each, and a lease of a second.
fn three() -> (Cluster, Vec<Node>) {
    let cluster = Cluster::new("n1", &[("harbor", "n2"), ("keep", "n3"), ("wood", "n1")]);
    let mut nodes = Vec::new();
    for name in ["n1", "n2", "n3"] {
        nodes.push(short(&cluster, name));
    }
    nodes.iter().for_each(Node::await_range);
    nodes[2].await_link(0, "n1");
    nodes[2].await_link(0, "n2");
    status(&nodes[0], 3);
    (cluster, nodes)
}

fn short(cluster: &Cluster, name: &str) -> Node {
    cluster.launch(name).set("manager.lease", "1s").set("manager.margin", "500ms").start()
}

fn spawn(client: &Client, scene: &str, label: &str) -> String {
    let body = SpawnBody { label: Some(label.into()), ..SpawnBody::of("walker", scene) };
    let rows: Vec<EntityRow> = client.post("/api/v1/entities", &body).expect("an entity");
    rows[0].entity.clone()
}

fn migrate(client: &Client, entity: &str, to: &str) {
    let report = try_migrate(client, entity, to).expect("an answer");
    assert_eq!(report["result"], "ok", "{report}");
}

/// Reads what a watcher is told until all of that has come, about whichever node it is.
fn await_events(events: Events, names: &[&str]) {
    let mut missing: BTreeSet<&str> = names.iter().copied().collect();
    for event in events {
        missing.remove(event.expect("the node runs").event.as_str());
        if missing.is_empty() {
            return;
        }
    }
    panic!("the stream ended before {missing:?}");
}

fn try_migrate(client: &Client, entity: &str, to: &str) -> Result<serde_json::Value, CallError> {
    client.post(&format!("/api/v1/entities/{entity}/moves"), &serde_json::json!({ "to": to }))
}

fn send(client: &Client, entity: &str, wait: bool) -> SendReport {
    let message = BatchMessage { entity: entity.into(), name: "hit".into(), arguments: r#"{"hp":1}"#.into() };
    let body = BatchBody { via: None, messages: vec![message], wait, timeout_ms: 15_000 };
    client.post("/api/v1/messages", &body).expect("a report")
}
