//! What a walker's ledger says against what was accepted for it.
//!
//! A sender numbers its notes to one walker from 1. The ledger keeps, for each sender, `count` (notes
//! applied), `last` (the highest number), `gaps` (numbers skipped when a higher one came) and `repeats`
//! (notes whose number was not above the highest).
//!
//! ```text
//! applied 1 2 4 3      gaps 1, repeats 1: the 3 was overtaken       -> reordered 1
//! applied 1 2 2 3      gaps 0, repeats 1: the 2 came twice          -> duplicated 1
//! applied 1 2 4        gaps 1, repeats 0, 4 accepted, 3 distinct    -> lost 1
//! ```
//!
//! The rule: a repeat fills a gap as long as there is one, and is then a reordered note; the others
//! are duplicates. What is accepted and not among the distinct ones is lost. A lost note together with
//! a doubled one thus shows as a reordered one; it still shows. What is applied beyond all that was
//! sent counts as duplicated: it was answered as not accepted.
//!
//! Nodes may die under a tour. What a router had accepted and not delivered goes with its life, and a walker takes its
//! ledger along: such notes are unknown, not lost, for nobody was promised more.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// What one sender got accepted for one walker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Id of the walker.
    pub entity: String,
    /// Name of the sender.
    pub sender: String,
    /// The notes 1 to this were accepted.
    pub accepted: u64,
    /// So many after these may have been accepted: the answer to them was lost.
    pub unsure: u64,
    /// The life of the node that accepted them is over, or the walker's streams were reset because its home was lost
    /// while it was on the move: what is missing is unknown, and not lost.
    pub outlived: bool,
}

/// What a ledger keeps about one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// Notes applied, repeats among them.
    pub count: u64,
    /// Highest number applied.
    pub last: u64,
    /// Numbers skipped when a higher one came.
    pub gaps: u64,
    /// Notes whose number was not above the highest.
    pub repeats: u64,
}

/// A walker's ledger, by sender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<String, Entry>,
}

/// Why a body shows no ledger.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The text is no JSON.
    #[error("the body is no JSON ({0})")]
    Json(#[from] serde_json::Error),
    /// There is no `own.ledger.senders` in it.
    #[error("the body has no ledger")]
    Missing,
}

impl Ledger {
    /// Reads the ledger in a walker's body, `own.ledger.senders`.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn read(body: &str) -> Result<Self, LedgerError> {
        let body: Value = serde_json::from_str(body)?;
        let senders = body.pointer("/own/ledger/senders").ok_or(LedgerError::Missing)?;
        Ok(Self { entries: serde_json::from_value(senders.clone())? })
    }

    /// What it keeps about a sender; zeros where it knows none.
    #[must_use]
    pub fn entry(&self, sender: &str) -> Entry {
        self.entries.get(sender).copied().unwrap_or_default()
    }

    /// Whether everything surely accepted has been applied.
    #[must_use]
    pub fn has_all_of(&self, account: &Account) -> bool {
        self.entry(&account.sender).count >= account.accepted
    }
}

/// Notes by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accepted: surely, or as the ledger shows.
    pub sent: u64,
    /// Applied, repeats among them.
    pub applied: u64,
    /// Accepted and never applied.
    pub lost: u64,
    /// Accepted, and perhaps applied: their walker, or the router that kept them, went with its node.
    pub unknown: u64,
    /// Applied more than once, or though they were not accepted.
    pub duplicated: u64,
    /// Applied after a later one.
    pub reordered: u64,
}

impl Tally {
    /// Adds what a ledger says about one account.
    pub fn add(&mut self, account: &Account, entry: Entry) {
        let reordered = entry.gaps.min(entry.repeats);
        let repeated = entry.repeats - reordered;
        let distinct = entry.count.saturating_sub(repeated);
        let sent_most = account.accepted + account.unsure;
        let sent = distinct.clamp(account.accepted, sent_most);
        self.sent += sent;
        self.applied += entry.count;
        let missing = sent.saturating_sub(distinct);
        *(if account.outlived { &mut self.unknown } else { &mut self.lost }) += missing;
        self.duplicated += repeated + distinct.saturating_sub(sent_most);
        self.reordered += reordered;
    }

    /// Adds an account of a walker that was lost with its node.
    pub fn give_up(&mut self, account: &Account) {
        self.sent += account.accepted;
        self.unknown += account.accepted;
    }
}

#[cfg(test)]
mod tests {
    use slipgate_walker as walker;

    use super::*;

