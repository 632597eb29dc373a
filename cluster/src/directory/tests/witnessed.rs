//! Births and deaths that are told to a witness, and those who are named by it when their home died with them.

use super::super::{HomeEvent, Input, Lost, Output};
use super::town::{RANGE, Town, active, entity, events, home_at, member, own, session};
use crate::message::{Control, Nonce};
use crate::roster::{Bereft, Born, RosterNews};
use crate::view::{Home, View};
use crate::{Epoch, Incarnation, NodeId, Place, Record, Session};
use slipgate_entity::{OnlineId, RangeId};

/// A batch: to whom, its number, whether all begins anew, counters of those born and of those that died.
type Told = (Place, u64, bool, Vec<u32>, Vec<u32>);

fn told(out: &[Output]) -> Vec<Told> {
    let told = |output: &Output| {
        let Output::Tell { to, control: Control::Roster { number, anew, news } } = output else { return None };
        let born = news.iter().flat_map(|news| &news.born).map(|born| born.entity.counter());
        let dead = news.iter().flat_map(|news| &news.dead).map(|entity| entity.counter());
        Some((*to, *number, *anew, born.collect(), dead.collect()))
    };
    out.iter().filter_map(told).collect()
}

fn asked(out: &[Output]) -> Vec<(Place, Option<OnlineId>)> {
    let asked = |output: &Output| {
        let Output::Tell { to, control: Control::AskRoster { range: RANGE, after, .. } } = output else { return None };
        Some((*to, *after))
    };
    out.iter().filter_map(asked).collect()
}

fn named(out: &[Output]) -> Vec<(u32, Option<&str>, Session)> {
    out.iter()
        .filter_map(|output| {
            let Output::Lost(Lost { entity, label, session, scene: None }) = output else { return None };
            Some((entity.counter(), label.as_deref(), *session))
        })
        .collect()
}

/// The home of the range, whose witness has heard that nobody lives there.
fn home(page: usize) -> Town {
    let mut town = Town::with_witness(1, page);
    let out = town.see();
    assert_eq!(told(&out), [(home_at(2), 1, true, vec![], vec![])]);
    assert_eq!(noted(&mut town, 2, 1), []);
    town.pass(100);
    town
}

fn noted(town: &mut Town, node: u16, number: u64) -> Vec<Told> {
    told(&town.hear(home_at(node), Control::RosterNoted { number }))
}

fn spawn(town: &mut Town, counter: u32) {
    let label = Some(format!("e{counter}"));
    assert_eq!(town.give(Input::Registered { entity: entity(counter), owner: own(1), label }), []);
}

fn despawn(town: &mut Town, counter: u32) {
    let new = Record::registered(own(1)).changed_to(None);
    let cas = Control::Cas { entity: entity(counter), owner: own(1), epoch: Epoch::FIRST, new, nonce: Nonce(1) };
    assert_eq!(told(&town.hear(own(1).into(), cas)), []);
}

#[test]
fn births_and_deaths_are_told_in_batches_one_at_a_time_and_off_the_way_of_a_spawn() {
    let mut town = home(8);
    (1..=3).for_each(|counter| spawn(&mut town, counter));
    despawn(&mut town, 2);
    assert_eq!(told(&town.pass(50)), [(home_at(2), 2, false, vec![1, 3], vec![])], "2 has come and gone untold");
    spawn(&mut town, 4);
    despawn(&mut town, 1);
    assert_eq!(told(&town.pass(49)), []);
    assert_eq!(told(&town.pass(1)), [(home_at(2), 2, false, vec![1, 3], vec![])], "said again, and nothing else");
    assert_eq!(noted(&mut town, 2, 7), [], "another number");
    assert_eq!(noted(&mut town, 3, 2), [], "another member");
    assert_eq!(noted(&mut town, 2, 2), [], "it is not time yet");
    assert_eq!(told(&town.pass(50)), [(home_at(2), 3, false, vec![4], vec![1])]);
    spawn(&mut town, 5);
    assert_eq!(noted(&mut town, 2, 3), [], "it is not time yet");
    assert_eq!(told(&town.pass(99)), []);
    assert_eq!(told(&town.pass(1)), [(home_at(2), 4, false, vec![5], vec![])]);
}

#[test]
fn a_label_goes_with_a_birth() {
    let mut town = home(8);
    spawn(&mut town, 1);
    let news = vec![RosterNews {
        range: RANGE,
        term: 0,
        born: vec![Born { entity: entity(1), label: Some("e1".to_owned()) }],
        dead: vec![],
    }];
    let control = Control::Roster { number: 2, anew: false, news };
    assert_eq!(town.pass(50), [Output::Tell { to: home_at(2), control }]);
}

