//! What becomes of streams whose senders may have died with a node.

use std::sync::Arc;

use super::super::{Destination, Input, Output, Ticket};
use super::driver::{
    Driver, applied, cas, cas_nonce, controls, data, entity, epoch, image, move_id, own, reserved, router, tool_stream,
};
use crate::message::{Control, Data, Image, Message, Nonce, Sender};
use crate::stream::{Received, StreamId};
use crate::{Epoch, Incarnation, Limits, NodeId, Own, Place, Port, Record, Session, View};

/// Node 3 is dead, of version 5 on.
fn verdict(driver: &mut Driver, version: u64) -> Vec<Output> {
    let dead = [(NodeId(3), Incarnation(1))].into();
    driver.tell(Input::View(Arc::new(View { version, dead, ..View::default() })))
}

fn at_three() -> Own {
    own(3)
}

/// Entity 9 says something to entity 1, from node 3, where it opened the stream.
fn nine_says(driver: &mut Driver, seq: u64) -> Vec<Output> {
    nine_says_from(driver, at_three(), seq)
}

fn stream_of_nine() -> StreamId {
    StreamId { opened_at: at_three().into(), generation: 4 }
}

/// The same, from where it has gone to since, or left the stream to a router.
fn nine_says_from(driver: &mut Driver, from: Own, seq: u64) -> Vec<Output> {
    let (stream, sender, reply_to) = (stream_of_nine(), Sender::Entity(entity(9)), from.into());
    let data = Data { stream, sender, reply_to, epoch: epoch(1), ..data(seq) };
    driver.tell(Input::Heard { from: reply_to, message: Message::Data(data) })
}

/// With a stream of entity 9, whose node is dead.
fn bereaved() -> Driver {
    let mut driver = Driver::active();
    nine_says(&mut driver, 1);
    verdict(&mut driver, 5);
    driver
}

fn open(driver: &Driver) -> usize {
    driver.scene.tables().open
}

/// The question about entity 9, if it is asked.
fn question(out: &[Output]) -> Option<Nonce> {
    let nonce = |(to, control)| {
        let &Control::Query { entity: subject, nonce } = control else { return None };
        (to == Destination::Home(entity(9)) && subject == entity(9)).then_some(nonce)
    };
    controls(out).into_iter().find_map(nonce)
}

#[test]
fn the_home_of_a_sender_is_asked_after_a_verdict_and_again_until_it_answers() {
    let mut driver = bereaved();
    assert!(question(&driver.pass(0)).is_some());
    assert!(question(&driver.pass(99)).is_none());
    assert!(question(&driver.pass(1)).is_some());
    assert_eq!((open(&driver), driver.scene.tables().searches), (1, 1));
}

#[test]
fn a_sender_that_is_lost_leaves_no_stream_open_and_what_still_comes_of_it_is_in_doubt() {
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    driver.record(9, Record::registered(at_three()).buried(), nonce);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
    let out = nine_says_from(&mut driver, own(2), 2);
    assert!(matches!(controls(&out)[..], [(_, Control::Closed { doubt: true, .. })]));
}

#[test]
fn what_comes_late_of_a_sender_that_is_lost_does_not_keep_its_stream_open() {
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    assert_eq!(applied(&nine_says_from(&mut driver, own(2), 2)).len(), 1);
    driver.record(9, Record::registered(at_three()).buried(), nonce);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
}

#[test]
fn a_sender_whose_home_does_not_know_of_its_death_yet_is_asked_about_again() {
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    driver.record(9, Record::registered(at_three()), nonce);
    assert_eq!(open(&driver), 1);
    assert!(question(&driver.pass(100)).is_some());
}

/// The home names `own(2)` for entity 9. Returns whether that is asked for the stream.
fn nine_lives(driver: &mut Driver) -> bool {
    let nonce = question(&driver.pass(0));
    let out = driver.record(9, Record::handed_to(own(2), epoch(4), Epoch::ZERO), nonce);
    let asked = Control::AskStream { entity: entity(1), stream: stream_of_nine(), sender: entity(9) };
    controls(&out) == [(Destination::Place(own(2).into()), &asked)]
}

