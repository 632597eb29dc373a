//! The ports of a node: bound before anything else, so that a taken one is told at once.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

use super::NodeError;
use crate::config::Config;

pub(super) struct Ports {
    pub(super) peers: TcpListener,
    pub(super) admin: TcpListener,
    /// What peers dial.
    pub(super) dial: String,
    /// Where tools find the admin interface.
    pub(super) admin_dial: String,
}

impl Ports {
    pub(super) fn bind(config: &Config) -> Result<Self, NodeError> {
        let (peers, peers_at) = bind(config.node.listen)
            .map_err(|source| refused("the node", config.node.listen, "[node] listen", source))?;
        let (admin, admin_at) = bind(config.admin.listen)
            .map_err(|source| refused("the admin interface", config.admin.listen, "[admin] listen", source))?;
        Ok(Self { peers, admin, dial: config.node.dial(peers_at), admin_dial: config.admin.dial(admin_at) })
    }
}

/// A node that starts again at once finds its port in TIME_WAIT, and may have it all the same.
fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from(socket);
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

fn refused(what: &'static str, address: SocketAddr, key: &'static str, source: io::Error) -> NodeError {
    NodeError::Port { what, address, key, source }
}

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;
