//! Every attempt to move is answered once, and the answer tells where the entity is.

use slipgate_cluster::moves::Outcome;

use crate::chaos::history::MoveStory;

/// When an attempt ends: `here` tells whether the entity is active at the source.
pub(crate) fn check_told(outcome: &Outcome, here: bool) -> Result<(), String> {
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
    if fits { Ok(()) } else { Err(format!("{outcome:?} is told, but active at the source: {here}")) }
}

/// Once faults have ceased.
pub(crate) fn check_at_rest(story: &MoveStory) -> Result<(), String> {
    let fits = match story.ended[..] {
        [Outcome::Moved { .. }] => story.arrived == 1 && story.decided == 0,
        [Outcome::Undecided] => story.arrived <= 1 && story.decided == 1,
        [_] => story.arrived == 0 && story.decided == 0,
        _ => false,
    };
    if fits && story.began == 1 { Ok(()) } else { Err(format!("a move is told wrongly: {story:?}")) }
}

#[test]
fn a_move_without_an_end_with_two_or_with_a_false_one_is_found() {
    use slipgate_cluster::{Epoch, Own, Session};
    use slipgate_entity::{OnlineId, RangeId, SceneId};
    let moved = Outcome::Moved { epoch: Epoch::FIRST };
    let story = |ended: &[Outcome], arrived, decided| MoveStory {
        entity: OnlineId::new(RangeId(1), 1),
        source: Own::new(Session::new(1, 1), SceneId(1)),
        began: 1,
        ended: ended.to_vec(),
        arrived,
        decided,
    };
    assert!(check_at_rest(&story(std::slice::from_ref(&moved), 1, 0)).is_ok());
    assert!(check_at_rest(&story(&[], 1, 0)).is_err());
    assert!(check_at_rest(&story(&[moved.clone(), moved.clone()], 1, 0)).is_err());
    assert!(check_at_rest(&story(std::slice::from_ref(&moved), 0, 0)).is_err());
    assert!(check_at_rest(&story(&[Outcome::Cancelled], 1, 0)).is_err());
    assert!(check_at_rest(&story(&[Outcome::Undecided], 0, 0)).is_err());
    assert!(check_told(&Outcome::NodeLost, false).is_err());
    assert!(check_told(&Outcome::Undecided, true).is_err());
}
