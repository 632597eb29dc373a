//! Whole tours over HTTP, in worlds that do all well or one thing wrong.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use slipgate_proto::admin::Question;

use super::drive::Ended;
use super::world::{Fault, oracle};
use super::*;
use crate::admin::canned::Canned;
use crate::admin::live::Live;
use crate::client::Client;

const MOVES: u64 = 60;

fn options() -> Options {
    Options {
        moves: MOVES,
        walkers_per_scene: 2,
        movers: 4,
        seed: 1,
        timeout: Duration::from_secs(30),
        afterwards: Afterwards::Despawn,
    }
}

fn tour_with(oracle: &Canned, options: &Options, stop: &AtomicBool) -> Result<Ended, TourError> {
    let live = Live::start(oracle.clone());
    let client = Client::new(&live.at.to_string(), None, Duration::from_secs(5));
    run(options, &Surroundings { client: &client, stop, progress: &|_| () })
}

fn tour(fault: Fault) -> Ended {
    tour_with(&oracle(6, fault), &options(), &AtomicBool::new(false)).expect("a result")
}

fn check_clean(ended: &Ended) {
    assert!(ended.is_clean(), "{ended:?}");
    let Summary { moves_ok, moves_refused, moves_failed, sent, .. } = ended.summary;
    assert_eq!(moves_ok + moves_refused + moves_failed, MOVES);
    assert!(sent >= 10 * MOVES, "{ended:?}");
}

#[test]
fn a_good_world_gives_all_zeros() {
    let ended = tour(Fault::None);
    check_clean(&ended);
    assert_eq!((ended.summary.moves_ok, ended.summary.pause_us.p50), (MOVES, 1900));
}

#[test]
fn a_lost_a_doubled_and_an_overtaken_note_are_each_found() {
    let counts = |fault| {
        let ended = tour(fault);
        assert!(!ended.is_clean(), "{ended:?}");
        let Summary { lost, duplicated, reordered, twins, .. } = ended.summary;
        [lost, duplicated, reordered, twins]
    };
    assert_eq!(counts(Fault::Doubles), [0, 1, 0, 0]);
    assert_eq!(counts(Fault::Swaps), [0, 0, 1, 0]);
}

#[test]
fn a_lost_note_is_told_when_time_is_up() {
    let quick = Options { timeout: Duration::from_millis(500), ..options() };
    let ended = tour_with(&oracle(6, Fault::Loses), &quick, &AtomicBool::new(false)).expect("a result");
    assert_eq!((ended.summary.lost, ended.is_clean()), (1, false), "{ended:?}");
}

#[test]
fn twins_are_found() {
    let ended = tour(Fault::Twins);
    assert!(ended.summary.twins > 0 && !ended.is_clean(), "{ended:?}");
}

#[test]
fn a_walker_that_is_nowhere_at_the_end_is_told() {
    let ended = tour(Fault::Vanishes);
    assert!(!ended.is_clean() && ended.notes[0].ends_with(" is active nowhere"), "{ended:?}");
}

#[test]
fn busy_notes_are_sent_again_and_spoil_nothing() {
    check_clean(&tour(Fault::Busy));
}

#[test]
fn lost_answers_to_notes_spoil_nothing() {
    check_clean(&tour(Fault::AnswersLost));
}

#[test]
fn a_move_whose_answer_is_lost_is_looked_up() {
    let ended = tour(Fault::MoveAnswersLost);
    check_clean(&ended);
    assert_eq!(ended.summary.moves_ok, MOVES);
}

#[test]
fn refused_and_failed_moves_are_counted_and_spoil_nothing() {
    let ended = tour(Fault::SaysNo);
    check_clean(&ended);
    assert_eq!((ended.summary.moves_refused, ended.summary.moves_failed), (20, 10));
}

#[test]
fn what_went_with_a_node_that_died_is_named_and_all_else_is_as_it_must_be() {
    let ended = tour(Fault::NodeDies);
    let Summary { sent, applied, unknown, walkers_lost, .. } = ended.summary;
    let Summary { lost, duplicated, reordered, twins, moves_unanswered, .. } = ended.summary;
    assert_eq!([lost, duplicated, reordered, twins, moves_unanswered], [0; 5], "{ended:?}");
    assert_eq!(sent, applied + unknown, "{ended:?}");
    assert!(walkers_lost > 0 && unknown > 0 && !ended.is_clean(), "{ended:?}");
    let named = ended.notes.iter().filter(|note| note.ends_with("was lost with life 1 of n2")).count() as u64;
    assert_eq!((named, ended.notes.len() as u64), (walkers_lost, walkers_lost), "{ended:?}");
}

#[test]
fn a_node_that_stops_as_planned_meanwhile_spoils_nothing() {
    let oracle = oracle(6, Fault::Stops);
    let ended = tour_with(&oracle, &options(), &AtomicBool::new(false)).expect("a result");
    check_clean(&ended);
    assert!(ended.summary.moves_refused > 0, "{ended:?}");
}

