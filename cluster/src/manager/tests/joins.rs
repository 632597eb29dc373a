//! Who is let in, and under which life.

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::Incarnation;
use crate::bounds::NODES;

#[test]
fn the_first_join_under_a_name_gives_node_1_life_1() {
    let mut world = World::new();
    assert_eq!(world.join("a"), Session::new(1, 1));
    assert_eq!(world.join("b"), Session::new(2, 1));
}

#[test]
fn a_node_keeps_its_number_and_gets_a_higher_incarnation_at_each_join() {
    let mut world = World::new();
    world.join("a");
    let b = world.join("b");
    world.give(Input::Left(b));
    assert_eq!(world.join("b"), Session::new(2, 2));
    world.give(Input::Left(Session::new(2, 2)));
    assert_eq!(world.join("b"), Session::new(2, 3));
}

#[test]
fn a_welcome_shows_the_newcomer_its_own_place_and_its_lease() {
    let mut world = World::new();
    let out = world.ask("a", &[(1, "forest")]);
    let JoinReply::Welcome { session, view, lease_ms } = answer(&out) else { panic!("{out:?}") };
    assert_eq!(lease_ms, 10_000);
    assert!(view.is_latest(session));
    assert_eq!(view.own_of(SceneId(1)).map(|own| own.session), Some(session));
    assert_eq!(view.member_named("a").map(|member| member.address.as_str()), Some("a:1"));
}

#[test]
fn a_join_is_on_disk_and_told_to_the_others_before_it_is_answered() {
    let out = World::new().ask("a", &[]);
    let kinds: Vec<&str> = out.iter().map(kind).collect();
    assert_eq!(kinds, ["persist", "tell all", "answer", "event"]);
}

#[test]
fn as_many_as_a_view_has_room_for_join_in_one_moment_and_each_is_let_in_by_the_step_that_asks() {
    let mut world = World::new();
    let mut sessions = Vec::new();
    for number in 1..=NODES {
        let out = world.ask(&format!("n{number}"), &[]);
        let kinds: Vec<&str> = out.iter().map(kind).collect();
        assert_eq!(kinds, ["persist", "tell all", "answer", "event"], "n{number} waits for nobody");
        sessions.push(welcomed(&out));
    }
    let expected: Vec<_> = (1..=NODES).map(|number| Session::new(u16::try_from(number).expect("few"), 1)).collect();
    assert_eq!(sessions, expected);
    for session in sessions {
        assert!(!world.renew(session).contains(&not_member(session)), "{session:?} is a member");
        assert!(world.range(session, 1).is_some(), "{session:?} has ids");
    }
    let JoinReply::Refused(refusal) = answer(&world.ask("late", &[])) else { panic!("expected no room") };
    assert!(matches!(refusal, JoinRefusal::Exhausted { .. }), "{refusal:?}");
}

#[test]
fn a_linked_holder_that_answers_the_probe_keeps_its_name() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    let out = world.ask("a", &[]);
    assert!(out.contains(&Output::Probe(a)), "{out:?}");
    world.wait_ms(900);
    let out = world.give(Input::ProbeAnswered(a));
    assert_eq!(answer(&out), name_taken("a"));
}

#[test]
fn a_linked_holder_that_stays_silent_for_the_probe_time_loses_its_name() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    world.wait_ms(999);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1);
    let out = world.give(Input::Tick);
    assert_eq!(welcomed(&out), Session::new(1, 2));
    assert_eq!(world.renew(a), [not_member(a)], "the silent life is over");
}

#[test]
fn a_holder_that_was_asked_while_the_manager_was_stopped_has_all_the_time_to_answer() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    world.wait_ms(60_000);
    world.give(Input::Slept);
    assert_eq!(world.give(Input::Tick), []);
    assert_eq!(answer(&world.give(Input::ProbeAnswered(a))), name_taken("a"));
}

#[test]
fn an_answer_to_no_probe_decides_nothing() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    assert_eq!(world.give(Input::ProbeAnswered(a)), []);
    assert!(world.ask("a", &[]).contains(&Output::Probe(a)), "a new join asks anew");
}

#[test]
fn a_holder_whose_link_goes_down_loses_its_name_only_if_the_link_stays_down_for_the_probe_time() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    assert_eq!(answers(&world.link(a, false)), []);
    world.wait_ms(1_000);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
}

#[test]
fn a_holder_whose_link_was_cut_for_a_moment_keeps_its_name() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.link(a, false);
    assert_eq!(answers(&world.ask("a", &[])), []);
    world.wait_ms(500);
    world.link(a, true);
    assert_eq!(answer(&world.give(Input::ProbeAnswered(a))), name_taken("a"));
}

#[test]
fn a_holder_that_says_goodbye_during_the_probe_makes_room_at_once() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    assert_eq!(welcomed(&world.give(Input::Left(a))), Session::new(1, 2));
}

