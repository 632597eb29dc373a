//! The examples run to their good end, and say what they should. Each checks by itself what it says.
//!
//! They are built with the tests, by `cargo test`; where only this file was asked for, `cargo build --examples` builds them.

#[path = "support/command.rs"]
mod command;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Runs an example and checks that its story has these parts, in this order.
#[track_caller]
fn check(name: &str, parts: &[&str]) {
    let program = examples().join(name);
    assert!(program.exists(), "{} is not there: cargo build --examples", program.display());
    let story = command::run_well(&mut Command::new(program), LIMIT);
    let mut rest = story.as_str();
    for part in parts {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part:?} is not in the rest of\n{story}"));
        rest = after;
    }
}

/// Beside the folder of this test.
fn examples() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let profile = test.parent().and_then(|folder| folder.parent()).expect("target/debug/deps");
    profile.join("examples")
}

#[test]
fn hello_moves_a_player_who_misses_nothing() {
    check("hello", &["ann went from forest@n1 to harbor@n2", "ann is in harbor@n2 and has 12 gold"]);
}

#[test]
fn hello_by_hand_tells_the_same_and_takes_at_most_twice_the_lines() {
    check("by_hand", &["ann went from forest@n1 to harbor@n2", "ann is in harbor@n2 and has 12 gold"]);
    let lines = |name: &str| {
        let text =
            std::fs::read_to_string(format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"))).expect("source");
        text.lines().filter(|line| !line.trim().is_empty()).count()
    };
    let (hello, by_hand) = (lines("hello"), lines("by_hand"));
    assert!(by_hand <= 2 * hello, "{by_hand} lines by hand, {hello} with macros");
}

#[test]
fn whoever_walks_through_the_portal_arrives_with_what_she_carries() {
    check("portal", &["still in forest@n1", "comes out in harbor@n2", "lantern", "the gate itself stays"]);
}

#[test]
fn one_who_fights_keeps_the_raid_and_then_all_leave_together() {
    let stay = ["ann is still in keep@n1", "bob is still in keep@n1", "cid is still in keep@n1"];
    let leave = ["ann is in dungeon@n2", "bob came along", "cid came along"];
    check("raid", &[&["ann wants to leave: ", "in combat"][..], &stay, &leave].concat());
}

#[test]
fn an_arrow_misses_who_has_the_slot_of_its_target() {
    check(
        "arena",
        &["the target Leaves", "missed 1, newcomer hit 0", "the target Dies", "missed 1, newcomer hit 0", "lair"],
    );
}

/// Far above the second or two that each takes.
const LIMIT: Duration = Duration::from_secs(60);
