//! Bytes from values and back: the one place that knows bincode.
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 1 | version of the encoding, [`VERSION`] |
//! | 1 | n | the value: bincode 2.0.1, standard configuration (little-endian varints) |
//!
//! Keeps: nothing larger than [`BYTES_MAX`] is written or read; what a length claims is checked before
//! it is allocated, so few bytes cost little whatever they claim; bytes after the value are an error.
//! Leaves out: lists of items that take no bytes, whose claimed length nothing bounds: declare none. Frames, which hold
//! encoded values (`slipgate_proto`). The format is positional: fields and variants are
//! only ever appended.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Version byte of the encoding.
pub const VERSION: u8 = 1;

/// Largest encoded value: the largest state that an entity may be allowed (8 MiB), with its stream tables.
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

/// Encodes a value as part of something that has its own form, without a version.
///
/// # Errors
///
/// If the value needs more than [`BYTES_MAX`]; `bytes` then ends in a piece of it.
pub fn append_part<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
    bincode::serde::encode_into_std_write(value, bytes, CONFIG).map_err(|source| EncodeError { source })?;
    Ok(())
}

/// Decodes a part of a few bytes from the beginning of `bytes`, and leaves what follows it.
///
/// # Errors
///
/// If `bytes` does not begin with such a value, or it claims to be larger than a few kilobytes.
pub fn take_part<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, DecodeError> {
    let decoded = bincode::serde::decode_from_slice(bytes, CONFIG_FOR_FEW);
    let (value, read) = decoded.map_err(DecodeError::Malformed)?;
    *bytes = &bytes[read..];
    Ok(value)
}

/// Decodes a part that is all of `bytes`.
///
/// # Errors
///
/// If the bytes are anything but exactly one value of the type.
pub fn decode_part<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let decoded = if bytes.len() <= FEW_BYTES {
        bincode::serde::decode_from_slice(bytes, CONFIG_FOR_FEW)
    } else {
        bincode::serde::decode_from_slice(bytes, CONFIG)
    };
    let (value, read) = decoded.map_err(DecodeError::Malformed)?;
    if read != bytes.len() {
        return Err(DecodeError::Trailing { trailing: bytes.len() - read });
    }
    Ok(value)
}

/// Decodes a value.
///
/// # Errors
///
/// If the bytes are anything but exactly one value of the type in this version.
///
/// ```
/// use slipgate_entity::codec;
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
    decode_part(rest)
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