#[test]
fn a_tour_whose_moves_do_not_end_is_given_up_in_time() {
    let quick = Options { timeout: Duration::from_millis(200), ..options() };
    let ended = tour_with(&oracle(6, Fault::Hangs), &quick, &AtomicBool::new(false)).expect("a result");
    assert_eq!(ended.notes[0], "no move has ended for 200ms");
    assert_eq!((ended.summary.moves_ok, ended.summary.lost), (0, 0));
    assert!(ended.summary.moves_unanswered > 0 && !ended.is_clean(), "{ended:?}");
}

#[test]
fn a_world_that_takes_no_messages_ends_the_tour_in_time_and_says_so() {
    let quick = Options { timeout: Duration::from_millis(100), ..options() };
    let ended = tour_with(&oracle(6, Fault::NeverTakes), &quick, &AtomicBool::new(false)).expect("a result");
    assert_eq!(ended.notes, ["only 0 of the 600 messages that were wanted were accepted"]);
    assert!(!ended.is_clean());
}

#[test]
fn walkers_are_removed_at_the_end_unless_they_are_to_stay() {
    let despawns = |afterwards| {
        let oracle = oracle(4, Fault::None);
        tour_with(&oracle, &Options { afterwards, ..options() }, &AtomicBool::new(false)).expect("a result");
        oracle.asked().iter().filter(|question| matches!(question, Question::Despawn { .. })).count()
    };
    assert_eq!((despawns(Afterwards::Despawn), despawns(Afterwards::Keep)), (8, 0));
}

#[test]
fn messages_go_through_every_node() {
    let oracle = oracle(6, Fault::None);
    tour_with(&oracle, &options(), &AtomicBool::new(false)).expect("a result");
    for node in ["n1", "n2", "n3"] {
        let through = |question: &Question| matches!(question, Question::Send { via: Some(via), .. } if via == node);
        assert!(oracle.asked().iter().any(through), "{node}");
    }
}

#[test]
fn a_tour_that_is_stopped_says_so_and_removes_its_walkers() {
    let oracle = oracle(6, Fault::None);
    let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let live = Live::start(oracle.clone());
    let client = Client::new(&live.at.to_string(), None, Duration::from_secs(5));
    let progress = |ended: u64| {
        seen.store(ended, Ordering::Relaxed);
        stop.store(ended >= 3, Ordering::Relaxed);
    };
    let endless = Options { moves: u64::MAX, ..options() };
    let ended = run(&endless, &Surroundings { client: &client, stop: &stop, progress: &progress });
    assert!(matches!(ended, Err(TourError::Stopped { fate: Fate::Removed })), "{ended:?}");
    assert!(seen.load(Ordering::Relaxed) >= 3);
    assert_eq!(oracle.asked().iter().filter(|question| matches!(question, Question::Despawn { .. })).count(), 12);
}

/// A tour without end whose only node goes for good after the third move, once something was sent; `stop` is set then where
/// it is to be.
fn tour_of_a_node_that_goes(timeout: Duration, is_stopped: bool) -> Result<Ended, TourError> {
    let oracle = oracle(6, Fault::None);
    let live = Live::start(oracle.clone());
    // A node has one sender: with more requests than senders one of them has heard its first answer.
    let is_sent = || oracle.asked().iter().filter(|asked| matches!(asked, Question::Send { .. })).count() > 3;
    let client = Client::new(&live.at.to_string(), None, Duration::from_secs(5));
    let (live, stop) = (Mutex::new(Some(live)), AtomicBool::new(false));
    let progress = |ended: u64| {
        if ended >= 3 && is_sent() {
            drop(live.lock().expect("nobody panicked").take());
            stop.store(is_stopped, Ordering::Relaxed);
        }
    };
    let endless = Options { moves: u64::MAX, timeout, ..options() };
    run(&endless, &Surroundings { client: &client, stop: &stop, progress: &progress })
}

#[test]
fn a_tour_whose_node_is_gone_ends_in_time_and_tells_what_it_saw_and_who_is_left() {
    let (began, timeout) = (Instant::now(), Duration::from_secs(1));
    let ended = tour_of_a_node_that_goes(timeout, false).expect("a result");
    // One time-out until it is taken for gone; each ledger and each walker would cost another.
    assert!(began.elapsed() < 4 * timeout, "{:?}", began.elapsed());
    assert!(ended.gone.as_ref().is_some_and(|why| why.starts_with("nothing answers at 127.0.0.1:")), "{ended:?}");
    assert_eq!(ended.fate, Fate::Left { left: 12, of: 12 });
    let Summary { moves_ok, sent, lost, unknown, .. } = ended.summary;
    assert!(moves_ok >= 3 && sent > 0 && !ended.is_clean(), "{ended:?}");
    assert_eq!((lost, unknown), (0, sent), "what nobody can be asked about is unknown: {ended:?}");
}

#[test]
fn a_tour_that_is_stopped_after_its_node_has_gone_says_that_its_walkers_are_left() {
    let ended = tour_of_a_node_that_goes(Duration::from_secs(30), true);
    let left = Fate::Left { left: 12, of: 12 };
    assert!(matches!(ended, Err(TourError::Stopped { fate }) if fate == left), "{ended:?}");
}

#[test]
fn one_scene_is_too_few() {
    let ended = tour_with(&oracle(1, Fault::None), &options(), &AtomicBool::new(false));
    assert!(matches!(ended, Err(TourError::TooFewScenes { open: 1 })), "{ended:?}");
}
