//! A range whose home is another one from now on: what the scene takes, begins and asks for.

use std::sync::Arc;

use super::super::{Answer, Input, Output, Ticket};
use super::driver::{
    Driver, answers, applied, cas, cas_nonce, controls, copies, ended, entity, epoch, move_id, own, reserved, to,
};
use crate::message::Control;
use crate::moves::{Outcome, Step};
use crate::view::{Home, View};
use crate::{Epoch, Limits, Record, Session};

impl Driver {
    /// The range of all entities here has its home on node 2 from now on, in term `term`.
    pub(super) fn term(&mut self, term: u32) -> Vec<Output> {
        let before = Some(Session::new(9, 1));
        let home = Home { session: own(2).session, term, before, ..Home::first(entity(1).range(), own(2).session) };
        let view = View { version: term.into(), homes: [(home.range, home)].into(), ..View::default() };
        self.tell(Input::View(Arc::new(view)))
    }
}

/// The record of entity 1 as the home of term 1 has rebuilt it: nothing has changed but the epoch.
fn rebuilt() -> Record {
    Record::registered(own(1)).in_term(1)
}

fn queries(out: &[Output]) -> usize {
    controls(out).iter().filter(|(_, control)| matches!(control, Control::Query { .. })).count()
}

#[test]
fn an_older_record_of_an_entity_that_lives_here_is_ignored_once_the_term_is_known() {
    let mut driver = Driver::deciding();
    driver.term(1);
    assert!(driver.record(1, Record::handed_to(own(2), epoch(2), Epoch::ZERO), None).is_empty());
    assert_eq!(driver.phase(1), Some("deciding"));
    assert_eq!(ended(&driver.record(1, rebuilt(), None)), [Outcome::Cancelled], "an abort goes on at once");
    assert_eq!(driver.scene.stand(entity(1)).map(|stand| stand.epoch), Some(Epoch::new(1, 0)));
}

#[test]
fn an_older_record_activates_no_copy_once_the_term_is_known() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    driver.term(1);
    let record = Record::handed_to(own(1), epoch(2), Epoch::ZERO);
    assert!(driver.record(1, record, Some(nonce)).is_empty());
    assert_eq!(driver.scene.arriving(), 1);
    driver.record(1, record.in_term(1), Some(nonce));
    let stand = driver.scene.stand(entity(1)).expect("it took over");
    assert_eq!((stand.epoch, stand.data), (Epoch::new(1, 0), epoch(2)));
}

#[test]
fn a_copy_under_an_older_label_is_not_staged_once_the_term_is_known() {
    let mut driver = Driver::new(Limits::default());
    driver.term(1);
    assert!(driver.prepare(epoch(2)).is_empty());
    assert_eq!(driver.scene.arriving(), 0);
    assert_eq!(cas(&driver.prepare(Epoch::new(1, 1))).len(), 1);
}

#[test]
fn a_staged_copy_is_replaced_by_the_one_under_the_new_label() {
    let (mut driver, _) = Driver::staged(epoch(2));
    driver.term(1);
    assert!(driver.prepare(epoch(3)).is_empty());
    let label = Epoch::new(1, 1);
    let wanted = Record::handed_to(own(1), label, Epoch::ZERO);
    assert_eq!(cas(&driver.prepare(label)), [((own(2), Epoch::new(1, 0)), wanted)]);
}

#[test]
fn an_active_entity_goes_on_but_freezes_only_under_the_new_record() {
    let mut driver = Driver::active();
    driver.term(1);
    assert_eq!(applied(&driver.data(1)), [1]);
    let out = driver.migrate(1, Ok(own(2)));
    assert_eq!((queries(&out), controls(&out).len()), (1, 1), "the home is asked, and not the target");
    assert!(driver.hear(reserved()).is_empty(), "whoever reserved room for the old label is too early");
    assert_eq!(driver.phase(1), Some("active"));
    let out = driver.record(1, rebuilt(), None);
    let [(target, Control::Reserve(reserve))] = controls(&out)[..] else { panic!("expected a question, got {out:?}") };
    assert_eq!((target, reserve.label), (to(own(2)), Epoch::new(1, 1)));
    let out = driver.hear(Control::Reserved { entity: entity(1), id: move_id(1), label: Epoch::new(1, 1) });
    assert_eq!(copies(&out), [(to(own(2)), Epoch::new(1, 1))]);
}

#[test]
fn room_that_was_reserved_before_the_term_was_known_freezes_nobody_after_it() {
    let mut driver = Driver::reserving();
    driver.term(1);
    assert!(driver.hear(reserved()).is_empty());
    assert_eq!(driver.phase(1), Some("active"));
}

