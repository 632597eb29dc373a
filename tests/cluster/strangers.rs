//! Whoever does not belong is refused and told why, and nobody else notices.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use slipgate_cluster::{NodeName, Session};
use slipgate_proto::handshake::{self, Hello, Purpose, Refusal, Reply};

use crate::nodes::{Cluster, Node};
use crate::{status, stop_all};

const ANSWER: Duration = Duration::from_secs(20);

#[test]
fn a_node_of_another_cluster_is_refused_with_both_names_on_both_sides() {
    let cluster = Cluster::new("n1", &[]);
    let mut nodes = ["n1", "n2"].map(|name| cluster.start(name));
    nodes[0].await_link(0, "n2");
    let mut stranger = cluster.launch("n3").set("cluster.name", "other").start();
    assert_eq!(stranger.end(), Some(4));
    let refusal = r#"this is cluster "test", the node that dials belongs to "other""#;
    let said = stranger.lines().pop().expect("a last word");
    assert!(said.contains("\"node.failed\"") && said.contains(&refusal.replace('"', "\\\"")), "{said}");
    let stopped = stranger.lines().into_iter().find(|line| line.contains("node.stopped")).expect("it tells its end");
    assert!(stopped.contains("\"exit\":4") || stopped.contains("exit=4"), "{stopped}");
    refused(&nodes[0], refusal);
    status(&nodes[1], 2);
    stop_all(&mut nodes);
    assert!(nodes[1].loud(0).is_empty(), "{:#?}", nodes[1].loud(0));
}

#[test]
fn a_node_of_another_version_is_told_which_one_is_spoken_here_and_says_which_one_it_met() {
    let cluster = Cluster::new("n1", &[]);
    let mut nodes = [cluster.start("n1")];
    nodes[0].await_event("node.working");
    let answer = exchange(cluster.address("n1"), b"SLPG\x00\x09what only version 9 can read");
    assert_eq!(answer.get(..6), Some(&b"SLPG\x00\x01"[..]), "the first bytes are the same in all versions");
    let reply: Reply = handshake::decode(&answer).expect("a version that knows ours can read the rest");
    assert_eq!(reply, Reply::Refused(Refusal::OtherVersion { here: 1, theirs: 9 }));
    refused(&nodes[0], "this node speaks protocol version 1, the node that dials speaks 9");
    stop_all(&mut nodes);

    let later = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = later.local_addr().expect("a bound port has an address").to_string();
    let answering = thread::spawn(move || {
        let (mut connection, _) = later.accept().expect("a node dials");
        connection.write_all(b"\x00\x00\x00\x0aSLPG\x00\x09what").expect("it listens");
        // Until the node has read it and closes.
        let _ = connection.read_to_end(&mut Vec::new());
    });
    let mut node = cluster.launch("n2").set("manager.address", &address).start();
    assert_eq!(node.end(), Some(4));
    let said = node.lines().pop().expect("a last word");
    assert!(said.contains(&format!("{address} speaks protocol version 9, this node speaks 1")), "{said}");
    answering.join().expect("the other version does its part");
}

#[test]
fn junk_on_the_port_of_peers_ends_its_own_connection_and_nothing_else() {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2")]);
    let mut nodes = ["n1", "n2"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    nodes[0].await_link(0, "n2");
    let junk: [(&[u8], &str); 5] = [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "too_long"),
        (b"\x00\x00\x00\x08NOTSLIPG", "not_slipgate"),
        (b"\x00\x00\x00\x08SLPG\x00\x01\xff\xff", "unreadable"),
        (b"\xff\xff\xff\xff", "too_long"),
        (b"\x00\x00\x00\x02SL", "not_slipgate"),
    ];
    for (bytes, cause) in junk {
        let mut connection = connect(cluster.address("n1"));
        connection.write_all(bytes).expect("bytes are taken");
        let mut answer = Vec::new();
        // A connection that is closed with bytes unread ends with a reset.
        let _ = connection.read_to_end(&mut answer);
        assert_eq!(answer, b"", "there is nothing to say in a language that the other side does not speak");
        // The first of a cause has a line; those that follow at once are counted.
        let is_told = |line: &crate::nodes::Line| line["event"] == "gate.refused" && line["cause"] == cause;
        let told = nodes[0].await_line(0, cause, is_told);
        assert_eq!(told["level"], "INFO", "whoever looks at a port is nothing to warn about: {told:?}");
    }
    status(&nodes[1], 2);
    stop_all(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

#[test]
fn an_earlier_life_of_a_node_is_refused_with_the_number_of_the_latest() {
    let cluster = Cluster::new("n1", &[]);
    let mut nodes = ["n1", "n2"].map(|name| cluster.start(name));
    nodes[0].await_link(0, "n2");
    nodes[1].kill();
    nodes[1] = cluster.start("n2");
    nodes[1].await_link(0, "n1");
    let mark = nodes[1].count();
    let purpose = Purpose::Link {
        name: NodeName::new("n2").expect("a name"),
        session: Session::new(2, 1),
        to: Session::new(1, 1),
    };
    let hello = Hello { cluster: "test".into(), purpose };
    let answer = exchange(cluster.address("n1"), &handshake::encode(&hello));
    let Reply::Refused(refusal) = handshake::decode(&answer).expect("an answer") else { panic!("{answer:?}") };
    assert_eq!(refusal.to_string(), "node n2 is in life 2 by now, the one that dials is life 1");
    refused(&nodes[0], &refusal.to_string());
    status(&nodes[0], 2);
    stop_all(&mut nodes);
    assert!(nodes[1].loud(mark).is_empty(), "the latest life notices nothing: {:#?}", nodes[1].loud(mark));
}

/// Checks that a node has warned of a connection that it refused.
fn refused(node: &Node, refusal: &str) {
    let says = |line: &crate::nodes::Line| {
        line["event"] == "gate.refused" && line["message"].as_str().is_some_and(|text| text.contains(refusal))
    };
    assert_eq!(node.await_line(0, refusal, says)["level"], "WARN");
}

/// Sends one handshake text and reads the answer.
fn exchange(address: SocketAddr, text: &[u8]) -> Vec<u8> {
    let mut connection = connect(address);
    let length = u32::try_from(text.len()).expect("a short text");
    connection.write_all(&[&length.to_be_bytes(), text].concat()).expect("the text is taken");
    let mut header = [0; 4];
    connection.read_exact(&mut header).expect("an answer");
    let mut answer = Vec::new();
    connection.take(u64::from(u32::from_be_bytes(header))).read_to_end(&mut answer).expect("a whole answer");
    answer
}

fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).expect("the node listens");
    connection.set_read_timeout(Some(ANSWER)).expect("a socket takes the option");
    connection
}
