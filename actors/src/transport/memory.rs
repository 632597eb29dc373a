//! A network within one process.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;

use super::{Connection, Later, Listener, Transport};

/// A network of named places; every copy is the same network.
#[derive(Clone, Debug, Default)]
pub struct MemoryNetwork {
    places: Arc<Mutex<BTreeMap<String, mpsc::Sender<Connection>>>>,
}

impl MemoryNetwork {
    /// Listens under a name; whoever listened there before hears nothing any more.
    ///
    /// # Panics
    ///
    /// If another holder of the network panicked.
    #[must_use]
    pub fn listen(&self, address: &str) -> MemoryListener {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        self.places.lock().expect("no holder panics").insert(address.to_owned(), sender);
        MemoryListener { receiver }
    }
}

impl Transport for MemoryNetwork {
    fn dial<'a>(&'a self, address: &'a str) -> Later<'a, io::Result<Connection>> {
        Box::pin(async move {
            let place = self.places.lock().expect("no holder panics").get(address).cloned();
            let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "nobody listens there");
            let place = place.ok_or_else(refused)?;
            let (ours, theirs) = tokio::io::duplex(BUFFER);
            place.send(Box::new(theirs)).await.map_err(|_| refused())?;
            Ok(Box::new(ours) as Connection)
        })
    }
}

/// A place where others dial.
#[derive(Debug)]
pub struct MemoryListener {
    receiver: mpsc::Receiver<Connection>,
}

impl std::fmt::Debug for Box<dyn super::ByteStream> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

impl Listener for MemoryListener {
    fn accept(&mut self) -> Later<'_, io::Result<(Connection, String)>> {
        Box::pin(async move {
            let connection = self.receiver.recv().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "somebody else listens there");
            connection.map(|connection| (connection, "memory".to_owned())).ok_or_else(closed)
        })
    }
}

/// Connections that may wait to be accepted.
const BACKLOG: usize = 16;
/// Bytes on the way in one direction, as a socket's buffers hold them.
const BUFFER: usize = 256 << 10;
