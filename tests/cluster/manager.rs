//! The manager's node is killed, stopped, and not there yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use slipgate::tour::{self, Afterwards, Ended, Options, Surroundings};

use crate::move_lines::{check, object};
use crate::nodes::{Cluster, Line, Node};
use crate::{status, stop_all};

const WAVES: usize = 4;
const NODES_PER_WAVE: usize = 4;

#[test]
fn no_range_and_no_life_is_given_twice_whenever_the_managers_node_is_killed() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    eprintln!("SEED={seed} cargo test --test cluster no_range_and_no_life");
    let mut rng = fastrand::Rng::with_seed(seed);
    let cluster = Cluster::new("m", &[]);
    let mut manager = cluster.start("m");
    manager.await_event("node.working");
    let (mut ended, mut nodes) = (Vec::new(), Vec::new());
    for wave in 0..WAVES {
        let name = |number| format!("w{}", wave * NODES_PER_WAVE + number);
        let before = manager.count();
        nodes.extend((0..NODES_PER_WAVE).map(|number| cluster.start(&name(number))));
        for mark in [before, 0] {
            // Every node of a wave makes the manager's node write several lines until it has its range.
            let lines = rng.usize(..=3 * NODES_PER_WAVE);
            eprintln!("wave {wave}: the manager's node is killed after {lines} lines");
            manager.await_count(mark + lines);
            manager.kill();
            ended.push(std::mem::replace(&mut manager, cluster.start("m")));
        }
        nodes.iter().for_each(Node::await_range);
    }
    for asked in [&manager, &nodes[0], &nodes[nodes.len() - 1]] {
        let report = status(asked, 1 + nodes.len());
        let lives: BTreeMap<_, _> = report.nodes.iter().map(|node| (&node.node, u64::from(node.incarnation))).collect();
        for node in nodes.iter().chain([&manager]) {
            assert_eq!(lives.get(&node.name), Some(&node.life()), "{} tells of {}", asked.name, node.name);
        }
    }
    nodes.push(manager);
    stop_all(&mut nodes);
    ended.extend(nodes);
    for (event, keys) in [
        ("range.opened", &["range"][..]),
        ("range.granted", &["range"]),
        ("node.working", &["node", "incarnation"]),
        ("node.working", &["id", "incarnation"]),
        ("node.joined", &["peer", "incarnation"]),
    ] {
        let lines: Vec<Line> = ended.iter().flat_map(|node| node.told(event)).collect();
        let twice = told_twice(&lines, keys);
        assert!(twice.is_empty(), "{event} with the same {keys:?}: {twice:#?}");
        // A manager's node that is killed may not have told of what it had given.
        assert!(lines.len() >= NODES_PER_WAVE, "{event}: {} lines", lines.len());
    }
}

/// Lines that agree in all these keys with an earlier one.
fn told_twice<'a>(lines: &'a [Line], keys: &[&str]) -> Vec<&'a Line> {
    let mut seen = BTreeSet::new();
    let key = |line: &Line| keys.iter().map(|key| line[*key].to_string()).collect::<Vec<_>>();
    lines.iter().filter(|line| !seen.insert(key(line))).collect()
}

