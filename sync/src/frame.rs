//! Frames between a node and its clients: a header of eleven bytes, and a payload.
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 4 | length of what follows: 7 and the payload |
//! | 4 | 2 | command |
//! | 6 | 4 | number of the frame, counted by whoever sends |
//! | 10 | 1 | flags, by command |
//! | 11 | n | payload, by command |
//!
//! All big-endian. Snapshots are command [`ATTR_SYNC`]; its flags:
//!
//! | flag | if set | if not |
//! |---|---|---|
//! | 1 | a [delta] | a [full] snapshot |
//! | 2 | removals follow the entries of a delta | none are removed |
//! | 4 | counts are 32 bits | counts are 16 bits |
//!
//! Keeps: nothing is allocated before it is known that the bytes for it are there; whatever is wrong is an error that
//! says what, and never a panic.

use thiserror::Error;

pub mod delta;
pub mod full;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 11;

/// The command of snapshots: module world, "attributes".
pub const ATTR_SYNC: u16 = 0x0103;

/// Longest payload of a frame, in bytes: a full snapshot of some 700,000 entities.
pub const PAYLOAD_MAX: usize = 16 << 20;

/// What stands before a payload.
///
/// ```
/// use slipgate_sync::frame::{ATTR_SYNC, Flags, Header};
///
/// let header = Header { command: ATTR_SYNC, number: 7, flags: Flags::DELTA.bits() };
/// let bytes = [&header.bytes(10)[..], &[0; 10]].concat();
/// assert_eq!(Header::read(&bytes)?, (header, &[0; 10][..]));
/// # Ok::<(), slipgate_sync::frame::FrameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the payload is.
    pub command: u16,
    /// Number of the frame among those of its sender.
    pub number: u32,
    /// By command.
    pub flags: u8,
}

impl Header {
    /// The header of a payload of so many bytes.
    ///
    /// # Panics
    ///
    /// If that is more than [`PAYLOAD_MAX`].
    #[must_use]
    pub fn bytes(self, payload: usize) -> [u8; HEADER_BYTES] {
        assert!(payload <= PAYLOAD_MAX, "expected a payload of at most {PAYLOAD_MAX} bytes, found {payload}");
        let length = u32::try_from(payload + AFTER_LENGTH).expect("a payload of 16 MiB at most");
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.command.to_be_bytes());
        bytes[6..10].copy_from_slice(&self.number.to_be_bytes());
        bytes[10] = self.flags;
        bytes
    }

    /// The header and the payload of exactly one frame.
    ///
    /// # Errors
    ///
    /// If the bytes are fewer or more than the header says, or it says too many.
    pub fn read(frame: &[u8]) -> Result<(Self, &[u8]), FrameError> {
        let Some((header, payload)) = frame.split_first_chunk::<HEADER_BYTES>() else {
            return Err(FrameError::Short { needed: HEADER_BYTES, found: frame.len() });
        };
        let [l0, l1, l2, l3, c0, c1, n0, n1, n2, n3, flags] = *header;
        let claimed = u32::from_be_bytes([l0, l1, l2, l3]);
        let length = usize::try_from(claimed).ok().and_then(|length| length.checked_sub(AFTER_LENGTH));
        match length {
            Some(length) if length <= PAYLOAD_MAX => {}
            _ => return Err(FrameError::Length { claimed }),
        }
        if length != Some(payload.len()) {
            return Err(FrameError::Whole { claimed, found: payload.len() + AFTER_LENGTH });
        }
        let (command, number) = (u16::from_be_bytes([c0, c1]), u32::from_be_bytes([n0, n1, n2, n3]));
        Ok((Self { command, number, flags }, payload))
    }
}

/// Flags of a snapshot's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// It is a delta.
    pub const DELTA: Self = Self(1);
    /// Removals follow the entries.
    pub const REMOVALS: Self = Self(2);
    /// Counts are 32 bits.
    pub const WIDE: Self = Self(4);

    /// As it is on the wire.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether `flag` is set.
    #[must_use]
    pub fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn with(self, flag: Self, is_set: bool) -> Self {
        if is_set { Self(self.0 | flag.0) } else { self }
    }

    /// For counts up to `most`.
    pub(crate) fn for_counts(most: usize) -> Self {
        Self::default().with(Self::WIDE, most > usize::from(u16::MAX))
    }
}

/// The payload of a snapshot, with the flags that say how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// For the header.
    pub flags: Flags,
    /// Behind the header.
    pub payload: Vec<u8>,
}

impl Encoded {
    /// The whole frame.
    #[must_use]
    pub fn frame(&self, number: u32) -> Vec<u8> {
        let header = Header { command: ATTR_SYNC, number, flags: self.flags.bits() };
        [&header.bytes(self.payload.len())[..], &self.payload].concat()
    }
}

/// A snapshot's frame, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// All that is to be seen.
    Full(full::Full),
    /// What differs from an earlier snapshot.
    Delta(delta::Delta),
}

