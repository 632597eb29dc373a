//! Scenes made at run time: who may have which, where, and when they end.

use slipgate_entity::SceneId;

use super::*;
use crate::view::{Clearing, ScenePlacement, SceneStage};

impl World {
    /// With node 1 that declares scene 1, and node 2 that declares none.
    fn with_two_nodes() -> (Self, Session, Session) {
        let mut world = Self::new();
        let a = welcomed(&world.ask("a", &[(1, "forest")]));
        let b = world.join("b");
        (world, a, b)
    }

    fn open(&mut self, by: Session, request: u64, scene: &str, node: Option<u16>) -> Vec<Output> {
        let node = node.map(NodeId);
        let request = ManagerRequest::OpenScene { session: by, request, name: name(scene), node, capacity: 50 };
        self.give(Input::Request { from: by, request })
    }

    fn close(&mut self, by: Session, scene: SceneId, clearing: Clearing) -> Vec<Output> {
        let request = ManagerRequest::CloseScene { session: by, request: 99, scene, clearing };
        self.give(Input::Request { from: by, request })
    }

    fn tells(&mut self, session: Session, scene: SceneId, news: SceneNews) -> Vec<Output> {
        self.give(Input::Request { from: session, request: ManagerRequest::SceneIs { session, scene, news } })
    }

    /// Makes a scene on a node, and opens it.
    fn made(&mut self, by: Session, request: u64, scene: &str, node: Session) -> SceneId {
        let id = scene_of(&self.open(by, request, scene, Some(node.node.0))).expect("it is made");
        self.tells(node, id, SceneNews::Opened);
        id
    }

    fn scene(&self, scene: SceneId) -> Option<&ScenePlacement> {
        self.manager.view().scenes.get(&scene)
    }
}

fn scene_of(out: &[Output]) -> Result<SceneId, SceneRefusal> {
    let mut results = out.iter().filter_map(|output| {
        let Output::Tell { reply: ManagerReply::Scene { result, .. }, .. } = output else { return None };
        Some(result.clone())
    });
    results.next().expect("an answer")
}

fn kinds(out: &[Output]) -> Vec<&'static str> {
    out.iter().map(kind).collect()
}

const FIRST: SceneId = SceneId(0x1_8000);

#[test]
fn a_scene_is_on_disk_and_told_before_it_is_answered_and_nobody_is_sent_there_before_it_is_open() {
    let (mut world, a, b) = World::with_two_nodes();
    let out = world.open(a, 1, "dungeon", Some(b.node.0));
    assert_eq!(kinds(&out), ["persist", "tell all", "tell", "event"]);
    assert_eq!(scene_of(&out), Ok(FIRST));
    assert_eq!((FIRST.number(), FIRST.generation()), (32_768, 1));
    assert_eq!(world.scene(FIRST).map(|scene| (scene.stage, scene.node)), Some((SceneStage::Opening, b.node)));
    assert_eq!(world.manager.view().own_of(FIRST), None);
    assert_eq!(world.manager.view().host_of(FIRST).map(|own| own.session), Some(b));

    assert_eq!(kinds(&world.tells(b, FIRST, SceneNews::Opened)), ["persist", "tell all", "event"]);
    assert_eq!(world.manager.view().own_of(FIRST).map(|own| own.session), Some(b));
    assert_eq!(kinds(&world.tells(b, FIRST, SceneNews::Opened)), ["tell"], "the view was lost on its way");
}

#[test]
fn a_repeated_request_makes_no_second_scene_even_after_a_restart_or_the_end_of_the_first() {
    let (mut world, a, b) = World::with_two_nodes();
    let made = world.made(a, 1, "dungeon", b);
    assert_eq!(kinds(&world.open(a, 1, "dungeon", None)), ["tell"]);
    world.restart();
    assert_eq!(scene_of(&world.open(a, 1, "dungeon", None)), Ok(made));
    let next = world.made(a, 2, "cave", b);
    world.close(a, next, Clearing::Move);
    world.tells(b, next, SceneNews::Cleared);
    assert_eq!(scene_of(&world.open(a, 2, "cave", None)), Ok(next));
    assert_eq!(world.manager.view().scene_named("cave"), None, "a late repeat");
}

