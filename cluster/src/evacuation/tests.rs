//! The policy of an evacuation, rule by rule.

use std::time::Duration;

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::moves::{NoCompany, Step};
use crate::schema::Versions;
use crate::{Epoch, Session};

struct World {
    evacuation: Evacuation,
    now: Now,
}

impl World {
    fn new(under_way_max: usize) -> Self {
        let settings = Settings {
            under_way_max,
            deadline: Now(60_000_000),
            wait_first: Duration::from_millis(100),
            wait_max: Duration::from_secs(2),
        };
        Self { evacuation: Evacuation::new(settings), now: Now(0) }
    }

    /// With targets 1 and 2 of ten places each, and entities 1 to `count`.
    fn with(count: u32, under_way_max: usize) -> (Self, Vec<(u32, u16)>) {
        let mut world = Self::new(under_way_max);
        world.give(Input::Targets(vec![target(1, 10, Some(10)), target(2, 10, Some(10))]));
        let mut moves = Vec::new();
        for counter in 1..=count {
            moves.extend(moves_in(&world.see(counter, "walker")));
        }
        moves.extend(moves_in(&world.give(Input::Settled)));
        (world, moves)
    }

    fn give(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.evacuation.handle(input, self.now, &mut out);
        out
    }

    fn see(&mut self, counter: u32, type_name: &str) -> Vec<Output> {
        self.give(Input::Seen { entity: entity(counter), type_name: TypeName(type_name.into()) })
    }

    fn ended(&mut self, counter: u32, outcome: Outcome) -> Vec<Output> {
        self.give(Input::MoveEnded { entity: entity(counter), ended: Ok(outcome) })
    }

    fn pass_ms(&mut self, ms: u64) -> Vec<Output> {
        self.now = Now(self.now.0 + ms * 1000);
        self.give(Input::Tick)
    }
}

fn own(scene: u16) -> Own {
    Own::new(Session::new(1, 1), SceneId::from(scene))
}

fn target(scene: u16, capacity: u32, room: Option<u32>) -> Target {
    Target { own: own(scene), capacity, room }
}

fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

fn moved() -> Outcome {
    Outcome::Moved { epoch: Epoch::FIRST.next() }
}

fn refused(refusal: Refusal) -> Outcome {
    Outcome::Refused(refusal)
}

fn full() -> Refusal {
    Refusal::Full { capacity: 10 }
}

fn differs(part: &str) -> Refusal {
    Refusal::SchemaDiffers { part: TypeName(part.into()), ours: 1, theirs: Versions { oldest: 2, newest: 3 } }
}

fn no_type() -> Refusal {
    Refusal::NoType { type_name: TypeName("walker".into()) }
}

/// Moves ordered: which entity, to which scene.
fn moves_in(out: &[Output]) -> Vec<(u32, u16)> {
    let order = |output: &Output| {
        let Output::Move { entity, to } = output else { return None };
        Some((entity.counter(), to.scene.number()))
    };
    out.iter().filter_map(order).collect()
}

fn done(out: &[Output]) -> Option<Done> {
    out.iter().find_map(|output| {
        let Output::Done(done) = output else { return None };
        Some(done.clone())
    })
}

fn kept(out: &[Output]) -> Vec<(u32, Kept)> {
    let done = done(out).expect("the end");
    done.kept.into_iter().map(|(entity, why)| (entity.counter(), why)).collect()
}

#[test]
fn everybody_goes_in_order_to_the_emptiest_target_and_targets_of_one_size_fill_evenly() {
    let (mut world, moves) = World::with(4, 64);
    assert_eq!(moves, [(1, 1), (2, 2), (3, 1), (4, 2)]);
    for counter in 1..=3 {
        assert_eq!(world.ended(counter, moved()), []);
    }
    assert_eq!(world.ended(4, moved()), [Output::Done(Done { moved: 4, gone: 0, kept: vec![] })]);
    assert_eq!(world.give(Input::Tick), [], "the end is told once");
}

#[test]
fn the_share_of_free_room_counts_and_not_the_number_of_places() {
    let mut world = World::new(64);
    world.give(Input::Targets(vec![target(1, 1000, Some(300)), target(2, 10, Some(9)), target(3, 10, None)]));
    assert_eq!(moves_in(&world.see(1, "walker")), [(1, 2)]);
    world.give(Input::Targets(vec![target(1, 10, Some(0)), target(2, 10, None)]));
    assert_eq!(moves_in(&world.see(2, "walker")), [(2, 2)], "unknown is better than none");
    world.give(Input::Targets(vec![target(1, 10, Some(0))]));
    assert_eq!(moves_in(&world.see(3, "walker")), [(3, 1)], "only the target itself says that it is full");
}

