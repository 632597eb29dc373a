//! What an entity to be begins with, as far as a program has said: in a cluster of nodes, and in a simulated one.

use serde_json::{Map, Value};
use slipgate_entity::game::Part;
use slipgate_entity::{PersistId, PlayerId};

use super::SpawnError;

#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) label: Option<String>,
    pub(crate) persist: Option<PersistId>,
    pub(crate) player: PlayerId,
    /// Fields of its parts, by part; or the first part that cannot be written so.
    pub(crate) data: Result<Map<String, Value>, SpawnError>,
}

impl Default for Beginning {
    fn default() -> Self {
        Self { label: None, persist: None, player: PlayerId::NONE, data: Ok(Map::new()) }
    }
}

impl Beginning {
    /// With a part that begins as this one is.
    pub(crate) fn put<P: Part>(&mut self, part: &P) {
        match serde_json::to_value(part) {
            Ok(fields) => self.put_fields(P::NAME, fields),
            Err(error) if self.data.is_ok() => {
                self.data = Err(SpawnError::NotJson { part: P::NAME, why: error.to_string() });
            }
            Err(_) => {}
        }
    }

    /// With a part that begins with these fields.
    pub(crate) fn put_fields(&mut self, part: &str, fields: Value) {
        if let Ok(data) = &mut self.data {
            data.insert(part.to_owned(), fields);
        }
    }
}
