//! The runtime case by case.
//!
//! | module | holds |
//! |---|---|
//! | here | spawn, look-up, despawn; handles that are zero, of another scene, or of the dead; used up generations; hooks |
//! | `growth` | how the table takes room; two million spawns |
//! | `model` | random operations against an ordered map |

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::EntityId;

mod growth;
mod model;

const HERE: SceneId = SceneId(1);

/// Spawns `values` into a new runtime; their handles in the same order.
fn runtime_of<const N: usize>(values: [&'static str; N]) -> (Runtime<&'static str>, [Handle; N]) {
    let mut runtime = Runtime::new(HERE);
    let handles = values.map(|value| runtime.spawn(value).expect("there is room"));
    (runtime, handles)
}

/// A runtime whose slot 0 is vacant and was last used under `generation`.
fn runtime_used_until(generation: u32) -> Runtime<&'static str> {
    let mut runtime = Runtime::new(HERE).with_first_generation(generation);
    let last = runtime.spawn("the last one").expect("there is room");
    runtime.despawn(last).expect("it lives");
    runtime.with_first_generation(1)
}

#[test]
fn a_spawned_entity_is_found_by_its_handle() {
    let (mut runtime, [ann, bob]) = runtime_of(["ann", "bob"]);
    assert_eq!(runtime.get(ann), Ok(&"ann"));
    assert_eq!(runtime.get(bob), Ok(&"bob"));
    assert_eq!(runtime.len(), 2);

    *runtime.get_mut(ann).expect("ann lives") = "anna";
    assert_eq!(runtime.get(ann), Ok(&"anna"));
}

#[test]
fn the_first_handle_is_slot_zero_in_generation_one() {
    let (_, [ann]) = runtime_of(["ann"]);
    assert_eq!(ann.to_string(), "1:0/gen1");
}

#[test]
fn a_handle_is_not_found_between_despawn_and_reuse() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    assert_eq!(runtime.despawn(ann), Ok("ann"));
    assert_eq!(runtime.get(ann), Err(LookupError::NotFound));
    assert_eq!(runtime.get_mut(ann), Err(LookupError::NotFound));
    assert_eq!(runtime.despawn(ann), Err(LookupError::NotFound));
    assert!(runtime.is_empty());
}

#[test]
fn a_handle_is_stale_once_its_slot_is_used_again() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    runtime.despawn(ann).expect("ann lives");
    let bob = runtime.spawn("bob").expect("there is room");

    assert_eq!((bob.id(), bob.generation()), (ann.id(), ann.generation() + 1));
    assert_eq!(runtime.get(ann), Err(LookupError::Stale));
    assert_eq!(runtime.despawn(ann), Err(LookupError::Stale));
    assert_eq!(runtime.get(bob), Ok(&"bob"));
}

#[test]
fn an_old_handle_is_not_found_again_when_its_slot_is_vacant_again() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    runtime.despawn(ann).expect("ann lives");
    let bob = runtime.spawn("bob").expect("there is room");
    runtime.despawn(bob).expect("bob lives");
    assert_eq!(runtime.get(ann), Err(LookupError::NotFound));
}

#[test]
fn slots_are_used_again_last_vacated_first() {
    let (mut runtime, handles) = runtime_of(["a", "b", "c"]);
    for handle in handles {
        runtime.despawn(handle).expect("it lives");
    }
    let slots = ["d", "e", "f", "g"].map(|value| runtime.spawn(value).expect("there is room").id().seq());
    assert_eq!(slots, [2, 1, 0, 3]);
}

#[test]
fn cap_is_the_highest_number_of_entities_at_once() {
    let (mut runtime, handles) = runtime_of(["a", "b", "c"]);
    for handle in handles {
        runtime.despawn(handle).expect("it lives");
    }
    for _ in 0..100 {
        let one = runtime.spawn("again").expect("there is room");
        runtime.despawn(one).expect("it lives");
    }
    assert_eq!((runtime.len(), runtime.cap()), (0, 3));
}

#[test]
fn a_handle_of_another_scene_is_told_before_anything_else() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    let elsewhere = Handle::new(EntityId::new(SceneId(2), ann.id().seq()), ann.generation());
    let nowhere = Handle::new(EntityId::new(SceneId(2), EntityId::SEQ_MAX), 9);
    for handle in [elsewhere, nowhere] {
        assert_eq!(runtime.get(handle), Err(LookupError::BadScene));
        assert_eq!(runtime.get_mut(handle), Err(LookupError::BadScene));
        assert_eq!(runtime.despawn(handle), Err(LookupError::BadScene));
    }
    assert_eq!(runtime.get(ann), Ok(&"ann"));
}

