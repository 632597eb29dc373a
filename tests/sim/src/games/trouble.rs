//! What can go wrong, as whoever drives the cluster wants it: the network between nodes, and processes.
//!
//! What is said within a node always arrives. Names of nodes that there are not are a fault of whoever wants it.

use std::time::Duration;

use slipgate_cluster::Now;

use super::World;
use crate::life::Doing;
use crate::network::Faults;

impl World {
    /// So many of a thousand messages between nodes are lost from here on.
    pub fn lose(&mut self, per_mille: u64) {
        self.change(|faults| faults.lost = per_mille);
        self.cluster.tell_story(format!("-- {per_mille} of 1000 messages are lost"));
    }

    /// So many of a thousand messages between nodes arrive twice from here on.
    pub fn double(&mut self, per_mille: u64) {
        self.change(|faults| faults.doubled = per_mille);
        self.cluster.tell_story(format!("-- {per_mille} of 1000 messages arrive twice"));
    }

    /// Each message between nodes takes up to so long from here on, and may overtake others.
    pub fn delay(&mut self, longest: Duration) {
        let late_us = u64::try_from(longest.as_micros()).expect("a delay is short").max(LATE_US_MIN);
        self.change(|faults| (faults.late, faults.late_us) = (1000, late_us));
        self.cluster.tell_story(format!("-- messages take up to {longest:?}"));
    }

    /// Nothing passes between two nodes from here on.
    ///
    /// # Panics
    ///
    /// As all of these: if there is no such node.
    pub fn cut(&mut self, one: &str, other: &str) {
        let ends = (self.node(one), self.node(other));
        for (from, to) in [ends, (ends.1, ends.0)] {
            self.cluster.network.cut(from, to, Now(u64::MAX));
        }
        self.cluster.tell_story(format!("-- {one} and {other} are cut off from each other"));
    }

    /// What was cut between two nodes is whole again.
    pub fn mend(&mut self, one: &str, other: &str) {
        let ends = (self.node(one), self.node(other));
        for (from, to) in [ends, (ends.1, ends.0)] {
            self.cluster.network.mend(from, to);
        }
        self.cluster.tell_story(format!("-- {one} and {other} reach each other again"));
    }

    /// The process of a node is gone, with all that it held but the manager's disk.
    pub fn crash(&mut self, node: &str) {
        let index = self.node(node);
        self.cluster.tell_story(format!("-- {node} crashes"));
        self.cluster.crash(index, Now(u64::MAX));
    }

    /// The process of a node starts again, if it is gone.
    pub fn restart(&mut self, node: &str) {
        let index = self.node(node);
        if let Doing::Down { until } = &mut self.cluster.nodes[index].doing {
            *until = self.cluster.now;
            self.cluster.tell_story(format!("-- {node} starts again"));
        }
    }

    /// The process of a node stands still for so long.
    pub fn pause(&mut self, node: &str, time: Duration) {
        let index = self.node(node);
        let us = u64::try_from(time.as_micros()).expect("a pause is short");
        self.cluster.nodes[index].stopped_until = Now(self.cluster.now.0 + us);
        self.cluster.tell_story(format!("-- {node} stands still for {time:?}"));
    }

    /// The network is whole, and everybody who crashed starts again.
    pub fn heal(&mut self) {
        self.cluster.network.heal();
        self.cluster.tell_story("-- all is whole again".to_owned());
        let names: Vec<String> = self.cluster.cast.shape.nodes.iter().map(|(name, _)| name.to_string()).collect();
        names.iter().for_each(|name| self.restart(name));
    }

    /// Bad weather, drawn from the seed: messages between nodes are lost, doubled and late.
    pub fn storm(&mut self) {
        let faults = Faults::drawn(&mut self.cluster.cast.dice);
        self.cluster.network.set_faults(faults);
        self.cluster.tell_story(format!("-- {faults:?}"));
    }

    fn change(&mut self, change: impl FnOnce(&mut Faults)) {
        let mut faults = self.cluster.network.faults();
        change(&mut faults);
        self.cluster.network.set_faults(faults);
    }
}

/// Late messages take at least two milliseconds.
const LATE_US_MIN: u64 = 2_001;