#[test]
fn a_sender_that_lives_elsewhere_is_followed_there_and_keeps_its_stream_once_it_says_more() {
    let mut driver = bereaved();
    assert!(nine_lives(&mut driver));
    driver.pass(100);
    assert!(nine_lives(&mut driver), "again, until it answers");
    let live = &driver.scene.live[&entity(1)];
    let heard = live.inbox.received().open(Sender::Entity(entity(9))).copied();
    assert_eq!(heard.map(|open| (open.reply_to, open.epoch)), Some((own(2).into(), epoch(4))));
    nine_says_from(&mut driver, own(2), 2);
    driver.pass(200);
    assert!(!nine_lives(&mut driver));
    assert_eq!((open(&driver), driver.scene.tables().searches), (1, 0));
    assert!(driver.pass(60_000).is_empty());
}

#[test]
fn a_stream_that_a_living_sender_left_to_a_router_which_died_is_closed_by_the_senders_scene() {
    let mut driver = bereaved();
    assert!(nine_lives(&mut driver));
    let (entity, stream) = (entity(1), stream_of_nine());
    let out = driver.hear(Control::Close { entity, stream, sender: Sender::Entity(super::driver::entity(9)) });
    let closed = Control::Closed { entity, stream, floor: 0, doubt: false };
    assert_eq!(controls(&out), [(Destination::Place(own(2).into()), &closed)]);
    assert_eq!(open(&driver), 0);
    driver.pass(100);
    assert!(!nine_lives(&mut driver));
    assert_eq!(driver.scene.tables().searches, 0);
}

/// Entity 1, with one message to entity 8 on its way to `own(2)`, and the question whether that is still its stream.
fn asked_for_a_stream() -> (Driver, StreamId, Control) {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.record(8, Record::registered(own(2)), None);
    let stream = StreamId { opened_at: own(1).into(), generation: 1 };
    (driver, stream, Control::AskStream { entity: entity(8), stream, sender: entity(1) })
}

#[test]
fn a_scene_that_is_asked_closes_only_what_an_active_sender_has_left() {
    let (mut driver, stream, question) = asked_for_a_stream();
    assert!(driver.hear(question.clone()).is_empty(), "it is its own");
    let (owner, base) = (own(2), Epoch::ZERO);
    driver.hear(Control::Ack { entity: entity(8), stream, upto: 1, owner, epoch: Epoch::FIRST, base });
    driver.pass(4_000);
    assert!(driver.hear(question.clone()).is_empty(), "at rest, and not for long");
    driver.pass(2_000);
    let close = Control::Close { entity: entity(8), stream, sender: Sender::Entity(entity(1)) };
    assert_eq!(controls(&driver.hear(question.clone())), [(Destination::Place(own(2).into()), &close)]);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    assert!(driver.hear(question).is_empty(), "frozen: its copy is on its way");
}

#[test]
fn of_a_sender_that_is_not_here_a_scene_that_is_asked_says_nothing() {
    let mut driver = Driver::active();
    let (entity, sender) = (entity(1), entity(9));
    assert!(driver.hear(Control::AskStream { entity, stream: stream_of_nine(), sender }).is_empty());
}

#[test]
fn a_sender_that_was_despawned_is_given_time_for_its_router_to_close_the_stream() {
    let dead = Record::registered(at_three()).changed_to(None);
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    driver.record(9, dead, nonce);
    driver.pass(29_999);
    assert_eq!(open(&driver), 1);
    driver.pass(1);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    driver.record(9, dead, nonce);
    nine_says_from(&mut driver, own(2), 2);
    driver.pass(30_000);
    assert_eq!(open(&driver), 1, "somebody speaks for it, and closes it");
    let nonce = question(&driver.pass(0));
    driver.record(9, dead, nonce);
    driver.pass(30_000);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0), "or nobody, and it was only late");
}

#[test]
fn a_sender_whose_router_spoke_last_and_died_is_not_waited_for_for_ever() {
    let dead = Record::registered(at_three()).changed_to(None);
    let mut driver = Driver::active();
    let stream = StreamId { opened_at: at_three().into(), generation: 4 };
    // The router that a window is left to speaks with the epoch of the sender's death.
    let (sender, reply_to) = (Sender::Entity(entity(9)), Place { port: Port::Router(0), ..at_three().into() });
    let data = Data { stream, sender, reply_to, epoch: dead.epoch, ..data(1) };
    driver.tell(Input::Heard { from: reply_to, message: Message::Data(data) });
    verdict(&mut driver, 5);
    let nonce = question(&driver.pass(0));
    driver.record(9, dead, nonce);
    driver.pass(30_000);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
}

