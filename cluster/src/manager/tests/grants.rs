//! What members ask: ranges, renewals, views.

use slipgate_entity::RangeId;

use super::*;
use crate::bounds::HOMES;
use crate::view::Home;

#[test]
fn ranges_are_issued_from_1_upwards_each_once() {
    let mut world = World::new();
    let (a, b) = (world.join("a"), world.join("b"));
    assert_eq!(world.range(a, 1), Some(RangeId(1)));
    assert_eq!(world.range(b, 1), Some(RangeId(2)));
    assert_eq!(world.range(a, 2), Some(RangeId(3)));
}

#[test]
fn a_range_is_on_disk_and_its_home_told_before_it_is_answered() {
    let mut world = World::new();
    let a = world.join("a");
    let out = world.ask_range(a, 1);
    assert_eq!(out.iter().map(kind).collect::<Vec<_>>(), ["persist", "tell all", "tell", "event"]);
}

#[test]
fn a_repeated_range_request_gets_the_same_range_and_writes_nothing() {
    let mut world = World::new();
    let a = world.join("a");
    let first = world.range(a, 1);
    assert_eq!(world.ask_range(a, 1).iter().map(kind).collect::<Vec<_>>(), ["tell"]);
    assert_eq!(world.range(a, 1), first);
    world.restart();
    assert_eq!(world.range(a, 1), first, "over a restart too");
}

#[test]
fn a_range_request_with_a_lower_number_than_the_last_is_ignored() {
    let mut world = World::new();
    let a = world.join("a");
    world.range(a, 3);
    assert_eq!(world.ask_range(a, 2), []);
    assert_eq!(world.ask_range(a, 0), []);
}

#[test]
fn a_new_life_counts_its_requests_anew_and_never_gets_an_earlier_range() {
    let mut world = World::new();
    let a = world.join("a");
    assert_eq!(world.range(a, 1), Some(RangeId(1)));
    world.give(Input::Left(a));
    let again = world.join("a");
    assert_eq!(world.range(again, 1), Some(RangeId(2)));
}

#[test]
fn the_home_of_a_range_is_the_session_that_got_it() {
    let mut world = World::new();
    let a = world.join("a");
    world.range(a, 1);
    let home = world.manager.view().home_of(RangeId(1)).expect("the range has a home");
    assert_eq!(home.session, a);
    assert_eq!(world.manager.view().term_of(RangeId(1)), 0);
}

#[test]
fn a_session_that_is_not_the_latest_life_hears_not_member() {
    let mut world = World::new();
    let a = world.join("a");
    world.give(Input::Left(a));
    world.join("a");
    assert_eq!(world.renew(a), [not_member(a)]);
    assert_eq!(world.ask_range(a, 9).first(), Some(&not_member(a)));
    let stranger = Session::new(7, 1);
    assert_eq!(world.renew(stranger), [not_member(stranger)]);
}

#[test]
fn a_request_that_speaks_for_another_session_is_dropped() {
    let mut world = World::new();
    let (a, b) = (world.join("a"), world.join("b"));
    let request = ManagerRequest::Range { session: b, request: 1, counter: Counter::Online };
    let out = world.give(Input::Request { from: a, request });
    assert_eq!(out, [Output::Event(ManagerEvent::SpokeForAnother { from: a, session: b })]);
}

#[test]
fn a_renewal_echoes_when_it_was_sent_and_brings_the_view_only_if_it_is_newer() {
    let mut world = World::new();
    let a = world.join("a");
    let version = world.manager.view().version;
    let renew =
        |version| Input::Request { from: a, request: ManagerRequest::Renew { session: a, sent: Now(77), version } };
    let renewed = Output::Tell { to: a, reply: ManagerReply::Renewed { session: a, sent: Now(77) } };
    assert_eq!(world.give(renew(version)), std::slice::from_ref(&renewed));
    let view = Output::Tell { to: a, reply: ManagerReply::View(world.manager.view().clone()) };
    assert_eq!(world.give(renew(version - 1)), [view, renewed]);
}

#[test]
fn a_drain_and_its_end_are_on_disk_before_they_are_told_and_a_repeat_changes_nothing() {
    let mut world = World::new();
    let a = world.join("a");
    let drain = || Input::Request { from: a, request: ManagerRequest::Drain { session: a } };
    let out = world.give(drain());
    assert_eq!(out.iter().map(kind).collect::<Vec<_>>(), ["persist", "tell all", "event"]);
    assert!(world.manager.view().is_draining(a));
    let version = world.manager.view().version;
    let view = Output::Tell { to: a, reply: ManagerReply::View(world.manager.view().clone()) };
    assert_eq!(world.give(drain()), [view]);
    world.restart();
    assert!(world.manager.view().is_draining(a) && world.manager.view().version == version);
    let out = world.give(Input::Request { from: a, request: ManagerRequest::Resume { session: a } });
    assert_eq!(out.last(), Some(&Output::Event(ManagerEvent::Resumed { session: a })));
    assert!(!world.manager.view().is_draining(a));
}

#[test]
fn a_drain_ends_with_the_life_that_spoke_of_it() {
    let mut world = World::new();
    let a = world.join("a");
    world.give(Input::Request { from: a, request: ManagerRequest::Drain { session: a } });
    world.give(Input::Left(a));
    let reborn = world.join("a");
    assert!(world.manager.view().is_draining(a) && !world.manager.view().is_draining(reborn));
}

#[test]
fn a_node_with_a_newer_view_shows_that_the_store_is_old() {
    let mut world = World::new();
    let a = world.join("a");
    let request = ManagerRequest::Renew { session: a, sent: Now(0), version: 99 };
    let out = world.give(Input::Request { from: a, request });
    let old = ManagerEvent::StoreIsOld { session: a, theirs: 99, ours: 1 };
    assert!(out.contains(&Output::Event(old)), "{out:?}");
}

#[test]
fn the_version_of_the_view_rises_at_every_change_and_goes_on_after_a_restart() {
    let mut world = World::new();
    let a = world.join("a");
    assert_eq!(world.manager.view().version, 1);
    world.range(a, 1);
    assert_eq!(world.manager.view().version, 2);
    world.restart();
    assert_eq!(world.manager.view().version, 2);
    world.join("b");
    assert_eq!(world.manager.view().version, 3);
}

#[test]
fn the_last_range_is_never_issued_and_nothing_wraps() {
    let mut world = World::new();
    let a = world.join("a");
    world.manager.stored.counters.insert(Counter::Online, RangeId(u32::MAX));
    let exhausted = ManagerEvent::CounterExhausted { counter: Counter::Online, session: a };
    assert_eq!(world.ask_range(a, 1), [Output::Event(exhausted)]);
}

#[test]
fn a_cluster_has_no_more_ranges_than_its_view_has_room_for() {
    let mut world = World::new();
    let a = world.join("a");
    let first = world.range(a, 1).expect("a range");
    for range in (first.0..).take(HOMES).map(RangeId) {
        world.manager.stored.view.homes.insert(range, Home::first(range, a));
    }
    let exhausted = ManagerEvent::CounterExhausted { counter: Counter::Online, session: a };
    assert_eq!(world.ask_range(a, 2), [Output::Event(exhausted)]);
    assert_eq!(world.range(a, 1), Some(first), "what was granted stays so");
}