#[test]
fn a_move_whose_home_is_not_rebuilt_by_the_deadline_ends_with_that_and_the_entity_never_stopped() {
    let mut driver = Driver::active();
    driver.term(1);
    driver.migrate(1, Ok(own(2)));
    assert!(ended(&driver.pass(1_999)).is_empty());
    assert_eq!(ended(&driver.pass(1)), [Outcome::HomeUnreachable]);
    assert_eq!(applied(&driver.data(1)), [1]);
    driver.record(1, rebuilt(), None);
    driver.migrate(1, Ok(own(2)));
    assert_eq!(ended(&driver.pass(2_000)), [Outcome::Timeout { step: Step::Reserve }]);
}

#[test]
fn a_frozen_entity_sends_its_copy_again_under_the_new_label() {
    let mut driver = Driver::frozen();
    driver.term(1);
    let out = driver.record(1, rebuilt(), None);
    assert_eq!(copies(&out), [(to(own(2)), Epoch::new(1, 1))]);
    assert_eq!(driver.phase(1), Some("frozen"));
}

#[test]
fn a_frozen_entity_that_the_new_home_gives_to_its_target_is_handed_over() {
    let mut driver = Driver::frozen();
    driver.data(1);
    driver.term(1);
    let out = driver.record(1, Record::handed_to(own(2), epoch(2), Epoch::ZERO).in_term(1), None);
    assert!(out.contains(&Output::Remove { entity: entity(1), why: super::super::Departure::Moved(own(2)) }));
    assert_eq!(driver.phase(1), None);
}

#[test]
fn a_despawn_repeats_its_question_under_the_new_record_and_never_resumes() {
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    driver.term(1);
    let out = driver.record(1, rebuilt(), None);
    let dead = Record { owner: None, epoch: Epoch::new(1, 1), ..rebuilt() };
    assert_eq!(cas(&out), [((own(1), Epoch::new(1, 0)), dead)]);
    let nonce = cas_nonce(&out);
    assert_eq!(answers(&driver.record(1, dead, Some(nonce))), [(Ticket(5), Answer::Despawned)]);
}

#[test]
fn a_despawn_under_an_older_record_asks_for_the_new_one_and_wants_nothing_changed_before() {
    let mut driver = Driver::active();
    driver.term(1);
    let mut out = driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert_eq!(queries(&out), 1);
    out.extend(driver.pass(1_000));
    assert!(queries(&out) > 1 && cas(&out).is_empty(), "asked, and asked again: {out:?}");
    let out = driver.record(1, rebuilt(), None);
    assert_eq!(cas(&out), [((own(1), Epoch::new(1, 0)), Record { owner: None, epoch: Epoch::new(1, 1), ..rebuilt() })]);
}

#[test]
fn a_despawn_without_an_answer_is_undecided_by_the_deadline_and_done_once_the_home_answers() {
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    assert!(answers(&driver.pass(2_999)).is_empty());
    assert_eq!(answers(&driver.pass(1)), [(Ticket(5), Answer::Undecided)]);
    assert_eq!((driver.phase(1), answers(&driver.pass(60_000))), (Some("deciding"), vec![]));
    let out = driver.record(1, Record::registered(own(1)).changed_to(None), None);
    assert!(answers(&out).is_empty(), "one answer is enough");
    assert_eq!(driver.phase(1), None);
}

#[test]
fn whoever_has_not_heard_of_the_new_record_is_asked_for_until_it_has() {
    let mut driver = Driver::new(Limits::default());
    (1..=3).for_each(|counter| drop(driver.spawn(counter)));
    driver.term(1);
    driver.record(2, rebuilt(), None);
    assert_eq!(queries(&driver.pass(99)), 0, "the home speaks first");
    assert_eq!(queries(&driver.pass(1)), 2);
    let asked: usize = (0..100).map(|_| queries(&driver.pass(100))).sum();
    assert!((10..16).contains(&asked), "{asked} questions in ten seconds");
    driver.record(1, rebuilt(), None);
    driver.record(3, rebuilt(), None);
    driver.pass(3_000);
    assert_eq!((queries(&driver.pass(60_000)), driver.scene.tables().alarms), (0, 0));
}

#[test]
fn an_entity_whose_range_was_passed_on_while_it_was_spawned_asks_for_its_record() {
    let mut driver = Driver::new(Limits::default());
    driver.term(1);
    driver.spawn(1);
    assert_eq!(queries(&driver.pass(100)), 1);
}

#[test]
fn an_older_view_takes_no_term_back() {
    let mut driver = Driver::deciding();
    driver.term(2);
    driver.term(1);
    assert!(driver.record(1, rebuilt(), None).is_empty());
    assert_eq!(driver.phase(1), Some("deciding"));
}
