//! Those who set out together: all have room before any freezes, then each goes by itself.

use slipgate_entity::{OnlineId, SceneId};

use super::super::{
    Answer, Companion, CompanionDone, Event, Input, MoveRequest, OnPanic, Output, Scene, Settings, Ticket,
};
use super::driver::{
    Driver, answers, buried, cas_nonce, controls, copies, ended, entity, epoch, given_back, identity, move_id, own,
    part, rejected, request, reserve, taken_over, to,
};
use crate::bounds::{COMPANIONS, VETO_BYTES};
use crate::message::{Control, Parked};
use crate::moves::{MoveError, MoveId, NoCompany, Outcome, Refusal, Step};
use crate::scene::Tables;
use crate::view::Home;
use crate::{Limits, Own, Record, View};

fn companion(counter: u32) -> Companion {
    let MoveRequest { entity, id, body_bytes, components, objection, .. } = request(counter, None);
    Companion { entity, id, body_bytes, components, objection }
}

/// Entity 1 with its companions, under ticket 1.
fn together(companions: Vec<Companion>) -> Input {
    Input::Migrate(Box::new(MoveRequest { companions, ..request(1, Some(Ticket(1))) }))
}

/// Entities 1 to 3 live here.
fn three_with(limits: Limits) -> Driver {
    let mut driver = Driver::new(limits);
    (1..=3).for_each(|counter| drop(driver.spawn(counter)));
    driver
}

/// Entities 1 to 3 are asking for room together.
fn asking() -> Driver {
    let mut driver = three_with(Limits::default());
    driver.tell(together(vec![companion(2), companion(3)]));
    driver
}

/// Entities 1 to 3 are frozen.
fn frozen() -> Driver {
    let mut driver = asking();
    promise(&mut driver, [1, 2, 3]);
    driver
}

fn reserved(counter: u32) -> Control {
    Control::Reserved { entity: entity(counter), id: move_id(counter), label: epoch(2) }
}

/// The target has room for these.
fn promise<const N: usize>(driver: &mut Driver, counters: [u32; N]) {
    for counter in counters {
        driver.hear(reserved(counter));
    }
}

fn refused(counter: u32, reason: Refusal) -> Control {
    Control::Refused { entity: entity(counter), id: move_id(counter), label: epoch(2), reason }
}

fn without(who: u32, why: Outcome) -> Outcome {
    Outcome::Refused(Refusal::Companion { who: entity(who), why: Box::new(why) })
}

fn phases(driver: &Driver) -> [Option<&'static str>; 3] {
    [1, 2, 3].map(|counter| driver.phase(counter))
}

/// Whose room is let go.
fn released(out: &[Output]) -> Vec<(OnlineId, MoveId)> {
    let release = |(at, control)| {
        let &Control::Release { entity, id } = control else { return None };
        assert_eq!(at, to(own(2)));
        Some((entity, id))
    };
    controls(out).into_iter().filter_map(release).collect()
}

/// The leader's outcome and its companions', once.
fn answer(out: &[Output]) -> (Outcome, Vec<Outcome>) {
    let [(Ticket(1), Answer::Moved(done))] = &answers(out)[..] else { panic!("expected one answer, got {out:?}") };
    let outcome = |done: &CompanionDone| done.outcome.clone();
    assert_eq!(done.entity, entity(1));
    (done.outcome.clone(), done.companions.iter().map(outcome).collect())
}

/// Nobody has stopped, nothing is left of the attempts, and all is told.
fn check_stayed(driver: &Driver, out: &[Output], outcomes: [Outcome; 3]) {
    assert_eq!(phases(driver), [Some("active"); 3]);
    assert_eq!(driver.scene.moves_under_way(), 0);
    assert_eq!(driver.scene.tables().parties, 0);
    assert_eq!(copies(out), []);
    let mut told = ended(out);
    let [leader, rest @ ..] = outcomes;
    assert_eq!(answer(out), (leader.clone(), rest.to_vec()));
    for outcome in [vec![leader], rest.to_vec()].concat() {
        let at = told.iter().position(|told| *told == outcome);
        told.remove(at.unwrap_or_else(|| panic!("{outcome:?} is not told of {told:?}")));
    }
    assert_eq!(told, []);
}