#[test]
fn a_slot_out_of_range_is_not_found_and_never_truncated_into_range() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    for seq in [1, u64::from(u32::MAX), 1 << 32, 1 << 40, EntityId::SEQ_MAX] {
        let handle = Handle::new(EntityId::new(HERE, seq), ann.generation());
        assert_eq!(runtime.get(handle), Err(LookupError::NotFound), "{handle}");
        assert_eq!(runtime.despawn(handle), Err(LookupError::NotFound), "{handle}");
    }
    assert_eq!(runtime.len(), 1);
}

#[test]
fn the_zero_handle_never_names_anybody() {
    let mut runtime = Runtime::new(SceneId(0));
    assert_eq!(runtime.get(Handle::ZERO), Err(LookupError::NotFound));
    let ann = runtime.spawn("ann").expect("there is room");
    assert_eq!(ann.id(), Handle::ZERO.id());
    assert_eq!(runtime.get(Handle::ZERO), Err(LookupError::NotFound));
    assert_eq!(runtime.despawn(Handle::ZERO), Err(LookupError::NotFound));
    assert_eq!(Runtime::<&str>::new(HERE).get(Handle::ZERO), Err(LookupError::BadScene));
}

#[test]
fn a_local_id_finds_what_its_handle_finds() {
    let (mut runtime, [ann]) = runtime_of(["ann"]);
    let local = ann.local().expect("a runtime's handle has a local id");
    assert_eq!(runtime.get_local(local), Ok(&"ann"));
    *runtime.get_local_mut(local).expect("ann lives") = "anna";
    runtime.despawn(ann).expect("ann lives");
    assert_eq!(runtime.get_local(local), Err(LookupError::NotFound));
    runtime.spawn("bob").expect("there is room");
    assert_eq!(runtime.get_local(local), Err(LookupError::Stale));
    assert_eq!(runtime.get_local(LocalId::new(FIRST_GENERATION, u32::MAX)), Err(LookupError::NotFound));
}

#[test]
fn a_slot_whose_generations_are_used_up_is_retired() {
    let mut runtime = runtime_used_until(u32::MAX - 1);
    let last = runtime.spawn("last").expect("one generation is left");
    assert_eq!((last.id().seq(), last.generation()), (0, u32::MAX));
    assert_eq!(runtime.despawn(last), Ok("last"));
    assert_eq!(runtime.retired(), 1);

    let next = runtime.spawn("next").expect("there is room");
    assert_eq!((next.id().seq(), next.generation()), (1, 1));
    assert_eq!(runtime.get(last), Err(LookupError::NotFound));
    assert_eq!(runtime.get(Handle::new(last.id(), 0)), Err(LookupError::NotFound));
    assert_eq!((runtime.len(), runtime.cap()), (1, 2));
}

#[test]
fn a_slot_with_generations_left_is_not_retired() {
    let mut runtime = runtime_used_until(u32::MAX - 2);
    let one = runtime.spawn("one").expect("two generations are left");
    runtime.despawn(one).expect("it lives");
    let two = runtime.spawn("two").expect("one generation is left");
    assert_eq!((two.id(), two.generation()), (one.id(), u32::MAX));
    assert_eq!(runtime.retired(), 0);
}

#[test]
fn a_spawn_without_a_slot_hands_the_value_back() {
    let mut runtime = Runtime::new(HERE).with_slots_max(1);
    let ann = runtime.spawn("ann").expect("there is room");
    assert_eq!(runtime.spawn("bob"), Err(SlotsExhausted { scene: HERE, value: "bob" }));
    assert_eq!((runtime.len(), runtime.cap()), (1, 1));

    runtime.despawn(ann).expect("ann lives");
    assert!(runtime.spawn("bob").is_ok());
}

#[test]
fn retired_slots_count_against_the_limit() {
    let mut runtime = runtime_used_until(u32::MAX - 1).with_slots_max(1);
    let last = runtime.spawn("last").expect("one generation is left");
    runtime.despawn(last).expect("it lives");
    assert!(runtime.spawn("next").is_err());
}

#[test]
fn the_living_are_listed_in_slot_order() {
    let (mut runtime, [a, b, c]) = runtime_of(["a", "b", "c"]);
    runtime.despawn(b).expect("b lives");
    assert_eq!(runtime.iter().collect::<Vec<_>>(), [(a, &"a"), (c, &"c")]);

    let d = runtime.spawn("d").expect("there is room");
    for (handle, value) in runtime.iter_mut() {
        if handle == d {
            *value = "dora";
        }
    }
    assert_eq!(runtime.iter().collect::<Vec<_>>(), [(a, &"a"), (d, &"dora"), (c, &"c")]);
}

