//! Rows of `Deciding`: giving up and despawning.

use super::super::{Answer, Departure, Event, Input, Output, Route, Ticket};
use super::driver::{
    Driver, acks, answers, applied, buried, cas, cas_nonce, controls, ended, entity, epoch, given_back, messages,
    move_id, own, reserved, taken_over, to,
};
use crate::message::Control;
use crate::moves::Outcome;
use crate::{Epoch, Own, Record};

#[test]
fn deciding_holds_data_and_does_not_acknowledge_it() {
    let mut driver = Driver::deciding();
    assert!(driver.data(1).is_empty());
    assert!(driver.tell(Input::Flush).is_empty());
}

#[test]
fn deciding_repeats_its_cas_and_no_time_out_leads_out_of_it() {
    let mut driver = Driver::deciding();
    let mut repeats = 0;
    for _ in 0..1_000 {
        repeats += cas(&driver.pass(100)).iter().filter(|cas| **cas == ((own(1), epoch(1)), given_back())).count();
    }
    assert!((50..60).contains(&repeats), "{repeats} repeats in 100 s");
    assert_eq!(driver.phase(1), Some("deciding"));
}

#[test]
fn a_record_given_back_ends_the_move_and_runs_the_buffer_through_the_data_rule() {
    let mut driver = Driver::frozen();
    driver.data(1);
    driver.data(1);
    driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    driver.data(2);
    let out = driver.record(1, given_back(), None);
    assert_eq!(applied(&out), [1, 2]);
    assert_eq!(ended(&out), [Outcome::Cancelled]);
    assert_eq!(acks(&driver.tell(Input::Flush)), [2]);
    let stand = driver.scene.stand(entity(1)).expect("it lives here");
    assert_eq!((stand.phase, stand.epoch, stand.data), ("active", epoch(2), epoch(1)));
    assert_eq!(driver.scene.moves_under_way(), 0);
}

#[test]
fn a_record_for_the_target_ends_a_move_that_was_given_up_too_late() {
    let mut driver = Driver::deciding();
    driver.data(1);
    let out = driver.record(1, taken_over(), None);
    assert_eq!(out[0], Output::Remove { entity: entity(1), why: Departure::Moved(own(2)) });
    assert_eq!(messages(&out), [(to(own(2)), entity(1), 1)]);
    driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    let out = driver.hear(Control::Settled { entity: entity(1), id: move_id(1), delivered: 1 });
    assert_eq!(ended(&out), [Outcome::Moved { epoch: epoch(2) }]);
}

#[test]
fn a_record_of_an_epoch_already_known_does_not_decide() {
    let mut driver = Driver::deciding();
    assert!(driver.record(1, Record::registered(own(1)), None).is_empty());
    assert_eq!(driver.phase(1), Some("deciding"));
}

#[test]
fn a_home_that_does_not_answer_leaves_the_move_undecided_and_the_decision_follows_as_an_event() {
    for (record, owner) in [(given_back(), own(1)), (taken_over(), own(2))] {
        let mut driver = Driver::deciding();
        assert!(ended(&driver.pass(2_999)).is_empty());
        let out = driver.pass(1);
        assert_eq!(ended(&out), [Outcome::Undecided]);
        assert_eq!(answers(&out).len(), 1);
        assert_eq!(ended(&driver.pass(60_000)), []);
        driver.data(1);
        let out = driver.record(1, record, None);
        assert_eq!(decided(&out), [Some(owner)]);
        assert!(ended(&out).is_empty() && answers(&out).is_empty());
        assert_eq!(ended(&driver.pass(60_000)), []);
        assert_eq!(driver.scene.moves_under_way(), 0);
    }
}

#[test]
fn a_move_of_an_entity_that_its_home_calls_lost_does_not_end_as_if_it_were_still_here() {
    for driver in [Driver::reserving(), Driver::frozen(), Driver::deciding()] {
        let mut driver = driver;
        let out = driver.record(1, Record::registered(own(1)).buried(), None);
        assert_eq!((ended(&out), driver.phase(1)), (vec![Outcome::Lost], None));
    }
}

#[test]
fn a_second_cancel_while_giving_up_is_taken_up_and_changes_nothing() {
    let mut driver = Driver::deciding();
    let out = driver.tell(Input::Cancel { ticket: Ticket(10), id: move_id(1) });
    assert_eq!(out, [Output::Answer { ticket: Ticket(10), answer: Answer::Cancelled }]);
}

