//! One router alone: tickets, windows, owners, adopted streams.

mod bounds;

use std::sync::Arc;

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::view::Home;
use crate::{Epoch, Own, Port, Record, Session};

fn me() -> Place {
    Place { session: Session::new(1, 1), port: Port::Router(0) }
}

fn own(node: u16) -> Own {
    Own::new(Session::new(node, 1), SceneId::from(node))
}

fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(counter), 1)
}

fn router() -> Router {
    Router::new(me(), Limits { stream_window: 2, stream_queue: 1, router_queue: 5, ..Limits::default() })
}

fn to_send(ticket: u64, counter: u32, bytes: usize) -> ToSend {
    ToSend { ticket: Ticket(ticket), entity: entity(counter), payload: Arc::from(vec![0; bytes]) }
}

/// A message comes back whole.
fn busy(ticket: u64, counter: u32) -> Output {
    Output::Busy(to_send(ticket, counter, 4))
}

fn send(router: &mut Router, messages: &[(u64, u32)]) -> Vec<Output> {
    let to_send = |&(ticket, counter): &(u64, u32)| to_send(ticket, counter, 4);
    let mut out = Vec::new();
    router.handle(Input::Send(messages.iter().map(to_send).collect()), Now(0), &mut out);
    out
}

/// The owner in scene 2 says something, or a home does.
fn hear(router: &mut Router, control: Control) -> Vec<Output> {
    hear_from(router, own(2), control, Now(1))
}

fn hear_from(router: &mut Router, from: Own, control: Control, now: Now) -> Vec<Output> {
    let mut out = Vec::new();
    router.handle(Input::Heard { from: from.into(), control }, now, &mut out);
    out
}

fn record(router: &mut Router, counter: u32, record: Record) -> Vec<Output> {
    hear(router, Control::RecordIs { entity: entity(counter), record, nonce: Some(Nonce(1)) })
}

fn numbers(out: &[Output]) -> Vec<(u16, u64)> {
    out.iter()
        .filter_map(|output| match output {
            Output::Data { to, data } => Some((to.scene.number(), data.seq)),
            Output::AskHome { .. }
            | Output::Close { .. }
            | Output::Accepted(_)
            | Output::Busy(_)
            | Output::Applied(_)
            | Output::Dead(_)
            | Output::Unknown(_)
            | Output::Lost(_)
            | Output::Failed(_)
            | Output::Parked(_) => None,
        })
        .collect()
}

fn ack(counter: u32, generation: u64, upto: u64, epoch: u32) -> Control {
    let stream = StreamId { opened_at: me(), generation };
    Control::Ack {
        entity: entity(counter),
        stream,
        upto,
        owner: own(2),
        epoch: Epoch::new(0, epoch),
        base: Epoch::ZERO,
    }
}

#[test]
fn an_accepted_message_waits_for_its_home_goes_to_the_owner_and_ends_as_applied() {
    let mut router = router();
    let out = send(&mut router, &[(10, 1)]);
    assert_eq!(out[0], Output::Accepted(Ticket(10)));
    assert_eq!(out[1], Output::AskHome { entity: entity(1), nonce: Nonce(1) });
    assert_eq!(numbers(&record(&mut router, 1, Record::registered(own(2)))), [(2, 1)]);
    assert_eq!(hear(&mut router, ack(1, 1, 1, 1)), [Output::Applied(Ticket(10))]);
    assert_eq!(router.load(), Load::default());
}

#[test]
fn after_a_refusal_later_messages_of_the_batch_to_the_same_receiver_are_refused_too() {
    let mut router = router();
    let out = send(&mut router, &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (6, 1)]);
    let verdicts: Vec<_> = out.into_iter().filter(|o| !matches!(o, Output::AskHome { .. })).collect();
    let expected = [
        Output::Accepted(Ticket(1)),
        Output::Accepted(Ticket(2)),
        Output::Accepted(Ticket(3)),
        busy(4, 1),
        Output::Accepted(Ticket(5)),
        busy(6, 1),
    ];
    assert_eq!(verdicts, expected);
}

#[test]
fn a_router_is_bounded_over_all_its_streams() {
    let mut router = router();
    let out = send(&mut router, &[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]);
    assert!(out.contains(&busy(6, 6)));
    assert_eq!(router.waiting(), 5);
    record(&mut router, 1, Record::registered(own(2)));
    hear(&mut router, ack(1, 1, 1, 1));
    assert!(send(&mut router, &[(7, 6)]).contains(&Output::Accepted(Ticket(7))));
}

