//! The lanes' order, bounds and credit.

use std::sync::Arc;

use slipgate_cluster::message::{Data, Nonce, Sender, ToolMessage};
use slipgate_cluster::{Epoch, Own, Place, Session};
use slipgate_entity::{RangeId, SceneId};

use super::*;

fn place() -> Place {
    Place { session: Session::new(1, 1), port: Port::Router(0) }
}

fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

fn wire(message: Message) -> Wire {
    Wire { from: Port::Router(0), to: Port::Scene(SceneId(1)), message }
}

fn data(bytes: usize) -> Wire {
    let stream = StreamId { opened_at: place(), generation: 1 };
    let sender = Sender::Tool(Session::new(1, 1));
    let payload = Arc::from(vec![0u8; bytes]);
    wire(Message::Data(Data {
        entity: entity(1),
        stream,
        seq: 1,
        sender,
        reply_to: place(),
        hops: 0,
        payload,
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
    }))
}

fn query() -> Wire {
    wire(Message::Control(Control::Query { entity: entity(1), nonce: Nonce(1) }))
}

fn ack(counter: u32, upto: u64) -> Wire {
    let stream = StreamId { opened_at: place(), generation: 1 };
    let owner = Own::new(Session::new(1, 1), SceneId(1));
    wire(Message::Control(Control::Ack {
        entity: entity(counter),
        stream,
        upto,
        owner,
        epoch: Epoch::FIRST,
        base: Epoch::ZERO,
    }))
}

fn answer(bytes: usize) -> Wire {
    wire(Message::Tool(ToolMessage::Answer { nonce: Nonce(1), answer: vec![7; bytes] }))
}

fn next(lanes: &mut Lanes) -> Option<Frame<'static>> {
    let mut bytes = Vec::new();
    let is_there = lanes.next_frame(&mut bytes);
    is_there.then(|| match Frame::decode(&bytes).expect("a frame of our own") {
        Frame::Chunk(chunk) => Frame::Chunk(Chunk { bytes: chunk.bytes.into_owned().into(), ..chunk }),
        Frame::Control(batch) => Frame::Control(batch),
        Frame::Messages(batch) => Frame::Messages(batch),
        Frame::Credit(credit) => Frame::Credit(credit),
        Frame::Bye => Frame::Bye,
        Frame::Ping => Frame::Ping,
        Frame::Pong => Frame::Pong,
    })
}

#[test]
fn control_goes_before_messages_and_messages_before_state() {
    let mut lanes = Lanes::new(LaneLimits::default());
    for wire in [answer(40_000), data(10), query()] {
        lanes.push(wire).expect("room");
    }
    assert!(matches!(next(&mut lanes), Some(Frame::Control(batch)) if batch.len() == 1));
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(batch)) if batch.len() == 1));
    assert!(matches!(next(&mut lanes), Some(Frame::Chunk(chunk)) if chunk.offset == 0));
    lanes.push(query()).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
    assert!(matches!(next(&mut lanes), Some(Frame::Chunk(chunk)) if chunk.offset > 0));
}

#[test]
fn exactly_what_the_node_allows_waits_of_messages_to_entities_and_the_next_comes_back_whole() {
    let mut lanes = Lanes::new(LaneLimits::default());
    lanes.allow(3 * Load::one(10).weight());
    (0..3).for_each(|_| lanes.push(data(10)).expect("room"));
    assert_eq!(lanes.push(data(10)), Err(Box::new(data(10))));
    assert_eq!(lanes.push(data(0)), Err(Box::new(data(0))), "nothing is too small to count");
    assert_eq!(lanes.load(), Load { messages: 3, bytes: 30 });
    for wire in [query(), ack(1, 1), answer(10), answer(40_000)] {
        lanes.push(wire).expect("what nobody would send again has the lane's own bounds");
    }
    while next(&mut lanes).is_some() {}
    assert_eq!(lanes.load(), Load::default(), "whatever was sent is not counted any more");
    lanes.push(data(10)).expect("room again");
}

#[test]
fn messages_stop_without_credit_and_control_does_not() {
    let mut lanes = Lanes::new(LaneLimits { credit: 1000, ..LaneLimits::default() });
    lanes.push(data(2000)).expect("room");
    lanes.push(data(1)).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(batch)) if batch.len() == 2));
    lanes.push(data(1)).expect("room");
    assert!(next(&mut lanes).is_none());
    lanes.push(query()).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
    lanes.add_credit(1);
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(_))));
}

#[test]
fn acknowledgements_of_one_stream_coalesce_and_others_do_not() {
    let mut lanes = Lanes::new(LaneLimits::default());
    for wire in [query(), ack(1, 1), ack(2, 1), ack(1, 5)] {
        lanes.push(wire).expect("room");
    }
    assert_eq!(next(&mut lanes), Some(Frame::Control(vec![query(), ack(1, 5), ack(2, 1)])));
    lanes.push(ack(1, 6)).expect("room");
    assert_eq!(next(&mut lanes), Some(Frame::Control(vec![ack(1, 6)])));
}

#[test]
fn each_lane_is_bounded_and_what_does_not_fit_comes_back() {
    let limits =
        LaneLimits { control: 1, messages: 2, message_bytes: 100, bulk_bytes: 30_000, ..LaneLimits::default() };
    let mut lanes = Lanes::new(limits);
    lanes.push(query()).expect("room");
    assert_eq!(lanes.push(query()), Err(Box::new(query())));
    assert_eq!(lanes.push(data(101)), Err(Box::new(data(101))));
    lanes.push(data(60)).expect("room");
    assert_eq!(lanes.push(data(60)), Err(Box::new(data(60))));
    lanes.push(data(1)).expect("room");
    assert_eq!(lanes.push(data(1)), Err(Box::new(data(1))));
    lanes.push(answer(20_000)).expect("room");
    assert!(lanes.push(answer(20_000)).is_err());
    while next(&mut lanes).is_some() {}
    lanes.push(answer(20_000)).expect("room again");
    lanes.push(data(100)).expect("room again");
}

