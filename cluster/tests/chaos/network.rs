//! The network between the actors: it may lose, double, delay and reorder whatever it is given.

use std::collections::BTreeMap;

use slipgate_cluster::{Envelope, NodeId, Now};

use super::dice::Dice;

/// How bad it is; chances per mille.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) late: u64,
    /// Longest delay of a late message, in microseconds.
    pub(crate) late_us: u64,
}

impl Faults {
    /// How bad it is in one seed's world: each kind gets its turn.
    pub(crate) fn drawn(dice: &mut Dice) -> Self {
        let mut one_of = |values: &[u64]| *dice.pick(values).expect("there are values");
        Self {
            lost: one_of(&[0, 10, 100, 300]),
            doubled: one_of(&[0, 50, 200]),
            late: one_of(&[0, 50, 300]),
            late_us: one_of(&[10_000, 100_000, 2_000_000]),
        }
    }
}

/// Messages on the way.
#[derive(Debug)]
pub(crate) struct Network {
    faults: Faults,
    dice: Dice,
    sent: u64,
    on_the_way: BTreeMap<(Now, u64), Envelope>,
    /// Pairs of nodes that cannot reach each other, until when.
    cuts: BTreeMap<(NodeId, NodeId), Now>,
}

impl Network {
    pub(crate) fn new(faults: Faults, dice: Dice) -> Self {
        Self { faults, dice, sent: 0, on_the_way: BTreeMap::new(), cuts: BTreeMap::new() }
    }

    pub(crate) fn send(&mut self, envelope: Envelope, now: Now) {
        let pair = pair(envelope.from.session.node, envelope.to.session.node);
        if self.cuts.get(&pair).is_some_and(|until| now < *until) || self.dice.chance(self.faults.lost) {
            return;
        }
        if self.dice.chance(self.faults.doubled) {
            self.put(envelope.clone(), now);
        }
        self.put(envelope, now);
    }

    fn put(&mut self, envelope: Envelope, now: Now) {
        let late = self.dice.chance(self.faults.late);
        let delay = self.dice.within(if late { 2_000..self.faults.late_us } else { 100..2_000 });
        self.sent += 1;
        self.on_the_way.insert((Now(now.0 + delay), self.sent), envelope);
    }

    /// The next message due by `until`, and when it arrives.
    pub(crate) fn take(&mut self, until: Now) -> Option<(Now, Envelope)> {
        let first = self.on_the_way.first_entry().filter(|first| first.key().0 <= until)?;
        let at = first.key().0;
        Some((at, first.remove()))
    }

    /// Nothing passes between two nodes for a while.
    pub(crate) fn cut(&mut self, a: NodeId, b: NodeId, until: Now) {
        self.cuts.insert(pair(a, b), until);
    }

    /// From here on everything arrives once and soon; what is late already stays late.
    pub(crate) fn heal(&mut self) {
        self.faults = Faults::default();
        self.cuts.clear();
    }

    pub(crate) fn on_the_way(&self) -> usize {
        self.on_the_way.len()
    }
}

fn pair(a: NodeId, b: NodeId) -> (NodeId, NodeId) {
    if a <= b { (a, b) } else { (b, a) }
}
