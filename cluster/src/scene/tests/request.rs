//! Requests: what is refused at once, what is not taken up, and the deadline of asking for room.

use slipgate_entity::SceneId;

use super::super::{Answer, Event, Input, MoveRequest, Output, SpawnRefusal, Ticket};
use super::driver::{
    Driver, answers, controls, ended, entity, epoch, identity, move_id, own, part, rejected, request, reserved,
};
use crate::Limits;
use crate::bounds::PARTS;
use crate::message::Control;
use crate::moves::{MoveError, Outcome, Refusal, Step};

#[test]
fn a_spawn_lives_once_its_id_is_registered_and_no_id_means_no_spawn() {
    let mut driver = Driver::new(Limits::default());
    let out = driver.tell(Input::Spawn { ticket: Ticket(1), identity: identity() });
    assert_eq!(out, [Output::Register { ticket: Ticket(1), label: Some("ann".to_owned()) }]);
    let out = driver.tell(Input::Registered { ticket: Ticket(1), entity: entity(1) });
    assert_eq!(answers(&out), [(Ticket(1), Answer::Spawned(entity(1)))]);
    driver.tell(Input::Spawn { ticket: Ticket(2), identity: identity() });
    let out = driver.tell(Input::NotRegistered { ticket: Ticket(2) });
    assert_eq!(answers(&out), [(Ticket(2), Answer::NotSpawned(SpawnRefusal::NoRange))]);
    assert_eq!(driver.scene.len(), 1);
}

#[test]
fn a_move_to_a_number_that_no_scene_has_is_refused_before_anything_is_sent() {
    let mut driver = Driver::active();
    let out = driver.migrate(1, Err(SceneId(9)));
    assert_eq!(ended(&out), [Outcome::Refused(Refusal::NoScene { scene: SceneId(9) })]);
    assert!(controls(&out).is_empty());
    assert!(matches!(&answers(&out)[..], [(Ticket(1), Answer::Moved(done))] if done.to == Err(SceneId(9))));
}

#[test]
fn a_move_to_where_the_entity_is_already_is_refused() {
    let out = Driver::active().migrate(1, Ok(own(1)));
    assert_eq!(ended(&out), [Outcome::Refused(Refusal::AlreadyThere)]);
}

#[test]
fn a_state_above_the_sources_limit_is_refused_before_the_freeze() {
    let mut driver = Driver::active_with(Limits { state_bytes: 2, ..Limits::default() });
    let out = driver.migrate(1, Ok(own(2)));
    assert_eq!(ended(&out), [Outcome::Refused(Refusal::TooLarge { bytes: 3, bytes_max: 2 })]);
    assert!(controls(&out).is_empty());
}

#[test]
fn an_entity_that_does_not_move_or_will_not_is_refused_by_its_own_word_before_anything_is_sent() {
    let veto = |reason: &str| Refusal::Vetoed { reason: reason.to_owned() };
    let long = "é".repeat(101);
    let said = [(Refusal::NotMovable, Refusal::NotMovable), (veto("in combat"), veto("in combat"))];
    for (objection, told) in said.into_iter().chain([(veto(&long), veto(&long[..200])), (veto(""), veto(""))]) {
        let mut driver = Driver::active();
        let out = driver
            .tell(Input::Migrate(Box::new(MoveRequest { objection: Some(objection), ..request(1, Some(Ticket(1))) })));
        assert!(matches!(&out[0], Output::Event(Event::MoveBegan { .. })));
        assert_eq!((ended(&out), answers(&out).len()), (vec![Outcome::Refused(told)], 1));
        assert!(controls(&out).is_empty());
        assert_eq!((driver.phase(1), driver.scene.moves_under_way()), (Some("active"), 0));
    }
}

#[test]
fn the_target_is_asked_for_room_for_all_parts_and_too_many_are_refused_before() {
    let moves_with = |count: usize| {
        let components = vec![part("bag", 2); count];
        Driver::active().tell(Input::Migrate(Box::new(MoveRequest { components, ..request(1, None) })))
    };
    let out = moves_with(PARTS - 1);
    let [(_, Control::Reserve(asked))] = controls(&out)[..] else { panic!("expected a request for room: {out:?}") };
    assert_eq!(asked.parts.own(), &part("walker", 1));
    assert_eq!(asked.parts.components(), vec![part("bag", 2); PARTS - 1]);
    let out = moves_with(PARTS);
    assert!(matches!(&ended(&out)[..], [Outcome::Refused(Refusal::Unreadable { .. })]), "{out:?}");
    assert!(controls(&out).is_empty());
}

