//! Who is there, and why a connection is refused.
//!
//! The side that dials speaks first; the other answers once. Both texts are one frame of the
//! length-delimited framing: a [`Hello`] of at most [`HELLO_BYTES_MAX`], for it comes from anybody, a
//! [`Reply`] of at most [`REPLY_BYTES_MAX`].
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 4 | `SLPG` |
//! | 4 | 2 | protocol version, big-endian: [`PROTOCOL`] |
//! | 6 | n | [`codec`] of [`Hello`], or of [`Reply`] |
//!
//! The first six bytes never change, so that a node of another version is told which one is spoken here
//! and the refusal can be read by both.
//!
//! Keeps: bytes of another version are never decoded. Leaves out: proof of identity (TLS stands below this).

use serde::{Deserialize, Serialize};
use slipgate_cluster::manager::{JoinReply, JoinRequest};
use slipgate_cluster::{Incarnation, NodeName, Session};
use thiserror::Error;

use crate::codec::{self, DecodeError};

/// Version of everything that follows the first six bytes.
pub const PROTOCOL: u16 = 1;

/// Longest [`Hello`], in bytes: the declaration of 3,000 scenes with names of full length.
pub const HELLO_BYTES_MAX: usize = 128 << 10;

/// Longest [`Reply`], in bytes: a view of a few thousand scenes.
pub const REPLY_BYTES_MAX: usize = 1 << 20;

/// What the side that dials says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Name of its cluster.
    pub cluster: String,
    /// What it wants.
    pub purpose: Purpose,
}

/// What the side that dials wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// To become a member; the connection ends with the answer.
    Join(JoinRequest),
    /// To be the link between two members.
    Link {
        /// Its name.
        name: NodeName,
        /// Its life.
        session: Session,
        /// The life it means to reach.
        to: Session,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// To a join.
    Join(JoinReply),
    /// The link stands.
    Linked,
    /// The connection is refused.
    Refused(Refusal),
}

/// Why a connection is refused. Both sides log it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum Refusal {
    /// The two nodes belong to different clusters.
    #[error("this is cluster {here:?}, the node that dials belongs to {theirs:?}")]
    OtherCluster {
        /// Cluster of the node that was dialled.
        here: String,
        /// Cluster of the node that dials.
        theirs: String,
    },
    /// The two programs speak different versions.
    #[error("this node speaks protocol version {here}, the node that dials speaks {theirs}")]
    OtherVersion {
        /// Version of the node that was dialled.
        here: u16,
        /// Version of the node that dials.
        theirs: u16,
    },
    /// The node that dials has a later life already.
    #[error("node {name} is in life {} by now, the one that dials is life {}", latest.0, theirs.0)]
    OldIncarnation {
        /// The node.
        name: NodeName,
        /// Its life by what the manager told this node.
        latest: Incarnation,
        /// The life that dials.
        theirs: Incarnation,
    },
    /// The manager has not told this node of the one that dials; it will, soon, if that one is a member.
    #[error("node {name} is not known here yet")]
    NotKnown {
        /// The node.
        name: NodeName,
    },
    /// The node that dials means another node, or an earlier life of this one.
    #[error("the node that dials means {meant}, this is {here}")]
    NotMe {
        /// What it meant.
        meant: Session,
        /// What this is.
        here: Session,
    },
    /// This node has not joined the cluster yet.
    #[error("this node has not joined the cluster yet")]
    Joining,
    /// This node is stopping.
    #[error("this node is stopping")]
    Stopping,
    /// The manager has declared the life that dials dead; the node must join anew.
    #[error("the manager has declared this life of node {name} dead: it must join anew")]
    Dead {
        /// The node.
        name: NodeName,
    },
}

/// Why a handshake text cannot be read.
#[derive(Debug, Error)]
pub enum HandshakeError {
    /// The bytes do not start as a handshake does: this is no Slipgate node.
    #[error("the other side does not speak this protocol")]
    NotSlipgate,
    /// The other side speaks another version.
    #[error("the other side speaks protocol version {theirs}, this node speaks {PROTOCOL}")]
    OtherVersion {
        /// Its version.
        theirs: u16,
    },
    /// The rest cannot be read.
    #[error("the handshake cannot be read")]
    Unreadable(#[source] DecodeError),
}

/// The bytes of a handshake text.
///
/// # Panics
///
/// If the text does not fit the codec's limit.
#[must_use]
pub fn encode<T: Serialize>(text: &T) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(PROTOCOL.to_be_bytes());
    bytes.extend(codec::encode(text).expect("a handshake stays below the codec's limit"));
    bytes
}

/// Reads a handshake text.
///
/// # Errors
///
/// If it is none, or of another version.
pub fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, HandshakeError> {
    let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(HandshakeError::NotSlipgate)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(HandshakeError::NotSlipgate)?;
    if magic != MAGIC {
        return Err(HandshakeError::NotSlipgate);
    }
    let theirs = u16::from_be_bytes(*version);
    if theirs != PROTOCOL {
        return Err(HandshakeError::OtherVersion { theirs });
    }
    codec::decode(rest).map_err(HandshakeError::Unreadable)
}

const MAGIC: &[u8; 4] = b"SLPG";

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let purpose = Purpose::Link {
            name: NodeName::new("n1").expect("a name"),
            session: Session::new(1, 2),
            to: Session::new(3, 4),
        };
        Hello { cluster: "demo".to_owned(), purpose }
    }

    #[test]
    fn a_hello_reads_back_and_its_bytes_stay_as_they_are() {
        let bytes = encode(&hello());
        assert_eq!(decode::<Hello>(&bytes).expect("a hello"), hello());
        assert_eq!(bytes, b"SLPG\x00\x01\x01\x04demo\x01\x02n1\x01\x02\x03\x04");
    }

    #[test]
    fn another_version_is_named_and_not_decoded() {
        let mut bytes = encode(&hello());
        bytes[5] = 9;
        bytes.truncate(7);
        assert!(matches!(decode::<Hello>(&bytes), Err(HandshakeError::OtherVersion { theirs: 9 })));
    }

    #[test]
    fn what_is_no_handshake_is_said_to_be_none() {
        for bytes in [&b""[..], b"SLP", b"GET / HTTP/1.1\r\n", b"SLPG\x00"] {
            assert!(matches!(decode::<Hello>(bytes), Err(HandshakeError::NotSlipgate)), "{bytes:?}");
        }
        assert!(matches!(decode::<Hello>(b"SLPG\x00\x01\x01\xff"), Err(HandshakeError::Unreadable(_))));
    }
}
