//! The seam between links and the network: who can be dialled, who dials here, and bytes both ways.
//!
//! TCP stands behind it in `slipgate`; [`memory`] serves tests. TLS and a simulated network belong here.

pub mod memory;

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes both ways.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A connection.
pub type Connection = Box<dyn ByteStream>;

/// Something that will be there later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A network.
pub trait Transport: Send + Sync + Debug {
    /// Dials an address: `host:port`.
    fn dial<'a>(&'a self, address: &'a str) -> Later<'a, io::Result<Connection>>;
}

/// Where others dial.
pub trait Listener: Send {
    /// The next connection, and where it comes from.
    fn accept(&mut self) -> Later<'_, io::Result<(Connection, String)>>;
}
