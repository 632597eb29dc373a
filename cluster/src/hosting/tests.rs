//! The scenes of a node alone: what the view asks for, and how they are cleared.

use super::*;
use crate::bounds::SCENE_NUMBERS_MADE;
use crate::view::{Made, Member};
use crate::{NodeName, Own};

const DUNGEON: SceneId = SceneId(0x1_8000);

struct World {
    hosting: Hosting,
    now: Now,
    version: u64,
}

impl World {
    fn new() -> Self {
        Self { hosting: Hosting::new(me()), now: Now(0), version: 0 }
    }

    fn give(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.hosting.handle(input, self.now, &mut out);
        out
    }

    /// The next view, with the dungeon at this stage; none: without it.
    fn view(&mut self, stage: Option<SceneStage>) -> Vec<Output> {
        self.version += 1;
        self.give(Input::View(view(self.version, stage)))
    }

    /// With the dungeon open, as the view says.
    fn open() -> Self {
        let mut world = Self::new();
        world.view(Some(SceneStage::Opening));
        assert_eq!(world.view(Some(SceneStage::Open)), []);
        world
    }

    /// With the dungeon closing, as the view says; the attempt that begins with it is under way.
    fn closing(clearing: Clearing) -> Self {
        let mut world = Self::open();
        world.view(Some(SceneStage::Closing(clearing)));
        if clearing == Clearing::Move {
            assert_eq!(world.give(room()), [evacuates(&world)]);
        }
        world
    }

    /// The dungeon comes to its end, and its row goes.
    fn end(&mut self, highest_generation: u32) {
        self.view(Some(SceneStage::Closing(Clearing::Move)));
        self.give(cleared(highest_generation));
        self.view(Some(SceneStage::Over));
        self.give(Input::Forgotten(DUNGEON));
        self.view(None);
    }

    fn pass_ms(&mut self, ms: u64) -> Vec<Output> {
        self.now = Now(self.now.0 + ms * 1000);
        self.give(Input::Tick)
    }
}

fn me() -> Session {
    Session::new(2, 5)
}

fn placement(stage: SceneStage) -> ScenePlacement {
    let made = Some(Made { by: Session::new(1, 1), request: 1 });
    let name = NodeName::new("dungeon").expect("a name");
    ScenePlacement { stage, made, ..ScenePlacement::declared(DUNGEON, name, me().node, 50) }
}

fn view(version: u64, stage: Option<SceneStage>) -> Arc<View> {
    let name = NodeName::new("n2").expect("a name");
    let member = Member { session: me(), name: name.clone(), address: String::new(), admin: String::new() };
    let declared = ScenePlacement::declared(SceneId(1), name, me().node, 9);
    let scenes = stage.map(placement).into_iter().chain([declared]).map(|scene| (scene.id, scene)).collect();
    Arc::new(View { version, members: [(me().node, member)].into(), scenes, ..View::default() })
}

fn opens(first_generation: u32) -> Output {
    Output::Open { placement: placement(SceneStage::Opening), first_generation }
}

fn cleared(highest_generation: u32) -> Input {
    Input::Cleared { scene: DUNGEON, highest_generation }
}

/// One scene takes newcomers.
fn targets() -> Vec<Target> {
    vec![Target { own: Own::new(Session::new(3, 1), SceneId(3)), capacity: 9, room: Some(4) }]
}

fn room() -> Input {
    Input::Room(targets())
}

fn evacuates(world: &World) -> Output {
    Output::Evacuate { scene: DUNGEON, targets: targets(), deadline: world.now + ATTEMPT }
}

fn despawns(world: &World) -> Output {
    Output::Despawn { scene: DUNGEON, deadline: world.now + ATTEMPT }
}

fn tells(news: SceneNews) -> Output {
    Output::Ask(ManagerRequest::SceneIs { session: me(), scene: DUNGEON, news })
}

#[test]
fn a_scene_is_opened_once_and_the_manager_is_told_until_the_view_says_so() {
    let mut world = World::new();
    assert_eq!(world.view(Some(SceneStage::Opening)), [opens(1), tells(SceneNews::Opened)]);
    assert_eq!(world.view(Some(SceneStage::Opening)), []);
    assert_eq!(world.pass_ms(499), []);
    assert_eq!(world.pass_ms(1), [tells(SceneNews::Opened)]);
    assert_eq!(world.view(Some(SceneStage::Open)), []);
    assert_eq!(world.pass_ms(60_000), []);
}

