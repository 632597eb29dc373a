//! Clusters that break a rule are found out, each by an invariant that the rule is for.

use std::thread;

use slipgate_cluster::Rule;
use slipgate_cluster::Rule::*;
use slipgate_sim::{Mutant, run_mutant};

/// Seeds within which a breach is to be found.
const SEEDS: u64 = 1_000;

/// What is broken, and invariants of which one must be seen to be broken by that.
type Breach = (Mutant, &'static [&'static str]);

const BREACHES: &[Breach] = &[
    (Mutant::ActsWithoutLease, &[ONE_OWNER]),
    (Mutant::TellsBeforeItWrites, &[IDS]),
    (Mutant::LosesDisk, &[IDS, ONE_OWNER, QUIET]),
    (Mutant::ForgetsOnTheMove, &[ORDER, "no_duplicate", KEPT]),
    (Mutant::KeepsGlobalsToItself, &[QUIET, "found_from_everywhere"]),
    (Mutant::Without(&[TableMoves]), &[ORDER]),
    (Mutant::Without(&[OutboxMoves]), &[ORDER]),
    (Mutant::Without(&[HeldIsNotAcknowledged]), &[KEPT]),
    (Mutant::Without(&[OnlyTheRecordGivesBack]), &[ONE_OWNER]),
    (Mutant::Without(&[GivingUpRaisesTheEpoch]), &[ONE_OWNER]),
    (Mutant::Without(&[OnlyTheRecordHandsOver]), &[ONE_OWNER]),
    (Mutant::Without(&[ReadBeforeAsking]), &[QUIET, PROGRESS]),
    (Mutant::Without(&[TargetRepeats]), &[QUIET]),
    (Mutant::Without(&[WindowGoesOnAtTheTarget]), &[QUIET]),
    (Mutant::Without(&[OwnersTakeUpEpochs]), &[QUIET]),
    (Mutant::Without(&[DespawnsAskTheHome]), &[ONE_OWNER]),
    (Mutant::Without(&[DespawnsWaitForTheMove]), &[PROGRESS]),
    (Mutant::Without(&[EpochsAreCompared]), &[ONE_OWNER]),
    (Mutant::Without(&[TheDeadAreBuried]), &[QUIET]),
    (Mutant::Without(&[BurialsRaiseTheEpoch]), &[QUIET]),
    (Mutant::Without(&[IncompleteHomesAreSilent]), &[ONE_OWNER]),
    (Mutant::Without(&[TermsRise]), &[QUIET]),
    (Mutant::Without(&[RecordsBeginTheTerm]), &[QUIET]),
    (Mutant::Without(&[EverybodyIsHeard]), &[PROGRESS]),
    (Mutant::Without(&[CopiesAreClaimed]), &[PROGRESS]),
    (Mutant::Without(&[WhoWasHandedItWins]), &[PROGRESS]),
    (Mutant::Without(&[TakenCopiesBeginAnew]), &[ORDER]),
    (Mutant::Without(&[LegaciesAreWhole]), &[ONE_OWNER]),
    (Mutant::Without(&[RepeatsAreKnown]), &[ORDER]),
    (Mutant::Without(&[GapsAreWaitedFor]), &[ORDER]),
    (Mutant::Without(&[StreamsRepeat]), &[QUIET]),
    (Mutant::Without(&[OverIsOver]), &[ORDER]),
    (Mutant::Without(&[OnlyTheActiveClose]), &[QUIET]),
    (Mutant::Without(&[ClosedWindowsGoOn]), &[QUIET, ORDER, PROGRESS]),
    (Mutant::Without(&[ClosedStreamsAreTold]), &[QUIET]),
    (Mutant::Without(&[WindowsOutliveTheirSenders]), &[QUIET]),
    (Mutant::Without(&[ToolsAreSweptOut]), &[QUIET]),
    (Mutant::Without(&[NumbersCountFromOneReset]), &[ORDER]),
    (Mutant::Without(&[ResetsEndWindows]), &[PROGRESS]),
    (Mutant::Without(&[DirectOnlyBesideEmptyWindows]), &[ORDER]),
    (Mutant::Without(&[DirectEndsBeforeTheFreeze]), &[ORDER]),
    (Mutant::Without(&[HeldIsBounded]), &[BOUNDS]),
    (Mutant::Without(&[QueuesAreBounded]), &[BOUNDS]),
    (Mutant::Without(&[LivesAreTold]), &[ONE_OWNER]),
    (Mutant::Without(&[BrokenLinksAreNoVerdict]), &[ONE_OWNER]),
    (Mutant::Without(&[ReplacedLivesKeepTheirLease]), &[ONE_OWNER]),
    (Mutant::Without(&[SleepersGiveLeasesAnew]), &[ONE_OWNER]),
    (Mutant::Without(&[GrantsAreNotResumed]), &[IDS]),
    (Mutant::Without(&[LeasesCountFromTheSending]), &[ONE_OWNER]),
    (Mutant::Without(&[RepliesMatchRequests, RangesRise]), &[IDS, FRESH]),
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
        let Mutant::Without(rules) = mutant else { continue };
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
