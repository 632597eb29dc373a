//! What a handler sees of its entity, its scene and the time; and what it can ask for.
//!
//! Reading is done at once: other parts of the entity, who a handle names, where and when it is. What reaches beyond the
//! entity is an [`Effect`], carried out in order once the handler has returned. The handler's own part is `self`, so the
//! context does not have it.
//!
//! Leaves out: waiting. An answer is a message that comes later.

use std::any::Any;
use std::time::Duration;

use serde_json::Value;

use super::body::calls::{Full, TimerId};
use super::body::parts::At;
use super::body::{AddError, Body};
use super::data::Data;
use super::effect::{Audience, Effect, Level, SceneRef, Spawn};
use super::envelope::{Form, payload, write};
use super::flags::Flags;
use super::message::{AskId, Caller, Message, Tag};
use super::number::PartNumber;
use super::part::{Component, Entity};
use super::types::{CreateError, Types};
use super::world::{Description, Moment, SceneInfo, World};
use crate::{Handle, LocalId, LookupError, OnlineId, PersistId, SceneId};

/// Passed to every handler and hook.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Hit};
/// use std::time::Duration;
/// use slipgate_entity::game::{Context, Level};
///
/// fn burn(health: &mut Health, hit: Hit, cx: &mut Context<'_>) {
///     health.hp -= hit.hp;
///     if health.hp <= 0 {
///         cx.despawn();
///     } else if let Err(full) = cx.after(Duration::from_secs(1), hit) {
///         cx.log(Level::Warn, format!("it goes out: {full}"));
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Context<'c> {
    pub(super) body: &'c mut Body,
    pub(super) world: &'c World<'c>,
    pub(super) effects: &'c mut Vec<Effect>,
    pub(super) caller: Caller,
    /// The part that runs.
    pub(super) at: At,
    /// Whether messages to those around are among the effects: their middle is known once the handler has returned.
    pub(super) has_around: bool,
}

