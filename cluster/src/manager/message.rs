//! What nodes and the manager say to each other.
//!
//! A join has no number: it is asked and answered on one connection, so an old one cannot be
//! replayed. Everything after it names the session it speaks for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use slipgate_entity::{RangeId, SceneId};
use thiserror::Error;

use crate::bounds::SCENE_NUMBERS_MADE;
use crate::view::Clearing;
use crate::{NodeId, NodeName, Now, Session, View};

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
    /// Asks for a new scene. It is in the view before the answer comes, and open once the view says so.
    OpenScene {
        /// Who asks.
        session: Session,
        /// Numbers this session's requests about scenes; a repeat carries the same number.
        request: u64,
        /// Its name.
        name: NodeName,
        /// The node that is to have it; the manager chooses, if none is given.
        node: Option<NodeId>,
        /// Entities it may hold.
        capacity: u32,
    },
    /// Asks that a scene that was made at run time takes nobody in any more and ends.
    CloseScene {
        /// Who asks.
        session: Session,
        /// Numbers this session's requests about scenes; a repeat carries the same number.
        request: u64,
        /// Which scene.
        scene: SceneId,
        /// What becomes of those who are in it.
        clearing: Clearing,
    },
    /// Tells how far a scene of this node is. Said again until the view agrees.
    SceneIs {
        /// Who speaks.
        session: Session,
        /// Which scene.
        scene: SceneId,
        /// How far.
        news: SceneNews,
    },
}

/// How far a scene is that was made at run time, as its node says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SceneNews {
    /// It is open.
    Opened,
    /// It is not there, and never was: the node cannot have another one.
    NotOpened,
    /// Nobody is left in it.
    Cleared,
    /// Nor does it know any more where everybody went: it is not there.
    Forgotten,
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
            | Self::Retire { session }
            | Self::OpenScene { session, .. }
            | Self::CloseScene { session, .. }
            | Self::SceneIs { session, .. } => session,
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
    /// What came of a request about a scene: the scene; it is on disk before it is told.
    Scene {
        /// As asked.
        session: Session,
        /// As asked.
        request: u64,
        /// The scene, or why nothing was changed.
        result: Result<SceneId, SceneRefusal>,
    },
}

/// Why a scene is not made or not closed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum SceneRefusal {
    /// A scene has that name.
    #[error("there is a scene {name} already, on node {node}")]
    NameTaken {
        /// The name.
        name: NodeName,
        /// The node that the scene is placed on.
        node: NodeName,
    },
    /// The node that should have it is not there: it never joined, or this life of it is over.
    #[error("node {node} is not there: it has stopped or died")]
    NodeGone {
        /// Its name, or its number where that is not known.
        node: String,
    },
    /// The node that should have it is about to stop.
    #[error("node {node} is about to stop and takes nobody in")]
    NodeDrains {
        /// Its name.
        node: NodeName,
    },
    /// No node is there that could have it.
    #[error("no node could have it: each has stopped, or is about to")]
    NoNode,
    /// There are as many scenes as a cluster may have, or all numbers are used up.
    #[error("the cluster has {scenes} scenes, and there is no number for another one")]
    TooMany {
        /// How many there are.
        scenes: usize,
    },
    /// It could hold nobody.
    #[error("a scene holds at least one entity")]
    NoCapacity,
    /// There never was such a scene.
    #[error("there is no scene {scene}")]
    NoScene {
        /// The scene asked for.
        scene: SceneId,
    },
    /// The scene is declared in the configuration of its node.
    #[error("scene {name} is declared by the configuration of node {node}, and is open for as long as that runs")]
    Declared {
        /// The scene's name.
        name: NodeName,
        /// The node that it is placed on.
        node: NodeName,
    },
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
    /// The highest range of ids that it ever heard of, in this life or before; none if of none.
    pub seen: Option<RangeId>,
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
    /// The number of a declared scene is one of those that are kept for scenes made at run time.
    #[error("scene {scene} cannot be declared: numbers from {SCENE_NUMBERS_MADE} on are for scenes made at run time")]
    SceneReserved {
        /// The number.
        scene: SceneId,
    },
    /// The manager would issue ranges that were issued before. It should be stopped.
    #[error(
        "this manager's store is older than the cluster: it would issue range {next} next, and the node that joins has \
         seen range {seen}"
    )]
    StoreIsOld {
        /// The highest range that the node has heard of.
        seen: RangeId,
        /// The range that would be issued next.
        next: RangeId,
    },
}
