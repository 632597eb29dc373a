//! Real nodes on loopback: processes that move entities, crash, come back, and meet strangers.
//!
//! | module | shows |
//! |---|---|
//! | `drains` | a node is emptied before it stops, by a signal and by order |
//! | `asks` | asks in flight at a planned stop say how they ended |
//! | `departures` | two of three nodes leave at once, as planned or not |
//! | `tours` | a tour over three nodes, and what a planned stop looks like |
//! | `restarts` | every node in turn is stopped as planned and started anew, under fire |
//! | `kills` | any node is killed at any moment under fire |
//! | `sleeps` | nodes are stopped for a while under fire, and the manager is away |
//! | `cuts` | a link passes on one direction only, or none, or breaks again and again under fire |
//! | `verdicts` | leases that end, and what a dead node leaves behind |
//! | `homes` | the homes of nodes that die or stop: rebuilt, or handed over |
//! | `scenes` | scenes are made and closed at run time: under fire, again and again, while nodes come and go |
//! | `manager` | the manager's node is killed, stopped, and not there yet |
//! | `faults` | a node that breaks an invariant of its own ends, and the others go on |
//! | `panics` | handlers that panic: parked, moved, unparked, despawned by policy |
//! | `names` | two nodes with one name, and lives that follow each other |
//! | `strangers` | whoever does not belong is refused and told why |

#[path = "support/command.rs"]
mod command;
#[path = "support/move_lines.rs"]
mod move_lines;
#[path = "support/nodes.rs"]
mod nodes;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/proxy.rs"]
mod proxy;
#[path = "support/relayed_lines.rs"]
mod relayed_lines;

#[path = "cluster/asks.rs"]
mod asks;
#[path = "cluster/cuts.rs"]
mod cuts;
#[path = "cluster/departures.rs"]
mod departures;
#[path = "cluster/drains.rs"]
mod drains;
#[path = "cluster/faults.rs"]
mod faults;
#[path = "cluster/fire.rs"]
mod fire;
#[path = "cluster/homes.rs"]
mod homes;
#[path = "cluster/kills.rs"]
mod kills;
#[path = "cluster/lost_store.rs"]
mod lost_store;
#[path = "cluster/manager.rs"]
mod manager;
#[path = "cluster/names.rs"]
mod names;
#[path = "cluster/panics.rs"]
mod panics;
#[path = "cluster/restarts.rs"]
mod restarts;
#[path = "cluster/scenes.rs"]
mod scenes;
#[path = "cluster/sleeps.rs"]
mod sleeps;
#[path = "cluster/strangers.rs"]
mod strangers;
#[path = "cluster/tours.rs"]
mod tours;
#[path = "cluster/verdicts.rs"]
mod verdicts;

use std::process::Command;
use std::time::Duration;

use slipgate_proto::admin::ClusterReport;

use command::run_well;
use nodes::Node;

/// The cluster as one node tells it, once it finds so many nodes ready.
fn status(asked: &Node, ready: usize) -> ClusterReport {
    let ready = ready.to_string();
    let mut status = slipgate(asked, &["status", "--wait-nodes", &ready, "--timeout", "20s", "-o", "json"]);
    let told = run_well(&mut status, Duration::from_secs(40));
    serde_json::from_str(&told).expect("one object")
}

/// The command line, asking a node.
fn slipgate(asked: &Node, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipgate"));
    command.args(arguments).args(["--at", &asked.admin()]);
    command
}

/// Stops nodes all at once, as planned.
///
/// # Panics
///
/// If one does not end well.
fn stop_all(nodes: &mut [Node]) {
    nodes.iter().for_each(Node::terminate);
    for node in nodes {
        let code = node.end();
        assert_eq!(code, Some(0), "{} did not stop cleanly\n{}", node.name, node.lines().join("\n"));
    }
}
