//! Slipgate beside the least work that would do the job, and beside its peers.
//!
//! ```text
//!   cargo run --release --manifest-path benches/Cargo.toml                   all of it, as Markdown
//!   cargo run --release --manifest-path benches/Cargo.toml -- 9 pause        nine rounds, one section
//! ```
//!
//! | module | measures |
//! |---|---|
//! | `slots` | the table of a scene's entities: time and memory |
//! | `dispatch` | a message from its bytes to its handler |
//! | `routing` | who owns an entity, and where a message to it goes |
//! | `snapshots` | what clients see: full snapshots, deltas, a tick of many clients |
//! | `in_process` | a message through router and scene, in one process |
//! | `remote` | messages and round trips between two processes |
//! | `moves` | the pause of a move, moves per second, their CPU |
//!
//! Keeps: limit, ours and peers take turns within every round, so that whatever else the machine does
//! hits them alike; what is reported is the ratio within a round.
//! Leaves out: the admin interface; the disk.

mod block;
mod dispatch;
mod driver;
mod held;
mod in_process;
mod measure;
mod member;
mod moves;
mod node;
mod order;
mod peers;
mod raw;
mod remote;
mod report;
mod routing;
mod slots;
mod snapshots;

use std::io::Write;

use anyhow::{Result, bail};

use self::report::Section;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["member", number] => member::run(number.parse()?),
        ["raw"] => raw::serve(),
        ref wanted => run(wanted),
    }
}

fn run(wanted: &[&str]) -> Result<()> {
    let (rounds, wanted) = match wanted.split_first() {
        Some((first, rest)) if first.parse::<usize>().is_ok() => (first.parse()?, rest),
        _ => (ROUNDS, wanted),
    };
    if let Some(unknown) = wanted.iter().find(|name| !SECTIONS.iter().any(|(known, _)| known == *name)) {
        bail!("there is no section {unknown:?}; there are {:?}", SECTIONS.map(|(name, _)| name));
    }
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", report::machine(rounds)?)?;
    for (_, measure) in SECTIONS.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name)) {
        for section in measure(rounds)? {
            writeln!(stdout, "{section}")?;
        }
    }
    writeln!(stdout, "Load average at the end: {}.", report::load_average()?)?;
    Ok(())
}

type Measure = fn(usize) -> Result<Vec<Section>>;

const SECTIONS: [(&str, Measure); 9] = [
    ("slots", slots::sections),
    ("dispatch", dispatch::sections),
    ("routing", routing::sections),
    ("snapshots", snapshots::sections),
    ("in-process", in_process::sections),
    ("messages", remote::messages),
    ("round-trip", remote::round_trip),
    ("pause", moves::pause),
    ("moves", moves::per_second),
];

/// Rounds by default. Five give a median; two more let one of them be spoilt on each side.
const ROUNDS: usize = 7;
