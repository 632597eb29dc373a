//! A process that joins as it should, links as it should, and then talks nonsense.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use slipgate_cluster::manager::{JoinReply, JoinRequest};
use slipgate_cluster::{NodeName, Port, Session};
use slipgate_entity::SceneId;
use slipgate_proto::codec;
use slipgate_proto::frame::{CHUNK_BYTES_MAX, Chunk, Frame, Wire};
use slipgate_proto::handshake::{self, Hello, Purpose, Reply};

use crate::nodes::Line;
use crate::speaker::Speaker;
use crate::{RESIDENT_MORE, clean, connect, resident, stop, tour, two_nodes};

/// Frames of nonsense, per node.
const FRAMES: usize = 400;

#[test]
fn a_member_that_talks_nonsense_harms_nobody_and_fills_no_memory() {
    let (cluster, nodes) = two_nodes();
    let addresses = ["n1", "n2"].map(|name| cluster.address(name));
    let sessions = ["n1", "n2"].map(|name| {
        let node = nodes.iter().find(|node| node.name == name).expect("it runs");
        Session::new(u16::try_from(node.number()).expect("small"), u32::try_from(node.life()).expect("small"))
    });
    let me = join(addresses[0]);
    let before = nodes.each_ref().map(resident);
    let touring = tour(&nodes[0], 80);
    for (number, (address, to)) in (0..).zip(addresses.into_iter().zip(sessions)) {
        talk(&mut link(address, me, to), number);
    }
    clean(touring);
    for (address, to) in addresses.into_iter().zip(sessions) {
        fill(&mut link(address, me, to));
    }
    for (node, before) in nodes.iter().zip(before) {
        let ended = |line: &Line| {
            line["event"] == "link.lost" && line["message"].as_str().is_some_and(|text| text.contains("no transfer"))
        };
        node.await_line(0, "the end of transfers that never end", ended);
        let more = resident(node).saturating_sub(before);
        // What was half there is given back by the process, not always to the system.
        assert!(more < 2 * RESIDENT_MORE, "{} holds {more} KiB more", node.name);
    }
    clean(tour(&nodes[1], 20));
    stop(nodes);
}

fn join(manager: SocketAddr) -> Session {
    let request = JoinRequest {
        name: NodeName::new("n9").expect("a name"),
        address: "127.0.0.1:1".into(),
        admin: "127.0.0.1:2".into(),
        scenes: Vec::new(),
        seen: None,
    };
    let mut connection = connect(manager);
    match say(&mut connection, Purpose::Join(request)) {
        Reply::Join(JoinReply::Welcome { session, .. }) => session,
        other @ (Reply::Join(_) | Reply::Linked | Reply::Refused(_)) => panic!("expected a welcome, got {other:?}"),
    }
}

fn link(address: SocketAddr, me: Session, to: Session) -> TcpStream {
    // A node hears of a newcomer from the manager, soon.
    for _ in 0..200 {
        let mut connection = connect(address);
        let purpose = Purpose::Link { name: NodeName::new("n9").expect("a name"), session: me, to };
        if say(&mut connection, purpose) == Reply::Linked {
            let mut reader = connection.try_clone().expect("a socket has two sides");
            // Whatever the node says is read, so that it is not what slows it down.
            thread::spawn(move || {
                let mut buffer = [0; 1 << 16];
                while reader.read(&mut buffer).is_ok_and(|read| read > 0) {}
            });
            return connection;
        }
        thread::park_timeout(std::time::Duration::from_millis(20));
    }
    panic!("{address} does not link")
}

fn say(connection: &mut TcpStream, purpose: Purpose) -> Reply {
    let text = handshake::encode(&Hello { cluster: "test".to_owned(), purpose });
    frame(connection, &text).expect("the text is taken");
    let mut header = [0; 4];
    connection.read_exact(&mut header).expect("an answer");
    let mut answer = vec![0; u32::from_be_bytes(header) as usize];
    connection.read_exact(&mut answer).expect("a whole answer");
    handshake::decode(&answer).expect("an answer")
}

fn frame(connection: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(bytes.len()).expect("a frame is short");
    connection.write_all(&[&length.to_be_bytes(), bytes].concat())
}

/// Says anything to every port, then what is no frame.
fn talk(connection: &mut TcpStream, seed: u64) {
    let mut speaker = Speaker::new(seed);
    let ports = [
        Port::Scene(SceneId(1)),
        Port::Scene(SceneId(2)),
        Port::Scene(SceneId(9)),
        Port::Router(0),
        Port::Directory,
        Port::Manager,
        Port::Member,
        Port::Admin,
    ];
    for number in 0..FRAMES {
        let wires: Vec<Wire> = (0..50)
            .map(|_| Wire {
                from: ports[speaker.below(ports.len())],
                to: ports[speaker.below(ports.len())],
                message: speaker.message(),
            })
            .collect();
        let batch = if number % 2 == 0 { Frame::Control(wires) } else { Frame::Messages(wires) };
        let bytes = batch.encode();
        if bytes.len() <= slipgate_proto::frame::BYTES_MAX {
            frame(connection, &bytes).expect("frames are read");
        }
        for other in [Frame::Pong, Frame::Ping, Frame::Credit(u64::MAX)] {
            frame(connection, &other.encode()).expect("frames are read");
        }
    }
    frame(connection, &[99]).expect("it is taken, and then the connection ends");
}

/// Opens transfers and finishes none, until it is stopped.
fn fill(connection: &mut TcpStream) {
    let total = u32::try_from(codec::BYTES_MAX).expect("16 MiB fit");
    for number in 0..512u32 {
        for transfer in 0..64 {
            let offset = number * u32::try_from(CHUNK_BYTES_MAX).expect("16 KiB fit");
            let chunk = Chunk { transfer, total, offset, bytes: vec![0; CHUNK_BYTES_MAX].into() };
            if frame(connection, &Frame::Chunk(chunk).encode()).is_err() {
                return;
            }
        }
    }
    panic!("half a gigabyte was taken");
}
