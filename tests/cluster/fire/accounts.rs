//! What was accepted for a walker, against what became of it.
//!
//! An account is what one sender got accepted for one walker through one life of a node. It ends when a request
//! fails: what the sender says afterwards it says under another name, because nobody knows how much of the
//! failed request was accepted, nor whether the router that kept the rest still runs.
//!
//! | the walker | the router that accepted | must be |
//! |---|---|---|
//! | lives | runs on | every accepted note applied, once and in order; nothing dead, unknown or open |
//! | lives | ended | the first so many of the accepted notes applied, once and in order, at least those told applied |
//! | lives, its streams were reset | any | in order and none twice, though some may be missing; told applied or unknown as below |
//! | is lost | runs on | accepted = told applied + told unknown; nothing dead or open |
//! | is lost | ended | nothing told dead |
//!
//! Notes whose request failed may be applied or not. Nothing is ever applied that was not sent.
//!
//! A life may end and the next one begin between two requests, and no request fails. The reports name the life, so
//! that the sender takes another name from the next request on; what went under the old one through both lives may
//! lack the end of what the first one had accepted.

use slipgate::tour::account::{Entry, Ledger};
use slipgate_proto::admin::SendReport;

/// What one sender got accepted for one walker through one life of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) walker: String,
    /// The node.
    pub(crate) via: String,
    /// The name in the walker's ledger.
    pub(crate) sender: String,
    pub(crate) accepted: u64,
    /// So many more may have been accepted: their request failed.
    pub(crate) unsure: u64,
    /// So many more were accepted by a later life before the sender noticed.
    pub(crate) later: u64,
    /// What was told of the accepted ones, where it was asked for.
    pub(crate) told: Option<Told>,
    /// A request failed.
    pub(crate) is_cut_off: bool,
}

/// What reports said of accepted notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) applied: u64,
    pub(crate) unknown: u64,
    pub(crate) dead: u64,
    pub(crate) open: u64,
}

impl Told {
    pub(crate) fn add(&mut self, report: &SendReport) {
        // A walker takes every note: what has come to it is applied, whatever was lost of its word.
        self.applied += u64::from(report.applied + report.passed);
        self.unknown += u64::from(report.unknown + report.lost);
        self.dead += u64::from(report.dead);
        self.open += u64::from(report.open);
    }
}

/// What became of a walker.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// It lives, and this is its ledger.
    Lives(Ledger),
    /// It lives, and this is its ledger; its home was lost while it was on the move to a node that was lost as well, and
    /// its copy there may have applied more than this one.
    Revived(Ledger),
    /// It is lost by name.
    Lost,
}

/// Checks one account. `ended` says whether that life of the node is over.
pub(crate) fn check(account: &Account, fate: &Fate, ended: bool) -> Vec<String> {
    let told = account.told.unwrap_or_default();
    let mut wrong = Vec::new();
    if told.dead > 0 {
        wrong.push(format!("{} told dead, though nobody removed the walker", told.dead));
    }
    match fate {
        Fate::Lives(ledger) => living(account, ledger.entry(&account.sender), told, ended, &mut wrong),
        Fate::Revived(ledger) => {
            let Entry { last, repeats, .. } = ledger.entry(&account.sender);
            if repeats > 0 || last > account.accepted + account.unsure + account.later {
                wrong.push("repeated, or applied though it was not accepted".to_owned());
            }
            if !ended {
                answered(account, told, &mut wrong);
            }
        }
        Fate::Lost if !ended => answered(account, told, &mut wrong),
        Fate::Lost => {}
    }
    wrong.into_iter().map(|wrong| format!("{wrong}: {account:?}, {fate:?}")).collect()
}

/// Every accepted note has its answer.
fn answered(account: &Account, told: Told, wrong: &mut Vec<String>) {
    if told.open > 0 {
        wrong.push(format!("{} are still open", told.open));
    }
    if account.told.is_some() && account.accepted != told.applied + told.unknown + told.dead + told.open {
        wrong.push("what was accepted is not what was told applied or unknown".to_owned());
    }
}

fn living(account: &Account, entry: Entry, told: Told, ended: bool, wrong: &mut Vec<String>) {
    let Entry { count, last, gaps, repeats } = entry;
    let Account { accepted, unsure, later, .. } = *account;
    // Only the end of what a life accepted may be missing before what the next one did.
    let may_skip = ended && later > 0;
    if repeats > 0 || count + gaps != last || (gaps > 0 && !may_skip) {
        wrong.push(format!("{gaps} gaps and {repeats} repeats"));
    }
    if last > accepted + unsure + later {
        wrong.push("applied though it was not accepted".to_owned());
    }
    if later > 0 && last < accepted + later {
        wrong.push("the later life's notes are not all applied".to_owned());
    }
    if count < told.applied {
        wrong.push("told applied, and not in the ledger".to_owned());
    }
    if ended {
        return;
    }
    if count < accepted {
        wrong.push(format!("{} of the accepted ones are not applied", accepted - count));
    }
    if told.unknown > 0 || told.open > 0 {
        wrong.push(format!("{} told unknown and {} open, though the walker lives", told.unknown, told.open));
    }
}

