//! Small clusters in which nodes die, homes are rebuilt and handed over, and nodes come back, all while entities
//! move and talk on a bad network: the shipping machines under a virtual clock, each cluster from one seed.
//!
//! | module | holds |
//! |---|---|
//! | `world` | nodes and their scenes, and how what is said gets there |
//! | `manager` | the views that nodes are told, each when it comes to it; verdicts; who is home of what |
//! | `stage` | the shell around a scene |
//! | `mischief` | what befalls a cluster |
//! | `history` | what really happened, and what must be true of it at every step |
//! | `rest` | what must be true once faults have ceased |
//!
//! Two phases as in `chaos`, whose dice, network and walkers these are. What is said may come at any time, also
//! long after whoever said it has died: nobody closes links here. `UPHEAVAL_SEED=n` repeats one seed and tells
//! every step, `UPHEAVAL_SEEDS=n` runs more of them.

mod upheaval {
    #[path = "../chaos/dice.rs"]
    pub(crate) mod dice;
    pub(crate) mod history;
    pub(crate) mod manager;
    pub(crate) mod mischief;
    #[path = "../chaos/network.rs"]
    pub(crate) mod network;
    #[path = "../chaos/repeat.rs"]
    pub(crate) mod repeat;
    pub(crate) mod rest;
    pub(crate) mod stage;
    #[path = "../chaos/walker.rs"]
    pub(crate) mod walker;
    pub(crate) mod world;
}

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_cluster::Limits;

use upheaval::dice::Dice;
use upheaval::mischief::Mischief;
use upheaval::network::Faults;
use upheaval::repeat::Repeat;
use upheaval::world::{Plan, World};

/// Seeds of an ordinary run.
const SEEDS: u64 = 400;

/// What a run over enough seeds must have met.
const RARE: [&str; 19] = [
    "absent is lost",
    "applied",
    "came back before the verdict",
    "crashed",
    "despawn undecided",
    "died while a home was rebuilt",
    "hand-over cut short",
    "handed over",
    "home unreachable",
    "lost by name",
    "moved",
    "named by a witness",
    "not complete when passed on",
    "rebuilt",
    "rejoined",
    "streams reset",
    "undecided",
    "undecided, then decided",
    "unknown",
];

#[test]
fn whatever_dies_and_whoever_stops_nobody_else_is_lost_and_everything_comes_to_rest() {
    #[expect(clippy::disallowed_methods, reason = "a test repeats the seed that its caller names")]
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
    if let Some(seed) = number("UPHEAVAL_SEED") {
        run(seed, true);
        return;
    }
    let mut tally: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in 0..number("UPHEAVAL_SEEDS").unwrap_or(SEEDS) {
        for (what, count) in run(seed, false) {
            *tally.entry(what).or_default() += count;
        }
    }
    eprintln!("{tally:?}");
    let missing: Vec<_> = RARE.iter().filter(|what| !tally.contains_key(*what)).collect();
    assert_eq!(missing, [&""; 0], "never happened in any seed");
}

#[test]
fn a_seed_run_twice_is_the_same_run() {
    for seed in [3, 4] {
        assert_eq!(run(seed, false), run(seed, false));
    }
}

fn run(seed: u64, trace: bool) -> BTreeMap<&'static str, u64> {
    let _repeat = Repeat { seed, test: "upheaval" };
    let mut dice = Dice::new(seed ^ 0x00d1_e55e);
    let plan = plan(seed, trace, &mut dice);
    let mut world = World::new(&plan);
    let mut mischief = Mischief::new(dice.child());
    for _ in 0..8 {
        mischief.spawn(&mut world);
    }
    for _ in 0..dice.within(100..400) {
        world.tick();
        for _ in 0..dice.within(0..4) {
            mischief.act(&mut world);
        }
    }
    world.come_to_rest();
    world.history.tally
}

fn plan(seed: u64, trace: bool, dice: &mut Dice) -> Plan {
    let mut one_of = |values: &[u64]| *dice.pick(values).expect("there are values");
    let limits = Limits {
        stream_window: usize::try_from(one_of(&[1, 4, 16])).expect("small"),
        stream_queue: 20,
        held_messages: usize::try_from(one_of(&[2, 4096])).expect("small"),
        reserve: Duration::from_millis(one_of(&[30, 200, 1000])),
        transfer: Duration::from_millis(one_of(&[30, 300])),
        decide: Duration::from_millis(one_of(&[30, 300])),
        settle: Duration::from_millis(one_of(&[50, 200])),
        reservation: Duration::from_millis(one_of(&[100, 1000])),
        // Longer than any verdict takes, or the copy that a tombstone alone names would be lost.
        tombstone: Duration::from_secs(30),
        stream_idle: Duration::from_millis(one_of(&[30, 300, 5_000])),
        resend_first: Duration::from_millis(20),
        resend_max: Duration::from_millis(200),
        ..Limits::default()
    };
    let faults = Faults::drawn(dice);
    let number = |values: &[u64], dice: &mut Dice| u16::try_from(*dice.pick(values).expect("a size")).expect("small");
    Plan {
        seed,
        nodes: number(&[2, 3, 3, 4], dice),
        scenes_per_node: number(&[1, 1, 2], dice),
        crashes: u32::from(number(&[0, 1, 1, 2, 3], dice)),
        limits,
        faults,
        trace,
    }
}
