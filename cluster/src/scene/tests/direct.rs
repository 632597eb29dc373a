//! What entities of one scene say to each other: applied as it was said, and numbered where it cannot be.

use std::sync::Arc;

use slipgate_entity::Returned;

use super::super::{Destination, Input, Output, Ticket};
use super::driver::{
    Driver, answers, copies, entity, epoch, given_back, image, messages, own, reserved, sending, taken_over, to,
};
use crate::message::{Control, Image, Message, Sender};
use crate::stream::{SendStream, StreamId};
use crate::{Epoch, Limits, Record};

/// Entities 1 and 8 in one scene.
fn neighbours() -> Driver {
    neighbours_with(Limits::default())
}

fn neighbours_with(limits: Limits) -> Driver {
    let mut driver = Driver::active_with(limits);
    driver.spawn(8);
    driver
}

/// Entity `from` says a number to entity `to`.
fn says(driver: &mut Driver, from: u32, to: u32, number: u8) -> Vec<Output> {
    let payload = Arc::from([number].as_slice());
    driver.tell(Input::Sends { entity: entity(from), to: entity(to), payload })
}

/// Who applies what, of whom.
fn applied(out: &[Output]) -> Vec<(Sender, u32, u8)> {
    let applied = |output: &Output| {
        let Output::Apply { entity, sender, payload, .. } = output else { return None };
        Some((*sender, entity.counter(), payload[0]))
    };
    out.iter().filter_map(applied).collect()
}

fn by(counter: u32) -> Sender {
    Sender::Entity(entity(counter))
}

/// The stream of entity 1 to entity 8, once entity 1 asked where it is.
fn found(driver: &mut Driver) -> Vec<Output> {
    driver.record(8, Record::registered(own(1)), None)
}

/// Numbers and payloads of the messages sent in streams.
fn numbered(out: &[Output]) -> Vec<(u64, u8)> {
    let numbered = |output: &Output| {
        let Output::Send { message: Message::Data(data), .. } = output else { return None };
        Some((data.seq, data.payload[0]))
    };
    out.iter().filter_map(numbered).collect()
}

fn waiting(streams: &[SendStream]) -> Vec<(u32, usize)> {
    streams.iter().map(|stream| (stream.entity().counter(), stream.waiting())).collect()
}

#[test]
fn what_entities_of_a_scene_say_to_each_other_is_applied_in_that_order_when_the_turn_ends() {
    let mut driver = neighbours();
    for (from, to, number) in [(1, 8, 1), (8, 1, 2), (1, 8, 3), (1, 1, 4)] {
        assert!(says(&mut driver, from, to, number).is_empty());
    }
    assert!(driver.scene.has_said());
    let out = driver.tell(Input::Flush);
    assert_eq!(applied(&out), [(by(1), 8, 1), (by(8), 1, 2), (by(1), 8, 3), (by(1), 1, 4)]);
    assert_eq!(out.len(), 4, "nothing is acknowledged: {out:?}");
    assert!(!driver.scene.has_said() && driver.tell(Input::Flush).is_empty());
    let stand = driver.scene.stand(entity(8)).expect("it lives here");
    assert_eq!((stand.applied, stand.senders, stand.unacknowledged), (2, 0, 0));
    let tables = driver.scene.tables();
    assert_eq!((tables.open, tables.outboxes, tables.receivers, tables.waiting), (0, 0, 0, 0));
}

#[test]
fn an_answer_is_for_the_next_end_of_a_turn() {
    let mut driver = neighbours();
    says(&mut driver, 1, 8, 1);
    driver.tell(Input::Flush);
    says(&mut driver, 8, 1, 2);
    assert!(driver.scene.has_said());
    assert_eq!(applied(&driver.tell(Input::Flush)), [(by(8), 1, 2)]);
}

#[test]
fn what_is_said_to_an_entity_that_freezes_is_numbered_held_and_applied_if_it_goes_on() {
    let mut driver = neighbours();
    says(&mut driver, 8, 1, 1);
    driver.migrate(1, Ok(own(2)));
    says(&mut driver, 8, 1, 2);
    driver.hear(reserved());
    says(&mut driver, 8, 1, 3);
    assert!(!driver.scene.has_said());
    let out = driver.record(1, Record::registered(own(1)), None);
    assert_eq!(numbered(&out), [(1, 1), (2, 2), (3, 3)]);
    for output in out {
        let Output::Send { message, .. } = output else { continue };
        driver.tell(Input::Heard { from: own(1).into(), message });
    }
    driver.tell(Input::Cancel { ticket: Ticket(9), id: super::driver::move_id(1) });
    let out = driver.record(1, given_back(), None);
    assert_eq!(applied(&out), [(by(8), 1, 1), (by(8), 1, 2), (by(8), 1, 3)]);
}

