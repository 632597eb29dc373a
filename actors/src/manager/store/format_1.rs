//! Files of format 1, in which a home was a range and a session: every home was in term 0.

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};
use slipgate_cluster::Session;
use slipgate_cluster::view::Home;
use slipgate_entity::RangeId;

use super::{HOMES, StoreError, put, read_value, unread, unwritten};

/// The number of the format.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OldHome {
    pub(super) range: RangeId,
    pub(super) session: Session,
}

/// Writes every home anew, in the transaction that also raises the format.
pub(super) fn bring_up(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut homes = Vec::new();
    for entry in transaction.open_table(HOMES).map_err(unwritten)?.iter().map_err(unread)? {
        let (_, value) = entry.map_err(unread)?;
        let OldHome { range, session } = read_value("homes", value.value())?;
        homes.push(Home::first(range, session));
    }
    homes.iter().try_for_each(|home| put(transaction, HOMES, &home.range, home))
}
