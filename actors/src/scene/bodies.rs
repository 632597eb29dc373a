//! The bodies of a scene's entities, in their slots; and copies that are not active yet.
//!
//! Game code is called here and nowhere else. What it does when it panics is its entity's affair: nothing of that
//! reaches the scene but the news.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_cluster::message::{Identity, Image, Payload, Sender};
use slipgate_entity::{Body, Effect, FixedMap, Handle, OnlineId, Returned, Runtime, SceneId, TypeName};

use crate::panic::{Panic, guarded};
use crate::types::Types;

#[derive(Debug)]
pub(super) struct Bodies {
    runtime: Runtime<Box<dyn Body>>,
    handles: FixedMap<OnlineId, Handle>,
    staged: BTreeMap<OnlineId, Box<dyn Body>>,
    /// Those that take no turns.
    parked: BTreeSet<OnlineId>,
    types: Types,
    /// Kept for its room: the size of a body is asked for before each move.
    scratch: Vec<u8>,
}

/// Why a message was not applied, or not to its end.
#[derive(Debug)]
struct Seats(Runtime<Seat>);

#[derive(Debug)]
struct Seat {
    who: Arc<Description>,
    body: Option<Box<Body>>,
    due: Option<Moment>,
}

#[derive(Debug)]
struct Arrival {
    body: Box<Body>,
    from: SceneId,
    is_parked: bool,
}

impl Lookup for Bodies {
    fn find(&self, handle: Handle) -> Result<&Description, LookupError> {
        self.seats.0.get(handle).map(|seat| &*seat.who)
    }

    fn handle_of(&self, entity: OnlineId) -> Option<Handle> {
        self.handle(entity)
    }
}

impl Bodies {
    pub(super) fn new(scene: SceneId, first_generation: u32, types: Types) -> Self {
        let (handles, staged, parked, scratch) = (FixedMap::default(), BTreeMap::new(), BTreeSet::new(), Vec::new());
        let runtime = Runtime::new(scene).with_first_generation(first_generation);
        Self { runtime, handles, staged, parked, types, scratch }
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

    /// Applies a message. What the handler sends is returned; a message that it could not take is told in the log and
    /// counts as applied. What a handler that panics wanted to send is left out.
    pub(super) fn apply(
        &mut self,
        entity: OnlineId,
        sender: Sender,
        payload: &[u8],
    ) -> Result<Vec<(OnlineId, Payload)>, NotApplied> {
        if !self.parked.is_empty() && self.parked.contains(&entity) {
            return Err(NotApplied::Parked);
        }
        let handle = self.handles.get(&entity).expect("the machine applies to entities that have a body");
        let body = self.runtime.get_mut(*handle).expect("a handle lives as long as its body");
        let mut effects = Vec::new();
        match guarded(|| body.apply(payload, &mut effects)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                metrics::counter!("slipgate_messages_failed_total").increment(1);
                tracing::debug!(event = "message.failed", entity = %entity, sender = ?sender, "a message was not taken: {error}");
            }
            Err(panic) => {
                metrics::counter!("slipgate_messages_failed_total").increment(1);
                let type_name = body.type_name();
                let kind = self.types.get(&type_name.0).and_then(|known| known.kind_of(payload));
                return Err(NotApplied::Panicked { type_name, message: kind.unwrap_or("?"), panic });
            }
        }
        Ok(effects.into_iter().map(|Effect::Send { to, payload }| (to, Arc::from(payload))).collect())
    }

    /// A message that an entity sent came back. One that takes no turns does not hear of it.
    pub(super) fn give_back(
        &mut self,
        entity: OnlineId,
        (to, payload): (OnlineId, &[u8]),
        why: Returned,
    ) -> Result<(), NotApplied> {
        if self.parked.contains(&entity) {
            return Err(NotApplied::Parked);
        }
        let handle = self.handles.get(&entity).expect("the machine returns messages to entities that have a body");
        let body = self.runtime.get_mut(*handle).expect("a handle lives as long as its body");
        guarded(|| body.returned(to, payload, why)).map_err(|panic| NotApplied::Panicked {
            type_name: body.type_name(),
            message: "what came back",
            panic,
        })
    }

    /// The entity takes no turns.
    pub(super) fn park(&mut self, entity: OnlineId) {
        self.parked.insert(entity);
    }

    /// The entity takes turns again.
    pub(super) fn unpark(&mut self, entity: OnlineId) {
        self.parked.remove(&entity);
    }

    /// How many take no turns.
    pub(super) fn parked(&self) -> usize {
        self.parked.len()
    }

