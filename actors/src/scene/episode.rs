//! What a scene tells watchers of an entity's life, but for its moves ([`Story`](super::Story)).
//!
//! It is put into words when somebody reads it, which may be never. The log has lines of its own where somebody should
//! look: a spawn is none of these, a panic is.

use std::sync::Arc;

use serde_json::json;
use slipgate_entity::OnlineId;
use slipgate_entity::game::Description;
use slipgate_proto::admin::Event;

use crate::clock::rfc3339_of;

/// Something in the life of an entity.
#[derive(Clone, Debug)]
pub struct Episode {
    pub(super) who: Arc<Description>,
    pub(super) what: What,
    /// The scene that tells of it: `forest@n1`.
    pub(super) scene: Arc<str>,
    pub(super) unix_ms: u64,
}

/// What has happened.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// It lives.
    Spawned,
    /// It was to live, and its game code says why it cannot: it is despawned.
    Unfit(String),
    /// It lives no more.
    Despawned,
    /// Its game code panicked, as the text says.
    Panicked(String),
    /// It takes turns again.
    Unparked,
}

impl Episode {
    /// That an entity lives.
    #[cfg(test)]
    pub(crate) fn spawned(who: Arc<Description>, scene: Arc<str>, unix_ms: u64) -> Self {
        Self { who, what: What::Spawned, scene, unix_ms }
    }

    /// Whose game code panicked and how, in words, if that is what it tells of.
    #[must_use]
    pub fn panic(&self) -> Option<(OnlineId, String)> {
        let What::Panicked(text) = &self.what else { return None };
        let (entity, type_name) = (self.who.online(), self.who.type_name());
        let label = self.who.label().map(|label| format!(" ({label})")).unwrap_or_default();
        Some((entity, format!("{type_name} {entity}{label} in {}: {text}", self.scene)))
    }

    /// The event for watchers, without node and number.
    #[must_use]
    pub fn event(&self) -> Event {
        let (event, text) = match &self.what {
            What::Spawned => ("entity.spawned", None),
            What::Unfit(text) => ("entity.unfit", Some(text)),
            What::Despawned => ("entity.despawned", None),
            What::Panicked(text) => ("entity.panicked", Some(text)),
            What::Unparked => ("entity.unparked", None),
        };
        let mut fields = json!({
            "entity": self.who.online().to_string(),
            "type": self.who.type_name(),
            "scene": &*self.scene,
        });
        if let Some(label) = self.who.label() {
            fields["label"] = json!(label);
        }
        if let Some(text) = text {
            fields["text"] = json!(text);
        }
        Event {
            node: String::new(),
            number: 0,
            ts: rfc3339_of(self.unix_ms),
            event: event.to_owned(),
            fields: fields.to_string(),
        }
    }
}
