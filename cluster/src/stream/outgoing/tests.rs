//! The sender's end alone: numbers, windows, owners, resets.

use std::sync::Arc;
use std::time::Duration;

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::{Port, Session};

fn place() -> Place {
    Place { session: Session::new(1, 1), port: Port::Router(0) }
}

fn speaker() -> Speaker {
    Speaker { sender: Sender::Tool(Session::new(1, 1)), epoch: Epoch::ZERO, reply_to: place() }
}

fn own(node: u16) -> Own {
    Own::new(Session::new(node, 1), SceneId::from(node))
}

fn stream() -> SendStream {
    SendStream::open(StreamId { opened_at: place(), generation: 1 }, OnlineId::new(RangeId(1), 1))
}

fn known(owner: Own, epoch: Epoch) -> Known {
    Known { owner, epoch, base: Epoch::ZERO }
}

fn limits() -> Limits {
    Limits { stream_window: 3, stream_queue: 2, stream_bytes: 100, ..Limits::default() }
}

fn push(stream: &mut SendStream, count: usize) -> Vec<Result<u64, Busy>> {
    (0..count).map(|_| stream.push(Arc::from([7u8; 10].as_slice()), &limits())).collect()
}

fn sent(stream: &mut SendStream, now: u64) -> (Vec<(u16, u64)>, usize) {
    let mut out = Vec::new();
    stream.transmit(&speaker(), Now(now), &limits(), &mut out);
    split(&out)
}

fn split(out: &[StreamOutput]) -> (Vec<(u16, u64)>, usize) {
    let data = out.iter().filter_map(|output| match output {
        StreamOutput::Data { to, data } => Some((to.scene.number(), data.seq)),
        StreamOutput::AskHome => None,
    });
    let data: Vec<_> = data.collect();
    (data.clone(), out.len() - data.len())
}

#[test]
fn a_send_is_numbered_and_transmitted_while_the_window_has_room_and_waits_behind_it() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    assert_eq!(push(&mut stream, 6), [Ok(1), Ok(2), Ok(3), Ok(4), Ok(5), Err(Busy(Arc::from([7; 10])))]);
    assert_eq!(sent(&mut stream, 0), (vec![(2, 1), (2, 2), (2, 3)], 0));
    assert_eq!(sent(&mut stream, 1), (vec![], 0));
    assert_eq!(stream.acknowledge(2), 2);
    assert_eq!(sent(&mut stream, 2), (vec![(2, 4), (2, 5)], 0));
}

#[test]
fn a_stream_is_bounded_in_bytes_too() {
    let mut stream = stream();
    let limits = Limits { stream_bytes: 25, ..limits() };
    let payload: Payload = Arc::from([0u8; 10].as_slice());
    assert_eq!(stream.push(payload.clone(), &limits), Ok(1));
    assert_eq!(stream.push(payload.clone(), &limits), Ok(2));
    assert_eq!(stream.push(payload.clone(), &limits), Err(Busy(payload.clone())));
    assert_eq!(stream.waiting_bytes(), 20);
    stream.acknowledge(1);
    assert_eq!(stream.push(payload, &limits), Ok(3));
}

#[test]
fn with_no_owner_known_it_asks_the_home_once_and_sends_when_it_learns_one() {
    let mut stream = stream();
    push(&mut stream, 1);
    assert_eq!(sent(&mut stream, 0), (vec![], 1));
    push(&mut stream, 1);
    assert_eq!(sent(&mut stream, 1), (vec![], 0));
    assert!(stream.learn(known(own(2), Epoch::FIRST)));
    assert_eq!(sent(&mut stream, 2), (vec![(2, 1), (2, 2)], 0));
}

#[test]
fn an_ack_shrinks_the_window_and_one_that_was_never_earned_is_ignored() {
    let mut stream = stream();
    push(&mut stream, 3);
    assert_eq!(stream.acknowledge(9), 0);
    assert_eq!(stream.acknowledge(2), 2);
    assert_eq!(stream.acknowledge(2), 0);
    assert_eq!(stream.acknowledge(1), 0);
    assert_eq!((stream.acked(), stream.waiting()), (2, 1));
}

#[test]
fn a_redirect_to_a_higher_epoch_resends_the_window_and_a_lower_one_is_ignored() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::new(0, 5)));
    push(&mut stream, 2);
    sent(&mut stream, 0);
    assert!(!stream.learn(known(own(3), Epoch::new(0, 5))));
    assert!(!stream.learn(known(own(3), Epoch::new(0, 4))));
    assert_eq!(sent(&mut stream, 1), (vec![], 0));
    assert!(stream.learn(known(own(3), Epoch::new(0, 6))));
    assert_eq!(sent(&mut stream, 1), (vec![(3, 1), (3, 2)], 0));
}

#[test]
fn a_tick_with_something_unacknowledged_resends_a_window_asks_and_backs_off() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 4);
    sent(&mut stream, 0);
    let mut waits = Vec::new();
    for _ in 0..6 {
        let due = stream.due().expect("something is unacknowledged");
        let mut out = Vec::new();
        stream.tick(&speaker(), Now(due.0 - 1), &limits(), &mut out);
        assert!(out.is_empty());
        stream.tick(&speaker(), due, &limits(), &mut out);
        assert_eq!(split(&out), (vec![(2, 1), (2, 2), (2, 3)], 1));
        waits.push(stream.due().expect("still unacknowledged").since(due) / 1000);
    }
    assert_eq!(waits, [200, 400, 800, 1600, 2000, 2000]);
    stream.acknowledge(4);
    let mut out = Vec::new();
    stream.tick(&speaker(), Now(u64::MAX), &limits(), &mut out);
    assert!(out.is_empty());
}

