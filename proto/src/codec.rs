//! Bytes from values and back: the one place that knows bincode.
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 1 | version of the encoding, [`VERSION`] |
//! | 1 | n | the value: bincode 2.0.1, standard configuration (little-endian varints) |
//!
//! Keeps: nothing larger than [`BYTES_MAX`] is written or read; what a length claims is checked before
//! it is allocated, so few bytes cost little whatever they claim; bytes after the value are an error.
//! Leaves out: framing (`frame`). The format is positional: fields and variants are only ever appended.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Version byte of the encoding.
pub const VERSION: u8 = 1;

/// Largest encoded value: the state limit of an entity (`Limits::state_bytes` may not be set above
/// 8 MiB) with its stream tables.
pub const BYTES_MAX: usize = 16 << 20;

/// Why a value could not be written.
#[derive(Debug, Error)]
#[error("the value does not fit into {BYTES_MAX} bytes")]
pub struct EncodeError {
    #[source]
    source: bincode::error::EncodeError,
}

/// Why bytes are not the value expected. Nothing was kept of them.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// No bytes at all.
    #[error("there are no bytes")]
    Empty,
    /// The first byte names another version.
    #[error("the encoding has version {found}, this program reads version {VERSION}")]
    Version {
        /// The version found.
        found: u8,
    },
    /// The bytes are not a value of the type, or claim to be larger than allowed.
    #[error("the bytes are not a value of the type")]
    Malformed(#[source] bincode::error::DecodeError),
    /// The value ended before the bytes did.
    #[error("{trailing} bytes follow the value")]
    Trailing {
        /// How many.
        trailing: usize,
    },
}

/// Encodes a value, version byte first.
///
/// # Errors
///
/// If the value needs more than [`BYTES_MAX`].
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    append(value, &mut bytes)?;
    Ok(bytes)
}

/// Encodes a value behind what `bytes` holds already.
///
/// # Errors
///
/// If the value needs more than [`BYTES_MAX`]; `bytes` then ends in a part of it.
pub fn append<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
    bytes.push(VERSION);
    bincode::serde::encode_into_std_write(value, bytes, CONFIG).map_err(|source| EncodeError { source })?;
    Ok(())
}

/// Encodes a value of a few bytes as part of something that has its own form, without a version.
pub(crate) fn append_part<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
    bincode::serde::encode_into_std_write(value, bytes, CONFIG).map_err(|source| EncodeError { source })?;
    Ok(())
}

/// Decodes such a part from the beginning of `bytes`, and leaves what follows it.
pub(crate) fn take_part<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, DecodeError> {
    let decoded = bincode::serde::decode_from_slice(bytes, CONFIG_FOR_FEW);
    let (value, read) = decoded.map_err(DecodeError::Malformed)?;
    *bytes = &bytes[read..];
    Ok(value)
}

/// Decodes a value.
///
/// # Errors
///
/// If the bytes are anything but exactly one value of the type in this version.
///
/// ```
/// use slipgate_proto::codec;
/// let bytes = codec::encode(&(7u32, "forest"))?;
/// assert_eq!(codec::decode::<(u32, String)>(&bytes)?, (7, "forest".to_owned()));
/// assert!(codec::decode::<(u32, String)>(&[&bytes[..], b"x"].concat()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let (&version, rest) = bytes.split_first().ok_or(DecodeError::Empty)?;
    if version != VERSION {
        return Err(DecodeError::Version { found: version });
    }
    let decoded = if rest.len() <= FEW_BYTES {
        bincode::serde::decode_from_slice(rest, CONFIG_FOR_FEW)
    } else {
        bincode::serde::decode_from_slice(rest, CONFIG)
    };
    let (value, read) = decoded.map_err(DecodeError::Malformed)?;
    if read != rest.len() {
        return Err(DecodeError::Trailing { trailing: rest.len() - read });
    }
    Ok(value)
}

const CONFIG: Configuration<LittleEndian, Varint, Limit<BYTES_MAX>> =
    bincode::config::standard().with_limit::<BYTES_MAX>();

/// A text is allocated as long as it claims to be, before its bytes are looked for; so up to this length of
/// the whole, which is most handshakes and many frames, claims have a limit of their own.
const FEW_BYTES: usize = 4 << 10;

/// Twice what a value of that length can need: a number counts as its eight bytes, and takes one at least.
const CLAIMS_OF_FEW: usize = 2 * 8 * FEW_BYTES;

const CONFIG_FOR_FEW: Configuration<LittleEndian, Varint, Limit<CLAIMS_OF_FEW>> =
    bincode::config::standard().with_limit::<CLAIMS_OF_FEW>();

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_cluster::stream::{Known, SendStream, StreamId};
    use slipgate_cluster::{Epoch, Limits, Own, Place, Port, Session};
    use slipgate_entity::{OnlineId, RangeId, SceneId};

    use super::*;

    #[test]
    fn a_claimed_length_beyond_the_limit_is_refused_before_it_is_allocated() {
        let mut bytes = vec![VERSION, 253];
        bytes.extend((1u64 << 40).to_le_bytes());
        assert!(matches!(decode::<String>(&bytes), Err(DecodeError::Malformed(_))));
    }

    #[test]
    fn a_value_of_numbers_that_take_one_byte_each_is_read_on_both_sides_of_the_few() {
        for length in [FEW_BYTES - 16, FEW_BYTES - 8, FEW_BYTES, FEW_BYTES + 8] {
            let numbers = vec![1u64; length];
            assert_eq!(decode::<Vec<u64>>(&encode(&numbers).expect("small")).expect("a value"), numbers);
        }
    }

    #[test]
    fn a_stream_that_came_from_elsewhere_takes_all_of_its_window_for_sent() {
        let place = Place { session: Session::new(1, 1), port: Port::Router(0) };
        let mut stream = SendStream::open(StreamId { opened_at: place, generation: 1 }, OnlineId::new(RangeId(1), 1));
        stream.push(Arc::from([7u8].as_slice()), &Limits::default()).expect("room");
        let known = Known { owner: Own::new(Session::new(2, 1), SceneId(1)), epoch: Epoch::FIRST, base: Epoch::FIRST };
        let mut arrived: SendStream = decode(&encode(&stream).expect("small")).expect("a stream");
        arrived.push(Arc::from([8u8].as_slice()), &Limits::default()).expect("room");
        let left =
            |stream: &mut SendStream| stream.begin_anew(known, || StreamId { opened_at: place, generation: 2 }).len();
        assert_eq!((left(&mut stream), left(&mut arrived)), (0, 1), "whoever had it before may have sent it");
        assert_eq!(arrived.waiting(), 1, "what was said since has not left");
    }

    #[test]
    fn bytes_after_the_value_are_an_error() {
        let mut bytes = encode(&1u8).expect("small");
        bytes.push(0);
        assert!(matches!(decode::<u8>(&bytes), Err(DecodeError::Trailing { trailing: 1 })));
    }

    #[test]
    fn another_version_is_named() {
        assert!(matches!(decode::<u8>(&[9, 1]), Err(DecodeError::Version { found: 9 })));
        assert!(matches!(decode::<u8>(&[]), Err(DecodeError::Empty)));
    }

    #[test]
    fn the_bytes_of_a_value_stay_as_they_are() {
        let bytes = encode(&(300u64, Some("ann"), -1i32)).expect("small");
        assert_eq!(bytes, [1, 251, 44, 1, 1, 3, b'a', b'n', b'n', 1]);
    }
}
