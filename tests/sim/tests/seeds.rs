//! Thousands of simulated clusters, in which everything goes wrong that may, and what a failing one tells.
//!
//! `SIM_SEEDS=n` runs another number of seeds, `cargo run -p slipgate-sim --release -- --seeds n` with a bar.

use std::thread;

use slipgate_sim::{Tally, replay, run, shorten};

/// Seeds of an ordinary run.
const SEEDS: u64 = 20_000;

#[test]
fn every_seed_keeps_the_promises_and_comes_to_rest() {
    let wanted = std::env::var("SIM_SEEDS").ok().map(|text| text.parse::<u64>().expect("a number of seeds"));
    let seeds = wanted.unwrap_or(SEEDS);
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let runs = (0..threads).map(|number| {
        thread::spawn(move || {
            let mut tally = Tally::default();
            for seed in (number..seeds).step_by(usize::try_from(threads).expect("a few threads")) {
                match run(seed) {
                    Ok(run) => tally.add(&run.tally),
                    Err(violation) => match shorten(seed) {
                        Some(story) => panic!("{story}"),
                        None => panic!("only once: {violation}"),
                    },
                }
            }
            tally
        })
    });
    let mut tally = Tally::default();
    for run in runs.collect::<Vec<_>>() {
        tally.add(&run.join().expect("every seed keeps the promises"));
    }
    eprintln!("{tally}");
    assert_eq!(tally.missing(), [""; 0], "never happened in any seed");
}

#[test]
fn a_seed_run_twice_is_the_same_run_byte_for_byte() {
    for seed in [3, 4, 5] {
        let [one, other] = [replay(seed), replay(seed)].map(|run| run.expect("it keeps the promises"));
        assert!(one.trace.len() > 100, "there is something to compare");
        assert_eq!(one, other);
    }
}
