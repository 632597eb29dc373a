//! Whether an owner of many pays more for each: the seed walked its list.

use anyhow::Result;
use fastrand::Rng;
use slipgate_cluster::ownership::Ownership;
use slipgate_cluster::{Own, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};

use super::{SEED, TURNS, goal};
use crate::measure::{Contestant, compete, cpu_ns_each};
use crate::report::Section;

pub(super) fn section(rounds: usize) -> Result<Section> {
    let lines = compete(rounds, vec![contestant(FEW, 1_000), contestant(MANY, 100_000)])?;
    let title = "An entity leaves its owner and comes back".to_owned();
    Ok(Section { title, unit: "CPU ns for both", lines, goals: vec![goal(MANY, FEW, 2.0)] })
}

fn contestant(name: &str, entities: u32) -> Contestant<'static> {
    let own = Own::new(Session::new(1, 1), SceneId(1));
    let mut ids: Vec<_> = (0..entities).map(|counter| OnlineId::new(RangeId(3), counter)).collect();
    let mut ownership = Ownership::default();
    for &id in &ids {
        ownership.assign(id, own);
    }
    Rng::with_seed(SEED).shuffle(&mut ids);
    let repeats = TURNS / ids.len();
    let run = move || {
        Ok(cpu_ns_each(repeats * ids.len(), || {
            for _ in 0..repeats {
                for &id in &ids {
                    ownership.retire(id);
                    ownership.assign(id, own);
                }
            }
        }))
    };
    (name.to_owned(), Box::new(run))
}

const FEW: &str = "one of 1000 entities";
const MANY: &str = "one of 100000 entities";
