//! Records with a higher base, as the home of an entity writes them when it had to be rebuilt.

use slipgate_entity::Returned;

use super::super::{Destination, Input, Output, Ticket};
use super::driver::{
    Driver, acks, applied, cas, cas_nonce, controls, data, ended, entity, epoch, image, messages, move_id, own,
    reserved, router, sending, to, tool_stream,
};
use crate::message::{Control, Data, Image, Message, Prepare};
use crate::moves::Outcome;
use crate::stream::{Inbox, Received, SendStream, StreamId};
use crate::view::Verdicts;
use crate::{Epoch, Limits, Record};

/// Epoch and base of a record that a rebuilt home wrote.
const REBUILT: Epoch = Epoch::new(1, 0);

/// Entity 1 stays where it was spawned, with its streams reset.
fn reset() -> Record {
    Record { epoch: REBUILT, base: REBUILT, ..Record::registered(own(1)) }
}

fn anew(driver: &mut Driver, seq: u64) -> Vec<Output> {
    driver.tell(Input::Heard { from: router(), message: Message::Data(Data { base: REBUILT, ..data(seq) }) })
}

fn bounced(out: &[Output]) -> Vec<Returned> {
    let why = |output: &Output| {
        let Output::Bounced { why, .. } = output else { return None };
        Some(*why)
    };
    out.iter().filter_map(why).collect()
}

fn adopted(out: &[Output]) -> Vec<SendStream> {
    let streams = |output: &Output| {
        let Output::Adopt(orphans) = output else { return None };
        Some(orphans.clone())
    };
    out.iter().filter_map(streams).flatten().map(|orphan| orphan.stream).collect()
}

fn sent_prepare(out: &[Output]) -> Prepare {
    let prepare = |output: &Output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(Prepare::clone(prepare))
    };
    out.iter().find_map(prepare).expect("a copy was sent")
}

/// With entity 1 writing to entity 8 of `own(2)`: one message has left, one waits for room.
fn half_sent() -> Driver {
    let mut driver = Driver::active_with(Limits { stream_window: 1, stream_queue: 1, ..Limits::default() });
    driver.sends(1, 8);
    driver.sends(1, 8);
    assert_eq!(sent_bases(&driver.record(8, Record::registered(own(2)), None)), [(1, Epoch::ZERO)]);
    driver
}

/// Entity 8 has begun anew where it was.
fn receiver_reset() -> Record {
    Record { epoch: REBUILT, base: REBUILT, ..Record::registered(own(2)) }
}

fn sent_bases(out: &[Output]) -> Vec<(u64, Epoch)> {
    let base = |output: &Output| {
        let Output::Send { message: Message::Data(data), .. } = output else { return None };
        Some((data.seq, data.base))
    };
    out.iter().filter_map(base).collect()
}

#[test]
fn a_reset_entity_refuses_older_numbers_and_applies_from_one_on_the_new_base() {
    let mut driver = Driver::active();
    driver.data(1);
    driver.data(3);
    driver.record(1, reset(), None);
    assert!(acks(&driver.tell(Input::Flush)).is_empty(), "what was applied before the reset is nobody's to know");
    let not_owner = Control::NotOwner { entity: entity(1), stream: tool_stream() };
    assert_eq!(controls(&driver.data(2)), [(Destination::Place(router()), &not_owner)]);
    assert_eq!(applied(&anew(&mut driver, 1)), [1]);
    let out = driver.tell(Input::Flush);
    assert!(matches!(controls(&out)[..], [(_, Control::Ack { upto: 1, base: REBUILT, epoch: REBUILT, .. })]));
}

#[test]
fn a_sender_that_knows_of_a_reset_before_the_owner_makes_it_ask_the_home_once_a_turn() {
    let mut driver = Driver::active();
    assert!(anew(&mut driver, 1).is_empty() && anew(&mut driver, 2).is_empty());
    let out = driver.tell(Input::Flush);
    assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]));
    assert!(driver.tell(Input::Flush).is_empty());
}

#[test]
fn what_a_reset_entity_has_said_itself_comes_back_unknown_and_its_streams_end() {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    let old = messages(&driver.record(8, Record::registered(own(2)), None));
    assert_eq!(old.len(), 1);
    let out = driver.record(1, reset(), None);
    assert_eq!(bounced(&out), [Returned::Unknown]);
    assert!(matches!(&adopted(&out)[..], [stream] if stream.waiting() == 0 && stream.entity() == entity(8)));
    assert!(driver.scene.receivers.is_empty());
    driver.sends(1, 8);
    assert_eq!(messages(&driver.record(8, Record::registered(own(2)), None)), [(to(own(2)), entity(8), 1)]);
    assert_eq!(driver.scene.opened, 2, "the new stream has an id of its own");
}

#[test]
fn a_frozen_entity_that_is_reset_drops_what_it_held_and_sends_its_copy_without_streams() {
    let mut driver = Driver::active();
    driver.data(1);
    driver.sends(1, 8);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    driver.data(2);
    let out = driver.record(1, reset(), None);
    let prepare = sent_prepare(&out);
    assert_eq!((prepare.label, prepare.image.base), (REBUILT.next(), REBUILT));
    assert!(prepare.image.received.is_empty() && prepare.image.sending.is_empty());
    assert_eq!(Some(&prepare.image.body), driver.body.as_ref());
    assert_eq!(bounced(&out), [Returned::Unknown]);
    assert!(controls(&out).iter().any(|(_, control)| matches!(control, Control::NotOwner { .. })), "held senders ask");
    let handed = Record::handed_to(own(2), REBUILT.next(), REBUILT);
    assert!(messages(&driver.record(1, handed, None)).is_empty());
}

