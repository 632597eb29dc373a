//! What is explored: who is there, what they are asked for, and what may go wrong.

use std::collections::BTreeSet;
use std::time::Duration;

use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::scene::OnPanic;
use slipgate_cluster::{Envelope, Limits, Own, Place, Port, Rules, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};

use super::canon::{FORGET_US, LATE_US, TICK_US};

/// A cluster, and everything that may happen in it; in any order, at any time.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    /// Node of each scene.
    pub(crate) scenes: Vec<u16>,
    /// Scene and home of each entity at first.
    pub(crate) entities: Vec<Start>,
    /// Node of the one tool.
    pub(crate) router: u16,
    /// What the tool says, in this order.
    pub(crate) says: Vec<Line>,
    /// Moves asked for, of any entity to any other scene.
    pub(crate) moves: u8,
    /// Whether all others of its scene set out with whoever moves.
    pub(crate) together: bool,
    /// Entities that a scene may hold.
    pub(crate) capacity: u32,
    pub(crate) despawns: u8,
    /// The tool's message at which its receiver's handler panics.
    pub(crate) stumbles_at: Option<u8>,
    pub(crate) on_panic: OnPanic,
    /// How often whoever is parked may be unparked.
    pub(crate) unparks: u8,
    /// Whether deadlines may be over at any time; then sources give up.
    pub(crate) late: bool,
    /// Whether the router's streams may have been at rest for long enough at any time; then it closes them.
    pub(crate) idles: bool,
    /// How often a scene may forget its tombstones.
    pub(crate) forgets: u8,
    /// Whether what the source asks after a move, to report it, reaches anybody.
    pub(crate) reports: bool,
    /// Nodes that may die.
    pub(crate) deaths: Vec<u16>,
    /// Nodes that may give their homes away, since they are about to stop.
    pub(crate) retires: Vec<u16>,
    /// Nodes that may join later; with their scenes they are not there at first.
    pub(crate) joins: Vec<u16>,
    /// Whether a second life may begin before the first is over: cut off, it may run on until its lease ends.
    pub(crate) overlaps: bool,
    /// Who becomes the home of what a home leaves: the first of these that can.
    pub(crate) heirs: Vec<u16>,
    /// The rules that the machines keep.
    pub(crate) rules: Rules,
}

/// Where an entity begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Index of its scene.
    pub(crate) scene: usize,
    /// Node of its home.
    pub(crate) home: u16,
}

/// A message of the tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Index of the receiver.
    pub(crate) to: usize,
    /// Index of the entity that the receiver then tells something.
    pub(crate) tell: Option<usize>,
}

impl Plan {
    /// One entity in the first scene, nothing else.
    pub(crate) fn new(name: &'static str, scenes: &[u16], home: u16) -> Self {
        Self {
            name,
            scenes: scenes.to_vec(),
            entities: vec![Start { scene: 0, home }],
            router: 9,
            says: Vec::new(),
            moves: 0,
            together: false,
            capacity: 8,
            despawns: 0,
            stumbles_at: None,
            on_panic: OnPanic::Park,
            unparks: 0,
            late: false,
            idles: false,
            forgets: 0,
            reports: false,
            deaths: Vec::new(),
            retires: Vec::new(),
            joins: Vec::new(),
            overlaps: false,
            heirs: Vec::new(),
            rules: Rules::default(),
        }
    }

    /// The tool says `count` things to the first entity.
    pub(crate) fn messages(mut self, count: usize) -> Self {
        self.says = vec![Line { to: 0, tell: None }; count];
        self
    }

    /// One more entity, in scene `scene` with its home on node `home`, that the tool talks to as well: it is told
    /// `count` things, and tells each to the first.
    pub(crate) fn friend(mut self, scene: usize, home: u16, count: usize) -> Self {
        let to = self.entities.len();
        self.entities.push(Start { scene, home });
        self.says.extend(vec![Line { to, tell: Some(0) }; count]);
        self
    }

    pub(crate) fn moves(self, moves: u8) -> Self {
        Self { moves, ..self }
    }

    pub(crate) fn together(self) -> Self {
        Self { together: true, ..self }
    }

    pub(crate) fn capacity(self, capacity: u32) -> Self {
        Self { capacity, ..self }
    }

    pub(crate) fn despawn(self) -> Self {
        Self { despawns: 1, ..self }
    }

    /// The handler of the tool's message `number` panics; the receiver is parked, and may be unparked.
    pub(crate) fn stumbles_at(self, number: u8) -> Self {
        Self { stumbles_at: Some(number), unparks: 1, ..self }
    }

    /// Who panics is despawned.
    pub(crate) fn despawns_who_panics(self) -> Self {
        Self { on_panic: OnPanic::Despawn, unparks: 0, ..self }
    }

    pub(crate) fn idles(self) -> Self {
        Self { idles: true, ..self }
    }

