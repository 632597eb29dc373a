//! What observers see of a scene: snapshots, deltas and baselines. Pure: no clock, no I/O.
//!
//! An observer (a client, a bot) first gets a full snapshot, and from then on the difference from the last snapshot that it
//! acknowledged. Whenever there is doubt about that baseline, it gets a full one again; so a lost or late frame costs bytes,
//! never truth.
//!
//! ```text
//! node                                                             client
//!   entities -> aliases -> reel: a view as it changes
//!                            | tick: snapshot
//!                          replicator ----- full, delta ----->     receiver: what it sees
//!                            ^ baselines <--- acknowledged ---       |
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`state`] | what is seen of one entity, and which of it differs |
//! | [`frame`] | the bytes: header, full, delta |
//! | [`snapshot`] | a view at one tick, and the difference of two |
//! | [`reel`] | a view as it changes |
//! | [`replicator`] | which client gets what |
//! | [`receiver`] | the client's half |
//! | [`aliases`] | what entities are called on the wire |
//!
//! Keeps: snapshots compare as their bytes do; counts are never truncated; what a client sees at a tick is what was to be seen then.
//! Leaves out: who owns an entity (`slipgate_cluster`; the two crates do not know each other), sockets and other frames of
//! clients (`slipgate_actors`, `slipgate`).

pub mod aliases;
pub mod frame;
pub mod receiver;
pub mod reel;
pub mod replicator;
pub mod snapshot;
pub mod state;

pub use aliases::Aliases;
pub use receiver::{Receiver, TakeError, Taken};
pub use reel::Reel;
pub use replicator::{Account, ClientId, Input, Output, Replicator};
pub use snapshot::{Snapshot, ViewId};
pub use state::{Alias, EntityState, Mask};
