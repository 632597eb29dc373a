//! The manager's store is lost while the cluster lives, and after it.

use std::fs;

use crate::nodes::{Cluster, Node};
use crate::stop_all;

const OLD: &str = "this manager's store is older than the cluster: it would issue range";

#[test]
fn a_manager_without_its_store_takes_nobody_in_who_has_seen_ranges_that_it_would_issue_anew() {
    let cluster = Cluster::new("m", &[("forest", "n1")]);
    let launch = |name: &str| cluster.launch(name).set("manager.lease", "1s");
    let mut manager = launch("m").start();
    let mut node = launch("n1").start();
    [&manager, &node].into_iter().for_each(Node::await_range);
    manager.kill();

    // Whoever lives is not known there, pauses at the end of its lease, and asks to join anew.
    let empty = tempfile::tempdir().expect("a folder");
    let data = empty.path().display().to_string();
    let mut other = launch("m").set("node.data", &data).start();
    assert_eq!(node.end(), Some(4));
    let said = node.lines().pop().expect("a last word");
    assert!(said.contains(OLD) && said.contains("bring its latest store back"), "{said}");
    let refused = other.await_event("node.refused")["message"].to_string();
    assert!(refused.contains(OLD), "{refused}");

    // So does whoever starts later in its own folder,
    let mut node = launch("n1").start();
    assert_eq!(node.end(), Some(4));
    other.kill();
    // and the manager's own node, if its folder is left.
    let folder = empty.path().join("m");
    fs::remove_file(folder.join("manager.redb")).expect("there was a store");
    let mut other = launch("m").set("node.data", &data).start();
    assert_eq!(other.end(), Some(4));

    let mut nodes = [launch("m").start(), launch("n1").start()];
    nodes.iter().for_each(Node::await_range);
    stop_all(&mut nodes);
}
