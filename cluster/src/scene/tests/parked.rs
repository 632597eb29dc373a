//! Entities whose game code panicked: who hears what, and that nothing is applied behind that.

use slipgate_entity::Returned;

use super::super::{Answer, Destination, Input, OnPanic, Output, Ticket};
use super::driver::{
    Driver, answers, applied, cas, cas_nonce, controls, copies, data, ended, entity, epoch, given_back, image, own,
    rejected, reserved, router, tool_stream,
};
use crate::message::{Control, Data, Image, Message, Parked, Sender};
use crate::moves::{MoveError, Outcome};
use crate::stream::StreamId;
use crate::{Epoch, Limits, Record};

fn why() -> Parked {
    Parked { why: "stumble: over a root".into(), since_ms: 5 }
}

fn not_applied(driver: &mut Driver, seq: u64, panic: Option<Parked>) -> Vec<Output> {
    let (entity, sender) = (entity(1), Sender::Tool(router().session));
    let (message, payload) = (Some((tool_stream(), seq)), data(seq).payload);
    driver.tell(Input::NotApplied { entity, sender, message, payload, panic })
}

/// Message `seq` comes in, and its handler panics.
fn stumble(driver: &mut Driver, seq: u64) -> Vec<Output> {
    assert_eq!(applied(&driver.data(seq)), [seq]);
    not_applied(driver, seq, Some(why()))
}

fn unpark(driver: &mut Driver, counter: u32) -> Vec<Output> {
    driver.tell(Input::Unpark { ticket: Ticket(7), entity: entity(counter) })
}

/// With entity 1 parked at the tool's first message, and that acknowledged.
fn parked() -> Driver {
    let mut driver = Driver::active();
    stumble(&mut driver, 1);
    driver.tell(Input::Flush);
    driver
}

fn doomed() -> Driver {
    let mut driver = Driver::active();
    driver.scene.on_panic = OnPanic::Despawn;
    driver
}

/// What the tool hears of streams that have stopped: which, up to where, and whether that failed.
fn stops(out: &[Output]) -> Vec<(u64, u64, bool)> {
    let stop = |(_, control)| {
        let &Control::Stopped { stream, upto, failed, .. } = control else { return None };
        Some((stream.generation, upto, failed))
    };
    controls(out).into_iter().filter_map(stop).collect()
}

fn acknowledged(driver: &mut Driver) -> Vec<(u64, u64, bool)> {
    stops(&driver.tell(Input::Flush))
}

#[test]
fn an_entity_that_panics_over_what_came_back_to_it_is_parked_too() {
    let mut driver = Driver::active();
    let out = driver.tell(Input::Panicked { entity: entity(1), panic: why() });
    assert_eq!(out, [Output::Park { entity: entity(1) }]);
    assert!(applied(&driver.data(1)).is_empty());
    assert_eq!(acknowledged(&mut driver), [(1, 0, false)]);
}

/// The first message of the tool's stream `generation`.
fn first_of(driver: &mut Driver, generation: u64) -> Vec<Output> {
    let stream = StreamId { generation, ..tool_stream() };
    driver.tell(Input::Heard { from: router(), message: Message::Data(Data { stream, ..data(1) }) })
}

#[test]
fn a_message_whose_handler_panics_counts_as_applied_and_is_answered_as_failed() {
    let mut driver = Driver::active();
    assert_eq!(stumble(&mut driver, 1), [Output::Park { entity: entity(1) }]);
    let out = driver.tell(Input::Flush);
    let (stream, owner, epoch, base) = (tool_stream(), own(1), Epoch::FIRST, Epoch::ZERO);
    let stopped = Control::Stopped { entity: entity(1), stream, upto: 1, failed: true, owner, epoch, base };
    assert_eq!(controls(&out), [(Destination::Place(router()), &stopped)]);
    let stand = driver.scene.stand(entity(1)).expect("it lives here");
    assert_eq!((stand.phase, stand.parked, stand.applied), ("parked", Some(why()), 1));
}

#[test]
fn what_was_to_be_applied_behind_it_is_taken_back() {
    let mut driver = Driver::active();
    for seq in [2, 3] {
        driver.data(seq);
    }
    assert_eq!(applied(&driver.data(1)), [1, 2, 3]);
    not_applied(&mut driver, 2, Some(why()));
    not_applied(&mut driver, 3, None);
    assert_eq!(acknowledged(&mut driver), [(1, 2, true)]);
    assert_eq!(driver.scene.stand(entity(1)).map(|stand| stand.applied), Some(2));
}

#[test]
fn what_another_sender_said_in_the_same_step_is_answered_as_parked() {
    let mut driver = Driver::active();
    driver.data(1);
    not_applied(&mut driver, 1, None);
    assert_eq!(acknowledged(&mut driver), [(1, 0, false)]);
    assert!(applied(&driver.data(1)).is_empty(), "whatever parked it");
}

