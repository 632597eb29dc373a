//! What a scene remembers of entities that are gone, and for how long.

use std::sync::Arc;

use super::super::{Destination, Input, Output};
use super::driver::{Driver, controls, entity, epoch, move_id, own, taken_over, to};
use crate::bounds::TOMBSTONES;
use crate::message::Control;
use crate::{Epoch, Incarnation, Limits, NodeId, Now, Record, View};

/// With entity 1 handed over to `own(2)`, which has not said that it knows.
fn untold() -> Driver {
    let mut driver = Driver::frozen();
    driver.record(1, taken_over(), None);
    driver.pass(1_000);
    driver
}

fn remembered(driver: &Driver) -> usize {
    driver.scene.tables().tombstones
}

/// Whether target and home are asked about entity 1.
fn asks(out: &[Output]) -> bool {
    let told = controls(out);
    let target = told.iter().any(|(at, control)| *at == to(own(2)) && matches!(control, Control::IsActive { .. }));
    let home = Destination::Home(entity(1));
    let home = told.iter().any(|(at, control)| *at == home && matches!(control, Control::Query { .. }));
    assert_eq!(target, home, "{told:?}");
    target
}

#[test]
fn what_left_is_forgotten_after_a_while_once_its_target_is_known_to_have_taken_over() {
    let mut driver = untold();
    driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    assert!(!asks(&driver.pass(28_999)));
    assert_eq!(remembered(&driver), 1);
    assert!(!asks(&driver.pass(1)));
    assert_eq!(remembered(&driver), 0);
}

#[test]
fn a_target_that_never_says_so_is_asked_again_and_again_and_so_is_the_home() {
    let mut driver = untold();
    for _ in 0..10 {
        assert!(!asks(&driver.pass(28_000)));
        assert!(asks(&driver.pass(2_000)));
        assert_eq!(remembered(&driver), 1);
    }
    assert!(driver.hear(Control::Arrived { entity: entity(1), id: move_id(7), epoch: epoch(2) }).is_empty());
    assert!(asks(&driver.pass(30_000)), "another move's target has said so");
}

#[test]
fn a_home_that_tells_of_a_change_since_ends_the_waiting_and_one_that_was_rebuilt_does_not() {
    let moved_on = Record::handed_to(own(3), epoch(3), Epoch::ZERO);
    let given_up = Record { epoch: epoch(3), ..taken_over() };
    let dead = taken_over().changed_to(None);
    let absent = Record::absent(1, true);
    for (record, is_over) in [
        (moved_on, true),
        (given_up, true),
        (dead, true),
        (taken_over().buried(), true),
        (absent, true),
        (taken_over(), false),
        (taken_over().in_term(1), false),
    ] {
        let mut driver = untold();
        driver.record(1, record, None);
        assert_eq!(!asks(&driver.pass(30_000)), is_over, "{record:?}");
        assert_eq!(remembered(&driver) == 0, is_over, "{record:?}");
    }
}

#[test]
fn a_target_that_is_dead_is_not_waited_for() {
    let mut driver = untold();
    let dead = [(NodeId(2), Incarnation(1))].into();
    driver.tell(Input::View(Arc::new(View { version: 9, dead, ..View::default() })));
    assert!(!asks(&driver.pass(30_000)));
    assert_eq!(remembered(&driver), 0);
}

#[test]
fn beyond_a_bound_the_oldest_is_forgotten_whether_its_target_is_known_to_have_taken_over_or_not() {
    let mut driver = Driver::new(Limits::default());
    driver.scene.bury(entity(0), taken_over(), Now(0));
    driver.scene.await_takeover(entity(0), move_id(1));
    for counter in 1..=u32::try_from(TOMBSTONES).expect("fewer than ids") {
        driver.scene.bury(entity(counter), taken_over(), Now(1));
    }
    assert_eq!(remembered(&driver), TOMBSTONES);
    assert!(!driver.scene.gone.contains_key(&entity(0)));
}
