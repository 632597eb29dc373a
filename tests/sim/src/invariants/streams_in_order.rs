//! What an entity applies of a sender is what that sender said, in that order; what is left out has been answered.

use slipgate_cluster::message::Sender;
use slipgate_entity::OnlineId;

use super::Verdict;
use crate::history::Line;

/// `list` is what the body has applied of one sender, with the message just applied at its end. `may_skip`, where the
/// streams of either began anew, because a copy of it was lost with a node.
pub(crate) fn check(line: &Line, list: &[u64], may_skip: bool) -> Verdict {
    let number = *list.last().expect("something was applied");
    let place = |number: u64| line.accepted.binary_search(&number).ok();
    let Some(at) = place(number) else { return Err(format!("message {number} was never accepted")) };
    let before = list.len().checked_sub(2).and_then(|before| place(list[before]));
    if before.is_some_and(|before| before >= at) {
        return Err(format!("message {number} is out of order: {list:?} of {:?}", line.accepted));
    }
    let skipped = &line.accepted[before.map_or(0, |before| before + 1)..at];
    let is_answered =
        |number: &u64| line.unknown.contains(number) || line.dead.contains(number) || line.lost.contains(number);
    if may_skip || skipped.iter().all(is_answered) {
        return Ok(());
    }
    Err(format!("{skipped:?} are skipped before {number}, and nobody was told"))
}

/// A message, who sent it and to whom.
type Meant = (u64, Sender, OnlineId);

/// A message on its way: a number in a stream always means the same one. `known` is what the number meant before.
pub(crate) fn check_numbering(meant: Meant, known: Meant) -> Verdict {
    if meant == known { Ok(()) } else { Err(format!("a number of a stream was message {known:?}, and is {meant:?}")) }
}

#[test]
fn a_number_that_means_another_message_or_leads_to_another_entity_is_found() {
    use slipgate_cluster::Session;
    use slipgate_entity::RangeId;
    let meant = |number, to| (number, Sender::Tool(Session::new(1, 1)), OnlineId::new(RangeId(1), to));
    assert!(check_numbering(meant(4, 1), meant(4, 1)).is_ok());
    assert!(check_numbering(meant(4, 1), meant(5, 1)).is_err() && check_numbering(meant(4, 1), meant(4, 2)).is_err());
}

#[test]
fn a_gap_a_swap_and_a_message_from_nowhere_are_found() {
    let line = Line { accepted: vec![4, 7, 9], ..Line::default() };
    assert!(check(&line, &[4, 7], false).is_ok());
    assert!(check(&line, &[4, 9], false).is_err());
    assert!(check(&line, &[7], false).is_err());
    assert!(check(&line, &[7, 4], true).is_err());
    assert!(check(&line, &[4, 5], true).is_err());
    assert!(check(&line, &[4, 9], true).is_ok());
    let line = Line { unknown: [7].into(), ..line };
    assert!(check(&line, &[4, 9], false).is_ok());
}
