//! The frame of all that is to be seen.
//!
//! | size | meaning |
//! |---|---|
//! | 4 | tick |
//! | 2, or 4 if counts are wide | number of entities |
//! | 23 each | alias u32, then the [state](crate::state) |

use super::{Encoded, Flags, FrameError, Reader, push_count};
use crate::state::{Alias, EntityState, SeenBytes};

/// A full snapshot, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// Which tick it shows.
    pub tick: u32,
    /// Everybody who is to be seen.
    pub entities: Vec<(Alias, EntityState)>,
}

impl Full {
    pub(super) fn read(flags: Flags, reader: &mut Reader<'_>) -> Result<Self, FrameError> {
        let tick = reader.u32()?;
        let count = reader.count(flags, ENTITY_BYTES)?;
        let mut entities = Vec::with_capacity(count);
        for _ in 0..count {
            let alias = Alias(reader.u32()?);
            entities.push((alias, EntityState::of_bytes(&reader.take()?)));
        }
        Ok(Self { tick, entities })
    }
}

/// Bytes of the payload that shows so many entities.
#[must_use]
pub fn payload_bytes(entities: usize) -> usize {
    let flags = Flags::for_counts(entities);
    4 + if flags.has(Flags::WIDE) { 4 } else { 2 } + entities * ENTITY_BYTES
}

/// The payload of a full snapshot of `count` entities, which come in pieces.
pub(crate) fn encode<'e>(tick: u32, count: usize, pieces: impl Iterator<Item = &'e [u8]>) -> Encoded {
    let flags = Flags::for_counts(count);
    let mut payload = Vec::with_capacity(payload_bytes(count));
    payload.extend(tick.to_be_bytes());
    push_count(&mut payload, flags, count);
    pieces.for_each(|piece| payload.extend_from_slice(piece));
    Encoded { flags, payload }
}

const ENTITY_BYTES: usize = size_of::<SeenBytes>();