#[test]
fn what_an_entity_that_freezes_has_said_moves_with_it() {
    let mut driver = neighbours();
    driver.migrate(1, Ok(own(2)));
    says(&mut driver, 1, 8, 1);
    says(&mut driver, 8, 8, 2);
    let out = driver.hear(reserved());
    assert_eq!(copies(&out).len(), 1);
    let prepared = out.iter().find_map(|output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(prepare.image.sending.clone())
    });
    assert_eq!(waiting(&prepared.expect("the copy is on its way")), [(8, 1)]);
    assert_eq!(applied(&driver.tell(Input::Flush)), [(by(8), 8, 2)], "others go on as they were");
    driver.record(1, taken_over(), None);
    assert!(says(&mut driver, 8, 1, 3).iter().any(|output| matches!(output, Output::Send { .. })));
    assert!(!driver.scene.has_said());
}

#[test]
fn whoever_arrives_with_something_unacknowledged_goes_on_numbering_until_it_is_acknowledged() {
    let mut driver = Driver::new(Limits::default());
    driver.spawn(8);
    let image = Image { sending: vec![sending(8)], ..image() };
    let nonce = super::driver::cas_nonce(&driver.prepare_image(epoch(2), image));
    let record = Record::handed_to(own(1), epoch(2), Epoch::ZERO);
    driver.record(1, record, Some(nonce));
    says(&mut driver, 1, 8, 2);
    assert!(!driver.scene.has_said());
    assert_eq!(messages(&found(&mut driver)), [(to(own(1)), entity(8), 1), (to(own(1)), entity(8), 2)]);
    let stream = StreamId { opened_at: own(2).into(), generation: 5 };
    let ack =
        |upto| Control::Ack { entity: entity(8), stream, upto, owner: own(1), epoch: epoch(1), base: Epoch::ZERO };
    driver.hear(ack(1));
    says(&mut driver, 1, 8, 3);
    assert!(!driver.scene.has_said());
    driver.hear(ack(3));
    says(&mut driver, 1, 8, 4);
    assert!(driver.scene.has_said());
    assert_eq!(applied(&driver.tell(Input::Flush)), [(by(1), 8, 4)]);
}

#[test]
fn what_is_said_to_an_entity_that_despawns_is_answered_as_in_a_stream() {
    let mut driver = neighbours();
    says(&mut driver, 8, 1, 1);
    driver.tell(Input::Despawn { ticket: Some(Ticket(9)), entity: entity(1) });
    let out = driver.record(1, super::driver::buried(), None);
    assert_eq!(answers(&out).len(), 1);
    let dead = |output: &Output| matches!(output, Output::Bounced { why: Returned::Dead, .. });
    assert_eq!(out.iter().filter(|output| dead(output)).count(), 1, "{out:?}");
}

#[test]
fn what_one_entity_says_in_a_turn_is_bounded_by_what_a_stream_has_room_for() {
    let mut driver = neighbours_with(Limits { stream_window: 1, stream_queue: 1, ..Limits::default() });
    says(&mut driver, 1, 8, 1);
    says(&mut driver, 1, 1, 2);
    let out = says(&mut driver, 1, 8, 3);
    assert!(matches!(out[..], [Output::Bounced { why: Returned::Busy, .. }]), "{out:?}");
    says(&mut driver, 8, 1, 4);
    assert_eq!(applied(&driver.tell(Input::Flush)), [(by(1), 8, 1), (by(1), 1, 2), (by(8), 1, 4)]);
    assert!(says(&mut driver, 1, 8, 5).is_empty());
}

#[test]
fn a_message_to_an_entity_that_is_not_here_goes_through_its_home() {
    let mut driver = neighbours();
    let out = says(&mut driver, 1, 9, 1);
    let asks = |output: &Output| matches!(output, Output::Send { to: Destination::Home(_), .. });
    assert!(out.iter().all(asks) && out.len() == 1, "{out:?}");
}