#[test]
fn an_answer_from_before_the_sender_spoke_ends_no_stream() {
    let mut driver = bereaved();
    let nonce = question(&driver.pass(0));
    driver.record(9, Record::never(), nonce);
    driver.record(9, Record { owner: None, lost: true, ..Record::never() }, nonce);
    driver.pass(60_000);
    assert_eq!((open(&driver), driver.scene.tables().searches), (1, 1));
    driver.record(9, Record::absent(1, true), nonce);
    assert_eq!(open(&driver), 0, "the next home knows nobody of that id");
}

#[test]
fn a_stream_that_a_sender_who_lives_here_has_left_is_over_without_a_question() {
    let mut driver = Driver::active();
    driver.spawn(9);
    let stream = StreamId { opened_at: own(1).into(), generation: 4 };
    let sender = Sender::Entity(entity(9));
    let data = Data { stream, sender, reply_to: own(1).into(), ..data(1) };
    driver.tell(Input::Heard { from: own(1).into(), message: Message::Data(data) });
    verdict(&mut driver, 5);
    assert!(question(&driver.pass(0)).is_none());
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
}

#[test]
fn a_frozen_entity_is_looked_through_when_it_goes_on() {
    let mut driver = Driver::active();
    driver.data(1);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    verdict(&mut driver, 5);
    driver.pass(0);
    assert_eq!(open(&driver), 1);
    driver.hear(Control::Refused {
        entity: entity(1),
        id: move_id(1),
        label: epoch(2),
        reason: crate::moves::Refusal::Draining,
    });
    driver.record(1, super::driver::given_back(), None);
    assert_eq!(open(&driver), 0, "the tool's session is dead");
}

#[test]
fn a_copy_that_leans_on_verdicts_not_known_here_waits_for_them() {
    let mut source = Driver::active();
    source.data(1);
    verdict(&mut source, 5);
    source.pass(0);
    let received = source.scene.live[&entity(1)].inbox.received().clone();
    assert_eq!((received.verdicts(), received.streams()), (5, 0));
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(epoch(2), Image { received, ..image() });
    assert!(cas(&out).is_empty());
    assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]), "is it still wanted?");
    assert!(cas(&driver.pass(100)).is_empty());
    driver.tell(Input::View(Arc::new(View { version: 4, ..View::default() })));
    let out = verdict(&mut driver, 5);
    assert_eq!(cas(&out).len(), 1);
    let record = Record::handed_to(own(1), epoch(2), Epoch::ZERO);
    driver.record(1, record, Some(cas_nonce(&out)));
    let late = nine_says_from(&mut driver, own(2), 1);
    assert!(applied(&late).is_empty());
    assert!(matches!(controls(&late)[..], [(_, Control::Closed { .. })]));
}

#[test]
fn a_waiting_copy_that_nobody_wants_any_more_is_dropped() {
    let mut source = Driver::active();
    source.data(1);
    verdict(&mut source, 5);
    source.pass(0);
    let received = source.scene.live[&entity(1)].inbox.received().clone();
    let mut driver = Driver::new(Limits::default());
    let out = driver.prepare_image(epoch(2), Image { received, ..image() });
    let nonce = controls(&out).into_iter().find_map(|(_, control)| {
        let Control::Query { nonce, .. } = control else { return None };
        Some(*nonce)
    });
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), nonce);
    assert_eq!(driver.scene.len(), 0, "not even if the home names it");
    driver.record(1, super::driver::given_back(), nonce);
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn an_entity_that_was_looked_through_is_not_again_where_it_moves_to() {
    let mut source = bereaved();
    let nonce = question(&source.pass(0));
    let before = source.scene.live[&entity(1)].inbox.received().clone();
    source.record(9, Record::registered(at_three()).buried(), nonce);
    let after = source.scene.live[&entity(1)].inbox.received().clone();
    let asks = |received: Received| {
        let mut driver = Driver::new(Limits::default());
        verdict(&mut driver, 5);
        let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { received, ..image() }));
        driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
        question(&driver.pass(0)).is_some()
    };
    assert!(asks(before), "nobody has answered yet");
    assert!(!asks(after));
}

