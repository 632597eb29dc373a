//! What an entity has applied of a sender is what that sender said, from the first on: no gap, no
//! repeat, no other order; and a copy that goes on knows of everything that was ever applied.

/// `applied` is the body's own record, `before` how many were applied until now, wherever that was.
pub(crate) fn check(accepted: &[u64], applied: &[u64], before: usize) -> Result<(), String> {
    let expected = accepted.get(before);
    if applied.len() == before + 1 && applied.last() == expected {
        return Ok(());
    }
    Err(format!(
        "after {before} messages of {accepted:?} the next is {expected:?}, but the body has applied {applied:?}"
    ))
}

#[test]
fn a_gap_a_repeat_a_swap_and_a_copy_that_forgot_are_found() {
    let accepted = [4, 7, 9];
    assert!(check(&accepted, &[4, 7], 1).is_ok());
    assert!(check(&accepted, &[4, 9], 1).is_err());
    assert!(check(&accepted, &[4, 4], 1).is_err());
    assert!(check(&accepted, &[7], 0).is_err());
    assert!(check(&accepted, &[4], 1).is_err());
    assert!(check(&accepted, &[4, 7, 9, 9], 3).is_err());
}
