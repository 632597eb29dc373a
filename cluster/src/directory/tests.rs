//! What a complete home answers and changes; how one comes to be complete is below.

mod handed_over;
mod rebuilt;
mod town;
mod witnessed;

use slipgate_entity::SceneId;

use super::*;
use crate::view::View;
use crate::{Incarnation, NodeId};

const RANGE: RangeId = RangeId(3);

fn own(node: u16, incarnation: u32) -> Own {
    Own::new(Session::new(node, incarnation), SceneId::from(node))
}

fn entity() -> OnlineId {
    OnlineId::new(RANGE, 4)
}

fn directory() -> Directory {
    let mut directory = Directory::new(Session::new(9, 1));
    let mut out = Vec::new();
    directory.handle(Input::Opened { range: RANGE }, Now(0), &mut out);
    let label = Some("ann".to_owned());
    directory.handle(Input::Registered { entity: entity(), owner: own(1, 1), label }, Now(0), &mut out);
    assert!(out.is_empty());
    directory
}

#[test]
fn a_range_whose_grant_comes_after_it_was_passed_on_is_never_issued() {
    let me = Session::new(9, 1);
    let passed = |home: Home, version| {
        let homes = [(RANGE, home)].into();
        Input::View(Arc::new(View { version, homes, ..View::default() }))
    };
    let first = Home::first(RANGE, me);
    for (home, is_issued) in [(first, true), (first.passed_to(Session::new(8, 1)).expect("terms are left"), false)] {
        let mut directory = Directory::new(me);
        directory.handle(passed(home, 1), Now(0), &mut Vec::new());
        directory.handle(Input::Opened { range: RANGE }, Now(0), &mut Vec::new());
        assert_eq!(directory.issues(RANGE), is_issued, "{home:?}");
    }
}

fn ask(directory: &mut Directory, from: Own, control: Control) -> Vec<(Place, Record)> {
    let mut out = Vec::new();
    directory.handle(Input::Heard { from: from.into(), control }, Now(0), &mut out);
    let told = out.into_iter().map(|output| {
        let Output::Tell { to, control: Control::RecordIs { record, .. } } = output else {
            panic!("expected a record, got {output:?}");
        };
        (to, record)
    });
    told.collect()
}

fn cas(owner: Own, epoch: Epoch, new: Record) -> Control {
    Control::Cas { entity: entity(), owner, epoch, new, nonce: Nonce(9) }
}

#[test]
fn a_cas_that_names_owner_and_epoch_hits_and_the_old_owner_is_told() {
    let mut directory = directory();
    let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
    let told = ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
    assert_eq!(told, [(own(2, 1).into(), new), (own(1, 1).into(), new)]);
    assert_eq!(directory.ownership().list(own(2, 1)), [entity()]);
    assert_eq!(directory.ownership().count(own(1, 1)), 0);
}

#[test]
fn a_cas_with_another_session_or_epoch_misses_and_is_answered_with_the_record() {
    let mut directory = directory();
    let stands = Record::registered(own(1, 1));
    for (owner, epoch) in [(own(1, 2), Epoch::FIRST), (own(1, 1), Epoch::ZERO), (own(1, 1), Epoch::new(0, 2))] {
        let new = Record::handed_to(own(2, 1), epoch.next(), Epoch::ZERO);
        assert_eq!(ask(&mut directory, own(2, 1), cas(owner, epoch, new)), [(own(2, 1).into(), stands)]);
    }
}

#[test]
fn a_repeated_cas_does_not_hit_twice() {
    let mut directory = directory();
    let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
    ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
    assert_eq!(ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new)), [(own(2, 1).into(), new)]);
}

#[test]
fn nobody_but_the_home_says_that_an_entity_is_lost() {
    let mut directory = directory();
    let stands = Record::registered(own(1, 1));
    for new in [stands.buried(), Record { owner: Some(own(2, 1)), ..stands.buried() }] {
        assert_eq!(ask(&mut directory, own(1, 1), cas(own(1, 1), Epoch::FIRST, new)), [(own(1, 1).into(), stands)]);
    }
}

