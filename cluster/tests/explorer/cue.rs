//! What can happen to an actor: a line of another, or something from outside the network.

use std::sync::Arc;

use slipgate_cluster::scene::Orphan;
use slipgate_cluster::{Envelope, Own, Session, View};
use slipgate_entity::OnlineId;

/// One thing that happens to one actor.
#[derive(Clone, Debug)]
pub(crate) enum Cue {
    /// A message comes in.
    Hear(Envelope),
    /// The manager tells the cluster as it now is.
    View(Arc<View>),
    /// Time passes: whatever repeats is due.
    Tick,
    /// Every deadline is over.
    Late,
    /// Tombstones are forgotten.
    Forget,
    /// The link to a session is lost.
    PeerLost(Session),
    /// The next of the plan's moves is asked for, of an entity and of those who set out with it.
    Migrate { number: u8, entity: OnlineId, to: Own, with: Vec<OnlineId> },
    /// The next of the plan's despawns is asked for.
    Despawn { number: u8, entity: OnlineId },
    /// A parked entity is to go on.
    Unpark { number: u8, entity: OnlineId },
    /// A tool says the next of the plan's messages.
    Say { number: u8, entity: OnlineId, tell: Option<OnlineId> },
    /// A scene of the same node leaves the streams of an entity that is gone.
    Adopt(Vec<Orphan>),
}

impl Cue {
    /// Whether it travels: it may come at any later time, more than once, or never.
    pub(crate) fn travels(&self) -> bool {
        matches!(self, Self::Hear(_) | Self::View(_))
    }
}

/// What an actor does in answer to a cue.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// What it says to others; the network may do anything with it.
    pub(crate) says: Vec<Envelope>,
    /// What it hands to the router of its own node, within the process: that arrives at once.
    pub(crate) adopt: Vec<Orphan>,
    /// What it did wrong.
    pub(crate) faults: Vec<String>,
}
