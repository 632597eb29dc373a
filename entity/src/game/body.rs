//! The body of an entity: its parts, its flags, its timers and asks; and its turns.
//!
//! ```text
//! scene                          Body                                 part
//!   payload, caller  --- call ->  tag -> part, handler
//!                                 takes the part out   -------------> handler(&mut self, message, Context)
//!                                 puts it back         <-------------
//!   effects          <---------   kept if the handler has returned
//! ```
//!
//! A part is out of the body while it runs, so that its handler reaches all others through the context.
//!
//! Keeps: whatever a handler does, panics included, every part is in its place afterwards; effects, timers and asks of a
//! handler that panicked are left out, and so are the components that it added. Timers and asks are bounded.
//! Leaves out: catching panics, which is for the shell; carrying effects out.

mod call;
pub(crate) mod calls;
mod life;
pub(crate) mod parts;
mod state;
mod turn;

use std::any::Any;
use std::sync::Arc;

use thiserror::Error;

use self::calls::Calls;
use self::parts::{At, Parts};
use self::turn::Turn;
use super::behaviour::{Entered, Entry};
use super::data::Data;
use super::effect::Effect;
use super::erased::{AnyPart, Hook, downcast, downcast_mut};
use super::flags::Flags;
use super::number::PartNumber;
use super::part::{Component, Entity, Position};
use super::types::{CreateError, Types};
use super::world::{Description, World};
use crate::Handle;

pub use self::call::{CallError, Incoming};
pub use self::state::{DecodeBodyError, EncodeBodyError};
pub use self::turn::{Guard, unguarded};

/// An entity as its scene holds it. Made by [`Types`] alone: it has no `Default`, no `Clone` and no public field.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Player};
/// # use slipgate_entity::game::{Identity, Types};
/// # use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId};
/// # let (online, persist) = (OnlineId::new(RangeId(1), 1), PersistId(uuid::Uuid::nil()));
/// # let identity = Identity { online, persist, player: PlayerId::NONE, label: None };
/// let types = Types::builder().entity::<Player>().build()?;
/// let body = types.create_of(Player { name: "ann".to_owned(), x: 0.0 }, identity)?;
/// assert_eq!(body.component::<Health>(), Some(&Health { hp: 100 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Body {
    pub(super) description: Arc<Description>,
    pub(super) flags: Flags,
    pub(super) parts: Parts,
    pub(super) calls: Calls,
    stands: fn(&dyn AnyPart) -> Option<Position>,
    phase: Phase,
    brings: Option<Box<serde_json::Value>>,
    /// Whether messages to those around wait for their middle.
    is_around_open: bool,
}

/// How far an entity is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Outside,
    Entered,
    Active,
}

/// Why a component was not added. The entity is without it.
///
/// ```
/// # use slipgate_entity::game::doc::Health;
/// use slipgate_entity::game::{AddError, Context, Level};
///
/// /// Who has health already keeps it.
/// fn enliven(cx: &mut Context<'_>) {
///     match cx.add(Health { hp: 10 }) {
///         Ok(()) | Err(AddError::Duplicated { .. }) => {}
///         Err(error) => cx.log(Level::Warn, error.to_string()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// The entity has one of the type.
    #[error("the entity has a {component} already")]
    Duplicated {
        /// Name of the component.
        component: &'static str,
    },
    /// The node's types do not know it. Register it, or list it in a type.
    #[error("the component {component} is not registered")]
    NotRegistered {
        /// Name of the component.
        component: &'static str,
    },
    /// Its `init` said no.
    #[error("the component {component} says: {reason}")]
    Init {
        /// Name of the component.
        component: &'static str,
        /// What it said.
        reason: String,
    },
    /// Another part of the entity takes a message that it takes, and only one can.
    #[error("the component {component} takes {message}, and so does {by}")]
    Handles {
        /// Name of the component.
        component: &'static str,
        /// Name of the message.
        message: &'static str,
        /// The part that takes it already.
        by: &'static str,
    },
}

/// Why a new entity is none: one of its parts said no. Drop the body.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{part} says: {reason}")]
pub struct InitError {
    /// Name of the part.
    pub part: &'static str,
    /// What it said.
    pub reason: String,
}

impl Body {
    /// Who it is.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The same, to keep: for look-ups while the body takes a turn.
    #[must_use]
    pub fn shared_description(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    /// Tells it the slot that it was given.
    pub fn settle(&mut self, handle: Handle) {
        Arc::make_mut(&mut self.description).handle = handle;
    }

    /// Tells it the number that it was given.
    pub fn name(&mut self, online: crate::OnlineId) {
        Arc::make_mut(&mut self.description).identity.online = online;
    }

    /// Gives it something for its parts' `on_enter_scene`, when it next comes into a scene.
    pub fn bring(&mut self, brings: serde_json::Value) {
        self.brings = Some(Box::new(brings));
    }

    /// Gives it another number over restarts, where its own is somebody else's.
    pub fn renumber(&mut self, persist: crate::PersistId) {
        Arc::make_mut(&mut self.description).identity.persist = persist;
    }

    /// Its flags.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Where it stands; none: nowhere.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.parts.get(At::Own).and_then(self.stands)
    }

    /// One of its components: one array access.
    #[must_use]
    #[inline]
    pub fn component<C: Component>(&self) -> Option<&C> {
        self.parts.get(At::Component(C::number())).and_then(downcast)
    }

    /// One of its components, to change.
    #[must_use]
    #[inline]
    pub fn component_mut<C: Component>(&mut self) -> Option<&mut C> {
        self.parts.get_mut(At::Component(C::number())).and_then(downcast_mut)
    }