#[test]
fn the_last_epoch_before_a_terms_end_is_kept_for_the_verdict() {
    let mut directory = directory();
    let near = Record { epoch: Epoch::new(0, u32::MAX - 2), ..Record::registered(own(1, 1)) };
    directory.ranges.get_mut(&RANGE).expect("it is open").change(4, near);
    let told = ask(&mut directory, own(1, 1), cas(own(1, 1), near.epoch, near.changed_to(Some(own(1, 1)))));
    assert_eq!(told, [(own(1, 1).into(), near)]);
    let dead = View { version: 1, dead: [(NodeId(1), Incarnation(1))].into(), ..View::default() };
    let mut out = Vec::new();
    directory.handle(Input::View(dead.into()), Now(0), &mut out);
    let record = directory.record(entity()).expect("a record");
    assert_eq!((record.owner, record.lost, record.epoch.is_last()), (None, true, false));
}

#[test]
fn a_cas_is_accepted_only_from_the_old_or_the_new_owners_node() {
    let mut directory = directory();
    let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
    let told = ask(&mut directory, own(3, 1), cas(own(1, 1), Epoch::FIRST, new));
    assert_eq!(told, [(own(3, 1).into(), Record::registered(own(1, 1)))]);
}

#[test]
fn a_cas_that_does_not_raise_the_epoch_by_one_or_invents_a_copy_or_a_reset_misses() {
    let mut directory = directory();
    let stands = Record::registered(own(1, 1));
    let skips = Record::handed_to(own(2, 1), Epoch::new(0, 7), Epoch::ZERO);
    let invents = Record { data: Epoch::new(0, 9), ..Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO) };
    let resets = Record { base: Epoch::FIRST, ..Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO) };
    for new in [skips, invents, resets] {
        let told = ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(told, [(own(2, 1).into(), stands)]);
    }
}

#[test]
fn dead_is_final_and_costs_nothing_and_an_id_that_was_never_given_out_is_dead() {
    let mut directory = directory();
    let (stands, dead) = (Record::registered(own(1, 1)), Record::dead());
    let told = ask(&mut directory, own(1, 1), cas(own(1, 1), Epoch::FIRST, stands.changed_to(None)));
    assert_eq!(told, [(own(1, 1).into(), dead)]);
    for epoch in [Epoch::ZERO, Epoch::FIRST, Epoch::FIRST.next(), dead.epoch] {
        let revived = Record::handed_to(own(1, 1), epoch.next(), Epoch::ZERO);
        assert_eq!(ask(&mut directory, own(1, 1), cas(own(1, 1), epoch, revived)), [(own(1, 1).into(), dead)]);
    }
    assert_eq!((directory.ownership().len(), directory.tables().records), (0, 0));
    let never = OnlineId::new(RANGE, 1 << 31);
    assert_eq!(directory.record(never), Some(Record::never()));
}

#[test]
fn the_last_id_of_a_range_is_dead_when_it_is_and_not_given_out_again() {
    let mut directory = directory();
    let last = OnlineId::new(RANGE, u32::MAX);
    directory.handle(Input::Registered { entity: last, owner: own(1, 1), label: None }, Now(0), &mut Vec::new());
    let new = Record::registered(own(1, 1)).changed_to(None);
    let (owner, epoch, nonce) = (own(1, 1), Epoch::FIRST, Nonce(9));
    let told = ask(&mut directory, own(1, 1), Control::Cas { entity: last, owner, epoch, new, nonce });
    assert_eq!(told, [(own(1, 1).into(), Record::dead())]);
}

#[test]
fn what_is_said_of_the_dead_is_above_all_that_was_said_while_they_lived() {
    let mut directory = directory();
    let last = Record { epoch: Epoch::new(0, u32::MAX - 3), ..Record::registered(own(1, 1)) };
    directory.ranges.get_mut(&RANGE).expect("it is open").change(4, last);
    let told = ask(&mut directory, own(1, 1), cas(own(1, 1), last.epoch, last.changed_to(None)));
    let [(_, dead)] = told[..] else { panic!("expected one answer, got {told:?}") };
    assert_eq!(dead, Record::dead());
    assert!(dead.epoch > last.changed_to(None).epoch && !dead.epoch.is_last(), "{dead:?}");
}

