//! Ids, handles, the slot runtime and entity types. Pure: no clock, no I/O, no randomness.
//!
//! A scene owns its entities in a [`Runtime`]: a table of slots, each with a generation, so that a
//! reference to a dead entity is recognised for good. What travels between scenes is not a handle
//! but an [`OnlineId`], which the entity keeps for its whole life.
//!
//! ```text
//!            in one scene of one process            in the whole cluster
//!   who      Handle 1:42/gen3, LocalId              OnlineId 3.1204
//!   lives    from spawn to despawn or departure     from registration to death, over every move
//!   finds    a slot of the runtime                  the entity's home, which knows its owner
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`id`] | the newtypes that name scenes, entities and players |
//! | [`handle`] | a reference that dies with its entity |
//! | [`runtime`] | slots and generations; spawn, look-up, despawn, all O(1) |
//! | [`registry`] | a runtime with indexes by online and persist id |
//! | [`index`] | from online ids to slots, for look-ups only |
//! | [`grid`] | who stands near whom |
//! | [`map`] | a map with a fixed hasher, for look-ups only |
//! | [`codec`] | bytes from values and back, with a limit |
//! | [`game`] | entities as a game declares them: types, components, messages |
//!
//! Leaves out: who owns an entity and how it changes hands (`slipgate_cluster`), what is on the wire (`slipgate_proto`).

#[doc(hidden)]
pub mod __private;
pub mod codec;
#[cfg(test)]
mod dice;
pub mod game;
pub mod grid;
pub mod handle;
pub mod id;
pub mod index;
pub mod map;
pub mod registry;
pub mod runtime;

pub use game::Returned;
pub use grid::Grid;
pub use handle::Handle;
pub use id::{
    EntityId, LocalId, OnlineId, ParseIdError, ParseSceneError, PersistId, PlayerId, RangeId, SceneId, TypeName,
};
pub use index::OnlineIndex;
pub use map::FixedMap;
pub use registry::Registry;
pub use runtime::hooks::{Hooks, NoHooks};
pub use runtime::pool::Pool;
pub use runtime::{LookupError, Runtime, SlotsExhausted};
