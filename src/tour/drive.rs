//! A tour from its first walker to its summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use slipgate_proto::admin::{EntityRow, NodeReport};

use super::account::{Account, Ledger, Tally};
use super::calls::{Calls, REPEAT_EVERY, is_gone};
use super::crew::Crew;
use super::itinerary::{Itinerary, Place};
use super::sending::Sender;
use super::summary::Walkers;
use super::twins::Sightings;
use super::{Afterwards, Fate, Options, Summary, TourError};
use crate::client::Client;

/// Where a tour takes place.
pub struct Surroundings<'a> {
    /// Asks any node of the cluster.
    pub client: &'a Client,
    /// Set by whoever wants the tour to end early.
    pub stop: &'a AtomicBool,
    /// Is told how many moves have ended.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("client", &self.client).finish_non_exhaustive()
    }
}

/// The result of a tour, and what people should know beside it.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The numbers.
    pub summary: Summary,
    /// What went wrong besides; empty where nothing did.
    pub notes: Vec<String>,
    /// Why the tour ended early, where the node that it asks is gone.
    pub gone: Option<String>,
    /// What became of its walkers.
    pub fate: Fate,
}

impl Ended {
    /// Whether all was well.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.summary.is_clean() && self.notes.is_empty() && self.gone.is_none()
    }
}

/// Runs a tour and removes its walkers.
///
/// # Errors
///
/// If it could not begin, or was stopped; see [`TourError`].
pub fn run(options: &Options, around: &Surroundings<'_>) -> Result<Ended, TourError> {
    let calls = Calls::new(around.client, around.stop, options.timeout);
    let mut walkers = Vec::new();
    let name = &tour_name();
    let ended = gather(name, options, &calls, &mut walkers)
        .and_then(|places| perform(options, around, &calls, Cast { name, places, walkers: &walkers }));
    let fate = match options.afterwards {
        Afterwards::Keep => Fate::Kept(walkers.len()),
        Afterwards::Despawn => remove(&calls, &walkers),
    };
    match ended {
        Ok((summary, mut notes)) => {
            if let Fate::Left { left, .. } = fate {
                notes.push(format!("{left} walkers could not be removed"));
            }
            Ok(Ended { summary, notes, gone: calls.gone().map(str::to_owned), fate })
        }
        Err(TourError::Stopped { .. }) => Err(TourError::Stopped { fate }),
        Err(error) => Err(error),
    }
}

/// Removes the walkers, as far as the cluster answers: nobody is asked who is gone.
fn remove(calls: &Calls<'_>, walkers: &[EntityRow]) -> Fate {
    let is_left = |walker: &&EntityRow| calls.gone().is_some() || calls.despawn(&walker.entity).is_err();
    match walkers.iter().filter(is_left).count() {
        0 => Fate::Removed,
        left => Fate::Left { left, of: walkers.len() },
    }
}

/// Who takes part, and where.
struct Cast<'a> {
    name: &'a str,
    places: Vec<Place>,
    walkers: &'a [EntityRow],
}

/// Spawns walkers in every scene; those that came into being are in `walkers`, also after a failure.
fn gather(
    name: &str,
    options: &Options,
    calls: &Calls<'_>,
    walkers: &mut Vec<EntityRow>,
) -> Result<Vec<Place>, TourError> {
    let failed = |what| move |source| TourError::Call { what, source };
    let places = calls.open_scenes().map_err(failed("the scenes cannot be listed"))?;
    if places.len() < 2 {
        return Err(TourError::TooFewScenes { open: places.len() });
    }
    for place in &places {
        // One by one: whatever is there when the next one is refused is known, and taken away again.
        for number in 1..=options.walkers_per_scene {
            let label = format!("{name}-{}{number}", place.scene);
            let spawned = calls.spawn(&place.scene, label).map_err(failed("a walker cannot be spawned"))?;
            walkers.extend(spawned);
        }
    }
    Ok(places)
}