#[test]
fn a_goodbye_is_final_even_if_the_link_stays_up() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.give(Input::Left(a));
    world.link(a, true);
    assert_eq!(world.renew(a), [not_member(a)]);
    assert_eq!(world.join("a"), Session::new(1, 2));
}

#[test]
fn of_two_joins_at_once_the_second_is_refused_once_the_first_has_its_link_and_answers() {
    let mut world = World::new();
    let a = world.join("a");
    assert_eq!(answers(&world.ask("a", &[])), [], "the first may have been killed before its link");
    world.wait_ms(1500);
    assert_eq!(world.give(Input::Tick), []);
    assert!(world.link(a, true).contains(&Output::Probe(a)));
    world.wait_ms(999);
    assert_eq!(world.give(Input::Tick), [], "all of the probe time is left for it");
    assert_eq!(answer(&world.give(Input::ProbeAnswered(a))), name_taken("a"));
    assert!(world.manager.view().is_latest(a));
}

#[test]
fn a_node_killed_between_its_welcome_and_its_link_is_let_in_when_the_time_for_the_link_is_over() {
    let mut world = World::new();
    let a = world.join("a");
    world.wait_ms(300);
    assert_eq!(answers(&world.ask("a", &[])), []);
    world.wait_ms(1699);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
    assert_eq!(world.renew(a), [not_member(a)], "the killed life is over");
}

#[test]
fn a_welcomed_session_whose_link_came_up_and_went_down_has_the_probe_time_for_another() {
    let mut world = World::new();
    let a = world.join("a");
    world.ask("a", &[]);
    world.link(a, true);
    world.wait_ms(900);
    assert_eq!(answers(&world.link(a, false)), []);
    world.wait_ms(100);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
}

#[test]
fn a_session_welcomed_before_the_manager_was_stopped_has_all_the_time_for_its_link() {
    let mut world = World::new();
    let a = world.join("a");
    world.ask("a", &[]);
    world.wait_ms(60_000);
    world.give(Input::Slept);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1999);
    assert_eq!(world.give(Input::Tick), []);
    assert!(world.link(a, true).contains(&Output::Probe(a)));
}

#[test]
fn a_second_join_that_waited_behind_the_first_finds_it_alive() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    world.ask("a", &[]);
    let out = world.give(Input::Left(a));
    let first = welcomed(&out);
    assert_eq!((first, answers(&out).len()), (Session::new(1, 2), 1));
    assert!(world.link(first, true).contains(&Output::Probe(first)));
    assert_eq!(answer(&world.give(Input::ProbeAnswered(first))), name_taken("a"));
}

#[test]
fn a_second_join_behind_a_refused_one_probes_again() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    world.ask("a", &[]);
    let out = world.give(Input::ProbeAnswered(a));
    assert_eq!(answers(&out), [name_taken("a")]);
    assert!(out.contains(&Output::Probe(a)));
    world.wait_ms(1000);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
}

#[test]
fn a_welcomed_session_has_two_seconds_for_its_link_whenever_somebody_asks_for_its_name() {
    let mut world = World::new();
    world.join("a");
    world.wait_ms(1999);
    assert_eq!(answers(&world.ask("a", &[])), []);
    world.wait_ms(1);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
    world.wait_ms(2000);
    assert_eq!(world.join("a"), Session::new(1, 3), "nobody waits for what is over");
}

#[test]
fn a_welcome_that_reached_nobody_makes_room_at_once() {
    let mut world = World::new();
    let a = world.join("a");
    world.give(Input::Left(a));
    assert_eq!(world.join("a"), Session::new(1, 2));
}

#[test]
fn a_withdrawn_join_is_not_decided() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    world.ask("a", &[]);
    world.give(Input::Withdrawn { ticket: world.last_ticket });
    world.wait_ms(5000);
    assert_eq!(answers(&world.give(Input::Tick)), []);
    assert!(world.manager.view().is_latest(a));
}

#[test]
fn joins_that_wait_under_one_name_are_bounded() {
    let mut world = World::new();
    let a = world.join("a");
    world.link(a, true);
    for _ in 0..8 {
        assert_eq!(answers(&world.ask("a", &[])), []);
    }
    let busy = JoinReply::Refused(JoinRefusal::Busy { name: name("a"), waiting: 8 });
    assert_eq!(answer(&world.ask("a", &[])), busy);
}

#[test]
fn a_restarted_manager_waits_for_the_link_of_a_holder_before_it_decides() {
    let mut world = World::new();
    let a = world.join("a");
    world.restart();
    assert_eq!(answers(&world.ask("a", &[])), []);
    world.wait_ms(500);
    assert!(world.link(a, true).contains(&Output::Probe(a)));
    assert_eq!(answer(&world.give(Input::ProbeAnswered(a))), name_taken("a"));
}

#[test]
fn a_restarted_manager_lets_a_node_in_whose_earlier_life_does_not_show_up() {
    let mut world = World::new();
    world.join("a");
    world.restart();
    world.ask("a", &[]);
    world.wait_ms(999);
    assert_eq!(world.give(Input::Tick), []);
    world.wait_ms(1);
    assert_eq!(welcomed(&world.give(Input::Tick)), Session::new(1, 2));
}

