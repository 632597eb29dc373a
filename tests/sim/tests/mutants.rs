//! Clusters that break a rule are found out, each by an invariant that the rule is for.

use slipgate_sim::{Mutant, run_mutant};

/// Seeds within which a breach is to be found.
const SEEDS: u64 = 1_000;

#[test]
fn a_cluster_that_breaks_a_rule_is_found_out_within_a_thousand_seeds() {
    for (mutant, invariants) in Mutant::ALL {
        let mut violations = (0..SEEDS).filter_map(|seed| run_mutant(seed, mutant).err());
        let found = violations.find(|violation| invariants.iter().any(|name| violation.what.starts_with(name)));
        let Some(found) = found else { panic!("{mutant:?} broke none of {invariants:?}") };
        eprintln!("{mutant:?}: seed {}: {}", found.seed, &found.what[..found.what.len().min(160)]);
    }
}
