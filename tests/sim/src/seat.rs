//! The manager's seat: the machine, its disk, and what is being written.
//!
//! ```text
//! inputs -> manager -> writes --(the disk takes its time)--> then all else that was ordered
//!                        ^ a crash meanwhile: the writes are there, or are not; nothing else was done
//! ```

use std::collections::{BTreeMap, VecDeque};

use slipgate_cluster::manager::{Input, Manager, Output, Stored, Ticket, Waits, Write};
use slipgate_cluster::{Now, Rules};

use crate::dice::Dice;
use crate::mutant::Mutant;
use crate::network::NodeIndex;

/// What the manager has ordered, while its writes are not on disk yet.
#[derive(Debug)]
struct Writing {
    done_at: Now,
    writes: Vec<Write>,
    orders: Vec<Output>,
}

#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) disk: Stored,
    manager: Option<Manager>,
    pub(crate) waits: Waits,
    inbox: VecDeque<Input>,
    writing: Option<Writing>,
    /// Who waits for an answer to a join.
    pub(crate) joins: BTreeMap<Ticket, NodeIndex>,
    /// How long a write takes, in microseconds.
    pub(crate) write_us: u64,
    last_tick: Now,
    mutant: Option<Mutant>,
    /// Inputs that managers were given.
    pub(crate) events: u64,
}

impl Seat {
    pub(crate) fn new(waits: Waits, mutant: Option<Mutant>) -> Self {
        Self {
            disk: Stored::default(),
            manager: None,
            waits,
            inbox: VecDeque::new(),
            writing: None,
            joins: BTreeMap::new(),
            write_us: 0,
            last_tick: Now(0),
            mutant,
            events: 0,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.manager.is_some()
    }

    /// A manager goes on from what is on disk.
    pub(crate) fn open(&mut self, now: Now) {
        let rules = self.mutant.map_or(Rules::default(), Mutant::rules);
        self.manager = Some(Manager::load(self.disk.clone(), self.waits, now).under(rules));
        self.last_tick = now;
    }

    /// It is gone, in the middle of whatever it did.
    pub(crate) fn crash(&mut self, dice: &mut Dice) {
        self.manager = None;
        self.inbox.clear();
        self.joins.clear();
        if let Some(Writing { writes, .. }) = self.writing.take()
            && dice.chance(500)
        {
            writes.iter().for_each(|write| self.disk.apply(write));
        }
        if self.mutant == Some(Mutant::LosesDisk) {
            self.disk = Stored::default();
        }
    }

    /// Hands an input in, once those before it are done; lost while nobody is there.
    pub(crate) fn tell(&mut self, input: Input) {
        if self.manager.is_some() && self.inbox.len() < INBOX_MAX {
            self.inbox.push_back(input);
        }
    }

    /// Works as far as the disk lets it, and returns what is to be done, in order.
    pub(crate) fn work(&mut self, now: Now) -> Vec<Output> {
        let mut done = Vec::new();
        let Some(manager) = &mut self.manager else { return done };
        loop {
            if let Some(Writing { done_at, .. }) = &self.writing {
                if now < *done_at {
                    return done;
                }
                let Writing { writes, mut orders, .. } = self.writing.take().expect("it was there");
                writes.iter().for_each(|write| self.disk.apply(write));
                done.append(&mut orders);
            }
            let Some(input) = self.inbox.pop_front() else { return done };
            let mut orders = Vec::new();
            if input == Input::Tick {
                // Ticks that lie far apart tell that the process was stopped.
                let slept = now.since(self.last_tick);
                self.last_tick = now;
                if u128::from(slept) > self.waits.margin.as_micros() {
                    manager.handle(Input::Slept, now, &mut orders);
                }
            }
            manager.handle(input, now, &mut orders);
            self.events += 1;
            let mut writes = Vec::new();
            orders.retain_mut(|order| {
                let Output::Persist(more) = order else { return true };
                writes.append(more);
                false
            });
            if writes.is_empty() || self.mutant == Some(Mutant::TellsBeforeItWrites) {
                done.append(&mut orders);
            }
            if !writes.is_empty() {
                self.writing = Some(Writing { done_at: Now(now.0 + self.write_us), writes, orders });
            }
        }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.inbox.is_empty() && self.writing.is_none()
    }
}

/// As the mailbox of the shell: bounded.
const INBOX_MAX: usize = 4_096;
