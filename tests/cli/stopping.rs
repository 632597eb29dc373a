//! `dev`: its tour, its signals, and what it leaves behind: nothing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::dev_cluster::{DevCluster, program};
use crate::patience::until;
use crate::process::{Process, children, is_running};
use crate::reads::LIMIT;

/// Below the grace period of `docker stop`.
const STOP: Duration = Duration::from_secs(10);

const TOUR: [&str; 16] = [
    "moves_ok",
    "moves_refused",
    "moves_failed",
    "moves_unanswered",
    "sent",
    "applied",
    "lost",
    "duplicated",
    "reordered",
    "twins",
    "unknown",
    "walkers_lost",
    "pause_us",
    "elapsed_ms",
    "messages_per_s",
    "seed",
];

#[test]
fn a_tour_ends_with_one_object_and_all_is_accounted_for() {
    let mut dev = Process::start(program().args([
        "dev",
        "--nodes",
        "3",
        "--base-port",
        "0",
        "--tour",
        "30",
        "--exit",
        "-o",
        "json",
    ]));
    let status = dev.wait(Duration::from_secs(90));
    let out = dev.out();
    assert_eq!((status.code(), out.lines().count()), (Some(0), 1), "{out}");
    let tour: serde_json::Value = serde_json::from_str(&out).expect("one object");
    let mut keys: Vec<_> = tour.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected: Vec<_> = TOUR.to_vec();
    keys.sort_unstable();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    let count = |key: &str| tour[key].as_u64().unwrap_or_else(|| panic!("{key} is a number: {tour}"));
    assert_eq!(count("moves_ok") + count("moves_refused") + count("moves_failed"), 30, "{tour}");
    assert!(count("sent") >= 300 && count("applied") == count("sent"), "{tour}");
    for fault in ["moves_unanswered", "lost", "unknown", "walkers_lost", "duplicated", "reordered", "twins"] {
        assert_eq!(count(fault), 0, "{tour}");
    }
    let pauses: Vec<_> = tour["pause_us"].as_object().expect("an object").keys().collect();
    assert_eq!(pauses, ["max", "p50", "p99"]);
    assert!(tour["seed"].as_str().is_some_and(|seed| seed.parse::<u64>().is_ok()), "{tour}");
}

#[test]
fn a_tour_of_a_running_cluster_is_a_table_for_people() {
    let done = DevCluster::shared().ask(&["tour", "--moves", "10", "--seed", "7"]).ends(0);
    assert!(done.out.starts_with("moves    "), "{done:?}");
    assert!(done.out.contains("\n         lost 0   duplicated 0   reordered 0   twins 0\npaused   p50 "), "{done:?}");
    assert_eq!(done.err, "seed 7\n");
}

#[test]
fn a_signal_stops_every_node_and_leaves_nothing() {
    for (signal, nodes) in [(Signal::INT, "3"), (Signal::TERM, "2")] {
        let (temp, mut dev) = start(nodes);
        let nodes = children(dev.id());
        assert!(!nodes.is_empty() && !is_empty(temp.path()));
        dev.signal(signal);
        assert_eq!(dev.wait(STOP).code(), Some(0), "{signal:?}");
        assert!(!nodes.iter().any(|node| is_running(*node)), "{signal:?} left a node");
        assert!(is_empty(temp.path()), "{signal:?} left a folder");
        assert_eq!(dev.out(), "", "stdout is data, and there is none");
        dev.await_line(LIMIT, |line| line == "stopping");
    }
}

#[test]
fn nodes_end_when_dev_is_killed() {
    let (_temp, mut dev) = start("2");
    let nodes = children(dev.id());
    assert_eq!(nodes.len(), 2);
    dev.signal(Signal::KILL);
    dev.wait(STOP);
    until(STOP, "the end of every node", || {
        let running: Vec<_> = nodes.iter().filter(|node| is_running(**node)).collect();
        if running.is_empty() { Ok(()) } else { Err(format!("{running:?}")) }
    });
}

#[test]
fn dev_ends_with_the_parent_that_it_hangs_on() {
    let (temp, mut dev) = start("1");
    dev.let_go();
    assert_eq!(dev.wait(STOP).code(), Some(0));
    assert!(is_empty(temp.path()));
}

#[test]
fn a_planned_stop_tells_nothing_above_info() {
    let (_temp, mut dev) = start("3");
    dev.signal(Signal::TERM);
    assert_eq!(dev.wait(STOP).code(), Some(0));
    dev.await_line(LIMIT, |line| line.contains("\"event\":\"node.stopped\""));
    let loud = dev
        .lines()
        .into_iter()
        .filter(|line| line.contains("\"level\":\"WARN\"") || line.contains("\"level\":\"ERROR\""));
    assert_eq!(loud.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn dev_prints_commands_that_work() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let at = format!(" --at {}", cluster.admin[0]);
    for start in ["  try:  slipgate status", "        slipgate spawn walker ", "        slipgate migrate ann --to "] {
        let line = cluster.process.await_line(LIMIT, |line| line.starts_with(start));
        assert!(line.ends_with(&at), "{line}");
        let words: Vec<&str> = line.trim_start_matches("  try:").split_whitespace().skip(1).collect();
        cluster.ask(&words).ends(0);
    }
    assert!(cluster.folder.join("n1").is_dir());
}

/// A cluster whose temporary folder is in a folder of its own.
fn start(nodes: &str) -> (TempDir, Process) {
    let temp = tempfile::tempdir().expect("a folder");
    let mut command = program();
    command.args(["dev", "--base-port", "0", "--nodes", nodes]).env("TMPDIR", temp.path());
    let dev = Process::start(&mut command);
    dev.await_line(Duration::from_secs(60), |line| line.starts_with("ready: "));
    (temp, dev)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}