#[test]
fn the_fullest_batch_of_the_largest_messages_fits_into_a_frame() {
    let limits = LaneLimits { credit: u64::MAX, ..LaneLimits::default() };
    let mut lanes = Lanes::new(limits);
    for _ in 0..511 {
        lanes.push(data(128)).expect("room");
    }
    for _ in 0..3 {
        lanes.push(data(MESSAGE_BYTES_MAX)).expect("room");
    }
    assert!(lanes.push(data(MESSAGE_BYTES_MAX + 1)).is_err());
    let mut frames = 0;
    let mut frame = Vec::new();
    while lanes.next_frame(&mut frame) {
        assert!(frame.len() <= crate::frame::BYTES_MAX, "{}", frame.len());
        frame.clear();
        frames += 1;
    }
    assert_eq!(frames, 3);
}

#[test]
fn what_asks_about_messages_follows_them_and_large_control_goes_in_chunks() {
    let held = |count: u64| {
        let stream = StreamId { opened_at: place(), generation: u64::MAX };
        let sender = Sender::Tool(place().session);
        let held = (0..count).map(|upto| slipgate_cluster::message::Held { stream, sender, upto, count: 1 });
        let source = Own::new(Session::new(1, 1), SceneId(1));
        let id = slipgate_cluster::moves::MoveId(uuid::Uuid::nil());
        wire(Message::Control(Control::HandedOn { entity: entity(1), id, held: held.collect(), source }))
    };
    let mut lanes = Lanes::new(LaneLimits::default());
    for wire in [data(1), held(2), query(), held(5000)] {
        lanes.push(wire).expect("room");
    }
    assert_eq!(next(&mut lanes), Some(Frame::Control(vec![query()])));
    assert_eq!(next(&mut lanes), Some(Frame::Messages(vec![data(1), held(2)])));
    assert!(matches!(next(&mut lanes), Some(Frame::Chunk(_))));
}

#[test]
fn large_transfers_take_turns_and_are_put_together_at_the_other_end() {
    let mut lanes = Lanes::new(LaneLimits::default());
    lanes.push(answer(100_000)).expect("room");
    lanes.push(answer(50_000)).expect("room");
    let mut assembly = crate::assembly::Assembly::default();
    let (mut whole, mut order) = (Vec::new(), Vec::new());
    while let Some(Frame::Chunk(chunk)) = next(&mut lanes) {
        order.push(chunk.transfer);
        whole.extend(assembly.take(chunk).expect("in order"));
    }
    assert_eq!(order[..4], [1, 2, 1, 2]);
    assert_eq!(whole, [answer(50_000), answer(100_000)]);
}

#[test]
fn a_new_connection_starts_transfers_again_under_new_numbers() {
    let mut lanes = Lanes::new(LaneLimits::default());
    lanes.push(answer(40_000)).expect("room");
    let first = next(&mut lanes);
    lanes.reconnect();
    let Some(Frame::Chunk(again)) = next(&mut lanes) else { panic!("expected a chunk") };
    let Some(Frame::Chunk(first)) = first else { panic!("expected a chunk") };
    assert_eq!((again.offset, again.bytes.len()), (0, first.bytes.len()));
    assert_ne!(again.transfer, first.transfer);
}

#[test]
fn credit_is_returned_in_portions_and_a_goodbye_comes_after_control() {
    let mut lanes = Lanes::new(LaneLimits { credit: 800, ..LaneLimits::default() });
    lanes.owe_credit(99);
    assert!(next(&mut lanes).is_none());
    lanes.owe_credit(1);
    assert_eq!(next(&mut lanes), Some(Frame::Credit(100)));
    lanes.bye();
    lanes.push(query()).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
    assert_eq!(next(&mut lanes), Some(Frame::Bye));
    assert!(next(&mut lanes).is_none());
}

#[test]
fn a_goodbye_lets_all_be_heard_that_was_put_in_before_it_and_waits_for_nothing_that_comes_later() {
    let mut lanes = Lanes::new(LaneLimits::default());
    for wire in [answer(10), answer(40_000)] {
        lanes.push(wire).expect("room");
    }
    lanes.bye();
    lanes.push(answer(40_000)).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(batch)) if batch.len() == 1));
    lanes.push(data(10)).expect("room");
    let mut frames: Vec<_> = std::iter::from_fn(|| next(&mut lanes)).collect();
    let bye = frames.iter().position(|frame| *frame == Frame::Bye).expect("a goodbye");
    let after = frames.split_off(bye);
    let of_first = |frame: &&Frame<'_>| matches!(frame, Frame::Chunk(chunk) if chunk.transfer == 1);
    assert_eq!((frames.iter().filter(of_first).count(), after.iter().filter(of_first).count()), (3, 0));
    assert!(after.iter().any(|frame| matches!(frame, Frame::Chunk(chunk) if chunk.transfer == 2)), "{after:?}");
}

#[test]
fn a_goodbye_waits_for_messages_without_credit() {
    let mut lanes = Lanes::new(LaneLimits { credit: 1000, ..LaneLimits::default() });
    lanes.push(data(2000)).expect("room");
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(_))));
    lanes.push(answer(10)).expect("room");
    lanes.bye();
    assert!(next(&mut lanes).is_none());
    lanes.add_credit(1);
    assert!(matches!(next(&mut lanes), Some(Frame::Messages(_))));
    assert_eq!(next(&mut lanes), Some(Frame::Bye));
}