#[test]
fn the_tools_of_a_dead_session_leave_at_once() {
    let mut driver = Driver::active();
    driver.data(1);
    assert_eq!(router().session, Session::new(3, 1));
    verdict(&mut driver, 5);
    driver.pass(0);
    assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
    assert!(applied(&driver.data(2)).is_empty());
    assert_eq!(tool_stream().opened_at, router());
}

#[test]
fn what_comes_late_from_a_dead_session_is_not_taken_for_its_sender_may_say_it_again_from_elsewhere() {
    let mut driver = Driver::active();
    verdict(&mut driver, 5);
    assert!(driver.data(1).is_empty() && nine_says(&mut driver, 1).is_empty());
    assert_eq!(open(&driver), 0);
}

#[test]
fn a_copy_that_was_looked_through_elsewhere_is_again_once_its_new_scene_hears_of_the_verdict() {
    let mut source = Driver::active();
    verdict(&mut source, 5);
    source.pass(0);
    let received = source.scene.live[&entity(1)].inbox.received().clone();
    assert_eq!((received.swept(), received.verdicts()), (5, 0));
    let mut driver = Driver::new(Limits::default());
    let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { received, ..image() }));
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!(applied(&driver.data(1)).len(), 1, "the verdict is not known here yet");
    assert_eq!(driver.scene.live[&entity(1)].inbox.received().swept(), 0, "nor is it told on as known");
    verdict(&mut driver, 5);
    driver.pass(0);
    assert_eq!(open(&driver), 0);
}

/// Entity 9 begins a stream to entity 1 that it has opened at `own(2)`, from there or from where it has gone to.
fn nine_begins(driver: &mut Driver, from: Own) -> Vec<Output> {
    let stream = StreamId { opened_at: own(2).into(), generation: 1 };
    let (sender, reply_to) = (Sender::Entity(entity(9)), from.into());
    let data = Data { stream, sender, reply_to, epoch: epoch(2), ..data(1) };
    driver.tell(Input::Heard { from: reply_to, message: Message::Data(data) })
}

#[test]
fn what_a_copy_held_of_a_session_that_died_meanwhile_is_not_taken_either() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    nine_begins(&mut driver, at_three());
    verdict(&mut driver, 5);
    let out = driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!((driver.phase(1), applied(&out).len(), open(&driver)), (Some("active"), 0, 0));
}

#[test]
fn what_a_frozen_entity_held_of_a_session_that_died_meanwhile_is_not_taken_either() {
    let mut driver = Driver::frozen();
    nine_begins(&mut driver, at_three());
    verdict(&mut driver, 5);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    let out = driver.record(1, super::driver::given_back(), None);
    assert_eq!((driver.phase(1), applied(&out).len(), open(&driver)), (Some("active"), 0, 0));
}

#[test]
fn what_was_held_of_a_session_that_died_meanwhile_is_no_word_of_a_sender_that_lives() {
    let mut driver = Driver::active();
    nine_says(&mut driver, 1);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    nine_says(&mut driver, 2);
    verdict(&mut driver, 5);
    driver.pass(0);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    driver.record(1, super::driver::given_back(), None);
    assert!(nine_lives(&mut driver), "its scene is asked whether it still has the stream");
}

#[test]
fn whoever_begins_a_stream_with_what_was_held_is_looked_for_as_it_may_have_died_elsewhere_meanwhile() {
    let mut source = Driver::active();
    verdict(&mut source, 5);
    source.pass(0);
    let received = source.scene.live[&entity(1)].inbox.received().clone();
    for received in [Received::default(), received] {
        let mut driver = Driver::new(Limits::default());
        let nonce = cas_nonce(&driver.prepare_image(epoch(2), Image { received, ..image() }));
        nine_begins(&mut driver, own(2));
        verdict(&mut driver, 5);
        driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
        assert_eq!(open(&driver), 1);
        let swept = driver.scene.live[&entity(1)].inbox.received().swept();
        assert_eq!(swept, 0, "a scene that it moves to would have to look for it, too");
        let nonce = question(&driver.pass(0));
        assert!(nonce.is_some());
        driver.record(9, Record::registered(at_three()).buried(), nonce);
        assert_eq!((open(&driver), driver.scene.tables().searches), (0, 0));
    }
}