    /// One of its components by its number: one array access.
    #[must_use]
    pub fn component_numbered(&self, number: PartNumber) -> Option<&dyn Any> {
        self.parts.get(At::Component(number)).map(|part| part as &dyn Any)
    }

    /// Its own part, if it is of that very type.
    #[must_use]
    pub fn own<T: Entity>(&self) -> Option<&T> {
        self.parts.get(At::Own).and_then(downcast)
    }

    /// Its own part, to change.
    #[must_use]
    pub fn own_mut<T: Entity>(&mut self) -> Option<&mut T> {
        self.parts.get_mut(At::Own).and_then(downcast_mut)
    }

    /// Names and versions of its parts: its own, then its components in the order in which they were added.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u16)> {
        let own = self.parts.get(At::Own).into_iter();
        own.chain(self.parts.components()).map(|part| (part.name(), part.version()))
    }

    /// Runs `init` in every part of a new entity.
    ///
    /// # Errors
    ///
    /// If one says no; the entity is to be dropped then, with all that `effects` got here.
    pub fn init(&mut self, world: &World<'_>, effects: &mut Vec<Effect>) -> Result<(), InitError> {
        // What an `init` adds has run its own by then.
        for place in 0..self.parts.len() {
            let Some(at) = self.parts.at(place) else { continue };
            let name = self.parts.name(at);
            let result = Turn::begin(self, at, world, effects).run(|part, cx| part.init(cx));
            result.map_err(|reason| InitError { part: name, reason })?;
        }
        Ok(())
    }

    /// Adds a component; see [`Context::add`](super::Context::add).
    ///
    /// # Errors
    ///
    /// See [`AddError`]; the entity is then without it.
    pub fn add<C: Component>(
        &mut self,
        component: C,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), AddError> {
        self.add_parts(vec![Box::new(component)], world, effects)
    }

    /// Adds components, each as its `Default` is with its data laid over, in the order of their names: all, or none.
    ///
    /// # Errors
    ///
    /// If one is not known, is there already, its data does not fit, or its `init` says no. None of them is there then.
    /// What an `init` did to other parts stays.
    pub fn init_components(
        &mut self,
        data: &Data,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CreateError> {
        Ok(self.add_parts(world.types.components_from(data)?, world, effects)?)
    }

    /// Adds components: all of them run `init`, and then what the others had run of `on_enter_scene` and `activate`.
    fn add_parts(
        &mut self,
        parts: Vec<Box<dyn AnyPart>>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), AddError> {
        let mut addition = Addition::begin(self, effects);
        for part in parts {
            addition.add(part, world)?;
        }
        let added = addition.keep();
        let entry = Entry { how: Entered::Spawned, brings: None };
        for &number in &added {
            let at = At::Component(number);
            if self.phase >= Phase::Entered {
                Turn::begin(self, at, world, effects).run(|part, cx| part.hook(&Hook::EnterScene(&entry), cx));
            }
            if self.phase >= Phase::Active {
                Turn::begin(self, at, world, effects).run(|part, cx| part.hook(&Hook::Activate, cx));
            }
        }
        Ok(())
    }

    /// Whether a component may be added.
    fn check_addition(&self, part: &dyn AnyPart, types: &Types) -> Result<(), AddError> {
        let (component, number) = (part.name(), part.number());
        if self.parts.has(number) {
            return Err(AddError::Duplicated { component });
        }
        let info = types.part(number).filter(|info| info.is_component());
        let info = info.ok_or(AddError::NotRegistered { component })?;
        for handler in &info.handlers {
            let by = match self.find_handler(handler.message.tag, types) {
                Some((At::Own, _)) => self.description.type_name(),
                Some((At::Component(other), _)) if other != number => types.known(other).name(),
                // A component that the type lists is found before it is there.
                Some((At::Component(_), _)) | None => continue,
            };
            return Err(AddError::Handles { component, message: handler.message.name, by });
        }
        Ok(())
    }
}

/// Components that are being added. Dropped before it is kept, as by an error or a panic, it takes them away again, and
/// with them what they have added.
struct Addition<'b> {
    body: &'b mut Body,
    effects: &'b mut Vec<Effect>,
    added: Vec<PartNumber>,
    effects_before: usize,
    calls_before: u64,
    parts_before: usize,
    is_kept: bool,
}

impl<'b> Addition<'b> {
    fn begin(body: &'b mut Body, effects: &'b mut Vec<Effect>) -> Self {
        let (effects_before, calls_before, parts_before) = (effects.len(), body.calls.given(), body.parts.len());
        Self { body, effects, added: Vec::new(), effects_before, calls_before, parts_before, is_kept: false }
    }

    fn add(&mut self, part: Box<dyn AnyPart>, world: &World<'_>) -> Result<(), AddError> {
        self.body.check_addition(&*part, world.types)?;
        let (component, number) = (part.name(), part.number());
        self.body.parts.push(part);
        self.added.push(number);
        let turn = Turn::begin(self.body, At::Component(number), world, self.effects);
        turn.run(|part, cx| part.init(cx)).map_err(|reason| AddError::Init { component, reason })
    }

    fn keep(mut self) -> Vec<PartNumber> {
        self.is_kept = true;
        std::mem::take(&mut self.added)
    }
}

impl Drop for Addition<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.effects.truncate(self.effects_before);
            self.body.calls.forget_since(self.calls_before);
            self.body.parts.truncate(self.parts_before);
        }
    }
}
