//! What stands between two nodes: it passes on what they say, until it is told not to.
//!
//! ```text
//!   dialler ---- In ---> proxy ---- In ---> node
//!           <-- Back ---       <-- Back ---
//! ```
//!
//! A node is dialled through its proxy if it advertises the proxy's address. Each caller is known by the name in its
//! handshake, so one link can be cut and the others left. A cut passes nothing on and closes nothing, as a broken
//! middlebox does, also for connections that are made meanwhile; once it is mended, what was held back goes on. A slow one
//! passes everything on after a while, both ways. A severed link loses its connections, and new ones are let through.
//!
//! Keeps: a direction that is cut passes not one byte on, and what was not passed on is not read either.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use slipgate_proto::handshake::{self, Hello, Purpose};

/// A direction, as the caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the caller to the node.
    In,
    /// From the node to the caller.
    Back,
}

/// Both directions.
pub(crate) const BOTH: &[Direction] = &[Direction::In, Direction::Back];

/// Stands before one node.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    wires: Arc<Wires>,
}

#[derive(Debug, Default)]
struct Wires {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What is cut, by the caller's name.
    cuts: BTreeMap<String, Vec<Direction>>,
    /// How long what is said takes, by the caller's name.
    delays: BTreeMap<String, Duration>,
    /// Both ends of each connection that is not known to be closed, by the caller's name.
    open: Vec<(String, TcpStream, TcpStream)>,
    is_over: bool,
}

impl Proxy {
    /// Stands before the node at `node`, whether or not it listens yet.
    pub(crate) fn before(node: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the system has a port left");
        let address = listener.local_addr().expect("a bound socket has an address");
        let wires = Arc::<Wires>::default();
        let taker = wires.clone();
        thread::spawn(move || {
            for caller in listener.incoming() {
                if taker.hold().is_over {
                    return;
                }
                let wires = taker.clone();
                // Whoever goes away in the middle of it has gone away.
                thread::spawn(move || caller.and_then(|caller| wires.join(caller, node)));
            }
        });
        Self { address, wires }
    }

    /// Where the node is dialled.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Passes nothing on any more between a caller and the node in these directions.
    pub(crate) fn cut(&self, caller: &str, directions: &[Direction]) {
        self.wires.hold().cuts.insert(caller.to_owned(), directions.to_vec());
    }

    /// Passes on what a caller and the node say only after so long, and up to twice that where they say much.
    pub(crate) fn slow(&self, caller: &str, delay: Duration) {
        self.wires.hold().delays.insert(caller.to_owned(), delay);
    }

    /// Passes everything on again, at once.
    pub(crate) fn mend(&self, caller: &str) {
        let mut state = self.wires.hold();
        state.cuts.remove(caller);
        state.delays.remove(caller);
        drop(state);
        self.wires.changed.notify_all();
    }

    /// Closes every connection of a caller.
    pub(crate) fn sever(&self, caller: &str) {
        let mut state = self.wires.hold();
        for (_, near, far) in state.open.extract_if(.., |(name, ..)| name == caller) {
            // It may be closed already.
            let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.wires.hold().is_over = true;
        self.wires.changed.notify_all();
        // The listener looks up for one more caller.
        let _ = TcpStream::connect(self.address);
    }
}

impl Wires {
    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a direction is open.
    fn wait(&self, caller: &str, direction: Direction) {
        let is_cut =
            |state: &mut State| !state.is_over && state.cuts.get(caller).is_some_and(|cuts| cuts.contains(&direction));
        drop(self.changed.wait_while(self.hold(), is_cut));
    }

    fn join(self: Arc<Self>, mut near: TcpStream, node: SocketAddr) -> io::Result<()> {
        let (caller, said) = introduction(&mut near)?;
        self.wait(&caller, Direction::In);
        let mut far = TcpStream::connect(node)?;
        far.write_all(&said)?;
        for stream in [&near, &far] {
            stream.set_nodelay(true)?;
        }
        self.hold().open.push((caller.clone(), near.try_clone()?, far.try_clone()?));
        let back = {
            let (wires, caller) = (self.clone(), caller.clone());
            let (far, near) = (far.try_clone()?, near.try_clone()?);
            thread::spawn(move || wires.pass_on(&caller, Direction::Back, far, near))
        };
        self.pass_on(&caller, Direction::In, near, far);
        back.join().expect("a pump does not panic");
        Ok(())
    }

    /// Passes on until one side ends.
    fn pass_on(&self, caller: &str, direction: Direction, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 256 << 10];
        loop {
            self.wait(caller, direction);
            let Ok(read @ 1..) = from.read(&mut buffer) else { break };
            let delay = self.hold().delays.get(caller).copied();
            delay.into_iter().for_each(thread::sleep);
            // What was read just before the cut is not passed on before it is mended.
            self.wait(caller, direction);
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        self.wait(caller, direction);
        let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
    }
}

/// Reads a caller's handshake, and its name in it.
fn introduction(caller: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut said = vec![0; 4];
    caller.read_exact(&mut said)?;
    let length = u32::from_be_bytes([said[0], said[1], said[2], said[3]]) as usize;
    said.resize(4 + length, 0);
    caller.read_exact(&mut said[4..])?;
    let name = match handshake::decode::<Hello>(&said[4..]) {
        Ok(Hello { purpose: Purpose::Join(request), .. }) => request.name.to_string(),
        Ok(Hello { purpose: Purpose::Link { name, .. }, .. }) => name.to_string(),
        Err(_) => String::new(),
    };
    Ok((name, said))
}
