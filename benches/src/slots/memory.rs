//! What entities take beside their payload, and what it costs to grow.

use std::hint::black_box;
use std::net::TcpListener;

use anyhow::Result;
use slipgate_cluster::ownership::Ownership;
use slipgate_cluster::{Own, Session};
use slipgate_entity::registry::Ids;
use slipgate_entity::{FixedMap, OnlineId, OnlineIndex, PersistId, RangeId, Registry, Runtime, SceneId};
use uuid::Uuid;

use super::tables::{ByHandle, Payload, Roomy, Table};
use super::{BEVY, HECS, MILLION, OURS, SLOTMAP, payload};
use crate::held::{Held, held_by};
use crate::measure::{Contestant, compete, cpu_ns_each};
use crate::node::Node;
use crate::peers::{WithBevy, WithHecs, WithSlotmap};
use crate::report::{Bound, Goal, Section};

pub(super) fn sections(rounds: usize) -> Result<Vec<Section>> {
    Ok(vec![each(rounds)?, indexes(rounds)?, whole(rounds)?, peak(rounds)?, slowest(rounds)?])
}

fn each(rounds: usize) -> Result<Section> {
    let table = |name: &str, held: fn() -> Held| contestant(name, move || per_entity(held()) - PAYLOAD);
    let lines = compete(
        rounds,
        vec![
            contestant(IDLE, || per_entity(grown::<Roomy>()) - PAYLOAD + per_entity(owned())),
            table(ROOMY, grown::<Roomy>),
            table(OURS, grown::<ByHandle>),
            contestant("`Ownership`", || per_entity(owned())),
            table(SLOTMAP, grown::<WithSlotmap>),
            table(HECS, grown::<WithHecs>),
            table(BEVY, grown::<WithBevy>),
        ],
    )?;
    let goals = vec![Goal { of: IDLE, over: None, bound: Bound::AtMost(40.0) }];
    Ok(Section {
        title: "Memory of 1000000 idle entities".to_owned(),
        unit: "bytes each beyond its payload",
        lines,
        goals,
    })
}

fn indexes(rounds: usize) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            contestant("by online id: `OnlineIndex`, neighbouring ids", || per_entity(indexed_by_online())),
            contestant("by persist id: `FixedMap`", || per_entity(indexed_by_persist())),
            contestant("both, and the ids in the table: `Registry`", || {
                per_entity(registered()) - per_entity(grown::<Roomy>())
            }),
        ],
    )?;
    let title = "Memory of the indexes of 1000000 entities".to_owned();
    Ok(Section { title, unit: "bytes each", lines, goals: vec![] })
}

fn whole(rounds: usize) -> Result<Section> {
    let lines = compete(rounds, vec![("body, seat, machine, indexes and home".to_owned(), Box::new(of_a_node))])?;
    let title = "Memory of an idle entity of a node, in all".to_owned();
    Ok(Section { title, unit: "bytes each, without a payload", lines, goals: vec![] })
}

/// Of entities with one part and nothing in it, whose home is on their node. All of the node runs on this thread.
fn of_a_node() -> Result<f64> {
    let system = actix_rt::System::new();
    let node = system.block_on(async {
        let port = TcpListener::bind("127.0.0.1:0")?;
        let addresses = [port.local_addr()?.to_string()];
        Node::start(1, port, &addresses)
    })?;
    system.block_on(node.spawn(SETTLED, 0))?;
    let (spawned, held) = held_by(|| system.block_on(node.spawn(SETTLED, 0)));
    let ids = spawned?.capacity() * size_of::<OnlineId>();
    Ok((held.bytes - ids) as f64 / SETTLED as f64)
}

fn peak(rounds: usize) -> Result<Section> {
    let table = |name: &str, held: fn() -> Held| {
        contestant(name, move || {
            let held = held();
            held.peak as f64 / held.bytes as f64
        })
    };
    let lines = compete(
        rounds,
        vec![
            table(ROOMY, grown::<Roomy>),
            table(OURS, grown::<ByHandle>),
            table(SLOTMAP, grown::<WithSlotmap>),
            table(HECS, grown::<WithHecs>),
            table(BEVY, grown::<WithBevy>),
        ],
    )?;
    let goals = vec![Goal { of: ROOMY, over: None, bound: Bound::AtMost(1.2) }];
    Ok(Section {
        title: "Growth to 1000000 entities".to_owned(),
        unit: "highest bytes held / held in the end",
        lines,
        goals,
    })
}

fn slowest(rounds: usize) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![
            contestant(ROOMY, slowest_batch::<Roomy>),
            contestant(OURS, slowest_batch::<ByHandle>),
            contestant(SLOTMAP, slowest_batch::<WithSlotmap>),
            contestant(HECS, slowest_batch::<WithHecs>),
            contestant(BEVY, slowest_batch::<WithBevy>),
        ],
    )?;
    let title = "Slowest 1000 spawns on the way to 1000000 entities".to_owned();
    Ok(Section { title, unit: "CPU us", lines, goals: vec![] })
}

fn contestant<'a>(name: &str, figure: impl Fn() -> f64 + 'a) -> Contestant<'a> {
    (name.to_owned(), Box::new(move || Ok(figure())))
}

/// A million entities that are spawned one after the other.
fn grown<T: Table>() -> Held {
    let mut table = T::default();
    let ((), held) = held_by(|| {
        (0..MILLION).for_each(|number| {
            black_box(table.spawn(payload(number)));
        })
    });
    held
}

/// A million entities of one owner.
fn owned() -> Held {
    let own = Own::new(Session::new(1, 1), SceneId(1));
    let mut ownership = Ownership::default();
    let ((), held) = held_by(|| {
        for counter in 0..MILLION {
            ownership.assign(OnlineId::new(RangeId(3), counter), own);
        }
    });
    held
}

fn indexed_by_online() -> Held {
    let mut index = OnlineIndex::default();
    held_by(|| {
        for number in 0..MILLION {
            index.insert(ids(number).online, number);
        }
    })
    .1
}

fn indexed_by_persist() -> Held {
    let mut index = FixedMap::default();
    held_by(|| {
        for number in 0..MILLION {
            index.insert(ids(number).persist, number);
        }
    })
    .1
}

fn registered() -> Held {
    let mut registry = Registry::over(Runtime::new(SceneId(1)).with_room_for(MILLION));
    held_by(|| {
        for number in 0..MILLION {
            registry.spawn(ids(number), payload(number)).expect("there is room");
        }
    })
    .1
}

fn ids(number: u32) -> Ids {
    let spread = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    Ids { online: OnlineId::new(RangeId(3), number), persist: PersistId(Uuid::from_u128(spread)) }
}

fn slowest_batch<T: Table>() -> f64 {
    let mut table = T::default();
    let batches = (0..MILLION / BATCH).map(|_| {
        cpu_ns_each(1000, || {
            (0..BATCH).for_each(|number| {
                black_box(table.spawn(payload(number)));
            })
        })
    });
    batches.fold(0.0, f64::max)
}

fn per_entity(held: Held) -> f64 {
    held.bytes as f64 / f64::from(MILLION)
}

const IDLE: &str = "`Runtime` of a scene that knows its capacity, and `Ownership`";
const ROOMY: &str = "`Runtime` of a scene that knows its capacity";
const PAYLOAD: f64 = size_of::<Payload>() as f64;
/// Entities of a node that is there for a while, as many as its tables had room for before they doubled.
const SETTLED: usize = 1 << 14;
/// Spawns whose time is taken together.
const BATCH: u32 = 1000;
