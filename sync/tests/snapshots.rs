//! Views, snapshots and their frames, from outside.

#[path = "snapshots/hostile.rs"]
mod hostile;
#[path = "snapshots/laws.rs"]
mod laws;
#[path = "snapshots/networks.rs"]
mod networks;
#[path = "snapshots/play.rs"]
mod play;
#[path = "snapshots/replicating.rs"]
mod replicating;