impl Seen {
    /// Reads exactly one frame.
    ///
    /// # Errors
    ///
    /// See [`FrameError`]; nothing was kept of it.
    pub fn read(frame: &[u8]) -> Result<Self, FrameError> {
        let (header, payload) = Header::read(frame)?;
        if header.command != ATTR_SYNC {
            return Err(FrameError::Command { found: header.command });
        }
        Self::read_payload(header.flags, payload)
    }

    /// Reads what stands behind a header of [`ATTR_SYNC`].
    ///
    /// # Errors
    ///
    /// See [`FrameError`]; nothing was kept of it.
    pub fn read_payload(flags: u8, payload: &[u8]) -> Result<Self, FrameError> {
        let known = Flags::DELTA.0 | Flags::REMOVALS.0 | Flags::WIDE.0;
        let flags = Flags(flags);
        let is_alone = flags.has(Flags::REMOVALS) && !flags.has(Flags::DELTA);
        if flags.0 & !known != 0 || is_alone {
            return Err(FrameError::Flags { found: flags.0 });
        }
        let mut reader = Reader { rest: payload, read: 0 };
        let seen = if flags.has(Flags::DELTA) {
            Self::Delta(delta::Delta::read(flags, &mut reader)?)
        } else {
            Self::Full(full::Full::read(flags, &mut reader)?)
        };
        match reader.rest.len() {
            0 => Ok(seen),
            trailing => Err(FrameError::Trailing { trailing }),
        }
    }
}

/// Why bytes are no frame. Nothing was kept of them; the connection that they came from is to be closed, for what comes next
/// cannot be told any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// There are too few bytes for what must be there.
    #[error("{needed} bytes are needed, {found} are there")]
    Short {
        /// How many from there on.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// The length cannot be.
    #[error("the frame says that {claimed} bytes follow; it may be 7 to {}", PAYLOAD_MAX + AFTER_LENGTH)]
    Length {
        /// What the first four bytes say.
        claimed: u32,
    },
    /// Frame and length differ.
    #[error("the frame says that {claimed} bytes follow, and {found} do")]
    Whole {
        /// What the first four bytes say.
        claimed: u32,
        /// What is there.
        found: usize,
    },
    /// It is no snapshot.
    #[error("command {found:#06x} is no snapshot ({ATTR_SYNC:#06x})")]
    Command {
        /// The command.
        found: u16,
    },
    /// Flags that there are not, or that do not go together.
    #[error("there are no flags {found:#04x}")]
    Flags {
        /// The flags.
        found: u8,
    },
    /// More is claimed than the payload can hold.
    #[error("{count} items are claimed at offset {offset}, and {found} bytes are left for them")]
    Count {
        /// How many are claimed.
        count: u32,
        /// Where in the payload the count stands.
        offset: usize,
        /// Bytes behind it.
        found: usize,
    },
    /// A mask without fields, or with fields that there are not.
    #[error("there is no mask {found:#04x} (at offset {offset} of the payload)")]
    Mask {
        /// The mask.
        found: u8,
        /// Where in the payload.
        offset: usize,
    },
    /// Something follows the last item.
    #[error("{trailing} bytes follow the last item")]
    Trailing {
        /// How many.
        trailing: usize,
    },
}

/// A payload as it is read.
#[derive(Debug)]
pub(crate) struct Reader<'p> {
    rest: &'p [u8],
    read: usize,
}

impl Reader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(FrameError::Short { needed: N, found: self.rest.len() });
        };
        self.rest = rest;
        self.read += N;
        Ok(*taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, FrameError> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    /// A number of items that take `bytes_min` each, at least.
    pub(crate) fn count(&mut self, flags: Flags, bytes_min: usize) -> Result<usize, FrameError> {
        let offset = self.read;
        let count = if flags.has(Flags::WIDE) { self.u32()? } else { u32::from(u16::from_be_bytes(self.take()?)) };
        let found = self.rest.len();
        let fits =
            usize::try_from(count).ok().filter(|count| count.checked_mul(bytes_min).is_some_and(|all| all <= found));
        fits.ok_or(FrameError::Count { count, offset, found })
    }

    pub(crate) fn mask(&mut self) -> Result<crate::Mask, FrameError> {
        let offset = self.read;
        let [found] = self.take()?;
        crate::Mask::of_bits(found).ok_or(FrameError::Mask { found, offset })
    }
}

/// Appends a number of items.
pub(crate) fn push_count(payload: &mut Vec<u8>, flags: Flags, count: usize) {
    if flags.has(Flags::WIDE) {
        payload.extend(u32::try_from(count).expect("a payload is bounded").to_be_bytes());
    } else {
        payload.extend(u16::try_from(count).expect("counts that need more are wide").to_be_bytes());
    }
}

/// Bytes of a header behind its length.
const AFTER_LENGTH: usize = HEADER_BYTES - 4;
