//! Homes that are handed over by whoever kept them, at a planned stop.

use slipgate_entity::{OnlineId, RangeId};

use super::super::{HomeEvent, Input, Output, Standing};
use super::town::{RANGE, Town, active, asked, claim, entity, events, home_at, lost, own, passed, session, told};
use crate::claim::Stake;
use crate::legacy::{Heirloom, Legacy};
use crate::manager::ManagerRequest;
use crate::message::{Control, Nonce};
use crate::{Epoch, Incarnation, NodeId, Record};

/// Node 1, the home of so many entities; every third lives in scene 3, every other one in scene 1.
fn home_of(entities: u32) -> Town {
    let mut town = Town::new(1);
    town.see();
    for counter in 0..entities {
        let owner = own(if counter % 3 == 0 { 3 } else { 1 });
        let label = Some(format!("e{counter}"));
        town.give(Input::Registered { entity: entity(counter), owner, label });
    }
    town
}

/// Both homes in turn, until neither has anything to say; returns all that was said to others.
fn hand_over(old: &mut Town, new: &mut Town, first: Vec<Output>) -> Vec<Output> {
    let mut said = Vec::new();
    let mut waiting = first;
    while let Some(output) = waiting.pop() {
        match output {
            Output::Tell { to, control } if to == home_at(2) => waiting.extend(new.hear(home_at(1), control)),
            Output::Tell { to, control } if to == home_at(1) => waiting.extend(old.hear(home_at(2), control)),
            other @ (Output::Tell { .. } | Output::Ask(_) | Output::Lost(_) | Output::GivenAway | Output::Event(_)) => {
                said.push(other);
            }
        }
    }
    said
}

/// Node 1 with so many entities, and node 2, which is to be handed them; nothing is on the way yet.
fn heir_of(entities: u32) -> (Town, Town, Vec<Output>) {
    let (mut old, mut new) = (home_of(entities), Town::new(2));
    old.named(2);
    new.named(2);
    new.see();
    let out = old.see();
    (old, new, out)
}

#[test]
fn every_record_goes_over_page_by_page_with_its_epoch_in_the_new_term_and_nothing_else() {
    let (mut old, mut new, first) = heir_of(1_000);
    assert_eq!(old.directory.standing(RANGE), Standing::Elsewhere, "it answers nobody from here on");
    let said = hand_over(&mut old, &mut new, first);
    let record = Record::registered(own(3)).in_term(1);
    assert_eq!(new.directory.record(entity(999)), Some(record));
    assert_eq!(new.directory.ownership().len(), 1_000);
    assert_eq!((old.directory.ownership().len(), old.directory.unsettled(), new.directory.unsettled()), (0, 0, 0));
    assert!(told(&said).contains(&(own(3).into(), 999, record, None)), "its owner hears");
    assert!(asked(&said).is_empty(), "nobody else is asked");
    let event = HomeEvent::Inherited { range: RANGE, term: 1, from: session(1), kept: 1_000 };
    assert!(events(&said).contains(&event));
    assert!(events(&said).contains(&HomeEvent::Bequeathed { range: RANGE, to: session(2), kept: 1_000 }));
}

#[test]
fn dead_stays_dead_lost_stays_lost_and_an_absent_one_is_dead() {
    let mut old = home_of(3);
    let dead = Record::registered(own(1)).changed_to(None);
    let cas = |counter, owner, new| Control::Cas {
        entity: entity(counter),
        owner,
        epoch: Epoch::FIRST,
        new,
        nonce: Nonce(1),
    };
    old.hear(own(1).into(), cas(1, own(1), dead));
    old.dies(3);
    old.see();
    let mut new = Town::new(2);
    new.dies(3);
    old.named(2);
    new.named(2);
    new.see();
    let first = old.see();
    hand_over(&mut old, &mut new, first);
    let record = |counter| new.directory.record(entity(counter)).map(|record| (record.owner, record.lost));
    assert_eq!(record(0), Some((None, true)));
    assert_eq!(record(1), Some((None, false)));
    assert_eq!(record(2), Some((Some(own(1)), false)));
    assert_eq!(record(77), Some((None, false)));
    assert!(new.directory.record(entity(1)).is_some_and(|record| record.epoch > dead.epoch), "news for every sender");
}