fn perform(
    options: &Options,
    around: &Surroundings<'_>,
    calls: &Calls<'_>,
    cast: Cast<'_>,
) -> Result<(Summary, Vec<String>), TourError> {
    let ids: Vec<String> = cast.walkers.iter().map(|walker| walker.entity.clone()).collect();
    let at = |walker: &EntityRow| Place { node: walker.node.clone(), scene: walker.scene.clone() };
    let starts = cast.walkers.iter().map(|walker| (walker.entity.clone(), at(walker))).collect();
    let nodes: BTreeMap<&str, ()> = cast.places.iter().map(|place| (place.node.as_str(), ())).collect();
    let itinerary = Itinerary::new(options.moves, cast.places.clone(), starts, options.seed);
    let crew = Crew::new(calls, itinerary, options.moves.saturating_mul(MESSAGES_PER_MOVE), around.progress);
    let name = cast.name;
    let began = Instant::now();
    let mut tally = Tally::default();

    let (walkers, elapsed) = thread::scope(|scope| {
        let crew = &crew;
        let watcher = scope.spawn(|| crew.watch(Sightings::of(ids.iter().cloned())));
        let senders: Vec<_> = nodes
            .keys()
            .map(|&node| {
                let sender = Sender::new(format!("{name}@{node}"), &ids);
                scope.spawn(move || crew.send(node, sender))
            })
            .collect();
        let movers: Vec<_> = (0..options.movers.min(ids.len())).map(|_| scope.spawn(|| crew.travel())).collect();
        attend(crew, &movers, options.timeout);
        movers.into_iter().for_each(|mover| mover.join().expect("a mover does not panic"));
        crew.moves_are_done();
        let deadline = Instant::now() + options.timeout;
        let is_waited_for = || Instant::now() < deadline && calls.gone().is_none();
        while !senders.iter().all(thread::ScopedJoinHandle::is_finished) && is_waited_for() {
            thread::sleep(POLL_EVERY);
        }
        crew.halt();
        let senders = senders.into_iter().map(|sender| sender.join().expect("a sender does not panic"));
        let senders: Vec<(&str, Sender)> = nodes.keys().copied().zip(senders).collect();
        let accounts = await_applied(calls, &senders, deadline);
        let elapsed = began.elapsed();
        let lost = read_ledgers(calls, crew, &accounts, &mut tally);
        crew.is_quiet();
        let twins = watcher.join().expect("the watcher does not panic").count();
        (Walkers { twins, lost }, elapsed)
    });

    if calls.is_stopped() {
        return Err(TourError::Stopped { fate: Fate::Kept(ids.len()) });
    }
    let (itinerary, notes) = crew.disband();
    let summary = Summary::new(itinerary.trips(), &tally, &walkers, elapsed, options.seed);
    Ok((summary, notes))
}

/// Waits until all moves have ended. Where none has for as long as a tour may wait, it is given up; what is under way
/// has its own, shorter time.
fn attend(crew: &Crew<'_>, movers: &[thread::ScopedJoinHandle<'_, ()>], timeout: Duration) {
    let (mut ended, mut since) = (crew.count_ended(), Instant::now());
    while !movers.iter().all(thread::ScopedJoinHandle::is_finished) {
        let now = crew.count_ended();
        if now != ended {
            (ended, since) = (now, Instant::now());
        } else if since.elapsed() > timeout {
            crew.give_up(format!("no move has ended for {}", humantime::format_duration(timeout)));
            return;
        }
        thread::sleep(POLL_EVERY);
    }
}

