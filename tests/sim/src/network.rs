//! The network between nodes: it may lose, double, delay and reorder whatever it is given, and be cut, one way too.
//!
//! Each way from one node to another has chance of its own, so that one message more on one of them disturbs no other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slipgate_cluster::manager::{JoinReply, JoinRequest, Ticket};
use slipgate_cluster::message::Message;
use slipgate_cluster::{Envelope, Now};

use crate::dice::Dice;

/// How bad it is; chances per mille.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) late: u64,
    /// Longest delay of a late message, in microseconds.
    pub(crate) late_us: u64,
    /// Whether nothing is left to chance: every message takes [`STEADY_US`], and none that stays within its node.
    pub(crate) is_steady: bool,
}

impl Faults {
    /// How bad it is in one seed's cluster: each kind gets its turn.
    pub(crate) fn drawn(dice: &mut Dice) -> Self {
        let mut one_of = |values: &[u64]| *dice.pick(values).expect("there are values");
        Self {
            lost: one_of(&[0, 10, 100, 300]),
            doubled: one_of(&[0, 50, 200]),
            late: one_of(&[0, 50, 300]),
            late_us: one_of(&[10_000, 100_000, 2_000_000]),
            is_steady: false,
        }
    }
}

/// Number of a node: its index among the nodes of the cluster, whatever life it is in.
pub(crate) type NodeIndex = usize;

/// What travels.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Mail(Envelope),
    /// A node asks to join.
    Join {
        ticket: Ticket,
        request: JoinRequest,
    },
    /// And is answered.
    Welcome {
        ticket: Ticket,
        reply: JoinReply,
    },
}

impl Load {
    /// Whether it is about entities: nodes and the manager always talk.
    pub(crate) fn is_of_entities(&self) -> bool {
        match self {
            Self::Mail(envelope) => !matches!(envelope.message, Message::Manager(_)),
            Self::Join { .. } | Self::Welcome { .. } => false,
        }
    }
}

/// Something on its way to a node.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) at: Now,
    pub(crate) from: NodeIndex,
    pub(crate) to: NodeIndex,
    pub(crate) load: Load,
}

/// One way from one node to another.
#[derive(Debug)]
struct Way {
    dice: Dice,
    cut_until: Now,
}

/// What is on the way.
#[derive(Debug)]
pub(crate) struct Network {
    faults: Faults,
    /// What is said within a node always arrives.
    spares_own: bool,
    nodes: usize,
    ways: Vec<Way>,
    sent: u64,
    /// By when they arrive, what was sent first goes first: time, number, and where the parcel lies.
    due: BinaryHeap<Reverse<(Now, u64, usize)>>,
    parcels: Vec<Option<Parcel>>,
    vacant: Vec<usize>,
}

impl Network {
    pub(crate) fn new(nodes: usize, faults: Faults, mut dice: Dice) -> Self {
        let ways = (0..nodes * nodes).map(|_| Way { dice: dice.child(), cut_until: Now(0) }).collect();
        Self {
            faults,
            spares_own: false,
            nodes,
            ways,
            sent: 0,
            due: BinaryHeap::new(),
            parcels: Vec::new(),
            vacant: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, from: NodeIndex, to: NodeIndex, load: Load, now: Now) {
        let faults = self.faults_of(from, to);
        let way = &mut self.ways[from * self.nodes + to];
        if now < way.cut_until || way.dice.chance(faults.lost) {
            return;
        }
        let copies = if way.dice.chance(faults.doubled) { 2 } else { 1 };
        for _ in 1..copies {
            self.put(from, to, load.clone(), now);
        }
        self.put(from, to, load, now);
    }

    fn put(&mut self, from: NodeIndex, to: NodeIndex, load: Load, now: Now) {
        let Faults { late, late_us, is_steady, .. } = self.faults_of(from, to);
        let dice = &mut self.ways[from * self.nodes + to].dice;
        let delay = match is_steady {
            true if from == to => 0,
            true => STEADY_US,
            false if dice.chance(late) => dice.within(2_000..late_us),
            false => dice.within(100..2_000),
        };
        self.post(Parcel { at: Now(now.0 + delay), from, to, load });
    }

    fn faults_of(&self, from: NodeIndex, to: NodeIndex) -> Faults {
        let spared = Faults { is_steady: self.faults.is_steady, ..Faults::default() };
        if self.spares_own && from == to { spared } else { self.faults }
    }

    /// From here on what is said within a node always arrives.
    pub(crate) fn spare_own(&mut self) {
        self.spares_own = true;
    }

    pub(crate) fn faults(&self) -> Faults {
        self.faults
    }

    pub(crate) fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// What has come waits, for somebody who does not look.
    pub(crate) fn keep(&mut self, parcel: Parcel, until: Now) {
        self.post(Parcel { at: until, ..parcel });
    }

    fn post(&mut self, parcel: Parcel) {
        self.sent += 1;
        let slot = self.vacant.pop().unwrap_or(self.parcels.len());
        self.due.push(Reverse((parcel.at, self.sent, slot)));
        match self.parcels.get_mut(slot) {
            Some(place) => *place = Some(parcel),
            None => self.parcels.push(Some(parcel)),
        }
    }

    /// The next that arrives by `until`.
    pub(crate) fn take(&mut self, until: Now) -> Option<Parcel> {
        let &Reverse((at, _, slot)) = self.due.peek()?;
        if at > until {
            return None;
        }
        self.due.pop();
        self.vacant.push(slot);
        self.parcels[slot].take()
    }

    /// Nothing passes from one node to another for a while.
    pub(crate) fn cut(&mut self, from: NodeIndex, to: NodeIndex, until: Now) {
        let way = &mut self.ways[from * self.nodes + to];
        way.cut_until = way.cut_until.max(until);
    }

    /// What was cut from one node to another is whole again.
    pub(crate) fn mend(&mut self, from: NodeIndex, to: NodeIndex) {
        self.ways[from * self.nodes + to].cut_until = Now(0);
    }

    /// Whether nodes reach each other, both ways.
    pub(crate) fn is_whole(&self, one: NodeIndex, other: NodeIndex, now: Now) -> bool {
        !self.is_cut(one, other, now) && !self.is_cut(other, one, now)
    }

    /// Whether nothing passes from one node to another.
    pub(crate) fn is_cut(&self, from: NodeIndex, to: NodeIndex, now: Now) -> bool {
        now < self.ways[from * self.nodes + to].cut_until
    }

    /// From here on everything arrives once and soon; what is late already stays late.
    pub(crate) fn heal(&mut self) {
        self.faults = Faults { is_steady: self.faults.is_steady, ..Faults::default() };
        self.ways.iter_mut().for_each(|way| way.cut_until = Now(0));
    }

    /// How many are on their way of those that count.
    pub(crate) fn on_the_way(&self, counts: impl Fn(&Load) -> bool) -> u64 {
        self.parcels.iter().flatten().filter(|parcel| counts(&parcel.load)).count() as u64
    }
}

/// How long a message takes from node to node where nothing is left to chance.
pub(crate) const STEADY_US: u64 = 1_000;
