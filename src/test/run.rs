//! Seeds, and what is told of one that fails.

use std::fmt;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;

use slipgate_actors::panic::{is_guarded, text_of};
use slipgate_sim::games::{self, Shape};

use super::world::World;

/// A run that failed.
#[derive(Debug)]
pub(super) struct Failure {
    seed: u64,
    what: String,
    /// When, in the run.
    at: Duration,
    /// What was last heard of.
    story: Vec<String>,
}

/// The seeds to run: those of the environment, if it has any.
pub(super) fn seeds(given: Range<u64>) -> Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
    };
    match (number(SEED), number(SEEDS)) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(count)) => 0..count,
        (None, None) => given,
    }
}

/// Runs a test for a seed. Returns its trace, if it is wanted.
pub(super) fn attempt(
    shape: &Shape,
    seed: u64,
    is_traced: bool,
    test: &impl Fn(&World),
) -> Result<Vec<String>, Failure> {
    leave_game_code_to_its_scene();
    let world = World::new(games::World::new(shape.clone(), seed, is_traced), seed);
    let result = catch_unwind(AssertUnwindSafe(|| {
        test(&world);
        world.end();
    }));
    let mut inside = world.into_inner();
    match result {
        Ok(()) => Ok(inside.trace()),
        Err(panic) => {
            let story = inside.story();
            let last = story.len().saturating_sub(LAST_LINES);
            let (what, story) = (text_of(&*panic).to_owned(), story[last..].to_vec());
            Err(Failure { seed, what, at: inside.now(), story })
        }
    }
}

/// Panics of game code are told by the scene that catches them.
fn leave_game_code_to_its_scene() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !is_guarded(panic) {
                before(panic);
            }
        }));
    });
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, what, at, story } = self;
        writeln!(f, "seed {seed}, {:.3} s after the start: {what}", at.as_secs_f64())?;
        writeln!(f, "what was last heard of:")?;
        story.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        let thread = std::thread::current();
        // A test runs on a thread of its name.
        let name = thread.name().filter(|name| *name != "main").unwrap_or_default();
        write!(f, "this seed alone:  {SEED}={seed} cargo test {name}")
    }
}

const SEED: &str = "SLIPGATE_TEST_SEED";
const SEEDS: &str = "SLIPGATE_TEST_SEEDS";
/// Lines that are told of the end of a run.
const LAST_LINES: usize = 30;