#[test]
fn a_name_is_taken_only_once_and_the_refusal_says_who_has_it() {
    let (mut world, a, b) = World::with_two_nodes();
    let taken = |text, node| Err(SceneRefusal::NameTaken { name: name(text), node: name(node) });
    assert_eq!(scene_of(&world.open(b, 1, "forest", None)), taken("forest", "a"));
    world.open(a, 1, "dungeon", Some(b.node.0));
    assert_eq!(scene_of(&world.open(b, 2, "dungeon", None)), taken("dungeon", "b"));
    assert_eq!(scene_of(&world.open(a, 2, "dungeon", None)), taken("dungeon", "b"), "another request of the same desk");
}

#[test]
fn without_a_node_named_one_that_declares_scenes_and_has_the_fewest_gets_it() {
    let (mut world, a, _) = World::with_two_nodes();
    let c = welcomed(&world.ask("c", &[(2, "harbor")]));
    let place = |world: &mut World, request, scene| {
        let id = scene_of(&world.open(a, request, scene, None)).expect("it is made");
        world.scene(id).expect("it is in the view").node
    };
    assert_eq!(place(&mut world, 1, "s1"), a.node);
    assert_eq!(place(&mut world, 2, "s2"), c.node);
    assert_eq!(place(&mut world, 3, "s3"), a.node);
    world.give(Input::Request { from: c, request: ManagerRequest::Drain { session: c } });
    world.give(Input::Left(a));
    let b = world.manager.view().member_named("b").expect("a member").session;
    let only = scene_of(&world.open(b, 4, "s4", None)).expect("it is made");
    assert_eq!(world.scene(only).map(|scene| scene.node), Some(b.node), "better than none");
}

#[test]
fn a_node_that_is_not_there_or_about_to_stop_gets_none() {
    let (mut world, a, b) = World::with_two_nodes();
    let gone = |node: &str| Err(SceneRefusal::NodeGone { node: node.to_owned() });
    assert_eq!(scene_of(&world.open(a, 1, "dungeon", Some(7))), gone("node7"));
    world.give(Input::Request { from: b, request: ManagerRequest::Drain { session: b } });
    let drains = Err(SceneRefusal::NodeDrains { node: name("b") });
    assert_eq!(scene_of(&world.open(a, 2, "dungeon", Some(b.node.0))), drains);
    world.give(Input::Left(b));
    assert_eq!(scene_of(&world.open(a, 3, "dungeon", Some(b.node.0))), gone("b"));
    world.give(Input::Request { from: a, request: ManagerRequest::Drain { session: a } });
    assert_eq!(scene_of(&world.open(a, 4, "dungeon", None)), Err(SceneRefusal::NoNode));
}

#[test]
fn a_scene_for_nobody_is_refused() {
    let (mut world, a, _) = World::with_two_nodes();
    let request = ManagerRequest::OpenScene { session: a, request: 1, name: name("void"), node: None, capacity: 0 };
    assert_eq!(scene_of(&world.give(Input::Request { from: a, request })), Err(SceneRefusal::NoCapacity));
}

