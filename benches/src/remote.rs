//! Messages from a router in one process to entities in another, acknowledged.

use std::cell::RefCell;

use anyhow::Result;
use slipgate_entity::OnlineId;

use crate::driver::Cluster;
use crate::measure::compete;
use crate::node::BATCH;
use crate::order::Order;
use crate::raw::Peer;
use crate::report::{Bound, Goal, Section};

/// CPU of both sides for a message of 64 bytes.
pub(crate) fn messages(rounds: usize) -> Result<Vec<Section>> {
    let (raw, mut cluster) = (Peer::start()?, Cluster::start()?);
    let entities = cluster.n2.spawn(BATCH, 8)?;
    let cluster = RefCell::new(cluster);
    let flood = |entities: &[OnlineId]| {
        let Cluster { n1, n2, .. } = &mut *cluster.borrow_mut();
        let before = n1.cpu()? + n2.cpu()?;
        n1.time(&Order::Flood { entities: entities.to_vec(), total: MESSAGES })?;
        Ok((n1.cpu()? + n2.cpu()? - before) / MESSAGES as f64)
    };
    let lines = compete(
        rounds,
        vec![
            (FRAMES.to_owned(), Box::new(|| raw.frames(MESSAGES))),
            (MANY.to_owned(), Box::new(|| flood(&entities))),
            (ONE.to_owned(), Box::new(|| flood(&entities[..1]))),
        ],
    )?;
    let goals = [MANY, ONE].map(|of| Goal { of, over: Some(FRAMES), bound: Bound::AtMost(5.0) });
    let title = "A message of 64 bytes between two processes".to_owned();
    Ok(vec![Section { title, unit: "CPU ns of both sides per message", lines, goals: goals.into() }])
}

/// From a message to the word that it is applied.
pub(crate) fn round_trip(rounds: usize) -> Result<Vec<Section>> {
    let (raw, mut cluster) = (Peer::start()?, Cluster::start()?);
    let entity = cluster.n2.spawn(1, 8)?[0];
    let ask = || Ok(cluster.n1.time(&Order::AskEach { entity, count: TRIPS })? / 1e3);
    let lines = compete(
        rounds,
        vec![(PING.to_owned(), Box::new(|| Ok(raw.round_trip(TRIPS)? / 1e3))), (ASK.to_owned(), Box::new(ask))],
    )?;
    let goals = vec![Goal { of: ASK, over: Some(PING), bound: Bound::AtMost(1.3) }];
    let title = "Round trip between two processes".to_owned();
    Ok(vec![Section { title, unit: "us, median of a round", lines, goals }])
}

const FRAMES: &str = "limit: packed frames";
const MANY: &str = "batches of 64 to 64 entities";
const ONE: &str = "batches of 64 to one entity";
const PING: &str = "limit: ping-pong";
const ASK: &str = "message and acknowledgement";
const MESSAGES: usize = 200_000;
const TRIPS: usize = 2000;
