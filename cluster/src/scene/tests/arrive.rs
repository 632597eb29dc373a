//! Rows of `Absent` and `Staged`.

use std::sync::Arc;

use super::super::{Destination, Event, Input, Output, Route};
use super::driver::{
    Driver, acks, applied, cas, cas_nonce, controls, data, entity, epoch, image, move_id, own, router, sending,
    taken_over, to, tool_stream,
};
use crate::message::{Control, Image, Message, Nonce, Prepare};
use crate::moves::Refusal;
use crate::stream::{Inbox, Received, SendStream, StreamId};
use crate::view::Verdicts;
use crate::{Epoch, Limits, Own, Record, Session};

fn mine(label: u32) -> Record {
    Record::handed_to(own(1), epoch(label), Epoch::ZERO)
}

fn received(upto: u64) -> Received {
    let mut inbox = Inbox::default();
    for seq in 1..=upto {
        inbox.accept(data(seq), &Limits::default(), &Verdicts::default());
    }
    inbox.received().clone()
}

#[test]
fn absent_prepare_is_staged_and_only_then_asks_the_home_for_the_takeover() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare(epoch(2));
    assert!(matches!(out[0], Output::Decode { .. }));
    assert_eq!(cas(&out), [((own(2), epoch(1)), mine(2))]);
    assert_eq!(driver.scene.route(entity(1)), Route::Hold);
    assert_eq!((driver.scene.len(), driver.scene.arriving()), (0, 1));
}

#[test]
fn absent_prepare_with_a_label_at_or_below_the_highest_epoch_known_is_ignored() {
    let mut driver = Driver::frozen();
    driver.record(1, Record::handed_to(own(2), epoch(4), Epoch::ZERO), None);
    for label in [2, 3, 4] {
        assert!(driver.prepare(epoch(label)).is_empty());
    }
    assert_eq!(cas(&driver.prepare(epoch(5))).len(), 1);
}

#[test]
fn absent_data_is_redirected_by_the_tombstone_and_else_answered_not_owner() {
    let (entity, stream) = (entity(1), tool_stream());
    let mut driver = Driver::new(Limits::default());
    assert_eq!(controls(&driver.data(1)), [(Destination::Place(router()), &Control::NotOwner { entity, stream })]);
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    let redirect = Control::Redirect { entity, stream, owner: own(2), epoch: epoch(2) };
    assert_eq!(controls(&driver.data(1)), [(Destination::Place(router()), &redirect)]);
}

#[test]
fn a_tombstone_is_forgotten_in_time() {
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    driver.pass(29_999);
    assert_eq!(driver.scene.route(entity(1)), Route::Owner(own(2)));
    driver.pass(1);
    assert_eq!(driver.scene.route(entity(1)), Route::Unknown);
    assert!(driver.scene.gone.is_empty() && driver.scene.alarms.is_empty());
}

#[test]
fn staged_prepare_with_the_same_label_repeats_the_cas_and_keeps_the_image() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let out = driver.prepare_image(epoch(2), Image { body: vec![9], ..image() });
    assert_eq!(cas_nonce(&out), nonce);
    assert!(!out.iter().any(|output| matches!(output, Output::Decode { .. })));
}

#[test]
fn staged_prepare_with_a_lower_label_is_ignored() {
    let (mut driver, _) = Driver::staged(epoch(4));
    assert!(driver.prepare(epoch(3)).is_empty());
}

#[test]
fn staged_prepare_with_a_higher_label_replaces_image_label_and_nonce() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let out = driver.prepare_image(epoch(4), Image { received: received(1), ..image() });
    assert!(matches!(out[0], Output::Decode { .. }));
    assert_eq!(cas(&out), [((own(2), epoch(3)), mine(4))]);
    assert_ne!(cas_nonce(&out), nonce);
    assert!(driver.record(1, mine(4), Some(nonce)).is_empty(), "the answer to the older question");
    driver.record(1, mine(4), Some(cas_nonce(&out)));
    assert_eq!(driver.scene.stand(entity(1)).expect("it took over").applied, 1);
}

