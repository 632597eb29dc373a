//! The table of a scene's entities: finding, spawning and despawning them, and what they take beside their payload.
//!
//! Ids are used in random order. Look-ups are all known beforehand, so that they overlap as those of a turn do. The
//! limit is an array that checks nothing; hecs and bevy_ecs do more: an entity of theirs has any set of components.

mod memory;
mod owners;
mod pooled;
mod tables;

use std::hint::black_box;

use anyhow::{Result, ensure};
use fastrand::Rng;

use self::tables::{Array, ByHandle, ByLocalId, Generations};
pub(crate) use self::tables::{Payload, Table};
use crate::measure::{Contestant, compete, cpu_ns_each};
use crate::peers::{WithBevy, WithHecs, WithSlotmap};
use crate::report::{Bound, Goal, Section};

pub(crate) fn sections(rounds: usize) -> Result<Vec<Section>> {
    let mut sections = vec![
        look_ups::<THOUSAND_ROWS>(rounds, THOUSAND)?,
        look_ups::<{ 1 << 17 }>(rounds, 100_000)?,
        look_ups::<MILLION_ROWS>(rounds, MILLION)?,
        spawns(rounds)?,
        respawns(rounds)?,
        turnover::<THOUSAND_ROWS>(rounds, THOUSAND)?,
        turnover::<MILLION_ROWS>(rounds, MILLION)?,
    ];
    sections.extend(memory::sections(rounds)?);
    sections.extend(pooled::sections(rounds)?);
    sections.push(owners::section(rounds)?);
    Ok(sections)
}

fn look_ups<const ROWS: usize>(rounds: usize, entities: u32) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            look_up::<Array<ROWS>>(ARRAY, entities),
            look_up::<ByLocalId>(LOCAL, entities),
            look_up::<ByHandle>(HANDLE, entities),
            look_up::<WithSlotmap>(SLOTMAP, entities),
            look_up::<WithHecs>(HECS, entities),
            look_up::<WithBevy>(BEVY, entities),
        ],
    )?;
    let goals = vec![goal(LOCAL, SLOTMAP, 1.15), goal(LOCAL, ARRAY, 2.5)];
    Ok(Section { title: format!("Look-up among {entities} entities"), unit: "CPU ns per look-up", lines, goals })
}

fn look_up<T: Table + 'static>(name: &str, entities: u32) -> Contestant<'static> {
    let (mut table, ids) = filled::<T>(entities);
    let repeats = (LOOK_UPS / ids.len()).max(1);
    let expected: u64 = (0..u64::from(entities)).sum();
    let run = move || {
        let mut sum = 0;
        let ns = cpu_ns_each(repeats * ids.len(), || {
            for _ in 0..repeats {
                sum = table.sum(black_box(&ids));
            }
        });
        ensure!(sum == expected, "expected payloads of {expected}, found {sum}");
        Ok(ns)
    };
    (name.to_owned(), Box::new(run))
}

fn spawns(rounds: usize) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            spawn::<Array<THOUSAND_ROWS>>(ARRAY),
            spawn::<Generations<THOUSAND_ROWS>>(GENERATIONS),
            spawn::<ByLocalId>(OURS),
            spawn::<WithSlotmap>(SLOTMAP),
            spawn::<WithHecs>(HECS),
            spawn::<WithBevy>(BEVY),
        ],
    )?;
    let title = "Spawn of 1000 entities into a new table".to_owned();
    Ok(Section { title, unit: "CPU ns per spawn", lines, goals: vec![goal(OURS, SLOTMAP, 0.5)] })
}

fn spawn<T: Table + 'static>(name: &str) -> Contestant<'static> {
    let run = || {
        let (mut sum, mut ids) = (0.0, Vec::with_capacity(THOUSAND as usize));
        for _ in 0..BATCHES {
            let mut tables: Vec<T> = (0..TABLES).map(|_| T::default()).collect();
            sum += cpu_ns_each(TABLES * THOUSAND as usize, || {
                for table in &mut tables {
                    ids.clear();
                    ids.extend((0..THOUSAND).map(|number| table.spawn(payload(number))));
                    black_box(&ids);
                }
            });
        }
        Ok(sum / BATCHES as f64)
    };
    (name.to_owned(), Box::new(run))
}

