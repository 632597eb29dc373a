//! A scene that is closed while its node goes on, and the next one of its number.

use std::collections::BTreeSet;

use slipgate_entity::{RangeId, SceneId};

use super::super::{Answer, Destination, Input, OnPanic, Output, Scene, Settings, SpawnRefusal, Ticket};
use super::driver::{
    Driver, answers, cas_nonce, controls, ended, entity, epoch, identity, messages, move_id, own, reserve, reserved,
    taken_over, to,
};
use crate::message::{Control, Message};
use crate::moves::{Outcome, Refusal};
use crate::scene::answer_for_a_missing_scene;
use crate::{Envelope, Epoch, Limits, Own, Place, Port, Record};

fn closing(mut driver: Driver) -> Driver {
    driver.tell(Input::Close);
    driver
}

fn refusals(out: &[Output]) -> Vec<Refusal> {
    let reason = |(_, control): (_, &Control)| {
        let Control::Refused { reason, .. } = control else { return None };
        Some(reason.clone())
    };
    controls(out).into_iter().filter_map(reason).collect()
}

#[test]
fn a_closing_scene_takes_nobody_in_even_if_its_node_no_longer_wants_to_stop() {
    let mut driver = closing(Driver::new(Limits::default()));
    for also in [Input::Drain, Input::Reopen, Input::Shut, Input::Reopen] {
        driver.tell(also);
        assert_eq!(refusals(&driver.hear(Control::Reserve(reserve(1, epoch(2))))), [Refusal::Closing]);
        assert_eq!(refusals(&driver.prepare(epoch(2))), [Refusal::Closing]);
        let out = driver.tell(Input::Spawn { ticket: Ticket(1), identity: identity() });
        assert_eq!(answers(&out), [(Ticket(1), Answer::NotSpawned(SpawnRefusal::Closing))]);
    }
    assert!(driver.scene.is_cleared() && driver.scene.is_closing());
}

#[test]
fn whoever_is_in_a_closing_scene_goes_on_and_may_leave_it() {
    let mut driver = closing(Driver::active());
    assert!(!driver.scene.is_cleared());
    driver.data(1);
    assert_eq!(driver.scene.stand(entity(1)).expect("it lives here").applied, 1);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    assert_eq!(driver.phase(1), Some("frozen"));
    driver.record(1, taken_over(), None);
    assert!(driver.scene.is_empty() && !driver.scene.is_cleared(), "the end of the move is not told yet");
    let out = driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    assert_eq!(ended(&out), [Outcome::Moved { epoch: epoch(2) }]);
    assert!(driver.scene.is_cleared());
}

#[test]
fn a_copy_that_is_staged_and_a_spawn_that_is_under_way_are_waited_for() {
    let (driver, nonce) = Driver::staged(epoch(2));
    let mut driver = closing(driver);
    assert!(!driver.scene.is_cleared());
    driver.record(1, Record::handed_to(own(3), epoch(2), Epoch::ZERO), Some(nonce));
    assert!(driver.scene.is_cleared(), "it went elsewhere");

    let mut driver = Driver::new(Limits::default());
    driver.tell(Input::Spawn { ticket: Ticket(1), identity: identity() });
    let mut driver = closing(driver);
    assert!(!driver.scene.is_cleared());
    driver.tell(Input::NotRegistered { ticket: Ticket(1) });
    assert!(driver.scene.is_cleared());
}

#[test]
fn a_cleared_scene_still_tells_where_everybody_went_until_its_tombstones_are_old() {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    let mut driver = closing(driver);
    let out = driver.data(1);
    assert!(matches!(controls(&out)[..], [(_, Control::Redirect { owner, .. })] if *owner == own(2)), "{out:?}");
    driver.pass(29_999);
    assert!(driver.scene.is_cleared() && !driver.scene.is_forgotten());
    driver.pass(1);
    assert!(driver.scene.is_forgotten());
}