    pub(crate) fn late(self) -> Self {
        Self { late: true, ..self }
    }

    pub(crate) fn forgets(self, forgets: u8) -> Self {
        Self { forgets, ..self }
    }

    pub(crate) fn reports(self) -> Self {
        Self { reports: true, ..self }
    }

    pub(crate) fn deaths(self, nodes: &[u16]) -> Self {
        Self { deaths: nodes.to_vec(), ..self }
    }

    pub(crate) fn retires(self, nodes: &[u16]) -> Self {
        Self { retires: nodes.to_vec(), ..self }
    }

    pub(crate) fn joins(self, nodes: &[u16]) -> Self {
        Self { joins: nodes.to_vec(), ..self }
    }

    pub(crate) fn overlaps(self) -> Self {
        Self { overlaps: true, ..self }
    }

    pub(crate) fn heirs(self, nodes: &[u16]) -> Self {
        Self { heirs: nodes.to_vec(), ..self }
    }

    pub(crate) fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Whether the network carries this at all.
    pub(crate) fn carries(&self, envelope: &Envelope) -> bool {
        self.reports
            || !matches!(
                envelope.message,
                Message::Control(
                    Control::Arrived { .. }
                        | Control::IsActive { .. }
                        | Control::HandedOn { .. }
                        | Control::Settled { .. }
                )
            )
    }

    pub(crate) fn own(&self, scene: usize) -> Own {
        // The second life of a node has the scene of its first.
        let node = self.scenes[scene];
        let first = self.scenes.iter().position(|&other| other == node % 10).unwrap_or(scene);
        let index = if node > 10 { first } else { scene };
        let number = u16::try_from(index + 1).expect("few scenes");
        Own::new(session(node), SceneId::from(number))
    }

    pub(crate) fn entity(&self, index: usize) -> OnlineId {
        let counter = u32::try_from(index + 1).expect("few entities");
        OnlineId::new(RangeId(u32::from(self.entities[index].home)), counter)
    }

    pub(crate) fn entities(&self) -> Vec<OnlineId> {
        (0..self.entities.len()).map(|index| self.entity(index)).collect()
    }

    /// Every node but the tool's, which has nothing but its router.
    pub(crate) fn nodes(&self) -> BTreeSet<u16> {
        let homes = self.entities.iter().map(|start| start.home);
        self.scenes.iter().copied().chain(homes).chain(self.heirs.iter().copied()).collect()
    }

    /// Nodes that may ever be a home.
    fn homes(&self) -> BTreeSet<u16> {
        self.entities.iter().map(|start| start.home).chain(self.heirs.iter().copied()).collect()
    }

    /// Where somebody who asks the home of an entity is heard: he, or the link that carries his question, may know
    /// another view than the home, so it may come to everybody who ever is one.
    pub(crate) fn ears(&self) -> Vec<Place> {
        self.homes().into_iter().map(|node| Place { session: session(node), port: Port::Directory }).collect()
    }

    /// Who acts, in the order of their slots: scenes, homes, the router.
    pub(crate) fn places(&self) -> Vec<Place> {
        let scenes = (0..self.scenes.len()).map(|scene| self.own(scene).into());
        let router = Place { session: session(self.router), port: Port::Router(0) };
        scenes.chain(self.ears()).chain([router]).collect()
    }

    /// Whether a copy may be revived that has missed something: where a home dies, and a scene with what it knows.
    pub(crate) fn may_reset(&self) -> bool {
        !self.heirs.is_empty() && self.deaths.iter().any(|node| self.scenes.contains(node))
    }

    /// Whether an entity may be lost: with a scene, or where nobody remembers any more that it is dead.
    pub(crate) fn may_lose(&self) -> bool {
        self.forgets > 0 || self.deaths.iter().any(|node| self.scenes.contains(node))
    }

    /// Spans that the explorer can tell apart; see [`canon`](super::canon).
    pub(crate) fn limits(&self) -> Limits {
        let (tick, late) = (Duration::from_micros(TICK_US), Duration::from_micros(LATE_US));
        Limits {
            stream_window: 2,
            held_messages: self.says.len(),
            hops: 1,
            reserve: late,
            transfer: late,
            decide: late,
            settle: if self.reports { late } else { tick },
            reservation: late,
            stream_idle: late,
            resend_first: tick,
            resend_max: tick,
            tombstone: Duration::from_micros(FORGET_US),
            ..Limits::default()
        }
    }
}

/// A life of a node: the first, or, above 10, the second of the node with ten less.
pub(crate) fn session(node: u16) -> Session {
    Session::new(node % 10, 1 + u32::from(node / 10))
}

/// The number by which plans know a life.
pub(crate) fn number(session: Session) -> u16 {
    let lives_before = u16::try_from(session.incarnation.0 - 1).expect("a few lives");
    session.node.0 + 10 * lives_before
}
