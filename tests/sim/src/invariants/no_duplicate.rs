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
    if line.dead.contains(number) || line.unknown.contains(number) && !sender_is_reset {
        return Err(format!("message {number} is applied after its sender was told that it never will be"));
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
}
