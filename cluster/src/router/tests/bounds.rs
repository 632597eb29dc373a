//! The bounds of a router: per stream, per owner, over all, and what the node allows it.

use super::*;
use crate::bounds::WAITING_FIXED_BYTES;

/// What is sent: the receiver and the size, one message each.
type Saying = (u32, usize);

/// Sends messages one by one, the ticket of each its place in the list; how many were accepted before the first that
/// came back, which must be whole.
fn accepted(router: &mut Router, sayings: impl IntoIterator<Item = Saying>) -> usize {
    let mut count = 0;
    for (ticket, (counter, bytes)) in (0u64..).zip(sayings) {
        let mut out = Vec::new();
        let message = to_send(ticket, counter, bytes);
        router.handle(Input::Send(vec![message.clone()]), Now(0), &mut out);
        if !out.contains(&Output::Accepted(Ticket(ticket))) {
            assert_eq!(out, [Output::Busy(message)], "it comes back whole, and nothing else happens");
            return count;
        }
        count += 1;
    }
    count
}

/// A router that knows the owner of entities 1 to `count`: entity n is at `own(owner(n))`.
fn acquainted(limits: Limits, count: u32, owner: impl Fn(u32) -> u16) -> Router {
    let mut router = Router::new(me(), limits);
    for counter in 1..=count {
        send(&mut router, &[(u64::from(counter), counter)]);
        record(&mut router, counter, Record::registered(own(owner(counter))));
        hear(&mut router, acked(counter, 1));
    }
    assert_eq!(router.load(), Load::default());
    router
}

fn acked(counter: u32, upto: u64) -> Control {
    let stream = StreamId { opened_at: me(), generation: counter.into() };
    let (entity, owner, base) = (entity(counter), own(2), Epoch::ZERO);
    Control::Ack { entity, stream, upto, owner, epoch: Epoch::FIRST, base }
}

fn always(saying: Saying) -> impl Iterator<Item = Saying> {
    std::iter::repeat(saying)
}

#[test]
fn exactly_a_streams_bound_is_taken_in_messages_and_in_bytes_and_again_once_it_drains() {
    for (limits, bytes, bound) in [
        (Limits { stream_window: 2, stream_queue: 3, ..Limits::default() }, 4, 5),
        (Limits { stream_bytes: 100, ..Limits::default() }, 25, 4),
    ] {
        let mut router = acquainted(limits, 1, |_| 2);
        assert_eq!(accepted(&mut router, always((1, bytes))), bound);
        assert_eq!(router.load(), Load { messages: bound, bytes: bound * bytes });
        hear(&mut router, acked(1, 1 + 2));
        assert_eq!(accepted(&mut router, always((1, bytes))), 2);
        hear(&mut router, acked(1, 1 + bound as u64 + 2));
        assert_eq!(router.load(), Load::default());
    }
}

#[test]
fn one_owner_comes_to_half_of_the_router_and_messages_to_others_go_on() {
    for (limits, bytes) in [
        (Limits { router_queue: 80, ..Limits::default() }, 1),
        (Limits { router_bytes: 80 * 50, ..Limits::default() }, 50),
    ] {
        // Entities 1 to 8 are at one owner; 9 at another, and 10 at a third.
        let mut router =
            acquainted(limits, 10, |counter| if counter <= 8 { 2 } else { u16::try_from(counter).unwrap_or(0) });
        let flood = (0..).map(|number| (1 + number % 8, bytes));
        assert_eq!(accepted(&mut router, flood), 40, "of 80");
        assert_eq!(accepted(&mut router, always((9, bytes))), 20, "of 40 that are left");
        assert_eq!(accepted(&mut router, always((10, bytes))), 10, "and so on");
        for counter in 1..=8 {
            hear(&mut router, acked(counter, 6));
        }
        assert_eq!(accepted(&mut router, always((10, bytes))), 20, "what drains is there for whoever is next");
        assert_eq!(router.tables().shares, 2);
    }
}

