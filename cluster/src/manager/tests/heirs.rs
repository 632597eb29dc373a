//! Ranges whose home is dead, or wants to be rid of them.

use super::*;
use crate::view::Home;

impl World {
    fn home(&self, range: u32) -> Home {
        assert_eq!(self.disk.view.homes, self.manager.view().homes, "what is told is on disk");
        self.disk.view.homes[&RangeId(range)]
    }

    fn retire(&mut self, session: Session) -> Vec<Output> {
        self.give(Input::Request { from: session, request: ManagerRequest::Retire { session } })
    }

    /// Three members, each with a range of its number.
    fn of_three() -> (Self, [Session; 3]) {
        let mut world = Self::new();
        let sessions = ["a", "b", "c"].map(|name| world.join(name));
        for session in sessions {
            world.range(session, 1);
        }
        (world, sessions)
    }

    fn die(&mut self, session: Session) -> Vec<Output> {
        self.give(Input::Left(session))
    }
}

fn passed(out: &[Output]) -> Vec<(Session, Session, u64)> {
    let event = |output: &Output| {
        let Output::Event(ManagerEvent::HomesPassed { from, to, ranges }) = output else { return None };
        Some((*from, *to, *ranges))
    };
    out.iter().filter_map(event).collect()
}

#[test]
fn a_verdict_names_another_home_in_the_next_term_in_the_same_commit() {
    let (mut world, [a, b, c]) = World::of_three();
    let version = world.disk.view.version;
    let out = world.die(b);
    assert_eq!(world.home(2), Home { range: RangeId(2), session: a, term: 1, before: Some(b) });
    assert_eq!((world.home(1), world.home(3)), (Home::first(RangeId(1), a), Home::first(RangeId(3), c)));
    assert_eq!(world.disk.view.version, version + 1);
    assert_eq!(passed(&out), [(b, a, 1)]);
    assert!(world.disk.view.is_dead(b));
}

#[test]
fn the_ranges_of_a_dead_home_are_spread_by_how_many_each_holds() {
    let (mut world, [a, b, c]) = World::of_three();
    world.range(b, 2);
    world.range(b, 3);
    world.range(a, 2);
    world.die(b);
    let heirs = [2, 4, 5].map(|range| world.home(range).session);
    assert_eq!(heirs, [c, a, c], "a holds two and c one");
}

#[test]
fn a_home_dies_again_and_again_and_each_heir_is_of_the_next_term() {
    let (mut world, [a, b, c]) = World::of_three();
    world.die(b);
    world.die(a);
    assert_eq!(world.home(2), Home { range: RangeId(2), session: c, term: 2, before: Some(a) });
    assert_eq!(world.home(1), Home { range: RangeId(1), session: c, term: 1, before: Some(a) });
}

#[test]
fn with_nobody_left_a_range_stays_and_is_named_when_somebody_joins_over_a_restart_too() {
    let mut world = World::new();
    let a = world.join("a");
    world.range(a, 1);
    world.die(a);
    assert_eq!(world.home(1), Home::first(RangeId(1), a));
    world.restart();
    let out = world.ask("a", &[]);
    let again = welcomed(&out);
    assert_eq!(world.home(1), Home { range: RangeId(1), session: again, term: 1, before: Some(a) });
    let [JoinReply::Welcome { view, .. }] = &answers(&out)[..] else { panic!("no welcome in {out:?}") };
    assert_eq!(view.homes[&RangeId(1)].session, again, "the newcomer hears it with its welcome");
}

#[test]
fn a_life_that_was_replaced_keeps_its_ranges_until_the_verdict_on_it() {
    let mut world = World::new();
    let a = world.join("a");
    world.range(a, 1);
    world.link(a, true);
    world.link(a, false);
    world.ask("a", &[]);
    world.wait_ms(1_000);
    let again = welcomed(&world.give(Input::Tick));
    assert_eq!(world.home(1).session, a, "it may still run");
    world.wait_ms(11_000);
    world.renew(again);
    world.give(Input::Tick);
    assert_eq!(world.home(1).session, again);
}

#[test]
fn whoever_is_late_with_its_lease_is_heir_only_if_there_is_nobody_else() {
    let (mut world, [a, b, c]) = World::of_three();
    world.wait_ms(10_000);
    world.renew(c);
    world.give(Input::Tick);
    world.die(b);
    assert_eq!(world.home(2).session, c, "a has not renewed its lease");
    world.die(c);
    assert_eq!(world.home(2).session, a);
}

#[test]
fn whoever_is_about_to_stop_is_no_heir() {
    let (mut world, [a, b, c]) = World::of_three();
    world.give(Input::Request { from: a, request: ManagerRequest::Drain { session: a } });
    world.die(b);
    assert_eq!(world.home(2).session, c);
    world.die(c);
    assert_eq!(world.home(3).session, c, "nobody is left who stays");
}

#[test]
fn two_that_die_together_are_not_each_others_heirs() {
    let (mut world, [_, _, c]) = World::of_three();
    world.wait_ms(11_000);
    world.renew(c);
    world.wait_ms(1_000);
    world.give(Input::Tick);
    assert_eq!([1, 2].map(|range| world.home(range).session), [c, c]);
    assert_eq!([1, 2].map(|range| world.home(range).term), [1, 1]);
}

#[test]
fn a_session_that_retires_gives_its_ranges_away_while_it_lives_and_a_repeat_brings_the_view() {
    let (mut world, [a, b, c]) = World::of_three();
    let out = world.retire(b);
    assert_eq!(out.iter().map(kind).collect::<Vec<_>>(), ["persist", "event", "tell all"]);
    assert_eq!(world.home(2), Home { range: RangeId(2), session: a, term: 1, before: Some(b) });
    assert!(!world.disk.view.is_dead(b));
    let view = Output::Tell { to: b, reply: ManagerReply::View(world.manager.view().clone()) };
    assert_eq!(world.retire(b), [view]);
    assert_eq!(world.range(b, 1), None, "a late repeat brings nothing back");
    world.die(b);
    assert_eq!(world.home(2).term, 1, "the goodbye takes nothing more");
    assert_eq!(world.home(3).session, c);
}

#[test]
fn whoever_retires_last_keeps_its_ranges() {
    let mut world = World::new();
    let a = world.join("a");
    world.range(a, 1);
    assert_eq!(world.retire(a).iter().map(kind).collect::<Vec<_>>(), ["tell"]);
    assert_eq!(world.home(1), Home::first(RangeId(1), a));
}