#[test]
fn a_dead_receiver_fails_the_window_to_the_sender() {
    let mut stream = stream();
    push(&mut stream, 3);
    assert_eq!(stream.learn_record(&Record::never()).len(), 3);
    assert_eq!((stream.waiting(), stream.waiting_bytes(), stream.due()), (0, 0, None));
}

#[test]
fn a_late_answer_from_before_the_receiver_was_spawned_is_not_taken_for_its_death() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 1);
    assert!(stream.learn_record(&Record::never()).is_empty());
    assert_eq!(stream.waiting(), 1);
    let dead = Record { owner: None, epoch: Epoch::FIRST.next(), data: Epoch::FIRST, lost: false, base: Epoch::ZERO };
    assert_eq!(stream.learn_record(&dead).len(), 1);
}

#[test]
fn a_stream_that_stops_halfway_keeps_no_alarm_unless_something_is_unacknowledged() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 2);
    sent(&mut stream, 0);
    stream.acknowledge(1);
    assert_eq!(sent(&mut stream, 1), (vec![], 0));
    assert!(stream.due().is_some());
    stream.acknowledge(2);
    sent(&mut stream, 2);
    assert_eq!(stream.due(), None);
}

#[test]
fn a_higher_base_ends_the_stream_even_at_an_epoch_already_known_and_nothing_else_is_said_to_be_dead() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::new(1, 1)));
    push(&mut stream, 2);
    let reset = Record { base: Epoch::new(1, 0), ..Record::handed_to(own(2), Epoch::new(1, 1), Epoch::ZERO) };
    assert_eq!(stream.is_ended_by(&reset), Some(End::Unknown));
    assert_eq!(stream.is_ended_by(&reset.changed_to(None)), Some(End::Unknown));
    assert!(!stream.learn(Known { owner: own(3), epoch: Epoch::new(1, 2), base: Epoch::new(1, 0) }));
    assert_eq!(sent(&mut stream, 0), (vec![(2, 1), (2, 2)], 0), "still to the owner of its own base");
    assert_eq!(stream.learn_record(&reset).len(), 2);
}

#[test]
fn a_stream_that_nothing_is_known_to_takes_its_base_from_the_first_record_and_not_from_a_redirect() {
    let mut stream = stream();
    push(&mut stream, 1);
    assert!(!stream.learn_owner(own(2), Epoch::FIRST));
    assert_eq!(sent(&mut stream, 0), (vec![], 1));
    let record = Record::handed_to(own(2), Epoch::new(1, 1), Epoch::new(1, 0));
    assert!(stream.learn_record(&record).is_empty());
    let mut out = Vec::new();
    stream.transmit(&speaker(), Now(1), &limits(), &mut out);
    assert!(matches!(&out[..], [StreamOutput::Data { data, .. }] if data.base == Epoch::new(1, 0)));
}

#[test]
fn a_closed_stream_goes_on_under_another_id_numbered_from_one_without_what_was_acknowledged() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 3);
    sent(&mut stream, 0);
    stream.acknowledge(1);
    let id = StreamId { generation: 2, ..stream.id() };
    stream.renew(id);
    assert_eq!(stream.id(), id);
    assert_eq!(sent(&mut stream, 1), (vec![(2, 1), (2, 2)], 0));
    assert_eq!((stream.acknowledge(3), stream.acknowledge(2)), (0, 2), "two messages are left in it");
}

#[test]
fn a_stream_that_is_closed_again_before_anything_of_it_came_through_waits_for_its_repeat() {
    let mut stream = stream();
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 1);
    sent(&mut stream, 0);
    for generation in 2..4 {
        stream.renew(StreamId { generation, ..stream.id() });
        let expected = if generation == 2 { vec![(2, 1)] } else { vec![] };
        assert_eq!(sent(&mut stream, 1), (expected, 0));
    }
    let due = stream.due().expect("something is unacknowledged");
    let mut out = Vec::new();
    stream.tick(&speaker(), due, &limits(), &mut out);
    assert_eq!(split(&out), (vec![(2, 1)], 1));
}

#[test]
fn a_stream_is_idle_once_nothing_was_unacknowledged_for_a_while_and_one_alarm_is_enough_for_all_that() {
    let mut stream = stream();
    let limits = Limits { stream_idle: Duration::from_millis(500), ..limits() };
    stream.learn(known(own(2), Epoch::FIRST));
    push(&mut stream, 1);
    sent(&mut stream, 0);
    assert_eq!(stream.arm(&limits), Some(Alarm { at: Now(100_000), instead_of: None }));
    stream.acknowledge(1);
    sent(&mut stream, 1_000);
    assert_eq!(stream.arm(&limits), None, "the alarm that is set rings early enough");
    stream.rang(Now(100_000));
    assert_eq!(stream.arm(&limits), Some(Alarm { at: Now(501_000), instead_of: None }));
    assert!(!stream.is_idle(Now(500_999), &limits) && stream.is_idle(Now(501_000), &limits));
    push(&mut stream, 1);
    sent(&mut stream, 300_000);
    assert!(!stream.is_idle(Now(600_000), &limits));
    assert_eq!(stream.arm(&limits), Some(Alarm { at: Now(400_000), instead_of: Some(Now(501_000)) }));
}
