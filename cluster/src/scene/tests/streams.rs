//! Messages that entities of the scene send: their streams live, move and end with them.

use slipgate_entity::Returned;

use super::super::{Destination, Input, Output, Ticket};
use super::driver::{
    Driver, cas_nonce, controls, copies, entity, epoch, given_back, image, messages, move_id, own, reserved, sending,
    taken_over, to,
};
use crate::message::{Control, Image, Message};
use crate::stream::StreamId;
use crate::{Epoch, Limits, Record};

fn lives_at(node: u16) -> Record {
    Record::registered(own(node))
}

fn stream(generation: u64) -> StreamId {
    StreamId { opened_at: own(1).into(), generation }
}

fn ack(upto: u64) -> Control {
    Control::Ack { entity: entity(8), stream: stream(1), upto, owner: own(2), epoch: epoch(1), base: Epoch::ZERO }
}

/// Streams left to the router, each with what is unacknowledged of it.
fn left(out: &[Output]) -> Vec<(StreamId, usize)> {
    let streams = |output: &Output| {
        let Output::Adopt(orphans) = output else { return None };
        Some(orphans.iter().map(|orphan| (orphan.stream.id(), orphan.stream.waiting())).collect::<Vec<_>>())
    };
    out.iter().filter_map(streams).flatten().collect()
}

fn unacknowledged(driver: &Driver) -> u64 {
    driver.scene.stand(entity(1)).expect("it lives here").unacknowledged
}

/// Entity 1, with one message to entity 8 on its way to `own(2)`.
fn talking() -> Driver {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    assert_eq!(messages(&driver.record(8, lives_at(2), None)), [(to(own(2)), entity(8), 1)]);
    driver
}

#[test]
fn a_first_message_asks_the_home_and_leaves_when_the_owner_is_known() {
    let mut driver = Driver::active();
    let out = driver.sends(1, 8);
    assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]));
    assert_eq!(messages(&driver.record(8, lives_at(2), None)), [(to(own(2)), entity(8), 1)]);
    assert_eq!(messages(&driver.sends(1, 8)), [(to(own(2)), entity(8), 2)]);
}

#[test]
fn an_ack_shrinks_the_window_and_a_tick_resends_what_is_left() {
    let mut driver = talking();
    driver.sends(1, 8);
    driver.hear(ack(1));
    assert_eq!(unacknowledged(&driver), 1);
    assert_eq!(messages(&driver.pass(100)), [(to(own(2)), entity(8), 2)]);
    driver.hear(ack(2));
    assert_eq!(unacknowledged(&driver), 0);
    assert!(driver.pass(4_900).is_empty(), "what is at rest for a while only is kept");
    assert_eq!(left(&driver.pass(100)), [(stream(1), 0)]);
    assert!(driver.scene.live[&entity(1)].outbox.is_empty() && driver.scene.receivers.is_empty());
    assert!(driver.scene.alarms.is_empty());
}

#[test]
fn a_redirect_resends_the_window_to_the_newer_owner_and_not_owner_asks_the_home() {
    let mut driver = talking();
    let redirect = Control::Redirect { entity: entity(8), stream: stream(1), owner: own(3), epoch: epoch(2) };
    assert_eq!(messages(&driver.hear(redirect.clone())), [(to(own(3)), entity(8), 1)]);
    assert!(driver.hear(redirect).is_empty());
    let out = driver.hear(Control::NotOwner { entity: entity(8), stream: stream(1) });
    assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]));
}

#[test]
fn whoever_is_not_the_owner_neither_moves_a_stream_nor_closes_it() {
    let mut driver = talking();
    let far = Epoch::new(u32::MAX, u32::MAX);
    let redirect = Control::Redirect { entity: entity(8), stream: stream(1), owner: own(3), epoch: far };
    let closed = Control::Closed { entity: entity(8), stream: stream(1), floor: 0, doubt: false };
    for control in [redirect, closed] {
        let said = Input::Heard { from: own(3).into(), message: Message::Control(control) };
        assert!(driver.tell(said).is_empty());
    }
    assert_eq!(messages(&driver.sends(1, 8)), [(to(own(2)), entity(8), 2)]);
}

