//! TCP behind the seam of links.
//!
//! Sockets send at once (no Nagle) and notice a peer that takes nothing any more within
//! `SILENCE`. A host name is looked up anew at every dial, within the dial's time: a container that
//! starts again may have another address.

use std::io;
use std::time::Duration;

use slipgate_actors::transport::{Connection, Later, Listener, Transport};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

impl Transport for Tcp {
    fn dial<'a>(&'a self, address: &'a str) -> Later<'a, io::Result<Connection>> {
        Box::pin(async move {
            let dialled = timeout(DIAL, TcpStream::connect(address)).await;
            let stream = dialled.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no answer in time"))??;
            tune(&stream)?;
            Ok(Box::new(stream) as Connection)
        })
    }
}

/// A TCP port where peers dial.
#[derive(Debug)]
pub struct TcpPort {
    listener: TcpListener,
}

impl TcpPort {
    /// Accepts at a port that is bound already.
    ///
    /// # Errors
    ///
    /// If the system refuses; outside a tokio runtime this panics, as tokio does.
    pub fn new(bound: std::net::TcpListener) -> io::Result<Self> {
        bound.set_nonblocking(true)?;
        Ok(Self { listener: TcpListener::from_std(bound)? })
    }
}

impl Listener for TcpPort {
    fn accept(&mut self) -> Later<'_, io::Result<(Connection, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            tune(&stream)?;
            Ok((Box::new(stream) as Connection, from.to_string()))
        })
    }
}

fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(SILENCE / 2).with_interval(SILENCE / 5);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_tcp_user_timeout(Some(SILENCE))
}

/// How long a dial may take, looking the name up included.
const DIAL: Duration = Duration::from_secs(3);
/// How long a peer's machine may leave bytes unacknowledged: half the default lease.
const SILENCE: Duration = Duration::from_secs(5);
