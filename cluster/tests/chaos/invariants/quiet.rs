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
    /// Streams that are open, at either end, or to be closed.
    pub(crate) streams: usize,
    /// Messages that wait at their receivers.
    pub(crate) held: usize,
    /// Alarms that are set.
    pub(crate) alarms: usize,
    /// Copies set aside, or bodies without an entity.
    pub(crate) bodies: usize,
}

/// After a time that is ample.
pub(crate) fn check(leftovers: Leftovers) -> Result<(), String> {
    if leftovers == Leftovers::default() { Ok(()) } else { Err(format!("left behind: {leftovers:?}")) }
}

/// What is remembered for good: `floors` over all entities that live, of so many scenes and routers.
pub(crate) fn check_memory(floors: usize, entities: usize, openers: usize, tombstones: usize) -> Result<(), String> {
    if floors <= entities * openers && tombstones == 0 {
        return Ok(());
    }
    Err(format!("{entities} entities remember {floors} of {openers} openers; {tombstones} tombstones are left"))
}

#[test]
fn a_reservation_that_never_ends_and_a_table_that_never_shrinks_are_found() {
    assert!(check(Leftovers::default()).is_ok());
    assert!(check(Leftovers { arriving: 1, ..Leftovers::default() }).is_err());
    assert!(check_memory(6, 2, 3, 0).is_ok());
    assert!(check_memory(7, 2, 3, 0).is_err() && check_memory(6, 2, 3, 1).is_err());
}
