//! Game code is called: for messages, timers and the turns of an entity's life.
//!
//! Keeps: each part of a hook panics alone, and the others have theirs. What a handler that panics wanted is left out.
//! Leaves out: what becomes of effects, and of a panic (`turns`).

use slipgate_cluster::Now;
use slipgate_cluster::message::{Identity, Image};
use slipgate_entity::game::{
    Body, CallError, Data, Destination, Effect, Entered, Flags, Guard, Hook, Incoming, Leave, Moment, MoveFailed,
    Returned, Types, World,
};
use slipgate_entity::{OnlineId, PersistId, SceneId};

use super::apart::Apart;
use super::arrivals::Arrival;
use super::{Bodies, Seat};
use crate::panic::{Panic, guarded};
use crate::scene::question::SpawnError;

/// What a turn has led to.
#[derive(Debug, Default)]
pub(in crate::scene) struct Turned {
    /// To be carried out.
    pub(in crate::scene) effects: Vec<Effect>,
    /// Of hooks, by the names of the parts and of the hooks.
    pub(in crate::scene) panics: Vec<Panicked>,
}

/// Game code that panicked.
#[derive(Debug)]
pub(in crate::scene) struct Panicked {
    /// The handler or hook, and whose it is.
    pub(in crate::scene) what: String,
    /// The message, or the part whose hook it is.
    pub(in crate::scene) kind: String,
    /// What the panic says, and where.
    pub(in crate::scene) panic: Panic,
}

/// Why a message was not applied, or not to its end.
#[derive(Debug)]
pub(in crate::scene) enum NotApplied {
    /// The entity takes no turns.
    Parked,
    /// Its handler panicked.
    Panicked(Panicked),
}

impl Bodies {
    /// Makes an entity, if it can be: its id comes later.
    pub(in crate::scene) fn make(&self, identity: &Identity, data: &Data) -> Result<Apart, String> {
        let created = guarded(|| self.types.create(&identity.type_name.0, told(nobody_yet(), identity), data));
        match created {
            Ok(Ok(body)) => Ok(Apart::new(body)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(format!("its game code panicked: {}", panic.text)),
        }
    }

    /// Begins the life of an entity that was made before. Says why it cannot live, if so: it is here then,
    /// and is to be despawned; where somebody has its number over restarts, under a fresh one.
    pub(in crate::scene) fn create(
        &mut self,
        entity: OnlineId,
        newborn: Apart,
        fresh: impl FnOnce() -> PersistId,
        now: Now,
    ) -> Result<Turned, SpawnError> {
        let unfit = |reason| SpawnError::Unfit { reason };
        let mut body = newborn.into_body();
        body.name(entity);
        let persist = body.description().persist();
        let alike = self.alike(persist);
        if alike.is_some() {
            body.renumber(fresh());
        }
        self.put(entity, body);
        if let Some(by) = alike {
            return Err(SpawnError::Taken { persist, by });
        }
        let (result, mut effects) =
            self.turn(entity, now, |body, world, effects| guarded(|| body.init(world, effects)));
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(unfit(error.to_string())),
            Err(panic) => return Err(unfit(format!("its init panicked: {}", panic.text))),
        }
        let entered = self.enter(entity, Entered::Spawned, now);
        effects.extend(entered.effects);
        Ok(Turned { effects, panics: entered.panics })
    }

    /// Applies a message. One that the entity does not take is told in the log, is done with, and goes back to an
    /// entity that sent it. What a handler that panics wanted is left out.
    pub(in crate::scene) fn apply(
        &mut self,
        entity: OnlineId,
        incoming: Incoming<'_>,
        now: Now,
    ) -> Result<Vec<Effect>, NotApplied> {
        if !self.parked.is_empty() && self.parked.contains(&entity) {
            return Err(NotApplied::Parked);
        }
        let (result, effects) =
            self.turn(entity, now, |body, world, effects| guarded(|| body.call(incoming, world, effects)));
        let what = |types: &Types| types.kind_of(incoming.payload).unwrap_or("?").to_owned();
        self.taken(entity, now, result, what)?;
        Ok(effects)
    }