#[test]
fn a_scene_that_is_not_being_closed_is_never_over() {
    let mut driver = Driver::new(Limits::default());
    assert!(!driver.scene.is_cleared() && !driver.scene.is_forgotten());
    driver.tell(Input::Shut);
    assert!(!driver.scene.is_cleared() && !driver.scene.is_forgotten());
}

/// Scene 40000 of the session of `own(1)`, opened for the how-many-eth time.
fn dungeon(generation: u16) -> Own {
    Own { scene: SceneId::of(40_000, generation), ..own(1) }
}

/// A scene that was opened under the number of an earlier one.
fn again(generation: u16) -> Driver {
    let mut driver = Driver::new(Limits::default());
    let schema = [(identity().type_name, 1, 1)].into_iter().collect();
    let settings =
        Settings { me: dungeon(generation), capacity: 4, schema, limits: Limits::default(), on_panic: OnPanic::Park };
    driver.scene = Scene::new(settings);
    driver
}

#[test]
fn what_is_meant_for_an_earlier_scene_of_the_number_is_answered_as_for_a_scene_that_is_not_there() {
    let (before, after) = (Place::from(dungeon(1)), Place::from(dungeon(2)));
    assert_ne!(before, after);
    assert_ne!(Port::Scene(dungeon(1).scene), Port::Scene(dungeon(2).scene), "the post has no door for it");
    let mut late = Driver::new(Limits::default());
    late.spawn(1);
    let reserving = late.migrate(1, Ok(dungeon(1)));
    let frozen = late.hear(reserved());
    let said = reserving.into_iter().chain(frozen).filter_map(|output| {
        let Output::Send { to, message } = output else { return None };
        (to == Destination::Place(before)).then_some(message)
    });
    let said: Vec<Message> = said.collect();
    assert_eq!(said.len(), 2, "a reservation and a copy: {said:?}");
    for message in said {
        let answer = answer_for_a_missing_scene(Envelope { from: own(1).into(), to: before, message });
        let Some(Envelope { to, message: Message::Control(Control::Refused { reason, .. }), .. }) = answer else {
            panic!("expected a refusal, found {answer:?}");
        };
        assert_eq!((to, reason), (own(1).into(), Refusal::NoScene { scene: dungeon(1).scene }));
    }
}

#[test]
fn a_home_that_is_rebuilt_does_not_wait_for_a_scene_that_is_gone() {
    let home = Place { session: own(2).session, port: Port::Directory };
    let (range, term, after) = (RangeId(1), 3, Some(entity(7)));
    let message = Message::Control(Control::AskClaims { range, term, after });
    let answer = answer_for_a_missing_scene(Envelope { from: home, to: dungeon(1).into(), message });
    let claims = Control::Claims { range, term, after, claims: Vec::new(), more: false };
    let message = Message::Control(claims);
    assert_eq!(answer, Some(Envelope { from: dungeon(1).into(), to: home, message }));
}

#[test]
fn a_record_that_names_the_earlier_scene_activates_nothing_in_the_later_one() {
    let mut driver = again(2);
    let nonce = cas_nonce(&driver.prepare(epoch(2)));
    driver.record(1, Record::handed_to(dungeon(1), epoch(2), Epoch::ZERO), Some(nonce));
    assert!(driver.scene.is_empty());
    assert_eq!(driver.scene.arriving(), 0);
}

#[test]
fn streams_of_a_later_scene_have_other_ids_than_those_of_an_earlier_one() {
    let mut ids = Vec::new();
    for generation in [0, 1, 2, u16::MAX] {
        let mut driver = again(generation);
        driver.spawn(1);
        driver.sends(1, 8);
        let out = driver.record(8, Record::registered(own(2)), None);
        assert_eq!(messages(&out), [(to(own(2)), entity(8), 1)]);
        let stream = out.iter().find_map(|output| {
            let Output::Send { message: Message::Data(data), .. } = output else { return None };
            Some(data.stream)
        });
        ids.push(stream.expect("a message left"));
    }
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), 4);
}
