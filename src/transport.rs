//! TCP behind the seam of links.
//!
//! Sockets send at once (no Nagle) and notice a machine that takes nothing any more within
//! [`Tcp::silence`]. A host name is looked up anew at every dial, within the dial's time: a container that
//! starts again may have another address.

use std::io;
use std::time::Duration;

use slipgate_actors::transport::{Connection, Later, Listener, Transport};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// How long a peer's machine may leave bytes unacknowledged.
    pub silence: Duration,
}

impl Transport for Tcp {
    fn dial<'a>(&'a self, address: &'a str) -> Later<'a, io::Result<Connection>> {
        Box::pin(async move {
            let dialled = timeout(DIAL, TcpStream::connect(address)).await;
            let stream = dialled.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no answer in time"))??;
            tune(&stream, self.silence)?;
            Ok(Box::new(stream) as Connection)
        })
    }
}

/// A TCP port where peers dial.
#[derive(Debug)]
pub struct TcpPort {
    listener: TcpListener,
    tcp: Tcp,
}

impl TcpPort {
    /// Accepts at a port that is bound already.
    ///
    /// # Errors
    ///
    /// If the system refuses; outside a tokio runtime this panics, as tokio does.
    pub fn new(bound: std::net::TcpListener, tcp: Tcp) -> io::Result<Self> {
        bound.set_nonblocking(true)?;
        Ok(Self { listener: TcpListener::from_std(bound)?, tcp })
    }
}

impl Listener for TcpPort {
    fn accept(&mut self) -> Later<'_, io::Result<(Connection, String)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            tune(&stream, self.tcp.silence)?;
            Ok((Box::new(stream) as Connection, from.to_string()))
        })
    }
}

fn tune(stream: &TcpStream, silence: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    // The system counts these in whole seconds, and has none at 0.
    let [time, interval] = [silence / 2, silence / 5].map(|wait| wait.max(Duration::from_secs(1)));
    let keepalive = TcpKeepalive::new().with_time(time).with_interval(interval);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_tcp_user_timeout(Some(silence))
}

/// How long a dial may take, looking the name up included.
const DIAL: Duration = Duration::from_secs(3);
