//! Rules switched off, one at a time: an explorer that finds nothing wrong then proves nothing.
//!
//! Each with a small cluster that needs it, and with what must be found. Where two rules keep one promise, each of
//! which suffices, both are switched off.

use std::panic::{AssertUnwindSafe, catch_unwind};

use slipgate_cluster::{Rule, Rules};

use super::plan::Plan;
use super::search::Search;
use super::story;

/// Rules that are switched off together.
pub(crate) struct Mutant {
    rules: &'static [Rule],
    plan: Plan,
    /// A part of what must be found.
    fault: &'static str,
}

impl Mutant {
    /// Whether a part of a rule's name says so.
    pub(crate) fn is_named(&self, wanted: &str) -> bool {
        self.names().iter().any(|name| name.contains(wanted))
    }

    /// What the rules are called.
    pub(crate) fn names(&self) -> Vec<String> {
        self.rules.iter().map(|rule| format!("{rule:?}")).collect()
    }

    /// Demands that the breach is found, and for the reason that the rule is for. Returns a row for `docs/explored.md`.
    ///
    /// # Errors
    ///
    /// What was found in its place, if anything.
    pub(crate) fn hunt(&self) -> Result<String, String> {
        let Self { rules, plan, fault } = self;
        let plan = plan.clone().under(Rules::without(rules));
        let mut search = Search::new(&plan);
        let report = catch_unwind(AssertUnwindSafe(|| search.run(STATES_MAX))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            text.unwrap_or("a panic without a text").to_owned()
        });
        let (found, states, play) = match report {
            Ok(report) => match &report.violation {
                Some(violation) => (violation.fault.clone(), report.states, story::tell(&mut search, violation)),
                None => return Err(format!("{rules:?} is not found in {} states", report.states)),
            },
            // A machine has noticed itself.
            Err(panic) => (panic, search.states(), String::new()),
        };
        if found.contains(fault) {
            return Ok(format!("{rules:?}: {states} states: {found}"));
        }
        Err(format!("{rules:?} is found in {states} states for another reason than {fault:?}: {found}\n{play}"))
    }
}

/// States within which each is to be found.
const STATES_MAX: usize = 300_000;