#[test]
fn a_closing_scene_takes_nobody_in_is_over_when_its_node_says_so_and_gone_when_that_has_forgotten_it() {
    let (mut world, a, b) = World::with_two_nodes();
    let scene = world.made(a, 1, "dungeon", b);
    let out = world.close(a, scene, Clearing::Move);
    assert_eq!(kinds(&out), ["persist", "tell all", "event", "tell"]);
    assert_eq!(world.manager.view().own_of(scene), None);
    assert_eq!(kinds(&world.close(b, scene, Clearing::Move)), ["tell"], "it is closing already");
    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Opened)), ["tell"], "late news");
    assert!(world.scene(scene).is_some());

    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Cleared)), ["persist", "tell all", "event"]);
    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Cleared)), ["tell"]);
    let over = world.scene(scene).expect("homes that are rebuilt may ask it");
    assert_eq!((over.stage, world.manager.view().own_of(scene)), (SceneStage::Over, None));
    assert_eq!(world.manager.view().host_of(scene).map(|own| own.session), Some(b));
    let view = world.manager.view();
    assert_eq!((view.scene_named("dungeon"), view.scene_numbered(scene.first())), (None, None));
    let again = scene_of(&world.open(a, 2, "dungeon", Some(b.node.0))).expect("its name is free");
    assert_ne!(again.number(), scene.number());
    assert_eq!(kinds(&world.close(a, scene, Clearing::Despawn)), ["tell"]);

    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Forgotten)), ["persist", "tell all"]);
    assert_eq!(world.scene(scene), None);
    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Forgotten)), ["tell"]);
    assert_eq!(scene_of(&world.close(a, scene, Clearing::Move)), Ok(scene), "what is wished for has come true");
}

#[test]
fn whoever_was_to_be_moved_can_still_be_despawned_but_not_the_other_way_round() {
    let (mut world, a, b) = World::with_two_nodes();
    let scene = world.made(a, 1, "dungeon", b);
    world.close(a, scene, Clearing::Move);
    world.close(a, scene, Clearing::Despawn);
    assert_eq!(world.scene(scene).map(|scene| scene.stage), Some(SceneStage::Closing(Clearing::Despawn)));
    assert_eq!(kinds(&world.close(a, scene, Clearing::Move)), ["tell"]);
    assert_eq!(world.scene(scene).map(|scene| scene.stage), Some(SceneStage::Closing(Clearing::Despawn)));
}

#[test]
fn a_declared_scene_or_one_that_never_was_is_not_closed() {
    let (mut world, a, _) = World::with_two_nodes();
    let declared = SceneRefusal::Declared { name: name("forest"), node: name("a") };
    assert_eq!(scene_of(&world.close(a, SceneId(1), Clearing::Despawn)), Err(declared));
    for scene in [SceneId(9), FIRST, SceneId::of(32_768, 0)] {
        assert_eq!(scene_of(&world.close(a, scene, Clearing::Move)), Err(SceneRefusal::NoScene { scene }));
    }
}

#[test]
fn only_the_node_that_has_a_scene_says_how_far_it_is_and_none_of_a_declared_one() {
    let (mut world, a, b) = World::with_two_nodes();
    let scene = world.made(a, 1, "dungeon", b);
    assert_eq!(kinds(&world.tells(a, scene, SceneNews::Forgotten)), ["tell"]);
    assert_eq!(kinds(&world.tells(a, SceneId(1), SceneNews::Forgotten)), ["tell"]);
    assert_eq!(kinds(&world.tells(b, scene, SceneNews::Cleared)), ["tell"], "nobody has closed it");
    assert!(world.scene(scene).is_some() && world.scene(SceneId(1)).is_some());
}

#[test]
fn a_scene_that_its_node_cannot_open_is_gone_and_its_name_is_free() {
    let (mut world, a, b) = World::with_two_nodes();
    let scene = scene_of(&world.open(a, 1, "dungeon", Some(b.node.0))).expect("it is made");
    let out = world.tells(b, scene, SceneNews::NotOpened);
    let Some(Output::Event(ManagerEvent::SceneOver { why, .. })) = out.last() else { panic!("{out:?}") };
    assert_eq!((*why, world.scene(scene)), (SceneEnd::NotOpened, None));
    assert!(scene_of(&world.open(a, 2, "dungeon", None)).is_ok());
}