#[test]
fn dead_answers_every_accepted_message_of_the_receiver() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1), (3, 2)]);
    assert_eq!(record(&mut router, 1, Record::never()), [Output::Dead(Ticket(1)), Output::Dead(Ticket(2))]);
    assert_eq!(router.waiting(), 1);
}

#[test]
fn a_lost_receiver_leaves_what_was_unacknowledged_unknown_and_never_says_dead() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    hear(&mut router, ack(1, 1, 1, 1));
    assert_eq!(record(&mut router, 1, Record::registered(own(2)).buried()), [Output::Unknown(Ticket(2))]);
    assert_eq!(router.waiting(), 0);
}

#[test]
fn not_owner_asks_the_home_and_a_redirect_resends_the_window() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1), (3, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let stream = StreamId { opened_at: me(), generation: 1 };
    let out = hear(&mut router, Control::NotOwner { entity: entity(1), stream });
    assert!(matches!(out[..], [Output::AskHome { .. }]));
    let redirect = Control::Redirect { entity: entity(1), stream, owner: own(3), epoch: Epoch::FIRST.next() };
    assert_eq!(numbers(&hear(&mut router, redirect)), [(3, 1), (3, 2)]);
}

#[test]
fn whoever_has_not_answered_is_told_with_how_many_messages() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 2), (3, 1)]);
    let mut unanswered: Vec<_> = router.unanswered().collect();
    unanswered.sort_unstable();
    assert_eq!(unanswered, [(entity(1), 2), (entity(2), 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    hear(&mut router, ack(1, 1, 2, 1));
    assert_eq!(router.unanswered().collect::<Vec<_>>(), [(entity(2), 1)]);
}

#[test]
fn a_tick_resends_what_is_unacknowledged_and_nothing_else() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 2)]);
    record(&mut router, 1, Record::registered(own(2)));
    record(&mut router, 2, Record::registered(own(3)));
    hear(&mut router, ack(1, 1, 1, 1));
    let mut out = Vec::new();
    router.handle(Input::Tick, Now(150_000), &mut out);
    assert_eq!(numbers(&out), [(3, 1)]);
}

#[test]
fn an_adopted_stream_goes_on_under_its_numbers_and_is_forgotten_once_answered() {
    let mut router = router();
    let id = StreamId { opened_at: Place::from(own(9)), generation: 4 };
    let mut stream = SendStream::open(id, entity(1));
    for _ in 0..2 {
        stream.push(Arc::from([1u8].as_slice()), &Limits::default()).expect("room");
    }
    stream.learn_record(&Record::registered(own(2)));
    let mut out = Vec::new();
    let orphan = Orphan { sender: entity(7), epoch: Epoch::FIRST, stream };
    router.handle(Input::Adopt(vec![orphan]), Now(0), &mut out);
    assert_eq!(numbers(&out), [(2, 1), (2, 2)]);
    let ack =
        Control::Ack { entity: entity(1), stream: id, upto: 2, owner: own(2), epoch: Epoch::FIRST, base: Epoch::ZERO };
    assert!(hear(&mut router, ack).is_empty());
    assert_eq!((router.tables().streams, router.tables().receivers, router.tables().alarms), (0, 0, 0));
}

#[test]
fn a_late_answer_from_before_the_receiver_was_spawned_fails_nothing() {
    let mut router = router();
    send(&mut router, &[(1, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    assert!(record(&mut router, 1, Record::never()).is_empty());
    assert_eq!(router.waiting(), 1);
}

#[test]
fn a_reset_leaves_the_window_unknown_and_later_messages_are_numbered_anew_from_the_new_base() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let base = Epoch::new(1, 0);
    let reset = Record { epoch: base, base, ..Record::registered(own(2)) };
    assert_eq!(record(&mut router, 1, reset), [Output::Unknown(Ticket(1)), Output::Unknown(Ticket(2))]);
    assert_eq!((router.waiting(), router.tables().streams), (0, 0));
    send(&mut router, &[(3, 1)]);
    let out = record(&mut router, 1, reset);
    assert!(matches!(&out[..], [Output::Data { data, .. }] if (data.seq, data.base) == (1, base)));
}

#[test]
fn what_never_left_before_a_reset_goes_to_the_copy_that_counts_anew_under_another_id() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1), (3, 1)]);
    assert_eq!(numbers(&record(&mut router, 1, Record::registered(own(2)))), [(2, 1), (2, 2)]);
    let base = Epoch::new(1, 0);
    let out = record(&mut router, 1, Record { epoch: base, base, ..Record::registered(own(3)) });
    assert_eq!(out[..2], [Output::Unknown(Ticket(1)), Output::Unknown(Ticket(2))]);
    let Output::Data { to, data } = &out[2] else { panic!("{out:?}") };
    assert_eq!((*to, data.stream.generation, data.seq, data.base), (own(3), 2, 1, base));
    assert_eq!((out.len(), router.waiting()), (3, 1));
    let stream = StreamId { opened_at: me(), generation: 2 };
    let ack = Control::Ack { entity: entity(1), stream, upto: 1, owner: own(3), epoch: base, base };
    assert_eq!(hear(&mut router, ack), [Output::Applied(Ticket(3))]);
}

