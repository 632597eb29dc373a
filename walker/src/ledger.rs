//! What a walker has been told, by whom, and what is missing.
//!
//! A sender numbers its notes to one walker 1, 2, 3 and so on. The ledger compares each number with
//! the last one of that sender:
//!
//! ```text
//! notes  1  2  4  4  3      count 5, last 4, gaps 1 (the 3, skipped), repeats 2 (the second 4; the 3, late)
//! ```
//!
//! So all went well if `gaps` and `repeats` are 0: then `count` equals `last`, and every note was
//! applied once and in order.
//!
//! Keeps: at most [`Ledger::SENDERS_MAX`] senders by name, each of at most
//! [`Ledger::SENDER_BYTES_MAX`] bytes; counters stop at their ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a walker has been told, by sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LedgerState")]
pub struct Ledger {
    senders: BTreeMap<String, Entry>,
    others: u64,
}

/// A ledger as it comes from outside: shaped right, not yet believed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerState {
    senders: BTreeMap<String, Entry>,
    others: u64,
}

/// What one sender has told a walker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Notes applied, repeats among them.
    pub count: u64,
    /// Highest number applied; 0 before the first.
    pub last: u64,
    /// Numbers that were skipped when a higher one came.
    pub gaps: u64,
    /// Notes whose number was not above the last one.
    pub repeats: u64,
}

/// Why a ledger did not take a note. It is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The sender's name is empty or too long. Use a shorter one.
    #[error("a sender's name has 1 to {} bytes, not {bytes}", Ledger::SENDER_BYTES_MAX)]
    SenderName {
        /// Length of the name.
        bytes: usize,
    },
    /// It would have more senders than are kept apart.
    #[error("{senders} senders are more than {}", Ledger::SENDERS_MAX)]
    Senders {
        /// How many.
        senders: usize,
    },
}

impl Ledger {
    /// Senders that are kept apart by name. A guess; a full ledger encodes to less than 32 KiB.
    pub const SENDERS_MAX: usize = 256;

    /// Longest name of a sender, in bytes: that of a type, twice that of a node.
    pub const SENDER_BYTES_MAX: usize = 64;

    /// Writes a note down. Once the ledger is full, notes of further senders are only counted.
    ///
    /// # Errors
    ///
    /// If the name has not 1 to [`SENDER_BYTES_MAX`](Self::SENDER_BYTES_MAX) bytes.
    ///
    /// ```
    /// use slipgate_walker::Ledger;
    /// let mut ledger = Ledger::default();
    /// ledger.note("ann".to_owned(), 1)?;
    /// ledger.note("ann".to_owned(), 3)?;
    /// assert_eq!(ledger.entry("ann").map(|entry| entry.gaps), Some(1));
    /// # Ok::<(), slipgate_walker::LedgerError>(())
    /// ```
    pub fn note(&mut self, sender: String, number: u64) -> Result<(), LedgerError> {
        Self::check_sender(&sender)?;
        if let Some(entry) = self.senders.get_mut(&sender) {
            entry.note(number);
        } else if self.senders.len() < Self::SENDERS_MAX {
            self.senders.entry(sender).or_default().note(number);
        } else {
            self.others = self.others.saturating_add(1);
        }
        Ok(())
    }

    /// What `sender` has told; none if it is not among the named.
    #[must_use]
    pub fn entry(&self, sender: &str) -> Option<&Entry> {
        self.senders.get(sender)
    }

    /// The senders kept by name, in order of their names.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &Entry)> {
        self.senders.iter().map(|(sender, entry)| (sender.as_str(), entry))
    }

    /// Notes of senders that found the ledger full.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    fn check_sender(sender: &str) -> Result<(), LedgerError> {
        let bytes = sender.len();
        if (1..=Self::SENDER_BYTES_MAX).contains(&bytes) { Ok(()) } else { Err(LedgerError::SenderName { bytes }) }
    }
}