#[test]
fn everybody_is_asked_room_for_and_nobody_freezes_before_the_last_one_has_it() {
    let mut driver = three_with(Limits::default());
    let with_bag = Companion { components: vec![part("bag", 2)], ..companion(3) };
    let out = driver.tell(together(vec![companion(2), with_bag]));
    let asked = controls(&out).into_iter().map(|(at, control)| {
        let Control::Reserve(reserve) = control else { panic!("expected a request for room, got {control:?}") };
        assert_eq!(at, to(own(2)));
        (reserve.entity, reserve.id, reserve.parts.components().len())
    });
    let asked: Vec<_> = asked.collect();
    assert_eq!(asked, [(entity(1), move_id(1), 0), (entity(2), move_id(2), 0), (entity(3), move_id(3), 1)]);
    assert_eq!(out.iter().filter(|output| matches!(output, Output::Event(Event::MoveBegan { .. }))).count(), 3);
    assert_eq!(driver.scene.tables(), Tables { entities: 3, leaving: 3, parties: 1, alarms: 3, ..Tables::default() });
    for counter in [3, 1, 3] {
        assert_eq!(driver.hear(reserved(counter)), []);
        assert_eq!(phases(&driver), [Some("active"); 3]);
    }
    let out = driver.hear(reserved(2));
    assert_eq!(phases(&driver), [Some("frozen"); 3]);
    assert_eq!(copies(&out), [(to(own(2)), epoch(2)); 3]);
    let first = out.iter().position(|output| matches!(output, Output::Encode { .. }));
    assert_eq!(first, Some(0), "nothing is left to do before");
}

#[test]
fn after_the_freeze_each_is_decided_alone_and_the_answer_lists_each_once_the_last_has_ended() {
    let mut driver = frozen();
    driver.record(3, taken_over(), None);
    let out = driver.hear(Control::Arrived { entity: entity(3), id: move_id(3), epoch: epoch(2) });
    assert_eq!((ended(&out).len(), answers(&out)), (1, vec![]));
    let out = driver.hear(refused(1, Refusal::Draining));
    assert_eq!((phases(&driver)[..2].to_vec(), ended(&out)), (vec![Some("deciding"), Some("frozen")], vec![]));
    let out = driver.record(1, given_back(), None);
    assert_eq!((ended(&out), answers(&out)), (vec![Outcome::Refused(Refusal::Draining)], vec![]));
    driver.record(2, taken_over(), None);
    assert_eq!(driver.scene.tables().parties, 1);
    let out = driver.pass(1_000);
    let moved = Outcome::Moved { epoch: epoch(2) };
    assert_eq!(answer(&out), (Outcome::Refused(Refusal::Draining), vec![moved.clone(), moved]));
    assert_eq!((driver.scene.tables().parties, driver.scene.moves_under_way()), (0, 0));
}

#[test]
fn after_the_freeze_one_that_cannot_be_encoded_or_is_cancelled_keeps_nobody_else() {
    let mut driver = frozen();
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(2) });
    assert_eq!(phases(&driver), [Some("frozen"), Some("deciding"), Some("frozen")]);

    let mut driver = asking();
    promise(&mut driver, [1, 2]);
    driver.body = None;
    let out = driver.hear(reserved(3));
    assert_eq!((phases(&driver), ended(&out).len()), ([Some("active"); 3], 3));
    assert!(matches!(answer(&out), (Outcome::Refused(Refusal::Unreadable { .. }), _)));
}

#[test]
fn one_that_is_refused_keeps_all_and_they_let_their_room_go() {
    let full = Refusal::Full { capacity: 2 };
    let mut driver = asking();
    promise(&mut driver, [1, 3]);
    let out = driver.hear(refused(2, full.clone()));
    let left = without(2, Outcome::Refused(full.clone()));
    check_stayed(&driver, &out, [left.clone(), Outcome::Refused(full), left]);
    assert_eq!(released(&out), [1, 2, 3].map(|counter| (entity(counter), move_id(counter))));
    for counter in 1..=3 {
        assert_eq!(driver.hear(reserved(counter)), [], "it comes late");
    }
}