#[test]
fn a_scene_that_closes_is_cleared_then_over_then_forgotten_and_its_actor_ended() {
    let mut world = World::open();
    let closing = Some(SceneStage::Closing(Clearing::Move));
    assert_eq!(world.view(closing), [Output::Close(DUNGEON), Output::CountRoom]);
    assert_eq!(world.view(closing), []);
    assert_eq!(world.give(room()), [evacuates(&world)]);
    assert_eq!(world.give(cleared(1)), [Output::Over(DUNGEON), tells(SceneNews::Cleared)]);
    assert_eq!(world.pass_ms(500), [tells(SceneNews::Cleared)]);
    assert_eq!(world.view(Some(SceneStage::Over)), []);
    assert_eq!((world.pass_ms(500), world.hosting.len()), (vec![], 1));
    let out = world.give(Input::Forgotten(DUNGEON));
    assert_eq!(out, [Output::End(DUNGEON), tells(SceneNews::Forgotten)]);
    assert_eq!(world.pass_ms(500), [tells(SceneNews::Forgotten)]);
    assert_eq!(world.view(None), []);
    assert!(world.hosting.scenes.is_empty());
}

#[test]
fn a_scene_may_be_cleared_another_way_while_it_closes() {
    let mut world = World::closing(Clearing::Move);
    let despawns = despawns(&world);
    assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), [Output::Close(DUNGEON), despawns]);
    assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), []);
    assert_eq!(world.give(room()), [], "nobody is moved any more");
    world.give(cleared(1));
    assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), []);
}

#[test]
fn a_scene_that_was_closed_before_this_node_heard_of_it_is_not_opened() {
    for stage in [SceneStage::Closing(Clearing::Move), SceneStage::Open, SceneStage::Over] {
        let mut world = World::new();
        assert_eq!(world.view(Some(stage)), [tells(SceneNews::Forgotten)]);
        assert!(world.hosting.is_empty());
        world.view(None);
        assert!(world.hosting.scenes.is_empty());
    }
}

#[test]
fn a_scene_that_is_forgotten_is_not_opened_again_by_a_view_that_is_behind() {
    let mut world = World::open();
    world.view(Some(SceneStage::Closing(Clearing::Move)));
    world.give(cleared(1));
    world.give(Input::Forgotten(DUNGEON));
    assert_eq!(world.give(Input::View(view(1, Some(SceneStage::Opening)))), []);
    assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Move))), []);
    assert_eq!(world.pass_ms(500), [tells(SceneNews::Forgotten)]);
}

#[test]
fn a_scene_whose_number_is_used_up_here_is_not_opened_which_is_told_until_its_row_is_gone() {
    let mut world = World::new();
    world.view(Some(SceneStage::Opening));
    world.end(u32::MAX);
    let cannot = Output::CannotOpen(placement(SceneStage::Opening));
    assert_eq!(world.view(Some(SceneStage::Opening)), [cannot, tells(SceneNews::NotOpened)]);
    assert_eq!((world.view(Some(SceneStage::Closing(Clearing::Move))), world.hosting.len()), (vec![], 0));
    assert_eq!(world.pass_ms(500), [tells(SceneNews::NotOpened)]);
    world.view(None);
    assert!(world.hosting.scenes.is_empty());
}

#[test]
fn beyond_the_bound_no_scene_is_opened() {
    let mut world = World::new();
    let of_number = |number: u16| {
        let id = SceneId::of(number, 1);
        (id, ScenePlacement { id, ..placement(SceneStage::Opening) })
    };
    let first = SCENE_NUMBERS_MADE;
    let last = first + u16::try_from(SCENES).expect("a number");
    let scenes = (first..=last).map(of_number).collect();
    world.give(Input::View(Arc::new(View { scenes, ..View::clone(&view(1, None)) })));
    assert_eq!(world.hosting.len(), SCENES);
    let not_opened = world.hosting.scenes.iter().filter(|(_, hosted)| hosted.state == State::NotOpened);
    assert_eq!(not_opened.map(|(scene, _)| scene.number()).collect::<Vec<_>>(), [last]);
}

#[test]
fn a_later_scene_of_a_number_begins_above_the_handles_of_the_earlier_one() {
    let mut world = World::new();
    world.view(Some(SceneStage::Opening));
    world.end(7);
    assert_eq!(world.view(Some(SceneStage::Opening))[0], opens(8));
    world.end(7);
    assert_eq!(world.view(Some(SceneStage::Opening))[0], opens(8), "nobody was in the second one");
}

