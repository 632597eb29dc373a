//! The ownership table case by case, and against an ordered map.

use std::collections::BTreeMap;

use slipgate_entity::{RangeId, SceneId};

use super::*;
use crate::Session;

fn own(node: u16) -> Own {
    Own::new(Session::new(node, 1), SceneId::from(node))
}

fn id(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(3), counter)
}

/// A table in which `own(1)` has the entities with these counters.
fn owned_by_one(counters: impl IntoIterator<Item = u32>) -> Ownership {
    let mut ownership = Ownership::default();
    for counter in counters {
        assert_eq!(ownership.assign(id(counter), own(1)), None);
    }
    ownership
}

#[test]
fn an_assigned_entity_has_an_owner_until_it_is_retired() {
    let mut ownership = owned_by_one([7]);
    assert_eq!(ownership.owner_of(id(7)), Some(own(1)));
    assert_eq!((ownership.count(own(1)), ownership.len()), (1, 1));

    assert_eq!(ownership.retire(id(7)), Some(own(1)));
    assert_eq!(ownership.owner_of(id(7)), None);
    assert_eq!((ownership.count(own(1)), ownership.len()), (0, 0));
    assert_eq!(ownership.retire(id(7)), None);
    assert!(ownership.is_empty());
}

#[test]
fn an_unknown_entity_has_no_owner_and_an_unknown_owner_no_entities() {
    let ownership = owned_by_one([7]);
    assert_eq!(ownership.owner_of(id(8)), None);
    assert_eq!(ownership.owner_of(OnlineId::new(RangeId(4), 7)), None);
    assert_eq!(ownership.list(own(2)), []);
}

#[test]
fn an_entity_assigned_anew_leaves_the_list_of_its_old_owner() {
    let mut ownership = owned_by_one([1, 2, 3]);
    assert_eq!(ownership.assign(id(2), own(2)), Some(own(1)));
    assert_eq!(ownership.list(own(1)), [id(1), id(3)]);
    assert_eq!(ownership.list(own(2)), [id(2)]);
    assert_eq!(ownership.len(), 3);
}

#[test]
fn an_entity_assigned_to_its_owner_again_is_listed_once() {
    let mut ownership = owned_by_one([1, 2]);
    assert_eq!(ownership.assign(id(1), own(1)), Some(own(1)));
    assert_eq!(ownership.list(own(1)), [id(1), id(2)]);
    assert_eq!(ownership.len(), 2);
}

#[test]
fn scenes_of_one_node_and_lives_of_one_scene_are_different_owners() {
    let first = Own::new(Session::new(1, 1), SceneId(1));
    let others = [Own::new(Session::new(1, 1), SceneId(2)), Own::new(Session::new(1, 2), SceneId(1))];
    let mut ownership = Ownership::default();
    ownership.assign(id(1), first);
    for other in others {
        assert_eq!(ownership.count(other), 0);
    }
}

#[test]
fn the_last_of_a_list_takes_the_seat_of_the_one_that_leaves() {
    let mut ownership = owned_by_one([1, 2, 3, 4]);
    ownership.retire(id(1));
    assert_eq!(ownership.list(own(1)), [id(4), id(2), id(3)]);
    ownership.retire(id(4));
    assert_eq!(ownership.list(own(1)), [id(3), id(2)]);
    ownership.retire(id(2));
    assert_eq!(ownership.list(own(1)), [id(3)]);
    assert_eq!(ownership.owner_of(id(3)), Some(own(1)));
}

#[test]
fn the_only_entity_of_one_owner_can_become_the_first_of_another() {
    let mut ownership = owned_by_one([1]);
    for node in [2, 3, 2, 1] {
        ownership.assign(id(1), own(node));
        assert_eq!(ownership.list(own(node)), [id(1)]);
    }
    assert_eq!((ownership.count(own(2)), ownership.count(own(3))), (0, 0));
}