#[test]
fn payloads_come_from_the_alloc_hook_and_go_to_the_release_hook() {
    let pool = RefCell::new(vec![Box::new(7)]);
    let made = RefCell::new(0);
    let alloc = || {
        *made.borrow_mut() += 1;
        pool.borrow_mut().pop().unwrap_or_default()
    };
    let mut runtime = Runtime::with_hooks(HERE, (alloc, |payload| pool.borrow_mut().push(payload)));

    let ann = runtime.acquire(|handle, hp| {
        assert_eq!((handle.to_string(), **hp), ("1:0/gen1".to_owned(), 7));
        **hp = 100;
    });
    let ann = ann.expect("there is room");
    assert_eq!(runtime.get(ann).map(|hp| **hp), Ok(100));
    assert_eq!(pool.borrow().len(), 0);

    assert_eq!(runtime.release(ann), Ok(()));
    assert_eq!(*pool.borrow(), [Box::new(100)]);
    assert_eq!(*made.borrow(), 1);
}

#[test]
fn hooks_are_not_called_when_nothing_is_spawned_or_despawned() {
    let calls = RefCell::new(Vec::new());
    let hooks = (|| calls.borrow_mut().push("alloc"), |()| calls.borrow_mut().push("release"));
    let mut runtime = Runtime::with_hooks(HERE, hooks).with_slots_max(0);
    assert_eq!(runtime.acquire(|_, ()| ()), Err(SlotsExhausted { scene: HERE, value: () }));
    assert_eq!(runtime.release(Handle::new(EntityId::new(HERE, 0), 1)), Err(LookupError::NotFound));
    assert_eq!(*calls.borrow(), [""; 0]);
}

#[test]
fn a_value_that_was_spawned_and_despawned_by_its_owner_passes_no_hook() {
    let hooks = (|| -> u8 { panic!("nobody asked for a payload") }, |_: u8| panic!("the value is its owner's"));
    let mut runtime = Runtime::with_hooks(HERE, hooks);
    let handle = runtime.spawn(5).expect("there is room");
    assert_eq!(runtime.despawn(handle), Ok(5));
}

#[test]
fn a_panic_while_a_payload_is_filled_leaves_the_runtime_as_it_was() {
    let mut runtime = Runtime::<u8>::new(HERE);
    let one = runtime.spawn(1).expect("there is room");
    runtime.despawn(one).expect("it lives");

    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.acquire(|_, _| panic!("game code"))));
    assert!(outcome.is_err());
    assert_eq!((runtime.len(), runtime.cap(), runtime.retired()), (0, 1, 0));
    let two = runtime.spawn(2).expect("there is room");
    assert_eq!((two.id(), two.generation()), (one.id(), 2));
}

#[test]
fn a_runtime_shows_its_scene_and_sizes() {
    let (runtime, _) = runtime_of(["ann"]);
    assert_eq!(format!("{runtime:?}"), "Runtime { scene: SceneId(1), len: 1, cap: 1, .. }");
}

#[test]
fn a_scene_that_is_opened_again_under_its_number_knows_no_handle_from_before() {
    let mut before = Runtime::new(SceneId::of(40_000, 1));
    let ann = before.spawn("ann").expect("there is room");
    before.despawn(ann).expect("ann lives");
    let bob = before.spawn("bob").expect("there is room");
    let eve = before.spawn("eve").expect("there is room");
    assert_eq!(before.highest_generation(), 2);

    let again = SceneId::of(40_000, 2);
    let mut after = Runtime::new(again).with_first_generation(before.highest_generation() + 1);
    let old = [ann, bob, eve];
    assert_eq!(old.map(|handle| after.get(handle)), [Err(LookupError::NotFound); 3]);
    let [dan, fay] = ["dan", "fay"].map(|name| after.spawn(name).expect("there is room"));
    assert_eq!((dan.to_string(), fay.generation()), ("40000:0/gen3".to_owned(), 3));
    assert_eq!(old.map(|handle| after.get(handle)), [Err(LookupError::Stale); 3]);
    let locals = old.map(|handle| handle.local().expect("a slot"));
    assert_eq!(locals.map(|local| after.get_local(local)), [Err(LookupError::Stale); 3]);
    assert_eq!(Runtime::<()>::new(again).with_first_generation(3).highest_generation(), 2);
}