#[test]
fn while_everybody_moves_out_the_room_of_others_is_counted_again_and_again() {
    let mut world = World::closing(Clearing::Move);
    world.pass_ms(0);
    assert_eq!(world.pass_ms(1_999), []);
    assert_eq!(world.pass_ms(1), [Output::CountRoom]);
    assert_eq!(world.give(room()), [Output::Retarget { scene: DUNGEON, targets: targets() }]);
    world.give(Input::AttemptEnded(DUNGEON));
    assert_eq!(world.pass_ms(2_000), [], "nobody looks for room any more");
    assert_eq!(world.give(room()), []);
}

#[test]
fn room_that_was_counted_and_not_heard_of_is_counted_again() {
    let mut world = World::open();
    world.view(Some(SceneStage::Closing(Clearing::Move)));
    assert_eq!(world.pass_ms(2_000), [Output::CountRoom]);
    assert_eq!(world.give(room()), [evacuates(&world)]);
}

#[test]
fn an_attempt_to_move_everybody_out_is_made_again_when_somebody_asks_and_not_while_one_is_under_way() {
    let mut world = World::closing(Clearing::Move);
    assert_eq!(world.give(Input::Awaited(DUNGEON)), []);
    assert_eq!(world.give(Input::AttemptEnded(DUNGEON)), [Output::Wake(DUNGEON)]);
    assert!(!world.pass_ms(60_000).contains(&Output::CountRoom), "nobody has asked");
    assert_eq!(world.give(Input::Awaited(DUNGEON)), [Output::CountRoom]);
    assert_eq!(world.give(Input::Awaited(DUNGEON)), [], "it is being counted");
    assert_eq!(world.give(Input::AttemptEnded(DUNGEON)), [], "the one before is over already");
    assert_eq!(world.give(room()), [evacuates(&world)]);
}

#[test]
fn a_despawn_that_did_not_reach_everybody_is_tried_again_of_itself() {
    let mut world = World::closing(Clearing::Despawn);
    assert_eq!(world.give(Input::AttemptEnded(DUNGEON)), [Output::Wake(DUNGEON)]);
    assert_eq!(world.pass_ms(999), []);
    let out = world.pass_ms(1);
    assert_eq!(out, [despawns(&world)]);
    assert_eq!(world.pass_ms(60_000), []);
    world.give(Input::AttemptEnded(DUNGEON));
    let again = despawns(&world);
    assert_eq!(world.give(Input::Awaited(DUNGEON)), [again], "sooner, if somebody asks");
}

#[test]
fn whoever_waits_for_a_scene_that_is_open_or_gone_begins_nothing() {
    let mut world = World::open();
    assert_eq!(world.give(Input::Awaited(DUNGEON)), []);
    assert_eq!(world.give(Input::Awaited(SceneId(1))), []);
    world.end(1);
    assert_eq!(world.give(Input::Awaited(DUNGEON)), []);
}

#[test]
fn scenes_of_others_declared_ones_and_those_of_another_life_are_left_alone() {
    let mut world = World::new();
    assert_eq!(world.view(None), []);
    let mut other = View::clone(&view(2, Some(SceneStage::Opening)));
    other.members.get_mut(&me().node).expect("a member").session = Session::new(2, 6);
    assert_eq!(world.give(Input::View(Arc::new(other))), []);
    let mut elsewhere = View::clone(&view(3, Some(SceneStage::Opening)));
    elsewhere.scenes.get_mut(&DUNGEON).expect("a scene").node = Session::new(3, 1).node;
    assert_eq!(world.give(Input::View(Arc::new(elsewhere))), []);
}

#[test]
fn a_scene_that_the_view_does_not_know_any_more_goes_on_until_it_is_closed() {
    let mut world = World::open();
    assert_eq!(world.view(None), []);
    assert_eq!(world.hosting.len(), 1);
}

#[test]
fn no_scene_is_opened_while_the_node_drains_and_the_manager_is_told() {
    let mut world = World::new();
    world.give(Input::Drain);
    assert_eq!(world.view(Some(SceneStage::Opening)), [tells(SceneNews::NotOpened)]);
    assert_eq!(world.pass_ms(500), [tells(SceneNews::NotOpened)]);
    world.give(Input::Resume);
    assert_eq!(world.view(Some(SceneStage::Opening)), [], "whoever asked for it has been told");
    world.view(None);
    assert_eq!(world.view(Some(SceneStage::Opening)).first(), Some(&opens(1)));
}

#[test]
fn a_scene_that_is_open_goes_its_way_while_the_node_drains() {
    let mut world = World::open();
    assert_eq!(world.give(Input::Drain), []);
    assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Move))).first(), Some(&Output::Close(DUNGEON)));
}
