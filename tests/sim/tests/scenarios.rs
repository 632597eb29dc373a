//! Golden transcripts: small clusters that are directed, each written down as a play in `tests/scenarios` and compared
//! line by line.
//!
//! ```text
//! tests/scenarios/NAME.txt    prose, then the script, indented ── play it ──> the transcript behind the line of `=`
//! ```
//!
//! `REWRITE=1 cargo test -p slipgate-sim --test scenarios` writes the transcripts anew; what they say then is read as a diff.
//! The invariants of the simulation are looked at while a play goes on, and rest is demanded in the end: what breaks a promise
//! cannot be rewritten.

use std::fs;
use std::path::PathBuf;

use similar::TextDiff;
use slipgate_sim::perform;

/// Makes a test of each play, and a list of all.
macro_rules! plays {
    ($($name:ident,)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        const PLAYS: &[&str] = &[$(stringify!($name)),*];
    };
}

plays! {
    cancel_too_late,
    cancel_while_the_copy_is_on_its_way,
    cross,
    cross_and_back_at_once,
    cross_with_company,
    cross_within_a_node,
    cut_between_source_and_target,
    cut_between_source_and_target_before_the_copy,
    cut_between_target_and_home,
    cut_in_halves,
    cut_off_and_back_within_the_lease,
    cut_off_from_the_home_while_deciding,
    cut_off_past_the_lease,
    cut_one_way,
    despawn_while_she_moves,
    drain_by_a_signal,
    drain_by_an_order_with_one_who_cannot_leave,
    drain_while_the_target_dies,
    home_and_target_killed_once_it_is_decided,
    home_killed_before_it_is_asked,
    home_killed_once_it_has_answered,
    home_killed_once_the_target_has_taken_over,
    home_killed_while_the_source_asks_for_room,
    home_killed_with_its_answer,
    join,
    join_again_before_the_verdict,
    manager_gone_and_back,
    manager_gone_past_all_leases,
    refuse,
    refuse_one_of_two,
    router_killed_with_a_message_held,
    source_killed_once_it_has_handed_on,
    source_killed_once_it_is_decided,
    source_killed_once_the_copy_has_left,
    source_killed_that_is_the_home_too,
    source_killed_while_it_asks_for_room,
    source_killed_while_it_holds_a_message,
    spawn,
    spawn_where_there_is_no_room,
    talk_across_a_move,
    target_killed_before_it_is_asked,
    target_killed_once_it_has_room,
    target_killed_once_it_has_staged_the_copy,
    target_killed_once_it_has_taken_over,
    target_killed_once_it_has_what_was_held,
    target_killed_once_it_is_decided,
    target_killed_that_is_the_home_too,
    target_killed_while_the_copy_is_on_its_way,
    target_stands_still_past_the_lease,
    veto,
}

#[test]
fn every_transcript_has_its_test() {
    let files = fs::read_dir(folder()).expect("there are scenarios");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    let mut names: Vec<_> = names.filter_map(|name| name.strip_suffix(".txt").map(str::to_owned)).collect();
    names.sort_unstable();
    let mut plays = PLAYS.to_vec();
    plays.sort_unstable();
    assert_eq!(names, plays);
    let list = fs::read_to_string(folder().join("README.md")).expect("there is a list");
    let unlisted: Vec<_> = plays.iter().filter(|name| !list.contains(&format!("({name}.txt)"))).collect();
    assert!(unlisted.is_empty(), "the list does not have {unlisted:?}");
}

#[test]
fn a_play_is_the_same_each_time() {
    let text = read("cross");
    assert_eq!(perform(&text), perform(&text));
}

#[test]
#[should_panic(expected = "quiet_leaves_nothing_behind")]
fn a_cluster_that_does_not_come_to_rest_has_no_transcript() {
    let _ = perform("    node 1: gate\n    node 2: hearth\n    all is quiet\n    node 2 is killed\n");
}

#[test]
fn a_cue_that_never_comes_is_told() {
    let script = "    node 1: gate\n    all is quiet\n    once gate has heard Prepare ann: node 1 is killed\n";
    let fault = perform(script).expect_err("nobody says so");
    assert!(fault.to_string().contains("Prepare ann"), "{fault}");
}

#[test]
fn a_transcript_that_differs_is_shown_as_a_diff() {
    let text = perform(&read("cross")).expect("it can be played");
    let forged = text.replace("not here => staged", "not here => active");
    let shown = difference("cross", &forged, &text).expect("they differ");
    let is_shown = |mark: char, what: &str| shown.lines().any(|line| line.starts_with(mark) && line.contains(what));
    assert!(is_shown('-', "not here => active") && is_shown('+', "not here => staged"), "{shown}");
    assert!(shown.lines().count() < text.lines().count() / 2, "only what differs is shown, and what is around it");
    assert_eq!(difference("cross", &text, &text), None);
}

fn check(name: &str) {
    let written = read(name);
    let played = perform(&written).unwrap_or_else(|fault| panic!("{name}.txt cannot be played: {fault}"));
    if std::env::var_os("REWRITE").is_some_and(|value| value == "1") {
        fs::write(path(name), played).expect("the transcript can be written");
    } else if let Some(shown) = difference(name, &written, &played) {
        panic!(
            "{shown}\n{name}.txt is played differently now. If that is meant: REWRITE=1 cargo test -p slipgate-sim --test scenarios"
        );
    }
}

/// What differs, with the lines around it.
fn difference(name: &str, written: &str, played: &str) -> Option<String> {
    let diff = TextDiff::from_lines(written, played);
    (written != played)
        .then(|| diff.unified_diff().header(&format!("{name}.txt as it is written"), "as it is played").to_string())
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}.txt cannot be read: {error}"))
}

fn path(name: &str) -> PathBuf {
    folder().join(format!("{name}.txt"))
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}
