//! Nothing is acknowledged that is not applied.

/// `upto` is the number acknowledged, `applied` how many were applied.
pub(crate) fn check(upto: u64, applied: usize) -> Result<(), String> {
    if upto <= applied as u64 {
        return Ok(());
    }
    Err(format!("{upto} messages are acknowledged, but only {applied} were applied"))
}

#[test]
fn an_acknowledgement_of_what_is_only_held_is_found() {
    assert!(check(3, 3).is_ok());
    assert!(check(4, 3).is_err());
}