#[test]
fn a_range_or_a_life_that_is_told_twice_is_caught() {
    let line = |text: &str| object(text).expect("an object");
    let lines = [
        line(r#"{"node":"a","incarnation":1}"#),
        line(r#"{"node":"a","incarnation":2}"#),
        line(r#"{"node":"b","incarnation":1}"#),
        line(r#"{"node":"a","incarnation":2}"#),
    ];
    assert_eq!(told_twice(&lines, &["node", "incarnation"]), [&lines[3]]);
    assert_eq!(told_twice(&lines[..3], &["node", "incarnation"]), Vec::<&Line>::new());
}

#[test]
fn a_tour_does_not_notice_that_the_managers_node_is_killed_and_stopped_and_started_again() {
    let cluster = Cluster::new("m", &[("forest", "n1"), ("harbor", "n2"), ("keep", "n3"), ("tower", "n1")]);
    let mut manager = cluster.start("m");
    let mut nodes = ["n1", "n2", "n3"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    status(&nodes[0], 4);

    let (turning_points, points) = mpsc::sync_channel(0);
    let (quiet_from, ended) = thread::scope(|scope| {
        let touring = scope.spawn(|| {
            tour_with(&nodes[0], &|moves| {
                if TURNING_POINTS.contains(&moves) {
                    turning_points.send(moves).expect("somebody waits for every turning point");
                }
            })
        });
        reached(&points);
        manager.kill();
        manager = cluster.start("m");
        reached(&points);
        returned(&manager, &nodes, 2);
        let quiet_from: Vec<usize> = nodes.iter().map(Node::count).collect();
        reached(&points);
        assert_eq!(manager.stop(), Some(0), "{}", manager.lines().join("\n"));
        manager = cluster.start("m");
        reached(&points);
        returned(&manager, &nodes, 3);
        (quiet_from, touring.join().expect("a tour does not panic"))
    });

    assert!(ended.is_clean(), "{ended:?}");
    let summary = ended.summary;
    assert_eq!((summary.moves_ok, summary.moves_refused, summary.moves_failed), (MOVES, 0, 0), "{summary:?}");
    let lines: Vec<String> = nodes.iter().flat_map(Node::lines).collect();
    let told = check(lines.iter().map(String::as_str), &[]).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    assert_eq!((told.ok as u64, told.refused, told.failed), (MOVES, 0, 0), "{told}");
    for node in &nodes {
        status(node, 4);
    }
    stop_all(&mut nodes);
    assert_eq!(manager.stop(), Some(0));
    let loud: Vec<String> = nodes.iter().zip(quiet_from).flat_map(|(node, from)| node.loud(from)).collect();
    assert!(loud.is_empty(), "that the manager's node is stopped is nothing to warn about: {loud:#?}");
    assert_eq!(manager.loud(0), Vec::<String>::new());
}

const MOVES: u64 = 300;

/// Ended moves at which the tour waits until it is noticed: kill, is back, stop, is back.
const TURNING_POINTS: [u64; 4] = [50, 120, 150, 250];

/// A tour that asks one node, and tells how many moves have ended.
fn tour_with(asked: &Node, progress: &(dyn Fn(u64) + Sync)) -> Ended {
    let options = Options {
        moves: MOVES,
        walkers_per_scene: 2,
        movers: 8,
        seed: 3,
        timeout: Duration::from_secs(60),
        afterwards: Afterwards::Despawn,
    };
    let stop = AtomicBool::new(false);
    let around = Surroundings { client: &asked.client(), stop: &stop, progress };
    tour::run(&options, &around).expect("the tour comes to its end")
}

/// Waits for the tour's next turning point, and lets it go on.
fn reached(points: &Receiver<u64>) {
    points.recv_timeout(Duration::from_secs(60)).expect("the tour goes on");
}

/// Waits until the manager's node works in this life and is linked to all others.
fn returned(manager: &Node, nodes: &[Node], life: u64) {
    assert_eq!(manager.life(), life);
    nodes.iter().for_each(|node| manager.await_link(0, &node.name));
}

#[test]
fn a_node_that_cannot_reach_the_manager_says_so_and_joins_once_it_is_there() {
    let cluster = Cluster::new("m", &[("forest", "n1")]);
    let mut node = cluster.start("n1");
    let waiting = node.await_event("node.joining");
    let text = waiting["message"].as_str().unwrap_or_default();
    let nobody = format!("waiting for the manager on node m: nothing answers at {}", cluster.address("m"));
    assert!(text.starts_with(&nobody), "{text}");
    assert_eq!(waiting["level"], "INFO");
    assert_eq!(node.stop(), Some(0), "a node that waits can be stopped");

    let node = cluster.start("n1");
    node.await_event("node.joining");
    let manager = cluster.start("m");
    assert_eq!((manager.number(), node.life()), (1, 1), "the manager's own node goes first");
    node.await_range();
    let mut nodes = [manager, node];
    status(&nodes[0], 2);
    stop_all(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}