#[test]
fn staged_data_is_held_within_bounds_and_never_acknowledged() {
    let mut driver = Driver::new(Limits { held_messages: 2, ..Limits::default() });
    let nonce = cas_nonce(&driver.prepare(epoch(2)));
    for seq in 1..=3 {
        assert!(driver.data(seq).is_empty());
    }
    assert!(driver.tell(Input::Flush).is_empty());
    assert_eq!(applied(&driver.record(1, mine(2), Some(nonce))), [1, 2]);
}

#[test]
fn a_staged_tick_repeats_the_cas_and_a_stage_is_never_given_up_by_time() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    for _ in 0..100 {
        assert_eq!(cas_nonce(&driver.pass(2_000)), nonce);
    }
    assert_eq!(driver.scene.arriving(), 1);
}

#[test]
fn staged_record_with_another_nonce_is_ignored() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    for other in [None, Some(Nonce(nonce.0 + 1))] {
        assert!(driver.record(1, mine(2), other).is_empty());
    }
    assert_eq!(driver.scene.route(entity(1)), Route::Hold);
}

#[test]
fn staged_record_of_an_epoch_below_the_label_waits() {
    let (mut driver, nonce) = Driver::staged(epoch(4));
    assert!(driver.record(1, Record::handed_to(own(2), epoch(3), Epoch::ZERO), Some(nonce)).is_empty());
    assert_eq!(driver.scene.arriving(), 1);
}

#[test]
fn staged_record_that_names_this_scene_with_the_label_takes_over() {
    let mut driver = Driver::new(Limits::default());
    let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { received: received(2), ..image() }));
    driver.data(4);
    driver.data(2);
    driver.data(3);
    let out = driver.record(1, mine(2), Some(nonce));
    assert_eq!(out[0], Output::Install { entity: entity(1) });
    assert!(matches!(&out[1], Output::Event(Event::MoveArrived { from, .. }) if *from == own(2)));
    let arrived = Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) };
    assert_eq!(controls(&out)[0], (to(own(2)), &arrived));
    assert_eq!(applied(&out), [3, 4]);
    assert_eq!(acks(&driver.tell(Input::Flush)), [4]);
    let stand = driver.scene.stand(entity(1)).expect("it took over");
    assert_eq!((stand.phase, stand.epoch, stand.data, stand.applied), ("active", epoch(2), epoch(2), 4));
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn a_takeover_acknowledges_what_the_copy_has_applied_without_being_asked() {
    let mut driver = Driver::new(Limits::default());
    let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { received: received(2), ..image() }));
    driver.record(1, mine(2), Some(nonce));
    let out = driver.tell(Input::Flush);
    assert_eq!(acks(&out), [2]);
    assert!(
        matches!(controls(&out)[..], [(at, Control::Ack { owner, .. })] if at == Destination::Place(router()) && *owner == own(1))
    );
}

#[test]
fn staged_record_that_names_an_earlier_life_of_this_scene_with_the_label_is_reclaimed() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let earlier = Own::new(Session::new(1, 0), own(1).scene);
    let out = driver.record(1, Record::handed_to(earlier, epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!(
        controls(&out),
        [(Destination::Home(entity(1)), &Control::Reclaim { entity: entity(1), me: own(1), nonce })]
    );
    driver.record(
        1,
        Record { owner: Some(own(1)), epoch: epoch(3), data: epoch(2), lost: false, base: Epoch::ZERO },
        Some(nonce),
    );
    let stand = driver.scene.stand(entity(1)).expect("it took over");
    assert_eq!((stand.epoch, stand.data), (epoch(3), epoch(2)));
}

#[test]
fn staged_record_of_anything_else_makes_the_copy_obsolete_and_is_remembered() {
    let given_back = Record { owner: Some(own(2)), epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO };
    let (mut driver, nonce) = Driver::staged(epoch(2));
    driver.data(1);
    assert_eq!(driver.record(1, given_back, Some(nonce)), [Output::DropStaged { entity: entity(1) }]);
    assert_eq!((driver.scene.arriving(), driver.scene.len()), (0, 0));
    assert_eq!(driver.scene.route(entity(1)), Route::Owner(own(2)));
    assert!(driver.prepare(epoch(2)).is_empty(), "a late repeat is not staged again");
}

#[test]
fn staged_record_that_names_this_scene_with_another_copy_makes_the_staged_one_obsolete() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let another = Record { owner: Some(own(1)), epoch: epoch(3), data: epoch(3), lost: false, base: Epoch::ZERO };
    assert_eq!(driver.record(1, another, Some(nonce)), [Output::DropStaged { entity: entity(1) }]);
    assert!(driver.scene.is_empty());
}

