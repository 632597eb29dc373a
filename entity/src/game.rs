//! Entities as a game declares them: types, components, messages, and the turns of their lives.
//!
//! ```text
//! game code                                    this module                       scene
//!   struct Player, struct Health    ---->      Types: names, tree, handlers
//!   fn hit(&mut self, Hit, cx)      <----      Body: parts, flags, timers   <---- payloads, hooks
//!   cx.send, cx.after, cx.move_to   ---->      Effect                       ----> carries them out
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `part` | what entities are made of: own part and components |
//! | `behaviour` | what a part does: hooks, and when they run |
//! | `message`, `envelope`, `dispatch` | messages, their bytes, and how they come to handlers |
//! | `types`, `register` | the types of a node, and how they register themselves |
//! | `body` | an entity: parts, flags, timers and asks; its turns |
//! | `context`, `effect`, `world` | what a handler sees, what it can ask for, where it is |
//! | `data` | what parts begin with |
//! | `flags`, `number` | bits of an entity; dense numbers |
//!
//! Leaves out: who owns an entity and delivers to it; carrying effects out; catching panics.

mod behaviour;
mod body;
mod context;
mod data;
mod dispatch;
#[doc(hidden)]
pub mod doc;
mod effect;
mod envelope;
mod erased;
mod flags;
mod message;
mod number;
mod part;
mod register;
mod types;
mod world;

pub use self::behaviour::{Behaviour, Destination, Entered, Entry, Leave, MoveFailed, ReturnedMessage};
pub use self::body::calls::{ASKS_MAX, Full, TIMERS_MAX, TimerId};
pub use self::body::{
    AddError, Body, CallError, DecodeBodyError, EncodeBodyError, Guard, Incoming, InitError, unguarded,
};
pub use self::context::Context;
pub use self::data::{Data, ParseDataError};
pub use self::dispatch::Handlers;
pub use self::effect::{Audience, Effect, Level, SceneRef, Spawn};
pub use self::envelope::{ASK_BYTES, asking, panicked, payload, reply, without_answer};
pub use self::erased::Hook;
pub use self::flags::Flags;
pub use self::message::{Answered, AskError, AskId, Caller, Callers, Fate, Message, Reply, Returned, Tag};
pub use self::number::{PartCell, PartNumber};
pub use self::part::{Component, ComponentList, Entity, Field, Lineage, Part, Position};
pub use self::register::Registration;
pub use self::types::{
    ComponentSchema, CreateError, HandlerInfo, HandlerSchema, MissingTypes, ParseMessageError, RestoreError, Schema,
    TypeFault, TypeFaults, TypeInfo, TypeNumber, TypeSchema, Types, TypesBuilder,
};
pub use self::world::{Description, Identity, Lookup, Moment, SceneInfo, World};

/// For [`register!`](crate::register).
#[doc(hidden)]
pub use inventory;
