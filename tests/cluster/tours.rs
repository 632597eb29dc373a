//! A tour over three nodes, and what a planned stop looks like.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use slipgate::admin::body::{BatchBody, BatchMessage, SpawnBody};
use slipgate::client::Client;
use slipgate::tour::Summary;
use slipgate_proto::admin::{EntityRow, SendReport};

use crate::command::{run, run_well};
use crate::move_lines::check;
use crate::nodes::{Cluster, Node};
use crate::{slipgate, status, stop_all};

const SCENES: [(&str, &str); 4] = [("forest", "n1"), ("harbor", "n2"), ("keep", "n3"), ("tower", "n1")];

/// Seconds on an idle machine.
const TOUR: Duration = Duration::from_secs(90);

#[test]
fn a_tour_of_300_moves_is_clean_every_move_is_told_and_nobody_warns_until_after_the_planned_stop() {
    let cluster = Cluster::new("n1", &SCENES);
    let mut nodes = ["n1", "n2", "n3"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    status(&nodes[1], 3);

    let told = run_well(&mut slipgate(&nodes[2], &["tour", "--moves", "300", "-o", "json"]), TOUR);
    let summary: Summary = serde_json::from_str(&told).expect("one object");
    assert!(summary.is_clean(), "{told}");
    let Summary { moves_ok, moves_refused, moves_failed, sent, .. } = summary;
    assert_eq!((moves_ok, moves_refused, moves_failed), (300, 0, 0), "nothing stands in the way: {told}");
    assert!(sent >= 3000, "{told}");

    stop_all(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "an undisturbed cluster has nothing to warn about: {loud:#?}");
    let lines: Vec<String> = nodes.iter().flat_map(Node::lines).collect();
    let told = check(lines.iter().map(String::as_str), &[]).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    assert_eq!((told.ok, told.refused, told.failed), (300, 0, 0), "{told}");
    let names = ["n1", "n2", "n3"];
    let others = |from: &'static str| names.into_iter().filter(move |to| *to != from).map(move |to| (from, to));
    let unseen: BTreeSet<_> = names.into_iter().flat_map(others).collect();
    let unseen: Vec<_> =
        unseen.iter().filter(|(from, to)| !told.pairs.contains(&((*from).into(), (*to).into()))).collect();
    assert!(unseen.is_empty(), "no move went between {unseen:?}: {told}");
}

#[test]
fn nodes_that_stop_one_after_the_other_under_fire_and_watched_make_nobody_warn() {
    let cluster = Cluster::new("n1", &SCENES);
    let mut nodes = ["n1", "n2", "n3"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    status(&nodes[0], 3);
    let walkers: Vec<EntityRow> = ["forest", "harbor"].iter().flat_map(|scene| spawn(&nodes[2], scene)).collect();
    // Whoever watches keeps a node that stops from being gone at once.
    let watchers: Vec<_> = nodes.iter().map(|node| node.client().events("/api/v1/events").expect("events")).collect();

    let is_over = AtomicBool::new(false);
    let (accepted, first) = mpsc::channel();
    thread::scope(|scope| {
        for node in &nodes {
            let (client, accepted) = (node.client(), accepted.clone());
            let (walkers, is_over) = (&walkers, &is_over);
            scope.spawn(move || fire(&client, walkers, is_over, &accepted));
        }
        for _ in 0..20 {
            first.recv_timeout(TOUR).expect("messages are accepted");
        }
        nodes[1].terminate();
        nodes[0].await_goodbye("n2");
        nodes[2].await_goodbye("n2");
        nodes[0].terminate();
        nodes[2].await_goodbye("n1");
        nodes[0].await_event("node.stopped");
        is_over.store(true, Ordering::Relaxed);
    });
    stop_all(&mut nodes);
    drop(watchers);
    assert_eq!(nodes[2].told("link.closed").len(), 2, "each of the others says goodbye once");
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "a planned stop is nothing to warn about: {loud:#?}");
}

#[test]
fn a_tour_ends_when_the_node_that_it_asks_is_killed_and_says_what_became_of_its_walkers() {
    let cluster = Cluster::new("n1", &SCENES);
    let mut nodes = ["n1", "n2", "n3"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    status(&nodes[0], 3);
    let mut tour = slipgate(&nodes[2], &["tour", "--moves", "1000000"]);
    let ended = thread::scope(|scope| {
        let touring = scope.spawn(|| run(&mut tour, TOUR));
        nodes[2].await_event("move.ok");
        nodes[2].kill();
        touring.join().expect("it ends in time")
    });
    let [out, err] = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(ended.status.code(), Some(6), "{out}{err}");
    assert!(out.starts_with("moves "), "what it had counted by then is told: {out}");
    assert!(err.contains("error: the node that the tour asks is gone: "), "{err}");
    assert!(err.contains("walkers"), "{err}");
    stop_all(&mut nodes[..2]);
}

fn spawn(asked: &Node, scene: &str) -> Vec<EntityRow> {
    let body = SpawnBody { count: 4, ..SpawnBody::of("walker", scene) };
    asked.client().post("/api/v1/entities", &body).expect("walkers are spawned")
}

/// Sends without pause, through the node that is asked, whatever comes of it.
fn fire(client: &Client, walkers: &[EntityRow], is_over: &AtomicBool, accepted: &mpsc::Sender<u32>) {
    let step = |walker: &EntityRow| BatchMessage {
        entity: walker.entity.clone(),
        name: "step".into(),
        arguments: r#"{"dx":1.0,"dy":0.0}"#.into(),
    };
    let messages: Vec<_> = (0..32).flat_map(|_| walkers.iter().map(step)).collect();
    let body = BatchBody { via: None, messages, wait: false, timeout_ms: 1000 };
    while !is_over.load(Ordering::Relaxed) {
        if let Ok(report) = client.post::<SendReport>("/api/v1/messages", &body)
            && report.accepted > 0
        {
            // The test counts the first ones only.
            let _ = accepted.send(report.accepted);
        }
    }
}
