//! What a home hands over to the next one of a range, when it lives to do so.

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;

use crate::Record;

/// A page of a former home's records. They are final: it answers nobody any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Legacy {
    /// It never had them: it was named, and passed over, before it had rebuilt them.
    Unknown,
    /// Records, by id.
    Page {
        /// Whatever has an owner, or differs from what an id without a record is.
        records: Vec<Heirloom>,
        /// Whether there are further pages.
        more: bool,
        /// Whether an id without a record counts as lost, not as dead.
        absent_is_lost: bool,
    },
}

/// A record, handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heirloom {
    /// The entity.
    pub entity: OnlineId,
    /// Its record.
    pub record: Record,
    /// Its label, as far as the home knows it.
    pub label: Option<String>,
}
