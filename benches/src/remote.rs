//! Messages from a router in one process to entities in another, acknowledged.

use std::cell::RefCell;

use anyhow::Result;
use slipgate_entity::OnlineId;

use crate::driver::Cluster;
use crate::measure::{Contestant, compete};
use crate::node::BATCH;
use crate::order::Order;
use crate::peers::{WithErlang, WithNats};
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
    let (mut nats, mut erlang) = (WithNats::start()?, WithErlang::start()?);
    let mut contestants: Vec<Contestant<'_>> = vec![
        (FRAMES.to_owned(), Box::new(|| raw.frames(MESSAGES))),
        (MANY.to_owned(), Box::new(|| flood(&entities))),
        (ONE.to_owned(), Box::new(|| flood(&entities[..1]))),
    ];
    let mut goals: Vec<_> = [MANY, ONE].map(|of| Goal { of, over: Some(FRAMES), bound: Bound::AtMost(5.0) }).into();
    if let Some(nats) = &mut nats {
        contestants.push((NATS.to_owned(), Box::new(|| nats.flood(MESSAGES))));
        goals.push(Goal { of: NATS, over: Some(MANY), bound: Bound::AtLeast(5.0) });
    }
    if let Some(erlang) = &mut erlang {
        contestants.push((ERLANG.to_owned(), Box::new(|| erlang.flood(MESSAGES))));
        goals.push(Goal { of: ERLANG, over: Some(MANY), bound: Bound::AtLeast(25.0) });
    }
    let lines = compete(rounds, contestants)?;
    let title = "A message of 64 bytes between two processes".to_owned();
    Ok(vec![Section { title, unit: "CPU ns of all processes per message", lines, goals }])
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
const NATS: &str = "NATS, 64 subjects";
const ERLANG: &str = "Erlang, cast to 64 servers";
const PING: &str = "limit: ping-pong";
const ASK: &str = "message and acknowledgement";
const MESSAGES: usize = 200_000;
const TRIPS: usize = 2000;