#[cfg(test)]
mod forged {
    use slipgate_walker as walker;

    use super::*;

    fn ledger(numbers: &[u64]) -> Fate {
        let mut ledger = walker::Ledger::default();
        for &number in numbers {
            ledger.note("s".to_owned(), number).expect("a good name");
        }
        let walker::Entry { count, last, gaps, repeats } = ledger.entry("s").copied().unwrap_or_default();
        let body = format!(
            r#"{{"own":{{"ledger":{{"senders":{{"s":{{"count":{count},"last":{last},"gaps":{gaps},"repeats":{repeats}}}}}}}}}}}"#
        );
        Fate::Lives(Ledger::read(&body).expect("a ledger"))
    }

    fn account(accepted: u64, unsure: u64, told: [u64; 4]) -> Account {
        let [applied, unknown, dead, open] = told;
        let told = Some(Told { applied, unknown, dead, open });
        Account { sender: "s".to_owned(), accepted, unsure, told, ..Account::default() }
    }

    fn faults(account: &Account, fate: &Fate) -> [usize; 2] {
        [check(account, fate, false).len(), check(account, fate, true).len()]
    }

    #[test]
    fn what_was_accepted_and_applied_in_order_is_right() {
        assert_eq!(faults(&account(3, 0, [3, 0, 0, 0]), &ledger(&[1, 2, 3])), [0, 0]);
        assert_eq!(faults(&account(2, 3, [2, 0, 0, 0]), &ledger(&[1, 2, 3])), [0, 0]);
        assert_eq!(faults(&account(3, 0, [1, 2, 0, 0]), &Fate::Lost), [0, 0]);
    }

    #[test]
    fn notes_that_are_lost_doubled_swapped_or_made_up_are_caught_whoever_accepted_them() {
        for numbers in [&[1, 3][..], &[1, 2, 2, 3], &[2, 1, 3], &[1, 2, 3, 4]] {
            let [lives, ended] = faults(&account(3, 0, [2, 0, 0, 0]), &ledger(numbers));
            assert!(lives > 0 && ended > 0, "{numbers:?}");
        }
    }

    #[test]
    fn a_copy_that_was_revived_may_lack_some_and_has_none_twice() {
        let revived = |numbers: &[u64]| match ledger(numbers) {
            Fate::Lives(ledger) => Fate::Revived(ledger),
            other @ (Fate::Revived(_) | Fate::Lost) => other,
        };
        assert_eq!(faults(&account(4, 0, [2, 2, 0, 0]), &revived(&[1, 4])), [0, 0]);
        assert_eq!(faults(&account(4, 0, [2, 2, 0, 0]), &revived(&[1, 4, 2])), [1, 1]);
        assert_eq!(faults(&account(4, 0, [2, 2, 0, 0]), &revived(&[1, 5])), [1, 1]);
        assert_eq!(faults(&account(4, 0, [2, 1, 0, 0]), &revived(&[1, 4])), [1, 0]);
        assert_eq!(faults(&account(4, 0, [2, 1, 0, 1]), &revived(&[1, 4])), [1, 0]);
    }

    #[test]
    fn a_router_that_ended_may_have_lost_the_last_ones_but_none_that_was_told_applied() {
        assert_eq!(faults(&account(3, 0, [2, 0, 0, 0]), &ledger(&[1, 2])), [1, 0]);
        assert_eq!(faults(&account(3, 0, [2, 0, 0, 0]), &ledger(&[1])), [2, 1]);
    }

    #[test]
    fn what_went_through_two_lives_lacks_nothing_but_the_end_of_the_first() {
        let account = Account { later: 2, ..account(3, 0, [1, 0, 0, 0]) };
        for numbers in [&[1, 2, 3, 4, 5][..], &[1, 2, 4, 5], &[1, 4, 5]] {
            assert_eq!(faults(&account, &ledger(numbers))[1], 0, "{numbers:?}");
        }
        for numbers in [&[1, 2, 3, 4][..], &[1, 2, 3], &[1, 2, 4, 5, 5], &[4, 1, 5], &[1, 2, 3, 4, 5, 6]] {
            assert!(faults(&account, &ledger(numbers))[1] > 0, "{numbers:?}");
        }
    }

    #[test]
    fn a_false_dead_or_unknown_and_a_question_left_open_are_caught() {
        assert_eq!(faults(&account(3, 0, [2, 0, 1, 0]), &ledger(&[1, 2, 3])), [1, 1]);
        assert_eq!(faults(&account(3, 0, [2, 1, 0, 0]), &ledger(&[1, 2, 3])), [1, 0]);
        assert_eq!(faults(&account(3, 0, [2, 0, 0, 1]), &Fate::Lost), [1, 0]);
        assert_eq!(faults(&account(3, 0, [2, 0, 1, 0]), &Fate::Lost), [1, 1]);
        assert_eq!(faults(&account(4, 0, [2, 1, 0, 0]), &Fate::Lost), [1, 0]);
    }
}
