//! Runs seeds, for as long as one likes: `cargo run -p slipgate-sim --release -- --seeds 100000`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use slipgate_sim::{Tally, replay, run, shorten};

/// Simulated clusters, each from one seed
#[derive(Debug, Parser)]
struct Args {
    /// How many seeds
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// One seed, with every step
    #[arg(long, value_name = "SEED", conflicts_with_all = ["seeds", "from"])]
    replay: Option<u64>,
    /// One seed that fails, with the shortest script that does
    #[arg(long, value_name = "SEED", conflicts_with_all = ["seeds", "from", "replay"])]
    shorten: Option<u64>,
}

fn main() -> io::Result<ExitCode> {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    if let Some(seed) = args.replay {
        let (trace, violation) = match replay(seed) {
            Ok(run) => (run.trace, None),
            Err(violation) => (violation.trace.clone(), Some(violation)),
        };
        trace.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        return Ok(match violation {
            None => ExitCode::SUCCESS,
            Some(violation) => {
                writeln!(io::stderr(), "{violation}")?;
                ExitCode::FAILURE
            }
        });
    }
    if let Some(seed) = args.shorten {
        return Ok(match shorten(seed) {
            None => {
                writeln!(out, "seed {seed} keeps all promises")?;
                ExitCode::SUCCESS
            }
            Some(story) => {
                story.violation.trace.iter().try_for_each(|line| writeln!(out, "{line}"))?;
                writeln!(io::stderr(), "{story}")?;
                ExitCode::FAILURE
            }
        });
    }
    soak(args.from, args.seeds, &mut out)
}

fn soak(from: u64, seeds: u64, out: &mut impl Write) -> io::Result<ExitCode> {
    let style = "{bar:40} {pos}/{len} seeds  {per_sec}  {eta} left";
    let bar = ProgressBar::new(seeds).with_style(ProgressStyle::with_template(style).expect("a template"));
    let (began, mut tally, mut events) = (Instant::now(), Tally::default(), 0);
    for seed in from..from + seeds {
        match run(seed) {
            Ok(run) => {
                tally.add(&run.tally);
                events += run.events;
            }
            Err(violation) => {
                bar.abandon();
                writeln!(io::stderr(), "{violation}\n        cargo run -p slipgate-sim --release -- --shorten {seed}")?;
                return Ok(ExitCode::FAILURE);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    write!(out, "{tally}")?;
    let (runs, inputs) = (seeds as f64 / seconds, events as f64 / seconds / 1e6);
    writeln!(out, "{seeds} seeds from {from} kept all promises: {runs:.0} in a second, {inputs:.2} million events")?;
    Ok(ExitCode::SUCCESS)
}