#[test]
fn a_whole_page_does_not_wait_for_its_time_and_what_is_beyond_follows_its_acknowledgement() {
    let mut town = home(2);
    spawn(&mut town, 1);
    town.pass(0);
    noted(&mut town, 2, 2);
    (2..=6).for_each(|counter| spawn(&mut town, counter));
    assert_eq!(told(&town.pass(10)), [(home_at(2), 3, false, vec![2, 3], vec![])]);
    assert_eq!(noted(&mut town, 2, 3), [(home_at(2), 4, false, vec![4, 5], vec![])]);
    assert_eq!(noted(&mut town, 2, 4), [(home_at(2), 5, false, vec![6], vec![])]);
    assert_eq!(noted(&mut town, 2, 5), []);
    assert!(town.directory.is_witnessed());
}

#[test]
fn another_witness_is_told_all_and_only_then_may_the_one_before_forget() {
    let mut town = home(2);
    (1..=3).for_each(|counter| spawn(&mut town, counter));
    town.pass(0);
    noted(&mut town, 2, 2);
    noted(&mut town, 2, 3);
    town.view.draining.insert(NodeId(2), Incarnation(1));
    let out = town.see();
    assert_eq!(told(&out), [(home_at(3), 4, true, vec![1, 2], vec![])]);
    despawn(&mut town, 1);
    assert_eq!(noted(&mut town, 3, 4), [(home_at(3), 5, false, vec![3], vec![1])]);
    assert!(!town.directory.is_witnessed());
    let rest = noted(&mut town, 3, 5);
    let rest = if rest.is_empty() { told(&town.pass(100)) } else { rest };
    assert_eq!(rest, [(home_at(2), 6, true, vec![], vec![])]);
    assert_eq!(noted(&mut town, 2, 6), []);
    assert!(town.directory.is_witnessed());
    assert_eq!(told(&town.pass(20_000)), []);
}

#[test]
fn a_witness_that_is_dead_is_told_nothing_and_neither_is_anybody_by_the_last_one() {
    let mut town = home(8);
    spawn(&mut town, 1);
    town.dies(2);
    assert_eq!(told(&town.see()), [(home_at(3), 2, true, vec![1], vec![])]);
    town.dies(3);
    assert_eq!(told(&town.see()), []);
    assert_eq!(told(&town.pass(10_000)), []);
    assert!(town.directory.is_witnessed());
}

#[test]
fn the_witness_is_the_next_by_number_that_takes_homes_and_after_the_last_the_first() {
    let mut view = View::default();
    assert_eq!(view.witness_of(session(1)), None);
    view.members = (1..=3).map(|node| (NodeId(node), member(session(node)))).collect();
    let witnesses = |view: &View| [1, 2, 3].map(|node| view.witness_of(session(node)).map(|session| session.node.0));
    assert_eq!(witnesses(&view), [Some(2), Some(3), Some(1)]);
    view.draining.insert(NodeId(3), Incarnation(1));
    assert_eq!(witnesses(&view), [Some(2), Some(1), Some(1)]);
    view.dead.insert(NodeId(1), Incarnation(1));
    assert_eq!(witnesses(&view), [Some(2), None, Some(2)]);
}

/// A batch of the home at node 1.
fn batch(number: u64, term: u32, born: &[u32], dead: &[u32]) -> Control {
    let born = born.iter().map(|counter| Born { entity: entity(*counter), label: Some(format!("e{counter}")) });
    let dead = dead.iter().map(|counter| entity(*counter)).collect();
    let news = vec![RosterNews { range: RANGE, term, born: born.collect(), dead }];
    Control::Roster { number, anew: false, news }
}

fn is_noted(out: &[Output]) -> bool {
    out.iter().any(|output| matches!(output, Output::Tell { control: Control::RosterNoted { .. }, .. }))
}

/// Node 2 as the witness of node 1, where 1 to `upto` live.
fn witness(page: usize, upto: u32) -> Town {
    let mut town = Town::with_witness(2, page);
    town.see();
    let born: Vec<_> = (1..=upto).collect();
    assert!(is_noted(&town.hear(home_at(1), batch(1, 0, &born, &[]))));
    town
}

fn known(town: &Town) -> Vec<u32> {
    (0..20).filter(|counter| town.directory.witnesses(entity(*counter), 0)).collect()
}

