//! Moves between two processes: how long the entity pauses, and how many there are in a second.
//!
//! The home of an entity's record is the node that spawned it, so where a move goes from and to says
//! whether the home is on the source, on the target, or on a third node. A pause is what the source
//! reports: from the freeze to the target's word that it is active.

use std::cell::RefCell;

use anyhow::Result;
use slipgate_entity::OnlineId;

use crate::driver::Cluster;
use crate::measure::compete;
use crate::order::Order;
use crate::raw::{Peer, Took};
use crate::report::{Bound, Goal, Section};

/// The pause of a move, idle and under load.
pub(crate) fn pause(rounds: usize) -> Result<Vec<Section>> {
    let (raw, mut cluster) = (Peer::start()?, Cluster::start()?);
    let listeners = cluster.n2.spawn(64, 8)?;
    let mut sections = Vec::new();
    for bytes in [1 << 10, 16 << 10] {
        let ours = cluster.n1.spawn(MOVES, bytes)?;
        let thirds = cluster.n3.spawn(MOVES, bytes)?;
        cluster.n3.time(&Order::MoveEach { entities: thirds.clone(), to: 1 })?;
        let travellers = Travellers { ours, thirds };
        let title = format!("Pause of a move, {} KiB", bytes >> 10);
        sections.push(pauses(rounds, &raw, &mut cluster, &travellers, (bytes, format!("{title}, idle")))?);
        cluster.n1.load(&listeners, LOAD)?;
        let loaded = pauses(rounds, &raw, &mut cluster, &travellers, (bytes, title.clone()))?;
        let rate = cluster.n1.unload()?;
        sections.push(Section { title: format!("{title}, under {:.0} messages a second", rate), ..loaded });
    }
    Ok(sections)
}

/// Entities on the first node: some have their home there, the others on the third.
struct Travellers {
    ours: Vec<OnlineId>,
    thirds: Vec<OnlineId>,
}

fn pauses(
    rounds: usize,
    raw: &Peer,
    cluster: &mut Cluster,
    travellers: &Travellers,
    (bytes, title): (usize, String),
) -> Result<Section> {
    let cluster = RefCell::new(cluster);
    let there = |entities: &Vec<OnlineId>| {
        Ok(cluster.borrow_mut().n1.time(&Order::MoveEach { entities: entities.clone(), to: 2 })? / 1e3)
    };
    let back = |entities: &Vec<OnlineId>| {
        Ok(cluster.borrow_mut().n2.time(&Order::MoveEach { entities: entities.clone(), to: 1 })? / 1e3)
    };
    let lines = compete(
        rounds,
        vec![
            (BLOCK.to_owned(), Box::new(|| Ok(raw.block(MOVES, bytes)? / 1e3))),
            (SOURCE.to_owned(), Box::new(|| there(&travellers.ours))),
            (TARGET.to_owned(), Box::new(|| back(&travellers.ours))),
            (THIRD.to_owned(), Box::new(|| Ok((there(&travellers.thirds)? + back(&travellers.thirds)?) / 2.0))),
        ],
    )?;
    let goal = |of, bound| Goal { of, over: Some(BLOCK), bound: Bound::AtMost(bound) };
    let goals = vec![goal(SOURCE, 3.0), goal(TARGET, 2.0), goal(THIRD, 3.0)];
    Ok(Section { title, unit: "us, median of a round", lines, goals })
}

/// Moves in a second, many at once, without a log; and the CPU time of both sides.
pub(crate) fn per_second(rounds: usize) -> Result<Vec<Section>> {
    let (raw, mut cluster) = (Peer::start()?, Cluster::start()?);
    let entities = cluster.n1.spawn(AT_ONCE, 1 << 10)?;
    let cluster = RefCell::new(cluster);
    let there_and_back = || -> Result<Took> {
        let Cluster { n1, n2, .. } = &mut *cluster.borrow_mut();
        let before = n1.cpu()? + n2.cpu()?;
        let there = n1.time(&Order::MoveAll { entities: entities.clone(), to: 2 })?;
        let back = n2.time(&Order::MoveAll { entities: entities.clone(), to: 1 })?;
        let moves = 2.0 * AT_ONCE as f64;
        Ok(Took { ns: (there + back) / moves, cpu_ns: (n1.cpu()? + n2.cpu()? - before) / moves })
    };
    let blocks = || raw.blocks(TRANSFERS, 1 << 10);
    let section = |title: &str, unit, figure: fn(Took) -> f64, bound| {
        let lines = compete(
            rounds,
            vec![
                (BLOCKS.to_owned(), Box::new(move || Ok(figure(blocks()?)))),
                (MANY.to_owned(), Box::new(move || Ok(figure(there_and_back()?)))),
            ],
        )?;
        let goals = vec![Goal { of: MANY, over: Some(BLOCKS), bound }];
        anyhow::Ok(Section { title: title.to_owned(), unit, lines, goals })
    };
    Ok(vec![
        section("Moves of 1 KiB in a second", "per second", |took| 1e9 / took.ns, Bound::AtLeast(0.1))?,
        section("CPU of a move of 1 KiB", "CPU us of both sides", |took| took.cpu_ns / 1e3, Bound::AtMost(10.0))?,
    ])
}

const BLOCK: &str = "limit: block and acknowledgement";
const SOURCE: &str = "home on the source";
const TARGET: &str = "home on the target";
const THIRD: &str = "home on a third node";
const BLOCKS: &str = "limit: blocks one behind the other";
const MANY: &str = "moves, 2000 at once";
const MOVES: usize = 200;
const AT_ONCE: usize = 2000;
const TRANSFERS: usize = 100_000;
/// Messages a second from the source's node to entities on the target's.
const LOAD: u32 = 300_000;
