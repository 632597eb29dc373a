//! A stream that went through bytes: what its window promises at the other end.

use std::sync::Arc;

use slipgate_cluster::stream::{Known, SendStream, StreamId};
use slipgate_cluster::{Epoch, Limits, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_proto::codec::{decode, encode};

#[test]
fn a_stream_that_came_from_elsewhere_takes_all_of_its_window_for_sent() {
    let place = Place { session: Session::new(1, 1), port: Port::Router(0) };
    let mut stream = SendStream::open(StreamId { opened_at: place, generation: 1 }, OnlineId::new(RangeId(1), 1));
    stream.push(Arc::from([7u8].as_slice()), &Limits::default()).expect("room");
    let known = Known { owner: Own::new(Session::new(2, 1), SceneId(1)), epoch: Epoch::FIRST, base: Epoch::FIRST };
    let mut arrived: SendStream = decode(&encode(&stream).expect("small")).expect("a stream");
    arrived.push(Arc::from([8u8].as_slice()), &Limits::default()).expect("room");
    let left =
        |stream: &mut SendStream| stream.begin_anew(known, || StreamId { opened_at: place, generation: 2 }).len();
    assert_eq!((left(&mut stream), left(&mut arrived)), (0, 1), "whoever had it before may have sent it");
    assert_eq!(arrived.waiting(), 1, "what was said since has not left");
}