#[test]
fn a_despawn_that_hits_removes_the_entity_and_passes_its_windows_on() {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    driver.data(1);
    let out = driver.record(1, buried(), None);
    assert!(out.contains(&Output::Remove { entity: entity(1), why: Departure::Despawned }));
    assert_eq!(answers(&out), [(Ticket(5), Answer::Despawned)]);
    let adopted: Vec<_> = out
        .iter()
        .filter_map(|output| if let Output::Adopt(streams) = output { Some(streams) } else { None })
        .collect();
    assert!(matches!(adopted[..], [streams] if streams.len() == 1 && streams[0].stream.entity() == entity(8)));
    assert!(controls(&out).iter().any(|(_, control)| matches!(control, Control::NotOwner { .. })), "held senders ask");
    assert_eq!(driver.scene.route(entity(1)), Route::Unknown);
}

#[test]
fn a_despawn_that_the_next_home_tells_of_without_its_record_passes_the_windows_on_too() {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let out = driver.record(1, Record::absent(1, false), None);
    assert_eq!(answers(&out), [(Ticket(5), Answer::Despawned)]);
    let adopted = out.iter().find_map(|output| if let Output::Adopt(streams) = output { Some(streams) } else { None });
    let windows = adopted.map(|streams| streams.iter().map(|orphan| orphan.stream.waiting()).collect::<Vec<_>>());
    assert_eq!(windows, Some(vec![1]), "dead is not lost: what it said last is still to be answered");
}

#[test]
fn a_despawn_whose_record_rose_repeats_its_cas_under_a_fresh_nonce() {
    let mut driver = Driver::active();
    let first = driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let out = driver.record(1, given_back(), None);
    let dead = Record { owner: None, epoch: epoch(3), data: epoch(1), lost: false, base: Epoch::ZERO };
    assert_eq!(cas(&out), [((own(1), epoch(2)), dead)]);
    assert_ne!(cas_nonce(&out), cas_nonce(&first));
}

#[test]
fn a_despawn_is_repeated_until_the_home_answers() {
    let mut driver = Driver::active();
    driver.tell(Input::Despawn { ticket: Some(Ticket(5)), entity: entity(1) });
    let out = driver.pass(60_000);
    assert_eq!(cas(&out), [((own(1), epoch(1)), buried())]);
    assert!(ended(&out).is_empty());
}

#[test]
fn a_stop_answers_every_move_once() {
    let states = [Driver::reserving as fn() -> Driver, Driver::frozen, Driver::deciding];
    for driver in states {
        let mut driver = driver();
        let out = driver.tell(Input::Stop);
        assert_eq!(ended(&out), [Outcome::SceneStopped]);
        assert!(matches!(answers(&out)[..], [(Ticket(1), Answer::Moved(_))]));
        assert_eq!(driver.scene.moves_under_way(), 0);
        assert!(driver.scene.is_draining());
        let mut later = driver.tell(Input::Stop);
        later.extend(driver.hear(reserved()));
        later.extend(driver.pass(60_000));
        later.extend(driver.record(1, taken_over(), None));
        assert!(ended(&later).is_empty() && answers(&later).is_empty());
    }
}

#[test]
fn a_stop_reports_a_move_that_is_settling() {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    assert_eq!(ended(&driver.tell(Input::Stop)), [Outcome::Moved { epoch: epoch(2) }]);
    assert_eq!(driver.scene.moves_under_way(), 0);
}

fn decided(out: &[Output]) -> Vec<Option<Own>> {
    let owner = |output: &Output| {
        let Output::Event(Event::MoveDecided { owner, .. }) = output else { return None };
        Some(*owner)
    };
    out.iter().filter_map(owner).collect()
}

#[test]
fn a_despawn_that_nobody_waits_for_is_done_all_the_same() {
    let mut driver = Driver::active();
    let despawn = Input::Despawn { ticket: None, entity: entity(1) };
    assert_eq!(cas(&driver.tell(despawn.clone())), [((own(1), epoch(1)), buried())]);
    assert_eq!(answers(&driver.tell(despawn)), [], "it is under way");
    let out = [driver.pass(10_000), driver.record(1, buried(), None)].concat();
    assert!(out.iter().any(|output| matches!(output, Output::Remove { why: Departure::Despawned, .. })));
    assert_eq!((answers(&out), driver.scene.moves_under_way()), (vec![], 0));
}
