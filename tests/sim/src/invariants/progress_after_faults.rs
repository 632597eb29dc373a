//! Once faults have ceased, every request has one answer, every move one end, and every accepted message is applied
//! or answered.

use slipgate_cluster::moves::Outcome;

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

/// A move whose source is there to tell of it.
pub(crate) fn check_move(story: &MoveStory) -> Verdict {
    let is_told = match story.ended[..] {
        [Outcome::Undecided] => story.decided == 1,
        [_] => story.decided == 0,
        _ => false,
    };
    if is_told && story.began == 1 { Ok(()) } else { Err(format!("a move is told wrongly: {story:?}")) }
}

/// A request to a scene that is there to answer it.
pub(crate) fn check_request(answers: u32) -> Verdict {
    if answers == 1 { Ok(()) } else { Err(format!("a request has {answers} answers")) }
}

#[test]
fn a_message_that_vanished_a_false_answer_and_a_move_without_an_end_are_found() {
    use slipgate_cluster::{Own, Session};
    use slipgate_entity::SceneId;
    let line = Line { accepted: vec![1, 2, 3], applied: [1].into(), dead: [3].into(), ..Line::default() };
    assert!(check_line(&line, &[1], Receiver::Lives, false).is_err());
    assert!(check_line(&line, &[1], Receiver::Despawned, false).is_err());
    let line = Line { applied: [1, 2].into(), ..line };
    assert!(check_line(&line, &[1, 2], Receiver::Despawned, false).is_ok());
    assert!(check_line(&line, &[1, 2], Receiver::Lost, false).is_err());
    assert!(check_line(&line, &[1, 2, 3], Receiver::Lives, false).is_err());
    let story = |ended: &[Outcome], decided| MoveStory {
        source: Own::new(Session::new(1, 1), SceneId(1)),
        began: 1,
        ended: ended.to_vec(),
        decided,
    };
    assert!(check_move(&story(&[Outcome::Cancelled], 0)).is_ok());
    assert!(check_move(&story(&[], 0)).is_err());
    assert!(check_move(&story(&[Outcome::Cancelled, Outcome::Cancelled], 0)).is_err());
    assert!(check_move(&story(&[Outcome::Undecided], 0)).is_err());
    assert!(check_request(1).is_ok() && check_request(0).is_err() && check_request(2).is_err());
}
