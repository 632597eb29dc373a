//! Walkers under fire while something happens to the cluster, and the account of it afterwards.
//!
//! ```text
//!   through every node:  to each walker one who waits for every answer, and one who does not
//!   asked of any node:   moves to any scene, several at once; lists of all entities
//!   meanwhile:           what the test does to the cluster
//!   then:                accepted = applied + told unknown, once and in order; nobody active twice; no walker
//!                        missing that is not lost by name; nothing late; tables back to their base
//! ```
//!
//! This does not use the tour command: what it finds must not depend on what that forgives.

#[path = "fire/accounts.rs"]
mod accounts;
#[path = "fire/board.rs"]
mod board;
#[path = "fire/field.rs"]
pub(crate) mod field;
#[path = "fire/judgement.rs"]
mod judgement;
#[path = "fire/movers.rs"]
mod movers;
#[path = "fire/senders.rs"]
mod senders;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use slipgate::admin::body::SpawnBody;
use slipgate_proto::admin::EntityRow;

use accounts::Account;
pub(crate) use board::Board;
pub(crate) use field::{Field, NAMES, plan};
pub(crate) use judgement::Judgement;
use judgement::{clear, judge};
use movers::Endings;

/// How it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    /// Decides who moves where.
    pub(crate) seed: u64,
    /// Walkers are spawned in each of these.
    pub(crate) births: &'a [&'a str],
    pub(crate) walkers_per_scene: u32,
    /// They move among these.
    pub(crate) scenes: &'a [&'a str],
    /// Whoever writes does it through these nodes; through all of them, if there are none.
    pub(crate) through: &'a [&'a str],
    pub(crate) movers: u64,
    /// How long an answer to a message may take.
    pub(crate) answers_within: Duration,
    /// How long a move may take.
    pub(crate) moves_within: Duration,
}

/// What the threads share.
struct Ground<'a> {
    board: &'a Board,
    over: AtomicBool,
    complaints: Complaints,
    answers_within: Duration,
    moves_within: Duration,
}

impl Ground<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// What must not be, as it is found.
#[derive(Debug, Default)]
struct Complaints {
    found: Mutex<Vec<String>>,
    longest: Mutex<Duration>,
}

impl Complaints {
    fn add(&self, complaint: String) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(complaint);
    }

    fn note_duration(&self, took: Duration) {
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = took.max(*longest);
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) walkers: Vec<String>,
    /// Where each was born: the first home of its id.
    homes: BTreeMap<String, String>,
    accounts: Vec<Account>,
    complaints: Vec<String>,
    twins: u64,
    endings: Endings,
    pub(crate) longest: Duration,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accepted: u64 = self.accounts.iter().map(|account| account.accepted).sum();
        let unknown: u64 = self.accounts.iter().filter_map(|account| account.told).map(|told| told.unknown).sum();
        let Self { endings, longest, .. } = self;
        write!(f, "{accepted} accepted, {unknown} told unknown, moves {endings:?}, longest request {longest:?}")
    }
}

/// Spawns walkers, lets `happen` happen to the cluster while they are under fire, and gathers what came of it.
pub(crate) fn under_fire(board: &Board, plan: Plan<'_>, happen: impl FnOnce()) -> Evidence {
    let homes = spawn(board, plan);
    under_fire_from(board, plan, homes, happen)
}

/// The same with walkers that live already, each with the node where it was born.
pub(crate) fn under_fire_from(
    board: &Board,
    plan: Plan<'_>,
    homes: BTreeMap<String, String>,
    happen: impl FnOnce(),
) -> Evidence {
    let walkers: Vec<String> = homes.keys().cloned().collect();
    let ground = Ground {
        board,
        over: AtomicBool::new(false),
        complaints: Complaints::default(),
        answers_within: plan.answers_within,
        moves_within: plan.moves_within,
    };
    let writes = |name: &str| plan.through.is_empty() || plan.through.contains(&name);
    let nodes: Vec<String> = board.clients().into_iter().map(|(name, _)| name).filter(|name| writes(name)).collect();
    let at_rest = Mutex::new(walkers.clone());
    let (mut accounts, mut endings, mut twins) = (Vec::new(), Endings::new(), 0);
    thread::scope(|scope| {
        let (ground, walkers, at_rest) = (&ground, &walkers, &at_rest);
        let watcher = scope.spawn(move || movers::watch(ground, walkers, plan.seed));
        let mut senders = Vec::new();
        for node in &nodes {
            senders.push(scope.spawn(move || senders::pour(ground, &format!("pour@{node}"), node, walkers)));
            for walker in walkers {
                let name = format!("talk@{node}");
                senders.push(scope.spawn(move || senders::converse(ground, name, node, walker)));
            }
        }
        let travel = |number| move || movers::travel(ground, at_rest, plan.scenes, plan.seed ^ number);
        let movers: Vec<_> = (1..=plan.movers).map(|number| scope.spawn(travel(number))).collect();
        // A test that fails here must not leave the others under fire for ever.
        let happened = panic::catch_unwind(AssertUnwindSafe(happen));
        ground.over.store(true, Ordering::Relaxed);
        for mover in movers {
            for (ending, count) in mover.join().expect("a mover does not panic") {
                *endings.entry(ending).or_default() += count;
            }
        }
        accounts.extend(senders.into_iter().flat_map(|sender| sender.join().expect("a sender does not panic")));
        twins = watcher.join().expect("the watcher does not panic").count();
        happened.unwrap_or_else(|panicked| panic::resume_unwind(panicked));
    });
    let Complaints { found, longest } = ground.complaints;
    let complaints = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let longest = longest.into_inner().unwrap_or_else(PoisonError::into_inner);
    Evidence { walkers, homes, accounts, complaints, twins, endings, longest }
}

/// The walkers, each with the node where it was born.
fn spawn(board: &Board, plan: Plan<'_>) -> BTreeMap<String, String> {
    let (_, client) = board.clients().into_iter().next().expect("somebody can be asked");
    let spawn = |scene: &&str| {
        let count = plan.walkers_per_scene;
        let body = SpawnBody { count, ..SpawnBody::of("walker", scene) };
        let rows: Vec<EntityRow> = client.post("/api/v1/entities", &body).expect("walkers are spawned");
        rows.into_iter().map(|row| (row.entity, row.node))
    };
    plan.births.iter().flat_map(spawn).collect()
}