/// All that are hunted here.
pub(crate) fn mutants() -> Vec<Mutant> {
    let plan = || Plan::new("a mutant", &[1, 2], 3).moves(1).messages(1).late();
    let quiet = || plan().messages(0);
    let home = || plan().heirs(&[4]).deaths(&[3]);
    let with_target = || Plan::new("a mutant", &[1, 2], 2).heirs(&[1]).deaths(&[2]).moves(1).messages(1).late();
    let with_source = || Plan::new("a mutant", &[1, 2], 1).heirs(&[2]).deaths(&[1]).moves(1).messages(2);
    let overlapping = || {
        let node_2_again = Plan::new("a mutant", &[1, 2, 12], 3).joins(&[12]).overlaps();
        node_2_again.deaths(&[2, 3]).heirs(&[4]).moves(1)
    };
    let two_friends = || Plan::new("a mutant", &[1, 2], 3).friend(1, 3, 1).friend(1, 3, 1).idles().late();
    let closing = || Plan::new("a mutant", &[1, 2], 3).moves(1).messages(2).idles();
    let mutant = |rules, plan, fault| Mutant { rules, plan, fault };
    use Rule::*;
    vec![
        mutant(&[TableMoves], plan(), "twice, or out of order"),
        mutant(&[OutboxMoves], plan().friend(1, 3, 1), "of its messages applied"),
        mutant(&[HeldIsNotAcknowledged], plan(), "acknowledged and not in the copy that counts"),
        mutant(&[OnlyTheRecordGivesBack], plan(), "is active at"),
        mutant(&[GivingUpRaisesTheEpoch], plan(), "is active at"),
        mutant(&[OnlyTheRecordHandsOver], plan(), "is active at"),
        mutant(&[NoncesMatch], quiet().moves(3).forgets(1), "is active at"),
        mutant(&[OldCopiesAreRefused, NoncesMatch], quiet().moves(3), "is active at"),
        mutant(&[TargetRepeats], plan(), "at rest the record is"),
        mutant(&[WindowGoesOnAtTheTarget], plan().friend(1, 3, 1), "to tell on"),
        mutant(&[PartiesWaitForRoom], plan().friend(0, 3, 0).together(), "freeze"),
        mutant(&[OwnersTakeUpEpochs], home(), "at rest the record is"),
        mutant(&[DespawnsAskTheHome], plan().despawn(), "is the owner and has no copy"),
        mutant(&[EpochsAreCompared], plan(), "is the owner and has no copy"),
        mutant(&[TheDeadAreNotNamed], plan().deaths(&[2]), "at rest the record is"),
        mutant(&[TheDeadAreBuried], plan().deaths(&[1]), "at rest the record is"),
        mutant(&[BurialsRaiseTheEpoch], plan().deaths(&[1]), "waits for answers"),
        mutant(&[IncompleteHomesAreSilent], home(), "is lost"),
        mutant(&[TermsRise], home(), "is active at"),
        mutant(&[RecordsBeginTheTerm], home(), "at rest the record is"),
        mutant(&[FormerHomesAreIgnored], home(), "is the owner and has no copy"),
        mutant(&[ClaimsAreForTheHome], home(), "is the owner and has no copy"),
        mutant(&[EverybodyIsHeard], home(), "is lost"),
        mutant(&[FormerLivesAreOver], overlapping(), "is active at"),
        mutant(&[TheGoneAreClaimed], home(), "is lost"),
        mutant(&[CopiesAreClaimed], home(), "is lost"),
        mutant(&[TheFrozenAreClaimedAsSuch], with_target(), "acknowledged and not in the copy that counts"),
        mutant(&[TheDeadStayDead], home().despawn(), "is lost"),
        mutant(&[WhoWasHandedItWins], home(), "is lost"),
        mutant(&[UnheardTargetsCastDoubt], with_target(), "acknowledged and not in the copy that counts"),
        mutant(&[LateClaimsCastDoubt], home().despawn().forgets(2), "is answered dead, but"),
        mutant(&[TombstonesAwaitTheTarget], home().forgets(1), "is lost"),
        mutant(&[LegaciesAreWhole], plan().heirs(&[4]).retires(&[3]), "is active at"),
        mutant(&[RepeatsAreKnown], plan(), "twice, or out of order"),
        mutant(&[GapsAreWaitedFor], plan().messages(2), "is left out"),
        mutant(&[StreamsRepeat], plan(), "waits for answers"),
        mutant(&[OverIsOver], closing(), "twice, or out of order"),
        mutant(&[StreamsOfTheDeadAreOver, TheDeadAreNotHeard], closing().deaths(&[9]), "rows are kept for streams"),
        mutant(&[OnlyTheActiveClose], closing(), "rows are kept for streams"),
        mutant(&[OnlyEmptyWindowsClose], plan().friend(1, 3, 1).despawn().idles(), "to tell on"),
        mutant(&[EarlierStreamsAreOver, TheNextEndsTheLast], closing(), "twice, or out of order"),
        mutant(
            &[VerdictsComeFirst],
            Plan::new("a mutant", &[1, 2], 3).moves(3).messages(1).deaths(&[9]),
            "twice, or out of order",
        ),
        mutant(
            &[VerdictsComeFirst, TheDeadAreNotHeard],
            closing().messages(1).late().deaths(&[9]),
            "twice, or out of order",
        ),
        mutant(&[ClosedWindowsGoOn], two_friends(), "of its messages applied"),
        mutant(&[ClosedStreamsAreTold], closing().friend(1, 3, 1), "rows are kept for streams"),
        mutant(&[WindowsOutliveTheirSenders], plan().friend(1, 3, 1).despawn(), "to tell on"),
        mutant(&[ToolsAreSweptOut], closing().deaths(&[9]), "rows are kept for streams"),
        mutant(&[NumbersCountFromOneReset], with_source().messages(2), "twice, or out of order"),
        mutant(&[StoppedStreamsStay], plan().messages(2).stumbles_at(1), "is answered parked, and applied"),
        mutant(&[DirectOnlyBesideEmptyWindows], plan().friend(0, 3, 2), "a gap"),
    ]
}