#[test]
fn a_batch_counts_once_in_its_order_and_is_acknowledged_as_often_as_it_comes() {
    let mut town = witness(8, 3);
    assert!(is_noted(&town.hear(home_at(1), batch(5, 0, &[4], &[1]))));
    assert!(is_noted(&town.hear(home_at(1), batch(1, 0, &[1, 2, 3], &[]))), "it comes again, late");
    assert_eq!(known(&town), [2, 3, 4]);
    let anew = Control::Roster { number: 6, anew: true, news: vec![] };
    assert!(is_noted(&town.hear(home_at(1), anew)));
    assert_eq!(known(&town), [0; 0]);
}

#[test]
fn nobody_but_the_home_of_a_range_tells_of_it_and_no_dead_one() {
    let mut town = witness(8, 1);
    assert!(!is_noted(&town.hear(own(1).into(), batch(9, 0, &[2], &[]))), "a scene");
    assert!(is_noted(&town.hear(home_at(3), batch(9, 0, &[2], &[1]))), "it was not the home any more when it came");
    assert!(!is_noted(&town.hear(home_at(1), batch(9, 1, &[2], &[]))), "the view is behind: it is said again");
    town.dies(1);
    town.see();
    assert!(!is_noted(&town.hear(home_at(1), batch(9, 0, &[2], &[1]))), "a dead one");
    assert_eq!(known(&town), [1]);
}

#[test]
fn a_range_that_the_view_does_not_tell_of_yet_may_be_told_of() {
    let mut town = Town::with_witness(2, 8);
    town.view.homes.clear();
    town.see();
    assert!(is_noted(&town.hear(home_at(1), batch(1, 0, &[1], &[]))));
    assert_eq!(known(&town), [1]);
}

fn ask(town: &mut Town, node: u16, after: Option<u32>) -> Option<Vec<(u32, Option<String>, Session)>> {
    let term = town.view.homes[&RANGE].term;
    let control = Control::AskRoster { range: RANGE, term, after: after.map(entity) };
    let out = town.hear(home_at(node), control);
    let answer = out.into_iter().find_map(|output| match output {
        Output::Tell { control: Control::RosterIs { rows, .. }, .. } => Some(rows),
        Output::Tell { .. } | Output::Ask(_) | Output::Lost(_) | Output::GivenAway | Output::Event(_) => None,
    })?;
    Some(answer.into_iter().map(|Bereft { entity, label, home }| (entity.counter(), label, home)).collect())
}

#[test]
fn a_later_home_hears_page_by_page_and_what_it_has_heard_is_forgotten() {
    let mut town = witness(2, 3);
    assert_eq!(ask(&mut town, 1, None), Some(vec![]), "nothing is older than the first home");
    assert_eq!(ask(&mut town, 3, None), None, "it is not the home");
    town.dies(1);
    town.named(3);
    town.see();
    let row = |counter: u32| (counter, Some(format!("e{counter}")), session(1));
    assert_eq!(ask(&mut town, 3, None), Some(vec![row(1), row(2)]));
    assert_eq!(ask(&mut town, 3, None), Some(vec![row(1), row(2)]), "the answer was lost");
    assert_eq!(ask(&mut town, 3, Some(2)), Some(vec![row(3)]));
    assert_eq!(known(&town), [3]);
    assert_eq!(ask(&mut town, 3, Some(3)), Some(vec![]));
    assert_eq!(known(&town), [0; 0]);
    assert_eq!(town.directory.tables().witnessed, 0);
}

#[test]
fn what_a_home_has_passed_on_is_for_the_next_one_to_hear_even_if_it_begins_anew() {
    let mut town = witness(8, 1);
    town.named(3);
    town.see();
    assert!(is_noted(&town.hear(home_at(1), Control::Roster { number: 6, anew: true, news: vec![] })));
    assert_eq!(known(&town), [1]);
}

/// Node 2, home after node 1 is dead, once scene 3 has claimed 1.
fn heir() -> Town {
    let mut town = Town::with_witness(2, 8);
    town.dies(1);
    town.named(2);
    town.see();
    town.claims(3, vec![active(1, 4)]);
    town
}

fn answer(town: &mut Town, node: u16, after: Option<u32>, counters: &[u32]) -> Vec<Output> {
    let row = |counter: &u32| Bereft { entity: entity(*counter), label: Some(format!("e{counter}")), home: session(1) };
    let rows = counters.iter().map(row).collect();
    town.hear(home_at(node), Control::RosterIs { range: RANGE, term: 1, after: after.map(entity), rows })
}

