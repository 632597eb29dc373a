//! The registry case by case, and against plain maps.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::*;
use crate::dice::Dice;
use crate::{RangeId, SceneId};

const HERE: SceneId = SceneId(1);
const CASES: u64 = 100_000;
const STEPS: u32 = 12;

fn ids(online: u32, persist: u32) -> Ids {
    Ids { online: OnlineId::new(RangeId(3), online), persist: PersistId(Uuid::from_u128(persist.into())) }
}

fn registry() -> Registry<u32> {
    Registry::over(Runtime::new(HERE))
}

#[test]
fn an_entity_is_found_by_each_of_its_ids_and_changed_through_each() {
    let mut registry = registry();
    let ann = registry.spawn(ids(1, 7), 10).expect("the ids are free");
    let local = ann.local().expect("a runtime's handle has a local id");
    *registry.get_mut(ann).expect("ann lives") += 1;
    *registry.get_local_mut(local).expect("ann lives") += 1;
    *registry.by_online_mut(ids(1, 7).online).expect("ann lives").1 += 1;
    *registry.by_persist_mut(ids(1, 7).persist).expect("ann lives").1 += 1;
    assert_eq!((registry.get(ann), registry.get_local(local)), (Ok(&14), Ok(&14)));
    assert_eq!(registry.by_online(ids(1, 7).online), Some((ann, &14)));
    assert_eq!(registry.by_persist(ids(1, 7).persist), Some((ann, &14)));
    assert_eq!(registry.ids(ann), Ok(ids(1, 7)));
}

#[test]
fn whoever_leaves_is_found_by_none_of_its_ids_and_they_are_free_again() {
    let mut registry = registry();
    let ann = registry.spawn(ids(1, 7), 10).expect("the ids are free");
    assert_eq!(registry.despawn(ann), Ok((ids(1, 7), 10)));
    assert_eq!(registry.despawn(ann), Err(LookupError::NotFound));
    assert_eq!((registry.by_online(ids(1, 7).online), registry.by_persist(ids(1, 7).persist)), (None, None));

    let again = registry.spawn(ids(1, 7), 11).expect("the ids are free again");
    assert_eq!(registry.get(ann), Err(LookupError::Stale));
    assert_eq!(registry.by_online(ids(1, 7).online), Some((again, &11)));
}

#[test]
fn an_id_that_is_taken_is_refused_and_the_value_comes_back() {
    let mut registry = registry();
    let by = registry.spawn(ids(1, 7), 10).expect("the ids are free");
    assert_eq!(registry.spawn(ids(1, 8), 11), Err(RegisterError::OnlineTaken { by, value: 11 }));
    assert_eq!(registry.spawn(ids(2, 7), 12), Err(RegisterError::PersistTaken { by, value: 12 }));
    assert_eq!((registry.by_persist(ids(1, 8).persist), registry.by_online(ids(2, 7).online)), (None, None));
    assert_eq!(registry.len(), 1);
}

#[test]
fn a_registry_without_a_slot_leaves_no_id_behind() {
    let mut registry = Registry::over(Runtime::new(HERE).with_slots_max(0));
    let exhausted = RegisterError::Exhausted(SlotsExhausted { scene: HERE, value: 10 });
    assert_eq!(registry.spawn(ids(1, 7), 10), Err(exhausted));
    assert_eq!((registry.online.len(), registry.persist.len()), (0, 0));
}

#[test]
fn the_registry_agrees_with_plain_maps() {
    for seed in 0..CASES {
        check(seed);
    }
}

/// Few ids, so that many are taken; few slots, so that they run out.
fn check(seed: u64) {
    let mut dice = Dice::of(seed);
    let slots_max = 1 + dice.below(4);
    let mut registry = Registry::over(Runtime::new(HERE).with_slots_max(slots_max));
    let mut living: BTreeMap<Handle, (Ids, u32)> = BTreeMap::new();
    let mut born = vec![Handle::ZERO];
    for step in 0..STEPS {
        let wanted = ids(dice.below(5), dice.below(5));
        let with = |found: fn(&Ids, &Ids) -> bool| {
            let mut holders = living.iter().filter(|(_, (ids, _))| found(ids, &wanted));
            holders.next().map(|(&handle, (_, value))| (handle, value))
        };
        let (online, persist) = (with(|a, b| a.online == b.online), with(|a, b| a.persist == b.persist));
        assert_eq!(registry.by_online(wanted.online), online, "seed {seed}, step {step}: by online id");
        assert_eq!(registry.by_persist(wanted.persist), persist, "seed {seed}, step {step}: by persist id");
        if dice.below(5) < 3 {
            let taken = (online.map(|found| found.0), persist.map(|found| found.0));
            match (registry.spawn(wanted, step), taken) {
                (Err(RegisterError::OnlineTaken { by, value }), (Some(holder), _))
                | (Err(RegisterError::PersistTaken { by, value }), (None, Some(holder))) => {
                    assert_eq!((by, value), (holder, step), "seed {seed}, step {step}: who has the id");
                }
                (Err(RegisterError::Exhausted(_)), (None, None)) => assert_eq!(living.len(), slots_max as usize),
                (Ok(handle), (None, None)) => {
                    assert_eq!(living.insert(handle, (wanted, step)), None);
                    born.push(handle);
                }
                (answer, taken) => panic!("seed {seed}, step {step}: {answer:?}, where {taken:?} had the ids"),
            }
        } else {
            let handle = dice.pick(&born);
            let expected = living.remove(&handle);
            assert_eq!(registry.despawn(handle).ok(), expected, "seed {seed}, step {step}: despawn {handle}");
        }
        let sizes = (registry.len(), registry.online.len(), registry.persist.len());
        assert_eq!(sizes, (living.len(), living.len(), living.len()), "seed {seed}, step {step}: sizes");
    }
    let listed: Vec<_> = registry.iter().map(|(handle, ids, &value)| (handle, (ids, value))).collect();
    assert_eq!(listed, living.into_iter().collect::<Vec<_>>(), "seed {seed}: list");
}
