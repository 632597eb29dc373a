//! Each node of three is killed at some moment of a tour, the manager's node too, again and again.
//!
//! `ROUNDS=500` makes more of them, `ROUNDS=1 SEED=..` repeats the one that printed it.

use std::thread;
use std::time::Duration;

use crate::fire::{Field, NAMES, plan, under_fire};

#[test]
fn whichever_node_is_killed_at_whatever_moment_all_that_was_accepted_is_accounted_for() {
    let rounds = number("ROUNDS").unwrap_or(50);
    let first = number("SEED").unwrap_or_else(|| fastrand::u64(..));
    let mut field = Field::start("n1", &[("manager.lease", "1s"), ("manager.margin", "500ms")]);
    for round in 0..rounds {
        let seed = first.wrapping_add(round);
        eprintln!("round {round}: ROUNDS=1 SEED={seed} cargo test --test cluster whichever_node_is_killed");
        kill_one(&mut field, seed);
    }
    field.stop(&NAMES);
}

/// Kills one node under fire, and starts it again before or after the verdict on it.
fn kill_one(field: &mut Field, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let victim = NAMES[rng.usize(..NAMES.len())];
    let (before, down) = (rng.u64(..800), rng.u64(..2500));
    eprintln!("  {victim} is killed after {before} ms, and is away for {down} ms");
    let births = Field::births(&[]);
    let mut marks = field.marks();
    marks.remove(victim);
    let board = field.board.clone();
    let evidence = under_fire(&board, plan(seed, &births, 2), || {
        // The moments are drawn: nothing that could be waited for may choose them.
        thread::sleep(Duration::from_millis(before));
        field.kill(victim);
        thread::sleep(Duration::from_millis(down));
        field.restart(victim);
        // Long enough for everybody to write to and through the new life, and for the verdict on the old one.
        thread::sleep(VERDICT);
    });
    field.settle(&evidence, &marks, &[victim]);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Lease and margin, and a little.
const VERDICT: Duration = Duration::from_millis(1700);
