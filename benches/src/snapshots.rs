//! What clients see: a full snapshot beside a copy of its bytes, a delta by what has changed, and a tick of many clients.
//!
//! Of 10,000 entities, all in one view. Whoever changes has moved: 13 bytes each. Bytes on sockets are left out.

use std::hint::black_box;

use anyhow::Result;
use slipgate_sync::{Alias, ClientId, EntityState, Input, Output, Reel, Replicator, ViewId};

use crate::measure::{Contestant, compete, cpu_ns_each};
use crate::report::{Bound, Goal, Section};

pub(crate) fn sections(rounds: usize) -> Result<Vec<Section>> {
    Ok(vec![full(rounds)?, deltas(rounds)?, clients(rounds)?])
}

fn full(rounds: usize) -> Result<Section> {
    let snapshot = shown().tick(1);
    let bytes = snapshot.full().payload;
    let lines = compete(
        rounds,
        vec![
            each(COPY, FRAMES, || drop(black_box(black_box(&bytes).clone()))),
            each(FULL, FRAMES, || drop(black_box(black_box(&snapshot).full()))),
        ],
    )?;
    let goals = vec![Goal { of: FULL, over: Some(COPY), bound: Bound::AtMost(3.5) }];
    Ok(Section { title: format!("A full snapshot of {ENTITIES} entities"), unit: "CPU ns", lines, goals })
}

fn deltas(rounds: usize) -> Result<Section> {
    let contestants = [(TENTH, ENTITIES / 10), (HUNDREDTH, ENTITIES / 100)].map(|(name, changed)| {
        let mut reel = shown();
        let base = reel.tick(1);
        for number in (1..=changed).map(|number| number * (ENTITIES / changed)) {
            reel.show(Alias(number), state(number, 1.0));
        }
        reel.tick(2);
        let run = move || {
            let count = FRAMES * changed as usize;
            Ok(cpu_ns_each(count, || (0..FRAMES).for_each(|_| drop(black_box(reel.delta_from(black_box(&base)))))))
        };
        (name.to_owned(), Box::new(run) as Box<dyn FnMut() -> Result<f64>>)
    });
    let lines = compete(rounds, contestants.into())?;
    let goals = vec![Goal { of: TENTH, over: None, bound: Bound::AtMost(2.5) }];
    Ok(Section {
        title: format!("A delta among {ENTITIES} entities"),
        unit: "CPU ns per entity that has changed",
        lines,
        goals,
    })
}

fn clients(rounds: usize) -> Result<Section> {
    let lines = compete(rounds, vec![ticks(ONE, 1), ticks(MANY, 1_000)])?;
    let goals = vec![Goal { of: MANY, over: Some(ONE), bound: Bound::AtMost(1.5) }];
    let title =
        format!("A tick of clients who have the same baseline, {} of {ENTITIES} entities have moved", ENTITIES / 10);
    Ok(Section { title, unit: "CPU ns", lines, goals })
}

fn ticks(name: &str, clients: u64) -> Contestant<'static> {
    let mut replicator = Replicator::default();
    let (view, mut out, mut tick) = (VIEW, Vec::new(), 0);
    for number in 1..=ENTITIES {
        replicator.handle(Input::Shown { view, alias: Alias(number), state: state(number, 0.0) }, &mut out);
    }
    for client in (1..=clients).map(ClientId) {
        replicator.handle(Input::Looks { client, view }, &mut out);
    }
    let run = move || {
        let mut sum = 0.0;
        for _ in 0..TICKS {
            tick += 1;
            for number in (1..=ENTITIES / 10).map(|number| 10 * number) {
                let state = state(number, tick as f32);
                replicator.handle(Input::Shown { view, alias: Alias(number), state }, &mut out);
            }
            sum += cpu_ns_each(1, || replicator.handle(Input::Tick { tick }, &mut out));
            for Output::Frame { client, .. } in out.drain(..) {
                replicator.handle(Input::Acknowledged { client, tick }, &mut Vec::new());
            }
        }
        Ok(sum / TICKS as f64)
    };
    (name.to_owned(), Box::new(run))
}

fn each<'a>(name: &str, repeats: usize, mut work: impl FnMut() + 'a) -> Contestant<'a> {
    (name.to_owned(), Box::new(move || Ok(cpu_ns_each(repeats, || (0..repeats).for_each(|_| work())))))
}

fn shown() -> Reel {
    let mut reel = Reel::new(VIEW);
    (1..=ENTITIES).for_each(|number| reel.show(Alias(number), state(number, 0.0)));
    reel
}

fn state(number: u32, x: f32) -> EntityState {
    EntityState { position: [x, number as f32], velocity: [0.5, -0.5], hp: 100, kind: 1 }
}

const COPY: &str = "limit: its bytes are copied";
const FULL: &str = "`Snapshot::full`";
const TENTH: &str = "`Reel::delta_from`, a tenth has changed";
const HUNDREDTH: &str = "`Reel::delta_from`, a hundredth has changed";
const ONE: &str = "one client";
const MANY: &str = "1000 clients";
const VIEW: ViewId = ViewId(1);
const ENTITIES: u32 = 10_000;
const FRAMES: usize = 200;
const TICKS: usize = 50;