#[test]
fn a_reset_gives_a_frozen_entity_back_without_what_was_held_where_it_was_given_up() {
    let mut driver = Driver::deciding();
    driver.data(1);
    let out = driver.record(1, reset(), None);
    assert!(applied(&out).is_empty());
    assert_eq!(ended(&out), [Outcome::Cancelled]);
    assert_eq!(applied(&anew(&mut driver, 1)), [1]);
}

#[test]
fn every_change_that_a_reset_entity_asks_for_names_its_base() {
    let mut driver = Driver::active();
    driver.record(1, reset(), None);
    let out = driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert_eq!(cas(&out), [((own(1), REBUILT), reset().changed_to(None))]);
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(REBUILT.next(), Image { base: REBUILT, ..image() });
    assert_eq!(cas(&out), [((own(2), REBUILT), Record::handed_to(own(1), REBUILT.next(), REBUILT))]);
}

#[test]
fn a_staged_copy_that_the_home_names_with_a_reset_takes_over_without_streams() {
    let received: Received = {
        let mut inbox = Inbox::default();
        inbox.accept(data(1), &Limits::default(), &Verdicts::default());
        inbox.received().clone()
    };
    let mut driver = Driver::new(Limits::default());
    let copy = Image { received, sending: vec![sending(8)], ..image() };
    let nonce = cas_nonce(&driver.prepare_image(epoch(2), copy));
    driver.data(2);
    let named = Record { epoch: REBUILT, base: REBUILT, ..Record::handed_to(own(1), epoch(2), Epoch::ZERO) };
    let out = driver.record(1, named, Some(nonce));
    assert!(applied(&out).is_empty() && messages(&out).is_empty());
    assert_eq!((bounced(&out), adopted(&out).len()), (vec![Returned::Unknown], 1));
    assert!(controls(&out).iter().any(|(_, control)| matches!(control, Control::NotOwner { .. })));
    let stand = driver.scene.stand(entity(1)).expect("it took over");
    assert_eq!((stand.epoch, stand.data, stand.senders, stand.applied), (REBUILT, epoch(2), 0, 1));
    assert_eq!(applied(&anew(&mut driver, 1)), [1]);
}

#[test]
fn a_copy_whose_streams_were_reset_later_than_it_was_handed_over_is_refused() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(epoch(2), Image { base: epoch(2), ..image() });
    let refused = controls(&out);
    assert!(matches!(&refused[..], [(_, Control::Refused { id, .. })] if *id == move_id(1)));
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn a_receivers_reset_reaches_all_who_write_to_it_and_a_frozen_one_when_it_goes_on() {
    let mut driver = Driver::active();
    driver.spawn(2);
    driver.sends(1, 8);
    driver.sends(2, 8);
    driver.record(8, Record::registered(own(2)), None);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    let later = Record { epoch: REBUILT, base: REBUILT, ..Record::registered(own(2)) };
    assert_eq!(bounced(&driver.record(8, later, None)), [Returned::Unknown]);
    assert_eq!(sent_bases(&driver.sends(2, 8)), [(1, REBUILT)]);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    let back = Record { epoch: epoch(2), ..Record::registered(own(1)) };
    assert_eq!(bounced(&driver.record(1, back, None)), [Returned::Unknown]);
    assert_eq!(sent_bases(&driver.sends(1, 8)), [(1, REBUILT)]);
}

#[test]
fn what_never_left_before_its_receivers_reset_is_sent_anew_and_what_left_comes_back_unknown() {
    let mut driver = half_sent();
    let out = driver.record(8, receiver_reset(), None);
    assert_eq!((bounced(&out), sent_bases(&out)), (vec![Returned::Unknown], vec![(1, REBUILT)]));
    assert_eq!(driver.scene.opened, 2, "on a stream of its own");
    assert_eq!(sent_bases(&driver.pass(200)), [(1, REBUILT)], "and again, until it is acknowledged");
}

#[test]
fn what_never_left_before_its_senders_own_reset_comes_back_unknown_too() {
    let mut driver = half_sent();
    let out = driver.record(1, reset(), None);
    assert_eq!((bounced(&out), sent_bases(&out)), (vec![Returned::Unknown; 2], vec![]));
}

#[test]
fn an_acknowledgement_that_counts_from_another_reset_is_about_other_numbers() {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.record(8, Record::registered(own(2)), None);
    let stream = StreamId { opened_at: own(1).into(), generation: 1 };
    let mut left_after = |base| {
        driver.hear(Control::Ack { entity: entity(8), stream, upto: 1, owner: own(2), epoch: epoch(1), base });
        driver.scene.stand(entity(1)).map(|stand| stand.unacknowledged)
    };
    assert_eq!([left_after(REBUILT), left_after(Epoch::ZERO)], [Some(1), Some(0)]);
}
