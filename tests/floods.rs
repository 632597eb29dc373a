//! Floods of ten times what a node lets wait, on real nodes: to frozen entities, to a node that does not run, over a
//! link that is cut, and over one that never was.
//!
//! Each time the same is demanded: what is too much comes back, each message by its position; memory stays within the
//! bound; no lease ends; an entity elsewhere moves and is written to meanwhile; and once the obstacle is gone
//! everything that was accepted is applied, once and in order, and nothing is counted any more.
//!
//! A scene whose handler does not return is in `actors/tests/nodes/slow_scene.rs`: no built-in type has such a one.

#[path = "support/move_lines.rs"]
mod move_lines;
#[path = "support/nodes.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod nodes;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/proxy.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod proxy;
#[path = "support/relayed_lines.rs"]
mod relayed_lines;

#[path = "floods/field.rs"]
mod field;
#[path = "floods/flood.rs"]
mod flood;

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use field::Field;
use flood::Flood;

/// A node that does not hear of its lease for longer is paused, and says so.
const LEASE: (&str, &str) = ("manager.lease", "5s");

#[test]
fn a_flood_to_frozen_entities_is_held_within_bounds_and_applied_once_they_go_on() {
    // A move whose target does not reach the home stays undecided for as long as its transfer may take.
    let field =
        Field::start(&[LEASE, ("limits.transfer", "60s"), ("limits.reservation", "70s"), ("limits.tombstone", "70s")]);
    // Born on n3, which is their home, and moved to n1. That asks n3 for them, so its link stays.
    let walkers = field.spawn("n3", "keep");
    walkers.iter().for_each(|walker| field.migrate(walker, "forest"));
    let others = [field.spawn("n1", "forest")[0].clone(), field.spawn("n2", "harbor")[0].clone()];
    let mut flood = Flood::new(&field, "n1", &walkers);
    flood.say_something();
    field.cut("n3", "n2");
    thread::scope(|scope| {
        for walker in &walkers {
            // Whoever asked may not wait for as long as the flood takes.
            scope.spawn(|| field.try_to_migrate(walker, "harbor"));
        }
        field.await_all("n1", "forest", &walkers, "frozen");
        flood.pour(&others, "tower");
        field.await_all("n1", "forest", &walkers, "frozen");
        field.mend("n3", "n2");
    });
    field.await_all("n2", "harbor", &walkers, "active");
    flood.settle();
}

#[test]
fn a_flood_to_a_node_that_does_not_run_for_a_while_waits_within_bounds_and_is_applied_once_it_does() {
    // It sleeps for less than its lease, and nobody takes it for dead.
    let field = Field::start(&[("manager.lease", "30s")]);
    let walkers = field.spawn("n2", "harbor");
    let others = [field.spawn("n1", "forest")[0].clone(), field.spawn("n3", "keep")[0].clone()];
    let mut flood = Flood::new(&field, "n1", &walkers);
    flood.say_something();
    field.nodes["n2"].signal(Signal::STOP);
    flood.pour(&others, "keep");
    field.nodes["n2"].signal(Signal::CONT);
    flood.settle();
}

#[test]
fn a_flood_over_a_link_that_is_cut_waits_within_bounds_and_is_applied_once_it_is_mended() {
    let field = Field::start(&[LEASE, ("limits.silence", "1s")]);
    let walkers = field.spawn("n2", "harbor");
    let others = [field.spawn("n1", "forest")[0].clone(), field.spawn("n3", "keep")[0].clone()];
    let mut flood = Flood::new(&field, "n1", &walkers);
    flood.say_something();
    field.cut("n2", "n1");
    flood.pour(&others, "keep");
    field.mend("n2", "n1");
    flood.settle();
}

#[test]
fn a_flood_over_a_link_that_never_was_waits_within_bounds_and_is_applied_once_it_is_there() {
    let field = Field::start_cut(&[LEASE], &[("n2", "n1")]);
    let walkers = field.spawn("n2", "harbor");
    let others = [field.spawn("n1", "forest")[0].clone(), field.spawn("n3", "keep")[0].clone()];
    let mut flood = Flood::new(&field, "n1", &walkers);
    flood.pour(&others, "keep");
    assert_eq!(field.links("n1", "n2"), 0, "it never was");
    field.mend("n2", "n1");
    flood.settle();
}

/// Longest wait for anything that takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(20);
