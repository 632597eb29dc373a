//! Real nodes on loopback among strangers and false friends: whatever comes in on their two ports, memory and time
//! are bounded, the log has a line per cause, entities move and hear what is said to them, and the end is clean.
//!
//! | module | shows |
//! |---|---|
//! | `strangers` | bytes, silence and crowds on the port of peers; a handshake that is replayed |
//! | `member` | a process that joins as it should and then talks nonsense |
//! | `tools` | crowds, slow and oversized requests on the admin port |
//! | `speaker` | the nonsense, shared with the tests of the machines |

#[path = "support/command.rs"]
mod command;
#[path = "support/move_lines.rs"]
mod move_lines;
#[path = "support/nodes.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod nodes;
#[path = "support/relayed_lines.rs"]
mod relayed_lines;
#[path = "../proto/tests/nonsense/speaker.rs"]
#[expect(dead_code, reason = "the parts of messages are used by the tests of the machines")]
mod speaker;

#[path = "hostile/member.rs"]
mod member;
#[path = "hostile/strangers.rs"]
mod strangers;
#[path = "hostile/tools.rs"]
mod tools;

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slipgate::tour::Summary;

use command::run_well;
use nodes::{Cluster, Node};

/// Memory that a node may have taken beyond what it had, in KiB: the bounds of what it keeps for strangers, and
/// what an allocator does not give back.
const RESIDENT_MORE: u64 = 96 << 10;

/// Longest time that a crowd keeps coming.
const CROWD: Duration = Duration::from_secs(8);

/// Two nodes with a scene each, which work and know each other.
fn two_nodes() -> (Cluster, [Node; 2]) {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2")]);
    let nodes = ["n1", "n2"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    nodes[0].await_link(0, "n2");
    (cluster, nodes)
}

/// Moves and messages between the two nodes, while something else goes on.
fn tour(asked: &Node, moves: u32) -> JoinHandle<Summary> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipgate"));
    command.args(["tour", "--moves", &moves.to_string(), "-o", "json", "--at", &asked.admin()]);
    thread::spawn(move || {
        let told = run_well(&mut command, Duration::from_secs(60));
        serde_json::from_str(&told).expect("one object")
    })
}

/// Checks that a tour found nothing lost, doubled, out of order or alive twice.
fn clean(tour: JoinHandle<Summary>) {
    let summary = tour.join().expect("the tour ends well");
    assert!(summary.is_clean(), "{summary:?}");
}

/// Resident memory of a node, in KiB.
fn resident(node: &Node) -> u64 {
    let file = format!("/proc/{}/status", node.pid().as_raw_nonzero());
    let status = fs::read_to_string(file).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Stops nodes, which must end well and not have panicked.
fn stop(mut nodes: [Node; 2]) {
    nodes.iter().for_each(Node::terminate);
    for node in &mut nodes {
        let code = node.end();
        assert_eq!(code, Some(0), "{} did not stop cleanly\n{}", node.name, node.lines().join("\n"));
        let wrong: Vec<_> = node.lines().into_iter().filter(|line| is_wrong(line)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// An error, or what a panic writes.
fn is_wrong(line: &str) -> bool {
    line.contains(r#""level":"ERROR""#) || line.contains("panicked")
}

fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).expect("the node listens");
    connection.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket takes the option");
    connection
}

/// Connects so many times, and holds as many at once as this process may; says nothing on any of them.
fn crowd(address: SocketAddr, count: usize) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("a process may have what it may have");
    let files = maximum.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    // Three tests may hold a crowd at once.
    let at_once = (files / 4).min(3_000);
    let (began, mut held) = (Instant::now(), Vec::new());
    for made in 0..count {
        if began.elapsed() > CROWD {
            assert!(made > count / 10, "only {made} connections in {CROWD:?}");
            return;
        }
        if held.len() == at_once {
            held.clear();
        }
        // A full backlog makes a connection wait for a second and more; whether it came through does not matter.
        held.extend(TcpStream::connect_timeout(&address, Duration::from_millis(50)).ok());
    }
}