#[test]
fn a_parked_entity_applies_nothing_and_lets_nothing_wait() {
    let mut driver = Driver::active();
    driver.data(3);
    stumble(&mut driver, 1);
    assert_eq!(driver.scene.tables().waiting, 0, "what waited for a gap is said again");
    for seq in [1, 2, 3, 9] {
        let out = driver.data(seq);
        assert!(out.is_empty(), "{out:?}");
        assert_eq!(acknowledged(&mut driver), [(1, 1, true)]);
    }
    assert_eq!(driver.scene.tables().waiting, 0);
}

#[test]
fn what_is_answered_as_parked_is_never_applied_not_even_by_a_repeat_after_it_was_unparked() {
    let mut driver = parked();
    driver.data(2);
    assert_eq!(acknowledged(&mut driver), [(1, 1, true)]);
    first_of(&mut driver, 2);
    assert_eq!(acknowledged(&mut driver), [(2, 0, false)]);
    let out = unpark(&mut driver, 1);
    assert_eq!(
        out,
        [Output::Unpark { entity: entity(1) }, Output::Answer { ticket: Ticket(7), answer: Answer::Unparked }]
    );
    assert!(applied(&first_of(&mut driver, 2)).is_empty());
    assert_eq!(acknowledged(&mut driver), [(2, 0, false)]);
    let out = driver.data(2);
    assert!(matches!(controls(&out)[..], [(_, Control::Closed { doubt: false, .. })]), "{out:?}");
    assert_eq!(applied(&first_of(&mut driver, 3)), [1], "its sender goes on with another stream");
    assert_eq!(driver.phase(1), Some("active"));
}

#[test]
fn a_stream_that_was_at_rest_goes_on_once_the_entity_is_unparked() {
    let mut driver = Driver::active();
    driver.data(1);
    driver.tell(Input::Flush);
    driver.scene.take_left_out();
    let (entity, message) = (entity(1), Some((StreamId { generation: 8, ..tool_stream() }, 1)));
    let (sender, payload) = (Sender::Entity(entity), data(1).payload);
    driver.tell(Input::NotApplied { entity, sender, message, payload, panic: Some(why()) });
    unpark(&mut driver, 1);
    assert_eq!(applied(&driver.data(2)), [2]);
}

#[test]
fn a_sender_closes_a_stream_that_has_stopped_and_nothing_is_kept_of_it() {
    let mut driver = parked();
    let close = Control::Close { entity: entity(1), stream: tool_stream(), sender: Sender::Tool(router().session) };
    let out = driver.tell(Input::Heard { from: router(), message: Message::Control(close) });
    assert!(matches!(controls(&out)[..], [(_, Control::Closed { doubt: false, .. })]));
    assert_eq!(driver.scene.tables().open, 0);
}

#[test]
fn a_parked_entity_moves_as_one_and_so_do_the_streams_that_have_stopped() {
    let mut driver = parked();
    driver.migrate(1, Ok(own(2)));
    let out = driver.hear(reserved());
    let copy = out.iter().find_map(|output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(prepare.image.clone())
    });
    let copy = copy.expect("a copy");
    assert_eq!(copy.parked, Some(why()));

    let mut target = Driver::new(Limits::default());
    let nonce = cas_nonce(&target.prepare_image(epoch(2), copy));
    let out = target.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert!(out.contains(&Output::Park { entity: entity(1) }));
    assert_eq!(target.phase(1), Some("parked"));
    assert_eq!(acknowledged(&mut target), [(1, 1, true)]);
    assert!(applied(&target.data(2)).is_empty());
}

#[test]
fn what_was_held_for_a_parked_entity_that_stays_after_all_is_answered_as_parked() {
    let mut driver = parked();
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    first_of(&mut driver, 2);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: super::driver::move_id(1) });
    let out = driver.record(1, given_back(), None);
    assert!(applied(&out).is_empty());
    assert_eq!(acknowledged(&mut driver), [(2, 0, false)]);
}

#[test]
fn a_parked_entity_is_despawned_like_any_other() {
    let mut driver = parked();
    let out = driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert_eq!(cas(&out).len(), 1);
}

#[test]
fn by_policy_it_is_despawned_once_the_sender_has_heard_that_its_message_failed() {
    let mut driver = doomed();
    stumble(&mut driver, 1);
    assert_eq!(rejected(&driver.migrate(1, Ok(own(2)))), [MoveError::Migrating { entity: entity(1) }]);
    assert_eq!(rejected(&unpark(&mut driver, 1)), [MoveError::Migrating { entity: entity(1) }]);
    let out = driver.tell(Input::Flush);
    assert_eq!(stops(&out), [(1, 1, true)]);
    let dead = Record { owner: None, epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO };
    assert_eq!(cas(&out), [((own(1), Epoch::FIRST), dead)]);
    assert!(matches!(controls(&out)[..], [(_, Control::Stopped { .. }), (_, Control::Cas { .. })]));
    assert!(driver.record(1, dead, Some(cas_nonce(&out))).iter().any(|output| matches!(output, Output::Remove { .. })));
}

#[test]
fn by_policy_a_reservation_comes_to_nothing_as_nobody_is_left_to_move() {
    let mut driver = doomed();
    driver.migrate(1, Ok(own(2)));
    assert_eq!(ended(&stumble(&mut driver, 1)), [Outcome::Cancelled]);
    assert!(copies(&driver.hear(reserved())).is_empty());
    assert_eq!(cas(&driver.tell(Input::Flush)).len(), 1);
}

