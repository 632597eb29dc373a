//! A planned stop: everybody moves out under fire, or is listed; by a signal and by order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use slipgate::admin::body::{BatchBody, MoveBody, SpawnBody};
use slipgate::client::{CallError, Client};
use slipgate::tour::account::{Account, Ledger, Tally};
use slipgate::tour::sending::Sender;
use slipgate_proto::admin::{DrainReport, EntityReport, EntityRow, MoveReport, NodeReport, SceneReport, SendReport};

use crate::command::run;
use crate::move_lines::check;
use crate::nodes::{Cluster, Node};
use crate::patience::within;
use crate::{slipgate, status, stop_all};

pub(super) const SCENES: [(&str, &str); 4] = [("forest", "n1"), ("harbor", "n2"), ("market", "n2"), ("keep", "n3")];

/// A command or a stop: seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_signal_under_fire_moves_everybody_out_and_nothing_is_lost() {
    let (_cluster, nodes) = three(&SCENES);
    emptied_under_fire(nodes, |node, _| node.terminate());
}

#[test]
fn an_order_under_fire_moves_everybody_out_tells_how_it_went_and_ends_with_the_node() {
    let (_cluster, nodes) = three(&SCENES);
    emptied_under_fire(nodes, |_, asked| {
        let output = run(&mut slipgate(asked, &["drain", "n2", "--wait", "-o", "json"]), LIMIT);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{out}");
        let report: DrainReport = serde_json::from_str(&out).expect("one object");
        assert_eq!((report.node.as_str(), report.state.as_str()), ("n2", DrainReport::DRAINED), "{report:?}");
        assert_eq!((report.entities, report.moved, report.kept), (60, 60, 0), "{report:?}");
        assert!(report.pause_us.p50 > 0 && report.pause_us.p50 <= report.pause_us.p99, "{report:?}");
    });
}

/// Fills n2, fires at everybody through every node, has n2 stopped, and accounts for every message.
fn emptied_under_fire(mut nodes: Vec<Node>, stop: impl FnOnce(&Node, &Node)) {
    let walkers: Vec<EntityRow> = spawn(&nodes[0], "forest", 80);
    let ids: Vec<String> = walkers.iter().map(|walker| walker.entity.clone()).collect();
    for (scene, ids) in [("harbor", &ids[..30]), ("market", &ids[30..60]), ("keep", &ids[60..70])] {
        ids.iter().for_each(|id| migrate(&nodes[0], id, scene));
    }
    let is_over = AtomicBool::new(false);
    let accounts: Vec<Account> = thread::scope(|scope| {
        let (is_over, ids) = (&is_over, &ids);
        let fire = |node: &Node| {
            let (client, name) = (node.client(), node.name.clone());
            scope.spawn(move || fire(&client, Sender::new(name, ids), is_over))
        };
        let senders: Vec<_> = nodes.iter().map(fire).collect();
        // Long enough that every stream is in full use.
        thread::sleep(Duration::from_millis(300));
        stop(&nodes[1], &nodes[0]);
        assert_eq!(nodes[1].end(), Some(0), "{}", nodes[1].lines().join("\n"));
        // And that what comes too late is sent, too.
        thread::sleep(Duration::from_millis(300));
        is_over.store(true, Ordering::Relaxed);
        senders.into_iter().flat_map(|sender| sender.join().expect("a sender does not panic")).collect()
    });

    let (asked, deadline) = (nodes[2].client(), Instant::now() + LIMIT);
    let mut tally = Tally::default();
    for (walker, accounts) in by_walker(&accounts) {
        let left = deadline.saturating_duration_since(Instant::now());
        let (Ok(ledger) | Err(ledger)) = within(left, || {
            let shown: EntityReport = asked.get(&format!("/api/v1/entities/{walker}")).expect("it lives");
            assert_ne!(shown.node, "n2", "{shown:?}");
            let ledger = Ledger::read(&shown.body).expect("a walker has a ledger");
            if accounts.iter().all(|account| ledger.has_all_of(account)) { Ok(ledger) } else { Err(ledger) }
        });
        accounts.iter().for_each(|account| tally.add(account, ledger.entry(&account.sender)));
    }
    let Tally { sent, applied, lost, unknown, duplicated, reordered } = tally;
    assert!(sent > 1_000 && applied == sent, "{tally:?}");
    assert_eq!((lost, unknown, duplicated, reordered), (0, 0, 0, 0), "{tally:?}");
    let rows: Vec<EntityRow> = asked.get("/api/v1/entities?limit=1000").expect("a list");
    assert_eq!(rows.len(), walkers.len(), "everybody is there once");
    let drained = nodes[1].told("node.drained");
    assert_eq!((drained.len(), &drained[0]["moved"], &drained[0]["kept"]), (1, &60.into(), &0.into()), "{drained:?}");

    stop_others(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "a planned stop is nothing to warn about: {loud:#?}");
    let lines: Vec<String> = nodes.iter().flat_map(Node::lines).collect();
    check(lines.iter().map(String::as_str), &[]).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
}

