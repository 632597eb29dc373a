//! The records of one range.
//!
//! The first home of a range gives its ids out one after the other: an array without holes. A later home knows
//! those that live, and what absence means: a tree, since what others say of ids may lie anywhere.

use std::collections::BTreeMap;

use slipgate_entity::{OnlineId, RangeId};

use crate::Record;

#[derive(Clone, Debug)]
pub(super) struct Records {
    range: RangeId,
    kept: Kept,
    absent: Record,
    /// Whether an id without a record is what absence means; if not, nothing is known yet.
    complete: bool,
}

#[derive(Clone, Debug)]
enum Kept {
    Issued(Vec<Option<Record>>),
    Passed(BTreeMap<u32, Record>),
}

impl Records {
    /// Of a range that was granted to this session.
    pub(super) fn issued(range: RangeId) -> Self {
        Self { range, kept: Kept::Issued(Vec::new()), absent: Record::never(), complete: true }
    }

    /// Of a range that others were the home of before; nothing is known yet.
    pub(super) fn passed(range: RangeId, term: u32) -> Self {
        Self { range, kept: Kept::Passed(BTreeMap::new()), absent: Record::absent(term, true), complete: false }
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

    /// The record under a counter, if there is one.
    #[inline]
    pub(super) fn get(&self, counter: u32) -> Option<Record> {
        match &self.kept {
            Kept::Issued(records) => records.get(index(counter)).copied().flatten(),
            Kept::Passed(records) => records.get(&counter).copied(),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, counter: u32) -> Option<&mut Record> {
        match &mut self.kept {
            Kept::Issued(records) => records.get_mut(index(counter))?.as_mut(),
            Kept::Passed(records) => records.get_mut(&counter),
        }
    }

    /// Puts a record under a counter; returns the one that was there.
    ///
    /// Where ids are given out here, they come in sequence: nobody else's counter makes the array grow.
    pub(super) fn insert(&mut self, counter: u32, record: Record) -> Option<Record> {
        match &mut self.kept {
            Kept::Issued(records) => {
                if records.len() <= index(counter) {
                    records.resize(index(counter) + 1, None);
                }
                records[index(counter)].replace(record)
            }
            Kept::Passed(records) => records.insert(counter, record),
        }
    }

    /// Ids that have a record, or had a place for one.
    pub(super) fn len(&self) -> usize {
        match &self.kept {
            Kept::Issued(records) => records.len(),
            Kept::Passed(records) => records.len(),
        }
    }

    /// Every record, by id.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = (OnlineId, Record)> + '_> {
        self.from(0)
    }

    /// Every record from a counter on, by id.
    pub(super) fn from(&self, first: u32) -> Box<dyn Iterator<Item = (OnlineId, Record)> + '_> {
        let id = |counter| OnlineId::new(self.range, counter);
        match &self.kept {
            Kept::Issued(records) => {
                let records = records.get(index(first)..).unwrap_or_default();
                Box::new((first..=u32::MAX).zip(records).filter_map(move |(at, record)| Some((id(at), (*record)?))))
            }
            Kept::Passed(records) => Box::new(records.range(first..).map(move |(at, record)| (id(*at), *record))),
        }
    }
}

fn index(counter: u32) -> usize {
    usize::try_from(counter).expect("32 bits fit into an index")
}
