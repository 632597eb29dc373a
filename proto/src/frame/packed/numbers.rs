//! Numbers as the [`codec`] writes them, without the way through serde: below 251 one byte, else a mark and two,
//! four or eight bytes.

use serde::de::DeserializeOwned;
use slipgate_cluster::Epoch;

use super::PackedError;
use crate::codec;

/// Writes a number, in the shortest form.
pub(super) fn append(number: u64, bytes: &mut Vec<u8>) {
    let [a, b, c, d, ..] = number.to_le_bytes();
    match number {
        0..=250 => bytes.push(a),
        251..=0xffff => bytes.extend_from_slice(&[TWO, a, b]),
        0x1_0000..=0xffff_ffff => bytes.extend_from_slice(&[FOUR, a, b, c, d]),
        0x1_0000_0000.. => {
            bytes.push(EIGHT);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Writes the difference of two numbers, as the codec writes an `i64`: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(super) fn append_step(number: u64, before: u64, bytes: &mut Vec<u8>) {
    let step = number.wrapping_sub(before).cast_signed();
    append((step << 1 ^ step >> 63).cast_unsigned(), bytes);
}

/// Bytes that are read from their beginning on.
pub(super) struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, PackedError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], PackedError> {
        let (&array, rest) = self.0.split_first_chunk().ok_or(PackedError::Cut)?;
        self.0 = rest;
        Ok(array)
    }

    /// The difference to the number before.
    pub(super) fn step(&mut self) -> Result<i64, PackedError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(super) fn epoch(&mut self) -> Result<Epoch, PackedError> {
        Ok(Epoch::new(self.small_number()?, self.small_number()?))
    }

    /// A length, and as many bytes.
    pub(super) fn payload(&mut self) -> Result<&'a [u8], PackedError> {
        let length = usize::try_from(self.number()?).map_err(|_| PackedError::Cut)?;
        let (payload, rest) = self.0.split_at_checked(length).ok_or(PackedError::Cut)?;
        self.0 = rest;
        Ok(payload)
    }

    /// What the codec has written.
    pub(super) fn part<T: DeserializeOwned>(&mut self) -> Result<T, PackedError> {
        codec::take_part(&mut self.0).map_err(PackedError::Part)
    }

    fn small_number(&mut self) -> Result<u32, PackedError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| PackedError::Number { number })
    }

    fn number(&mut self) -> Result<u64, PackedError> {
        match self.byte()? {
            TWO => Ok(u16::from_le_bytes(self.array()?).into()),
            FOUR => Ok(u32::from_le_bytes(self.array()?).into()),
            EIGHT => Ok(u64::from_le_bytes(self.array()?)),
            byte if byte > EIGHT => Err(PackedError::Number { number: byte.into() }),
            byte => Ok(byte.into()),
        }
    }
}

const TWO: u8 = 251;
const FOUR: u8 = 252;
const EIGHT: u8 = 253;
