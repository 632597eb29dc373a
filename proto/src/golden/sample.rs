//! The values that vectors are made of. Small numbers that differ, so that each is found in the hex.

use std::sync::Arc;

use slipgate_cluster::message::{Control, Data, Identity, Image, Parked, Payload, Prepare, Sender};
use slipgate_cluster::moves::MoveId;
use slipgate_cluster::schema::{Part, Parts};
use slipgate_cluster::stream::{Inbox, Known, Received, SendStream, StreamId};
use slipgate_cluster::view::Verdicts;
use slipgate_cluster::{Epoch, Limits, NodeName, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use crate::codec;

/// Life 3 of node 1.
pub(super) fn n1() -> Session {
    Session::new(1, 3)
}

/// Life 4 of node 2.
pub(super) fn n2() -> Session {
    Session::new(2, 4)
}

pub(super) fn name(text: &str) -> NodeName {
    NodeName::new(text).expect("a name")
}

/// A walker that has a bag.
pub(super) fn parts() -> Parts {
    let part = |name: &str, version| Part { name: TypeName(name.to_owned()), version };
    Parts::new(part("walker", 1), vec![part("bag", 2)]).expect("two parts")
}

/// Scene 7 of node 1.
pub(super) fn forest() -> Own {
    Own::new(n1(), SceneId(7))
}

/// Scene 8 of node 2.
pub(super) fn harbor() -> Own {
    Own::new(n2(), SceneId(8))
}

/// 3.5: range 3, counter 5.
pub(super) fn entity() -> OnlineId {
    OnlineId::new(RangeId(3), 5)
}

pub(super) fn id() -> MoveId {
    MoveId(Uuid::from_u128(0x9f31_0000_0000_4000_8000_0000_0000_0001))
}

pub(super) fn epoch() -> Epoch {
    Epoch::new(0, 9)
}

pub(super) fn router() -> Place {
    Place { session: n2(), port: Port::Router(0) }
}

/// The sixth stream that router 0 of node 2 opened.
pub(super) fn stream() -> StreamId {
    StreamId { opened_at: router(), generation: 6 }
}

pub(super) fn payload() -> Payload {
    Arc::from(b"hi".as_slice())
}

pub(super) fn record() -> Record {
    Record::handed_to(harbor(), epoch().next(), Epoch::ZERO)
}

pub(super) fn data(seq: u64) -> Data {
    Data {
        entity: entity(),
        stream: stream(),
        seq,
        sender: Sender::Tool(n2()),
        reply_to: router(),
        hops: 0,
        payload: payload(),
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
    }
}

/// Everything of the stream up to `upto` is applied.
pub(super) fn ack(upto: u64) -> Control {
    let (owner, epoch, base) = (forest(), epoch(), Epoch::ZERO);
    Control::Ack { entity: entity(), stream: stream(), upto, owner, epoch, base }
}

pub(super) fn identity() -> Identity {
    Identity {
        type_name: TypeName("walker".to_owned()),
        type_version: 1,
        label: Some("ann".to_owned()),
        persist: PersistId(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0002)),
        player: PlayerId::NONE,
    }
}

/// One stream, of which the first message is applied.
pub(super) fn received() -> Received {
    let mut inbox = Inbox::default();
    inbox.accept(data(1), &Limits::default(), &Verdicts::default());
    inbox.received().clone()
}

/// One acknowledged message and one that is not; as it arrives, without its clockwork.
pub(super) fn sending() -> SendStream {
    let opened_at = forest().into();
    let mut stream = SendStream::open(StreamId { opened_at, generation: 1 }, OnlineId::new(RangeId(4), 0));
    for _ in 0..2 {
        stream.push(payload(), &Limits::default()).expect("room");
    }
    stream.learn(Known { owner: harbor(), epoch: epoch(), base: Epoch::ZERO });
    stream.acknowledge(1);
    codec::decode(&codec::encode(&stream).expect("small")).expect("bytes of our own")
}

pub(super) fn image() -> Image {
    Image {
        identity: identity(),
        body: vec![0xb0, 0xb1],
        received: received(),
        sending: vec![sending()],
        base: Epoch::ZERO,
        parked: Some(Parked { why: "ow".to_owned(), since_ms: 4 }),
    }
}

pub(super) fn prepare() -> Prepare {
    Prepare { entity: entity(), id: id(), from: forest(), label: epoch().next(), image: image() }
}
