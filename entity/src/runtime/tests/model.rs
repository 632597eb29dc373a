//! The runtime against a reference that cannot be wrong: one ordered map from handle to value.
//!
//! The reference knows neither slots nor reuse. It remembers who lives, and every handle ever given
//! out, in order of birth; whoever was born later in the same slot has displaced the ones before.

use std::collections::BTreeMap;

use super::super::*;
use crate::EntityId;
use crate::dice::Dice;

const SCENE: SceneId = SceneId(3);
/// Short lives of small runtimes, where bounds and the end of generations are near.
const CASES: u64 = 100_000;
const STEPS: u32 = 12;
/// Long lives, where slots are used again and again.
const LONG_CASES: u64 = 40;
const LONG_STEPS: u32 = 2_000;

#[derive(Debug)]
struct Reference {
    living: BTreeMap<Handle, u32>,
    tenants: BTreeMap<EntityId, Handle>,
    born: Vec<Handle>,
    retired: usize,
    slots: usize,
    slots_max: usize,
}

impl Reference {
    fn new(slots_max: u32) -> Self {
        let (living, tenants, born) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { living, tenants, born, retired: 0, slots: 0, slots_max: slots_max as usize }
    }

    fn has_room(&self) -> bool {
        self.living.len() + self.retired < self.slots_max
    }

    fn spawn(&mut self, handle: Handle, value: u32) {
        assert!(!self.born.contains(&handle), "{handle} was given out twice");
        assert_eq!(self.living.insert(handle, value), None);
        self.tenants.insert(handle.id(), handle);
        self.born.push(handle);
        self.slots = self.slots.max(self.living.len() + self.retired);
    }

    fn despawn(&mut self, handle: Handle) -> Result<u32, LookupError> {
        let value = self.get(handle)?;
        self.living.remove(&handle);
        self.retired += usize::from(handle.generation() == u32::MAX);
        Ok(value)
    }

    fn get(&self, handle: Handle) -> Result<u32, LookupError> {
        if handle.id().scene() != SCENE {
            return Err(LookupError::BadScene);
        }
        if let Some(&value) = self.living.get(&handle) {
            return Ok(value);
        }
        let was_life = handle.generation() > 0;
        let displaced =
            was_life && self.tenants.get(&handle.id()).is_some_and(|tenant| self.living.contains_key(tenant));
        Err(if displaced { LookupError::Stale } else { LookupError::NotFound })
    }

    /// One of the last 64 that were born, or a handle that nobody ever had.
    fn any(&self, dice: &mut Dice) -> Handle {
        let latest = &self.born[self.born.len().saturating_sub(64)..];
        match dice.below(16) {
            0 => Handle::ZERO,
            1 => Handle::new(EntityId::new(SceneId(4), dice.below(4).into()), 1),
            2 => Handle::new(EntityId::new(SCENE, dice.below(4).into()), dice.pick(&[0, 1, u32::MAX])),
            3 => Handle::new(EntityId::new(SCENE, u64::from(dice.below(4)) << 32), 1),
            _ if latest.is_empty() => Handle::ZERO,
            _ => dice.pick(latest),
        }
    }
}

#[test]
fn the_runtime_agrees_with_an_ordered_map() {
    for seed in 0..CASES {
        let mut dice = Dice::of(seed);
        let (slots_max, room) = (dice.below(5), dice.below(8));
        let first = dice.pick(&[1, u32::MAX - 2, u32::MAX - 1, u32::MAX]);
        let runtime = Runtime::new(SCENE).with_slots_max(slots_max).with_room_for(room).with_first_generation(first);
        check(seed, dice, runtime, (Reference::new(slots_max), STEPS));
    }
}

#[test]
fn the_runtime_agrees_with_an_ordered_map_for_long() {
    for seed in 0..LONG_CASES {
        check(seed, Dice::of(seed), Runtime::new(SCENE), (Reference::new(u32::MAX), LONG_STEPS));
    }
}

fn check(seed: u64, mut dice: Dice, mut runtime: Runtime<u32>, (mut reference, steps): (Reference, u32)) {
    for step in 0..steps {
        let handle = reference.any(&mut dice);
        match dice.below(10) {
            0..3 if reference.has_room() => {
                let born = runtime.spawn(step).expect("the reference has room");
                reference.spawn(born, step);
            }
            3 if reference.has_room() => {
                let born = runtime.acquire(|_, value| *value = step).expect("the reference has room");
                reference.spawn(born, step);
            }
            0..4 => assert!(runtime.spawn(step).is_err(), "seed {seed}, step {step}: a spawn without room"),
            4..7 => {
                assert_eq!(runtime.despawn(handle), reference.despawn(handle), "seed {seed}, step {step}: {handle}");
            }
            7 => {
                let released = reference.despawn(handle).map(|_| ());
                assert_eq!(runtime.release(handle), released, "seed {seed}, step {step}: {handle}");
            }
            8 => {
                let changed = runtime.get_mut(handle).map(|value| *value += 1);
                assert_eq!(changed.is_ok(), reference.get(handle).is_ok(), "seed {seed}, step {step}: {handle}");
                reference.living.entry(handle).and_modify(|value| *value += 1);
            }
            _ => {
                let expected = reference.get(handle);
                assert_eq!(runtime.get(handle).copied(), expected, "seed {seed}, step {step}: {handle}");
                if let Some(local) = handle.local().filter(|_| expected != Err(LookupError::BadScene)) {
                    assert_eq!(runtime.get_local(local).copied(), expected, "seed {seed}, step {step}: {local:?}");
                }
            }
        }
        let sizes = (runtime.len(), runtime.cap(), runtime.retired());
        let expected = (reference.living.len(), reference.slots, reference.retired);
        assert_eq!(sizes, expected, "seed {seed}, step {step}: len, cap, retired");
    }
    let listed: Vec<_> = runtime.iter().map(|(handle, &value)| (handle, value)).collect();
    let expected: Vec<_> = reference.living.into_iter().collect();
    assert_eq!(listed, expected, "seed {seed}: list");
}
