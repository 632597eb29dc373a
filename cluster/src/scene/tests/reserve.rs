//! Room at the target: who gets it, who does not, and for how long.

use std::slice;

use super::super::{Answer, Input, OnPanic, Scene, Settings, SpawnRefusal, Ticket};
use super::driver::{
    Driver, answers, cas_nonce, controls, entity, epoch, identity, move_id, own, part, reserve, taken_over, to,
};
use crate::message::{Control, Reserve};
use crate::moves::{Outcome, Refusal};
use crate::schema::{Part, Parts, Versions};
use crate::{Epoch, Limits, Record};

fn ask(driver: &mut Driver, reserve: Reserve) -> Option<Result<(), Refusal>> {
    let out = driver.hear(Control::Reserve(reserve));
    let mut answer = controls(&out).into_iter().map(|(at, control)| {
        assert_eq!(at, to(own(2)));
        if let Control::Refused { reason, .. } = control { Err(reason.clone()) } else { Ok(()) }
    });
    answer.next_back()
}

fn refusal(driver: &mut Driver, reserve: Reserve) -> Refusal {
    ask(driver, reserve).expect("an answer").expect_err("a refusal")
}

#[test]
fn there_is_room_for_a_type_of_the_same_version_and_the_answer_names_move_and_label() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.hear(Control::Reserve(reserve(1, epoch(2))));
    let reserved = Control::Reserved { entity: entity(1), id: move_id(1), label: epoch(2) };
    assert_eq!(controls(&out), [(to(own(2)), &reserved)]);
}

#[test]
fn a_part_that_the_scene_cannot_read_is_refused_by_name_with_what_it_reads() {
    let parts = |own, components: &[Part]| Parts::new(own, components.to_vec()).expect("few parts");
    let refused = |parts| refusal(&mut Driver::new(Limits::default()), Reserve { parts, ..reserve(1, epoch(2)) });
    let (dragon, bag) = (part("dragon", 1), part("bag", 1));
    assert_eq!(refused(parts(dragon.clone(), &[])), Refusal::NoType { type_name: dragon.name });
    assert_eq!(refused(parts(part("walker", 1), slice::from_ref(&bag))), Refusal::NoComponent { component: bag.name });
    let walker = part("walker", 3);
    let theirs = Versions { oldest: 1, newest: 1 };
    let differs = Refusal::SchemaDiffers { part: walker.name.clone(), ours: 3, theirs };
    assert_eq!(refused(parts(walker, &[])), differs);
}

#[test]
fn an_entity_of_an_older_version_is_of_the_scenes_own_version_once_it_lives_there() {
    let mut driver = Driver::new(Limits::default());
    let schema = [(identity().type_name, 1, 3)].into_iter().collect();
    let (limits, on_panic) = (Limits::default(), OnPanic::Park);
    driver.scene = Scene::new(Settings { me: own(1), capacity: 4, schema, limits, on_panic });
    assert_eq!(ask(&mut driver, reserve(1, epoch(2))), Some(Ok(())));
    let nonce = cas_nonce(&driver.prepare(epoch(2)));
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!(driver.scene.stand(entity(1)).map(|stand| stand.identity.type_version), Some(3));
    let out = driver.migrate(1, Ok(own(2)));
    let [(_, Control::Reserve(asked))] = controls(&out)[..] else { panic!("expected a request for room: {out:?}") };
    assert_eq!(asked.parts.own(), &part("walker", 3));
}

#[test]
fn a_state_above_the_targets_limit_is_refused() {
    let mut driver = Driver::new(Limits { state_bytes: 10, ..Limits::default() });
    let asked = Reserve { bytes: 11, ..reserve(1, epoch(2)) };
    assert_eq!(refusal(&mut driver, asked), Refusal::TooLarge { bytes: 11, bytes_max: 10 });
}

#[test]
fn a_draining_scene_refuses_reservations_spawns_and_copies_without_a_reservation() {
    let mut driver = Driver::new(Limits::default());
    driver.tell(Input::Drain);
    assert_eq!(refusal(&mut driver, reserve(1, epoch(2))), Refusal::Draining);
    let out = driver.tell(Input::Spawn { ticket: Ticket(1), identity: identity() });
    assert_eq!(answers(&out), [(Ticket(1), Answer::NotSpawned(SpawnRefusal::Draining))]);
    assert!(matches!(
        controls(&driver.prepare(epoch(2)))[..],
        [(_, Control::Refused { reason: Refusal::Draining, .. })]
    ));
}

#[test]
fn a_draining_scene_sends_back_even_a_copy_that_it_has_reserved_room_for() {
    let mut driver = Driver::new(Limits::default());
    ask(&mut driver, reserve(1, epoch(2)));
    driver.tell(Input::Drain);
    assert!(matches!(
        controls(&driver.prepare(epoch(2)))[..],
        [(_, Control::Refused { reason: Refusal::Draining, .. })]
    ));
    assert_eq!(driver.scene.unsettled(), 0);
}

