//! Leases that end, and what the manager says of their sessions.

use super::*;

impl World {
    /// The holder of the name "a" is gone, as its link says, and the next life has its name.
    fn replace(&mut self, first: Session) -> Session {
        self.link(first, false);
        self.ask("a", &[]);
        self.wait_ms(1_000);
        welcomed(&self.give(Input::Tick))
    }
}

fn kinds(out: &[Output]) -> Vec<&'static str> {
    out.iter().map(kind).collect()
}

fn ended(session: Session) -> Output {
    Output::Event(ManagerEvent::LeaseEnded { session })
}

fn died(out: &[Output]) -> Vec<Session> {
    let dead = out.iter().filter_map(|output| {
        let Output::Event(ManagerEvent::Dead { session }) = output else { return None };
        Some(*session)
    });
    dead.collect()
}

#[test]
fn a_session_is_dead_only_after_its_lease_and_the_margin_and_the_disk_knows_first() {
    let mut world = World::new();
    let a = world.join("a");
    world.wait_ms(9_999);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1);
    assert_eq!(world.give(Input::Tick), [ended(a)]);
    world.wait_ms(1_999);
    assert_eq!(world.give(Input::Tick), [], "its end is reported once");
    world.wait_ms(1);
    let out = world.give(Input::Tick);
    assert_eq!(kinds(&out), ["persist", "tell all", "event"]);
    assert_eq!(died(&out), [a]);
    assert!(world.disk.view.is_dead(a) && world.manager.view().is_dead(a));
    assert_eq!(world.give(Input::Tick), []);
}

#[test]
fn a_renewal_before_the_verdict_saves_the_session_and_one_after_it_is_refused() {
    let mut world = World::new();
    let (a, b) = (world.join("a"), world.join("b"));
    world.wait_ms(11_500);
    assert_eq!(world.give(Input::Tick), [ended(a), ended(b)]);
    assert_eq!(kinds(&world.renew(a)), ["tell", "tell"]);
    world.wait_ms(500);
    assert_eq!(died(&world.give(Input::Tick)), [b]);
    assert_eq!(world.renew(b), [not_member(b)]);
    assert_eq!(world.range(b, 1), None);
    world.wait_ms(9_500);
    assert_eq!(world.give(Input::Tick), [ended(a)], "a renewed lease can end again");
}

#[test]
fn a_goodbye_is_a_verdict_at_once() {
    let mut world = World::new();
    let a = world.join("a");
    assert_eq!(died(&world.give(Input::Left(a))), [a]);
    world.wait_ms(60_000);
    assert_eq!(world.give(Input::Tick), []);
    assert_eq!(world.join("a").incarnation, Incarnation(2));
}

#[test]
fn a_goodbye_is_no_verdict_while_the_lease_of_an_earlier_life_still_runs() {
    let mut world = World::new();
    let first = world.join("a");
    world.link(first, true);
    let second = world.replace(first);
    let out = world.give(Input::Left(second));
    assert_eq!(died(&out), [], "the first may still be running, cut off");
    assert!(!world.manager.view().takes_homes(second), "nobody is sent there, though");
    let third = world.join("a");
    assert_eq!(third.incarnation, Incarnation(3), "its name is free");
    assert_eq!(died(&world.give(Input::Left(third))), []);
    world.wait_ms(10_999);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1);
    assert_eq!(died(&world.give(Input::Tick)), [first, second, third]);
    world.wait_ms(60_000);
    assert_eq!(world.give(Input::Tick), []);
}

#[test]
fn a_life_that_was_replaced_is_dead_only_when_its_own_lease_has_ended() {
    let mut world = World::new();
    let first = world.join("a");
    world.link(first, true);
    world.wait_ms(5_000);
    world.renew(first);
    let second = world.replace(first);
    world.wait_ms(10_999);
    world.renew(second);
    assert_eq!(died(&world.give(Input::Tick)), []);
    world.wait_ms(1);
    assert_eq!(died(&world.give(Input::Tick)), [first]);
    assert!(!world.manager.view().is_dead(second));
}

#[test]
fn a_manager_that_has_just_restarted_waits_a_whole_lease_and_the_margin_before_its_first_verdict() {
    let mut world = World::new();
    let first = world.join("a");
    world.link(first, true);
    let (second, b) = (world.replace(first), world.join("b"));
    world.wait_ms(11_000);
    world.restart();
    world.wait_ms(11_999);
    assert_eq!(died(&world.give(Input::Tick)), []);
    world.wait_ms(1);
    assert_eq!(died(&world.give(Input::Tick)), [first, second, b]);
}

#[test]
fn a_manager_that_was_stopped_has_heard_nobody_and_begins_all_leases_anew() {
    let mut world = World::new();
    let first = world.join("a");
    world.link(first, true);
    let (second, b) = (world.replace(first), world.join("b"));
    world.wait_ms(60_000);
    world.give(Input::Slept);
    world.renew(b);
    world.wait_ms(11_999);
    assert_eq!(died(&world.give(Input::Tick)), []);
    world.wait_ms(1);
    assert_eq!(died(&world.give(Input::Tick)), [first, second, b]);
}

#[test]
fn an_earlier_life_of_the_managers_own_node_is_dead_as_soon_as_the_next_one_has_its_store() {
    let mut world = World::new();
    let first = welcomed(&world.ask_as_own("m"));
    world.restart();
    let second = welcomed(&world.ask_as_own("m"));
    assert!(world.disk.view.is_dead(first) && !world.disk.view.is_dead(second));
}

#[test]
fn a_dead_sessions_scenes_have_no_owner_and_its_name_is_free() {
    let mut world = World::new();
    let a = welcomed(&world.ask("a", &[(1, "forest")]));
    world.link(a, true);
    assert_eq!(world.manager.view().own_of(SceneId(1)).map(|own| own.session), Some(a));
    world.wait_ms(12_000);
    world.give(Input::Tick);
    assert_eq!(world.manager.view().own_of(SceneId(1)), None);
    let again = welcomed(&world.ask("a", &[(1, "forest")]));
    assert_eq!(world.manager.view().own_of(SceneId(1)).map(|own| own.session), Some(again));
}