#[test]
fn a_lonely_high_counter_costs_a_page_and_the_way_to_it() {
    let mut ownership = owned_by_one([0, u32::MAX]);
    assert_eq!(ownership.owner_of(id(u32::MAX)), Some(own(1)));
    assert_eq!(ownership.owner_of(id(u32::MAX - 1)), None);
    assert_eq!(ownership.pages.len(), 2);
    assert!(ownership.pages.bytes() < 100 << 10, "{} bytes", ownership.pages.bytes());

    ownership.retire(id(u32::MAX));
    assert_eq!(ownership.pages.len(), 1);
    assert!(ownership.pages.bytes() < 20 << 10, "{} bytes", ownership.pages.bytes());
}

#[test]
fn entities_of_many_ranges_are_kept_apart_and_found_in_any_order() {
    let mut ownership = Ownership::default();
    let at = |range| OnlineId::new(RangeId(range), 7);
    for range in [5, 1, 9, 3] {
        ownership.assign(at(range), own(u16::try_from(range).expect("small")));
    }
    for range in [9, 1, 9, 5, 3] {
        assert_eq!(ownership.owner_of(at(range)).map(|own| own.scene.number()), u16::try_from(range).ok());
    }
    assert_eq!(ownership.retire(at(3)), Some(own(3)));
    assert_eq!(ownership.owner_of(at(3)), None);
    assert_eq!(ownership.owner_of(at(9)), Some(own(9)));
    assert_eq!(ownership.owner_of(at(4)), None);
}

#[test]
fn entities_that_come_and_go_leave_no_pages_behind() {
    let mut ownership = Ownership::default();
    for counter in (0..1 << 28).step_by(1 << 14) {
        ownership.assign(id(counter), own(1));
        assert_eq!(ownership.retire(id(counter)), Some(own(1)));
    }
    assert_eq!((ownership.pages.len(), ownership.pages.bytes()), (0, 0));
}

#[test]
fn a_hundred_thousand_sessions_that_come_and_go_take_two_numbers() {
    let mut ownership = Ownership::default();
    for incarnation in 1..=100_000 {
        let session = Own::new(Session::new(1, incarnation), SceneId(1));
        ownership.assign(id(1), session);
        ownership.assign(id(2), session);
    }
    assert_eq!(ownership.owners.numbers(), 2);
    assert_eq!(ownership.len(), 2);
}

#[test]
fn the_table_agrees_with_an_ordered_map() {
    for seed in 0..20 {
        check(seed);
    }
}

fn check(seed: u64) {
    let mut rng = Lcg(seed);
    let mut ownership = Ownership::default();
    let mut reference = BTreeMap::new();
    for step in 0..3_000 {
        let counter = rng.below(40) * 700;
        let id = OnlineId::new(RangeId(rng.below(2)), counter);
        if rng.below(3) == 0 {
            assert_eq!(ownership.retire(id), reference.remove(&id), "seed {seed}, step {step}: retire {id}");
        } else {
            let own = own(u16::try_from(rng.below(5)).expect("below 5"));
            assert_eq!(ownership.assign(id, own), reference.insert(id, own), "seed {seed}, step {step}: assign {id}");
        }
        assert_eq!(ownership.owner_of(id), reference.get(&id).copied(), "seed {seed}, step {step}: owner of {id}");
        assert_eq!(ownership.len(), reference.len(), "seed {seed}, step {step}: len");
    }
    for own in (0..5).map(own) {
        let mut listed = ownership.list(own).to_vec();
        listed.sort_unstable();
        let expected: Vec<_> = reference.iter().filter(|(_, owner)| **owner == own).map(|(id, _)| *id).collect();
        assert_eq!(listed, expected, "seed {seed}: list of {own:?}");
        assert_eq!(ownership.count(own), expected.len(), "seed {seed}: count of {own:?}");
    }
}

/// Knuth's linear congruential generator; the upper bits are good enough for choices.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}
