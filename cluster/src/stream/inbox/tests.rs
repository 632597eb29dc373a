//! The receiver's end alone: numbers, gaps, streams that are over.

mod closing;

use std::iter;
use std::sync::Arc;

use slipgate_entity::{OnlineId, RangeId};

use super::*;
use crate::message::Sender;
use crate::{Epoch, Port, Session};

fn data(generation: u64, seq: u64) -> Data {
    let place = Place { session: Session::new(1, 1), port: Port::Router(0) };
    Data {
        entity: OnlineId::new(RangeId(1), 1),
        stream: StreamId { opened_at: place, generation },
        seq,
        sender: Sender::Tool(Session::new(1, 1)),
        reply_to: place,
        hops: 0,
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
        payload: Arc::from([0u8; 10].as_slice()),
    }
}

fn accept(inbox: &mut Inbox, generation: u64, seq: u64) -> Vec<u64> {
    match inbox.accept(data(generation, seq), &Limits::default(), &Verdicts::default()) {
        Verdict::Apply { next, behind } => iter::once(&next).chain(&behind).map(|data| data.seq).collect(),
        Verdict::Repeat | Verdict::Ahead | Verdict::NoRoom | Verdict::Over(_) => Vec::new(),
    }
}

#[test]
fn the_next_number_is_applied_and_a_lower_one_is_only_acknowledged_again() {
    let mut inbox = Inbox::default();
    assert_eq!(accept(&mut inbox, 1, 1), [1]);
    assert_eq!(inbox.accept(data(1, 1), &Limits::default(), &Verdicts::default()), Verdict::Repeat);
    assert_eq!(accept(&mut inbox, 1, 2), [2]);
    assert_eq!(inbox.received().last(data(1, 0).sender, data(1, 0).stream), 2);
}

#[test]
fn a_number_ahead_of_a_gap_waits_and_follows_once_the_gap_closes() {
    let mut inbox = Inbox::default();
    assert_eq!(inbox.accept(data(1, 3), &Limits::default(), &Verdicts::default()), Verdict::Ahead);
    assert_eq!(inbox.accept(data(1, 2), &Limits::default(), &Verdicts::default()), Verdict::Ahead);
    assert_eq!(accept(&mut inbox, 1, 1), [1, 2, 3]);
    assert_eq!(inbox.ahead_bytes, 0);
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let mut inbox = Inbox::default();
    assert_eq!(inbox.accept(data(1, 2), &Limits::default(), &Verdicts::default()), Verdict::Ahead);
    assert_eq!(accept(&mut inbox, 2, 1), [1]);
    assert_eq!(inbox.received().streams(), 1);
}

#[test]
fn what_waits_ahead_of_gaps_is_bounded_and_a_repeat_does_not_count_twice() {
    let limits = Limits { held_messages: 2, ..Limits::default() };
    let mut inbox = Inbox::default();
    assert_eq!(inbox.accept(data(1, 5), &limits, &Verdicts::default()), Verdict::Ahead);
    assert_eq!(inbox.accept(data(1, 5), &limits, &Verdicts::default()), Verdict::Ahead);
    assert_eq!(inbox.ahead_bytes, 10);
    assert_eq!(inbox.accept(data(1, 6), &limits, &Verdicts::default()), Verdict::Ahead);
    assert_eq!(inbox.accept(data(1, 7), &limits, &Verdicts::default()), Verdict::NoRoom);
}