/// Sends without pause through one node, until it is over or the node takes no more.
pub(super) fn fire(client: &Client, mut sender: Sender, is_over: &AtomicBool) -> Vec<Account> {
    while !is_over.load(Ordering::Relaxed) {
        let batch = sender.batch();
        let body = BatchBody { via: None, messages: batch.messages(), wait: false, timeout_ms: 1000 };
        match client.post::<SendReport>("/api/v1/messages", &body) {
            Ok(report) => {
                sender.settle(&batch, &report);
            }
            Err(error) if error.is_certain() => break,
            Err(_) => sender.lose(&batch),
        }
    }
    // A node that drains answers for all that it took: nothing is excused by its end.
    sender.accounts(|_| false)
}

pub(super) fn by_walker(accounts: &[Account]) -> BTreeMap<&str, Vec<&Account>> {
    let mut by_walker: BTreeMap<&str, Vec<&Account>> = BTreeMap::new();
    for account in accounts {
        by_walker.entry(&account.entity).or_default().push(account);
    }
    by_walker
}

#[test]
fn who_finds_no_room_is_listed_and_the_node_stays_until_it_is_told_otherwise() {
    let cluster = Cluster::with_room("n1", &[("harbor", "n2"), ("keep", "n3")], 5);
    let mut nodes = ready(["n1", "n2", "n3"].map(|name| cluster.start(name)).into());
    spawn(&nodes[0], "harbor", 5);
    spawn(&nodes[0], "keep", 3);

    let output = run(&mut slipgate(&nodes[2], &["drain", "n2", "--wait", "-o", "json"]), LIMIT);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let report: DrainReport = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((report.state.as_str(), report.moved, report.kept), (DrainReport::KEPT, 2, 3), "{report:?}");
    let named: Vec<_> = report.kept_first.iter().map(|row| (row.scene.as_str(), row.reason.as_str())).collect();
    assert_eq!(named, [("harbor", "no_place"); 3]);
    assert!(report.kept_first[0].text.ends_with("the scene is full (5 of 5)"), "{report:?}");

    let node = |asked: &Node| {
        let nodes: Vec<NodeReport> = asked.client().get("/api/v1/nodes").expect("a list");
        nodes.into_iter().find(|node| node.node == "n2").expect("a member")
    };
    let kept = node(&nodes[0]);
    assert_eq!((kept.state.as_str(), kept.drain_percent, kept.entities), ("draining", Some(100), 3));
    let ready = nodes[1].client().get_raw("/health/ready").expect("an answer");
    assert_eq!((ready.status, ready.text.contains("keeps 3 entities")), (503, true), "{}", ready.text);
    let refused = try_spawn(&nodes[0], "harbor", 1).expect_err("nobody is taken in");
    assert!(matches!(&refused, CallError::Problem(problem) if problem.reason == "draining"), "{refused}");

    let output = run(&mut slipgate(&nodes[0], &["drain", "n2", "--cancel"]), LIMIT);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(told, "n2 goes on; 2 of 5 entities have moved and stay where they are\n", "{output:?}");
    assert_eq!(node(&nodes[0]).state, "ready");
    spawn(&nodes[0], "harbor", 1);
    let again = run(&mut slipgate(&nodes[0], &["drain", "n2", "--cancel"]), LIMIT);
    assert_eq!(again.status.code(), Some(4), "{again:?}");

    // A signal is for good.
    assert_eq!(nodes[1].stop(), Some(0), "{}", nodes[1].lines().join("\n"));
    let of_last = nodes[1].told("drain.kept").len() - 3;
    assert_eq!((of_last, &nodes[1].told("node.drained")[0]["kept"]), (4, &4.into()));
    stop_others(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

#[test]
fn a_drain_that_is_called_off_leaves_the_node_at_work_and_who_has_moved_where_it_is() {
    let (_cluster, mut nodes) = three(&[("harbor", "n2"), ("keep", "n3")]);
    spawn(&nodes[0], "harbor", 20);
    // The only node to go to does not answer, so the drain lasts until it is called off.
    nodes[2].signal(Signal::STOP);
    let begun = run(&mut slipgate(&nodes[1], &["drain", "n2"]), LIMIT);
    assert_eq!(String::from_utf8_lossy(&begun.stdout), "n2 is draining: 0 of 20 entities have moved\n");
    let report: DrainReport = nodes[0].client().get("/api/v1/nodes/n2/drain").expect("a report");
    assert_eq!((report.state.as_str(), report.moved), (DrainReport::DRAINING, 0), "{report:?}");
    let cancelled: DrainReport = nodes[0].client().delete("/api/v1/nodes/n2/drain").expect("a report");
    assert_eq!(cancelled.state, DrainReport::WORKING, "{cancelled:?}");
    nodes[2].signal(Signal::CONT);
    status(&nodes[0], 3);
    spawn(&nodes[0], "harbor", 1);
    let scenes: Vec<SceneReport> = nodes[0].client().get("/api/v1/scenes").expect("a list");
    let states: Vec<_> = scenes.iter().map(|scene| (scene.scene.as_str(), scene.state.as_str())).collect();
    assert_eq!(states, [("harbor", "open"), ("keep", "open")]);
    let total: u64 = scenes.iter().map(|scene| scene.entities).sum();
    assert_eq!(total, 21);
    stop_all(&mut nodes);
}

#[test]
fn a_second_signal_ends_a_drain_at_once_and_lists_who_is_left() {
    let (_cluster, mut nodes) = three(&[("harbor", "n2"), ("keep", "n3")]);
    spawn(&nodes[0], "harbor", 3);
    nodes[2].signal(Signal::STOP);
    nodes[1].terminate();
    nodes[1].await_event("node.draining");
    let began = Instant::now();
    assert_eq!(nodes[1].stop(), Some(0), "{}", nodes[1].lines().join("\n"));
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    assert_eq!(nodes[1].told("drain.kept").len(), 3);
    nodes[2].signal(Signal::CONT);
    stop_others(&mut nodes);
}

#[test]
fn a_signal_is_not_forgotten_when_the_life_ends_during_the_drain() {
    let cluster = Cluster::new("n1", &[("harbor", "n2"), ("keep", "n3")]);
    let start = |name| cluster.launch(name).set("manager.lease", "1s").set("manager.margin", "500ms").start();
    let mut nodes = ready(["n1", "n2", "n3"].map(start).into());
    spawn(&nodes[0], "harbor", 3);
    // The only node to go to does not answer, so the drain lasts; and this one sleeps past its verdict.
    nodes[2].signal(Signal::STOP);
    nodes[1].terminate();
    nodes[1].await_event("node.draining");
    nodes[1].signal(Signal::STOP);
    nodes[0].await_line(0, "the verdict", |line| line["event"] == "node.dead" && line["peer"] == "n2");
    nodes[1].signal(Signal::CONT);
    assert_eq!(nodes[1].end(), Some(0), "{}", nodes[1].lines().join("\n"));
    assert_eq!(
        (nodes[1].told("node.over").len(), nodes[1].told("node.working").len()),
        (1, 1),
        "it does not join anew"
    );
    nodes[2].kill();
    stop_all(&mut nodes[..1]);
}

#[test]
fn the_time_of_a_drain_is_bounded_and_who_was_late_is_listed() {
    let cluster = Cluster::new("n1", &[("harbor", "n2"), ("keep", "n3")]);
    let start = |name: &str| cluster.launch(name).set("drain.timeout", "1s").start();
    let mut nodes = ready(["n1", "n2", "n3"].map(start).into());
    spawn(&nodes[0], "harbor", 3);
    nodes[2].signal(Signal::STOP);
    let began = Instant::now();
    assert_eq!(nodes[1].stop(), Some(0), "{}", nodes[1].lines().join("\n"));
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    let kept = nodes[1].told("drain.kept");
    assert_eq!(kept.iter().map(|line| line["reason"].as_str()).collect::<Vec<_>>(), [Some("late"); 3]);
    nodes[2].signal(Signal::CONT);
    stop_others(&mut nodes);
}

#[test]
fn a_node_that_is_alone_and_nodes_that_all_stop_at_once_end_at_once() {
    let alone = Cluster::new("n1", &[("forest", "n1")]);
    let mut nodes = ready(vec![alone.start("n1")]);
    spawn(&nodes[0], "forest", 200);
    ends_at_once(&mut nodes, 200);
    assert_eq!(nodes[0].told("drain.kept").len(), 101, "a hundred by name, and how many more");

    let (_cluster, mut nodes) = three(&SCENES);
    for (scene, _) in SCENES {
        spawn(&nodes[0], scene, 50);
    }
    ends_at_once(&mut nodes, 200);
}

/// Stops nodes all at once; what they held is kept by one or the other.
fn ends_at_once(nodes: &mut [Node], held: u64) {
    let began = Instant::now();
    stop_all(nodes);
    assert!(began.elapsed() < Duration::from_secs(4), "it took {:?}", began.elapsed());
    let sum = |key: &str| {
        let lines = nodes.iter().flat_map(|node| node.told("node.drained"));
        lines.map(|line| line[key].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!(sum("kept"), held, "{} moved", sum("moved"));
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

/// Stops all nodes but the second, which has stopped.
fn stop_others(nodes: &mut [Node]) {
    nodes[2].terminate();
    stop_all(&mut nodes[..1]);
    stop_all(&mut nodes[2..]);
}

/// Three nodes, the manager on the first, that know each other.
fn three(scenes: &[(&str, &str)]) -> (Cluster, Vec<Node>) {
    let cluster = Cluster::new("n1", scenes);
    let nodes = ready(["n1", "n2", "n3"].map(|name| cluster.start(name)).into());
    (cluster, nodes)
}

pub(super) fn ready(nodes: Vec<Node>) -> Vec<Node> {
    nodes.iter().for_each(|node| drop(node.await_event("node.working")));
    for (at, node) in nodes.iter().enumerate() {
        nodes[..at].iter().for_each(|peer| node.await_link(0, &peer.name));
    }
    status(&nodes[0], nodes.len());
    nodes
}

pub(super) fn spawn(asked: &Node, scene: &str, count: u32) -> Vec<EntityRow> {
    try_spawn(asked, scene, count).expect("walkers are spawned")
}

pub(super) fn migrate(asked: &Node, entity: &str, scene: &str) {
    let body = MoveBody { to: scene.into(), timeout_ms: 10_000 };
    let report: MoveReport =
        asked.client().post(&format!("/api/v1/entities/{entity}/moves"), &body).expect("an answer");
    assert_eq!(report.result, "ok", "{report:?}");
}

fn try_spawn(asked: &Node, scene: &str, count: u32) -> Result<Vec<EntityRow>, CallError> {
    let body = SpawnBody { count, ..SpawnBody::of("walker", scene) };
    asked.client().post("/api/v1/entities", &body)
}