    /// The body's bytes, or what its encoder panicked with.
    pub(super) fn encode(&self, entity: OnlineId) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        if let Some(body) = self.get(entity) {
            guarded(|| body.encode(&mut bytes)).map_err(|panic| panic.text)?;
        }
        Ok(bytes)
    }

    /// The body in its own words, as JSON.
    pub(super) fn describe(&self, entity: OnlineId) -> String {
        let Some(body) = self.get(entity) else { return String::new() };
        guarded(|| body.describe()).unwrap_or_else(|panic| serde_json::json!({ "panicked": panic.text }).to_string())
    }

    /// Encoded size of a body; 0 if it is not here, and of one whose encoder panics as far as it came.
    pub(super) fn size(&mut self, entity: OnlineId) -> u64 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        if let Some(body) = self.get(entity) {
            // It panics again when it is to move, and that is told.
            let _ = guarded(|| body.encode(&mut scratch));
        }
        let size = scratch.len() as u64;
        if scratch.capacity() <= SCRATCH_BYTES {
            self.scratch = scratch;
        }
        size
    }

    fn get(&self, entity: OnlineId) -> Option<&dyn Body> {
        let handle = self.handles.get(&entity)?;
        self.runtime.get(*handle).ok().map(AsRef::as_ref)
    }

    pub(super) fn handle(&self, entity: OnlineId) -> Option<Handle> {
        self.handles.get(&entity).copied()
    }

    pub(super) fn stage(&mut self, entity: OnlineId, image: &Image) -> Result<(), String> {
        let name = &image.identity.type_name;
        let known = self.types.get(&name.0).ok_or_else(|| format!("the type {name} is not known here"))?;
        let decoded = guarded(|| known.decode(&image.body));
        let body = decoded.unwrap_or_else(|panic| Err(format!("its decoder panicked: {}", panic.text)))?;
        self.staged.insert(entity, body);
        Ok(())
    }

    pub(super) fn install(&mut self, entity: OnlineId) {
        let body = self.staged.remove(&entity).expect("a copy is staged before it is installed");
        self.put(entity, body);
    }

    fn who(&self, entity: OnlineId) -> Option<&Description> {
        self.find(self.handle(entity)?).ok()
    }

    fn get(&self, entity: OnlineId) -> Option<&Body> {
        let handle = self.handles.get(&entity)?;
        self.seats.0.get(*handle).ok()?.body.as_deref()
    }

    fn put(&mut self, entity: OnlineId, body: Box<Body>) {
        let seat = Seat { who: body.shared_description(), body: Some(body), due: None };
        // Capacity is 32 bits, and a slot is retired only after 2^32 lives.
        let handle = self.seats.0.spawn(seat).expect("a scene's capacity is below the number of slots");
        let seat = self.seats.0.get_mut(handle).expect("it was put there");
        let body = seat.body.as_mut().expect("it was put there");
        body.settle(handle);
        seat.who = body.shared_description();
        let (persist, kind) = (seat.who.persist(), seat.who.type_number());
        let before = self.handles.insert(entity, handle);
        assert!(before.is_none(), "expected no body of {entity}, found one under {before:?}");
        self.persistent.insert(persist, entity);
        self.of_type[kind.index()].insert(entity);
        self.look_at(entity);
    }

    /// Lets a body take a turn: out of its seat, so that it can look up the others.
    fn turn<R>(
        &mut self,
        entity: OnlineId,
        now: Now,
        run: impl FnOnce(&mut Body, &World<'_>, &mut Vec<Effect>) -> R,
    ) -> (R, Vec<Effect>) {
        let handle = *self.handles.get(&entity).expect("the machine speaks of entities that have a body");
        let seat = self.seats.0.get_mut(handle).expect("a handle lives as long as its body");
        let mut body = seat.body.take().expect("a body takes one turn at a time");
        let mut effects = Vec::new();
        let result = run(&mut body, &self.world(now), &mut effects);
        self.seats.0.get_mut(handle).expect("a handle lives as long as its body").body = Some(body);
        self.look_at(entity);
        (result, effects)
    }

    fn world(&self, now: Now) -> World<'_> {
        World { types: &self.types, scene: &self.scene, tick: now.0 / TICK_US, now: Moment(now.0), handles: self }
    }

    /// Notes where an entity stands, and what of it is due.
    fn look_at(&mut self, entity: OnlineId) {
        let takes_turns = !self.parked.contains(&entity) && !self.away.contains_key(&entity);
        let handle = *self.handles.get(&entity).expect("whoever is looked at has a body");
        let seat = self.seats.0.get_mut(handle).expect("a handle lives as long as its body");
        let Some(body) = &seat.body else { return };
        let due = if takes_turns { body.due() } else { None };
        if due != seat.due {
            let before = std::mem::replace(&mut seat.due, due);
            before.map(|before| self.due.remove(&(before, entity)));
            due.map(|due| self.due.insert((due, entity)));
        }
        let place = body.position().map(|position| [position.x, position.y]);
        self.grid.place(entity, place);
    }
}

/// Room that is kept: a large body may be the only one of its kind.
const SCRATCH_BYTES: usize = 64 << 10;
