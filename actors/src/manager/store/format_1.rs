//! Files of format 1, in which a home was a range and a session, for every home was in term 0; and in which all
//! scenes were declared.

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};
use slipgate_cluster::view::{Home, ScenePlacement};
use slipgate_cluster::{NodeId, NodeName, Session};
use slipgate_entity::{RangeId, SceneId};

use super::{HOMES, SCENES, StoreError, put, read_value, unread, unwritten};

/// The number of the format.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OldHome {
    pub(super) range: RangeId,
    pub(super) session: Session,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OldScene {
    pub(super) id: SceneId,
    pub(super) name: NodeName,
    pub(super) node: NodeId,
    pub(super) capacity: u32,
}

/// Writes homes and scenes anew, in the transaction that also raises the format.
pub(super) fn bring_up(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut homes = Vec::new();
    for entry in transaction.open_table(HOMES).map_err(unwritten)?.iter().map_err(unread)? {
        let (_, value) = entry.map_err(unread)?;
        let OldHome { range, session } = read_value("homes", value.value())?;
        homes.push(Home::first(range, session));
    }
    homes.iter().try_for_each(|home| put(transaction, HOMES, &home.range, home))?;
    let mut scenes = Vec::new();
    for entry in transaction.open_table(SCENES).map_err(unwritten)?.iter().map_err(unread)? {
        let (_, value) = entry.map_err(unread)?;
        let OldScene { id, name, node, capacity } = read_value("scenes", value.value())?;
        scenes.push(ScenePlacement::declared(id, name, node, capacity));
    }
    scenes.iter().try_for_each(|scene| put(transaction, SCENES, &scene.id, scene))
}