#[test]
fn a_page_is_said_again_until_it_is_acknowledged_and_one_that_comes_twice_is_taken_once() {
    let (mut old, mut new, first) = heir_of(200);
    let page = |out: &[Output]| {
        let pages = out.iter().filter_map(|output| match output {
            Output::Tell { to, control: control @ Control::Bequest { .. } } if *to == home_at(2) => {
                Some(control.clone())
            }
            Output::Tell { .. } | Output::Ask(_) | Output::Lost(_) | Output::GivenAway | Output::Event(_) => None,
        });
        pages.collect::<Vec<_>>()
    };
    let again = old.pass(60);
    assert_eq!(page(&again), page(&first));
    let [control] = <[Control; 1]>::try_from(page(&first)).expect("one page is on the way");
    let acknowledged = new.hear(home_at(1), control.clone());
    let repeated = new.hear(home_at(1), control);
    assert_eq!(repeated.len(), 1, "acknowledged again, and nobody is told again: {repeated:?}");
    let ownership = new.directory.ownership().len();
    let said = hand_over(&mut old, &mut new, [acknowledged, repeated].concat());
    assert!(ownership < 200 && new.directory.ownership().len() == 200);
    assert_eq!(events(&said).len(), 2);
}

#[test]
fn a_view_that_comes_to_the_heir_later_costs_a_repeat() {
    let (mut old, mut new) = (home_of(1), Town::new(2));
    old.named(2);
    new.see();
    let first = old.see();
    assert!(hand_over(&mut old, &mut new, first).is_empty());
    new.named(2);
    new.see();
    let again = old.pass(60);
    hand_over(&mut old, &mut new, again);
    assert_eq!(new.directory.standing(RANGE), Standing::Complete);
}

#[test]
fn until_all_is_handed_over_questions_wait() {
    let (mut old, mut new, first) = heir_of(1);
    assert_eq!(new.query(0), []);
    let said = hand_over(&mut old, &mut new, first);
    let record = Record::registered(own(3)).in_term(1);
    assert!(told(&said).contains(&(own(3).into(), 0, record, Some(Nonce(7)))));
}

#[test]
fn what_others_hand_over_is_not_taken() {
    let (_, mut new, first) = heir_of(1);
    for output in first {
        if let Output::Tell { control, .. } = output {
            assert_eq!(new.hear(home_at(3), control.clone()), []);
            assert_eq!(new.hear(own(1).into(), control), []);
        }
    }
    assert_eq!(new.directory.standing(RANGE), Standing::Incomplete);
}

#[test]
fn a_former_home_that_dies_before_the_last_page_is_rebuilt_as_if_it_had_handed_nothing_over() {
    let (_, mut new, first) = heir_of(200);
    for output in first {
        if let Output::Tell { control, .. } = output {
            new.hear(home_at(1), control);
        }
    }
    assert!(!new.directory.ownership().is_empty());
    new.dies(1);
    let out = new.see();
    assert_eq!(asked(&out), [(own(2).into(), None), (own(3).into(), None)]);
    assert_eq!(new.directory.ownership().len(), 0);
    new.claims(2, vec![]);
    new.claims(3, vec![active(0, 1)]);
    assert_eq!(new.directory.record(entity(0)), Some(passed(3, 1, 1)));
    assert_eq!(new.directory.record(entity(1)), Some(Record::absent(1, true)));
}

#[test]
fn a_term_that_nobody_was_told_of_begins_again_when_a_hand_over_is_cut_short() {
    let (_, mut new, first) = heir_of(200);
    let mut said = Vec::new();
    for output in first {
        if let Output::Tell { control, .. } = output {
            said.extend(new.hear(home_at(1), control));
        }
    }
    assert_eq!(
        told(&said),
        [],
        "who hears of the first page acts on it, and the rebuilt records begin at the same epoch"
    );
    new.dies(1);
    new.see();
    new.claims(2, vec![]);
    let said = new.claims(3, vec![active(0, 1)]);
    assert_eq!(told(&said), [(own(3).into(), 0, passed(3, 1, 1), None)]);
    assert_eq!(new.directory.record(entity(1)), Some(Record::absent(1, true)));
}

#[test]
fn an_owner_that_dies_in_between_is_lost_once_and_only_by_a_complete_home() {
    let (_, mut new, first) = heir_of(200);
    for output in first {
        if let Output::Tell { control, .. } = output {
            new.hear(home_at(1), control);
        }
    }
    new.dies(3);
    assert_eq!(lost(&new.see()), []);
    new.dies(1);
    new.see();
    let said =
        new.claims(2, vec![claim(0, Stake::Staged { label: Epoch::new(0, 2), source: own(3), nonce: Nonce(1) })]);
    assert_eq!(lost(&said), [], "a copy of it goes on");
    assert_eq!(new.directory.record(entity(0)).and_then(|record| record.owner), Some(own(2)));
}

