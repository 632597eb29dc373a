//! Who owns an entity, and where a message to it goes, by its online id.
//!
//! Ids are looked up in random order, all known beforehand, so that look-ups overlap as they do for a
//! batch of messages. The limit is an array of owners' numbers, indexed by counter, without any check.

use std::hint::black_box;

use anyhow::Result;
use rustc_hash::FxHashMap;
use slipgate_cluster::ownership::Ownership;
use slipgate_cluster::scene::{Route, Scene};
use slipgate_cluster::{Own, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};

use crate::in_process::scene_with;
use crate::measure::{compete, cpu_ns_each};
use crate::report::{Bound, Goal, Section};

pub(crate) fn sections(rounds: usize) -> Result<Vec<Section>> {
    [1_000, 100_000, 1_000_000].into_iter().map(|entities| section(rounds, entities)).collect()
}

fn section(rounds: usize, entities: u32) -> Result<Section> {
    let order = shuffled(entities);
    let limit: Vec<u32> = (0..entities).map(|counter| counter % OWNERS).collect();
    let hash: FxHashMap<OnlineId, Own> = order.iter().map(|&id| (id, owner_of(id))).collect();
    let mut ownership = Ownership::default();
    for counter in 0..entities {
        let id = OnlineId::new(RANGE, counter);
        ownership.assign(id, owner_of(id));
    }
    let scene = scene_with((0..entities).map(|counter| OnlineId::new(RANGE, counter)));
    let repeats = (LOOKUPS / order.len()).max(1);
    let lines = compete(
        rounds,
        vec![
            (ARRAY.to_owned(), Box::new(|| Ok(each(&order, repeats, |id| limit[id.counter() as usize].into())))),
            (HASH.to_owned(), Box::new(|| Ok(each(&order, repeats, |id| told(hash.get(&id).copied()))))),
            (OWNER.to_owned(), Box::new(|| Ok(each(&order, repeats, |id| told(ownership.owner_of(id)))))),
            (ROUTE.to_owned(), Box::new(|| Ok(each(&order, repeats, |id| told(routed(&scene, id)))))),
        ],
    )?;
    let goals = vec![
        Goal { of: OWNER, over: None, bound: Bound::AtMost(3.0) },
        Goal { of: ROUTE, over: None, bound: Bound::AtMost(15.0) },
        Goal { of: OWNER, over: Some(HASH), bound: Bound::AtMost(0.4) },
    ];
    Ok(Section { title: format!("Routing at {entities} entities"), unit: "CPU ns per look-up", lines, goals })
}

/// CPU nanoseconds of one step.
fn each(order: &[OnlineId], repeats: usize, step: impl Fn(OnlineId) -> u64) -> f64 {
    cpu_ns_each(repeats * order.len(), || {
        for _ in 0..repeats {
            black_box(order.iter().map(|&id| step(id)).fold(0, u64::wrapping_add));
        }
    })
}

// Without it the loop calls this for every look-up, which is half as much again as a look-up costs.
#[inline]
fn routed(scene: &Scene, id: OnlineId) -> Option<Own> {
    match scene.route(id) {
        Route::Owner(own) => Some(own),
        Route::Hold | Route::Unknown => None,
    }
}

fn told(own: Option<Own>) -> u64 {
    own.map_or(0, |own| own.scene.number().into())
}

fn shuffled(entities: u32) -> Vec<OnlineId> {
    let mut order: Vec<_> = (0..entities).map(|counter| OnlineId::new(RANGE, counter)).collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut order);
    order
}

fn owner_of(id: OnlineId) -> Own {
    let number = u16::try_from(id.counter() % OWNERS + 1).expect("there are few owners");
    Own::new(Session::new(number, 1), SceneId::from(number))
}

const ARRAY: &str = "limit: array of owners";
const HASH: &str = "FxHashMap";
const OWNER: &str = "owner step: `Ownership::owner_of`";
const ROUTE: &str = "whole route: `Scene::route`";
const RANGE: RangeId = RangeId(3);
const OWNERS: u32 = 8;
const LOOKUPS: usize = 1 << 21;
const SEED: u64 = 1204;