#[test]
fn what_is_said_to_a_receiver_that_was_lost_before_has_never_left_and_is_told_so() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1)]);
    let lost = Record::registered(own(2)).buried();
    assert_eq!(record(&mut router, 1, lost), [1, 2].map(|ticket| Output::Lost(Ticket(ticket))));
    assert_eq!(router.waiting(), 0);
}

#[test]
fn what_never_left_to_a_receiver_that_is_lost_is_answered_with_the_rest() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1), (3, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let lost = Record { lost: true, ..Record::registered(own(2)).changed_to(None) };
    assert_eq!(record(&mut router, 1, lost), [1, 2, 3].map(|ticket| Output::Unknown(Ticket(ticket))));
    assert_eq!(router.waiting(), 0);
}

#[test]
fn an_acknowledgement_that_counts_from_another_reset_is_ignored() {
    let mut router = router();
    send(&mut router, &[(1, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let stream = StreamId { opened_at: me(), generation: 1 };
    let base = Epoch::new(1, 0);
    let other = Control::Ack { entity: entity(1), stream, upto: 1, owner: own(2), epoch: base, base };
    assert!(hear(&mut router, other).is_empty());
    assert_eq!(router.waiting(), 1);
}

fn tick(router: &mut Router, us: u64) -> Vec<Output> {
    let mut out = Vec::new();
    router.handle(Input::Tick, Now(us), &mut out);
    out
}

fn closes(out: &[Output]) -> Vec<(u16, u64)> {
    let close = |output: &Output| {
        let Output::Close { to, stream, .. } = output else { return None };
        Some((to.scene.number(), stream.generation))
    };
    out.iter().filter_map(close).collect()
}

fn closed(counter: u32, generation: u64, doubt: bool) -> Control {
    Control::Closed { entity: entity(counter), stream: StreamId { opened_at: me(), generation }, floor: 0, doubt }
}

/// With one tool's stream to entity 1 at `own(2)`, everything in it acknowledged.
fn at_rest() -> Router {
    let mut router = router();
    send(&mut router, &[(1, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    hear(&mut router, ack(1, 1, 1, 1));
    router
}

fn adopted(router: &mut Router, messages: usize) -> Vec<Output> {
    let id = StreamId { opened_at: Place::from(own(9)), generation: 4 };
    let mut stream = SendStream::open(id, entity(1));
    for _ in 0..messages {
        stream.push(Arc::from([1u8].as_slice()), &Limits::default()).expect("room");
    }
    stream.learn_record(&Record::registered(own(2)));
    let mut out = Vec::new();
    let orphan = Orphan { sender: entity(7), epoch: Epoch::FIRST, stream };
    router.handle(Input::Adopt(vec![orphan]), Now(0), &mut out);
    out
}

#[test]
fn a_tools_stream_at_rest_is_closed_and_its_receiver_told_until_it_answers() {
    let mut router = at_rest();
    assert!(tick(&mut router, 4_900_000).is_empty());
    assert_eq!(closes(&tick(&mut router, 5_100_000)), [(2, 1)]);
    assert_eq!(closes(&tick(&mut router, 5_199_999)), []);
    let out = tick(&mut router, 5_200_000);
    assert_eq!(closes(&out), [(2, 1)]);
    assert!(out.iter().any(|output| matches!(output, Output::AskHome { .. })), "it may be elsewhere");
    assert_eq!(router.tables().closings, 1);
    hear(&mut router, closed(1, 1, false));
    assert_eq!(router.tables(), Tables::default());
    assert!(tick(&mut router, 60_000_000).is_empty());
}

#[test]
fn a_message_after_that_begins_another_stream() {
    let mut router = at_rest();
    tick(&mut router, 6_000_000);
    send(&mut router, &[(2, 1)]);
    let out = record(&mut router, 1, Record::registered(own(2)));
    assert!(matches!(&out[..], [Output::Data { data, .. }] if (data.stream.generation, data.seq) == (2, 1)));
}

#[test]
fn a_stream_to_be_closed_follows_its_receiver_and_ends_with_its_death_or_reset() {
    let ended =
        [Record::registered(own(2)).changed_to(None), Record { base: Epoch::FIRST, ..Record::registered(own(2)) }];
    for record_of_the_end in ended {
        let mut router = at_rest();
        tick(&mut router, 6_000_000);
        let stream = StreamId { opened_at: me(), generation: 1 };
        let (owner, epoch) = (own(3), Epoch::new(0, 2));
        let redirect = Control::Redirect { entity: entity(1), stream, owner, epoch };
        hear_from(&mut router, own(2), redirect, Now(6_000_000));
        assert_eq!(closes(&tick(&mut router, 6_000_000)), [(3, 1)]);
        let record_of_the_end = Record { epoch: Epoch::new(0, 9), ..record_of_the_end };
        let control = Control::RecordIs { entity: entity(1), record: record_of_the_end, nonce: None };
        hear_from(&mut router, own(3), control, Now(6_000_000));
        assert_eq!(router.tables(), Tables::default());
    }
}

#[test]
fn an_adopted_stream_is_closed_once_it_is_answered_empty_or_not() {
    let mut router = router();
    adopted(&mut router, 2);
    let id = StreamId { opened_at: Place::from(own(9)), generation: 4 };
    let (owner, epoch) = (own(2), Epoch::FIRST);
    hear(&mut router, Control::Ack { entity: entity(1), stream: id, upto: 2, owner, epoch, base: Epoch::ZERO });
    assert_eq!(closes(&tick(&mut router, 10)), [(2, 4)]);
    let mut router = self::router();
    assert!(adopted(&mut router, 0).is_empty());
    assert_eq!(closes(&tick(&mut router, 10)), [(2, 4)]);
}

#[test]
fn a_window_that_is_told_to_be_closed_goes_on_under_another_id_and_keeps_its_tickets() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    hear(&mut router, ack(1, 1, 1, 1));
    let out = hear(&mut router, closed(1, 1, true));
    assert!(matches!(&out[..], [Output::Data { data, .. }] if (data.stream.generation, data.seq) == (2, 1)));
    assert!(hear(&mut router, ack(1, 1, 2, 1)).is_empty());
    assert_eq!(hear(&mut router, ack(1, 2, 1, 1)), [Output::Applied(Ticket(2))]);
    send(&mut router, &[(3, 1)]);
    assert_eq!(router.tables().streams, 1, "later messages go the same way");
}

#[test]
fn a_dead_senders_window_goes_on_under_another_id_unless_its_receiver_took_it_for_gone() {
    for (doubt, left) in [(false, 2), (true, 0)] {
        let mut router = router();
        adopted(&mut router, 2);
        let stream = StreamId { opened_at: Place::from(own(9)), generation: 4 };
        let out = hear(&mut router, Control::Closed { entity: entity(1), stream, floor: 0, doubt });
        assert_eq!((numbers(&out).len(), router.waiting()), (left, left));
    }
}

#[test]
fn many_streams_at_once_are_closed_in_portions() {
    let mut router = Router::new(me(), Limits::default());
    for counter in 1..=2_000 {
        send(&mut router, &[(counter.into(), counter)]);
        record(&mut router, counter, Record::registered(own(2)));
        hear(&mut router, ack(counter, counter.into(), 1, 1));
    }
    let portions: Vec<_> = (0..4).map(|tick_no| closes(&tick(&mut router, 5_100_000 + tick_no)).len()).collect();
    assert_eq!(portions, [512, 512, 512, 464]);
}

#[test]
fn whoever_is_not_the_owner_neither_moves_a_stream_nor_closes_it() {
    let mut router = router();
    send(&mut router, &[(1, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let stream = StreamId { opened_at: me(), generation: 1 };
    let far = Epoch::new(u32::MAX, u32::MAX);
    let redirect = || Control::Redirect { entity: entity(1), stream, owner: own(3), epoch: far };
    assert!(hear_from(&mut router, own(3), redirect(), Now(1)).is_empty());
    assert!(hear_from(&mut router, own(3), closed(1, 1, false), Now(1)).is_empty());
    assert_eq!(hear(&mut router, ack(1, 1, 1, 1)), [Output::Applied(Ticket(1))]);
}

#[test]
fn whoever_is_not_the_owner_neither_answers_nor_moves_what_is_to_be_closed() {
    let mut router = at_rest();
    let stream = StreamId { opened_at: me(), generation: 1 };
    assert_eq!(closes(&tick(&mut router, 6_000_000)), [(2, 1)]);
    let now = Now(6_000_000);
    let far = Epoch::new(u32::MAX, u32::MAX);
    hear_from(&mut router, own(3), closed(1, 1, false), now);
    hear_from(&mut router, own(3), Control::Redirect { entity: entity(1), stream, owner: own(3), epoch: far }, now);
    assert_eq!(closes(&tick(&mut router, 12_000_000)), [(2, 1)]);
    hear_from(&mut router, own(2), closed(1, 1, false), now);
    assert_eq!(router.tables(), Tables::default());
}

fn stopped(generation: u64, upto: u64, failed: bool, base: Epoch) -> Control {
    let stream = StreamId { opened_at: me(), generation };
    Control::Stopped { entity: entity(1), stream, upto, failed, owner: own(2), epoch: Epoch::FIRST, base }
}

#[test]
fn a_stream_to_an_entity_that_is_parked_is_answered_whole_and_the_next_message_begins_another() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1), (3, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    let out = hear(&mut router, stopped(1, 2, true, Epoch::ZERO));
    assert_eq!(out, [Output::Applied(Ticket(1)), Output::Failed(Ticket(2)), Output::Parked(Ticket(3))]);
    assert_eq!((router.load(), router.tables().streams, router.tables().shares), (Load::default(), 0, 0));
    assert_eq!(router.tables().closings, 1, "its receiver is told that it is done with");
    assert!(hear(&mut router, stopped(1, 2, true, Epoch::ZERO)).is_empty(), "it comes twice");
    send(&mut router, &[(4, 1)]);
    record(&mut router, 1, Record::registered(own(2)));
    assert_eq!(hear(&mut router, stopped(2, 0, false, Epoch::ZERO)), [Output::Parked(Ticket(4))]);
}

#[test]
fn a_stop_that_counts_from_another_reset_or_beyond_what_was_said_or_is_not_the_owners_is_ignored() {
    let mut router = router();
    send(&mut router, &[(1, 1), (2, 1)]);
    assert!(hear(&mut router, stopped(1, 1, true, Epoch::ZERO)).is_empty(), "nothing was said yet");
    record(&mut router, 1, Record::registered(own(2)));
    assert!(hear(&mut router, stopped(1, 1, true, Epoch::FIRST)).is_empty());
    assert!(hear(&mut router, stopped(1, 3, true, Epoch::ZERO)).is_empty());
    assert!(hear_from(&mut router, own(3), stopped(1, 1, true, Epoch::ZERO), Now(1)).is_empty(), "it does not own it");
    assert_eq!(router.waiting(), 2);
}

/// The home of all ranges is at `session`.
fn home_at(version: u64, session: Session) -> Arc<View> {
    let homes = (1..=1_000).map(RangeId).map(|range| (range, Home::first(range, session))).collect();
    Arc::new(View { version, homes, ..View::default() })
}

fn asked(out: &[Output]) -> usize {
    out.iter().filter(|output| matches!(output, Output::AskHome { .. })).count()
}

#[test]
fn a_home_that_is_named_anew_is_asked_at_once_about_receivers_that_messages_wait_for() {
    let mut router = at_rest();
    router.handle(Input::View(home_at(1, Session::new(2, 1))), Now(1), &mut Vec::new());
    send(&mut router, &[(2, 2)]);
    assert_eq!(asked(&tick(&mut router, 10)), 0, "the first view names a home, but nobody had waited for it");
    router.handle(Input::View(home_at(2, Session::new(2, 1))), Now(20), &mut Vec::new());
    assert_eq!(asked(&tick(&mut router, 20)), 0, "it is the same one");
    router.handle(Input::View(home_at(3, Session::new(3, 1))), Now(30), &mut Vec::new());
    let out = tick(&mut router, 30);
    assert!(matches!(out[..], [Output::AskHome { entity: receiver, .. }] if receiver == entity(2)), "{out:?}");
    assert_eq!(asked(&tick(&mut router, 40)), 0, "once");
}

#[test]
fn many_receivers_of_a_new_home_are_asked_for_in_portions() {
    let mut router = Router::new(me(), Limits::default());
    (1..=1_000).for_each(|counter| drop(send(&mut router, &[(counter.into(), counter)])));
    router.handle(Input::View(home_at(1, Session::new(3, 1))), Now(1), &mut Vec::new());
    let portions: Vec<_> = (2..5).map(|now| asked(&tick(&mut router, now))).collect();
    assert_eq!(portions, [512, 488, 0]);
}