#[test]
fn no_more_moves_are_under_way_than_allowed() {
    let (mut world, moves) = World::with(5, 2);
    assert_eq!(moves, [(1, 1), (2, 2)]);
    assert_eq!(moves_in(&world.ended(2, moved())), [(3, 1)]);
    assert_eq!(world.evacuation.progress(), Progress { moved: 1, gone: 0, under_way: 2, waiting: 2, kept: 0 });
}

#[test]
fn a_full_draining_or_missing_target_is_struck_for_everybody() {
    let no_scene = Refusal::NoScene { scene: SceneId(1) };
    for refusal in [full(), Refusal::Draining, Refusal::Closing, no_scene, Refusal::AlreadyThere] {
        let (mut world, _) = World::with(2, 1);
        assert_eq!(moves_in(&world.ended(1, refused(refusal.clone()))), [(1, 2)]);
        assert_eq!(moves_in(&world.ended(1, moved())), [(2, 2)]);
        assert_eq!(kept(&world.ended(2, refused(refusal.clone()))), [(2, Kept::NoPlace(Some(refusal)))]);
    }
}

#[test]
fn a_target_that_does_not_know_a_type_is_struck_for_that_type_alone() {
    let mut world = World::new(1);
    world.give(Input::Targets(vec![target(1, 10, Some(10)), target(2, 10, Some(1))]));
    world.see(1, "walker");
    world.see(2, "walker");
    world.see(3, "dragon");
    assert_eq!(moves_in(&world.ended(1, refused(no_type()))), [(1, 2)]);
    let differs = differs("walker");
    assert_eq!(moves_in(&world.ended(1, refused(differs.clone()))), [(3, 1)], "walkers have nowhere to go");
    world.give(Input::Settled);
    let out = world.ended(3, moved());
    assert_eq!(kept(&out), [(1, Kept::NoPlace(Some(differs))), (2, Kept::NoPlace(None))]);
}

#[test]
fn a_target_that_cannot_read_a_component_is_struck_for_that_entity_alone() {
    for refusal in [Refusal::NoComponent { component: TypeName("bag".into()) }, differs("bag")] {
        let (mut world, moves) = World::with(2, 1);
        assert_eq!(moves, [(1, 1)]);
        assert_eq!(moves_in(&world.ended(1, refused(refusal.clone()))), [(1, 2)]);
        assert_eq!(moves_in(&world.ended(1, refused(refusal.clone()))), [(2, 1)], "it may have no bag");
        assert_eq!(kept(&world.ended(2, moved())), [(1, Kept::NoPlace(Some(refusal)))]);
    }
}

#[test]
fn what_cannot_go_anywhere_is_kept_with_its_reason_and_the_others_go_on() {
    let veto = Refusal::Vetoed { reason: "in combat".to_owned() };
    for why in [Refusal::TooLarge { bytes: 9, bytes_max: 8 }, Refusal::NotMovable, veto] {
        let (mut world, _) = World::with(2, 1);
        assert_eq!(moves_in(&world.ended(1, refused(why.clone()))), [(2, 1)]);
        let out = world.ended(2, moved());
        assert_eq!(kept(&out), [(1, Kept::Refused(why))]);
        assert_eq!(done(&out).map(|done| done.moved), Some(1));
    }
}

#[test]
fn whoever_has_a_companion_that_never_moves_is_kept_and_else_tried_again() {
    let without = |why| Refusal::Companion { who: entity(9), why: Box::new(why) };
    let veto = without(Outcome::Refused(Refusal::Vetoed { reason: "in combat".to_owned() }));
    let (mut world, _) = World::with(1, 1);
    assert_eq!(kept(&world.ended(1, refused(veto.clone()))), [(1, Kept::Refused(veto.clone()))]);
    assert_eq!(veto.to_string(), "1.9 was to come along and does not (it may not leave: in combat)");

    let not_here = MoveError::NoCompany { who: entity(9), why: NoCompany::NotHere };
    let too_many = MoveError::TooManyCompanions { companions: 17 };
    for ended in
        [Ok(refused(without(Outcome::NodeLost))), Ok(refused(without(refused(full())))), Err(not_here), Err(too_many)]
    {
        let (mut world, _) = World::with(1, 1);
        assert_eq!(world.give(Input::MoveEnded { entity: entity(1), ended }), []);
        assert_eq!(moves_in(&world.pass_ms(100)), [(1, 1)]);
    }
}

#[test]
fn a_timeout_is_tried_again_after_a_wait_that_doubles_and_elsewhere_first() {
    let (mut world, _) = World::with(1, 1);
    let late = || Outcome::Timeout { step: Step::Reserve };
    assert_eq!(world.ended(1, late()), []);
    assert_eq!(world.pass_ms(99), []);
    assert_eq!(moves_in(&world.pass_ms(1)), [(1, 1)]);
    world.ended(1, late());
    assert_eq!(world.pass_ms(199), []);
    assert_eq!(moves_in(&world.pass_ms(1)), [(1, 1)]);

    let (mut world, _) = World::with(2, 1);
    assert_eq!(moves_in(&world.ended(1, Outcome::NodeLost)), [(2, 2)], "the target that is lost rests");
}

