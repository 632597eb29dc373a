//! Where a message goes: a port of a session.

use serde::{Deserialize, Serialize};
use slipgate_entity::SceneId;

use crate::message::Message;
use crate::{Own, Session};

/// An actor of a node that others write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Port {
    /// The scene with this number.
    Scene(SceneId),
    /// The router of the arbiter thread with this number.
    Router(u16),
    /// The node's directory: the home of its ranges.
    Directory,
    /// The cluster's manager; answered only on the node that runs it.
    Manager,
    /// The node's side of its membership.
    Member,
    /// The node's admin desk: questions of tools, on behalf of other nodes.
    Admin,
}

/// A port of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The life of the node.
    pub session: Session,
    /// The actor in it.
    pub port: Port,
}

impl From<Own> for Place {
    fn from(own: Own) -> Self {
        Self { session: own.session, port: Port::Scene(own.scene) }
    }
}

/// A message with its two ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who says it.
    pub from: Place,
    /// Who should hear it.
    pub to: Place,
    /// What is said.
    pub message: Message,
}
