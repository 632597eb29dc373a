//! A session in hex, as `docs/wire.md` shows it: a link is made, an entity moves, the link is closed.

use std::sync::Arc;

use slipgate_cluster::manager::{ManagerReply, ManagerRequest};
use slipgate_cluster::message::{Control, Data, Held, ManagerMessage, Message, Nonce, Reserve};
use slipgate_cluster::{Now, Port};

use super::{handshake, hex, sample};
use crate::codec;
use crate::frame::{Chunk, Frame, Wire};
use crate::handshake::{Reply, encode};

const DOCUMENT: &str = include_str!("../../../docs/wire.md");

/// Node 2 dials node 1, which runs the manager and is the home of range 3.
#[test]
fn the_session_in_the_document_is_what_two_nodes_say_to_each_other() {
    let steps = [opening(), talk(), hand_off(), closing()].concat();
    let told: String = steps.iter().map(|(who, what, bytes)| line(who, what, bytes)).collect();
    let shown = DOCUMENT.split("<!-- session -->\n```text\n").nth(1).and_then(|rest| rest.split("```").next());
    assert!(shown == Some(&told), "docs/wire.md should show\n{told}");
}

type Step = (&'static str, &'static str, Vec<u8>);

/// The length, then the bytes, 32 in a row.
fn line(who: &str, what: &str, bytes: &[u8]) -> String {
    let length = u32::try_from(bytes.len()).expect("a frame is short");
    let mut text = format!("{who}  {what}\n    {}\n", hex(&length.to_be_bytes()));
    for row in bytes.chunks(32) {
        text += &format!("    {}\n", hex(row));
    }
    text
}

fn control(from: Port, to: Port, message: Message) -> Vec<u8> {
    Frame::Control(vec![Wire { from, to, message }]).encode()
}

fn messages(from: Port, to: Port, data: Data) -> Vec<u8> {
    Frame::Messages(vec![Wire { from, to, message: Message::Data(data) }]).encode()
}

fn opening() -> Vec<Step> {
    let renew = ManagerRequest::Renew { session: sample::n2(), sent: Now(2_000_000), version: 5 };
    let renewed = ManagerReply::Renewed { session: sample::n2(), sent: Now(2_000_000) };
    let request = Message::Manager(ManagerMessage::Request(renew));
    let reply = Message::Manager(ManagerMessage::Reply(renewed));
    vec![
        ("n2 > n1", "Hello, Link", encode(&handshake::hello_link())),
        ("n1 > n2", "Reply, Linked", encode(&Reply::Linked)),
        ("n2 > n1", "control: Renew, from member to manager", control(Port::Member, Port::Manager, request)),
        ("n1 > n2", "control: Renewed, from manager to member", control(Port::Manager, Port::Member, reply)),
    ]
}

fn talk() -> Vec<Step> {
    let (forest, router) = (Port::Scene(sample::forest().scene), Port::Router(0));
    vec![
        ("n2 > n1", "packed messages: Data 1, from router 0 to scene 7", messages(router, forest, sample::data(1))),
        (
            "n1 > n2",
            "packed acknowledgements: Ack, from scene 7 to router 0",
            control(forest, router, Message::Control(sample::ack(1))),
        ),
    ]
}

fn hand_off() -> Vec<Step> {
    let (forest, harbor) = (Port::Scene(sample::forest().scene), Port::Scene(sample::harbor().scene));
    let (entity, id, label, nonce) = (sample::entity(), sample::id(), sample::epoch().next(), Nonce(11));
    let reserve = Control::Reserve(Reserve { entity, id, label, parts: sample::parts(), bytes: 61 });
    let (owner, epoch, new) = (sample::forest(), sample::epoch(), sample::record());
    let held = vec![Held { stream: sample::stream(), sender: sample::data(1).sender, upto: 2, count: 1 }];
    let to_harbor = |said| control(forest, harbor, Message::Control(said));
    let to_forest = |said| control(harbor, forest, Message::Control(said));
    let prepare = Wire { from: forest, to: harbor, message: Message::Prepare(Arc::new(sample::prepare())) };
    let whole = codec::encode(&prepare).expect("a sample is small");
    let total = u32::try_from(whole.len()).expect("a sample is small");
    let chunk = Frame::Chunk(Chunk { transfer: 1, total, offset: 0, bytes: whole.into() }).encode();
    let cas = Message::Control(Control::Cas { entity, owner, epoch, new, nonce });
    let answer = Message::Control(Control::RecordIs { entity, record: new, nonce: Some(nonce) });
    let handed_on = Control::HandedOn { entity, id, held, source: sample::forest() };
    vec![
        ("n1 > n2", "control: Reserve, from scene 7 to scene 8", to_harbor(reserve)),
        ("n2 > n1", "control: Reserved", to_forest(Control::Reserved { entity, id, label })),
        ("n1 > n2", "chunk: Prepare, whole in one", chunk),
        ("n2 > n1", "packed messages: Data 2, which scene 7 holds", messages(Port::Router(0), forest, sample::data(2))),
        ("n2 > n1", "control: Cas, from scene 8 to the home", control(harbor, Port::Directory, cas)),
        ("n1 > n2", "control: RecordIs, from the home to scene 8", control(Port::Directory, harbor, answer)),
        ("n2 > n1", "control: Arrived", to_forest(Control::Arrived { entity, id, epoch: label })),
        (
            "n1 > n2",
            "packed messages: Data 2, handed on",
            messages(forest, harbor, Data { hops: 1, ..sample::data(2) }),
        ),
        ("n1 > n2", "control: HandedOn", to_harbor(handed_on)),
        ("n2 > n1", "control: Settled", to_forest(Control::Settled { entity, id, delivered: 1 })),
    ]
}

fn closing() -> Vec<Step> {
    vec![
        ("n1 > n2", "ping", Frame::Ping.encode()),
        ("n2 > n1", "pong", Frame::Pong.encode()),
        ("n1 > n2", "credit: 131,072 bytes", Frame::Credit(131_072).encode()),
        ("n2 > n1", "bye", Frame::Bye.encode()),
    ]
}
