//! After the decision: what was held and what of it was delivered, and when the source reports.

use super::super::{Answer, Input, MoveDone, Output, Ticket};
use super::driver::{
    Driver, answers, cas_nonce, controls, data, ended, entity, epoch, messages, move_id, own, taken_over, to,
    tool_stream,
};
use crate::message::{Control, Held};
use crate::moves::Outcome;
use crate::{Epoch, Now, Record};

/// A frozen entity that held numbers 1 to 3 of the tool's stream, and whose target has taken over.
fn handed_over() -> (Driver, Vec<Output>) {
    let mut driver = Driver::frozen();
    for seq in [1, 2, 2, 3] {
        driver.data(seq);
    }
    driver.now = Now(40_000);
    let out = driver.record(1, taken_over(), None);
    (driver, out)
}

fn arrived() -> Control {
    Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) }
}

fn settled(delivered: u64) -> Control {
    Control::Settled { entity: entity(1), id: move_id(1), delivered }
}

fn held() -> Vec<Held> {
    vec![Held { stream: tool_stream(), sender: data(1).sender, upto: 3, count: 3 }]
}

fn done(out: &[Output]) -> MoveDone {
    let answer = answers(out).into_iter().next();
    let Some((_, Answer::Moved(done))) = answer else { panic!("expected the end of a move, got {answer:?}") };
    *done
}

#[test]
fn the_target_is_asked_what_it_makes_of_the_held_messages() {
    let (_, out) = handed_over();
    let asks = Control::HandedOn { entity: entity(1), id: move_id(1), held: held(), source: own(1) };
    assert!(controls(&out).contains(&(to(own(2)), &asks)));
    assert!(ended(&out).is_empty());
}

#[test]
fn the_move_ends_once_the_target_is_active_and_has_applied_all_that_was_held() {
    let (mut driver, _) = handed_over();
    driver.now = Now(50_000);
    assert!(ended(&driver.hear(arrived())).is_empty());
    assert!(ended(&driver.hear(settled(2))).is_empty());
    driver.now = Now(60_000);
    let out = driver.hear(settled(3));
    let done = done(&out);
    assert_eq!(done.outcome, Outcome::Moved { epoch: epoch(2) });
    assert_eq!((done.cost.held, done.cost.delivered, done.cost.bytes), (3, 3, 3));
    assert_eq!((done.cost.total_us, done.cost.pause_us), (50_000, 50_000), "until the target's report");
    assert_eq!(driver.scene.moves_under_way(), 0);
    assert!(driver.hear(settled(3)).is_empty() && driver.hear(arrived()).is_empty());
}

#[test]
fn a_move_with_nothing_held_ends_with_the_targets_report() {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    assert_eq!(ended(&driver.hear(arrived())), [Outcome::Moved { epoch: epoch(2) }]);
}

#[test]
fn a_report_that_came_before_the_record_counts() {
    let mut driver = Driver::frozen();
    driver.hear(arrived());
    assert_eq!(ended(&driver.record(1, taken_over(), None)), [Outcome::Moved { epoch: epoch(2) }]);
}

#[test]
fn both_questions_are_repeated_and_past_the_deadline_the_move_is_reported_with_what_is_known() {
    let (mut driver, _) = handed_over();
    driver.hear(settled(1));
    let out = driver.pass(100);
    let asked = controls(&out);
    assert!(asked.iter().any(|(_, control)| matches!(control, Control::IsActive { .. })));
    assert!(asked.iter().any(|(_, control)| matches!(control, Control::HandedOn { .. })));
    let out = driver.pass(900);
    let done = done(&out);
    assert_eq!((done.cost.held, done.cost.delivered, done.cost.pause_us), (3, 1, 40_000));
    driver.pass(60_000);
    assert!(driver.scene.alarms.is_empty());
}

#[test]
fn an_active_target_answers_how_many_of_the_held_messages_it_has_applied() {
    let (mut driver, nonce) = Driver::staged(epoch(2));
    let asks = Control::HandedOn { entity: entity(1), id: move_id(1), held: held(), source: own(2) };
    assert!(driver.hear(asks.clone()).is_empty(), "staged: not yet");
    driver.record(1, Record::handed_to(own(1), epoch(2), Epoch::ZERO), Some(nonce));
    driver.data(1);
    driver.data(2);
    assert_eq!(controls(&driver.hear(asks.clone())), [(to(own(2)), &settled(2))]);
    driver.data(3);
    driver.data(4);
    assert_eq!(controls(&driver.hear(asks)), [(to(own(2)), &settled(3))]);
}

#[test]
fn a_target_that_handed_the_entity_on_passes_the_question_on() {
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    let asks = Control::HandedOn { entity: entity(1), id: move_id(8), held: held(), source: own(3) };
    assert_eq!(controls(&driver.hear(asks.clone())), [(to(own(2)), &asks)]);
}

#[test]
fn a_question_about_an_entity_that_is_staged_again_does_not_follow_the_old_tombstone() {
    let mut driver = Driver::active();
    driver.record(1, taken_over(), None);
    cas_nonce(&driver.prepare(epoch(3)));
    let asks = Control::HandedOn { entity: entity(1), id: move_id(8), held: held(), source: own(3) };
    assert!(driver.hear(asks).is_empty());
}

#[test]
fn a_move_that_has_been_settled_is_no_longer_under_way_for_a_cancel() {
    let (mut driver, _) = handed_over();
    let out = driver.tell(Input::Cancel { ticket: Ticket(4), id: move_id(1) });
    assert!(matches!(answers(&out)[..], [(_, Answer::Rejected(_))]));
    assert!(messages(&out).is_empty());
}

#[test]
fn where_an_entity_went_is_kept_until_its_target_is_known_to_have_taken_over() {
    let asks = |out: &[Output]| {
        let asks = controls(out).into_iter().filter(|(_, control)| matches!(control, Control::IsActive { .. }));
        asks.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let (mut driver, _) = handed_over();
    driver.pass(2_000);
    for _ in 0..3 {
        assert_eq!(asks(&driver.pass(30_000)), [to(own(2))]);
        assert_eq!(driver.scene.tables().tombstones, 1);
    }
    driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    assert_eq!(asks(&driver.pass(30_000)), []);
    assert_eq!(driver.scene.tables().tombstones, 0);
}

#[test]
fn a_change_by_the_target_or_its_death_is_known_as_its_takeover() {
    let changed = Record::handed_to(own(3), epoch(3), Epoch::ZERO);
    let rebuilt = taken_over().in_term(1);
    for (record, kept) in [(taken_over(), 1), (rebuilt, 1), (changed, 0), (taken_over().changed_to(None), 0)] {
        let (mut driver, _) = handed_over();
        driver.record(1, record, None);
        driver.pass(31_000);
        assert_eq!(driver.scene.tables().tombstones, kept, "{record:?}");
    }
    let (mut driver, _) = handed_over();
    let dead = [(own(2).session.node, own(2).session.incarnation)].into();
    let view = crate::View { version: 1, dead, ..crate::View::default() };
    driver.tell(super::super::Input::View(std::sync::Arc::new(view)));
    driver.pass(31_000);
    assert_eq!(driver.scene.tables().tombstones, 0);
}
