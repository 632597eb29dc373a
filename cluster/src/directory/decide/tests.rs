//! The rows of the decision, each with the run that forced it.
//!
//! S is scene 1, T scene 2, U scene 3, each of a node of its own. Epochs are of term 0, decided is in term 1.

use slipgate_entity::SceneId;

use super::*;
use crate::message::Nonce;

const S: u16 = 1;
const T: u16 = 2;
const U: u16 = 3;

fn own(node: u16) -> Own {
    Own::new(Session::new(node, 1), SceneId::from(node))
}

fn at(count: u32) -> Epoch {
    Epoch::new(0, count)
}

/// The record at `epoch`, of the copy made at `data`.
fn title(epoch: u32, data: u32) -> Title {
    Title { epoch: at(epoch), data: at(data), base: Epoch::ZERO }
}

fn active(epoch: u32, data: u32) -> Stake {
    Stake::Active(title(epoch, data))
}

fn leaving(epoch: u32, data: u32, target: u16) -> Stake {
    Stake::Leaving { title: title(epoch, data), target: own(target), is_late: false }
}

/// The same, for so long that others may have forgotten what they know of it.
fn left_behind(epoch: u32, data: u32, target: u16) -> Stake {
    Stake::Leaving { title: title(epoch, data), target: own(target), is_late: true }
}

fn staged(label: u32, source: u16) -> Stake {
    Stake::Staged { label: at(label), source: own(source), nonce: Nonce(1) }
}

/// It left, and the record then named `owner`.
fn gone(owner: Option<u16>, epoch: u32, data: u32) -> Stake {
    let (owner, lost) = (owner.map(own), false);
    Stake::Gone(Record { owner, epoch: at(epoch), data: at(data), lost, base: Epoch::ZERO })
}

/// What is decided if `dead` are dead and `silent` have not been heard.
fn decide(claims: &[(u16, Stake)], dead: &[u16], silent: &[u16]) -> Decision {
    let claims: Vec<_> = claims.iter().map(|(node, stake)| (own(*node), stake.clone())).collect();
    let inquiry = Inquiry {
        term: 1,
        rules: Rules::default(),
        claims: &claims,
        is_dead: |session: Session| dead.contains(&session.node.0),
        is_heard: |own: Own| !silent.contains(&own.session.node.0),
    };
    let decision = inquiry.decide();
    let reversed: Vec<_> = claims.iter().rev().cloned().collect();
    assert_eq!(Inquiry { claims: &reversed, ..inquiry }.decide(), decision, "who speaks first does not matter");
    decision
}

fn exact(owner: u16, data: u32) -> Decision {
    let record =
        Record { owner: Some(own(owner)), epoch: Epoch::new(1, 0), data: at(data), lost: false, base: Epoch::ZERO };
    Decision { record, certainty: Certainty::Exact, was_at: None }
}

fn reset(owner: u16, data: u32) -> Decision {
    let base = Epoch::new(1, 0);
    let record = Record { owner: Some(own(owner)), epoch: base, data: at(data), lost: false, base };
    Decision { record, certainty: Certainty::Reset, was_at: None }
}

fn is_lost(decision: Decision, was_at: Option<u16>) {
    assert_eq!((decision.certainty, decision.was_at), (Certainty::Lost, was_at.map(own)));
    let Record { owner, epoch, lost, .. } = decision.record;
    assert_eq!((owner, epoch, lost), (None, Epoch::new(1, 0), true));
}

#[test]
fn an_entity_that_takes_turns_stays_where_it_is_with_its_copy_and_its_streams() {
    assert_eq!(decide(&[(S, active(7, 3))], &[], &[]), exact(S, 3));
    let title = Title { base: Epoch::new(0, 2), ..title(7, 3) };
    let record = decide(&[(S, Stake::Active(title))], &[], &[]).record;
    assert_eq!((record.data, record.base), (at(3), Epoch::new(0, 2)));
}

#[test]
fn a_despawn_that_is_under_way_is_not_decided_here_its_owner_asks_again() {
    assert_eq!(decide(&[(S, Stake::Despawning(title(7, 3)))], &[], &[]), exact(S, 3));
}