    /// A walker's entry after these numbers.
    fn entry_after(numbers: &[u64]) -> Entry {
        let mut ledger = walker::Ledger::default();
        for &number in numbers {
            ledger.note("t".to_owned(), number).expect("a good name");
        }
        let walker::Entry { count, last, gaps, repeats } = ledger.entry("t").copied().unwrap_or_default();
        Entry { count, last, gaps, repeats }
    }

    fn tally(accepted: u64, unsure: u64, applied: &[u64]) -> Tally {
        let mut tally = Tally::default();
        tally.add(&account(accepted, unsure), entry_after(applied));
        tally
    }

    fn account(accepted: u64, unsure: u64) -> Account {
        Account { entity: "1.1".into(), sender: "t".into(), accepted, unsure, outlived: false }
    }

    #[test]
    fn all_in_order_and_once_is_all_zeros() {
        assert_eq!(tally(3, 0, &[1, 2, 3]), Tally { sent: 3, applied: 3, ..Tally::default() });
        assert_eq!(tally(0, 0, &[]), Tally::default());
    }

    #[test]
    fn a_missing_note_is_lost_wherever_it_is_missing() {
        for applied in [&[2, 3][..], &[1, 3], &[1, 2]] {
            assert_eq!(tally(3, 0, applied), Tally { sent: 3, applied: 2, lost: 1, ..Tally::default() });
        }
    }

    #[test]
    fn a_note_applied_twice_is_duplicated() {
        for applied in [&[1, 1, 2, 3][..], &[1, 2, 3, 3], &[1, 2, 3, 1]] {
            assert_eq!(tally(3, 0, applied), Tally { sent: 3, applied: 4, duplicated: 1, ..Tally::default() });
        }
    }

    #[test]
    fn an_overtaken_note_is_reordered_and_neither_lost_nor_duplicated() {
        assert_eq!(tally(4, 0, &[1, 2, 4, 3]), Tally { sent: 4, applied: 4, reordered: 1, ..Tally::default() });
        assert_eq!(tally(3, 0, &[3, 1, 2]), Tally { sent: 3, applied: 3, reordered: 2, ..Tally::default() });
    }

    #[test]
    fn a_note_applied_though_it_was_not_accepted_is_duplicated() {
        assert_eq!(tally(2, 0, &[1, 2, 3]), Tally { sent: 2, applied: 3, duplicated: 1, ..Tally::default() });
    }

    #[test]
    fn notes_whose_answer_was_lost_may_be_applied_or_not() {
        assert_eq!(tally(2, 2, &[1, 2]), Tally { sent: 2, applied: 2, ..Tally::default() });
        assert_eq!(tally(2, 2, &[1, 2, 3]), Tally { sent: 3, applied: 3, ..Tally::default() });
        assert_eq!(tally(2, 2, &[1, 2, 3, 4, 5]), Tally { sent: 4, applied: 5, duplicated: 1, ..Tally::default() });
        assert_eq!(tally(2, 2, &[1]), Tally { sent: 2, applied: 1, lost: 1, ..Tally::default() });
    }

    #[test]
    fn what_went_with_a_node_is_unknown_and_not_lost() {
        let outlived = Account { outlived: true, ..account(4, 0) };
        for (applied, unknown) in [(&[1, 2, 3, 4][..], 0), (&[1, 2], 2), (&[1, 4], 2), (&[], 4)] {
            let mut tally = Tally::default();
            tally.add(&outlived, entry_after(applied));
            let (sent, applied) = (4, applied.len() as u64);
            assert_eq!(tally, Tally { sent, applied, unknown, ..Tally::default() });
        }
        let mut tally = Tally::default();
        tally.give_up(&account(4, 2));
        assert_eq!(tally, Tally { sent: 4, unknown: 4, ..Tally::default() });
    }

    #[test]
    fn a_ledger_is_read_from_the_body_of_a_walker() {
        let body =
            r#"{"own":{"hp":1,"ledger":{"senders":{"t":{"count":4,"last":4,"gaps":1,"repeats":1}},"others":0}}}"#;
        let ledger = Ledger::read(body).expect("a ledger");
        assert_eq!(ledger.entry("t"), entry_after(&[1, 2, 4, 3]));
        assert_eq!(ledger.entry("other"), Entry::default());
    }

    #[test]
    fn a_body_without_a_ledger_says_so() {
        assert!(matches!(Ledger::read("{}"), Err(LedgerError::Missing)));
        assert!(matches!(Ledger::read("{"), Err(LedgerError::Json(_))));
    }
}
