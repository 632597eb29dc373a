//! The bodies of a scene's entities, in their slots; and copies that are not active yet.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use slipgate_cluster::message::{Identity, Image, Payload, Sender};
use slipgate_entity::{Body, Effect, FixedMap, Handle, OnlineId, Runtime, SceneId};

use crate::types::Types;

#[derive(Debug)]
pub(super) struct Bodies {
    runtime: Runtime<Box<dyn Body>>,
    handles: FixedMap<OnlineId, Handle>,
    staged: BTreeMap<OnlineId, Box<dyn Body>>,
    types: Types,
    /// Kept for its room: the size of a body is asked for before each move.
    scratch: Vec<u8>,
}

impl Bodies {
    pub(super) fn new(scene: SceneId, first_generation: u32, types: Types) -> Self {
        let (handles, staged, scratch) = (FixedMap::default(), BTreeMap::new(), Vec::new());
        let runtime = Runtime::new(scene).with_first_generation(first_generation);
        Self { runtime, handles, staged, types, scratch }
    }

    /// No handle that was given out here has a higher generation.
    pub(super) fn highest_generation(&self) -> u32 {
        self.runtime.highest_generation()
    }

    pub(super) fn create(&mut self, entity: OnlineId, identity: &Identity) {
        let known = self.types.get(&identity.type_name.0).expect("a spawn is checked against the types first");
        let body = known.create(entity);
        self.put(entity, body);
    }

    fn put(&mut self, entity: OnlineId, body: Box<dyn Body>) {
        // Capacity is 32 bits, and a slot is retired only after 2^32 lives.
        let handle = self.runtime.spawn(body).expect("a scene's capacity is below the number of slots");
        let before = self.handles.insert(entity, handle);
        assert!(before.is_none(), "expected no body of {entity}, found one under {before:?}");
    }

    /// Applies a message. What the handler sends is returned; a message that it could not take, or a
    /// panic, is told in the log and counts as applied.
    pub(super) fn apply(&mut self, entity: OnlineId, sender: Sender, payload: &[u8]) -> Vec<(OnlineId, Payload)> {
        let handle = self.handles.get(&entity).expect("the machine applies to entities that have a body");
        let body = self.runtime.get_mut(*handle).expect("a handle lives as long as its body");
        let mut effects = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| body.apply(payload, &mut effects)));
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                metrics::counter!("slipgate_messages_failed_total").increment(1);
                tracing::debug!(event = "message.failed", entity = %entity, sender = ?sender, "a message was not taken: {error}");
            }
            Err(_) => {
                metrics::counter!("slipgate_messages_failed_total").increment(1);
                tracing::error!(
                    event = "message.panicked",
                    entity = %entity,
                    sender = ?sender,
                    "a handler panicked; the entity goes on with the state that the handler left"
                );
            }
        }
        effects.into_iter().map(|Effect::Send { to, payload }| (to, Arc::from(payload))).collect()
    }

    pub(super) fn encode(&self, entity: OnlineId) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(body) = self.get(entity) {
            body.encode(&mut bytes);
        }
        bytes
    }

    /// Encoded size of a body; 0 if it is not here.
    pub(super) fn size(&mut self, entity: OnlineId) -> u64 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        if let Some(body) = self.get(entity) {
            body.encode(&mut scratch);
        }
        let size = scratch.len() as u64;
        if scratch.capacity() <= SCRATCH_BYTES {
            self.scratch = scratch;
        }
        size
    }

    pub(super) fn get(&self, entity: OnlineId) -> Option<&dyn Body> {
        let handle = self.handles.get(&entity)?;
        self.runtime.get(*handle).ok().map(AsRef::as_ref)
    }

    pub(super) fn handle(&self, entity: OnlineId) -> Option<Handle> {
        self.handles.get(&entity).copied()
    }

    pub(super) fn stage(&mut self, entity: OnlineId, image: &Image) -> Result<(), String> {
        let name = &image.identity.type_name;
        let known = self.types.get(&name.0).ok_or_else(|| format!("the type {name} is not known here"))?;
        let body = known.decode(&image.body)?;
        self.staged.insert(entity, body);
        Ok(())
    }

    pub(super) fn install(&mut self, entity: OnlineId) {
        let body = self.staged.remove(&entity).expect("a copy is staged before it is installed");
        self.put(entity, body);
    }

    pub(super) fn drop_staged(&mut self, entity: OnlineId) {
        self.staged.remove(&entity);
    }

    pub(super) fn remove(&mut self, entity: OnlineId) {
        let handle = self.handles.remove(&entity).expect("only an entity with a body is removed");
        self.runtime.despawn(handle).expect("a handle lives as long as its body");
    }
}

/// Room that is kept: a large body may be the only one of its kind.
const SCRATCH_BYTES: usize = 64 << 10;
