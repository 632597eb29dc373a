//! Nodes that are stopped for a while under fire (SIGSTOP, a frozen machine), and a manager that is away.
//!
//! A lease is 2 s here, and so is the margin: 3 s are past a lease and before the verdict.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::fire::{Field, NAMES, plan, under_fire};

const LEASES: [(&str, &str); 2] = [("manager.lease", "2s"), ("manager.margin", "2s")];

#[test]
fn nodes_that_sleep_for_less_than_lease_and_margin_go_on_with_all_they_had() {
    let field = Field::start("n1", &LEASES);
    for (seed, name) in (1..).zip(NAMES) {
        for nap in [Duration::from_millis(700), Duration::from_secs(3)] {
            eprintln!("{name} sleeps for {nap:?}");
            let marks = field.marks();
            let births = Field::births(&[]);
            let evidence = under_fire(&field.board, plan(seed, &births, 2), || sleep(&field, name, nap));
            let judgement = field.settle(&evidence, &marks, &[]);
            assert_eq!(field.verdicts(&marks), [].into(), "a nap is no death");
            assert_eq!(judgement.lost, 0);
        }
    }
    field.stop(&[]);
}

#[test]
fn a_node_that_sleeps_past_its_verdict_under_fire_joins_anew_and_what_it_held_is_accounted_for() {
    let field = Field::start("n1", &[("manager.lease", "1s"), ("manager.margin", "500ms")]);
    for (seed, name) in [(1, "n2"), (2, "n3"), (3, "n2")] {
        eprintln!("{name} sleeps past its verdict");
        let marks = field.marks();
        let births = Field::births(&[]);
        let evidence = under_fire(&field.board, plan(seed, &births, 3), || {
            sleep(&field, name, Duration::from_millis(2500));
            thread::sleep(Duration::from_millis(1500));
        });
        field.settle(&evidence, &marks, &[]);
        assert!(field.verdicts(&marks).contains(name));
    }
    // A life that slept past its end tells nothing of what it had begun.
    field.stop(&["n2", "n3"]);
}

#[test]
fn a_manager_that_is_away_past_lease_and_margin_under_fire_costs_time_and_nothing_else() {
    let mut field = Field::start("m", &[("manager.lease", "1s"), ("manager.margin", "500ms")]);
    for way in ["killed", "asleep"] {
        eprintln!("the manager is {way}");
        let mut marks = field.marks();
        let births = Field::births(&[]);
        let board = field.board.clone();
        let evidence = under_fire(&board, plan(1, &births, 2), || {
            thread::sleep(BEFORE);
            if way == "killed" {
                field.kill("m");
                thread::sleep(AWAY);
                marks.remove("m");
                field.restart("m");
            } else {
                sleep(&field, "m", AWAY);
            }
            thread::sleep(AFTER);
        });
        let judgement = field.settle(&evidence, &marks, &[]);
        for event in ["lease.ended", "lease.regained"] {
            let told = field.told(&marks, event).len();
            assert!(told >= NAMES.len(), "{event} was told {told} times");
        }
        assert_eq!(field.told(&marks, "node.over"), []);
        assert_eq!((field.verdicts(&marks), judgement.lost), ([].into(), 0), "nobody else was away");
    }
    field.stop(&["m"]);
}

/// Stops a process and lets it go on after `nap`. Whoever asks it meanwhile waits in vain.
fn sleep(field: &Field, name: &str, nap: Duration) {
    let node = &field.nodes[name];
    thread::sleep(BEFORE);
    field.board.excuse(name);
    node.signal(Signal::STOP);
    thread::sleep(nap);
    node.signal(Signal::CONT);
    thread::sleep(AFTER);
}

/// The fire before and after: that there is some is all that is wanted of it.
const BEFORE: Duration = Duration::from_millis(300);
const AFTER: Duration = Duration::from_millis(700);
/// Well past lease and margin.
const AWAY: Duration = Duration::from_millis(3500);
