//! The records of one range: of those who live, and what it means to have none.
//!
//! ```text
//!   the first home, which gives the ids out       a later one
//!   . . 3 . . 6 7 8 . | next                      . . 3 . . 6 7 8 . . .
//!   without a record: dead                        without a record: dead, or lost, as the
//!                 from `next` on: never given out  home before it could know
//! ```
//!
//! Keeps: at the first home the dead cost nothing, whoever they were and however many; those that a verdict has taken
//! keep their records, since whoever wrote to them hears something else. A later home gives no ids out, so the records of
//! those who die there are at most as many as lived when the range came to it.

use std::collections::BTreeMap;

use slipgate_entity::{OnlineId, RangeId};

use crate::Record;

#[derive(Clone, Debug)]
pub(super) struct Records {
    range: RangeId,
    kept: BTreeMap<u32, Record>,
    /// The first counter that was not given out here, above all if all were; none where that is not done.
    next: Option<u64>,
    absent: Record,
    /// Whether an id without a record is what absence means; if not, nothing is known yet.
    complete: bool,
}

impl Records {
    /// Of a range that was granted to this session.
    pub(super) fn issued(range: RangeId) -> Self {
        Self { range, kept: BTreeMap::new(), next: Some(0), absent: Record::never(), complete: true }
    }

    /// Of a range that others were the home of before; nothing is known yet.
    pub(super) fn passed(range: RangeId, term: u32) -> Self {
        Self { range, kept: BTreeMap::new(), next: None, absent: Record::absent(term, true), complete: false }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// From here on an id without a record is what absence means.
    pub(super) fn complete(&mut self) {
        self.complete = true;
    }

    pub(super) fn set_absent(&mut self, absent: Record) {
        self.absent = absent;
    }

    pub(super) fn absent(&self) -> Record {
        self.absent
    }

    /// What is said of the id under a counter.
    pub(super) fn word(&self, counter: u32) -> Record {
        let of_absence =
            || if self.next.is_some_and(|next| u64::from(counter) < next) { Record::dead() } else { self.absent };
        self.get(counter).unwrap_or_else(of_absence)
    }

    /// The record under a counter, if there is one.
    pub(super) fn get(&self, counter: u32) -> Option<Record> {
        self.kept.get(&counter).copied()
    }

    /// Gives an id out.
    ///
    /// # Panics
    ///
    /// If it was given out before, or one after it: they come in sequence, from this node's own stock.
    pub(super) fn give_out(&mut self, counter: u32, record: Record) {
        let next = self.next.as_mut().expect("ids are given out at the first home of their range");
        assert!(
            *next <= counter.into(),
            "expected {} to be fresh, but {next} is next",
            OnlineId::new(self.range, counter)
        );
        *next = u64::from(counter) + 1;
        self.kept.insert(counter, record);
    }

    /// Puts a record under a counter of a range that others were the home of before.
    pub(super) fn insert(&mut self, counter: u32, record: Record) {
        self.kept.insert(counter, record);
    }

    /// Replaces a record. Whoever is dead, and whose death says no more than absence does, has none from then on.
    pub(super) fn change(&mut self, counter: u32, record: Record) {
        let before = if self.next.is_some() && record.owner.is_none() && !record.lost {
            self.kept.remove(&counter)
        } else {
            self.kept.insert(counter, record)
        };
        assert!(before.is_some(), "expected {} to have a record", OnlineId::new(self.range, counter));
    }

    /// Records that are kept.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Every record, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (OnlineId, Record)> + '_ {
        self.from(0)
    }

    /// Every record from a counter on, by id.
    pub(super) fn from(&self, first: u32) -> impl Iterator<Item = (OnlineId, Record)> + '_ {
        self.kept.range(first..).map(|(counter, record)| (OnlineId::new(self.range, *counter), *record))
    }
}
