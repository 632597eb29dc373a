//! Nothing is acknowledged that is not applied; and what is acknowledged is in the copy that goes on.

use super::Verdict;
use crate::history::Line;

/// When a sender hears that a message is applied.
pub(crate) fn check(line: &Line, number: u64) -> Verdict {
    if line.applied.contains(&number) {
        return Ok(());
    }
    Err(format!("message {number} is acknowledged, and nobody has applied it"))
}

/// When an owner acknowledges a stream up to a number: `applied` is how many were, from the first one on.
pub(crate) fn check_upto(upto: u64, applied: u64) -> Verdict {
    if upto <= applied {
        return Ok(());
    }
    Err(format!("{upto} messages are acknowledged, and only {applied} were applied"))
}

/// Once faults have ceased: `kept` is what the living copy has applied.
pub(crate) fn check_at_rest(line: &Line, kept: &[u64]) -> Verdict {
    match line.acknowledged.iter().find(|number| !kept.contains(number)) {
        None => Ok(()),
        Some(number) => Err(format!("message {number} is acknowledged, and not in the copy that goes on: {kept:?}")),
    }
}

#[test]
fn an_acknowledgement_of_what_is_only_held_and_a_copy_that_forgot_are_found() {
    let line = Line { accepted: vec![1, 2], applied: [1].into(), acknowledged: [1].into(), ..Line::default() };
    assert!(check(&line, 1).is_ok() && check(&line, 2).is_err());
    assert!(check_upto(3, 3).is_ok() && check_upto(4, 3).is_err());
    assert!(check_at_rest(&line, &[1, 2]).is_ok() && check_at_rest(&line, &[2]).is_err());
}
