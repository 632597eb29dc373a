//! What the rest of the node tells the manager's actor.

use actix::Message;
use slipgate_cluster::Session;
use slipgate_cluster::manager::{JoinReply, JoinRequest, ManagerRequest};
use tokio::sync::oneshot;

/// Requests that came over links, in their order.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct FromNodes(pub Vec<FromNode>);

/// A request that came over a link.
#[derive(Debug)]
pub struct FromNode {
    /// The session whose link it is.
    pub from: Session,
    /// What it asks.
    pub request: ManagerRequest,
}

/// A node asks to become a member. If the manager stops before it has decided, the answer's sender
/// is dropped: the node asks again.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct JoinAsked {
    /// What it asks.
    pub request: JoinRequest,
    /// Whether it is the node that runs this manager.
    pub own_node: bool,
    /// Takes the answer. A receiver that is gone withdraws the join.
    pub reply: oneshot::Sender<JoinReply>,
}

/// A link to a session went up or down.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Link {
    /// Which session.
    pub session: Session,
    /// Whether it is up.
    pub up: bool,
}

/// A session answered a probe over its link.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct ProbeAnswered {
    /// Which session.
    pub session: Session,
}

/// A session said goodbye: it stops as planned.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Left {
    /// Which session.
    pub session: Session,
}

/// Stops the manager. Once it is answered, the store is closed and may be opened again.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Stop;