fn page(records: Vec<Heirloom>) -> Control {
    let legacy = Legacy::Page { records, more: false, absent_is_lost: false };
    Control::Bequest { range: RANGE, term: 1, after: None, legacy }
}

fn heirloom(counter: u32, record: Record) -> Heirloom {
    Heirloom { entity: entity(counter), record, label: None }
}

#[test]
fn of_a_page_that_no_honest_home_hands_over_nothing_counts_and_everybody_is_asked() {
    let lives = Record::registered(own(3));
    let elsewhere = Heirloom { entity: OnlineId::new(RangeId(4), 1), record: lives, label: None };
    let pages = [
        vec![heirloom(4, lives), heirloom(4, lives.changed_to(None))],
        vec![heirloom(4, lives), heirloom(3, lives)],
        vec![heirloom(4, Record { lost: true, ..lives })],
        vec![elsewhere],
    ];
    for records in pages {
        let (_, mut new, _) = heir_of(1);
        new.dies(3);
        new.see();
        new.hear(home_at(1), page(records.clone()));
        let out = new.pass(1);
        assert_eq!(asked(&out).len(), 2, "{records:?}");
        assert!(new.directory.ownership().is_empty());
        new.claims(1, vec![]);
        new.claims(2, vec![]);
        assert_eq!(new.directory.standing(RANGE), Standing::Complete, "{records:?}");
    }
}

#[test]
fn a_home_that_was_never_complete_says_so_and_everybody_is_asked() {
    let (mut old, _) = Town::of_a_dead_home();
    old.named(3);
    let mut new = Town::new(3);
    new.dies(1);
    new.named(2);
    new.named(3);
    new.see();
    let out = old.see();
    let [Output::Tell { to, control }] = &out[..] else { panic!("expected one page, got {out:?}") };
    assert_eq!(*to, home_at(3));
    let Control::Bequest { legacy: Legacy::Unknown, .. } = control else { panic!("{control:?}") };
    let out = new.hear(home_at(2), control.clone());
    let [acknowledgement, ..] = &out[..] else { panic!("nothing is said") };
    let Output::Tell { control, .. } = acknowledgement else { panic!("{acknowledgement:?}") };
    old.hear(home_at(3), control.clone());
    assert_eq!(old.directory.unsettled(), 0);
    new.pass(1);
    new.claims(2, vec![]);
    new.claims(3, vec![active(0, 1)]);
    assert_eq!(new.directory.record(entity(0)), Some(passed(3, 1, 2)));
}

#[test]
fn an_owner_that_is_dead_by_then_is_buried_by_the_heir() {
    let (mut old, mut new, first) = heir_of(1);
    new.dies(3);
    new.see();
    let said = hand_over(&mut old, &mut new, first);
    assert_eq!(lost(&said), [(0, Some("e0".to_owned()), own(3))]);
}

#[test]
fn an_heir_that_dies_leaves_nothing_to_hand_over() {
    let (mut old, _, _) = heir_of(1);
    old.dies(2);
    old.named(3);
    old.see();
    assert_eq!(old.directory.unsettled(), 0, "the next one asks everybody");
}

#[test]
fn whoever_stops_asks_the_manager_until_its_homes_are_given_away_and_taken() {
    let mut old = home_of(1);
    let asks = [Output::Ask(ManagerRequest::Retire { session: session(1) })];
    assert_eq!(old.give(Input::Retire), asks);
    assert_eq!(old.directory.to_give(), 1);
    assert_eq!(old.pass(10), []);
    assert_eq!(old.pass(60), asks);
    let mut new = Town::new(2);
    new.named(2);
    new.see();
    old.named(2);
    let first = old.see();
    assert!(!first.contains(&Output::GivenAway));
    assert_eq!(old.directory.to_give(), 1, "named, and not taken over");
    let said = hand_over(&mut old, &mut new, first);
    assert!(said.contains(&Output::GivenAway));
    assert_eq!((old.directory.to_give(), old.pass(1_000)), (0, vec![]));
}

#[test]
fn whoever_stops_as_the_last_one_has_nobody_to_give_to() {
    let mut town = home_of(1);
    town.dies(2);
    town.view.draining.insert(NodeId(3), Incarnation(1));
    town.see();
    assert_eq!(town.give(Input::Retire), [Output::GivenAway]);
    assert_eq!(town.directory.standing(RANGE), Standing::Complete);
}

#[test]
fn whoever_goes_on_after_all_asks_no_more() {
    let mut town = home_of(1);
    town.give(Input::Retire);
    town.give(Input::Stay);
    assert_eq!(town.pass(1_000), []);
}