#[test]
fn if_every_target_rests_everybody_waits_for_the_first_that_wakes() {
    let mut world = World::new(1);
    world.give(Input::Targets(vec![target(1, 10, Some(10))]));
    world.see(1, "walker");
    world.see(2, "walker");
    assert_eq!(world.ended(1, Outcome::NodeLost), []);
    assert_eq!(world.pass_ms(99), []);
    assert_eq!(moves_in(&world.pass_ms(1)), [(1, 1)]);
}

#[test]
fn busy_undecided_and_migrating_are_tried_again() {
    let (mut world, _) = World::with(1, 1);
    for wait in [100, 200, 400] {
        assert_eq!(world.ended(1, refused(Refusal::Busy { under_way: 9 })), []);
        assert_eq!(moves_in(&world.pass_ms(wait)).len(), 1);
    }
    world.ended(1, Outcome::Undecided);
    assert_eq!(moves_in(&world.pass_ms(800)).len(), 1);
    let migrating = Err(MoveError::Migrating { entity: entity(1) });
    assert_eq!(world.give(Input::MoveEnded { entity: entity(1), ended: migrating }), []);
    assert_eq!(moves_in(&world.pass_ms(2_000)).len(), 1, "no wait is above the longest");
}

#[test]
fn whoever_is_gone_by_other_means_is_counted_and_not_kept() {
    let (mut world, _) = World::with(3, 1);
    assert_eq!(world.give(Input::Gone(entity(2))), []);
    assert_eq!(world.give(Input::Gone(entity(2))), []);
    assert_eq!(world.give(Input::Gone(entity(1))), [], "of its own move the end tells more");
    let not_owner = Err(MoveError::NotOwner { entity: entity(1) });
    assert_eq!(moves_in(&world.give(Input::MoveEnded { entity: entity(1), ended: not_owner })).len(), 1);
    let out = world.ended(3, moved());
    assert_eq!(done(&out), Some(Done { moved: 1, gone: 2, kept: vec![] }));
}

#[test]
fn it_is_not_over_before_nobody_can_come_any_more() {
    let mut world = World::new(1);
    world.give(Input::Targets(vec![target(1, 10, None)]));
    assert_eq!(world.give(Input::Tick), []);
    world.see(1, "walker");
    assert_eq!(world.ended(1, moved()), []);
    assert_eq!(done(&world.give(Input::Settled)).map(|done| done.moved), Some(1));
}

#[test]
fn a_new_target_gives_those_without_a_place_another_chance() {
    let mut world = World::new(1);
    assert_eq!(world.see(1, "walker"), []);
    assert_eq!(world.evacuation.progress().kept, 1);
    assert_eq!(moves_in(&world.give(Input::Targets(vec![target(1, 10, Some(5))]))), [(1, 1)]);
    world.ended(1, refused(full()));
    assert_eq!(world.give(Input::Targets(vec![target(1, 10, Some(9))])), [], "a struck target stays struck");
    assert_eq!(moves_in(&world.give(Input::Targets(vec![target(2, 10, None)]))), [(1, 2)]);
}

#[test]
fn at_the_deadline_whatever_is_left_is_kept() {
    let (mut world, _) = World::with(3, 2);
    world.ended(2, Outcome::NodeLost);
    let out = world.pass_ms(60_000);
    let late = |last| Kept::Late(last);
    assert_eq!(kept(&out), [(1, late(None)), (2, late(Some(Outcome::NodeLost))), (3, late(None))]);
    assert_eq!(world.ended(1, moved()), [], "what comes later is not counted");
}

#[test]
fn after_a_cancel_nothing_begins_and_what_is_under_way_ends() {
    let (mut world, _) = World::with(3, 2);
    assert_eq!(world.give(Input::Cancel), []);
    assert_eq!(world.ended(1, moved()), []);
    assert_eq!(world.see(4, "walker"), []);
    let out = world.ended(2, Outcome::NodeLost);
    assert_eq!(kept(&out), [2, 3, 4].map(|counter| (counter, Kept::Cancelled)));
}

#[test]
fn a_cancel_because_the_time_is_over_leaves_those_who_were_late() {
    let (mut world, _) = World::with(2, 1);
    world.now = Now(60_000_000);
    assert_eq!(kept(&world.give(Input::Cancel)), [1, 2].map(|counter| (counter, Kept::Late(None))));
}

/// Despawns ordered.
fn despawns_in(out: &[Output]) -> Vec<u32> {
    let order = |output: &Output| {
        let Output::Despawn(entity) = output else { return None };
        Some(entity.counter())
    };
    out.iter().filter_map(order).collect()
}

