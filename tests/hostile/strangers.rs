//! Whoever reaches the port of peers without belonging there.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use slipgate_cluster::{NodeName, Session};
use slipgate_proto::handshake::{self, Hello, Purpose, Refusal, Reply};

use crate::nodes::Line;
use crate::{RESIDENT_MORE, clean, connect, crowd, resident, stop, tour, two_nodes};

#[test]
fn bytes_and_silence_and_crowds_end_by_themselves_and_the_log_has_a_line_per_cause() {
    let (cluster, nodes) = two_nodes();
    let address = cluster.address("n1");
    let before = resident(&nodes[0]);
    let touring = tour(&nodes[1], 60);
    let mut silent = Vec::new();
    let mut state = 7u64;
    for round in 0..300 {
        let mut random = connect(address);
        let junk: Vec<u8> = (0..200)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_be_bytes()[0]
            })
            .collect();
        // It may be closed before all is written.
        let _ = random.write_all(&junk);
        let beginnings: [&[u8]; 4] = [
            // Four gigabytes, a long hello of which nothing comes, half a hello, nothing.
            b"\xff\xff\xff\xff",
            b"\x00\x01\xff\xff",
            b"\x00\x00\x00\x20SLPG\x00\x01\x01\x04te",
            b"",
        ];
        let mut half = connect(address);
        let _ = half.write_all(beginnings[round % 4]);
        silent.push(half);
    }
    drop(silent);
    let began = Instant::now();
    crowd(address, 10_000);
    let more = resident(&nodes[0]).saturating_sub(before);
    assert!(more < RESIDENT_MORE, "{more} KiB more after a crowd of {:?}", began.elapsed());
    clean(touring);

    // Somebody who speaks is heard at once, and what was left out of the log is summed up.
    let answer = exchange(&hello("other", Session::new(2, 1)), address);
    assert!(matches!(answer, Some(Reply::Refused(Refusal::OtherCluster { .. }))), "{answer:?}");
    let is_sum = |line: &Line| line["event"] == "gate.refused" && line.get("left_out").is_some();
    nodes[0].await_line(0, "a sum of what was left out", is_sum);
    let lines = nodes[0].told("gate.refused");
    assert!(lines.len() < 60, "{} lines for twenty thousand connections", lines.len());
    let sums = lines.iter().filter_map(|line| line.get("left_out")?.as_u64());
    assert!(sums.sum::<u64>() > 100, "{lines:#?}");
    stop(nodes);
}

#[test]
fn a_handshake_that_is_replayed_changes_nothing_while_the_link_is_up_and_is_refused_when_its_session_is_over() {
    let (cluster, mut nodes) = two_nodes();
    let address = cluster.address("n1");
    let recorded = hello("test", Session::new(2, 1));
    let touring = tour(&nodes[0], 60);
    let (mark, replays) = (nodes[0].count(), 20);
    for _ in 0..replays {
        assert_eq!(exchange(&recorded, address), Some(Reply::Linked));
        std::thread::park_timeout(Duration::from_millis(20));
    }
    clean(touring);
    let lost: Vec<_> = nodes[0].loud(mark).into_iter().filter(|line| !line.contains("link.doubted")).collect();
    assert!(lost.is_empty(), "a link that answers is not given up for another: {lost:#?}");
    nodes[0].await_event("link.doubted");

    nodes[1].kill();
    nodes[1] = cluster.start("n2");
    nodes[1].await_link(0, "n1");
    let answer = exchange(&recorded, address);
    assert!(matches!(answer, Some(Reply::Refused(Refusal::OldIncarnation { .. }))), "{answer:?}");
    clean(tour(&nodes[0], 20));
    stop(nodes);
}

fn hello(cluster: &str, session: Session) -> Vec<u8> {
    let purpose = Purpose::Link { name: NodeName::new("n2").expect("a name"), session, to: Session::new(1, 1) };
    handshake::encode(&Hello { cluster: cluster.to_owned(), purpose })
}

/// Says one text and reads the answer; none if the connection is closed without one.
fn exchange(text: &[u8], address: std::net::SocketAddr) -> Option<Reply> {
    let mut connection = connect(address);
    let length = u32::try_from(text.len()).expect("a short text");
    connection.write_all(&[&length.to_be_bytes(), text].concat()).ok()?;
    let mut header = [0; 4];
    connection.read_exact(&mut header).ok()?;
    let mut answer = vec![0; u32::from_be_bytes(header) as usize];
    connection.read_exact(&mut answer).ok()?;
    handshake::decode(&answer).ok()
}
