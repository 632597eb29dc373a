//! How much a home remembers.

use super::Directory;
use super::records::Records;

/// Rows of a home's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Ranges that it keeps records of.
    pub ranges: usize,
    /// Records: of those that live, of those that a verdict has taken, and of those that died at a later home of their range.
    pub records: usize,
    /// Labels of those that live.
    pub labels: usize,
    /// Ranges that are not complete.
    pub coming: usize,
    /// Questions about them.
    pub waiting: usize,
    /// Ranges that are not handed over yet.
    pub bequests: usize,
    /// Births and deaths that the witness is to be told of.
    pub untold: usize,
    /// Entities of other homes that this session is the witness of.
    pub witnessed: usize,
    /// Ranges of which members are asked who died with the home.
    pub naming: usize,
}

impl Directory {
    /// Rows of the tables.
    #[must_use]
    pub fn tables(&self) -> Tables {
        Tables {
            ranges: self.ranges.len(),
            records: self.held.keys().filter_map(|range| self.ranges.get(range)).map(Records::len).sum(),
            labels: self.labels.len(),
            coming: self.coming.len(),
            waiting: self.waiting.len(),
            bequests: self.bequests.len(),
            untold: self.roster.waiting(),
            witnessed: self.witness.len(),
            naming: self.naming.len(),
        }
    }
}
