//! Clusters that break a rule are found out, each by an invariant that the rule is for.

use std::thread;

use slipgate_cluster::Rule::*;
use slipgate_cluster::{Rule, Rules};
use slipgate_sim::{Mutant, run_mutant};

/// Seeds within which a breach is to be found.
const SEEDS: u64 = 1_000;

/// What is broken, and invariants of which one must be seen to be broken by that.
type Breach = (Mutant, &'static [&'static str]);

const fn without(rules: &[Rule]) -> Mutant {
    Mutant::Only(Rules::without(rules))
}

const BREACHES: &[Breach] = &[
    (Mutant::ActsWithoutLease, &[ONE_OWNER]),
    (Mutant::TellsBeforeItWrites, &[IDS]),
    (Mutant::LosesDisk, &[IDS, ONE_OWNER, QUIET]),
    (Mutant::ForgetsOnTheMove, &[ORDER, "no_duplicate", KEPT]),
    (Mutant::KeepsGlobalsToItself, &[QUIET, "found_from_everywhere"]),
    (without(&[TableMoves]), &[ORDER]),
    (without(&[OutboxMoves]), &[ORDER]),
    (without(&[HeldIsNotAcknowledged]), &[KEPT]),
    (without(&[OnlyTheRecordGivesBack]), &[ONE_OWNER]),
    (without(&[GivingUpRaisesTheEpoch]), &[ONE_OWNER]),
    (without(&[OnlyTheRecordHandsOver]), &[ONE_OWNER]),
    (without(&[ReadBeforeAsking]), &[QUIET, PROGRESS]),
    (without(&[TargetRepeats]), &[QUIET]),
    (without(&[WindowGoesOnAtTheTarget]), &[QUIET]),
    (without(&[OwnersTakeUpEpochs]), &[QUIET]),
    (without(&[DespawnsAskTheHome]), &[ONE_OWNER]),
    (without(&[DespawnsWaitForTheMove]), &[PROGRESS]),
    (without(&[EpochsAreCompared]), &[ONE_OWNER]),
    (without(&[TheDeadAreBuried]), &[QUIET]),
    (without(&[BurialsRaiseTheEpoch]), &[QUIET]),
    (without(&[IncompleteHomesAreSilent]), &[ONE_OWNER]),
    (without(&[TermsRise]), &[QUIET]),
    (without(&[RecordsBeginTheTerm]), &[QUIET]),
    (without(&[EverybodyIsHeard]), &[PROGRESS]),
    (without(&[CopiesAreClaimed]), &[PROGRESS]),
    (without(&[WhoWasHandedItWins]), &[PROGRESS]),
    (without(&[TakenCopiesBeginAnew]), &[ORDER]),
    (without(&[LegaciesAreWhole]), &[ONE_OWNER]),
    (without(&[RepeatsAreKnown]), &[ORDER]),
    (without(&[GapsAreWaitedFor]), &[ORDER]),
    (without(&[StreamsRepeat]), &[QUIET]),
    (without(&[OverIsOver]), &[ORDER]),
    (without(&[OnlyTheActiveClose]), &[QUIET]),
    (without(&[ClosedWindowsGoOn]), &[QUIET, ORDER, PROGRESS]),
    (without(&[ClosedStreamsAreTold]), &[QUIET]),
    (without(&[WindowsOutliveTheirSenders]), &[QUIET]),
    (without(&[ToolsAreSweptOut]), &[QUIET]),
    (without(&[NumbersCountFromOneReset]), &[ORDER]),
    (without(&[ResetsEndWindows]), &[PROGRESS]),
    (without(&[DirectOnlyBesideEmptyWindows]), &[ORDER]),
    (without(&[DirectEndsBeforeTheFreeze]), &[ORDER]),
    (without(&[HeldIsBounded]), &[BOUNDS]),
    (without(&[QueuesAreBounded]), &[BOUNDS]),
    (without(&[LivesAreTold]), &[ONE_OWNER]),
    (without(&[BrokenLinksAreNoVerdict]), &[ONE_OWNER]),
    (without(&[ReplacedLivesKeepTheirLease]), &[ONE_OWNER]),
    (without(&[SleepersGiveLeasesAnew]), &[ONE_OWNER]),
    (without(&[GrantsAreNotResumed]), &[IDS]),
    (without(&[LeasesCountFromTheSending]), &[ONE_OWNER]),
    (without(&[RepliesMatchRequests, RangesRise]), &[IDS, FRESH]),
];

const ONE_OWNER: &str = "one_active_owner";
const KEPT: &str = "acknowledged_is_kept";
const ORDER: &str = "streams_in_order";
const IDS: &str = "ids_never_reissued";
const BOUNDS: &str = "bounded_memory";
const QUIET: &str = "quiet_leaves_nothing_behind";
const PROGRESS: &str = "progress_after_faults";
/// The home notices itself.
const FRESH: &str = "expected 1.0 to be fresh";

#[test]
fn a_cluster_that_breaks_a_rule_is_found_out_within_a_thousand_seeds() {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let hunts = (0..threads).map(|number| {
        thread::spawn(move || {
            let share = BREACHES.iter().skip(number).step_by(threads);
            share.filter_map(|breach| hunt(breach).err()).collect::<Vec<_>>()
        })
    });
    let hunts: Vec<_> = hunts.collect();
    let missed: Vec<_> = hunts.into_iter().flat_map(|hunt| hunt.join().expect("a hunt ends")).collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn every_rule_of_the_protocol_is_in_the_table_of_what_it_is_missed_by() {
    let table = include_str!("../../../docs/explored.md");
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with('|')).collect();
    let is_told = |rule: &&Rule| rows.iter().any(|row| row.contains(&format!("`{rule:?}`")));
    let untold: Vec<_> = Rule::ALL.iter().filter(|rule| !is_told(rule)).collect();
    assert_eq!(untold, [&TableMoves; 0], "docs/explored.md says nothing of them");
    for (mutant, _) in BREACHES {
        let Mutant::Only(rules) = mutant else { continue };
        let rules: Vec<_> = Rule::ALL.iter().filter(|&&rule| !rules.keep(rule)).collect();
        let names: Vec<_> = rules.iter().map(|rule| format!("`{rule:?}`")).collect();
        let is_row = |row: &&&str| names.iter().all(|name| row.contains(name)) && row.contains("seed ");
        assert!(rows.iter().any(|row| is_row(&row)), "docs/explored.md tells no seed of {rules:?}");
    }
}

/// The first seed in which one of the invariants is broken.
fn hunt((mutant, invariants): &Breach) -> Result<(), String> {
    let mut violations = (0..SEEDS).filter_map(|seed| run_mutant(seed, *mutant).err());
    let found = violations.find(|violation| invariants.iter().any(|name| violation.what.starts_with(name)));
    let found = found.ok_or_else(|| format!("{mutant:?} broke none of {invariants:?}"))?;
    eprintln!("{mutant:?}: seed {}: {}", found.seed, found.what.chars().take(160).collect::<String>());
    Ok(())
}
