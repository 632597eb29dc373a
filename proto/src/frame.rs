//! What follows a handshake: batches of messages, chunks of state, credits.
//!
//! A frame is what the length-delimited framing carries: four bytes of length (big-endian, the frame
//! without them), then
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 1 | kind |
//! | 1 | n | by kind |
//!
//! | kind | name | content |
//! |---|---|---|
//! | 1 | control | [`codec`] of `Vec<Wire>`: needs no credit |
//! | 2 | messages | [`codec`] of `Vec<Wire>`: uses credit, one per byte of the frame |
//! | 3 | chunk | transfer u64, total u32, offset u32, all big-endian, then the bytes |
//! | 4 | credit | u64, big-endian: bytes of messages frames that have been placed or refused |
//! | 5 | bye | nothing: the session stops on purpose |
//! | 6 | ping | nothing: the other side answers with a pong at once |
//! | 7 | pong | nothing |
//! | 8 | packed messages | as 2, where all are messages to entities: [`packed`] |
//! | 9 | packed acknowledgements | as 1, where all are acknowledgements: [`packed`] |
//!
//! Keeps: a frame is at most [`BYTES_MAX`] long; anything else about it that is wrong is an error that
//! says what, and never a panic.

pub mod packed;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use slipgate_cluster::Port;
use slipgate_cluster::message::Message;
use thiserror::Error;

use self::packed::{Family, PackedError};
use crate::codec::{self, DecodeError};

/// Longest frame, in bytes: a batch of 64 KiB and the largest message that may be added to it.
pub const BYTES_MAX: usize = 256 << 10;

/// Most bytes of state in one chunk.
pub const CHUNK_BYTES_MAX: usize = 16 << 10;

/// A message between two ports; the sessions are those of the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Who says it.
    pub from: Port,
    /// Who should hear it.
    pub to: Port,
    /// What is said.
    pub message: Message,
}

/// A frame, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Control messages.
    Control(Vec<Wire>),
    /// Messages to entities and between admin desks.
    Messages(Vec<Wire>),
    /// A piece of something too large for one frame.
    Chunk(Chunk<'a>),
    /// So many bytes of messages frames have been placed or refused.
    Credit(u64),
    /// The session stops on purpose.
    Bye,
    /// Asks the other side whether it lives.
    Ping,
    /// It does.
    Pong,
}