#[test]
fn entities_of_which_no_owner_is_known_wait_for_their_home_and_have_one_share() {
    let mut router = Router::new(me(), Limits { router_queue: 80, ..Limits::default() });
    let cold = |number: u32| OnlineId::new(RangeId(77), number);
    let mut out = Vec::new();
    let batch = (0..60u32).map(|number| ToSend { entity: cold(number % 7), ..to_send(number.into(), 1, 1) });
    router.handle(Input::Send(batch.collect()), Now(0), &mut out);
    assert_eq!(out.iter().filter(|output| matches!(output, Output::Accepted(_))).count(), 40);
    assert_eq!(accepted(&mut router, always((1, 1))), 20, "another home answers");
    for number in 0..7 {
        let record = Record::registered(own(3));
        hear(&mut router, Control::RecordIs { entity: cold(number), record, nonce: None });
    }
    assert_eq!(router.tables().shares, 2, "what it kept waits for an owner like everything else");
    assert_eq!(accepted(&mut router, always((2, 1))), 10);
}

#[test]
fn exactly_what_a_router_may_keep_is_taken_however_many_owners_there_are() {
    let owners = 100;
    for limits in [Limits { router_queue: 80, ..Limits::default() }, Limits { router_bytes: 80, ..Limits::default() }] {
        let mut router = acquainted(limits, owners, |counter| u16::try_from(counter).unwrap_or(0));
        assert_eq!(accepted(&mut router, (1..=owners).map(|counter| (counter, 1))), 80);
        assert_eq!(router.load(), Load { messages: 80, bytes: 80 });
    }
}

#[test]
fn exactly_what_the_node_allows_is_taken_and_again_once_it_drains_or_more_is_allowed() {
    let mut router = acquainted(Limits::default(), 1, |_| 2);
    let weight = WAITING_FIXED_BYTES + 10;
    router.handle(Input::Allow(3 * weight), Now(0), &mut Vec::new());
    assert_eq!(accepted(&mut router, always((1, 10))), 3);
    assert_eq!(router.load().weight(), 3 * weight);
    hear(&mut router, acked(1, 2));
    assert_eq!(accepted(&mut router, always((1, 10))), 1);
    router.handle(Input::Allow(4 * weight - 1), Now(0), &mut Vec::new());
    assert_eq!(accepted(&mut router, always((1, 10))), 0, "a byte is missing");
    router.handle(Input::Allow(5 * weight), Now(0), &mut Vec::new());
    assert_eq!(accepted(&mut router, always((1, 10))), 2);
    router.handle(Input::Allow(0), Now(0), &mut Vec::new());
    hear(&mut router, acked(1, 7));
    assert_eq!((router.load(), router.tables().shares), (Load::default(), 0));
}

#[test]
fn what_others_leave_behind_is_taken_over_at_any_bound_and_counts() {
    let mut router = Router::new(me(), Limits { router_queue: 4, ..Limits::default() });
    router.handle(Input::Allow(0), Now(0), &mut Vec::new());
    adopted(&mut router, 9);
    assert_eq!(router.waiting(), 9);
    assert_eq!(accepted(&mut router, [(5, 1)]), 0);
    let record = Record::registered(own(2)).changed_to(None);
    hear(&mut router, Control::RecordIs { entity: entity(1), record, nonce: None });
    assert_eq!((router.load(), router.tables().shares), (Load::default(), 0), "whatever ends it, nothing is left");
}

#[test]
fn a_window_that_follows_its_receiver_counts_for_the_new_owner() {
    let mut router =
        acquainted(Limits { router_queue: 80, ..Limits::default() }, 2, |counter| u16::try_from(counter).unwrap_or(0));
    assert_eq!(accepted(&mut router, always((1, 1))), 40);
    let stream = StreamId { opened_at: me(), generation: 1 };
    let owner = own(2);
    hear_from(
        &mut router,
        own(1),
        Control::Redirect { entity: entity(1), stream, owner, epoch: Epoch::FIRST.next() },
        Now(1),
    );
    assert_eq!(accepted(&mut router, always((2, 1))), 0, "there is another flood where it went");
}
