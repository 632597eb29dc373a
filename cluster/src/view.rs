//! What the manager tells every node of the cluster: who is in it, where scenes and homes are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slipgate_entity::{RangeId, SceneId};

use crate::{Incarnation, NodeId, NodeName, Own, Place, Port, Session};

/// A member of the cluster, in its latest life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its latest life.
    pub session: Session,
    /// Its name.
    pub name: NodeName,
    /// What peers dial: `host:port`.
    pub address: String,
    /// Where its admin interface listens: `host:port`.
    pub admin: String,
}

/// A scene, and where it is placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenePlacement {
    /// Its number.
    pub id: SceneId,
    /// Its name, unique in the cluster.
    pub name: NodeName,
    /// The node it is placed on.
    pub node: NodeId,
    /// Entities it may hold.
    pub capacity: u32,
    /// How far it is.
    pub stage: SceneStage,
    /// Who made it at run time; none for a scene that its node's configuration declares.
    pub made: Option<Made>,
}

impl ScenePlacement {
    /// A scene that the configuration of its node declares.
    #[must_use]
    pub fn declared(id: SceneId, name: NodeName, node: NodeId, capacity: u32) -> Self {
        Self { id, name, node, capacity, stage: SceneStage::Open, made: None }
    }

    /// Whether it takes anybody in, as far as the manager knows.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage == SceneStage::Open
    }
}

/// How far a scene is. A declared one is open for as long as its node lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SceneStage {
    /// Its node has been told to open it, and has not said yet that it is open.
    Opening,
    /// It is there.
    Open,
    /// It takes nobody in any more, and is over as soon as nobody is left in it.
    Closing(Clearing),
    /// Nobody is left in it, and its name is free. It still knows where everybody went, for as long as any scene does:
    /// senders and homes that are rebuilt may ask it.
    Over,
}

/// What becomes of those who are in a scene that closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Clearing {
    /// They move to other scenes; whoever cannot stays, and keeps the scene from being over.
    Move,
    /// They are despawned.
    Despawn,
}

/// Who asked for a scene at run time: names the request, so that a repeat makes no second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The session that asked.
    pub by: Session,
    /// The number of its request.
    pub request: u64,
}

/// Home of a range of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// The range.
    pub range: RangeId,
    /// The session that keeps its records.
    pub session: Session,
    /// How often it was named anew: the term of the epochs that it gives out. 0 for the session that the
    /// range was granted to.
    pub term: u32,
    /// The session that kept the records in the term before. Alive, it hands them over; dead, they are
    /// rebuilt from what every scene knows.
    pub before: Option<Session>,
}

impl Home {
    /// The home of a range that was granted to `session` just now.
    #[must_use]
    pub fn first(range: RangeId, session: Session) -> Self {
        Self { range, session, term: 0, before: None }
    }

    /// The home in the next term, at `heir`; none if the terms are used up.
    #[must_use]
    pub fn passed_to(&self, heir: Session) -> Option<Self> {
        Some(Self { session: heir, term: self.term.checked_add(1)?, before: Some(self.session), ..*self })
    }
}

/// The cluster as the manager last told it. A higher version replaces a lower one, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Rises at every change, over restarts of the manager too.
    pub version: u64,
    /// Members by node.
    pub members: BTreeMap<NodeId, Member>,
    /// Scenes by number.
    pub scenes: BTreeMap<SceneId, ScenePlacement>,
    /// Homes by range.
    pub homes: BTreeMap<RangeId, Home>,
    /// Verdicts: every life of the node up to this one is over. A verdict waits for the
    /// leases of all earlier lives, so one number a node is enough.
    pub dead: BTreeMap<NodeId, Incarnation>,
    /// Lives that are about to stop: they take nobody in, and nobody should be sent there.
    pub draining: BTreeMap<NodeId, Incarnation>,
}

impl View {
    /// The scene `scene` in the latest life of its node, if both are known, that life is not over and the scene is
    /// open: where somebody may be sent.
    #[must_use]
    pub fn own_of(&self, scene: SceneId) -> Option<Own> {
        self.scenes.get(&scene).filter(|placement| placement.is_open())?;
        self.host_of(scene)
    }

    /// The same, open or not: whom to ask about it.
    #[must_use]
    pub fn host_of(&self, scene: SceneId) -> Option<Own> {
        let placement = self.scenes.get(&scene)?;
        let member = self.members.get(&placement.node)?;
        (!self.is_dead(member.session)).then(|| Own::new(member.session, scene))
    }

    /// Whether there is a verdict on `session`: it is over for good.
    #[must_use]
    pub fn is_dead(&self, session: Session) -> bool {
        self.dead.get(&session.node).is_some_and(|upto| session.incarnation <= *upto)
    }

    /// Whether `session` is about to stop, and takes nobody in any more.
    #[must_use]
    pub fn is_draining(&self, session: Session) -> bool {
        self.draining.get(&session.node) == Some(&session.incarnation)
    }