/// A piece of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Numbers the transfers of a connection.
    pub transfer: u64,
    /// Length of the whole, in bytes.
    pub total: u32,
    /// Where this piece belongs.
    pub offset: u32,
    /// The piece; 1 to [`CHUNK_BYTES_MAX`] bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// Why bytes are no frame. The connection cannot go on.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The frame has no bytes, or not as many as its kind has.
    #[error("the frame has the wrong length ({bytes} bytes)")]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// The kind is none that this version knows.
    #[error("frames of kind {kind} are not known")]
    Kind {
        /// The kind.
        kind: u8,
    },
    /// A batch cannot be read.
    #[error("the batch cannot be read")]
    Batch(#[source] DecodeError),
    /// A packed batch cannot be read.
    #[error("the packed batch cannot be read")]
    Packed(#[from] PackedError),
    /// A chunk is empty, too long, or does not fit into its transfer.
    #[error("the chunk does not fit (offset {offset}, {bytes} bytes, total {total})")]
    Chunk {
        /// Its offset.
        offset: u32,
        /// Its length.
        bytes: usize,
        /// Length of the whole.
        total: u32,
    },
}

impl<'a> Frame<'a> {
    /// The frame's bytes, without the length.
    ///
    /// # Panics
    ///
    /// As [`append`](Self::append).
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append(&mut bytes);
        bytes
    }

    /// Writes the frame's bytes, without the length, behind what `bytes` holds already.
    ///
    /// # Panics
    ///
    /// If a batch does not fit the codec's limit: [`lanes`](crate::lanes) builds batches far below it.
    pub fn append(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Control(batch) => append_control(batch, bytes),
            Self::Messages(batch) => append_messages(batch, bytes),
            Self::Chunk(chunk) => {
                bytes.push(CHUNK);
                bytes.extend(chunk.transfer.to_be_bytes());
                bytes.extend(chunk.total.to_be_bytes());
                bytes.extend(chunk.offset.to_be_bytes());
                bytes.extend_from_slice(&chunk.bytes);
            }
            Self::Credit(credit) => {
                bytes.push(CREDIT);
                bytes.extend(credit.to_be_bytes());
            }
            Self::Bye => bytes.push(BYE),
            Self::Ping => bytes.push(PING),
            Self::Pong => bytes.push(PONG),
        }
    }

    /// Reads a frame's bytes; a chunk borrows its piece of them.
    ///
    /// # Errors
    ///
    /// If they are no frame; says what is wrong with them.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let short = || FrameError::Length { bytes: bytes.len() };
        let (&kind, rest) = bytes.split_first().ok_or_else(short)?;
        match kind {
            CONTROL => codec::decode(rest).map(Self::Control).map_err(FrameError::Batch),
            MESSAGES => codec::decode(rest).map(Self::Messages).map_err(FrameError::Batch),
            PACKED_MESSAGES => Ok(Self::Messages(packed::decode(Family::Messages, rest)?)),
            PACKED_ACKNOWLEDGEMENTS => Ok(Self::Control(packed::decode(Family::Acknowledgements, rest)?)),
            CHUNK => {
                let (transfer, rest) = rest.split_first_chunk().ok_or_else(short)?;
                let (total, rest) = rest.split_first_chunk().ok_or_else(short)?;
                let (offset, piece) = rest.split_first_chunk().ok_or_else(short)?;
                let (total, offset) = (u32::from_be_bytes(*total), u32::from_be_bytes(*offset));
                let end = u64::from(offset) + piece.len() as u64;
                if piece.is_empty() || piece.len() > CHUNK_BYTES_MAX || end > u64::from(total) {
                    return Err(FrameError::Chunk { offset, bytes: piece.len(), total });
                }
                let transfer = u64::from_be_bytes(*transfer);
                Ok(Self::Chunk(Chunk { transfer, total, offset, bytes: piece.into() }))
            }
            CREDIT => match rest.split_first_chunk() {
                Some((credit, [])) => Ok(Self::Credit(u64::from_be_bytes(*credit))),
                _ => Err(short()),
            },
            BYE if rest.is_empty() => Ok(Self::Bye),
            PING if rest.is_empty() => Ok(Self::Ping),
            PONG if rest.is_empty() => Ok(Self::Pong),
            BYE | PING | PONG => Err(short()),
            kind => Err(FrameError::Kind { kind }),
        }
    }
}

/// Writes a frame of control messages; packed, if they are alike.
pub(crate) fn append_control(batch: &[Wire], bytes: &mut Vec<u8>) {
    append_batch(batch, (CONTROL, PACKED_ACKNOWLEDGEMENTS, Family::Acknowledgements), bytes);
}

/// Writes a frame of messages; packed, if they are alike.
pub(crate) fn append_messages(batch: &[Wire], bytes: &mut Vec<u8>) {
    append_batch(batch, (MESSAGES, PACKED_MESSAGES, Family::Messages), bytes);
}

fn append_batch(batch: &[Wire], (mixed, packed, family): (u8, u8, Family), bytes: &mut Vec<u8>) {
    if packed::is_of(family, batch) {
        bytes.push(packed);
        packed::append(batch, bytes);
    } else {
        bytes.push(mixed);
        codec::append(&batch, bytes).expect("a batch stays below the codec's limit");
    }
}