impl TryFrom<LedgerState> for Ledger {
    type Error = LedgerError;

    fn try_from(LedgerState { senders, others }: LedgerState) -> Result<Self, LedgerError> {
        if senders.len() > Self::SENDERS_MAX {
            return Err(LedgerError::Senders { senders: senders.len() });
        }
        senders.keys().try_for_each(|sender| Self::check_sender(sender))?;
        Ok(Self { senders, others })
    }
}

impl Entry {
    fn note(&mut self, number: u64) {
        self.count = self.count.saturating_add(1);
        if number <= self.last {
            self.repeats = self.repeats.saturating_add(1);
            return;
        }
        self.gaps = self.gaps.saturating_add(number - self.last - 1);
        self.last = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry of a sender that sent `numbers`.
    fn entry_after(numbers: &[u64]) -> Entry {
        let mut ledger = Ledger::default();
        for &number in numbers {
            ledger.note("ann".to_owned(), number).expect("a good name");
        }
        *ledger.entry("ann").expect("ann is named")
    }

    #[test]
    fn notes_in_order_leave_neither_gaps_nor_repeats() {
        assert_eq!(entry_after(&[1, 2, 3]), Entry { count: 3, last: 3, gaps: 0, repeats: 0 });
    }

    #[test]
    fn a_lost_note_is_a_gap_also_when_it_is_the_first() {
        assert_eq!(entry_after(&[1, 3]), Entry { count: 2, last: 3, gaps: 1, repeats: 0 });
        assert_eq!(entry_after(&[5]), Entry { count: 1, last: 5, gaps: 4, repeats: 0 });
    }

    #[test]
    fn a_doubled_note_is_a_repeat() {
        assert_eq!(entry_after(&[1, 2, 2]), Entry { count: 3, last: 2, gaps: 0, repeats: 1 });
    }

    #[test]
    fn an_overtaken_note_is_a_gap_and_a_repeat() {
        assert_eq!(entry_after(&[1, 3, 2]), Entry { count: 3, last: 3, gaps: 1, repeats: 1 });
    }

    #[test]
    fn the_number_zero_is_a_repeat_because_numbers_start_at_one() {
        assert_eq!(entry_after(&[0]), Entry { count: 1, last: 0, gaps: 0, repeats: 1 });
    }

    #[test]
    fn counters_stop_at_their_ends() {
        assert_eq!(entry_after(&[u64::MAX, u64::MAX]).gaps, u64::MAX - 1);
        let mut entry = Entry { count: u64::MAX, last: 9, gaps: u64::MAX, repeats: u64::MAX };
        entry.note(9);
        entry.note(20);
        assert_eq!(entry, Entry { count: u64::MAX, last: 20, gaps: u64::MAX, repeats: u64::MAX });
    }

    #[test]
    fn a_full_ledger_counts_further_senders_together_and_does_not_grow() {
        let mut ledger = Ledger::default();
        for sender in 0..Ledger::SENDERS_MAX + 50 {
            ledger.note(format!("s{sender}"), 1).expect("a good name");
        }
        ledger.note("s0".to_owned(), 2).expect("a good name");
        assert_eq!(ledger.entries().len(), Ledger::SENDERS_MAX);
        assert_eq!(ledger.others(), 50);
        assert_eq!(ledger.entry("s0").map(|entry| entry.count), Some(2));
        assert_eq!(ledger.entry("s300"), None);
    }

    #[test]
    fn a_name_that_is_empty_or_too_long_is_refused() {
        let mut ledger = Ledger::default();
        for bytes in [0, Ledger::SENDER_BYTES_MAX + 1] {
            let refusal = ledger.note("x".repeat(bytes), 1);
            assert_eq!(refusal, Err(LedgerError::SenderName { bytes }));
        }
        assert_eq!(ledger, Ledger::default());
        assert_eq!(ledger.note("x".repeat(Ledger::SENDER_BYTES_MAX), 1), Ok(()));
    }
}