#[test]
fn whoever_objects_to_a_move_that_leads_nowhere_is_not_asked() {
    let mut driver = Driver::active();
    let nowhere = MoveRequest { objection: Some(Refusal::NotMovable), to: Err(SceneId(9)), ..request(1, None) };
    assert_eq!(
        ended(&driver.tell(Input::Migrate(Box::new(nowhere)))),
        [Outcome::Refused(Refusal::NoScene { scene: SceneId(9) })]
    );
}

#[test]
fn more_moves_at_once_than_the_scene_allows_are_refused() {
    let mut driver = Driver::active_with(Limits { moves_per_scene: 1, ..Limits::default() });
    driver.spawn(2);
    driver.migrate(1, Ok(own(2)));
    assert_eq!(ended(&driver.migrate(2, Ok(own(2)))), [Outcome::Refused(Refusal::Busy { under_way: 1 })]);
}

#[test]
fn a_move_that_nobody_waits_for_is_told_all_the_same() {
    let mut driver = Driver::active();
    let out = driver.tell(Input::Migrate(Box::new(MoveRequest { to: Ok(own(1)), ..request(1, None) })));
    assert_eq!((ended(&out).len(), answers(&out).len()), (1, 0));
}

#[test]
fn a_refusal_of_the_target_answers_with_its_reason_and_the_entity_never_stopped() {
    let mut driver = Driver::reserving();
    let reason = Refusal::Full { capacity: 1 };
    let refused = Control::Refused { entity: entity(1), id: move_id(1), label: epoch(2), reason: reason.clone() };
    let out = driver.hear(refused.clone());
    assert_eq!(ended(&out), [Outcome::Refused(reason)]);
    assert_eq!((driver.phase(1), driver.scene.moves_under_way()), (Some("active"), 0));
    assert!(driver.hear(refused).is_empty());
}

#[test]
fn asking_for_room_is_repeated_until_its_deadline_and_a_late_answer_is_ignored() {
    let mut driver = Driver::reserving();
    for wait in [100, 200, 400, 800] {
        assert!(matches!(controls(&driver.pass(wait))[..], [(_, Control::Reserve(_))]));
    }
    assert_eq!(ended(&driver.pass(500)), [Outcome::Timeout { step: Step::Reserve }]);
    assert!(driver.hear(reserved()).is_empty());
    assert_eq!(driver.phase(1), Some("active"));
    driver.pass(60_000);
    assert!(driver.scene.alarms.is_empty());
}

#[test]
fn a_target_lost_while_asking_for_room_and_a_cancel_end_the_move_at_once() {
    let mut driver = Driver::reserving();
    assert_eq!(ended(&driver.tell(Input::PeerLost(own(2).session))), [Outcome::NodeLost]);
    let mut driver = Driver::reserving();
    let out = driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    assert_eq!(ended(&out), [Outcome::Cancelled]);
    assert_eq!(answers(&out)[0], (Ticket(9), Answer::Cancelled));
}

#[test]
fn a_request_for_an_entity_that_is_not_here_is_answered_not_owner() {
    let mut driver = Driver::active();
    let entity = entity(7);
    assert_eq!(rejected(&driver.migrate(7, Ok(own(2)))), [MoveError::NotOwner { entity }]);
    assert_eq!(
        rejected(&driver.tell(Input::Despawn { ticket: Some(Ticket(1)), entity })),
        [MoveError::NotOwner { entity }]
    );
}

#[test]
fn a_second_move_and_a_despawn_in_flight_are_answered_migrating() {
    let states = [Driver::reserving as fn() -> Driver, Driver::frozen, Driver::deciding];
    for driver in states {
        let mut driver = driver();
        let entity = entity(1);
        let migrating = [MoveError::Migrating { entity }];
        assert_eq!(rejected(&driver.migrate(1, Ok(own(2)))), migrating);
        assert_eq!(rejected(&driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity })), migrating);
        assert_eq!(driver.scene.moves_under_way(), 1);
    }
}

#[test]
fn a_move_during_a_despawn_is_answered_migrating() {
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert_eq!(rejected(&driver.migrate(1, Ok(own(2)))), [MoveError::Migrating { entity: entity(1) }]);
}

#[test]
fn a_cancel_of_an_unknown_move_is_answered_no_migration() {
    let mut driver = Driver::active();
    let id = move_id(3);
    assert_eq!(rejected(&driver.tell(Input::Cancel { ticket: Ticket(9), id })), [MoveError::NoMigration { id }]);
}
