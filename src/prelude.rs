//! What a game imports: `use slipgate::prelude::*;`.
//!
//! | from | for |
//! |---|---|
//! | derives, [`handlers`] | declaring entity types, components, messages |
//! | [`Context`], hooks' arguments | handlers and hooks |
//! | [`Behaviour`], [`Part`], ... | the same without macros |
//! | [`Cluster`], [`Ref`], ... | programs that run and drive them |

pub use slipgate_entity::game::{
    AddError, Answered, AskError, AskId, Behaviour, Caller, Callers, Component, ComponentList, Context, Data,
    Description, Destination, Entered, Entity, Entry, Fate, Field, Flags, Handlers, Leave, Level, Message, Moment,
    MoveFailed, Part, PartCell, PartNumber, Position, Returned, ReturnedMessage, SceneInfo, SceneRef, Spawn, TimerId,
    Types,
};
pub use slipgate_entity::{Handle, LocalId, LookupError, OnlineId, PersistId, PlayerId, SceneId, register};
pub use slipgate_macros::{Component, Entity, Message, State, handlers};

pub use crate::game::{Crowd, Game};
pub use crate::{
    Cluster, MoveError, Moved, Node, Place, Problem, ProblemKind, Ref, Scene, SendError, Shown, SpawnError,
};