#[test]
fn only_an_entity_that_is_parked_here_and_does_not_move_is_unparked() {
    let mut driver = parked();
    assert_eq!(rejected(&unpark(&mut driver, 2)), [MoveError::NotOwner { entity: entity(2) }]);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    assert_eq!(rejected(&unpark(&mut driver, 1)), [MoveError::Migrating { entity: entity(1) }]);
    assert_eq!(answers(&unpark(&mut Driver::active(), 1)), [(Ticket(7), Answer::NotParked)]);
}

#[test]
fn a_text_of_why_that_is_too_long_is_cut_between_characters_and_a_copy_with_one_is_refused() {
    let mut driver = Driver::active();
    driver.data(1);
    not_applied(&mut driver, 1, Some(Parked { why: "ä".repeat(600), since_ms: 0 }));
    let why = driver.scene.stand(entity(1)).and_then(|stand| stand.parked).expect("it is parked").why;
    assert_eq!(why, "ä".repeat(crate::bounds::PARKED_BYTES / 2));
    let parked = Some(Parked { why: "x".repeat(crate::bounds::PARKED_BYTES + 1), since_ms: 0 });
    let out = Driver::new(Limits::default()).prepare_image(epoch(2), Image { parked, ..image() });
    assert!(matches!(controls(&out)[..], [(_, Control::Refused { .. })]));
}

/// Entity 1, with three messages to entity 8 on their way to `own(2)`.
fn talking() -> Driver {
    let mut driver = Driver::active();
    for _ in 0..3 {
        driver.sends(1, 8);
    }
    driver.record(8, Record::registered(own(2)), None);
    driver
}

fn told_stopped(driver: &mut Driver, upto: u64, failed: bool, base: Epoch) -> Vec<Output> {
    let stream = StreamId { opened_at: own(1).into(), generation: 1 };
    driver.hear(Control::Stopped { entity: entity(8), stream, upto, failed, owner: own(2), epoch: epoch(1), base })
}

#[test]
fn a_sender_that_is_an_entity_gets_back_what_failed_and_what_was_not_applied_and_leaves_the_stream() {
    let mut driver = talking();
    let out = told_stopped(&mut driver, 2, true, Epoch::ZERO);
    let bounced = out.iter().filter_map(|output| {
        let Output::Bounced { why, .. } = output else { return None };
        Some(*why)
    });
    assert_eq!(bounced.collect::<Vec<_>>(), [Returned::Failed, Returned::Parked]);
    let left = out.iter().find_map(|output| {
        let Output::Adopt(orphans) = output else { return None };
        Some(orphans.iter().map(|orphan| orphan.stream.waiting()).collect::<Vec<_>>())
    });
    assert_eq!(left, Some(vec![0]), "the router closes it");
    let tables = driver.scene.tables();
    assert_eq!((tables.outboxes, tables.receivers), (0, 0));
    driver.sends(1, 8);
    driver.record(8, Record::registered(own(2)), None);
    assert!(told_stopped(&mut driver, 3, true, Epoch::ZERO).is_empty(), "what comes late is about another stream");
}

#[test]
fn a_stop_that_counts_from_another_reset_or_beyond_what_was_said_is_ignored() {
    let mut driver = talking();
    assert!(told_stopped(&mut driver, 2, true, epoch(1)).is_empty());
    assert!(told_stopped(&mut driver, 4, true, Epoch::ZERO).is_empty());
    assert_eq!(driver.scene.stand(entity(1)).map(|stand| stand.unacknowledged), Some(3));
}

#[test]
fn what_neighbours_say_directly_to_an_entity_that_panics_or_is_parked_comes_back_to_them() {
    let mut driver = Driver::active();
    driver.spawn(8);
    for _ in 0..2 {
        driver.sends(8, 1);
    }
    let out = driver.tell(Input::Flush);
    let payloads = out.into_iter().filter_map(|output| {
        let Output::Apply { payload, message: None, .. } = output else { return None };
        Some(payload)
    });
    let payloads = payloads.collect::<Vec<_>>();
    assert_eq!(payloads.len(), 2);
    let mut fates = Vec::new();
    let bounces = |out: Vec<Output>| {
        let why = |output| {
            let Output::Bounced { entity: to, why, .. } = output else { return None };
            Some((to.counter(), why))
        };
        out.into_iter().filter_map(why).collect::<Vec<_>>()
    };
    for (payload, panic) in payloads.into_iter().zip([Some(why()), None]) {
        let (entity, sender) = (entity(1), Sender::Entity(entity(8)));
        fates.extend(bounces(driver.tell(Input::NotApplied { entity, sender, message: None, payload, panic })));
    }
    driver.sends(8, 1);
    fates.extend(bounces(driver.tell(Input::Flush)));
    assert_eq!(fates, [(8, Returned::Failed), (8, Returned::Parked), (8, Returned::Parked)]);
    let stand = driver.scene.stand(entity(1)).expect("it lives here");
    assert_eq!((stand.applied, stand.senders), (1, 0), "what failed counts as applied");
}
