//! Every decoder of the crate, behind one name.

use serde::de::DeserializeOwned;
use slipgate_cluster::manager::{JoinReply, JoinRequest, ManagerReply, ManagerRequest};
use slipgate_cluster::message::{
    Control, Data, Identity, Image, ManagerMessage, Message, Prepare, Reserve, Sender, ToolMessage,
};
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::stream::{Received, SendStream, StreamId};
use slipgate_cluster::{Place, Port, Record, View};
use slipgate_proto::admin::{Answer, Problem, Question};
use slipgate_proto::assembly::Assembly;
use slipgate_proto::frame::{CHUNK_BYTES_MAX, Chunk, Frame, Wire};
use slipgate_proto::handshake::{self, Hello, Reply};
use slipgate_proto::{codec, weight};

type Decoder = fn(&[u8]);

/// Each decoder with its name.
pub(crate) const ALL: [(&str, Decoder); 32] = [
    ("frame", |bytes| drop(Frame::decode(bytes))),
    ("hello", |bytes| drop(handshake::decode::<Hello>(bytes))),
    ("reply", |bytes| drop(handshake::decode::<Reply>(bytes))),
    ("assembly", assemble),
    ("batch", read::<Vec<Wire>>),
    ("wire", read::<Wire>),
    ("message", read::<Message>),
    ("control", read::<Control>),
    ("data", read::<Data>),
    ("reserve", read::<Reserve>),
    ("prepare", read::<Prepare>),
    ("image", read::<Image>),
    ("identity", read::<Identity>),
    ("received", read::<Received>),
    ("sending", read::<SendStream>),
    ("sender", read::<Sender>),
    ("stream", read::<StreamId>),
    ("record", read::<Record>),
    ("place", read::<Place>),
    ("port", read::<Port>),
    ("move", read::<MoveId>),
    ("refusal", read::<Refusal>),
    ("manager", read::<ManagerMessage>),
    ("request", read::<ManagerRequest>),
    ("told", read::<ManagerReply>),
    ("view", read::<View>),
    ("join", read::<JoinRequest>),
    ("joined", read::<JoinReply>),
    ("tool", read::<ToolMessage>),
    ("question", read::<Question>),
    ("answer", read::<Result<Answer, Problem>>),
    ("hello alone", read::<Hello>),
];

fn read<T: DeserializeOwned>(bytes: &[u8]) {
    drop(codec::decode::<T>(bytes));
}

/// The bytes as one transfer, in one piece and a half.
fn assemble(bytes: &[u8]) {
    let mut assembly = Assembly::default();
    let total = u32::try_from(bytes.len()).expect("short");
    for (number, piece) in bytes.chunks(CHUNK_BYTES_MAX.min(bytes.len() / 2 + 1)).enumerate() {
        let offset = u32::try_from(number * (bytes.len() / 2 + 1)).expect("short");
        drop(assembly.take(Chunk { transfer: 1, total, offset, bytes: piece.into() }));
    }
}

/// Every message that the bytes can be read as, weighed.
pub(crate) fn wires(bytes: &[u8]) -> Vec<Wire> {
    let mut wires = match Frame::decode(bytes) {
        Ok(Frame::Control(batch) | Frame::Messages(batch)) => batch,
        Ok(Frame::Chunk(_) | Frame::Credit(_) | Frame::Bye | Frame::Ping | Frame::Pong) | Err(_) => Vec::new(),
    };
    let messages = [
        codec::decode::<Message>(bytes).ok(),
        codec::decode::<Control>(bytes).ok().map(Message::Control),
        codec::decode::<Data>(bytes).ok().map(Message::Data),
        codec::decode::<Prepare>(bytes).ok().map(|prepare| Message::Prepare(prepare.into())),
        codec::decode::<ManagerMessage>(bytes).ok().map(Message::Manager),
        codec::decode::<ToolMessage>(bytes).ok().map(Message::Tool),
    ];
    let wire = |message| Wire { from: Port::Directory, to: Port::Member, message };
    wires.extend(messages.into_iter().flatten().map(wire));
    assert!(wires.iter().all(|wire| weight::weight(&wire.message) <= codec::BYTES_MAX));
    wires
}
