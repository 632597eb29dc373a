//! The strings that nodes with fail points hang on: one is told where to stop, says that it is there, and waits.
//!
//! A process dials in at its start and says whose node it is; the latest one counts. What is said is in
//! `actors/src/fail_point.rs`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The strings of all nodes of a cluster.
#[derive(Debug)]
pub(crate) struct Strings {
    address: SocketAddr,
    ends: Arc<Mutex<BTreeMap<String, End>>>,
    is_over: Arc<AtomicBool>,
}

/// Those of one process.
#[derive(Debug)]
struct End {
    wire: TcpStream,
    words: Receiver<String>,
}

impl Strings {
    /// Holds them, for whoever comes.
    pub(crate) fn hold() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the system has a port left");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (ends, is_over) = (Arc::<Mutex<BTreeMap<String, End>>>::default(), Arc::<AtomicBool>::default());
        let strings = Self { address, ends: ends.clone(), is_over: is_over.clone() };
        thread::spawn(move || {
            for wire in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (told, words) = mpsc::channel();
                let mut lines = BufReader::new(wire.try_clone().expect("a second handle")).lines();
                let Some(Ok(name)) = lines.next() else { continue };
                thread::spawn(move || lines.map_while(Result::ok).try_for_each(|word| told.send(word)));
                ends.lock().unwrap_or_else(PoisonError::into_inner).insert(name, End { wire, words });
            }
        });
        strings
    }

    /// Where they are held.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A node is to stop once it reaches a step with an entity. It has heard so when this returns.
    pub(crate) fn arm(&self, node: &str, step: &str, entity: &str) {
        self.with(node, |end| {
            writeln!(end.wire, "arm {step} {entity}").expect("the node runs");
            assert_eq!(end.words.recv_timeout(PATIENCE).as_deref(), Ok("armed"), "{node} at {step}");
        });
    }

    /// Waits until it is there.
    pub(crate) fn await_reached(&self, node: &str, step: &str) {
        self.with(node, |end| {
            let word = end.words.recv_timeout(PATIENCE);
            assert_eq!(word, Ok(format!("at {step}")), "{node} has not reached {step}");
        });
    }

    /// Lets it go on. One that has died meanwhile does not hear it.
    pub(crate) fn release(&self, node: &str) {
        self.with(node, |end| drop(writeln!(end.wire, "go")));
    }

    fn with<T>(&self, node: &str, act: impl FnOnce(&mut End) -> T) -> T {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        act(ends.get_mut(node).unwrap_or_else(|| panic!("{node} hangs on no strings")))
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The listener looks up for one more caller.
        let _ = TcpStream::connect(self.address);
    }
}

/// A move that is asked for reaches each of its steps within milliseconds, on an idle machine.
const PATIENCE: Duration = Duration::from_secs(10);