    /// A message that an entity sent came back. One that takes no turns does not hear of it.
    pub(in crate::scene) fn give_back(
        &mut self,
        entity: OnlineId,
        (to, payload): (OnlineId, &[u8]),
        why: Returned,
        now: Now,
    ) -> Result<Vec<Effect>, NotApplied> {
        if self.parked.contains(&entity) {
            return Err(NotApplied::Parked);
        }
        let (result, effects) =
            self.turn(entity, now, |body, world, effects| guarded(|| body.returned(to, why, payload, world, effects)));
        self.taken(entity, now, result.map(Ok), |_| "what came back".to_owned())?;
        Ok(effects)
    }

    /// The first whose timer or ask is due, and takes turns.
    pub(in crate::scene) fn first_due(&self, now: Now) -> Option<OnlineId> {
        let (due, entity) = *self.due.first()?;
        (due <= Moment(now.0)).then_some(entity)
    }

    /// Runs the first of what is due of an entity.
    pub(in crate::scene) fn fire(&mut self, entity: OnlineId, now: Now) -> Result<Vec<Effect>, NotApplied> {
        let (result, effects) =
            self.turn(entity, now, |body, world, effects| guarded(|| body.fire(world, effects).unwrap_or(Ok(()))));
        self.taken(entity, now, result, |_| "a timer".to_owned())?;
        Ok(effects)
    }

    /// Says in the log how many messages were not taken since the last such line.
    pub(in crate::scene) fn tell_refused(&mut self, now: Now) {
        for ((), left_out) in self.refused.sums(now).into_iter().filter(|(_, left_out)| *left_out > 0) {
            let scene = &self.scene.name;
            tracing::warn!(
                event = "message.refused",
                scene,
                left_out,
                "{left_out} more messages were not taken in {scene}"
            );
        }
    }

    fn taken(
        &mut self,
        entity: OnlineId,
        now: Now,
        result: Result<Result<(), CallError>, Panic>,
        what: impl FnOnce(&Types) -> String,
    ) -> Result<(), NotApplied> {
        match result {
            Ok(Ok(())) => Ok(()),
            // Whoever asked has heard already that no answer came in time.
            Ok(Err(error @ CallError::NotAsked { .. })) => {
                tracing::debug!(event = "message.late", entity = %entity, "an answer is left out: {error}");
                Ok(())
            }
            Ok(Err(error)) => {
                metrics::counter!("slipgate_messages_refused_total").increment(1);
                if self.refused.tells((), now) {
                    let type_name = self.type_name(entity);
                    tracing::warn!(
                        event = "message.refused", entity = %entity, r#type = type_name,
                        "a message to {entity} was not taken: {error}"
                    );
                }
                Ok(())
            }
            Err(panic) => {
                metrics::counter!("slipgate_messages_failed_total").increment(1);
                let kind = what(&self.types);
                Err(NotApplied::Panicked(Panicked { what: format!("the handler of {kind}"), kind, panic }))
            }
        }
    }

    /// What an entity says to a move.
    pub(in crate::scene) fn leaving(
        &mut self,
        entity: OnlineId,
        to: &Destination,
        now: Now,
    ) -> Result<(Leave, Vec<Effect>), Panicked> {
        let (result, effects) =
            self.turn(entity, now, |body, world, effects| guarded(|| body.leaving(to, world, effects)));
        result.map(|leave| (leave, effects)).map_err(|panic| Panicked {
            what: "its leaving hook".to_owned(),
            kind: "leaving".to_owned(),
            panic,
        })
    }

    /// Whether its flags let an entity move.
    pub(in crate::scene) fn is_movable(&self, entity: OnlineId) -> bool {
        self.get(entity).is_some_and(|body| body.flags().has(Flags::SUPPORT_MIGRATE))
    }

