//! Small clusters of the shipping machines through everything that may happen to them, breadth first.
//!
//! Scenes, homes and a router, as they ship, on a network that is a set: what was said may come at any later
//! time, in any order, once, many times, or never. At any time moves and despawns are asked for, deadlines are over,
//! nodes die and are declared dead. In every state the promises hold (`invariants.rs`), and from every state, if
//! all that is on the way is lost and nothing goes wrong any more, everything comes to its answer (`rest.rs`). A
//! violation is told as the shortest play that leads to it. `docs/explored.md` has what was explored, how many
//! states that are, and what is not covered.
//!
//! ```text
//! EXPLORE=wide cargo test -p slipgate-cluster --test explorer -- --nocapture     minutes, larger bounds
//! EXPLORE="2 moves" cargo test ...                     what has this in its name, larger bounds included; or a rule's
//! ```

mod explorer {
    pub(crate) mod bits;
    pub(crate) mod body;
    pub(crate) mod canon;
    pub(crate) mod configurations;
    pub(crate) mod cue;
    pub(crate) mod deeds;
    pub(crate) mod desks;
    pub(crate) mod ensemble;
    pub(crate) mod invariants;
    pub(crate) mod mutant;
    pub(crate) mod plan;
    pub(crate) mod rest;
    pub(crate) mod search;
    pub(crate) mod sight;
    pub(crate) mod stage;
    pub(crate) mod story;
    pub(crate) mod tally;
    pub(crate) mod world;
}

use explorer::configurations::{
    closings, ends, friends, handovers, homes, moves, panics, parties, restarts, senders, wide, wide_homes,
};
use explorer::mutant::mutants;
use explorer::plan::Plan;
use explorer::search::Search;
use explorer::story;
use explorer::tally::Tally;

/// States after which an exploration is given up: some gigabytes.
const STATES_MAX: usize = 60_000_000;

#[test]
fn a_moving_entity_has_one_owner_and_hears_everything_once_and_in_order() {
    explore(moves(), &["deciding", "frozen", "given up", "handed on", "redirected", "staged", "tombstone forgotten"]);
}

#[test]
fn an_entity_that_is_despawned_or_whose_node_dies_is_answered_for() {
    explore(ends(), &["dead", "lost", "told dead", "told unknown"]);
}

#[test]
fn what_an_entity_tells_another_arrives_once_and_in_order_wherever_both_go() {
    explore(friends(), &["adopted", "told on", "lost"]);
}

#[test]
fn what_two_senders_say_arrives_once_and_in_order_of_each() {
    explore(senders(), &["adopted", "handed on", "redirected", "told on", "lost"]);
}

#[test]
fn those_who_set_out_together_freeze_together_or_not_at_all() {
    explore(parties(), &["deciding", "frozen", "given up", "let room go", "lost"]);
}

#[test]
fn a_home_that_dies_is_rebuilt_and_nobody_but_the_dead_is_lost() {
    let claimed =
        ["claimed as active", "claimed as despawning", "claimed as gone", "claimed as leaving", "claimed as staged"];
    explore(homes(), &[&claimed[..], &["dead", "lost", "reset", "told unknown"]].concat());
}

#[test]
fn a_home_that_stops_hands_its_records_over() {
    explore(handovers(), &["claimed as active", "dead", "handed over", "never known"]);
}

#[test]
fn a_node_that_starts_again_is_not_taken_for_its_former_life() {
    explore(restarts(), &["claimed as leaving", "lost", "redirected"]);
}

#[test]
fn what_is_said_on_streams_that_are_closed_at_rest_arrives_once_and_nothing_is_kept_of_them() {
    explore(closings(), &[]);
}

#[test]
fn what_is_said_to_an_entity_whose_handler_panics_is_answered_so_and_nothing_is_applied_behind_that() {
    explore(panics(), &["parked", "unparked", "told failed", "told parked", "dead"]);
}

#[test]
fn larger_bounds_hold_as_well() {
    if wanted().is_some() {
        explore(wide(), &[]);
        explore(wide_homes(), &[]);
    }
}

#[test]
fn each_rule_that_is_switched_off_is_missed() {
    let wanted = wanted().filter(|wanted| wanted != "wide");
    let (mut missed, mut others) = (String::new(), 0);
    for mutant in mutants().into_iter().filter(|mutant| wanted.as_ref().is_none_or(|wanted| mutant.is_named(wanted))) {
        match mutant.hunt() {
            Ok(row) => eprintln!("{row}"),
            Err(what) => {
                eprintln!("{what}");
                missed.push_str(&what);
                others += 1;
            }
        }
    }
    assert_eq!(others, 0, "{missed}");
}

#[test]
fn each_rule_that_is_missed_here_has_its_row_in_the_table() {
    let table = include_str!("../../docs/explored.md");
    for mutant in mutants() {
        let names = mutant.names();
        let is_row =
            |row: &str| names.iter().all(|name| row.contains(&format!("`{name}`"))) && row.contains(" states: ");
        assert!(table.lines().any(is_row), "docs/explored.md tells no states of {names:?}");
    }
}

#[test]
fn an_exploration_run_twice_is_the_same() {
    let plan = &friends()[0];
    let count = || Search::new(plan).run(STATES_MAX).row();
    assert_eq!(count(), count());
}

/// Explores all plans, and demands that what is rare was met.
fn explore(plans: Vec<Plan>, rare: &[&str]) {
    let wanted = wanted().filter(|wanted| wanted != "wide");
    let (mut tally, mut cut) = (Tally::default(), Vec::new());
    for plan in plans {
        if wanted.as_ref().is_some_and(|wanted| !plan.name.contains(wanted.as_str())) {
            continue;
        }
        let mut search = Search::new(&plan);
        let report = search.run(STATES_MAX);
        eprintln!("{}", report.row());
        if let Some(violation) = &report.violation {
            panic!("{}:\n{}", plan.name, story::tell(&mut search, violation));
        }
        // The others are worth their minutes all the same.
        if report.cut {
            cut.push(plan.name);
        }
        tally.add(&search.ensemble);
    }
    assert_eq!(cut, [""; 0], "more than {STATES_MAX} states");
    if wanted.is_none() {
        assert_eq!(tally.missing(rare), [""; 0], "never happened");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test explores what its caller names")]
fn wanted() -> Option<String> {
    std::env::var("EXPLORE").ok()
}