/// With the first live claim deciding: T is active unheard, and S resumes (5 steps, two owners).
#[test]
fn the_highest_epoch_decides_whoever_speaks_first() {
    assert_eq!(decide(&[(S, leaving(4, 1, T)), (T, active(5, 5))], &[], &[]), exact(T, 5));
}

#[test]
fn a_source_whose_target_was_heard_and_did_not_take_over_goes_on_as_if_nothing_had_been() {
    assert_eq!(decide(&[(S, leaving(4, 1, T))], &[], &[]), exact(S, 1));
    assert_eq!(decide(&[(S, leaving(4, 1, T)), (T, staged(5, S))], &[], &[]), exact(S, 1));
    assert_eq!(decide(&[(S, leaving(4, 1, T))], &[T], &[]), exact(S, 1), "heard, then dead");
}

/// Taken as it is: T took over, acknowledged, died, and S's copy has a gap for ever (10 steps).
#[test]
fn a_source_whose_target_died_unheard_goes_on_with_its_streams_reset() {
    assert_eq!(decide(&[(S, leaving(4, 1, T))], &[T], &[T]), reset(S, 1));
}

/// Taken as it is: T took over, handed on to U and forgot it; U died, and S's copy has a gap for ever. A copy that S has
/// sent since says nothing: T stages it for as long as it takes to ask.
#[test]
fn a_source_that_was_frozen_for_longer_than_others_remember_goes_on_with_its_streams_reset() {
    assert_eq!(decide(&[(S, left_behind(4, 1, T))], &[U], &[U]), reset(S, 1));
    assert_eq!(decide(&[(S, left_behind(4, 1, T)), (T, staged(5, S))], &[U], &[U]), reset(S, 1));
    assert_eq!(decide(&[(S, left_behind(4, 1, T)), (T, active(5, 5))], &[], &[]), exact(T, 5));
    assert_eq!(decide(&[(S, left_behind(4, 1, T)), (U, staged(6, T))], &[T], &[T]), reset(U, 6));
}

#[test]
fn a_target_that_is_alive_without_such_a_scene_was_heard() {
    assert_eq!(decide(&[(S, leaving(4, 1, T))], &[], &[T]), exact(S, 1));
}

/// Taken as it is: an old copy beats a newer one (13 steps). T took over at 5, and U has its copy of 6.
#[test]
fn a_copy_of_what_came_after_the_target_refutes_the_source() {
    assert_eq!(decide(&[(S, leaving(4, 1, T)), (U, staged(6, T))], &[T], &[T]), reset(U, 6));
    is_lost(decide(&[(S, leaving(4, 1, T)), (U, staged(6, T))], &[T, U], &[T]), Some(S));
    let refuted = decide(&[(S, leaving(4, 1, T)), (U, staged(6, T))], &[T, U], &[T]).record;
    assert_ne!(refuted.data, at(1), "the source must not take the loss for one of its own copy");
}

#[test]
fn the_copy_that_the_source_itself_has_sent_does_not_refute_it() {
    assert_eq!(decide(&[(S, leaving(4, 1, U)), (T, staged(5, S))], &[U], &[U]), reset(S, 1));
}

/// Without what has gone in the answers: S handed over and let go, T was not told, and T's perfect copy is lost
/// (5 steps).
#[test]
fn whoever_the_entity_went_to_has_it_once_it_has_the_very_copy() {
    assert_eq!(decide(&[(S, gone(Some(T), 5, 5)), (T, staged(5, S))], &[], &[]), exact(T, 5));
    assert_eq!(decide(&[(S, gone(Some(T), 5, 5)), (T, active(5, 5))], &[], &[]), exact(T, 5));
}

#[test]
fn whoever_heard_of_a_later_epoch_makes_a_frozen_owner_exact_that_has_not_heard() {
    // S gave up, the record named it again at 5, and only T was told.
    assert_eq!(decide(&[(S, leaving(4, 1, T)), (T, gone(Some(S), 5, 1))], &[T], &[]), exact(S, 1));
}

