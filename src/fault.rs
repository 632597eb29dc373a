//! Faults of our own: a panic on a node's thread that nobody guards, and the end of that node.
//!
//! ```text
//!   panic -> hook (telemetry::panics): the line -> met(): whose thread is it?
//!      a node that is this process      the process ends here and now, with 101
//!      a node that a program has        its lease ends here and now; `live` hears of it and ends all that the node has
//!      nobody's                         nothing: it is the program's own affair
//! ```
//!
//! actix drops an actor that panics and goes on with the others. A node that lacked one of them would renew its lease and
//! answer nobody; and what has met one broken invariant is not to be trusted with anything else
//! (docs/adr/0025).
//!
//! Keeps: nothing of a node takes a turn or sends once one of its threads has panicked; the first fault is the one told.
//! Leaves out: panics of game code, which are guarded where it is called; the line in the log.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_rt::System;
use slipgate_actors::lease::Lease;
use slipgate_actors::panic::text_of;
use tokio::sync::watch;

use crate::cli::failure::Exit;

/// A broken invariant of Slipgate itself, as the panic told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What the panic says: what was expected, and what was found.
    pub what: String,
    /// File, line and column.
    pub place: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}, at {place}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Whom a panic concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    /// A node that is this process.
    Process,
    /// A node that a program has.
    Node,
    /// No node.
    Nobody,
}

/// What ends when a thread of a node panics; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    concern: Concern,
    fault: watch::Sender<Option<Fault>>,
    /// Of the life that the node is in.
    lease: Mutex<Option<Lease>>,
}

impl Alarm {
    /// For a node that is this process.
    pub(crate) fn of_the_process() -> Self {
        Self::new(Concern::Process)
    }

    /// For a node that a program has.
    pub(crate) fn of_a_program() -> Self {
        Self::new(Concern::Node)
    }

    fn new(concern: Concern) -> Self {
        Self { inner: Arc::new(Inner { concern, fault: watch::Sender::new(None), lease: Mutex::default() }) }
    }

    /// Sets it for every thread of the actix system that this thread is of: its own, and those of its arbiters.
    ///
    /// # Panics
    ///
    /// Outside an actix system.
    pub(crate) fn set(&self) -> Set {
        let system = System::current().id();
        lock(&ALARMS).insert(system, self.clone());
        Set { system }
    }

    /// From here on a fault ends this lease.
    pub(crate) fn ends(&self, lease: Lease) {
        *lock(&self.inner.lease) = Some(lease);
        // One that was raised meanwhile has found no lease.
        if self.inner.fault.borrow().is_some() {
            self.end_lease();
        }
    }

    /// Waits for a fault.
    pub(crate) async fn raised(&self) -> Fault {
        let mut faults = self.inner.fault.subscribe();
        let fault = faults.wait_for(Option::is_some).await.expect("its sender is in here").clone();
        fault.expect("it was waited for")
    }

    fn raise(&self, fault: Fault) {
        self.inner.fault.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(fault);
            is_first
        });
        self.end_lease();
    }

    fn end_lease(&self) {
        if let Some(lease) = &*lock(&self.inner.lease) {
            lease.end();
        }
    }
}

/// An alarm is set until this is dropped.
#[derive(Debug)]
pub(crate) struct Set {
    system: usize,
}

impl Drop for Set {
    fn drop(&mut self) {
        lock(&ALARMS).remove(&self.system);
    }
}

/// For the panic hook: whom a panic on this thread concerns.
pub(crate) fn concern() -> Concern {
    alarm().map_or(Concern::Nobody, |alarm| alarm.inner.concern)
}

/// For the panic hook, once the panic is told: ends the node that this thread is of, and does not come back if that is
/// this process.
pub(crate) fn met(panic: &PanicHookInfo<'_>) {
    let Some(alarm) = alarm() else { return };
    if alarm.inner.concern == Concern::Process {
        end_process();
    }
    let place = panic.location().map(ToString::to_string);
    alarm.raise(Fault { what: text_of(panic.payload()).to_owned(), place });
}

fn alarm() -> Option<Alarm> {
    let system = System::try_current()?;
    lock(&ALARMS).get(&system.id()).cloned()
}

#[expect(
    clippy::disallowed_methods,
    reason = "no thread of a node that has met a fault is to go on, this one included"
)]
fn end_process() -> ! {
    std::process::exit(i32::from(Exit::Fault.code()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// By the number of the actix system. The hook is the process's, and has nothing else to go by than its thread.
static ALARMS: Mutex<BTreeMap<usize, Alarm>> = Mutex::new(BTreeMap::new());

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use slipgate_actors::clock::NodeClock;

    use super::*;

    fn fault(what: &str) -> Fault {
        Fault { what: what.to_owned(), place: Some("a.rs:1:2".to_owned()) }
    }

    fn lease() -> Lease {
        let clock = NodeClock::start();
        Lease::new(clock.now() + Duration::from_secs(60), clock)
    }

    #[test]
    fn a_fault_ends_the_lease_before_anybody_hears_of_it_and_the_first_one_is_told() {
        let (alarm, lease) = (Alarm::of_a_program(), lease());
        alarm.ends(lease.clone());
        assert!(lease.is_held());
        alarm.raise(fault("first"));
        assert!(!lease.is_held());
        alarm.raise(fault("second"));
        let told = crate::block_on(alarm.raised());
        assert_eq!((&told, told.to_string().as_str()), (&fault("first"), "first, at a.rs:1:2"));
    }

    #[test]
    fn a_life_that_begins_after_the_fault_has_no_lease() {
        let (alarm, lease) = (Alarm::of_a_program(), lease());
        alarm.raise(fault("early"));
        alarm.ends(lease.clone());
        assert!(!lease.is_held());
    }

    #[test]
    fn a_thread_of_no_node_and_one_whose_node_is_over_concern_nobody() {
        assert_eq!(concern(), Concern::Nobody);
        actix_rt::System::new().block_on(async {
            assert_eq!(concern(), Concern::Nobody);
            let set = Alarm::of_a_program().set();
            assert_eq!(concern(), Concern::Node);
            drop(set);
            assert_eq!(concern(), Concern::Nobody);
        });
    }
}
