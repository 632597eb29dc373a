//! No message is applied twice, nor after its sender was told that it never will be.

use super::Verdict;
use crate::history::Line;

/// `list` is what the body has applied of one sender, with the message just applied at its end. A sender that began anew
/// was told so of all that it had said, and some of that is on its way yet.
pub(crate) fn check(line: &Line, list: &[u64], sender_is_reset: bool) -> Verdict {
    let (number, before) = list.split_last().expect("something was applied");
    if before.contains(number) {
        return Err(format!("message {number} is applied twice: {list:?}"));
    }
    if line.dead.contains(number) || line.lost.contains(number) || line.unknown.contains(number) && !sender_is_reset {
        return Err(format!("message {number} is applied after its sender was told that it never will be"));
    }
    Ok(())
}

/// When a sender hears that the receiver was lost before the message left.
pub(crate) fn check_lost(line: &Line, number: u64) -> Verdict {
    if line.applied.contains(&number) {
        return Err(format!("message {number} is told lost, and was applied"));
    }
    Ok(())
}

#[test]
fn a_repeat_and_what_comes_back_from_the_dead_are_found() {
    let line = Line { accepted: vec![4, 7, 9], dead: [7].into(), unknown: [9].into(), ..Line::default() };
    assert!(check(&line, &[4], false).is_ok());
    assert!(check(&line, &[4, 4], false).is_err());
    assert!(check(&line, &[4, 7], false).is_err());
    assert!(check(&line, &[4, 9], false).is_err());
    assert!(check(&line, &[4, 9], true).is_ok());
    let line = Line { applied: [4].into(), lost: [7].into(), ..Line::default() };
    assert!(check(&line, &[7], false).is_err());
    assert!(check_lost(&line, 4).is_err() && check_lost(&line, 7).is_ok());
}