const CONTROL: u8 = 1;
const MESSAGES: u8 = 2;
const CHUNK: u8 = 3;
const CREDIT: u8 = 4;
const BYE: u8 = 5;
const PING: u8 = 6;
const PONG: u8 = 7;
const PACKED_MESSAGES: u8 = 8;
const PACKED_ACKNOWLEDGEMENTS: u8 = 9;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_cluster::message::{Control, Data, Nonce, Sender};
    use slipgate_cluster::stream::StreamId;
    use slipgate_cluster::{Epoch, Place, Session};
    use slipgate_entity::{OnlineId, RangeId, SceneId};

    use super::*;

    fn data() -> Wire {
        let place = Place { session: Session::new(1, 2), port: Port::Router(0) };
        let data = Data {
            entity: OnlineId::new(RangeId(3), 4),
            stream: StreamId { opened_at: place, generation: 5 },
            seq: 6,
            sender: Sender::Tool(Session::new(1, 2)),
            reply_to: place,
            hops: 0,
            payload: Arc::from(b"hi".as_slice()),
            base: Epoch::ZERO,
            epoch: Epoch::ZERO,
        };
        Wire { from: Port::Router(0), to: Port::Scene(SceneId(7)), message: Message::Data(data) }
    }

    fn query() -> Wire {
        let control = Control::Query { entity: OnlineId::new(RangeId(3), 4), nonce: Nonce(9) };
        Wire { from: Port::Scene(SceneId(7)), to: Port::Directory, message: Message::Control(control) }
    }

    #[test]
    fn every_kind_of_frame_reads_back_as_it_was_written() {
        let chunk = Chunk { transfer: 1, total: 10, offset: 4, bytes: vec![1, 2, 3].into() };
        let frames = [
            Frame::Control(vec![query()]),
            Frame::Messages(vec![data(), data()]),
            Frame::Chunk(chunk),
            Frame::Credit(77),
            Frame::Bye,
            Frame::Ping,
            Frame::Pong,
        ];
        for frame in frames {
            let bytes = frame.encode();
            assert_eq!(Frame::decode(&bytes).expect("a frame"), frame);
        }
    }

    #[test]
    fn the_bytes_of_frames_stay_as_they_are() {
        let hex = |frame: &Frame| frame.encode().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&Frame::Control(vec![query()])), "0101010007020001fd040000000300000009");
        assert_eq!(
            hex(&Frame::Messages(vec![data()])),
            "0800012f0100000701020100010102000001020100fd08000000060000000a0c026869"
        );
        assert_eq!(hex(&Frame::Credit(77)), "04000000000000004d");
        assert_eq!(hex(&Frame::Bye), "05");
        let chunk = Chunk { transfer: 1, total: 10, offset: 4, bytes: vec![1, 2, 3].into() };
        assert_eq!(hex(&Frame::Chunk(chunk)), "0300000000000000010000000a00000004010203");
    }

    #[test]
    fn a_frame_that_is_cut_or_unknown_or_padded_is_an_error() {
        for bytes in [&[][..], &[4, 0], &[5, 0], &[3, 0, 0], &[9], &[1], &[2, 1, 255]] {
            assert!(Frame::decode(bytes).is_err(), "{bytes:?}");
        }
        let whole = Frame::Control(vec![query()]).encode();
        for length in 0..whole.len() {
            assert!(Frame::decode(&whole[..length]).is_err());
        }
        assert!(Frame::decode(&[&whole[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_chunk_that_does_not_fit_its_transfer_is_an_error() {
        let outside = Chunk { transfer: 1, total: 4, offset: 3, bytes: vec![0, 0].into() };
        let empty = Chunk { transfer: 1, total: 4, offset: 3, bytes: vec![].into() };
        let huge = Chunk { transfer: 1, total: u32::MAX, offset: u32::MAX, bytes: vec![0].into() };
        for chunk in [outside, empty, huge] {
            let bytes = Frame::Chunk(chunk).encode();
            let result = Frame::decode(&bytes);
            assert!(matches!(result, Err(FrameError::Chunk { .. })), "{result:?}");
        }
    }
}
