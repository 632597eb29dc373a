//! The entity and component system, as a game uses it: through what is public alone.

#[path = "game/stage.rs"]
#[macro_use]
mod stage;

#[path = "game/calls.rs"]
mod calls;
#[path = "game/components.rs"]
mod components;
#[path = "game/life.rs"]
mod life;
#[path = "game/model.rs"]
mod model;
#[path = "game/others.rs"]
mod others;
#[path = "game/state.rs"]
mod state;
#[path = "game/timers.rs"]
mod timers;
#[path = "game/types.rs"]
mod types;
