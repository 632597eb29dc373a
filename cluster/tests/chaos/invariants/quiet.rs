//! Once faults have ceased and everything is answered, nothing is left behind.

/// What is still open, over the whole cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// Moves and despawns that have not ended.
    pub(crate) busy: usize,
    /// Staged copies and reservations.
    pub(crate) arriving: usize,
    /// Messages of entities that are not acknowledged.
    pub(crate) unacknowledged: u64,
    /// Messages that routers keep.
    pub(crate) waiting: usize,
    /// Messages in the network.
    pub(crate) on_the_way: usize,
    /// Copies set aside, or bodies without an entity.
    pub(crate) bodies: usize,
}

/// After a time that is ample.
pub(crate) fn check(leftovers: Leftovers) -> Result<(), String> {
    if leftovers == Leftovers::default() { Ok(()) } else { Err(format!("left behind: {leftovers:?}")) }
}

#[test]
fn a_reservation_that_never_ends_is_found() {
    assert!(check(Leftovers::default()).is_ok());
    assert!(check(Leftovers { arriving: 1, ..Leftovers::default() }).is_err());
}
