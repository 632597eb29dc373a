//! Who moves the walkers about, and who watches that none is active twice.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use slipgate::admin::body::{ENTITIES_MAX, MoveBody};
use slipgate::client::{CallError, segment};
use slipgate::tour::twins::Sightings;
use slipgate_proto::admin::{EntityRow, MoveReport};

use super::Ground;
use super::senders::{SLACK, complain_of_delay, complain_of_failure};

/// How moves ended: by result and reason.
pub(crate) type Endings = BTreeMap<String, u64>;

/// Walkers that nobody moves just now.
pub(super) type AtRest = Mutex<Vec<String>>;

/// Moves one walker after the other.
pub(super) fn travel(ground: &Ground<'_>, at_rest: &AtRest, scenes: &[&str], seed: u64) -> Endings {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut endings = Endings::new();
    while !ground.is_over() {
        let walker = {
            let mut walkers = at_rest.lock().unwrap_or_else(PoisonError::into_inner);
            let at = rng.usize(..walkers.len().max(1));
            (at < walkers.len()).then(|| walkers.swap_remove(at))
        };
        if let Some(walker) = walker {
            let to = rng.choice(scenes).expect("there are scenes");
            let ending = migrate(ground, &walker, to, &mut rng);
            let is_ok = ending == "ok";
            *endings.entry(ending).or_default() += 1;
            at_rest.lock().unwrap_or_else(PoisonError::into_inner).push(walker);
            if is_ok {
                continue;
            }
        }
        std::thread::sleep(PAUSE);
    }
    endings
}

fn migrate(ground: &Ground<'_>, walker: &str, to: &str, rng: &mut fastrand::Rng) -> String {
    let Some((asked, client)) = ground.board.any(rng) else { return "nobody to ask".to_owned() };
    let timeout_ms = u64::try_from(ground.moves_within.as_millis()).expect("seconds");
    let body = MoveBody { to: to.to_owned(), timeout_ms };
    let wait = ground.moves_within + SLACK;
    let began = Instant::now();
    let path = format!("/api/v1/entities/{}/moves", segment(walker));
    let answer = client.within(wait).post::<MoveReport>(&path, &body);
    let what = format!("a move of {walker} to {to}, asked of {asked}");
    complain_of_delay(&ground.complaints, ground.board, &asked, &what, began.elapsed(), wait);
    match answer {
        Ok(report) => match report.reason {
            Some(reason) => format!("{} {reason}", report.result),
            None => report.result,
        },
        // Whatever the answer is, it is one, and it is counted.
        Err(CallError::Problem(problem)) => format!("problem {}", problem.reason),
        Err(error) => {
            complain_of_failure(&ground.complaints, ground.board, &asked, &what, &error);
            "no answer".to_owned()
        }
    }
}

/// Lists all entities again and again.
pub(super) fn watch(ground: &Ground<'_>, walkers: &[String], seed: u64) -> Sightings {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut sightings = Sightings::of(walkers.iter().cloned());
    while !ground.is_over() {
        if let Some((_, client)) = ground.board.any(&mut rng)
            && let Ok(rows) = client.get::<Vec<EntityRow>>(&format!("/api/v1/entities?limit={ENTITIES_MAX}"))
        {
            sightings.see(&rows);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    sightings
}

/// After a move that came to nothing: what stood in its way stands there for a while.
const PAUSE: Duration = Duration::from_millis(20);
/// Between two looks at all entities: whoever looks without pause keeps the nodes from what is to be looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
