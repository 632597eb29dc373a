//! What a scene knows of its node and of the cluster while it has its turn.
//!
//! Keeps: it is the same from the beginning of a turn to its end.
//! Leaves out: how the node comes to know it.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipgate_cluster::globals::Names;
use slipgate_cluster::{Now, Session, View};

/// What is known at the beginning of a turn.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The time, by the node's clock.
    pub now: Now,
    /// Milliseconds since 1970, for people.
    pub unix_ms: u64,
    /// Whether the session may act: it has a lease.
    pub may_act: bool,
    /// The cluster, as far as the node has been told.
    pub view: Arc<View>,
    /// Global entities by name.
    pub globals: Arc<Names>,
    /// Sessions whose links are lost for so long that nobody should wait for them.
    pub lost: Arc<BTreeSet<Session>>,
}

impl Outlook {
    /// Whether nobody should wait for a session: its link is lost, or it is over.
    pub(super) fn is_gone(&self, session: Session) -> bool {
        self.lost.contains(&session) || self.view.is_dead(session)
    }
}