#[test]
fn the_window_is_bounded_and_a_message_beyond_it_comes_back() {
    let mut driver = Driver::active_with(Limits { stream_window: 1, stream_queue: 1, ..Limits::default() });
    driver.sends(1, 8);
    driver.sends(1, 8);
    let out = driver.sends(1, 8);
    assert!(matches!(out[..], [Output::Bounced { why: Returned::Busy, .. }]));
    assert_eq!(messages(&driver.record(8, lives_at(2), None)).len(), 1);
}

#[test]
fn the_death_of_a_receiver_returns_the_window_once_and_forgets_the_stream() {
    let mut driver = talking();
    driver.sends(1, 8);
    let dead = Record { owner: None, epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO };
    let out = driver.record(8, dead, None);
    assert_eq!(out.iter().filter(|output| matches!(output, Output::Bounced { why: Returned::Dead, .. })).count(), 2);
    assert!(driver.record(8, dead, None).is_empty());
    assert!(driver.scene.receivers.is_empty() && driver.scene.live[&entity(1)].outbox.is_empty());
    driver.sends(1, 8);
    assert_eq!(driver.record(8, dead, None).len(), 1);
}

#[test]
fn a_frozen_sender_sends_nothing_and_hears_nothing() {
    let mut driver = talking();
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    driver.hear(ack(1));
    assert_eq!(unacknowledged(&driver), 1);
    assert!(messages(&driver.pass(200)).is_empty());
    let out = driver.sends(1, 8);
    assert!(matches!(out[..], [Output::Bounced { why: Returned::Busy, .. }]));
}

#[test]
fn a_sender_that_goes_on_here_resends_its_window_and_its_alarm_rings_again() {
    let mut driver = talking();
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    driver.pass(300);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    let out = driver.record(1, given_back(), None);
    assert_eq!(messages(&out), [(to(own(2)), entity(8), 1)]);
    assert_eq!(messages(&driver.pass(100)), [(to(own(2)), entity(8), 1)]);
}

#[test]
fn the_copy_carries_what_is_unacknowledged_and_the_source_forgets_it() {
    let mut driver = talking();
    driver.migrate(1, Ok(own(2)));
    let out = driver.hear(reserved());
    assert_eq!(copies(&out).len(), 1);
    let sending = out.iter().find_map(|output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(prepare.image.sending.clone())
    });
    assert!(matches!(&sending.expect("a copy")[..], [only] if only.waiting() == 1 && only.id() == stream(1)));
    driver.record(1, taken_over(), None);
    assert!(driver.scene.receivers.is_empty());
}

#[test]
fn a_sender_that_arrives_resends_its_window_under_its_old_numbers() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(epoch(2), Image { sending: vec![sending(8)], ..image() });
    let out = driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(cas_nonce(&out)));
    assert!(controls(&out).iter().any(|(_, control)| matches!(control, Control::Query { .. })));
    assert_eq!(messages(&driver.record(8, lives_at(2), None)), [(to(own(2)), entity(8), 1)]);
    assert_eq!(messages(&driver.sends(1, 8)), [(to(own(2)), entity(8), 2)]);
}

#[test]
fn a_despawned_senders_streams_are_passed_on_to_be_closed_empty_or_not() {
    let mut driver = talking();
    driver.hear(ack(1));
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let out =
        driver.record(1, Record { owner: None, epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO }, None);
    assert_eq!(left(&out), [(stream(1), 0)]);
    assert!(driver.scene.receivers.is_empty());
}

#[test]
fn many_who_write_to_one_ask_its_home_once_and_all_learn_from_the_answer() {
    let mut driver = Driver::active();
    let mut out = driver.sends(1, 8);
    for sender in 20..22 {
        driver.spawn(sender);
        out.extend(driver.sends(sender, 8));
    }
    let asked = controls(&out).into_iter().filter(|(_, control)| matches!(control, Control::Query { .. })).count();
    assert_eq!(asked, 1);
    assert_eq!(messages(&driver.record(8, lives_at(2), None)).len(), 3);
    assert!(driver.record(8, lives_at(2), None).is_empty(), "no news, no walk over the senders");
    driver.spawn(30);
    assert_eq!(messages(&driver.sends(30, 8)), [(to(own(2)), entity(8), 1)], "a newcomer knows what the others know");
}