#[test]
fn whoever_is_on_a_roster_and_claimed_by_nobody_is_lost_by_name_and_whoever_is_claimed_lives_on() {
    let mut town = heir();
    let out = town.claims(2, vec![]);
    assert_eq!(asked(&out), [(home_at(2), None), (home_at(3), None)]);
    let out = answer(&mut town, 3, None, &[1, 2, 3]);
    assert_eq!(named(&out), [(2, Some("e2"), session(1)), (3, Some("e3"), session(1))]);
    assert_eq!(asked(&out), [(home_at(3), Some(entity(3)))]);
    assert_eq!(named(&answer(&mut town, 3, None, &[1, 2, 3])), [], "the page comes again");
    let out = answer(&mut town, 3, Some(3), &[]);
    let event = HomeEvent::Named { range: RANGE, home: session(1), witness: session(3), lost: 2 };
    assert_eq!(events(&out), [event]);
    assert_eq!(named(&answer(&mut town, 2, None, &[2])), [], "another one knew it, too");
    assert_eq!(town.directory.tables().naming, 1);
    assert_eq!(events(&answer(&mut town, 2, Some(2), &[])), []);
    assert_eq!(town.directory.tables().naming, 0);
    assert_eq!(town.directory.record(entity(1)).and_then(|record| record.owner), Some(own(3)));
    assert_eq!(
        town.directory.record(entity(2)),
        Some(Record::absent(1, true)),
        "senders hear what they would have heard"
    );
}

#[test]
fn nobody_waits_for_a_witness_and_a_dead_one_is_not_asked_any_more() {
    let mut town = heir();
    town.claims(2, vec![]);
    assert!(town.directory.record(entity(9)).is_some(), "the home is complete");
    town.pass(1);
    answer(&mut town, 2, None, &[]);
    answer(&mut town, 3, None, &[5]);
    town.dies(3);
    let out = town.see();
    assert_eq!(events(&out), [HomeEvent::Named { range: RANGE, home: session(1), witness: session(3), lost: 1 }]);
    assert_eq!(town.directory.tables().naming, 0);
    assert_eq!(asked(&town.pass(10_000)), []);
}

#[test]
fn what_no_honest_witness_says_names_nobody() {
    let mut town = heir();
    town.claims(2, vec![]);
    town.pass(1);
    let stranger = Bereft { entity: OnlineId::new(RangeId(8), 9), label: None, home: session(1) };
    let rows = |rows| Control::RosterIs { range: RANGE, term: 1, after: None, rows };
    assert_eq!(named(&town.hear(own(3).into(), rows(vec![]))), [], "a scene");
    assert_eq!(named(&answer(&mut town, 3, Some(1), &[2])), [], "a page that was not asked for");
    assert_eq!(named(&town.hear(home_at(3), rows(vec![stranger]))), [], "another range");
    assert_eq!(named(&answer(&mut town, 3, None, &[2])), [], "it is not asked any more");
    let out = answer(&mut town, 2, None, &[5, 4]);
    assert_eq!(named(&out), [(5, Some("e5"), session(1))], "the rest is out of order");
}

#[test]
fn a_home_to_which_all_was_handed_over_lets_the_witness_forget_and_names_nobody() {
    let mut town = Town::with_witness(2, 8);
    town.view.homes.insert(RANGE, Home::first(RANGE, session(1)));
    town.named(2);
    town.see();
    let legacy = crate::legacy::Legacy::Page { records: vec![], more: false, absent_is_lost: false };
    town.hear(home_at(1), Control::Bequest { range: RANGE, term: 1, after: None, legacy });
    let last = Some(OnlineId::new(RANGE, u32::MAX));
    assert_eq!(asked(&town.pass(1)), [1, 2, 3].map(|node| (home_at(node), last)));
    let row = Bereft { entity: entity(2), label: None, home: session(1) };
    let control = Control::RosterIs { range: RANGE, term: 1, after: last, rows: vec![row] };
    assert_eq!(named(&town.hear(home_at(3), control)), []);
}

#[test]
fn more_deaths_than_may_wait_begin_the_roster_anew() {
    let mut town = home(1 << 17);
    let many = u32::try_from(crate::bounds::DEATHS_UNTOLD).expect("fits") + 2;
    (0..many).for_each(|counter| spawn(&mut town, counter));
    let mut number = 1;
    for _ in 0..3 {
        number += told(&town.pass(100)).len() as u64;
        noted(&mut town, 2, number);
    }
    assert!(town.directory.is_witnessed());
    (1..many).for_each(|counter| despawn(&mut town, counter));
    assert_eq!(told(&town.pass(100)), [(home_at(2), number + 1, true, vec![0], vec![])]);
}
