//! Streams that end: those that an entity leaves, and those to it that are closed.

use super::super::{Destination, Input, Output};
use super::driver::{
    Driver, acks, applied, cas_nonce, controls, entity, epoch, image, messages, own, reserved, router, taken_over, to,
    tool_stream,
};
use crate::message::{Control, Image, Message, Sender};
use crate::stream::StreamId;
use crate::{Envelope, Epoch, Record};

fn close(stream: StreamId) -> Control {
    Control::Close { entity: entity(1), stream, sender: Sender::Tool(router().session) }
}

fn closed(stream: StreamId) -> Control {
    Control::Closed { entity: entity(1), stream, floor: 0, doubt: false }
}

/// A stream of entity 1 to entity 8.
fn to_eight(generation: u64) -> StreamId {
    StreamId { opened_at: own(1).into(), generation }
}

fn from_router(driver: &mut Driver, control: Control) -> Vec<Output> {
    driver.tell(Input::Heard { from: router(), message: Message::Control(control) })
}

/// Entity 1, with one message to entity 8 on its way to `own(2)`.
fn talking() -> Driver {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.record(8, Record::registered(own(2)), None);
    driver
}

fn told_closed(driver: &mut Driver, stream: StreamId) -> Vec<Output> {
    driver.hear(Control::Closed { entity: entity(8), stream, floor: 0, doubt: false })
}

#[test]
fn an_active_entity_closes_a_stream_and_says_so_whether_it_knew_it_or_not() {
    let mut driver = Driver::active();
    driver.data(1);
    for _ in 0..2 {
        let out = from_router(&mut driver, close(tool_stream()));
        assert_eq!(controls(&out), [(Destination::Place(router()), &closed(tool_stream()))]);
    }
    assert!(acks(&driver.tell(Input::Flush)).is_empty(), "its sender has left it");
    let out = driver.data(1);
    assert!(applied(&out).is_empty());
    assert!(matches!(controls(&out)[..], [(_, Control::Closed { floor: 1, doubt: false, .. })]));
}

#[test]
fn an_entity_that_is_frozen_deciding_or_staged_answers_nothing() {
    let mut drivers = [Driver::frozen(), Driver::deciding(), Driver::staged(epoch(2)).0];
    for driver in &mut drivers {
        assert!(from_router(driver, close(tool_stream())).is_empty());
    }
}

#[test]
fn where_the_entity_is_not_any_more_the_router_hears_where_it_went_and_else_asks_the_home() {
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    let out = from_router(&mut driver, close(tool_stream()));
    let redirect = Control::Redirect { entity: entity(1), stream: tool_stream(), owner: own(2), epoch: epoch(2) };
    assert_eq!(controls(&out), [(Destination::Place(router()), &redirect)]);
    let at = |place| Envelope { from: router(), to: place, message: Message::Control(close(tool_stream())) };
    let answer = super::super::answer_for_a_missing_scene(at(own(9).into())).expect("an answer");
    let not_owner = Control::NotOwner { entity: entity(1), stream: tool_stream() };
    assert_eq!((answer.to, answer.message), (router(), Message::Control(not_owner)));
}

#[test]
fn the_copy_of_an_entity_carries_what_is_over() {
    let mut driver = Driver::active();
    driver.data(1);
    from_router(&mut driver, close(tool_stream()));
    driver.migrate(1, Ok(own(2)));
    let out = driver.hear(reserved());
    let received = out.iter().find_map(|output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(prepare.image.received.clone())
    });
    let mut target = Driver::new(crate::Limits::default());
    let copy = Image { received: received.expect("a copy"), ..image() };
    let nonce = cas_nonce(&target.prepare_image(epoch(2), copy));
    target.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert!(applied(&target.data(1)).is_empty());
}

#[test]
fn a_window_that_is_told_to_be_closed_goes_on_under_another_id() {
    let mut driver = talking();
    driver.sends(1, 8);
    let out = told_closed(&mut driver, to_eight(1));
    assert_eq!(messages(&out), [1, 2].map(|seq| (to(own(2)), entity(8), seq)));
    assert!(told_closed(&mut driver, to_eight(1)).is_empty(), "it is not its stream any more");
    let ack = |generation, upto| Control::Ack {
        entity: entity(8),
        stream: to_eight(generation),
        upto,
        owner: own(2),
        epoch: epoch(1),
        base: Epoch::ZERO,
    };
    driver.hear(ack(1, 2));
    assert_eq!(driver.scene.stand(entity(1)).expect("it lives here").unacknowledged, 2);
    driver.hear(ack(2, 2));
    assert_eq!(driver.scene.stand(entity(1)).expect("it lives here").unacknowledged, 0);
}

#[test]
fn a_stream_with_nothing_in_it_is_dropped_when_it_is_told_to_be_closed() {
    let mut driver = talking();
    let upto = 1;
    let (stream, owner) = (to_eight(1), own(2));
    driver.hear(Control::Ack { entity: entity(8), stream, upto, owner, epoch: epoch(1), base: Epoch::ZERO });
    assert!(told_closed(&mut driver, to_eight(1)).is_empty());
    assert!(driver.scene.receivers.is_empty() && driver.scene.live[&entity(1)].outbox.is_empty());
}

#[test]
fn a_frozen_sender_does_not_hear_that_a_stream_is_closed() {
    let mut driver = talking();
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    assert!(told_closed(&mut driver, to_eight(1)).is_empty());
    assert_eq!(driver.scene.live[&entity(1)].outbox[&entity(8)].id(), to_eight(1));
}

#[test]
fn a_message_that_no_stream_could_hold_leaves_none_behind() {
    let limits = crate::Limits { stream_bytes: 0, ..crate::Limits::default() };
    let mut driver = Driver::active_with(limits);
    let out = driver.sends(1, 8);
    assert!(matches!(out[..], [Output::Bounced { .. }]));
    assert!(driver.scene.live[&entity(1)].outbox.is_empty());
}

#[test]
fn a_sender_that_arrives_closes_what_it_brought_once_that_is_at_rest_here() {
    let mut driver = Driver::new(crate::Limits::default());
    let mut stream = super::driver::sending(8);
    stream.learn_record(&Record::registered(own(2)));
    stream.acknowledge(1);
    let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { sending: vec![stream], ..image() }));
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert!(driver.pass(4_999).is_empty());
    let out = driver.pass(1);
    assert!(matches!(&out[..], [Output::Adopt(orphans)] if orphans[0].stream.entity() == entity(8)));
}