#[test]
fn a_copy_that_cannot_be_read_is_refused_and_dropped() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(epoch(2), Image { body: Vec::new(), ..image() });
    let reason = Refusal::Unreadable { reason: "empty".into() };
    let refused = Control::Refused { entity: entity(1), id: move_id(1), label: epoch(2), reason };
    assert_eq!(controls(&out), [(to(own(2)), &refused)]);
    assert!(out.contains(&Output::DropStaged { entity: entity(1) }));
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn a_copy_with_two_streams_to_one_receiver_or_with_the_stream_of_somebody_here_is_refused() {
    let refuses = |driver: &mut Driver, sending| {
        let out = driver.prepare_image(epoch(2), Image { sending, ..image() });
        let refused =
            |control: &Control| matches!(control, Control::Refused { reason: Refusal::Unreadable { .. }, .. });
        controls(&out).iter().any(|(_, control)| refused(control))
    };
    let again = SendStream::open(StreamId { generation: 6, ..sending(8).id() }, entity(8));
    assert!(refuses(&mut Driver::new(Limits::default()), vec![sending(8), again]));
    let mut driver = Driver::new(Limits::default());
    driver.spawn(2);
    driver.sends(2, 8);
    let hers = driver.scene.live[&entity(2)].outbox[&entity(8)].clone();
    assert!(refuses(&mut driver, vec![hers.clone()]));
    assert_eq!(driver.scene.receivers.sender(entity(8), hers.id()), Some(entity(2)));
    assert!(!refuses(&mut driver, vec![sending(8)]), "one of its own to the same receiver");
}

#[test]
fn of_two_copies_with_the_same_stream_the_first_to_take_over_keeps_it() {
    let mut driver = Driver::new(Limits::default());
    let image = Image { sending: vec![sending(8)], ..image() };
    let other = Prepare { entity: entity(2), id: move_id(2), from: own(2), label: epoch(2), image };
    let second = cas_nonce(
        &driver.tell(Input::Heard { from: own(2).into(), message: Message::Prepare(Arc::new(other.clone())) }),
    );
    let first = cas_nonce(&driver.prepare_image(epoch(2), other.image));
    driver.record(1, mine(2), Some(first));
    driver.record(2, mine(2), Some(second));
    assert_eq!(driver.scene.receivers.sender(entity(8), sending(8).id()), Some(entity(1)));
    assert!(driver.scene.live[&entity(2)].outbox.is_empty());
    assert_eq!(driver.scene.take_left_out(), 1);
}

#[test]
fn an_entity_that_comes_straight_back_is_staged_once_the_home_has_told_that_it_left() {
    let mut driver = Driver::frozen();
    assert_eq!(driver.prepare(epoch(3)).len(), 1);
    driver.record(1, taken_over(), None);
    let nonce = cas_nonce(&driver.prepare(epoch(3)));
    driver.record(1, mine(3), Some(nonce));
    assert_eq!(driver.phase(1), Some("active"));
    assert!(driver.record(1, taken_over(), None).is_empty(), "news from before");
}

#[test]
fn a_question_whether_it_is_active_is_answered_only_for_the_move_that_brought_it() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let asks = |id| Control::IsActive { entity: entity(1), id };
    assert!(driver.hear(asks(move_id(1))).is_empty());
    driver.record(1, mine(2), Some(nonce));
    let arrived = Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) };
    assert_eq!(controls(&driver.hear(asks(move_id(1)))), [(to(own(2)), &arrived)]);
    assert!(driver.hear(asks(move_id(7))).is_empty());
}

#[test]
fn what_is_meant_for_other_actors_is_ignored() {
    let mut driver = Driver::active();
    let entity = entity(1);
    let query = Control::Query { entity, nonce: Nonce(1) };
    for control in [query, Control::NotHome { entity, nonce: Nonce(1) }] {
        assert!(driver.hear(control).is_empty());
    }
    let tool = Message::Tool(crate::message::ToolMessage::Ask { nonce: Nonce(1), question: Vec::new() });
    assert!(driver.tell(Input::Heard { from: router(), message: tool }).is_empty());
}
