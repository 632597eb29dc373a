//! Once faults have ceased and everything is answered, nothing is left behind.

use super::Verdict;

/// What is still open, over the whole cluster: what it is, and how much.
pub(crate) type Leftovers = [(&'static str, u64)];

/// After a time that is ample.
pub(crate) fn check(leftovers: &Leftovers) -> Verdict {
    let left: Vec<_> = leftovers.iter().filter(|(_, count)| *count > 0).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// What is remembered for good: `floors` over all entities that live, of so many scenes and routers.
pub(crate) fn check_memory(floors: usize, entities: usize, openers: usize, tombstones: usize) -> Verdict {
    if floors <= entities * openers && tombstones == 0 {
        return Ok(());
    }
    Err(format!("{entities} entities remember {floors} of {openers} openers; {tombstones} tombstones are left"))
}

#[test]
fn a_reservation_that_never_ends_and_a_table_that_never_shrinks_are_found() {
    assert!(check(&[("copies", 0)]).is_ok() && check(&[("copies", 0), ("alarms", 1)]).is_err());
    assert!(check_memory(6, 2, 3, 0).is_ok());
    assert!(check_memory(7, 2, 3, 0).is_err() && check_memory(6, 2, 3, 1).is_err());
}
