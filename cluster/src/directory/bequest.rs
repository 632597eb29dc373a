//! A range that is handed over: the former home's pages, and how far the next one has come.
//!
//! The former home answers nobody from the moment it knows of the next one, so its records are final, and one
//! page after the other is enough. A page is said again until it is acknowledged.
//!
//! Leaves out: a former home that dies before the last page, or whose pages are none of an honest home. Then the next
//! one asks every scene (`rebuild`), as if it had been handed nothing.

use std::collections::VecDeque;

use slipgate_entity::{OnlineId, RangeId};

use super::Output;
use crate::bounds::HEIRLOOMS;
use crate::legacy::{Heirloom, Legacy};
use crate::message::Control;
use crate::pace::Pace;
use crate::view::Home;
use crate::{Now, Place, Port, Session};

/// What this session has to hand over.
#[derive(Clone, Debug)]
pub(super) struct Bequest {
    pub(super) heir: Session,
    pub(super) term: u32,
    pub(super) kept: u64,
    range: RangeId,
    /// None where nothing was ever known.
    records: Option<VecDeque<Heirloom>>,
    absent_is_lost: bool,
    after: Option<OnlineId>,
    page: usize,
    pace: Pace,
}

/// What this session is to be handed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inheritance {
    pub(super) before: Session,
    pub(super) after: Option<OnlineId>,
    pub(super) taken: usize,
    pub(super) kept: u64,
}

/// A former home's records, as far as they must be told.
#[derive(Clone, Debug)]
pub(super) struct Estate {
    pub(super) records: VecDeque<Heirloom>,
    pub(super) absent_is_lost: bool,
}

impl Bequest {
    pub(super) fn new(home: &Home, estate: Option<Estate>, page: usize) -> Self {
        let kept = estate.iter().flat_map(|estate| &estate.records).filter(|record| record.record.owner.is_some());
        Self {
            heir: home.session,
            term: home.term,
            kept: kept.count() as u64,
            range: home.range,
            absent_is_lost: estate.as_ref().is_some_and(|estate| estate.absent_is_lost),
            records: estate.map(|estate| estate.records),
            after: None,
            page,
            pace: Pace::fresh(),
        }
    }

    /// Whether the page is the next home's as `home` says.
    pub(super) fn is_for(&self, home: &Home) -> bool {
        self.heir == home.session && self.term == home.term
    }

    /// Says the page that is next, or says it again.
    pub(super) fn say(&mut self, now: Now, out: &mut Vec<Output>) {
        if !self.pace.is_due(now) {
            return;
        }
        let legacy = match &self.records {
            None => Legacy::Unknown,
            Some(records) => Legacy::Page {
                records: records.iter().take(self.page).cloned().collect(),
                more: records.len() > self.page,
                absent_is_lost: self.absent_is_lost,
            },
        };
        let control = Control::Bequest { range: self.range, term: self.term, after: self.after, legacy };
        out.push(Output::Tell { to: directory_of(self.heir), control });
    }

    /// The page after `after` is taken over. Returns whether it was the last one.
    pub(super) fn acknowledge(&mut self, after: Option<OnlineId>) -> bool {
        if after != self.after {
            return false;
        }
        self.pace = Pace::fresh();
        let Some(records) = &mut self.records else { return true };
        let page = records.len().min(self.page);
        if let Some(last) = records.drain(..page).next_back() {
            self.after = Some(last.entity);
        }
        records.is_empty()
    }
}

impl Inheritance {
    /// Goes on by the records of the page that is next. Refuses what no honest home hands over: ids that do not rise or
    /// are of another range, a lost one with an owner, a page that leads nowhere, more than [`HEIRLOOMS`].
    #[must_use]
    pub(super) fn take(&mut self, range: RangeId, records: &[Heirloom], more: bool) -> bool {
        for Heirloom { entity, record, .. } in records {
            let rises = entity.range() == range && self.after.is_none_or(|after| *entity > after);
            if !rises || record.lost && record.owner.is_some() {
                return false;
            }
            self.after = Some(*entity);
            self.kept += u64::from(record.owner.is_some());
        }
        self.taken += records.len();
        self.taken <= HEIRLOOMS && !(more && records.is_empty())
    }
}

/// The directory of a session.
pub(super) fn directory_of(session: Session) -> Place {
    Place { session, port: Port::Directory }
}

/// Records in a page: some 10 KiB with ordinary labels.
pub(super) const PAGE: usize = 128;
