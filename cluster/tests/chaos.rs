//! Thousands of small clusters in which everything goes wrong that may: the shipping machines on a
//! network that loses, doubles, delays and reorders, under a virtual clock, each from one seed.
//!
//! Each seed has two phases: faults and mischief, then a network that is whole again, in which everything
//! must come to its answer. `CHAOS_SEED=n` repeats one seed and tells every step, `CHAOS_SEEDS=n` runs
//! more of them.

mod chaos {
    pub(crate) mod dice;
    pub(crate) mod history;
    pub(crate) mod invariants;
    pub(crate) mod mischief;
    pub(crate) mod network;
    pub(crate) mod repeat;
    pub(crate) mod rest;
    pub(crate) mod stage;
    pub(crate) mod tally;
    pub(crate) mod walker;
    pub(crate) mod world;
}

use std::time::Duration;

use slipgate_cluster::Limits;

use chaos::dice::Dice;
use chaos::mischief::Mischief;
use chaos::network::Faults;
use chaos::repeat::Repeat;
use chaos::tally::Tally;
use chaos::world::{Plan, World};

/// Seeds of an ordinary run: some 20 s without optimisation.
const SEEDS: u64 = 300;

#[test]
fn every_seed_keeps_the_promises_and_comes_to_rest() {
    #[expect(clippy::disallowed_methods, reason = "a test repeats the seed that its caller names")]
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
    if let Some(seed) = number("CHAOS_SEED") {
        run(seed, true);
        return;
    }
    let mut tally = Tally::default();
    for seed in 0..number("CHAOS_SEEDS").unwrap_or(SEEDS) {
        tally.add(&run(seed, false));
    }
    eprintln!("{tally:?}");
    assert_eq!(tally.missing(), [""; 0], "never happened in any seed");
}

#[test]
fn a_seed_run_twice_is_the_same_run() {
    for seed in [3, 4] {
        assert_eq!(run(seed, false), run(seed, false));
    }
}

fn run(seed: u64, trace: bool) -> Tally {
    let _repeat = Repeat { seed, test: "chaos" };
    let mut dice = Dice::new(seed ^ 0x5117_9a7e);
    let plan = plan(seed, trace, &mut dice);
    let mut world = World::new(&plan);
    let mut mischief = Mischief::new(dice.child());
    for _ in 0..6 {
        mischief.spawn(&mut world);
    }
    for _ in 0..dice.within(100..400) {
        world.tick();
        for _ in 0..dice.within(0..4) {
            mischief.act(&mut world);
        }
    }
    world.come_to_rest();
    world.tally
}

/// The shape of a seed's world: sizes, bounds and faults differ, so that each gets its turn.
fn plan(seed: u64, trace: bool, dice: &mut Dice) -> Plan {
    let mut one_of = |values: &[u64]| *dice.pick(values).expect("there are values");
    let mut small = |values: &[u64]| usize::try_from(one_of(values)).expect("a small number");
    let limits = Limits {
        stream_window: small(&[1, 4, 16]),
        stream_queue: small(&[2, 20]),
        held_messages: small(&[2, 8, 4096]),
        hops: u8::try_from(small(&[0, 1, 8])).expect("a small number"),
        router_queue: small(&[30, 1000]),
        state_bytes: one_of(&[1_000, 1 << 20]),
        moves_per_scene: u32::try_from(one_of(&[2, 100])).expect("a small number"),
        reserve: Duration::from_millis(one_of(&[30, 200])),
        transfer: Duration::from_millis(one_of(&[5, 30, 300])),
        decide: Duration::from_millis(one_of(&[30, 300])),
        settle: Duration::from_millis(one_of(&[50, 200])),
        reservation: Duration::from_millis(one_of(&[100, 1000])),
        tombstone: Duration::from_millis(one_of(&[20, 500, 30_000])),
        stream_idle: Duration::from_millis(one_of(&[15, 100, 1_000])),
        resend_first: Duration::from_millis(20),
        resend_max: Duration::from_millis(200),
        ..Limits::default()
    };
    let faults = Faults::drawn(dice);
    let size = |values: &[u64], dice: &mut Dice| u16::try_from(*dice.pick(values).expect("a size")).expect("small");
    Plan {
        seed,
        nodes: size(&[1, 2, 3, 4], dice),
        scenes: size(&[2, 3, 4], dice),
        capacity: u32::from(size(&[2, 4, 8], dice)),
        limits,
        faults,
        trace,
    }
}
