//! Links that pass on one direction only, or none, or all of it late, under fire; and links that break again and again.
//!
//! n2 and n3 dial n1, where the manager is, and n3 dials n2. A lease is 2 s, and so is the margin; a link is given up
//! after a second of silence.

use std::thread;
use std::time::Duration;

use crate::fire::{Field, plan, under_fire};
use crate::proxy::{BOTH, Direction};

const SETTINGS: [(&str, &str); 3] = [("manager.lease", "2s"), ("manager.margin", "2s"), ("limits.silence", "1s")];

/// One way, the other way, and both.
const WAYS: [&[Direction]; 3] = [&[Direction::In], &[Direction::Back], BOTH];

#[test]
fn two_nodes_whose_link_passes_nothing_on_in_one_direction_or_both_keep_all_they_have() {
    let field = Field::start_behind_proxies("n1", &SETTINGS);
    for (seed, way) in (1..).zip(WAYS) {
        for time in [SHORT, LONG] {
            eprintln!("{way:?} between n3 and n2 is cut for {time:?}");
            let marks = field.marks();
            let births = Field::births(&[]);
            let evidence = under_fire(&field.board, plan(seed, &births, 2), || cut(&field, "n3", "n2", way, time));
            let judgement = field.settle(&evidence, &marks, &[]);
            assert_eq!((field.verdicts(&marks), judgement.lost), ([].into(), 0), "both reach the manager");
            let silent = field.told(&marks, "link.silent").len();
            assert_eq!(silent > 0, time == LONG, "{silent} times a link was found silent");
        }
    }
    field.stop(&[]);
}

#[test]
fn a_node_whose_link_to_the_manager_is_cut_for_less_than_lease_and_margin_goes_on_with_all_it_had() {
    let field = Field::start_behind_proxies("n1", &SETTINGS);
    for (seed, way) in (1..).zip(WAYS) {
        for time in [SHORT, LONG] {
            eprintln!("{way:?} between n2 and the manager's node is cut for {time:?}");
            let marks = field.marks();
            let births = Field::births(&[]);
            let evidence = under_fire(&field.board, plan(seed, &births, 2), || cut(&field, "n2", "n1", way, time));
            let judgement = field.settle(&evidence, &marks, &[]);
            assert_eq!((field.verdicts(&marks), judgement.lost), ([].into(), 0));
        }
    }
    field.stop(&[]);
}

#[test]
fn a_node_whose_link_to_the_manager_is_cut_past_its_verdict_begins_anew_and_what_it_held_is_accounted_for() {
    let field = Field::start_behind_proxies(
        "n1",
        &[("manager.lease", "1s"), ("manager.margin", "500ms"), ("limits.silence", "1s")],
    );
    for (seed, way) in (1..).zip(WAYS) {
        eprintln!("{way:?} between n2 and the manager's node is cut past the verdict");
        let marks = field.marks();
        let births = Field::births(&[]);
        let evidence = under_fire(&field.board, plan(seed, &births, 3), || {
            cut(&field, "n2", "n1", way, Duration::from_millis(4500));
            thread::sleep(AFTER);
        });
        field.settle(&evidence, &marks, &[]);
        assert!(field.verdicts(&marks).contains("n2"));
    }
    field.stop(&["n2"]);
}

#[test]
fn a_slow_link_costs_time_and_nothing_else() {
    let field = Field::start_behind_proxies("n1", &SETTINGS);
    for (seed, (caller, to)) in (1..).zip([("n3", "n2"), ("n2", "n1")]) {
        eprintln!("the link between {caller} and {to} is slow");
        let marks = field.marks();
        let births = Field::births(&[]);
        let evidence = under_fire(&field.board, plan(seed, &births, 2), || {
            thread::sleep(BEFORE);
            field.proxies[to].slow(caller, Duration::from_millis(150));
            thread::sleep(LONG);
            field.proxies[to].mend(caller);
            thread::sleep(AFTER);
        });
        let judgement = field.settle(&evidence, &marks, &[]);
        assert_eq!((field.verdicts(&marks), judgement.lost), ([].into(), 0));
    }
    field.stop(&[]);
}

#[test]
fn links_that_break_again_and_again_cost_time_and_nothing_else() {
    let field = Field::start_behind_proxies("n1", &SETTINGS);
    let marks = field.marks();
    let births = Field::births(&[]);
    let mut rng = fastrand::Rng::with_seed(1);
    let evidence = under_fire(&field.board, plan(1, &births, 3), || {
        for _ in 0..30 {
            // Drawn, so that a link is cut in whatever state it is.
            thread::sleep(Duration::from_millis(rng.u64(20..150)));
            let (caller, to) = [("n2", "n1"), ("n3", "n1"), ("n3", "n2")][rng.usize(..3)];
            field.proxies[to].sever(caller);
        }
    });
    let judgement = field.settle(&evidence, &marks, &[]);
    assert_eq!((field.verdicts(&marks), judgement.lost), ([].into(), 0));
    assert!(field.told(&marks, "link.lost").len() > 10);
    field.stop(&[]);
}

/// Cuts a link under fire, and mends it. Whoever asks the caller meanwhile may wait for the other in vain.
fn cut(field: &Field, caller: &str, to: &str, way: &[Direction], time: Duration) {
    thread::sleep(BEFORE);
    field.proxies[to].cut(caller, way);
    thread::sleep(time);
    field.proxies[to].mend(caller);
    thread::sleep(AFTER);
}

/// Shorter than the silence after which a link is given up, and longer than that and the lease.
const SHORT: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_secs(3);
/// The fire before and after: that there is some is all that is wanted of it.
const BEFORE: Duration = Duration::from_millis(300);
const AFTER: Duration = Duration::from_millis(700);