impl World {
    fn despawned(&mut self, counter: u32, ended: Result<(), NotDespawned>) -> Vec<Output> {
        self.give(Input::DespawnEnded { entity: entity(counter), ended })
    }
}

#[test]
fn told_to_despawn_it_lets_moves_end_and_removes_whoever_is_left_a_few_at_a_time() {
    let (mut world, _) = World::with(4, 2);
    let large = Refusal::TooLarge { bytes: 9, bytes_max: 8 };
    assert_eq!(moves_in(&world.ended(1, refused(large))), [(3, 1)], "1 is kept");
    assert_eq!(world.give(Input::Despawn), []);
    assert_eq!(despawns_in(&world.ended(3, moved())), [1]);
    assert_eq!(despawns_in(&world.ended(2, Outcome::NodeLost)), [4]);
    assert_eq!(world.despawned(1, Ok(())), []);
    assert_eq!(despawns_in(&world.pass_ms(100)), [2]);
    let not_owner = Err(NotDespawned::Rejected(MoveError::NotOwner { entity: entity(4) }));
    assert_eq!(world.despawned(4, not_owner), []);
    let out = world.despawned(2, Ok(()));
    assert_eq!(done(&out), Some(Done { moved: 1, gone: 3, kept: vec![] }));
}

#[test]
fn whoever_is_on_the_move_is_despawned_when_that_has_ended() {
    let mut world = World::new(2);
    world.give(Input::Despawn);
    assert_eq!(despawns_in(&world.see(1, "walker")), [1]);
    let migrating = Err(NotDespawned::Rejected(MoveError::Migrating { entity: entity(1) }));
    assert_eq!(world.despawned(1, migrating), []);
    assert_eq!(despawns_in(&world.pass_ms(100)), [1]);
    assert_eq!(world.despawned(1, Err(NotDespawned::Undecided)), []);
    assert_eq!(despawns_in(&world.pass_ms(200)), [1], "it is tried again while its home does not answer");
    world.give(Input::Cancel);
    assert_eq!(despawns_in(&world.see(2, "walker")), [2], "nothing calls a despawn off");
    world.give(Input::Settled);
    world.despawned(2, Ok(()));
    assert_eq!(done(&world.despawned(1, Ok(()))).map(|done| done.gone), Some(2));
}

#[test]
fn a_cancel_is_taken_back_by_the_wish_to_despawn() {
    let (mut world, _) = World::with(2, 1);
    world.give(Input::Cancel);
    assert_eq!(despawns_in(&world.give(Input::Despawn)), [] as [u32; 0]);
    assert_eq!(despawns_in(&world.ended(1, moved())), [2]);
}

#[test]
fn a_scene_that_stops_keeps_whom_it_has() {
    let (mut world, _) = World::with(1, 1);
    assert_eq!(kept(&world.ended(1, Outcome::SceneStopped)), [(1, Kept::SceneStopped)]);
}

impl World {
    fn leaving(&mut self, counter: u32, to: Option<u16>) -> Vec<Output> {
        let type_name = TypeName("walker".into());
        self.give(Input::Leaving { entity: entity(counter), type_name, to: to.map(own) })
    }
}

#[test]
fn whoever_leaves_by_an_earlier_order_gets_no_other_and_is_counted_once() {
    let mut world = World::new(2);
    world.give(Input::Targets(vec![target(1, 10, Some(10))]));
    assert_eq!(world.leaving(1, Some(1)), []);
    assert_eq!(world.leaving(2, None), []);
    assert_eq!(world.see(3, "walker"), [], "they are among those under way");
    assert_eq!(world.give(Input::Settled), [], "it waits for them");
    assert_eq!(world.evacuation.progress(), Progress { under_way: 2, waiting: 1, ..Progress::default() });
    for counter in [1, 2] {
        assert_eq!(world.give(Input::Gone(entity(counter))), [], "the end tells more");
    }
    assert_eq!(moves_in(&world.ended(1, moved())), [(3, 1)]);
    assert_eq!(world.despawned(2, Ok(())), []);
    assert_eq!(done(&world.ended(3, moved())), Some(Done { moved: 2, gone: 1, kept: vec![] }));
}

#[test]
fn whoever_fails_to_leave_by_an_earlier_order_takes_its_turn() {
    let mut world = World::new(2);
    world.give(Input::Targets(vec![target(1, 10, Some(10))]));
    world.leaving(1, Some(9));
    world.leaving(2, None);
    assert_eq!(moves_in(&world.ended(1, refused(full()))), [(1, 1)], "the target need not be one of this evacuation");
    assert_eq!(world.despawned(2, Err(NotDespawned::Undecided)), []);
    assert_eq!(moves_in(&world.pass_ms(100)), [(2, 1)]);
}