    /// Whether a later life of the node is known.
    #[must_use]
    pub fn is_replaced(&self, session: Session) -> bool {
        self.members.get(&session.node).is_some_and(|member| member.session.incarnation > session.incarnation)
    }

    /// Whether `session` is the latest life of its node, and not over.
    #[must_use]
    pub fn is_live(&self, session: Session) -> bool {
        self.is_latest(session) && !self.is_dead(session)
    }

    /// The term of `range`, as far as it was told: 0 for one that nobody has heard of.
    #[must_use]
    pub fn term_of(&self, range: RangeId) -> u32 {
        self.homes.get(&range).map_or(0, |home| home.term)
    }

    /// Whether `session` may be named the home of a range: it lives, as far as the manager knows, and is not about
    /// to stop.
    #[must_use]
    pub fn takes_homes(&self, session: Session) -> bool {
        self.is_live(session) && !self.is_draining(session)
    }

    /// Whom the home at `session` tells of births and deaths: the next node by number that may take homes, after the
    /// last one the first. Everybody knows it from the view alone.
    #[must_use]
    pub fn witness_of(&self, session: Session) -> Option<Session> {
        let members = self.members.values().map(|member| member.session);
        let others = members.filter(|other| other.node != session.node && self.takes_homes(*other));
        others.min_by_key(|other| (other.node < session.node, other.node))
    }

    /// The home of `range`.
    #[must_use]
    pub fn home_of(&self, range: RangeId) -> Option<Place> {
        let home = self.homes.get(&range)?;
        Some(Place { session: home.session, port: Port::Directory })
    }

    /// The member named `name`.
    #[must_use]
    pub fn member_named(&self, name: &str) -> Option<&Member> {
        self.members.values().find(|member| member.name.as_str() == name)
    }

    /// The scene named `name`, unless it is over.
    #[must_use]
    pub fn scene_named(&self, name: &str) -> Option<&ScenePlacement> {
        self.present_scenes().find(|scene| scene.name.as_str() == name)
    }

    /// The highest range that was ever granted.
    #[must_use]
    pub fn highest_range(&self) -> Option<RangeId> {
        self.homes.keys().next_back().copied()
    }

    /// The scenes that people are told of: all that are not over, by number.
    pub fn present_scenes(&self) -> impl Iterator<Item = &ScenePlacement> {
        self.scenes.values().filter(|scene| scene.stage != SceneStage::Over)
    }

    /// The scene that people mean by a number: that very one, or the one that has the number now if it is given
    /// without a generation.
    #[must_use]
    pub fn scene_numbered(&self, scene: SceneId) -> Option<&ScenePlacement> {
        let exactly = self.scenes.get(&scene).filter(|known| known.stage != SceneStage::Over);
        exactly.or_else(|| self.present_scenes().find(|known| known.id.first() == scene))
    }

    /// Whether `session` is the latest life of its node.
    #[must_use]
    pub fn is_latest(&self, session: Session) -> bool {
        self.members.get(&session.node).is_some_and(|member| member.session == session)
    }

    /// Name of a node for logs: its name, or its number where the name is not known.
    #[must_use]
    pub fn node_text(&self, node: NodeId) -> String {
        self.members.get(&node).map_or_else(|| format!("node{}", node.0), |member| member.name.to_string())
    }

    /// Name of a scene for people: its name, or its number where the name is not known.
    #[must_use]
    pub fn scene_text(&self, scene: SceneId) -> String {
        self.scenes.get(&scene).map_or_else(|| scene.to_string(), |known| known.name.to_string())
    }

    /// A scene of a session for logs: `forest@n1`.
    #[must_use]
    pub fn own_text(&self, own: Own) -> String {
        let node = self.node_text(own.session.node);
        self.scenes
            .get(&own.scene)
            .map_or_else(|| format!("scene{}@{node}", own.scene), |scene| format!("{}@{node}", scene.name))
    }
}

/// The verdicts as somebody knows them, and since which view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    dead: BTreeMap<NodeId, Incarnation>,
    version: u64,
    since: u64,
}

impl Verdicts {
    /// Takes over a newer view. Returns whether there are new verdicts in it.
    pub fn take(&mut self, view: &View) -> bool {
        if view.version <= self.version {
            return false;
        }
        self.version = view.version;
        let news = view.dead != self.dead;
        if news {
            self.since = view.version;
            self.dead = view.dead.clone();
        }
        news
    }

    /// Whether there is a verdict on `session`.
    #[must_use]
    #[inline]
    pub fn is_dead(&self, session: Session) -> bool {
        !self.dead.is_empty() && self.dead.get(&session.node).is_some_and(|upto| session.incarnation <= *upto)
    }

    /// Version of the latest view.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Version of a view that has all of these verdicts.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.since
    }
}