#[test]
fn the_managers_own_node_is_let_in_at_once_after_a_restart() {
    let mut world = World::new();
    world.join("a");
    world.restart();
    assert_eq!(welcomed(&world.ask_as_own("a")), Session::new(1, 2));
}

#[test]
fn the_managers_own_node_overtakes_another_join_under_its_name() {
    let mut world = World::new();
    world.join("a");
    world.restart();
    world.ask("a", &[]);
    let out = world.ask_as_own("a");
    assert_eq!(welcomed(&out), Session::new(1, 2));
    assert_eq!(answers(&out).last(), Some(&name_taken("a")));
}

#[test]
fn nobody_takes_the_name_of_the_managers_own_node_and_it_needs_no_link() {
    let mut world = World::new();
    let own = welcomed(&world.ask_as_own("a"));
    world.link(own, false);
    world.wait_ms(60_000);
    assert_eq!(answer(&world.ask("a", &[])), name_taken("a"));
}

#[test]
fn a_scene_of_another_node_is_not_given_away() {
    let mut world = World::new();
    world.ask("a", &[(1, "forest")]);
    let refusal = JoinRefusal::SceneTaken { scene: SceneId(1), node: name("a") };
    assert_eq!(answer(&world.ask("b", &[(1, "desert")])), JoinReply::Refused(refusal));
    assert_eq!(world.manager.view().member_named("b"), None, "a refused node leaves nothing behind");
}

#[test]
fn a_scene_name_belongs_to_one_scene() {
    let mut world = World::new();
    world.ask("a", &[(1, "forest")]);
    let refusal = JoinRefusal::SceneNameTaken { name: name("forest"), scene: SceneId(1) };
    assert_eq!(answer(&world.ask("b", &[(2, "forest")])), JoinReply::Refused(refusal));
}

#[test]
fn a_node_that_declares_a_scene_twice_is_refused() {
    let mut world = World::new();
    let twice = JoinRefusal::SceneTaken { scene: SceneId(1), node: name("a") };
    assert_eq!(answer(&world.ask("a", &[(1, "forest"), (1, "desert")])), JoinReply::Refused(twice));
    let name_twice = JoinRefusal::SceneNameTaken { name: name("forest"), scene: SceneId(1) };
    assert_eq!(answer(&world.ask("a", &[(1, "forest"), (2, "forest")])), JoinReply::Refused(name_twice));
}

#[test]
fn a_node_that_joins_again_with_fewer_scenes_loses_the_missing_ones() {
    let mut world = World::new();
    let a = welcomed(&world.ask("a", &[(1, "forest"), (2, "desert")]));
    world.give(Input::Left(a));
    world.ask("a", &[(2, "dunes")]);
    let scenes: Vec<(u16, &str)> =
        world.manager.view().scenes.values().map(|scene| (scene.id.number(), scene.name.as_str())).collect();
    assert_eq!(scenes, [(2, "dunes")]);
    assert_eq!(welcomed(&world.ask("b", &[(1, "forest")])), Session::new(2, 1), "the scene is free again");
}

#[test]
fn used_up_incarnations_refuse_a_join_and_nothing_wraps() {
    let mut world = World::new();
    let a = world.join("a");
    world.give(Input::Left(a));
    let member = world.manager.stored.view.members.get_mut(&a.node).expect("a member");
    member.session.incarnation = Incarnation(u32::MAX);
    let refusal = JoinRefusal::Exhausted { name: name("a") };
    assert_eq!(answer(&world.ask("a", &[])), JoinReply::Refused(refusal));
}

#[test]
fn a_session_whose_link_comes_up_hears_the_view_that_it_may_have_missed() {
    let mut world = World::new();
    world.ask_as_own("m");
    let a = world.join("a");
    world.restart();
    world.ask_as_own("m");
    let out = world.link(a, true);
    let view = world.manager.view().clone();
    assert_eq!(out, [Output::Tell { to: a, reply: ManagerReply::View(view) }]);
}

#[test]
fn a_node_that_has_seen_a_range_which_would_be_issued_next_is_refused_whatever_node_it_is() {
    let mut world = World::new();
    let a = world.join("a");
    assert_eq!(world.range(a, 1), Some(RangeId(1)));
    let [seen, next] = [RangeId(2), RangeId(2)];
    for own_node in [false, true] {
        let out = world.send_join_having_seen("b", Some(seen), own_node);
        assert_eq!(answer(&out), JoinReply::Refused(JoinRefusal::StoreIsOld { seen, next }));
        assert!(!out.iter().any(|output| kind(output) == "persist"), "nothing is changed: {out:?}");
    }
    welcomed(&world.send_join_having_seen("b", Some(RangeId(1)), false));
    assert_eq!(world.range(a, 2), Some(RangeId(2)));
}
