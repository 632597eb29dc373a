//! Handshake texts with their first six bytes, and frames of every kind.

use serde::Serialize;
use serde::de::DeserializeOwned;
use slipgate_cluster::message::{Control, Data, Message, Nonce, ToolMessage};
use slipgate_cluster::{Incarnation, Port};

use super::{Vector, check, manager, sample, variants};
use crate::frame::{Chunk, Frame, Wire};
use crate::handshake::{self, Hello, Purpose, Refusal, Reply};

fn text<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(name: &'static str, text: &T) -> Vector {
    let bytes = handshake::encode(text);
    assert_eq!(&handshake::decode::<T>(&bytes).expect("bytes of our own"), text, "{name}");
    Vector { name, bytes }
}

pub(super) fn hello_link() -> Hello {
    let purpose = Purpose::Link { name: sample::name("n2"), session: sample::n2(), to: sample::n1() };
    Hello { cluster: "demo".to_owned(), purpose }
}

#[test]
fn what_the_side_that_dials_says_has_its_bytes() {
    let join = Hello { cluster: "demo".to_owned(), purpose: Purpose::Join(manager::join_request()) };
    check("hello", &[text("hello.join", &join), text("hello.link", &hello_link())]);
    assert_eq!(variants::<Purpose>(), 2);
}

#[test]
fn what_the_other_side_answers_has_its_bytes() {
    let refused = |name, refusal| text(name, &Reply::Refused(refusal));
    let name = sample::name("n2");
    let refusals = [
        refused("welcome.other_cluster", Refusal::OtherCluster { here: "demo".to_owned(), theirs: "live".to_owned() }),
        refused("welcome.other_version", Refusal::OtherVersion { here: 1, theirs: 2 }),
        refused(
            "welcome.old_incarnation",
            Refusal::OldIncarnation { name: name.clone(), latest: Incarnation(5), theirs: Incarnation(4) },
        ),
        refused("welcome.not_known", Refusal::NotKnown { name: name.clone() }),
        refused("welcome.not_me", Refusal::NotMe { meant: sample::n1(), here: sample::n2() }),
        refused("welcome.joining", Refusal::Joining),
        refused("welcome.stopping", Refusal::Stopping),
        refused("welcome.dead", Refusal::Dead { name }),
    ];
    assert_eq!(refusals.len(), usize::from(variants::<Refusal>()));
    let replies = [text("welcome.join", &Reply::Join(manager::welcome())), text("welcome.linked", &Reply::Linked)];
    assert_eq!(variants::<Reply>(), 3);
    check("welcome", &replies.into_iter().chain(refusals).collect::<Vec<_>>());
}

#[test]
fn every_kind_of_frame_has_its_bytes() {
    let frame = |name, frame: Frame<'_>| {
        let bytes = frame.encode();
        assert_eq!(Frame::decode(&bytes).expect("bytes of our own"), frame, "{name}");
        Vector { name, bytes }
    };
    let query = Message::Control(Control::Query { entity: sample::entity(), nonce: Nonce(11) });
    let query = Wire { from: Port::Scene(sample::harbor().scene), to: Port::Directory, message: query };
    let data = Wire {
        from: Port::Router(0),
        to: Port::Scene(sample::forest().scene),
        message: Message::Data(sample::data(1)),
    };
    let asked = ToolMessage::Ask { nonce: Nonce(11), question: vec![0xd0] };
    let asked = Wire { from: Port::Admin, to: Port::Admin, message: Message::Tool(asked) };
    let said = [sample::data(1), sample::data(2), Data { hops: 1, ..sample::data(9) }];
    let messages = said.map(|said| Wire { message: Message::Data(said), ..data.clone() });
    let acks = [2, 1].map(sample::ack).map(|ack| Wire {
        from: Port::Scene(sample::forest().scene),
        to: Port::Router(0),
        message: Message::Control(ack),
    });
    let chunk = Chunk { transfer: 1, total: 20_000, offset: 16_384, bytes: vec![0xc0, 0xc1].into() };
    check(
        "frame",
        &[
            frame("frame.control", Frame::Control(vec![query])),
            frame("frame.messages", Frame::Messages(vec![data.clone(), asked])),
            frame("frame.chunk", Frame::Chunk(chunk)),
            frame("frame.credit", Frame::Credit(131_072)),
            frame("frame.bye", Frame::Bye),
            frame("frame.ping", Frame::Ping),
            frame("frame.pong", Frame::Pong),
            frame("frame.packed_messages", Frame::Messages(messages.into())),
            frame("frame.packed_acknowledgements", Frame::Control(acks.into())),
        ],
    );
}
