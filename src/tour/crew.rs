//! The threads of a tour: senders, movers, and the one that watches for twins.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use slipgate_proto::admin::{MoveReport, ProblemKind};

use super::calls::{Calls, PATIENCE, REPEAT_EVERY, is_gone};
use super::itinerary::{Ending, Itinerary, Next, Trip};
use super::sending::Sender;
use super::twins::Sightings;
use crate::admin::body::ENTITIES_MAX;
use crate::client::CallError;

/// What the threads share.
pub(super) struct Crew<'a> {
    calls: &'a Calls<'a>,
    itinerary: Mutex<Itinerary>,
    moves_seen: Mutex<BTreeSet<String>>,
    /// Walkers that were lost with their node.
    gone: Mutex<BTreeSet<String>>,
    notes: Mutex<Vec<String>>,
    accepted: AtomicU64,
    wanted: u64,
    moves_done: AtomicBool,
    /// Set where going on makes no sense.
    given_up: AtomicBool,
    halted: AtomicBool,
    quiet: AtomicBool,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl<'a> Crew<'a> {
    /// A crew that wants so many messages accepted.
    pub(super) fn new(
        calls: &'a Calls<'a>,
        itinerary: Itinerary,
        wanted: u64,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Self {
        Self {
            calls,
            itinerary: Mutex::new(itinerary),
            moves_seen: Mutex::default(),
            gone: Mutex::default(),
            notes: Mutex::default(),
            accepted: AtomicU64::new(0),
            wanted,
            moves_done: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            halted: AtomicBool::new(false),
            quiet: AtomicBool::new(false),
            progress,
        }
    }

    /// Says that all moves have ended: senders stop once enough was accepted.
    pub(super) fn moves_are_done(&self) {
        self.moves_done.store(true, Ordering::Relaxed);
    }

    /// Says that senders stop, whatever was accepted.
    pub(super) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
    }

    /// Ends the tour early: no more trips, no more messages. Told once, for the first reason is the cause of others.
    pub(super) fn give_up(&self, why: String) {
        if !self.given_up.swap(true, Ordering::Relaxed) {
            self.note(why);
            self.halt();
        }
    }

    /// How many moves have ended.
    pub(super) fn count_ended(&self) -> u64 {
        hold(&self.itinerary).count_ended()
    }

    /// Says that nothing happens any more: the watcher looks twice more and ends.
    pub(super) fn is_quiet(&self) {
        self.quiet.store(true, Ordering::Relaxed);
    }

    /// Writes down what people should know beside the numbers; it spoils the tour.
    pub(super) fn note(&self, text: String) {
        hold(&self.notes).push(text);
    }

    /// Says that a walker was lost with its node: nobody writes to it any more, or misses it.
    pub(super) fn lose(&self, walker: &str) {
        hold(&self.gone).insert(walker.to_owned());
    }

    /// What the crew leaves behind.
    pub(super) fn disband(self) -> (Itinerary, Vec<String>) {
        let accepted = self.accepted.into_inner();
        let mut notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        if accepted < self.wanted {
            notes.push(format!("only {accepted} of the {} messages that were wanted were accepted", self.wanted));
        }
        (self.itinerary.into_inner().unwrap_or_else(PoisonError::into_inner), notes)
    }

    /// Sends without pause through one node, until there is enough.
    pub(super) fn send(&self, via: &str, mut sender: Sender) -> Sender {
        let mut failing: Option<Instant> = None;
        while !self.has_enough() {
            hold(&self.gone).iter().for_each(|walker| sender.leave(walker));
            let batch = sender.batch();
            if batch.is_empty() {
                break;
            }
            match self.calls.send(via, batch.messages()) {
                Ok(report) => {
                    failing = None;
                    let accepted = sender.settle(&batch, &report);
                    self.accepted.fetch_add(accepted, Ordering::Relaxed);
                    if accepted == 0 {
                        thread::sleep(BUSY_PAUSE);
                    }
                }
                Err(error) => {
                    if !error.is_certain() {
                        sender.lose(&batch);
                    }
                    // What it had accepted before, the ledgers tell.
                    if self.has_stopped(via, &error) {
                        break;
                    }
                    if self.calls.gone().is_some() {
                        break;
                    }
                    if failing.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                        self.note(format!("the sender through {via} gave up: {error}"));
                        break;
                    }
                    thread::sleep(REPEAT_EVERY);
                }
            }
        }
        sender
    }

    /// Whether the node that was to send has stopped, or is about to: others go on sending.
    fn has_stopped(&self, node: &str, error: &CallError) -> bool {
        let CallError::Problem(problem) = error else { return false };
        match problem.reason.as_str() {
            "stopping" => true,
            // It may only be away for a moment; after the verdict it is not.
            "node_gone" | "node_lost" => self.calls.state_of(node).is_ok_and(|state| state == "dead"),
            _ => false,
        }
    }

    fn has_enough(&self) -> bool {
        let done = self.moves_done.load(Ordering::Relaxed) && self.accepted.load(Ordering::Relaxed) >= self.wanted;
        done || self.halted.load(Ordering::Relaxed) || self.calls.is_stopped()
    }

    /// Moves walkers, one at a time, until no trips are left.
    pub(super) fn travel(&self) {
        while !self.is_over() {
            let next = hold(&self.itinerary).decide();
            match next {
                Next::Trip(trip) => {
                    let ending = self.take(&trip);
                    match ending {
                        Ending::Moved { .. } => {}
                        Ending::Gone => self.lose(&trip.entity),
                        // What stands in the way does so for a while: the trips are not for nothing.
                        Ending::Refused | Ending::Failed | Ending::Unanswered => thread::sleep(IN_THE_WAY),
                    }
                    let mut itinerary = hold(&self.itinerary);
                    itinerary.ended(trip, ending);
                    (self.progress)(itinerary.count_ended());
                }
                Next::Wait => thread::sleep(BUSY_PAUSE),
                Next::Done => return,
            }
        }
    }

    fn is_over(&self) -> bool {
        self.calls.is_stopped() || self.calls.gone().is_some() || self.given_up.load(Ordering::Relaxed)
    }

    fn take(&self, trip: &Trip) -> Ending {
        match self.calls.migrate(&trip.entity, &trip.to) {
            Ok(report) => self.ending_of(&report).unwrap_or_else(|| self.look_up(trip)),
            Err(error) if is_gone(&error) => Ending::Gone,
            Err(CallError::Problem(problem)) if problem.kind == ProblemKind::Refused => Ending::Refused,
            Err(CallError::Problem(problem)) if problem.kind != ProblemKind::Timeout => Ending::Failed,
            // The move never began, and the answer says so.
            Err(CallError::Problem(problem)) if problem.reason == "home_unreachable" => Ending::Failed,
            Err(CallError::Unreachable { .. }) => Ending::Failed,
            Err(_) => self.look_up(trip),
        }
    }

    /// How a move ended; none while it is open.
    fn ending_of(&self, report: &MoveReport) -> Option<Ending> {
        let ending = match report.result.as_str() {
            "ok" => Ending::Moved { pause: Duration::from_micros(report.cost.pause_us) },
            "refused" => Ending::Refused,
            "open" => return None,
            _ => Ending::Failed,
        };
        hold(&self.moves_seen).insert(report.id.clone());
        Some(ending)
    }

    /// Finds out how a move ended whose answer was lost: it is the walker's newest that nobody has seen.
    fn look_up(&self, trip: &Trip) -> Ending {
        let deadline = Instant::now() + LOOK_UP;
        while Instant::now() < deadline && !self.is_over() {
            if let Ok(moves) = self.calls.latest_moves() {
                let newest = moves.iter().find(|report| report.entity == trip.entity);
                let unseen = newest.filter(|report| !hold(&self.moves_seen).contains(&report.id));
                if let Some(ending) = unseen.and_then(|report| self.ending_of(report)) {
                    return ending;
                }
            }
            thread::sleep(REPEAT_EVERY);
        }
        Ending::Unanswered
    }

    /// Lists all entities, again and again, and twice more when all is quiet. Where there are more than a
    /// list can hold, only those listed are watched.
    pub(super) fn watch(&self, mut sightings: Sightings) -> Sightings {
        let (mut last, mut is_whole) = (0, false);
        while last < 2 && !self.calls.is_stopped() && self.calls.gone().is_none() {
            last += u32::from(self.quiet.load(Ordering::Relaxed));
            match self.calls.entities() {
                Ok(rows) => {
                    is_whole = rows.len() < ENTITIES_MAX as usize;
                    sightings.see(&rows);
                }
                Err(error) if last > 0 && self.calls.gone().is_none() => {
                    self.note(format!("the last look for twins failed: {error}"))
                }
                Err(_) => {}
            }
            if last == 0 {
                thread::sleep(WATCH_EVERY);
            }
        }
        if is_whole && self.calls.gone().is_none() {
            let gone = hold(&self.gone);
            let missing = sightings.absent().filter(|walker| !gone.contains(*walker));
            missing.for_each(|walker| self.note(format!("{walker} is active nowhere")));
        }
        sightings
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a sender whose whole batch was busy rests, and a mover for whom all walkers are under way: nobody tells when
/// there is room, or one arrives.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// How long a mover rests after a move that was refused, or failed.
const IN_THE_WAY: Duration = Duration::from_millis(20);

/// How long an outcome is looked for: longer than a move's own deadlines.
const LOOK_UP: Duration = Duration::from_secs(15);

/// How often entities are listed: each list is asked of every node, and is to disturb nothing.
const WATCH_EVERY: Duration = Duration::from_millis(100);