#[test]
fn whoever_has_no_room_by_the_deadline_keeps_the_others_and_is_named() {
    let mut driver = asking();
    promise(&mut driver, [1, 2]);
    driver.pass(1_999);
    let out = driver.pass(1);
    let late = Outcome::Timeout { step: Step::Reserve };
    check_stayed(&driver, &out, [without(3, late.clone()), without(3, late.clone()), late]);
}

#[test]
fn one_whose_move_is_cancelled_or_who_panics_or_is_gone_keeps_the_others() {
    let mut driver = asking();
    let out = driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(3) });
    assert_eq!(out.iter().filter(|output| matches!(output, Output::Answer { ticket: Ticket(9), .. })).count(), 1);
    let out: Vec<_> =
        out.into_iter().filter(|output| !matches!(output, Output::Answer { ticket: Ticket(9), .. })).collect();
    let others = without(3, Outcome::Cancelled);
    check_stayed(&driver, &out, [others.clone(), others.clone(), Outcome::Cancelled]);

    let mut driver = asking();
    let schema = [(identity().type_name, 1, 1)].into_iter().collect();
    let (limits, on_panic) = (Limits::default(), OnPanic::Despawn);
    driver.scene = Scene::new(Settings { me: own(1), capacity: 4, schema, limits, on_panic });
    (1..=3).for_each(|counter| drop(driver.spawn(counter)));
    driver.tell(together(vec![companion(2), companion(3)]));
    let panic = Parked { why: "ow".to_owned(), since_ms: 0 };
    let out = driver.tell(Input::Panicked { entity: entity(3), panic });
    assert_eq!(answer(&out), (others.clone(), vec![others, Outcome::Cancelled]));
    assert_eq!((phases(&driver), driver.scene.tables().parties), ([Some("active"), Some("active"), Some("parked")], 0));
    driver.tell(Input::Flush);
    assert_eq!(driver.phase(3), Some("deciding"), "it is despawned");

    let mut driver = asking();
    let out = driver.record(1, buried(), None);
    let others = without(1, Outcome::Lost);
    assert_eq!(answer(&out), (Outcome::Lost, vec![others.clone(), others]));
    assert_eq!((phases(&driver), driver.scene.tables().parties), ([None, Some("active"), Some("active")], 0));
}

#[test]
fn the_end_of_the_targets_node_or_of_the_scene_is_everybodys() {
    for (input, outcome) in [(Input::PeerLost(own(2).session), Outcome::NodeLost), (Input::Stop, Outcome::SceneStopped)]
    {
        let mut driver = asking();
        driver.hear(reserved(2));
        let out = driver.tell(input);
        check_stayed(&driver, &out, [outcome.clone(), outcome.clone(), outcome]);
    }
    let mut driver = asking();
    assert_eq!(driver.tell(Input::PeerLost(own(3).session)), []);
}

#[test]
fn a_scene_that_stops_tells_of_each_that_is_frozen() {
    let mut driver = frozen();
    let out = driver.tell(Input::Stop);
    let stopped = Outcome::SceneStopped;
    assert_eq!(answer(&out), (stopped.clone(), vec![stopped.clone(), stopped]));
    assert_eq!((ended(&out).len(), driver.scene.tables().parties), (3, 0));
}

