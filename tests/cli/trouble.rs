//! A node that hangs, and a node that is killed: every answer comes in time and says where the entity is.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::dev_cluster::{DevCluster, Done};
use crate::process::{children, command_line, send_signal};
use crate::reads::LIMIT;

/// Number of the process that runs a node of a cluster.
pub(crate) fn node(cluster: &DevCluster, name: &str) -> u32 {
    let set = format!(" node.name={name} ");
    let mut nodes = children(cluster.process.id()).into_iter();
    nodes.find(|child| command_line(*child).contains(&set)).unwrap_or_else(|| panic!("no process of {name}"))
}

#[test]
fn a_node_that_hangs_delays_a_move_and_a_second_one_is_told_of_the_first() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let entity = cluster.spawn("forest", "ann");
    let n2 = node(&cluster, "n2");
    send_signal(n2, Signal::STOP);
    let migrate = || cluster.ask(&["migrate", &entity, "--to", "keep"]);
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(migrate);
        (migrate(), one.join().expect("an answer"))
    });
    let (second, first) = if one.code == 4 { (one, other) } else { (other, one) };
    second.fails(
        4,
        &format!(
            "error: a move of ann ({entity}) is under way, and one at a time is made\n  \
             ann ({entity}) is in forest@n1 until that one ends\n  try:  slipgate moves      slipgate show {entity}\n"
        ),
    );
    let Done { code, out, err } = first;
    let start =
        "error: ann did not move from forest@n1 to keep@n2: keep@n2 did not answer the request for room in time";
    assert!(code == 5 && out.is_empty() && err.starts_with(start), "{err}");
    assert!(err.contains(&format!("\n  ann is in forest@n1\n  try:  slipgate show {entity}")), "{err}");

    send_signal(n2, Signal::CONT);
    cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
    cluster.ask(&["migrate", "ann", "--to", "keep"]).ends(0);
    assert_eq!(cluster.place("ann"), "keep@n2");
}

#[test]
fn a_node_that_is_killed_is_silent_within_a_second_or_so_and_the_others_go_on() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let entity = cluster.spawn("forest", "bob");
    cluster.spawn("market", "carl");
    send_signal(node(&cluster, "n2"), Signal::KILL);

    let asked = Instant::now();
    let status = cluster.ask(&["status"]).ends(0);
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert!(status.out.starts_with("CLUSTER dev   1/2 nodes ready"), "{status:?}");
    assert!(status.out.contains("\nn2    silent "), "{status:?}");
    assert!(status.out.ends_with("\nn2: it does not answer\n"), "{status:?}");
    let scenes = cluster.json(&["scenes"]).ends(0).objects();
    let states: Vec<_> = scenes.iter().map(|scene| scene["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["open", "open", "silent", "silent"]);

    cluster.process.await_line(LIMIT, |line| line.starts_with("warning: n2 ended (signal: 9 (SIGKILL)"));
    cluster.process.await_line(LIMIT, |line| line == "  the others go on; see  slipgate nodes   or stop with Ctrl-C");
    cluster.ask(&["show", "carl"]).fails(
        5,
        "error: no node that answers has an entity with the id or label \"carl\", or an id that begins so\n  \
         it may be on n2, where nothing answers\n  try:  slipgate nodes\n",
    );
    let done = cluster.ask(&["migrate", &entity, "--to", "keep"]);
    assert!([1, 5].contains(&done.code) && done.out.is_empty(), "{done:?}");
    assert!(done.err.starts_with("error: bob did not move from forest@n1 to keep@n2: "), "{done:?}");
    assert!(done.err.contains("\n  bob is in forest@n1\n  try:  slipgate show "), "{done:?}");
    cluster.ask(&["migrate", &entity, "--to", "harbor"]).ends(0);
    cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
}
