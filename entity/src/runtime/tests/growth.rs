//! How the table takes room, and that long lives wear nothing out.

use super::super::*;
use crate::EntityId;

const HERE: SceneId = SceneId(1);

fn filled(runtime: Runtime<u64>, entities: u64) -> Runtime<u64> {
    let mut runtime = runtime;
    for value in 0..entities {
        runtime.spawn(value).expect("there is room");
    }
    runtime
}

/// Slots that a table has room for after each of its steps.
fn steps(mut runtime: Runtime<u64>, entities: u64) -> Vec<usize> {
    let mut steps = vec![];
    for value in 0..entities {
        runtime.spawn(value).expect("there is room");
        if steps.last() != Some(&runtime.slots.capacity()) {
            steps.push(runtime.slots.capacity());
        }
    }
    steps
}

#[test]
fn a_table_without_entities_takes_no_memory() {
    let runtime = Runtime::<u64>::new(HERE).with_room_for(1_000_000);
    assert_eq!(runtime.slots.capacity(), 0);
}

#[test]
fn a_table_that_was_told_its_size_takes_a_small_step_and_then_all_of_it() {
    assert_eq!(steps(Runtime::new(HERE).with_room_for(100_000), 100_000), [2048, 100_000]);
    assert_eq!(steps(Runtime::new(HERE).with_room_for(100), 3_000), [2048, 4096]);
}

#[test]
fn a_table_that_was_told_nothing_doubles() {
    assert_eq!(steps(Runtime::new(HERE), 10_000), [2048, 4096, 8192, 16_384]);
}

#[test]
fn a_table_takes_no_room_beyond_its_bound() {
    assert_eq!(steps(Runtime::new(HERE).with_slots_max(5_000), 5_000), [2048, 4096, 5_000]);
    assert_eq!(steps(Runtime::new(HERE).with_slots_max(10).with_room_for(100), 10), [10]);
}

#[test]
fn a_table_doubles_where_the_system_refuses_the_room_that_was_named() {
    let mut runtime = Runtime::new(HERE).with_room_for(u32::MAX);
    for _ in 0..3 {
        runtime.spawn(Box::new([0_u8; 64])).expect("there is room");
    }
    let mut large = Runtime::<[u8; 1 << 16]>::new(HERE).with_room_for(u32::MAX);
    for _ in 0..3 {
        large.spawn([7; 1 << 16]).expect("there is room");
    }
    assert_eq!((large.len(), large.slots.capacity()), (3, 4));
}

#[test]
fn two_million_entities_live_at_once_and_each_is_found() {
    const ALL: u64 = 2_000_000;
    let runtime = filled(Runtime::new(HERE).with_room_for(2_000_000), ALL);
    assert_eq!((runtime.len(), runtime.cap(), runtime.retired()), (2_000_000, 2_000_000, 0));
    for slot in (0..ALL).step_by(997).chain([ALL - 1]) {
        assert_eq!(runtime.get(Handle::new(EntityId::new(HERE, slot), 1)), Ok(&slot));
    }
    assert_eq!(runtime.get(Handle::new(EntityId::new(HERE, ALL), 1)), Err(LookupError::NotFound));
}

#[test]
fn two_million_spawns_one_after_the_other_share_a_slot_and_no_handle() {
    let mut runtime = Runtime::new(HERE);
    for life in 1..=2_000_000 {
        let handle = runtime.spawn(life).expect("there is room");
        assert_eq!((handle.id().seq(), handle.generation()), (0, life));
        assert_eq!(runtime.despawn(handle), Ok(life));
    }
    assert_eq!((runtime.len(), runtime.cap(), runtime.highest_generation()), (0, 1, 2_000_000));
}

#[test]
fn a_mass_despawn_leaves_every_slot_for_the_next_wave() {
    let mut runtime = filled(Runtime::new(HERE), 50_000);
    for generation in 1..=4 {
        let wave: Vec<_> = runtime.iter().map(|(handle, _)| handle).collect();
        for handle in wave.into_iter().rev() {
            assert_eq!(handle.generation(), generation);
            runtime.despawn(handle).expect("it lives");
        }
        assert!(runtime.is_empty());
        runtime = filled(runtime, 50_000);
        assert_eq!((runtime.len(), runtime.cap()), (50_000, 50_000));
    }
}
