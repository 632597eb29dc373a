//! Once faults have ceased, every request has one answer, every move one end, and every accepted message is applied
//! or answered.

use std::collections::BTreeSet;

use slipgate_cluster::moves::Outcome;
use slipgate_cluster::{Record, Session};

use super::Verdict;
use crate::history::{Line, MoveStory};

/// What became of the receiver of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// It lives.
    Lives,
    /// It was despawned, and lives again: all who knew are gone, and a late copy was not.
    Revived,
    /// It was despawned.
    Despawned,
    /// It was lost with a node.
    Lost,
    /// It was despawned, and whoever knew that was lost; or it never was.
    Forgotten,
}

/// A line whose sender is there to be told. `kept` is what the living copy has applied; `is_reset`, if the receiver's
/// streams began anew.
pub(crate) fn check_line(line: &Line, kept: &[u64], receiver: Receiver, is_reset: bool) -> Verdict {
    let is_fine = |number: &u64| {
        let is_answered = [&line.dead, &line.unknown, &line.lost].iter().any(|told| told.contains(number));
        let has_been_applied = line.applied.contains(number);
        match receiver {
            Receiver::Lives | Receiver::Revived => kept.contains(number) || is_answered || is_reset && has_been_applied,
            Receiver::Despawned | Receiver::Lost | Receiver::Forgotten => has_been_applied || is_answered,
        }
    };
    if let Some(number) = line.accepted.iter().find(|number| !is_fine(number)) {
        return Err(format!("message {number} vanished ({receiver:?})"));
    }
    let is_told_of_a_loss = !line.unknown.is_empty() || !line.lost.is_empty();
    let is_false = match receiver {
        Receiver::Lives => !line.dead.is_empty() || is_told_of_a_loss && !is_reset,
        Receiver::Despawned => is_told_of_a_loss && !is_reset,
        Receiver::Lost => !line.dead.is_empty(),
        Receiver::Revived | Receiver::Forgotten => false,
    };
    if is_false { Err(format!("a false answer ({receiver:?}): {line:?}")) } else { Ok(()) }
}

/// When a move ends: `here` tells whether the entity takes turns at the source.
pub(crate) fn check_told(outcome: &Outcome, here: bool) -> Verdict {
    let fits = match outcome {
        // It may have come back since.
        Outcome::Moved { .. } => true,
        Outcome::Undecided | Outcome::SceneStopped | Outcome::Lost => !here,
        Outcome::Refused(_)
        | Outcome::Timeout { .. }
        | Outcome::NodeLost
        | Outcome::Cancelled
        | Outcome::HomeUnreachable => here,
    };
    if fits { Ok(()) } else { Err(format!("{outcome:?} is told, but takes turns at the source: {here}")) }
}

/// A move whose source is there to tell of it. `may_be_lost`, where the end of a life has touched the entity: the target
/// may have ended with the copy, before it could tell of it, or after; then the source may go on with its own.
pub(crate) fn check_move(story: &MoveStory, may_be_lost: bool) -> Verdict {
    let fits = match story.ended[..] {
        [Outcome::Moved { .. }] => story.arrived + u32::from(may_be_lost) >= 1 && story.decided == 0,
        [Outcome::Undecided] => story.decided == 1,
        [_] => (story.arrived == 0 || may_be_lost) && story.decided == 0,
        _ => false,
    };
    if fits && story.arrived <= 1 && story.began == 1 {
        return Ok(());
    }
    Err(format!("a move is told wrongly: {story:?}"))
}

/// When a sender hears `Dead`: only of the dead.
pub(crate) fn check_dead(number: u64, receiver: Option<&Record>) -> Verdict {
    match receiver.and_then(|record| record.owner) {
        None => Ok(()),
        Some(owner) => Err(format!("message {number} is answered dead, but its receiver lives at {owner:?}")),
    }
}

/// Somebody who is lost, and the living who were told of it by the home that it ended with, if it did. Whoever was despawned since
/// is not lost, though nobody may be left who knows.
pub(crate) fn check_named(witnesses: Option<&BTreeSet<Session>>, is_named_or_despawned: bool) -> Verdict {
    match witnesses.filter(|_| !is_named_or_despawned) {
        None => Ok(()),
        Some(witnesses) => Err(format!("is lost without a name, though {witnesses:?} knew it")),
    }
}

/// A request to a scene that is there to answer it.
pub(crate) fn check_request(answers: u32) -> Verdict {
    if answers == 1 { Ok(()) } else { Err(format!("a request has {answers} answers")) }
}

#[test]
fn a_message_that_vanished_a_false_answer_and_a_move_without_an_end_are_found() {
    use slipgate_cluster::{Epoch, Own};
    use slipgate_entity::{OnlineId, RangeId, SceneId};
    let line = Line { accepted: vec![1, 2, 3], applied: [1].into(), dead: [3].into(), ..Line::default() };
    assert!(check_line(&line, &[1], Receiver::Lives, false).is_err());
    assert!(check_line(&line, &[1], Receiver::Despawned, false).is_err());
    let line = Line { applied: [1, 2].into(), ..line };
    assert!(check_line(&line, &[1, 2], Receiver::Despawned, false).is_ok());
    assert!(check_line(&line, &[1, 2], Receiver::Lost, false).is_err());
    assert!(check_line(&line, &[1, 2, 3], Receiver::Lives, false).is_err());
    let own = Own::new(Session::new(1, 1), SceneId(1));
    let story = |ended: &[Outcome], arrived, decided| MoveStory {
        entity: OnlineId::new(RangeId(1), 1),
        source: own,
        began: 1,
        ended: ended.to_vec(),
        arrived,
        decided,
    };
    let moved = Outcome::Moved { epoch: Epoch::FIRST };
    assert!(check_move(&story(&[Outcome::Cancelled], 0, 0), false).is_ok());
    assert!(check_move(&story(&[Outcome::Cancelled], 1, 0), false).is_err());
    assert!(check_move(&story(&[Outcome::Cancelled], 1, 0), true).is_ok());
    assert!(check_move(&story(&[], 0, 0), false).is_err());
    assert!(check_move(&story(&[Outcome::Cancelled, Outcome::Cancelled], 0, 0), false).is_err());
    assert!(check_move(&story(&[Outcome::Undecided], 0, 0), false).is_err());
    assert!(check_move(&story(std::slice::from_ref(&moved), 1, 0), false).is_ok());
    assert!(check_move(&story(std::slice::from_ref(&moved), 0, 0), false).is_err());
    assert!(check_move(&story(std::slice::from_ref(&moved), 0, 0), true).is_ok());
    assert!(check_move(&story(&[moved], 2, 0), true).is_err());
    assert!(check_told(&Outcome::NodeLost, false).is_err() && check_told(&Outcome::NodeLost, true).is_ok());
    assert!(check_told(&Outcome::Undecided, true).is_err());
    assert!(check_dead(1, None).is_ok() && check_dead(1, Some(&Record::never())).is_ok());
    assert!(check_dead(1, Some(&Record::registered(own))).is_err());
    let witnesses = [own.session].into();
    assert!(check_named(Some(&witnesses), true).is_ok() && check_named(None, false).is_ok());
    assert!(check_named(Some(&witnesses), false).is_err());
    assert!(check_request(1).is_ok() && check_request(0).is_err() && check_request(2).is_err());
}