#[test]
fn nothing_begins_if_somebody_is_not_here_or_on_the_move_or_named_twice_or_if_they_are_too_many() {
    let no = |who, why| MoveError::NoCompany { who: entity(who), why };
    let check = |driver: &mut Driver, companions: Vec<Companion>, error| {
        let under_way = driver.scene.moves_under_way();
        let out = driver.tell(together(companions));
        assert_eq!((rejected(&out), out.len()), (vec![error], 1));
        assert_eq!((driver.scene.moves_under_way(), driver.scene.tables().parties), (under_way, 0));
    };
    let mut driver = three_with(Limits::default());
    check(&mut driver, vec![companion(2), companion(7)], no(7, NoCompany::NotHere));
    check(&mut driver, vec![companion(2), companion(3), companion(2)], no(2, NoCompany::Twice));
    check(&mut driver, vec![companion(1)], no(1, NoCompany::Twice));
    let companions = COMPANIONS + 1;
    check(&mut driver, vec![companion(2); companions], MoveError::TooManyCompanions { companions });
    driver.migrate(3, Ok(own(2)));
    check(&mut driver, vec![companion(2), companion(3)], no(3, NoCompany::Migrating));
    let leader = MoveRequest { companions: vec![companion(2)], ..request(3, Some(Ticket(1))) };
    assert_eq!(rejected(&driver.tell(Input::Migrate(Box::new(leader)))), [MoveError::Migrating { entity: entity(3) }]);
}

#[test]
fn as_many_companions_as_are_allowed_set_out() {
    let mut driver = Driver::with_capacity(99);
    let count = u32::try_from(COMPANIONS).expect("few") + 1;
    (1..=count).for_each(|counter| drop(driver.spawn(counter)));
    driver.tell(together((2..=count).map(companion).collect()));
    (1..count).for_each(|counter| drop(driver.hear(reserved(counter))));
    assert_eq!(copies(&driver.hear(reserved(count))).len(), COMPANIONS + 1);
}

#[test]
fn one_that_objects_keeps_all_before_anybody_is_asked_and_others_say_their_own() {
    let mut driver = three_with(Limits::default());
    let long = "x".repeat(VETO_BYTES + 9);
    let veto = |reason: &str| Refusal::Vetoed { reason: reason.to_owned() };
    let objecting = |counter, objection| Companion { objection: Some(objection), ..companion(counter) };
    let out = driver.tell(together(vec![objecting(2, veto(&long)), objecting(3, Refusal::NotMovable)]));
    let cut = Outcome::Refused(veto(&long[..VETO_BYTES]));
    check_stayed(&driver, &out, [without(2, cut.clone()), cut, Outcome::Refused(Refusal::NotMovable)]);
    assert!(controls(&out).is_empty());

    let out = driver.tell(together(vec![Companion { body_bytes: 1 << 30, ..companion(2) }]));
    let [(_, Answer::Moved(done))] = &answers(&out)[..] else { panic!("expected an answer, got {out:?}") };
    assert_eq!(done.companions.len(), 1);
    assert!(matches!(&done.companions[0].outcome, Outcome::Refused(Refusal::TooLarge { .. })));
    assert!(matches!(&done.outcome, Outcome::Refused(Refusal::Companion { who, .. }) if *who == entity(2)));
}

#[test]
fn what_concerns_the_whole_way_is_said_of_each() {
    let nowhere = Refusal::NoScene { scene: SceneId(9) };
    let cases: [(Result<Own, SceneId>, Refusal); 3] =
        [(Err(SceneId(9)), nowhere), (Ok(own(1)), Refusal::AlreadyThere), (Ok(own(2)), Refusal::Busy { under_way: 0 })];
    for (to, refusal) in cases {
        let mut driver = three_with(Limits { moves_per_scene: 2, ..Limits::default() });
        let companions = vec![companion(2), companion(3)];
        let request = MoveRequest { to, companions, ..request(1, Some(Ticket(1))) };
        let out = driver.tell(Input::Migrate(Box::new(request)));
        let outcome = Outcome::Refused(refusal);
        check_stayed(&driver, &out, [outcome.clone(), outcome.clone(), outcome]);
    }
}

#[test]
fn a_new_record_of_one_has_its_room_asked_for_anew() {
    let mut driver = asking();
    promise(&mut driver, [1, 2]);
    let rebuilt = Record::registered(own(1)).in_term(1);
    let out = driver.record(2, rebuilt, None);
    assert!(matches!(controls(&out)[..], [(_, Control::Reserve(_))]), "{out:?}");
    driver.hear(reserved(3));
    assert_eq!(phases(&driver), [Some("active"); 3]);
    assert_eq!(driver.hear(reserved(2)), [], "that was for the label before");
    driver.hear(Control::Reserved { entity: entity(2), id: move_id(2), label: rebuilt.epoch.next() });
    assert_eq!(phases(&driver), [Some("frozen"); 3]);
}