#[test]
fn a_draining_scene_lets_leave_whoever_lives_there() {
    let mut driver = Driver::active();
    driver.tell(Input::Drain);
    driver.migrate(1, Ok(own(2)));
    assert_eq!(driver.phase(1), Some("active"));
    driver.hear(Control::Reserved { entity: entity(1), id: move_id(1), label: epoch(2) });
    assert_eq!(driver.phase(1), Some("frozen"));
}

#[test]
fn a_scene_whose_drain_was_called_off_takes_newcomers_again() {
    for stage in [Input::Drain, Input::Shut] {
        let mut driver = Driver::active();
        driver.tell(stage);
        assert!(driver.scene.is_draining());
        driver.tell(Input::Reopen);
        assert!(!driver.scene.is_draining());
        assert_eq!(ask(&mut driver, reserve(2, epoch(2))), Some(Ok(())));
        driver.spawn(3);
        assert_eq!(driver.scene.len(), 2);
        assert_eq!(answers(&driver.migrate(1, Ok(own(2)))), []);
    }
}

#[test]
fn a_shut_scene_waits_for_a_copy_that_it_has_staged_and_begins_no_move_of_its_own() {
    let mut driver = Driver::new(Limits::default());
    let nonce = cas_nonce(&driver.prepare(epoch(2)));
    driver.spawn(7);
    driver.tell(Input::Shut);
    assert_eq!(driver.scene.unsettled(), 1);
    let out = driver.migrate(7, Ok(own(2)));
    let [(_, Answer::Moved(done))] = &answers(&out)[..] else { panic!("expected an answer, got {out:?}") };
    assert_eq!(done.outcome, Outcome::Refused(Refusal::Draining));
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!((driver.scene.unsettled(), driver.scene.len()), (0, 2));
}

#[test]
fn stages_reservations_and_spawns_count_against_the_capacity() {
    let mut driver = Driver::new(Limits::default());
    driver.prepare(epoch(2));
    driver.spawn(2);
    driver.tell(Input::Spawn { ticket: Ticket(1), identity: identity() });
    assert_eq!(ask(&mut driver, reserve(4, epoch(2))), Some(Ok(())));
    let full = Refusal::Full { capacity: 4 };
    assert_eq!(refusal(&mut driver, reserve(5, epoch(2))), full);
    let out = driver.tell(Input::Spawn { ticket: Ticket(2), identity: identity() });
    assert_eq!(answers(&out), [(Ticket(2), Answer::NotSpawned(SpawnRefusal::Full { capacity: 4 }))]);
    driver.tell(Input::NotRegistered { ticket: Ticket(1) });
    assert_eq!(ask(&mut driver, reserve(5, epoch(2))), Some(Ok(())));
}

#[test]
fn a_repeated_request_keeps_one_place() {
    let mut driver = Driver::new(Limits::default());
    for _ in 0..9 {
        assert_eq!(ask(&mut driver, reserve(1, epoch(2))), Some(Ok(())));
    }
    assert_eq!(driver.scene.arriving(), 1);
}

#[test]
fn a_copy_without_a_reservation_is_taken_only_while_there_is_room() {
    let mut driver = Driver::new(Limits::default());
    for counter in 2..=5 {
        ask(&mut driver, reserve(counter, epoch(2)));
    }
    let out = driver.prepare(epoch(2));
    assert!(matches!(controls(&out)[..], [(_, Control::Refused { reason: Refusal::Full { capacity: 4 }, .. })]));
    assert_eq!(driver.scene.arriving(), 4);
}

#[test]
fn a_reservation_ends_by_itself_and_a_repeat_prolongs_it() {
    let mut driver = Driver::new(Limits::default());
    ask(&mut driver, reserve(1, epoch(2)));
    driver.pass(6_000);
    ask(&mut driver, reserve(1, epoch(2)));
    driver.pass(9_999);
    assert_eq!(driver.scene.arriving(), 1);
    driver.pass(1);
    assert_eq!(driver.scene.arriving(), 0);
    assert!(driver.scene.alarms.is_empty());
}

#[test]
fn a_takeover_uses_the_reservation_up_and_a_late_request_of_the_same_move_is_ignored() {
    let mut driver = Driver::new(Limits::default());
    ask(&mut driver, reserve(1, epoch(2)));
    let nonce = cas_nonce(&driver.prepare(epoch(2)));
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert_eq!(ask(&mut driver, reserve(1, epoch(2))), None);
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn a_request_with_a_label_at_or_below_the_highest_epoch_known_is_ignored() {
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    assert_eq!(ask(&mut driver, reserve(1, epoch(2))), None);
    assert_eq!(ask(&mut driver, reserve(1, epoch(3))), Some(Ok(())));
}

#[test]
fn room_for_an_entity_that_has_not_left_yet_is_counted_once() {
    let mut driver = Driver::active();
    assert_eq!(ask(&mut driver, reserve(1, epoch(3))), Some(Ok(())));
    for counter in 2..=4 {
        assert_eq!(ask(&mut driver, reserve(counter, epoch(2))), Some(Ok(())));
    }
    assert_eq!(refusal(&mut driver, reserve(5, epoch(2))), Refusal::Full { capacity: 4 });
}