#[test]
fn whoever_a_verdict_has_taken_is_lost_for_good_and_not_merely_dead() {
    let mut directory = directory();
    sentence(&mut directory, 1, 1);
    assert_eq!(directory.tables().records, 1);
    let record = directory.record(entity()).expect("a record");
    assert!(record.lost, "{record:?}");
}

#[test]
#[should_panic(expected = "to be fresh")]
fn an_id_of_the_dead_is_not_given_out_again() {
    let mut directory = directory();
    let dead = Record::registered(own(1, 1)).changed_to(None);
    ask(&mut directory, own(1, 1), cas(own(1, 1), Epoch::FIRST, dead));
    let again = Input::Registered { entity: entity(), owner: own(1, 1), label: None };
    directory.handle(again, Now(0), &mut Vec::new());
}

#[test]
fn an_id_of_another_range_is_answered_not_home() {
    let mut directory = directory();
    let mut out = Vec::new();
    let entity = OnlineId::new(RangeId(99), 1);
    let from = Place::from(own(2, 1));
    directory.handle(Input::Heard { from, control: Control::Query { entity, nonce: Nonce(1) } }, Now(0), &mut out);
    let control = Control::NotHome { entity, nonce: Nonce(1) };
    assert_eq!(out, [Output::Tell { to: from, control }]);
}

#[test]
fn a_reclaim_needs_the_same_node_and_a_later_life_and_keeps_the_copy() {
    let mut directory = directory();
    let reclaim = |me| Control::Reclaim { entity: entity(), me, nonce: Nonce(1) };
    let stands = Record::registered(own(1, 1));
    assert_eq!(ask(&mut directory, own(2, 9), reclaim(own(2, 9)))[0].1, stands);
    assert_eq!(ask(&mut directory, own(1, 1), reclaim(own(1, 1)))[0].1, stands);
    let reclaimed = Record::registered(own(1, 1)).changed_to(Some(own(1, 2)));
    assert_eq!(ask(&mut directory, own(1, 2), reclaim(own(1, 2)))[0].1, reclaimed);
}

fn sentence(directory: &mut Directory, node: u16, upto: u32) -> Vec<Output> {
    let mut out = Vec::new();
    let version = directory.view.version + 1;
    let dead = [(NodeId(node), Incarnation(upto))].into();
    directory.handle(Input::View(Arc::new(View { version, dead, ..View::default() })), Now(0), &mut out);
    out
}

#[test]
fn a_verdict_makes_what_the_session_owned_lost_by_name_and_raises_the_epoch() {
    let mut directory = directory();
    assert_eq!(sentence(&mut directory, 1, 0), []);
    let Own { session, scene } = own(1, 1);
    let lost = Lost { entity: entity(), label: Some("ann".to_owned()), session, scene: Some(scene) };
    assert_eq!(sentence(&mut directory, 1, 1), [Output::Lost(lost)]);
    assert_eq!(directory.record(entity()), Some(Record::registered(own(1, 1)).buried()));
    assert_eq!(directory.ownership().len(), 0);
    assert_eq!(sentence(&mut directory, 1, 1), []);
}

#[test]
fn a_cas_in_favour_of_a_dead_session_misses_before_and_after_the_burial() {
    let mut directory = directory();
    sentence(&mut directory, 2, 3);
    let new = Record::handed_to(own(2, 3), Epoch::FIRST.next(), Epoch::ZERO);
    let told = ask(&mut directory, own(2, 3), cas(own(1, 1), Epoch::FIRST, new));
    assert_eq!(told[0].1, Record::registered(own(1, 1)));
    let new = Record::handed_to(own(2, 4), Epoch::FIRST.next(), Epoch::ZERO);
    assert_eq!(ask(&mut directory, own(2, 4), cas(own(1, 1), Epoch::FIRST, new))[0].1, new);
}

#[test]
fn a_staged_copy_whose_cas_comes_before_the_burial_lives_on() {
    let mut directory = directory();
    let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
    ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
    assert_eq!(sentence(&mut directory, 1, 1), []);
    assert_eq!(directory.record(entity()), Some(new));
}
