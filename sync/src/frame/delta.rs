//! The frame of what differs from an earlier snapshot.
//!
//! | size | meaning |
//! |---|---|
//! | 4 | tick |
//! | 4 | tick of the baseline |
//! | 2, or 4 if counts are wide | number of entries |
//! | 5 to 24 each | alias u32, [mask](crate::Mask) u8, then the fields of the mask as in the [state](crate::state) |
//! | 2 or 4, if removals follow | number of removals |
//! | 4 each | alias u32 |
//!
//! Whoever is removed goes before the entries are applied: one that is named in both is another entity under the same alias, and
//! its entry has all fields.

use super::{Encoded, Flags, FrameError, Reader, push_count};
use crate::state::{Alias, EntityState, Mask, SeenBytes, seen_bytes, unpair};

/// The difference of two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Which tick it leads to.
    pub tick: u32,
    /// From which tick.
    pub baseline: u32,
    /// Who is new or has changed.
    pub entries: Vec<Entry>,
    /// Who is not to be seen any more.
    pub removed: Vec<Alias>,
}

/// One entity of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who.
    pub alias: Alias,
    /// Which fields follow; all of them if it is new.
    pub mask: Mask,
    /// The fields of the mask; what it does not name is zero when it was read, and of no meaning.
    pub state: EntityState,
}

impl Delta {
    /// Its payload.
    #[must_use]
    pub fn encode(&self) -> Encoded {
        let mut encoder = Encoder::new(self.tick, self.baseline, self.entries.len());
        for Entry { alias, mask, state } in &self.entries {
            encoder.entry(&seen_bytes(*alias, state), *mask);
        }
        self.removed.iter().for_each(|&alias| encoder.remove(alias));
        encoder.done()
    }

    pub(super) fn read(flags: Flags, reader: &mut Reader<'_>) -> Result<Self, FrameError> {
        let (tick, baseline) = (reader.u32()?, reader.u32()?);
        let count = reader.count(flags, ENTRY_BYTES_MIN)?;
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            entries.push(Entry::read(reader)?);
        }
        let removals = if flags.has(Flags::REMOVALS) { reader.count(flags, ALIAS_BYTES)? } else { 0 };
        let mut removed = Vec::with_capacity(removals);
        for _ in 0..removals {
            removed.push(Alias(reader.u32()?));
        }
        Ok(Self { tick, baseline, entries, removed })
    }
}

impl Entry {
    fn read(reader: &mut Reader<'_>) -> Result<Self, FrameError> {
        let (alias, mask) = (Alias(reader.u32()?), reader.mask()?);
        let mut state = EntityState::default();
        if mask.has(Mask::POSITION) {
            state.position = unpair(reader.take()?);
        }
        if mask.has(Mask::VELOCITY) {
            state.velocity = unpair(reader.take()?);
        }
        if mask.has(Mask::HP) {
            state.hp = i16::from_be_bytes(reader.take()?);
        }
        if mask.has(Mask::KIND) {
            [state.kind] = reader.take()?;
        }
        Ok(Self { alias, mask, state })
    }
}

/// A payload as it is written.
#[derive(Debug)]
pub(crate) struct Encoder {
    payload: Vec<u8>,
    entries: usize,
    removed: Vec<u8>,
}

impl Encoder {
    /// With room for so many entries.
    pub(crate) fn new(tick: u32, baseline: u32, room: usize) -> Self {
        let mut payload = Vec::with_capacity(ENTRIES_AT + room * ENTRY_BYTES_MAX);
        payload.extend_from_slice(&tick.to_be_bytes());
        payload.extend_from_slice(&baseline.to_be_bytes());
        payload.extend_from_slice(&[0; ENTRIES_AT - COUNT_AT]);
        Self { payload, entries: 0, removed: Vec::new() }
    }

    #[inline]
    pub(crate) fn entry(&mut self, seen: &SeenBytes, mask: Mask) {
        match mask {
            // Those who move, and who are new: one piece each.
            Mask::POSITION => self.payload.extend_from_slice(&piece::<{ ENTRY_AT + 8 }>(seen, mask)),
            Mask::MOVEMENT => self.payload.extend_from_slice(&piece::<{ ENTRY_AT + 16 }>(seen, mask)),
            Mask::ALL => self.payload.extend_from_slice(&piece::<ENTRY_BYTES_MAX>(seen, mask)),
            _ => self.fields(seen, mask),
        }
        self.entries += 1;
    }

    fn fields(&mut self, seen: &SeenBytes, mask: Mask) {
        self.payload.extend_from_slice(&piece::<ENTRY_AT>(seen, mask));
        for (field, range) in
            [(Mask::POSITION, 4..12), (Mask::VELOCITY, 12..20), (Mask::HP, 20..22), (Mask::KIND, 22..23)]
        {
            if mask.has(field) {
                self.payload.extend_from_slice(&seen[range]);
            }
        }
    }

    pub(crate) fn remove(&mut self, alias: Alias) {
        self.removed.extend(alias.0.to_be_bytes());
    }

    pub(crate) fn done(self) -> Encoded {
        let Self { mut payload, entries, removed } = self;
        let removals = removed.len() / ALIAS_BYTES;
        let flags =
            Flags::for_counts(entries.max(removals)).with(Flags::DELTA, true).with(Flags::REMOVALS, removals > 0);
        let mut count = Vec::with_capacity(4);
        push_count(&mut count, flags, entries);
        payload.splice(COUNT_AT..ENTRIES_AT, count);
        if removals > 0 {
            push_count(&mut payload, flags, removals);
            payload.extend_from_slice(&removed);
        }
        Encoded { flags, payload }
    }
}

/// Alias, mask, and the fields from the first on.
#[inline]
fn piece<const N: usize>(seen: &SeenBytes, mask: Mask) -> [u8; N] {
    let mut piece = [0; N];
    piece[..ALIAS_BYTES].copy_from_slice(&seen[..ALIAS_BYTES]);
    piece[ALIAS_BYTES] = mask.bits();
    piece[ENTRY_AT..].copy_from_slice(&seen[ALIAS_BYTES..N - 1]);
    piece
}

const COUNT_AT: usize = 8;
const ENTRIES_AT: usize = COUNT_AT + 2;
const ALIAS_BYTES: usize = 4;
/// Where the fields of an entry begin.
const ENTRY_AT: usize = ALIAS_BYTES + 1;
const ENTRY_BYTES_MAX: usize = ENTRY_AT + EntityState::BYTES;
const ENTRY_BYTES_MIN: usize = ALIAS_BYTES + 1 + 1;