#[test]
fn scenes_made_at_run_time_end_with_the_life_of_their_node_and_declared_ones_do_not() {
    let (mut world, a, b) = World::with_two_nodes();
    let (on_a, on_b) = (world.made(b, 1, "dungeon", a), world.made(b, 2, "cave", b));
    let out = world.give(Input::Left(a));
    assert_eq!(kinds(&out), ["event", "persist", "tell all", "event", "event"]);
    assert_eq!((world.scene(on_a), world.scene(on_b).is_some()), (None, true));
    assert!(world.scene(SceneId(1)).is_some(), "its node may come again");
    world.close(b, on_b, Clearing::Move);
    world.tells(b, on_b, SceneNews::Cleared);
    world.link(b, true);
    let out = world.give(Input::Left(b));
    assert_eq!((kinds(&out), world.scene(on_b)), (vec!["event", "persist", "tell all", "event"], None));
    world.ask("a", &[(1, "forest")]);
    assert_eq!(world.scene(on_a), None);
}

#[test]
fn a_life_that_replaces_another_one_does_not_inherit_its_scenes() {
    let mut world = World::new();
    let a = welcomed(&world.ask("a", &[(1, "forest")]));
    world.link(a, true);
    let scene = world.made(a, 1, "dungeon", a);
    world.link(a, false);
    world.ask("a", &[(1, "forest")]);
    world.wait_ms(1_000);
    let out = world.give(Input::Tick);
    let again = welcomed(&out);
    assert_eq!(world.scene(scene), None);
    let gone = |output: &Output| matches!(output, Output::Event(ManagerEvent::SceneOver { .. }));
    assert_eq!(out.iter().filter(|output| gone(output)).count(), 1);

    let next = world.made(again, 1, "dungeon", again);
    world.wait_ms(9_000);
    world.renew(again);
    world.wait_ms(3_000);
    world.give(Input::Tick);
    assert!(world.manager.view().is_dead(a) && world.scene(next).is_some(), "the verdict is on the life before");
}

#[test]
fn a_number_comes_again_only_after_all_others_and_under_a_generation_that_it_never_had() {
    let (mut world, a, b) = World::with_two_nodes();
    let cycle = |world: &mut World, request| {
        let scene = world.made(a, request, "dungeon", b);
        world.close(a, scene, Clearing::Move);
        world.tells(b, scene, SceneNews::Cleared);
        world.tells(b, scene, SceneNews::Forgotten);
        (scene.number(), scene.generation())
    };
    assert_eq!(cycle(&mut world, 1), (32_768, 1));
    assert_eq!(cycle(&mut world, 2), (32_769, 1));
    for number in 32_770..=u16::MAX {
        world.disk.scene_numbers.insert(number, if number == 40_000 { 1 } else { 7 });
    }
    world.restart();
    assert_eq!(cycle(&mut world, 3), (32_768, 2));
    let held = world.made(a, 4, "cave", b);
    assert_eq!((held.number(), held.generation()), (32_769, 2));
    assert_eq!(cycle(&mut world, 5), (40_000, 2));
    assert_eq!(cycle(&mut world, 6), (32_768, 3));
}

#[test]
fn a_number_whose_generations_are_used_up_is_given_no_more() {
    let (mut world, a, _) = World::with_two_nodes();
    world.disk.scene_numbers = (32_768..=u16::MAX).map(|number| (number, u16::MAX)).collect();
    world.restart();
    assert_eq!(scene_of(&world.open(a, 1, "dungeon", None)), Err(SceneRefusal::TooMany { scenes: 1 }));
}

#[test]
fn a_node_cannot_declare_a_scene_under_a_number_that_is_kept_for_those_made_at_run_time() {
    let mut world = World::new();
    let refusal = JoinRefusal::SceneReserved { scene: SceneId(32_768) };
    assert_eq!(answer(&world.ask("a", &[(32_768, "forest")])), JoinReply::Refused(refusal));
}
