//! A run from its seed, and what is told of one that ended in a violation.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::mutant::Mutant;
use crate::plan::Plan;
use crate::tally::Tally;

/// A run that kept all promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How often what happened.
    pub tally: Tally,
    /// Inputs that machines were given.
    pub events: u64,
    /// What was seen, in order, as far as somebody wants to read it.
    pub trace: Vec<String>,
}

/// A run that did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The seed.
    pub seed: u64,
    /// What is not as it must be: the invariant, the moment, and what was seen.
    pub what: String,
    /// Where in the code that was noticed.
    pub place: String,
    /// What came before it, if somebody wants to read it.
    pub trace: Vec<String>,
}

/// A violation with the shortest script that was found for it.
#[derive(Clone, Debug)]
pub struct Story {
    /// Of the shortened script.
    pub violation: Violation,
    /// Acts of the script: at first, and those that are left.
    pub acts: (usize, usize),
}

/// Runs a seed.
///
/// # Errors
///
/// If a promise is not kept, or a machine finds itself broken.
pub fn run(seed: u64) -> Result<Run, Violation> {
    attempt(&Plan::drawn(seed), false)
}

/// Runs a seed with a rule broken.
///
/// # Errors
///
/// As [`run`]: as is to be hoped, for some seeds.
pub fn run_mutant(seed: u64, mutant: Mutant) -> Result<Run, Violation> {
    attempt(&Plan { mutant: Some(mutant), ..Plan::drawn(seed) }, false)
}

/// Runs a seed, and notes every step.
///
/// # Errors
///
/// As [`run`].
pub fn replay(seed: u64) -> Result<Run, Violation> {
    attempt(&Plan::drawn(seed), true)
}

/// Leaves out of the script of a seed what the violation does not need, and tells the rest; none if the seed keeps all
/// promises. Takes up to some hundred runs.
#[must_use]
pub fn shorten(seed: u64) -> Option<Story> {
    let mut plan = Plan::drawn(seed);
    attempt(&plan, false).err()?;
    let before = plan.script.len();
    let fails = |plan: &Plan| attempt(plan, false).is_err();
    let mut piece = plan.script.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        while at < plan.script.len() {
            let mut shorter = plan.clone();
            shorter.script.drain(at..(at + piece).min(plan.script.len()));
            if fails(&shorter) {
                plan = shorter;
            } else {
                at += piece;
            }
        }
        piece = if piece == 1 { 0 } else { piece.div_ceil(2) };
    }
    if let Some(last) = plan.script.last().map(|act| act.tick) {
        let shorter = Plan { ticks: last, ..plan.clone() };
        if fails(&shorter) {
            plan = shorter;
        }
    }
    let violation = attempt(&plan, true).err()?;
    Some(Story { violation, acts: (before, plan.script.len()) })
}

fn attempt(plan: &Plan, is_traced: bool) -> Result<Run, Violation> {
    hear_panics();
    let cluster = RefCell::new(Cluster::new(plan, is_traced));
    NOTICED.take();
    IS_RUNNING.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| play(&mut cluster.borrow_mut(), plan)));
    IS_RUNNING.set(false);
    let mut cluster = cluster.into_inner();
    let trace = cluster.trace.take().unwrap_or_default();
    match result {
        Ok(()) => {
            let events = cluster.events + cluster.seat.events;
            Ok(Run { tally: cluster.history.tally, events, trace })
        }
        Err(_) => {
            let (what, place) = NOTICED.take().unwrap_or_default();
            Err(Violation { seed: plan.seed, what, place, trace })
        }
    }
}

fn play(cluster: &mut Cluster, plan: &Plan) {
    // All nodes join, and have a range of ids.
    for _ in 0..SETTLING {
        cluster.tick();
    }
    let mut dice = Dice::new(plan.seed ^ 1);
    for _ in 0..8 {
        cluster.spawn(&mut dice);
    }
    let mut script = plan.script.iter().peekable();
    for tick in 1..=plan.ticks {
        cluster.tick();
        while let Some(act) = script.next_if(|act| act.tick <= tick) {
            cluster.act(*act);
        }
        cluster.check_memory();
    }
    cluster.come_to_rest();
    if plan.seed.is_multiple_of(FORGETTING) {
        cluster.forget();
    }
}

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    static NOTICED: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Panics of a run are its violation: kept, and not printed.
fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_RUNNING.get() {
                return before(info);
            }
            let what = info.payload_as_str().unwrap_or("a panic without a text").to_owned();
            let place = info.location().map_or_else(String::new, ToString::to_string);
            NOTICED.set(Some((what, place)));
        }));
    });
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, what, place, .. } = self;
        write!(
            f,
            "seed {seed}: {what}\n  noticed at {place}\n  try:  cargo run -p slipgate-sim --release -- --replay {seed}"
        )
    }
}

impl std::error::Error for Violation {}

/// The acts that are left, what came last, and the violation.
impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { violation, acts: (before, after) } = self;
        writeln!(f, "{after} of {before} acts are enough for it:")?;
        let last = violation.trace.len().saturating_sub(LAST_LINES);
        for (number, line) in violation.trace.iter().enumerate() {
            if number == last {
                writeln!(f, "in the end:")?;
            }
            if number >= last || is_turning_point(line) {
                writeln!(f, "{line}")?;
            }
        }
        violation.fmt(f)
    }
}

/// Whether a line of a trace is an act, or tells of a life.
fn is_turning_point(line: &str) -> bool {
    [" -- ", " starts", " lives as ", " crashes", " is over"].iter().any(|mark| line.contains(mark))
}

/// Of so many seeds one goes on for two minutes, until all is forgotten.
const FORGETTING: u64 = 64;
/// Lines that a story tells of its end.
const LAST_LINES: usize = 40;
/// Ticks in which all nodes join.
const SETTLING: u32 = 60;