/// Taken at its word: T has handed it on and is dead, and nobody owns it (7 steps).
#[test]
fn where_it_went_and_is_not_claimed_what_is_known_is_out_of_date() {
    assert_eq!(decide(&[(S, gone(Some(T), 5, 5)), (U, staged(6, T))], &[T], &[T]), reset(U, 6));
    is_lost(decide(&[(S, gone(Some(T), 5, 5))], &[T], &[T]), Some(T));
    is_lost(decide(&[(S, gone(Some(T), 5, 5)), (T, staged(3, U))], &[], &[]), Some(T));
}

#[test]
fn a_copy_whose_source_lives_is_not_taken_the_source_would_claim_the_entity() {
    is_lost(decide(&[(T, staged(5, S))], &[], &[]), Some(S));
    is_lost(decide(&[(S, gone(Some(U), 7, 7)), (T, staged(5, S))], &[U], &[U]), Some(U));
}

/// As it is: a gap (10 steps). S may have gone on without the copy before it died.
#[test]
fn the_latest_copy_of_a_dead_source_is_taken_with_its_streams_reset() {
    assert_eq!(decide(&[(T, staged(5, S))], &[S], &[S]), reset(T, 5));
    assert_eq!(decide(&[(T, staged(5, S)), (U, staged(6, S))], &[S], &[S]), reset(U, 6));
    assert_eq!(decide(&[(T, staged(5, S)), (U, staged(6, S))], &[S, U], &[S]), reset(T, 5), "U has died as well");
}

#[test]
fn a_copy_that_is_not_above_what_is_known_is_out_of_date() {
    is_lost(decide(&[(S, gone(Some(U), 6, 6)), (T, staged(6, S))], &[S, U], &[U]), Some(U));
}

/// Active after its sender has heard `Dead` (7 steps).
#[test]
fn dead_stays_dead_whatever_copies_there_are() {
    let claims = [(S, gone(None, 6, 5)), (T, staged(5, S)), (U, leaving(4, 1, S))];
    let decision = decide(&claims, &[], &[]);
    assert_eq!(decision.certainty, Certainty::Dead);
    let Record { owner, epoch, lost, .. } = decision.record;
    assert_eq!((owner, epoch, lost), (None, Epoch::new(1, 0), false));
}

#[test]
fn what_was_lost_before_stays_lost_and_is_not_called_dead() {
    let record = Record::registered(own(S)).buried();
    let decision = decide(&[(T, Stake::Gone(record))], &[S], &[S]);
    assert_eq!((decision.certainty, decision.record.lost), (Certainty::Dead, true));
}

#[test]
fn an_owner_that_was_heard_and_has_died_since_never_wins() {
    is_lost(decide(&[(S, active(7, 3))], &[S], &[]), Some(S));
    assert_eq!(decide(&[(S, leaving(4, 1, T)), (T, staged(5, S))], &[S], &[]), reset(T, 5));
    is_lost(decide(&[(S, gone(Some(T), 5, 5)), (T, staged(5, S))], &[T], &[]), Some(T));
}

#[test]
fn an_older_owner_never_wins_against_a_later_one_that_has_died() {
    is_lost(decide(&[(S, leaving(4, 1, T)), (T, active(5, 5))], &[T], &[]), Some(T));
}

#[test]
fn a_later_term_is_above_every_count_of_an_earlier_one() {
    let rebuilt = Title { epoch: Epoch::new(1, 2), data: at(3), base: Epoch::ZERO };
    let claims = [(own(S), Stake::Active(title(900, 900))), (own(T), Stake::Active(rebuilt))];
    let inquiry = Inquiry {
        term: 2,
        rules: Rules::default(),
        claims: &claims,
        is_dead: |_: Session| false,
        is_heard: |_: Own| true,
    };
    let record = inquiry.decide().record;
    assert_eq!((record.owner, record.epoch, record.data), (Some(own(T)), Epoch::new(2, 0), at(3)));
}