    /// An entity leaves the scene, for a move or for good; until that is decided it takes no turns. One that takes none
    /// anyway does not hear of it.
    pub(in crate::scene) fn leave(&mut self, entity: OnlineId, now: Now) -> Turned {
        if self.parked.contains(&entity) {
            return Turned::default();
        }
        self.away.insert(entity, Entered::MoveFailed);
        self.hooks(entity, now, |body, world, effects, guard| body.leave(world, effects, guard))
    }

    /// Whether an entity is not in the scene, though it lives here.
    pub(in crate::scene) fn is_away(&self, entity: OnlineId) -> bool {
        self.away.contains_key(&entity)
    }

    /// An entity takes turns: one that is not in the scene comes into it.
    pub(in crate::scene) fn come_in(&mut self, entity: OnlineId, now: Now) -> Turned {
        match self.away.remove(&entity) {
            Some(how) => self.enter(entity, how, now),
            None => Turned::default(),
        }
    }

    /// A move of an entity that is here came to nothing.
    pub(in crate::scene) fn move_failed(&mut self, entity: OnlineId, why: &MoveFailed, now: Now) -> Turned {
        self.hooks(entity, now, |body, world, effects, guard| body.run(&Hook::MoveFailed(why), world, effects, guard))
    }

    /// Who lives here, or is about to, under a number that lasts over restarts.
    fn alike(&self, persist: PersistId) -> Option<OnlineId> {
        self.by_persist(persist).or_else(|| self.staged.by_persist(persist))
    }

    fn enter(&mut self, entity: OnlineId, how: Entered, now: Now) -> Turned {
        self.hooks(entity, now, |body, world, effects, guard| body.enter(how, world, effects, guard))
    }

    /// Keeps a copy aside.
    pub(in crate::scene) fn stage(
        &mut self,
        entity: OnlineId,
        image: &Image,
        from: SceneId,
        now: Now,
    ) -> Result<(), String> {
        let identity = &image.identity;
        let decode = || self.types.decode(&identity.type_name.0, told(entity, identity), &image.body, Moment(now.0));
        if let Some(other) = self.alike(identity.persist).filter(|other| *other != entity) {
            return Err(format!("its persist id {} is that of {other} there", identity.persist));
        }
        match guarded(decode) {
            Ok(Ok(body)) => {
                let is_parked = image.parked.is_some();
                self.staged.insert(entity, Arrival { body: Apart::new(body), from, is_parked });
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(format!("its decoder panicked: {}", panic.text)),
        }
    }

    /// The copy kept aside is the entity. One that is parked comes into the scene when it is unparked.
    pub(in crate::scene) fn install(&mut self, entity: OnlineId, now: Now) -> Turned {
        let arrival = self.staged.remove(entity).expect("a copy is staged before it is installed");
        let Arrival { body, from, is_parked } = arrival;
        self.away.insert(entity, Entered::Arrived { from });
        self.put(entity, body.into_body());
        if is_parked {
            self.park(entity);
            return Turned::default();
        }
        self.come_in(entity, now)
    }

    pub(in crate::scene) fn drop_staged(&mut self, entity: OnlineId) {
        self.staged.remove(entity);
    }

    /// The entity is no longer here: it moved, or its life ends. One that takes no turns does not hear of it.
    pub(in crate::scene) fn remove(&mut self, entity: OnlineId, has_moved: bool, now: Now) -> Turned {
        let mut turned = Turned::default();
        let is_parked = self.parked.remove(&entity);
        if has_moved && !is_parked {
            turned =
                self.hooks(entity, now, |body, world, effects, guard| body.run(&Hook::Left, world, effects, guard));
        }
        let handle = self.handle(entity).expect("only an entity with a body is removed");
        let (_, seat) = self.seats.despawn(handle).expect("a handle lives as long as its body");
        let Seat { who, body, due, is_global, .. } = seat;
        if is_global {
            self.global.remove(&entity);
            self.is_global_news = true;
        }
        self.of_type[who.type_number().index()].remove(&entity);
        self.grid.place(entity, None);
        due.map(|due| self.due.remove(&(due, entity)));
        self.away.remove(&entity);
        let body = body.expect("a body that takes no turn is in its seat");
        let Turned { effects, panics } = &mut turned;
        let guard: &mut Guard<'_> = &mut |part, run| note(panics, "the end", part, run);
        if is_parked {
            body.end(guard);
        } else {
            body.remove(&self.world(now), effects, guard);
        }
        turned
    }

    /// The body's bytes, with what it brings along; or why there are none.
    pub(in crate::scene) fn encode(
        &self,
        entity: OnlineId,
        brings: Option<&serde_json::Value>,
        now: Now,
    ) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let Some(body) = self.get(entity) else { return Ok(bytes) };
        match guarded(|| body.encode(Moment(now.0), brings, &mut bytes)) {
            Ok(Ok(())) => Ok(bytes),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(panic.text),
        }
    }

