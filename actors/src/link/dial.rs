//! Dialling: to become a member, and to be the link to one.

use slipgate_cluster::manager::{JoinReply, JoinRequest};
use slipgate_cluster::{NodeName, Session};
use slipgate_proto::handshake::{HandshakeError, Hello, PROTOCOL, Purpose, REPLY_BYTES_MAX, Refusal, Reply};
use thiserror::Error;

use super::text::{self, TextError};
use crate::transport::{Connection, Transport};

/// Who dials.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Name of the cluster.
    pub cluster: String,
    /// Name of the node.
    pub name: NodeName,
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum DialError {
    /// Nobody answers at the address.
    #[error("nothing answers at {address}: {source}")]
    NoAnswer {
        /// The address.
        address: String,
        /// What the network says.
        source: std::io::Error,
    },
    /// Whoever answers does not go through with the handshake.
    #[error("{address}: {source}")]
    Handshake {
        /// The address.
        address: String,
        /// What went wrong.
        source: TextError,
    },
    /// Whoever answers speaks another version of the protocol.
    #[error("{address} speaks protocol version {theirs}, this node speaks {PROTOCOL}")]
    OtherVersion {
        /// The address.
        address: String,
        /// Its version.
        theirs: u16,
    },
    /// The connection is refused.
    #[error("{address} refuses: {refusal}")]
    Refused {
        /// The address.
        address: String,
        /// Why.
        refusal: Refusal,
    },
    /// The answer belongs to another question.
    #[error("{address} answers with something else than asked")]
    Nonsense {
        /// The address.
        address: String,
    },
}

impl DialError {
    /// Whether dialling again may help without anybody changing a configuration.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NoAnswer { .. } => true,
            Self::Handshake { source, .. } => !matches!(source, TextError::Unreadable(_)),
            Self::Refused { refusal, .. } => match refusal {
                Refusal::OtherCluster { .. }
                | Refusal::OtherVersion { .. }
                | Refusal::OldIncarnation { .. }
                | Refusal::Dead { .. } => false,
                Refusal::NotKnown { .. } | Refusal::NotMe { .. } | Refusal::Joining | Refusal::Stopping => true,
            },
            Self::OtherVersion { .. } | Self::Nonsense { .. } => false,
        }
    }

    /// Whether whoever was to be reached as `to` has not been told of the one that dials, or is in a life before `to`.
    pub(super) fn is_to_a_stranger(&self, to: Session) -> bool {
        let Self::Refused { refusal, .. } = self else { return false };
        match refusal {
            Refusal::NotKnown { .. } => true,
            Refusal::NotMe { here, .. } => here.node == to.node && here.incarnation < to.incarnation,
            Refusal::OtherCluster { .. }
            | Refusal::OtherVersion { .. }
            | Refusal::OldIncarnation { .. }
            | Refusal::Dead { .. }
            | Refusal::Joining
            | Refusal::Stopping => false,
        }
    }
}

/// Asks whoever is at `address` to let this node join.
///
/// # Errors
///
/// If there is no answer; a refusal by the manager is an answer.
pub async fn join(
    transport: &dyn Transport,
    address: &str,
    caller: &Caller,
    request: JoinRequest,
) -> Result<JoinReply, DialError> {
    match exchange(transport, address, caller, Purpose::Join(request)).await? {
        (_, Reply::Join(reply)) => Ok(reply),
        (_, Reply::Linked | Reply::Refused(_)) => Err(DialError::Nonsense { address: address.to_owned() }),
    }
}

/// Asks whoever is at `address` to be the other end of a link.
///
/// # Errors
///
/// If there is no link.
pub async fn link(
    transport: &dyn Transport,
    address: &str,
    caller: &Caller,
    session: Session,
    to: Session,
) -> Result<Connection, DialError> {
    let purpose = Purpose::Link { name: caller.name.clone(), session, to };
    match exchange(transport, address, caller, purpose).await? {
        (connection, Reply::Linked) => Ok(connection),
        (_, Reply::Join(_) | Reply::Refused(_)) => Err(DialError::Nonsense { address: address.to_owned() }),
    }
}

async fn exchange(
    transport: &dyn Transport,
    address: &str,
    caller: &Caller,
    purpose: Purpose,
) -> Result<(Connection, Reply), DialError> {
    let at = || address.to_owned();
    let mut connection =
        transport.dial(address).await.map_err(|source| DialError::NoAnswer { address: at(), source })?;
    let hello = Hello { cluster: caller.cluster.clone(), purpose };
    let reply = async {
        text::write(&mut connection, &hello).await?;
        text::read(&mut connection, REPLY_BYTES_MAX).await
    };
    match reply.await {
        Ok(Reply::Refused(refusal)) => Err(DialError::Refused { address: at(), refusal }),
        Ok(reply) => Ok((connection, reply)),
        Err(TextError::Unreadable(HandshakeError::OtherVersion { theirs })) => {
            Err(DialError::OtherVersion { address: at(), theirs })
        }
        Err(source) => Err(DialError::Handshake { address: at(), source }),
    }
}