impl Context<'_> {
    /// The entity's number in the cluster.
    #[must_use]
    pub fn id(&self) -> OnlineId {
        self.body.description.online()
    }

    /// The entity's handle in this scene. Others there may keep it; it is dead once the entity is gone.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.body.description.handle()
    }

    /// Who the entity is.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.body.description
    }

    /// The scene.
    #[must_use]
    pub fn scene(&self) -> &SceneInfo {
        self.world.scene
    }

    /// How often the scene has ticked, 20 times a second since it was opened: a measure of time. Nothing runs at a tick
    /// that is not asked for, by [`after`](Self::after).
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.world.tick
    }

    /// The time of this turn.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.world.now
    }

    /// Who sent the message; in hooks, the scene.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller
    }

    /// The entity's flags.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.body.flags
    }

    /// Sets flags of the entity.
    pub fn set_flag(&mut self, flags: Flags) {
        self.body.flags = self.body.flags.with(flags);
    }

    /// Clears flags of the entity.
    pub fn clear_flag(&mut self, flags: Flags) {
        self.body.flags = self.body.flags.without(flags);
    }

    /// A component of the entity: one array access. None if it has none of the type, or that is the one that runs.
    #[must_use]
    pub fn component<C: Component>(&self) -> Option<&C> {
        self.body.component()
    }

    /// A component of the entity, to change.
    #[must_use]
    pub fn component_mut<C: Component>(&mut self) -> Option<&mut C> {
        self.body.component_mut()
    }

    /// A component by its number, [`Part::number`](super::Part::number): one array access. None if the entity has none
    /// of that number, or that is the one that runs.
    #[must_use]
    pub fn component_numbered(&self, number: PartNumber) -> Option<&dyn Any> {
        self.body.component_numbered(number)
    }

    /// The entity's own part, for its components. None if the entity is of another type, or the own part is the one
    /// that runs.
    #[must_use]
    pub fn own<T: Entity>(&self) -> Option<&T> {
        self.body.own()
    }

    /// The entity's own part, to change, for its components.
    #[must_use]
    pub fn own_mut<T: Entity>(&mut self) -> Option<&mut T> {
        self.body.own_mut()
    }

    /// Adds a component. It runs its `init` at once, and then what the others had run of `on_enter_scene` and
    /// `activate`. It stays until the entity goes.
    ///
    /// # Errors
    ///
    /// See [`AddError`]; the entity is then without it.
    pub fn add<C: Component>(&mut self, component: C) -> Result<(), AddError> {
        self.body.add(component, self.world, self.effects)
    }

    /// Adds components from data, all or none; see [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// If one of them cannot be added; see [`CreateError`].
    pub fn init_components(&mut self, data: &Data) -> Result<(), CreateError> {
        self.body.init_components(data, self.world, self.effects)
    }

    /// Whether the entity is of this very type.
    #[must_use]
    pub fn is_exact<T: Entity>(&self) -> bool {
        self.body.description.is_exact::<T>(self.world.types)
    }

    /// Whether the entity is of this type or of one below it.
    #[must_use]
    pub fn is_a<T: Entity>(&self) -> bool {
        self.body.description.is_a::<T>(self.world.types)
    }

    /// The types of the node: for questions about others, as [`Description::is_a`].
    #[must_use]
    pub fn types(&self) -> &Types {
        self.world.types
    }

    /// Whom a handle names here.
    ///
    /// # Errors
    ///
    /// If it names nobody who lives here; see [`LookupError`].
    pub fn lookup(&self, handle: Handle) -> Result<&Description, LookupError> {
        if handle == self.handle() { Ok(&self.body.description) } else { self.world.handles.find(handle) }
    }

    /// Whom a local id names here: eight bytes, where one of another scene is not recognised.
    ///
    /// # Errors
    ///
    /// As [`lookup`](Self::lookup).
    pub fn lookup_local(&self, id: LocalId) -> Result<&Description, LookupError> {
        self.lookup(Handle::of_local(self.scene().id.first(), id))
    }

    /// An entity of this scene by its number over restarts; itself, too. None if it does not live here.
    #[must_use]
    pub fn find_persist(&self, persist: PersistId) -> Option<&Description> {
        if persist == self.body.description.persist() {
            return Some(&self.body.description);
        }
        self.world.handles.find(self.world.handles.handle_of_persist(persist)?).ok()
    }

    /// All in this scene that are of a type, or of one below it, by id; itself, too. O(log n) for each of them.
    #[must_use]
    pub fn of_type<T: Entity>(&self) -> Vec<OnlineId> {
        self.world.types.get::<T>().map_or_else(Vec::new, |kind| self.world.handles.of_type(kind.number()))
    }

    /// An entity of this scene by its number in the cluster; itself, too. None if it does not live here: it may be
    /// elsewhere.
    #[must_use]
    pub fn find(&self, entity: OnlineId) -> Option<&Description> {
        if entity == self.id() {
            return Some(&self.body.description);
        }
        self.world.handles.find(self.world.handles.handle_of(entity)?).ok()
    }

    /// The global entity of that name, on whichever node it is: one with the flag
    /// [`IS_GLOBAL`](super::Flags::IS_GLOBAL). Its name is its label, or that of its type if it has none; of several
    /// with one name it is the one with the lowest id.
    ///
    /// Nodes tell each other of them, so a new one is found a little later elsewhere, and one that is gone is found for some
    /// seconds more. While it moves it is found as ever.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<OnlineId> {
        self.world.handles.global(name)
    }

    /// Sends a message to an entity, wherever it is; to itself, too. One that it does not take comes back.
    ///
    /// # Panics
    ///
    /// If serde cannot write the message, or it needs more than 16 MiB.
    pub fn send<M: Message>(&mut self, to: OnlineId, message: M) {
        self.effects.push(Effect::Send { to, payload: payload(&message) });
    }

    /// Sends a message whose answer, or why there is none, comes to this part as an
    /// [`Answered`](super::Answered): at the latest after `within`.
    ///
    /// # Errors
    ///
    /// If too many asks wait for an answer; nothing is sent.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn ask<M: Message>(&mut self, to: OnlineId, message: M, within: Duration) -> Result<AskId, Full> {
        let (tag, deadline) = (const { Tag::of(M::NAME) }, self.world.now.after(within.max(SHORTEST)));
        let id = self.body.calls.ask(self.at, tag, to, deadline)?;
        self.effects.push(Effect::Send { to, payload: write(Form::Ask(id), tag, &message) });
        Ok(id)
    }

    /// Sends a message to all others in the scene.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_scene<M: Message>(&mut self, message: M) {
        self.effects.push(Effect::SendTo { audience: Audience::Scene, payload: payload(&message) });
    }

    /// Sends a message to all others in the scene that are of a type, or of one below it. Nobody is of a type that the
    /// node does not know.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_type<T: Entity, M: Message>(&mut self, message: M) {
        if let Some(kind) = self.world.types.get::<T>() {
            let audience = Audience::Type(kind.number());
            self.effects.push(Effect::SendTo { audience, payload: payload(&message) });
        }
    }

    /// Sends a message to all others in the scene that are at most `radius` away from where this entity stands once the
    /// handler has returned. If it stands nowhere then, that is told in the log.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_around<M: Message>(&mut self, radius: f32, message: M) {
        let audience = Audience::Around { position: super::Position::default(), radius };
        self.has_around = true;
        self.effects.push(Effect::SendTo { audience, payload: payload(&message) });
    }

    /// Sends a message to this entity after a while, from [`Caller::Timer`]: once, wherever it is by then.
    ///
    /// # Errors
    ///
    /// If too many timers run; none is set.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn after<M: Message>(&mut self, time: Duration, message: M) -> Result<TimerId, Full> {
        self.body.calls.set_timer(self.world.now.after(time.max(SHORTEST)), payload(&message))
    }

    /// Cancels a timer. Whether it was still to come.
    pub fn cancel(&mut self, timer: TimerId) -> bool {
        self.body.calls.cancel(timer)
    }

    /// Sends what came of an ask to whoever asked; the others wait for nothing.
    pub(super) fn reply(&mut self, payload: Vec<u8>) {
        self.effects.extend(Effect::reply(self.caller, payload));
    }

    /// Asks for a move to a scene. It begins when the handler has returned; the last one asked for counts.
    pub fn move_to(&mut self, scene: SceneId) {
        self.effects.push(Effect::Move { to: SceneRef::Id(scene), brings: None });
    }

    /// Asks for a move to a scene by its name.
    pub fn move_to_named(&mut self, scene: impl Into<String>) {
        self.effects.push(Effect::Move { to: SceneRef::Name(scene.into()), brings: None });
    }

    /// Asks for a move, with what the entity brings along for its parts' `on_enter_scene` there.
    pub fn move_with(&mut self, to: SceneRef, brings: Value) {
        self.effects.push(Effect::Move { to, brings: Some(brings) });
    }

    /// Asks for a new entity in this scene.
    pub fn spawn(&mut self, spawn: Spawn) {
        self.effects.push(Effect::Spawn(spawn));
    }

    /// Asks for the end of this entity.
    pub fn despawn(&mut self) {
        self.effects.push(Effect::Despawn(self.id()));
    }

    /// Asks for the end of another entity of this scene.
    ///
    /// # Errors
    ///
    /// If the handle names nobody who lives here.
    pub fn despawn_other(&mut self, handle: Handle) -> Result<(), LookupError> {
        let other = self.lookup(handle)?.online();
        self.effects.push(Effect::Despawn(other));
        Ok(())
    }

    /// Writes a line into the log, under the name of the entity's type.
    pub fn log(&mut self, level: Level, text: impl Into<String>) {
        self.effects.push(Effect::Log { level, text: text.into() });
    }
}

/// A timer is due in a later moment than the one in which it was set, so that what fires timers comes to an end.
const SHORTEST: Duration = Duration::from_micros(1);