fn respawns(rounds: usize) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            respawn::<Array<MILLION_ROWS>>(ARRAY),
            respawn::<Generations<MILLION_ROWS>>(GENERATIONS),
            respawn::<ByLocalId>(OURS),
            respawn::<WithSlotmap>(SLOTMAP),
            respawn::<WithHecs>(HECS),
            respawn::<WithBevy>(BEVY),
        ],
    )?;
    let title = "Spawn of 1000000 entities after as many were despawned".to_owned();
    Ok(Section { title, unit: "CPU ns per spawn", lines, goals: vec![goal(OURS, SLOTMAP, 1.0 / 6.0)] })
}

fn respawn<T: Table + 'static>(name: &str) -> Contestant<'static> {
    let (mut table, mut ids) = filled::<T>(MILLION);
    let run = move || {
        Rng::with_seed(SEED).shuffle(&mut ids);
        ensure!(ids.iter().all(|&id| table.despawn(id)), "expected everybody to live until now");
        Ok(cpu_ns_each(ids.len(), || {
            for (id, number) in ids.iter_mut().zip(0..) {
                *id = table.spawn(payload(number));
            }
        }))
    };
    (name.to_owned(), Box::new(run))
}

fn turnover<const ROWS: usize>(rounds: usize, entities: u32) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            turn_over::<Array<ROWS>>(ARRAY, entities),
            turn_over::<ByLocalId>(OURS, entities),
            turn_over::<WithSlotmap>(SLOTMAP, entities),
            turn_over::<WithHecs>(HECS, entities),
            turn_over::<WithBevy>(BEVY, entities),
        ],
    )?;
    let title = format!("Despawn and spawn among {entities} entities");
    Ok(Section { title, unit: "CPU ns for both", lines, goals: vec![goal(OURS, SLOTMAP, 2.0)] })
}

fn turn_over<T: Table + 'static>(name: &str, entities: u32) -> Contestant<'static> {
    let (mut table, mut ids) = filled::<T>(entities);
    let repeats = (TURNS / ids.len()).max(1);
    let run = move || {
        let mut despawned = 0;
        let ns = cpu_ns_each(repeats * ids.len(), || {
            for number in 0..repeats {
                for id in &mut ids {
                    despawned += usize::from(table.despawn(*id));
                    *id = table.spawn([number as u64; 2]);
                }
            }
        });
        ensure!(despawned == repeats * ids.len(), "expected everybody to live until now");
        Ok(ns)
    };
    (name.to_owned(), Box::new(run))
}

/// A table with so many entities, and their ids in random order.
fn filled<T: Table>(entities: u32) -> (T, Vec<T::Id>) {
    let mut table = T::default();
    let mut ids: Vec<_> = (0..entities).map(|number| table.spawn(payload(number))).collect();
    Rng::with_seed(SEED).shuffle(&mut ids);
    (table, ids)
}

fn payload(number: u32) -> Payload {
    [number.into(); 2]
}

fn goal(of: &'static str, over: &'static str, bound: f64) -> Goal {
    Goal { of, over: Some(over), bound: Bound::AtMost(bound) }
}

const ARRAY: &str = "limit: array, nothing checked";
const GENERATIONS: &str = "limit: the same with generations";
const OURS: &str = "`Runtime`";
const LOCAL: &str = "`Runtime`, by local id";
const HANDLE: &str = "`Runtime`, by handle";
const SLOTMAP: &str = "slotmap";
const HECS: &str = "hecs";
const BEVY: &str = "bevy_ecs";
const THOUSAND: u32 = 1_000;
const THOUSAND_ROWS: usize = 1 << 10;
const MILLION: u32 = 1_000_000;
const MILLION_ROWS: usize = 1 << 20;
const LOOK_UPS: usize = 1 << 21;
const TURNS: usize = 1 << 20;
/// New tables that are filled one after the other: so few that the allocator does not give their memory back between.
const TABLES: usize = 4;
const BATCHES: usize = 64;
const SEED: u64 = 1204;
