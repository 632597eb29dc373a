//! Rows of `Active`: the data rule, and records.

use super::super::{Departure, Destination, Event, Input, Output, Route, Ticket};
use super::driver::{
    Driver, acks, answers, applied, cas, controls, copies, ended, entity, epoch, given_back, move_id, own, reserved,
    router, taken_over, to, tool_stream,
};
use crate::message::Control;
use crate::moves::Outcome;
use crate::{Epoch, Record};

#[test]
fn the_next_number_is_applied_and_acknowledged_when_the_turn_ends() {
    let mut driver = Driver::active();
    assert_eq!(applied(&driver.data(1)), [1]);
    assert_eq!(applied(&driver.data(2)), [2]);
    let out = driver.tell(Input::Flush);
    let (stream, owner) = (tool_stream(), own(1));
    let ack = Control::Ack { entity: entity(1), stream, upto: 2, owner, epoch: Epoch::FIRST, base: Epoch::ZERO };
    assert_eq!(controls(&out), [(Destination::Place(router()), &ack)]);
    assert!(driver.tell(Input::Flush).is_empty());
}

#[test]
fn a_number_already_applied_is_only_acknowledged_again() {
    let mut driver = Driver::active();
    driver.data(1);
    driver.tell(Input::Flush);
    assert!(driver.data(1).is_empty());
    assert_eq!(acks(&driver.tell(Input::Flush)), [1]);
}

#[test]
fn a_number_ahead_of_a_gap_is_held_back_unacknowledged_and_follows_when_the_gap_closes() {
    let mut driver = Driver::active();
    assert!(driver.data(2).is_empty());
    assert!(driver.tell(Input::Flush).is_empty());
    assert_eq!(applied(&driver.data(1)), [1, 2]);
    assert_eq!(acks(&driver.tell(Input::Flush)), [2]);
}

#[test]
fn a_request_to_move_asks_the_target_for_room_and_the_entity_stays_active() {
    let mut driver = Driver::active();
    let out = driver.migrate(1, Ok(own(2)));
    assert!(matches!(controls(&out)[..], [(at, Control::Reserve(_))] if at == to(own(2))));
    assert!(matches!(out[0], Output::Event(Event::MoveBegan { .. })));
    assert_eq!(driver.phase(1), Some("active"));
    assert_eq!(applied(&driver.data(1)), [1]);
    assert_eq!(driver.scene.moves_under_way(), 1);
}

#[test]
fn reserved_freezes_the_entity_and_sends_the_copy_under_the_next_label() {
    let mut driver = Driver::reserving();
    let out = driver.hear(reserved());
    assert_eq!(copies(&out), [(to(own(2)), epoch(2))]);
    assert_eq!(driver.phase(1), Some("frozen"));
    assert_eq!(driver.scene.route(entity(1)), Route::Hold);
}

#[test]
fn what_was_applied_before_the_freeze_is_acknowledged_before_it() {
    let mut driver = Driver::reserving();
    driver.data(1);
    let out = driver.hear(reserved());
    assert_eq!(acks(&out), [1]);
    let encode = out.iter().position(|output| matches!(output, Output::Encode { .. }));
    assert!(matches!(out[0], Output::Send { .. }) && encode == Some(1));
}

#[test]
fn reserved_for_another_label_or_without_a_request_is_ignored() {
    let mut driver = Driver::reserving();
    let id = move_id(1);
    assert!(driver.hear(Control::Reserved { entity: entity(1), id, label: epoch(7) }).is_empty());
    assert!(driver.hear(Control::Reserved { entity: entity(1), id: move_id(7), label: epoch(2) }).is_empty());
    assert_eq!(driver.phase(1), Some("active"));
    assert!(Driver::active().hear(reserved()).is_empty());
}

#[test]
fn despawn_asks_the_home_for_a_record_without_an_owner() {
    let mut driver = Driver::active();
    driver.data(1);
    let out = driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let dead = Record { owner: None, epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO };
    assert_eq!(cas(&out), [((own(1), epoch(1)), dead)]);
    assert_eq!(acks(&out), [1]);
    assert_eq!(driver.phase(1), Some("deciding"));
}

#[test]
fn a_record_that_names_another_owner_ends_an_active_entity_and_leaves_a_tombstone() {
    let mut driver = Driver::active();
    let out = driver.record(1, taken_over(), None);
    assert_eq!(out, [Output::Remove { entity: entity(1), why: Departure::Superseded }]);
    assert_eq!(driver.scene.route(entity(1)), Route::Owner(own(2)));
    let redirect = Control::Redirect { entity: entity(1), stream: tool_stream(), owner: own(2), epoch: epoch(2) };
    assert_eq!(controls(&driver.data(1)), [(Destination::Place(router()), &redirect)]);
}

#[test]
fn a_record_of_an_epoch_already_known_changes_nothing() {
    let mut driver = Driver::active();
    assert!(driver.record(1, Record::registered(own(2)), None).is_empty());
    assert_eq!(driver.phase(1), Some("active"));
}

#[test]
fn a_record_of_a_higher_epoch_with_the_same_copy_is_adopted() {
    let mut driver = Driver::active();
    assert!(driver.record(1, given_back(), None).is_empty());
    let stand = driver.scene.stand(entity(1)).expect("it lives here");
    assert_eq!((stand.phase, stand.epoch, stand.data), ("active", epoch(2), epoch(1)));
}

#[test]
fn a_reserving_entity_whose_record_rose_asks_for_room_under_the_next_label() {
    let mut driver = Driver::reserving();
    let out = driver.record(1, given_back(), None);
    let labels: Vec<_> = controls(&out).into_iter().map(|(_, control)| control.clone()).collect();
    assert!(matches!(&labels[..], [Control::Reserve(reserve)] if reserve.label == epoch(3)));
    assert!(driver.hear(reserved()).is_empty());
}

#[test]
fn a_reserving_entity_that_the_record_gives_to_another_answers_its_move() {
    let mut driver = Driver::reserving();
    let out = driver.record(
        1,
        Record { owner: Some(own(3)), epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO },
        None,
    );
    assert_eq!(ended(&out), [Outcome::Lost]);
    assert_eq!(answers(&out).len(), 1);
}