    /// Encoded size of a body; 0 if it is not here, and of one whose encoder panics as far as it came.
    pub(in crate::scene) fn size(&mut self, entity: OnlineId, now: Now) -> u64 {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        if let Some(body) = self.get(entity) {
            // It fails again when it is to move, and that is told.
            let _ = guarded(|| body.encode(Moment(now.0), None, &mut scratch));
        }
        let size = scratch.len() as u64;
        if scratch.capacity() <= SCRATCH_BYTES {
            self.scratch = scratch;
        }
        size
    }

    /// The body in its own words, as JSON.
    pub(in crate::scene) fn describe(&self, entity: OnlineId) -> String {
        let Some(body) = self.get(entity) else { return String::new() };
        let described = guarded(|| body.describe());
        described.unwrap_or_else(|panic| serde_json::json!({ "panicked": panic.text })).to_string()
    }

    /// Lets a body run hooks; each part's panic is its own.
    fn hooks(
        &mut self,
        entity: OnlineId,
        now: Now,
        run: impl FnOnce(&mut Body, &World<'_>, &mut Vec<Effect>, &mut Guard<'_>),
    ) -> Turned {
        let mut panics = Vec::new();
        let ((), effects) = self.turn(entity, now, |body, world, effects| {
            run(body, world, effects, &mut |part, hook| note(&mut panics, "a hook", part, hook));
        });
        Turned { effects, panics }
    }
}

/// Runs the part of a hook that is one part's, and notes its panic.
fn note(panics: &mut Vec<Panicked>, what: &str, part: &str, run: &mut dyn FnMut()) {
    if let Err(panic) = guarded(run) {
        panics.push(Panicked { what: format!("{what} of {part}"), kind: part.to_owned(), panic });
    }
}

/// Drops a body whose entity neither moves nor dies: its destructors are game code, too.
pub(super) fn end(body: Body, why: &str) {
    let (who, mut panics) = (body.shared_description(), Vec::new());
    body.end(&mut |part, run| note(&mut panics, "the end", part, run));
    for Panicked { what, panic, .. } in panics {
        tracing::error!(
            event = "entity.panicked", entity = %who.online(), r#type = who.type_name(), r#where = panic.place,
            "{what} panicked: {}; {why}", panic.text
        );
    }
}

/// Who is about to be made has no id.
fn nobody_yet() -> OnlineId {
    OnlineId::from_u64(0)
}

/// Who an entity is, as its game code knows it.
fn told(online: OnlineId, identity: &Identity) -> slipgate_entity::game::Identity {
    let Identity { label, persist, player, .. } = identity;
    slipgate_entity::game::Identity { online, persist: *persist, player: *player, label: label.clone() }
}

/// Room that is kept: a large body may be the only one of its kind.
const SCRATCH_BYTES: usize = 64 << 10;
