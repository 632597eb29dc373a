//! Clocks, and rounds in which the contestants take turns.

use std::fs;

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};

/// One contestant's figures, one per round.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) figures: Vec<f64>,
}

/// A contestant: runs once and returns its figure.
pub(crate) type Contestant<'a> = (String, Box<dyn FnMut() -> Result<f64> + 'a>);

/// Lets the contestants take turns: one round to warm up, then `rounds` that count.
pub(crate) fn compete(rounds: usize, mut contestants: Vec<Contestant<'_>>) -> Result<Vec<Line>> {
    let mut lines: Vec<_> =
        contestants.iter().map(|(name, _)| Line { name: name.clone(), figures: Vec::new() }).collect();
    for round in 0..=rounds {
        for ((_, run), line) in contestants.iter_mut().zip(&mut lines) {
            let figure = run()?;
            if round > 0 {
                line.figures.push(figure);
            }
        }
    }
    Ok(lines)
}

/// CPU time of this thread, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// CPU time of this process, in nanoseconds.
pub(crate) fn process_cpu_ns() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

/// CPU time of another process so far, over the threads that it has, in nanoseconds.
pub(crate) fn cpu_ns_of(process: u32) -> Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let times = fs::read_to_string(thread?.path().join("schedstat"))?;
        sum += times.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(sum)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |value: i64| u64::try_from(value).expect("a clock of CPU time is not negative");
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// CPU time of this thread in nanoseconds for each of `count` pieces of work.
pub(crate) fn cpu_ns_each(count: usize, work: impl FnOnce()) -> f64 {
    let before = thread_cpu_ns();
    work();
    (thread_cpu_ns() - before) as f64 / count as f64
}

/// The middle one. Of an even number, the lower of the two in the middle.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}