/// Waits until every walker has applied what was surely accepted for it and can still come, or time is up; gives the
/// accounts as they stand by then.
fn await_applied(calls: &Calls<'_>, senders: &[(&str, Sender)], deadline: Instant) -> Vec<Account> {
    let mut done = BTreeSet::new();
    loop {
        // Without an answer nobody is taken for dead, and everything may still come.
        if calls.gone().is_some() {
            return accounts(&[], senders);
        }
        let nodes = calls.nodes().unwrap_or_default();
        let may_come = nodes.is_empty() || nodes.iter().any(|node| node.waiting > 0);
        let accounts = accounts(&nodes, senders);
        for (walker, accounts) in by_walker(&accounts) {
            let is_done = done.contains(walker)
                || match calls.show(walker) {
                    Ok(report) => Ledger::read(&report.body).is_ok_and(|ledger| {
                        let is_reset = report.reset > 0;
                        let can_be = |account: &Account| !may_come && (is_reset || account.outlived);
                        accounts.iter().all(|account| ledger.has_all_of(account) || can_be(account))
                    }),
                    Err(error) => is_gone(&error),
                };
            if is_done {
                done.insert(walker.to_owned());
            }
        }
        let is_all = by_walker(&accounts).into_keys().all(|walker| done.contains(walker));
        if is_all || calls.is_stopped() || Instant::now() >= deadline {
            return accounts;
        }
        thread::sleep(REPEAT_EVERY);
    }
}

/// What was accepted, and whether by a life that is over.
fn accounts(nodes: &[NodeReport], senders: &[(&str, Sender)]) -> Vec<Account> {
    let is_over = |name: &str, incarnation: u32| {
        let node = nodes.iter().find(|node| node.node == name);
        node.is_some_and(|node| {
            node.incarnation > incarnation || (node.incarnation == incarnation && node.state == "dead")
        })
    };
    senders.iter().flat_map(|(node, sender)| sender.accounts(|incarnation| is_over(node, incarnation))).collect()
}

/// Compares every walker's ledger with what was accepted for it; gives how many walkers were lost with their node. A
/// ledger that cannot be read counts as empty.
fn read_ledgers(calls: &Calls<'_>, crew: &Crew<'_>, accounts: &[Account], tally: &mut Tally) -> u64 {
    let mut lost = 0;
    for (walker, accounts) in by_walker(accounts) {
        let (ledger, is_reset) = match calls.show(walker).map(|report| (Ledger::read(&report.body), report.reset > 0)) {
            Ok((Ok(ledger), is_reset)) => (ledger, is_reset),
            Ok((Err(fault), is_reset)) => {
                crew.note(format!("the ledger of {walker} cannot be read: {fault}"));
                (Ledger::default(), is_reset)
            }
            Err(error) if is_gone(&error) => {
                lost += 1;
                crew.lose(walker);
                crew.note(epitaph(calls, walker));
                accounts.iter().for_each(|account| tally.give_up(account));
                continue;
            }
            // Nobody can be asked: nothing was seen to be lost.
            Err(_) if calls.gone().is_some() => {
                accounts.iter().for_each(|account| tally.give_up(account));
                continue;
            }
            Err(error) => {
                crew.note(format!("{walker} cannot be read: {error}"));
                (Ledger::default(), false)
            }
        };
        for account in accounts {
            let outlived = account.outlived || is_reset;
            tally.add(&Account { outlived, ..account.clone() }, ledger.entry(&account.sender));
        }
    }
    lost
}

/// What people are told of a walker that is gone.
fn epitaph(calls: &Calls<'_>, walker: &str) -> String {
    let rows = calls.lost().unwrap_or_default();
    match rows.iter().find(|row| row.entity == walker) {
        Some(row) => {
            let name = row.label.as_deref().unwrap_or(walker);
            format!("{name} ({walker}) was lost with life {} of {}", row.incarnation, row.node)
        }
        None => format!("{walker} is gone"),
    }
}

fn by_walker(accounts: &[Account]) -> BTreeMap<&str, Vec<&Account>> {
    let mut by_walker: BTreeMap<&str, Vec<&Account>> = BTreeMap::new();
    for account in accounts {
        by_walker.entry(&account.entity).or_default().push(account);
    }
    by_walker
}

/// A name that no other tour has, whatever its seed.
fn tour_name() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    format!("tour-{}", &id[..8])
}

/// Accepted messages wanted for each attempt to move.
const MESSAGES_PER_MOVE: u64 = 10;

/// Between two looks at threads that have no end in common to wait for: all may end, and time may.
const POLL_EVERY: Duration = Duration::from_millis(10);
