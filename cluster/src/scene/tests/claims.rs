//! What the scene says of the entities of a range to its new home.

use super::super::{Input, Output, Ticket};
use super::driver::{Driver, controls, entity, epoch, move_id, own, taken_over};
use crate::claim::{Claim, Stake, Title};
use crate::message::Control;
use crate::{Epoch, Limits, Now, Place, Port, Record, Session};

fn home() -> Place {
    Place { session: own(2).session, port: Port::Directory }
}

fn ask(driver: &mut Driver, from: Place, term: u32, after: Option<u32>) -> Option<(Vec<Claim>, bool)> {
    let control = Control::AskClaims { range: entity(1).range(), term, after: after.map(entity) };
    let out = driver.tell(Input::Heard { from, message: crate::message::Message::Control(control) });
    let [(_, Control::Claims { claims, more, term: told, after: of, .. })] = controls(&out)[..] else {
        assert!(out.is_empty(), "{out:?}");
        return None;
    };
    assert_eq!((*told, *of), (term, after.map(entity)));
    Some((claims.clone(), *more))
}

/// What is said of entity 1, after the home of term 1 is known.
fn said(mut driver: Driver) -> Vec<Stake> {
    driver.term(1);
    let (claims, more) = ask(&mut driver, home(), 1, None).expect("an answer");
    assert!(!more && claims.iter().all(|claim| claim.entity == entity(1)));
    claims.into_iter().map(|claim| claim.stake).collect()
}

fn title() -> Title {
    Title { epoch: epoch(1), data: epoch(1), base: Epoch::ZERO }
}

#[test]
fn only_the_home_that_the_view_names_in_its_term_is_answered() {
    let mut driver = Driver::active();
    assert_eq!(ask(&mut driver, home(), 1, None), None, "the view that names it has not come");
    driver.term(1);
    assert_eq!(ask(&mut driver, home(), 2, None), None);
    assert_eq!(ask(&mut driver, Place { session: Session::new(3, 1), ..home() }, 1, None), None);
    assert_eq!(ask(&mut driver, own(2).into(), 1, None), None);
    assert_eq!(ask(&mut driver, home(), 1, None).map(|(claims, more)| (claims.len(), more)), Some((1, false)));
    driver.term(2);
    assert_eq!(ask(&mut driver, home(), 1, None), None, "a term that is over");
}

fn leaving(is_late: bool) -> Stake {
    Stake::Leaving { title: title(), target: own(2), is_late }
}

#[test]
fn whoever_is_frozen_says_so_once_others_may_soon_have_forgotten() {
    for mut driver in [Driver::frozen(), Driver::deciding()] {
        driver.now = Now(14_900_000);
        assert_eq!(said(driver), [leaving(false)]);
    }
    for mut driver in [Driver::frozen(), Driver::deciding()] {
        driver.now = driver.now + Limits::default().tombstone / 2;
        assert_eq!(said(driver), [leaving(true)]);
    }
}

#[test]
fn an_entity_is_claimed_as_it_stands_with_its_label() {
    let mut driver = Driver::active();
    driver.term(1);
    let (claims, _) = ask(&mut driver, home(), 1, None).expect("an answer");
    let expected = Claim { entity: entity(1), label: Some("ann".into()), stake: Stake::Active(title()) };
    assert_eq!(claims, [expected]);
    assert_eq!(said(Driver::reserving()), [Stake::Active(title())], "it runs on while room is asked for");
    assert_eq!(said(Driver::frozen()), [leaving(false)]);
    assert_eq!(said(Driver::deciding()), [leaving(false)], "its target may have taken over all the same");
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert_eq!(said(driver), [Stake::Despawning(title())]);
}

#[test]
fn a_copy_that_waits_is_claimed_with_its_label_its_source_and_the_nonce_that_it_waits_for() {
    let (driver, nonce) = Driver::staged(epoch(2));
    assert_eq!(said(driver), [Stake::Staged { label: epoch(2), source: own(2), nonce }]);
}

#[test]
fn whoever_has_left_is_told_of_with_the_whole_record() {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    assert_eq!(said(driver), [Stake::Gone(taken_over())]);
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let dead = Record::registered(own(1)).changed_to(None);
    driver.record(1, dead, None);
    assert_eq!(said(driver), [Stake::Gone(dead)]);
}

#[test]
fn a_copy_that_comes_back_is_told_of_beside_the_earlier_stay() {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    let out = driver.prepare(epoch(3));
    let nonce = super::driver::cas_nonce(&out);
    let staged = Stake::Staged { label: epoch(3), source: own(2), nonce };
    assert_eq!(said(driver), [staged, Stake::Gone(taken_over())]);
}

#[test]
fn many_are_told_of_page_by_page_and_each_once() {
    let mut driver = Driver::with_capacity(1_000);
    (1..=300).for_each(|counter| drop(driver.spawn(counter)));
    driver.term(1);
    let (mut after, mut told, mut pages) = (None, Vec::new(), 0);
    loop {
        let (claims, more) = ask(&mut driver, home(), 1, after).expect("an answer");
        told.extend(claims.iter().map(|claim| claim.entity.counter()));
        (after, pages) = (told.last().copied(), pages + 1);
        if !more {
            break;
        }
    }
    assert_eq!((told, pages), ((1..=300).collect::<Vec<_>>(), 3));
    assert_eq!(ask(&mut driver, home(), 1, Some(300)), Some((vec![], false)));
}

#[test]
fn a_page_said_again_is_the_same_whatever_former_homes_say_meanwhile() {
    let mut driver = Driver::frozen();
    driver.term(1);
    let first = ask(&mut driver, home(), 1, None);
    driver.record(1, taken_over(), None);
    driver.prepare(epoch(5));
    driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    assert_eq!(ask(&mut driver, home(), 1, None), first);
}

#[test]
fn of_another_range_nothing_is_said() {
    let mut driver = Driver::new(Limits::default());
    driver.spawn(1);
    let control = Control::AskClaims { range: slipgate_entity::RangeId(77), term: 0, after: None };
    let out: Vec<Output> =
        driver.tell(Input::Heard { from: home(), message: crate::message::Message::Control(control) });
    assert_eq!(out, []);
}
