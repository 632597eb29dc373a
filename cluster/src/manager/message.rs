//! What nodes and the manager say to each other.
//!
//! A join has no number: it is asked and answered on one connection, so an old one cannot be
//! replayed. Everything after it names the session it speaks for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use slipgate_entity::{RangeId, SceneId};
use thiserror::Error;

use crate::{NodeName, Now, Session, View};

/// What a node asks of the manager once it has joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManagerRequest {
    /// Prolongs the lease.
    Renew {
        /// Who asks.
        session: Session,
        /// When, by the clock of the node that asks; comes back.
        sent: Now,
        /// The version of the view that the node has.
        version: u64,
    },
    /// Asks for the next range of a counter.
    Range {
        /// Who asks.
        session: Session,
        /// Numbers this session's requests for this counter, from 1; a repeat carries the same number.
        request: u64,
        /// Which counter.
        counter: Counter,
    },
    /// Says that this life is about to stop: nobody should be sent there any more.
    Drain {
        /// Who speaks.
        session: Session,
    },
    /// Says that it goes on after all.
    Resume {
        /// Who speaks.
        session: Session,
    },
    /// Asks that others are named as homes of what this session is the home of: it is about to stop. The view is
    /// the answer. Where nobody else can be named, nothing changes.
    Retire {
        /// Who asks.
        session: Session,
    },
}

impl ManagerRequest {
    /// Who asks.
    #[must_use]
    pub fn session(&self) -> Session {
        match *self {
            Self::Renew { session, .. }
            | Self::Range { session, .. }
            | Self::Drain { session }
            | Self::Resume { session }
            | Self::Retire { session } => session,
        }
    }
}

/// A counter that ranges are cut from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Counter {
    /// Online ids of entities.
    Online,
}

/// What the manager tells a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManagerReply {
    /// The lease is prolonged: counted from `sent`, by the node's own clock.
    Renewed {
        /// As asked.
        session: Session,
        /// As asked.
        sent: Now,
    },
    /// The range asked for; on disk before it was told.
    Range {
        /// As asked.
        session: Session,
        /// As asked.
        request: u64,
        /// As asked.
        counter: Counter,
        /// The range.
        range: RangeId,
    },
    /// The session is not the latest life of its node, or was never one.
    NotMember {
        /// As asked.
        session: Session,
    },
    /// The cluster as it now is.
    View(Arc<View>),
}

/// What a node tells the manager to become a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Its name.
    pub name: NodeName,
    /// What peers dial.
    pub address: String,
    /// Where its admin interface listens.
    pub admin: String,
    /// The scenes that its configuration places on it.
    pub scenes: Vec<SceneDeclaration>,
}

/// A scene as a node's configuration declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneDeclaration {
    /// Its number.
    pub id: SceneId,
    /// Its name.
    pub name: NodeName,
    /// Entities it may hold.
    pub capacity: u32,
}

/// The manager's answer to a join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JoinReply {
    /// The node is a member.
    Welcome {
        /// Its new life.
        session: Session,
        /// The cluster, with the newcomer in it.
        view: Arc<View>,
        /// How long a lease lasts, in milliseconds.
        lease_ms: u64,
    },
    /// The node is not let in.
    Refused(JoinRefusal),
}

/// Why a node is not let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum JoinRefusal {
    /// A live session has that name: it answered the manager just now.
    #[error("the cluster already has a live node named {name} at {address}")]
    NameTaken {
        /// The name.
        name: NodeName,
        /// Where its holder is.
        address: String,
    },
    /// A scene of that number is placed on another node.
    #[error("scene {scene} is already placed on node {node}")]
    SceneTaken {
        /// The scene's number.
        scene: SceneId,
        /// The node it is placed on.
        node: NodeName,
    },
    /// A scene of that name has another number.
    #[error("the scene name {name} already belongs to scene {scene}")]
    SceneNameTaken {
        /// The name.
        name: NodeName,
        /// The scene that has it.
        scene: SceneId,
    },
    /// The node that was asked does not run the manager.
    #[error("this node does not run the manager: node {manager} does")]
    NotManager {
        /// The node that does, as this node's configuration says.
        manager: NodeName,
    },
    /// Too many joins under that name wait for the manager's decision; this one changed nothing.
    #[error("{waiting} joins under the name {name} wait for a decision already: try again in a second")]
    Busy {
        /// The name.
        name: NodeName,
        /// How many wait.
        waiting: usize,
    },
    /// Node numbers or the lives of this node are used up, which are never used again; or there would be more
    /// nodes or scenes than a cluster may have.
    #[error("the cluster has no number left for a node named {name}, or for its scenes: join under a name it knows")]
    Exhausted {
        /// The name.
        name: NodeName,
    },
}
