//! Transfers of the bulk lane, put together again.
//!
//! Chunks of several transfers may alternate; the chunks of one come in order, because a connection
//! keeps order. When the connection ends, what is half there is forgotten: its sender repeats the whole.
//!
//! Keeps: memory grows with the bytes that really came, never with what a header claims; at most
//! [`TRANSFERS_MAX`] are open, none is longer than the codec's limit, and all of them together hold at
//! most [`OPEN_BYTES_MAX`].

use std::collections::BTreeMap;

use thiserror::Error;

use crate::codec::{self, DecodeError};
use crate::frame::{Chunk, Wire};

/// Transfers open at once on one connection.
pub const TRANSFERS_MAX: usize = 64;

/// Bytes that open transfers of one connection hold at most: what the bulk lane of its sender holds
/// ([`LaneLimits::bulk_bytes`](crate::lanes::LaneLimits)).
pub const OPEN_BYTES_MAX: usize = 64 << 20;

/// The open transfers of one connection.
#[derive(Debug, Default)]
pub struct Assembly {
    open: BTreeMap<u64, Partial>,
    bytes: usize,
}

#[derive(Debug)]
struct Partial {
    total: u32,
    bytes: Vec<u8>,
}

/// Why a chunk cannot be taken. The connection cannot go on.
#[derive(Debug, Error)]
pub enum AssemblyError {
    /// A transfer claims to be longer than any may be.
    #[error("a transfer of {total} bytes is above the limit of {}", codec::BYTES_MAX)]
    TooLong {
        /// What it claims.
        total: u32,
    },
    /// Too many transfers are open.
    #[error("more than {TRANSFERS_MAX} transfers are open")]
    TooMany,
    /// The open transfers would hold too much.
    #[error("the open transfers hold more than {OPEN_BYTES_MAX} bytes")]
    TooMuch,
    /// A chunk is not the next one of its transfer.
    #[error("a chunk at offset {offset} came where {expected} was expected")]
    OutOfOrder {
        /// Its offset.
        offset: u32,
        /// The offset expected.
        expected: usize,
    },
    /// The whole cannot be read.
    #[error("the transfer cannot be read")]
    Unreadable(#[source] DecodeError),
}

impl Assembly {
    /// Takes a chunk; returns the message when it was the last one of its transfer.
    ///
    /// # Errors
    ///
    /// If the chunk breaks a rule; the connection is to be closed then.
    pub fn take(&mut self, chunk: Chunk<'_>) -> Result<Option<Wire>, AssemblyError> {
        let Chunk { transfer, total, offset, bytes } = chunk;
        if total as usize > codec::BYTES_MAX {
            return Err(AssemblyError::TooLong { total });
        }
        if !self.open.contains_key(&transfer) {
            if offset == 0 && bytes.len() == total as usize {
                return codec::decode(&bytes).map(Some).map_err(AssemblyError::Unreadable);
            }
            if self.open.len() >= TRANSFERS_MAX {
                return Err(AssemblyError::TooMany);
            }
        }
        let partial = self.open.entry(transfer).or_insert(Partial { total, bytes: Vec::new() });
        if offset as usize != partial.bytes.len() || total != partial.total {
            return Err(AssemblyError::OutOfOrder { offset, expected: partial.bytes.len() });
        }
        if self.bytes + bytes.len() > OPEN_BYTES_MAX {
            return Err(AssemblyError::TooMuch);
        }
        self.bytes += bytes.len();
        partial.bytes.extend_from_slice(&bytes);
        if partial.bytes.len() < total as usize {
            return Ok(None);
        }
        let whole = self.open.remove(&transfer).map(|partial| partial.bytes).unwrap_or_default();
        self.bytes -= whole.len();
        codec::decode(&whole).map(Some).map_err(AssemblyError::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(transfer: u64, total: u32, offset: u32, bytes: &[u8]) -> Chunk<'_> {
        Chunk { transfer, total, offset, bytes: bytes.into() }
    }

    #[test]
    fn a_claimed_length_costs_nothing_until_bytes_come() {
        let mut assembly = Assembly::default();
        let claims = u32::try_from(codec::BYTES_MAX).expect("16 MiB fit");
        for transfer in 0..TRANSFERS_MAX as u64 {
            assert!(assembly.take(chunk(transfer, claims, 0, &[1])).expect("within the limits").is_none());
        }
        let held: usize = assembly.open.values().map(|partial| partial.bytes.capacity()).sum();
        assert!(held < 4096, "{held}");
        assert!(matches!(assembly.take(chunk(99, 2, 0, &[1])), Err(AssemblyError::TooMany)));
        assert!(matches!(assembly.take(chunk(1, claims + 1, 0, &[1])), Err(AssemblyError::TooLong { .. })));
    }

    #[test]
    fn open_transfers_share_one_bound_and_a_finished_one_gives_its_part_back() {
        let mut assembly = Assembly::default();
        let piece = vec![1; 1 << 20];
        let total = u32::try_from(codec::BYTES_MAX).expect("16 MiB fit");
        let pieces = (0..5).flat_map(|transfer| (0..15u32).map(move |number| (transfer, number << 20)));
        let mut taken = 0;
        let refused = pieces
            .map(|(transfer, offset)| Chunk { transfer, total, offset, bytes: piece.as_slice().into() })
            .find_map(|chunk| {
                let error = assembly.take(chunk).err();
                taken += if error.is_none() { piece.len() } else { 0 };
                error
            });
        assert!(matches!(refused, Some(AssemblyError::TooMuch)), "{refused:?}");
        assert_eq!((taken, assembly.bytes), (OPEN_BYTES_MAX, OPEN_BYTES_MAX));

        let mut assembly = Assembly::default();
        let _ = assembly.take(chunk(1, 2, 0, &[1]));
        let _ = assembly.take(chunk(1, 2, 1, &[1]));
        assert_eq!(assembly.bytes, 0);
    }

    #[test]
    fn a_chunk_out_of_order_or_of_another_total_is_refused() {
        let mut assembly = Assembly::default();
        assembly.take(chunk(1, 4, 0, &[1])).expect("the first");
        assert!(matches!(assembly.take(chunk(1, 4, 2, &[1])), Err(AssemblyError::OutOfOrder { expected: 1, .. })));
        assert!(matches!(assembly.take(chunk(1, 5, 1, &[1])), Err(AssemblyError::OutOfOrder { .. })));
        assert!(matches!(assembly.take(chunk(2, 1, 0, &[9])), Err(AssemblyError::Unreadable(_))));
    }
}