#[test]
fn nobody_freezes_while_the_home_of_one_has_yet_to_tell_its_record() {
    let mut driver = asking();
    promise(&mut driver, [1, 2]);
    let home = Home { term: 1, ..Home::first(entity(1).range(), own(3).session) };
    let view = View { version: 1, homes: [(home.range, home)].into(), ..View::default() };
    driver.tell(Input::View(view.into()));
    assert_eq!(driver.hear(reserved(3)), []);
    assert_eq!(phases(&driver), [Some("active"); 3]);
    let out = driver.pass(2_000);
    let told = ended(&out);
    assert!(told.contains(&Outcome::HomeUnreachable), "{told:?}");
    assert!(told.contains(&without(1, Outcome::HomeUnreachable)), "{told:?}");
    assert_eq!(driver.scene.tables().parties, 0);
}

#[test]
fn whoever_is_parked_comes_along_as_it_is() {
    let mut driver = three_with(Limits::default());
    driver.tell(Input::Panicked { entity: entity(2), panic: Parked { why: "ow".to_owned(), since_ms: 0 } });
    driver.tell(together(vec![companion(2)]));
    driver.hear(reserved(1));
    assert_eq!(copies(&driver.hear(reserved(2))).len(), 2);
}

#[test]
fn a_party_may_leave_a_scene_that_drains_or_closes_and_is_the_last_that_it_waits_for() {
    let mut driver = three_with(Limits::default());
    driver.tell(Input::Drain);
    driver.tell(Input::Close);
    driver.tell(together(vec![companion(2), companion(3)]));
    promise(&mut driver, [1, 2, 3]);
    for counter in 1..=3 {
        assert!(!driver.scene.is_cleared());
        driver.record(counter, taken_over(), None);
        driver.hear(Control::Arrived { entity: entity(counter), id: move_id(counter), epoch: epoch(2) });
    }
    assert!(driver.scene.is_cleared());
}

#[test]
fn what_companions_say_to_each_other_goes_on_in_streams() {
    let mut driver = asking();
    driver.sends(1, 2);
    promise(&mut driver, [1, 2]);
    driver.hear(reserved(3));
    assert_eq!(driver.scene.tables().unacknowledged, 1);
    assert!(!driver.scene.has_said());
}

#[test]
fn room_that_is_let_go_is_free_at_once_for_that_very_move_alone() {
    let mut driver = Driver::with_capacity(1);
    let asks = |driver: &mut Driver, counter| {
        let out = driver.hear(Control::Reserve(reserve(counter, epoch(2))));
        matches!(controls(&out)[..], [(_, Control::Reserved { .. })])
    };
    let release = |counter, id| Control::Release { entity: entity(counter), id: move_id(id) };
    assert!(asks(&mut driver, 1) && !asks(&mut driver, 2));
    driver.hear(release(1, 7));
    driver.hear(release(2, 1));
    assert!(!asks(&mut driver, 2), "another move's");
    driver.hear(release(1, 1));
    assert_eq!(driver.scene.tables(), Tables::default());
    assert!(asks(&mut driver, 2));
    let nonce = {
        let mut driver = Driver::with_capacity(1);
        let nonce = cas_nonce(&driver.prepare(epoch(2)));
        driver.hear(release(1, 1));
        assert_eq!(driver.scene.arriving(), 1, "a copy is no reservation");
        nonce
    };
    assert!(nonce.0 > 0);
}

#[test]
fn asking_and_letting_go_again_and_again_leaves_no_alarms() {
    let mut driver = Driver::with_capacity(9);
    for _ in 0..50 {
        driver.hear(Control::Reserve(reserve(1, epoch(2))));
        driver.pass(10);
        driver.hear(Control::Reserve(reserve(1, epoch(2))));
        driver.hear(Control::Release { entity: entity(1), id: move_id(1) });
        driver.pass(10);
    }
    assert_eq!(driver.scene.tables(), Tables::default());
}
