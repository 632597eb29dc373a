//! What an observer sees of one entity, and which of it differs.
//!
//! | offset | size | field | mask |
//! |---|---|---|---|
//! | 0 | 4 + 4 | position x, y: f32 | 1 |
//! | 8 | 4 + 4 | velocity x, y: f32 | 2 |
//! | 16 | 2 | hp: i16 | 4 |
//! | 18 | 1 | kind: u8, as the entity's type declares it | 8 |
//!
//! All big-endian.
//!
//! Keeps: two states are equal if their bytes on the wire are. So a NaN that stays is not dirty for ever, and a change from
//! +0 to -0 is not missed.

use std::fmt;

/// What an entity is called on the wire to observers: a number of their node's session, which it keeps over moves.
///
/// Not used again while a baseline holds it; see [`Aliases`](crate::Aliases).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alias(pub u32);

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What an observer sees of an entity at one tick.
///
/// ```
/// use slipgate_sync::EntityState;
///
/// let still = EntityState { velocity: [0.0, 0.0], ..EntityState::default() };
/// assert_ne!(still, EntityState { velocity: [-0.0, 0.0], ..still });
/// let lost = EntityState { position: [f32::NAN, 0.0], ..still };
/// assert_eq!(lost, lost);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityState {
    /// Where it is, in the units of its scene.
    pub position: [f32; 2],
    /// How it moves, in units a second.
    pub velocity: [f32; 2],
    /// Hit points.
    pub hp: i16,
    /// What it looks like: a number that its type declares.
    pub kind: u8,
}

impl EntityState {
    /// Bytes on the wire.
    pub const BYTES: usize = 19;

    /// The fields whose bytes differ.
    #[must_use]
    #[inline]
    pub fn differing(&self, other: &Self) -> Mask {
        Mask::differing(&seen_bytes(Alias(0), self), &seen_bytes(Alias(0), other))
    }

    /// Takes the fields of `mask` over from `other`.
    pub fn merge(&mut self, mask: Mask, other: &Self) {
        if mask.has(Mask::POSITION) {
            self.position = other.position;
        }
        if mask.has(Mask::VELOCITY) {
            self.velocity = other.velocity;
        }
        if mask.has(Mask::HP) {
            self.hp = other.hp;
        }
        if mask.has(Mask::KIND) {
            self.kind = other.kind;
        }
    }

    /// As it is on the wire.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&pair(self.position));
        bytes[8..16].copy_from_slice(&pair(self.velocity));
        bytes[16..18].copy_from_slice(&self.hp.to_be_bytes());
        bytes[18] = self.kind;
        bytes
    }

    /// From its bytes.
    #[must_use]
    #[inline]
    pub fn of_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let [position, velocity] = [0, 8].map(|at| std::array::from_fn(|byte| bytes[at + byte])).map(unpair);
        Self { position, velocity, hp: i16::from_be_bytes([bytes[16], bytes[17]]), kind: bytes[18] }
    }
}

impl PartialEq for EntityState {
    fn eq(&self, other: &Self) -> bool {
        self.differing(other) == Mask::NONE
    }
}

impl Eq for EntityState {}

/// A set of fields.
///
/// ```
/// use slipgate_sync::{EntityState, Mask};
///
/// let before = EntityState::default();
/// let after = EntityState { hp: 7, kind: 1, ..before };
/// assert_eq!(before.differing(&after), Mask::HP | Mask::KIND);
/// assert_eq!((Mask::HP | Mask::KIND).bytes(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(u8);

impl Mask {
    /// No field.
    pub const NONE: Self = Self(0);
    /// The position.
    pub const POSITION: Self = Self(1);
    /// The velocity.
    pub const VELOCITY: Self = Self(2);
    /// Position and velocity.
    pub const MOVEMENT: Self = Self(3);
    /// The hit points.
    pub const HP: Self = Self(4);
    /// The kind.
    pub const KIND: Self = Self(8);
    /// All fields.
    pub const ALL: Self = Self(15);

    /// The fields of which other bytes are seen.
    #[inline]
    pub(crate) fn differing(one: &SeenBytes, other: &SeenBytes) -> Self {
        let differs = |range: std::ops::Range<usize>, mask: Self| mask.0 * u8::from(one[range.clone()] != other[range]);
        let floats = differs(4..12, Self::POSITION) | differs(12..20, Self::VELOCITY);
        Self(floats | differs(20..22, Self::HP) | differs(22..23, Self::KIND))
    }

    /// As it is on the wire.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From the wire; none if it names no field, or one that there is not.
    #[must_use]
    pub fn of_bits(bits: u8) -> Option<Self> {
        (bits != 0 && bits & !Self::ALL.0 == 0).then_some(Self(bits))
    }

    /// Whether all fields of `other` are among them.
    #[must_use]
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Bytes that the fields take on the wire.
    #[must_use]
    #[inline]
    pub fn bytes(self) -> usize {
        let of = |mask, bytes| if self.has(mask) { bytes } else { 0 };
        of(Self::POSITION, 8) + of(Self::VELOCITY, 8) + of(Self::HP, 2) + of(Self::KIND, 1)
    }
}

impl std::ops::BitOr for Mask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// An alias and a state as they are in a full snapshot.
pub(crate) type SeenBytes = [u8; 4 + EntityState::BYTES];

#[inline]
pub(crate) fn seen_bytes(alias: Alias, state: &EntityState) -> SeenBytes {
    let mut bytes = [0; 4 + EntityState::BYTES];
    bytes[..4].copy_from_slice(&alias.0.to_be_bytes());
    bytes[4..].copy_from_slice(&state.bytes());
    bytes
}

pub(crate) fn alias_of(seen: &SeenBytes) -> Alias {
    let [a, b, c, d, ..] = *seen;
    Alias(u32::from_be_bytes([a, b, c, d]))
}

pub(crate) fn state_of(seen: &SeenBytes) -> EntityState {
    EntityState::of_bytes(seen.last_chunk().expect("a state behind the alias"))
}

#[inline]
fn pair([x, y]: [f32; 2]) -> [u8; 8] {
    let both = u64::from(x.to_bits()) << 32 | u64::from(y.to_bits());
    both.to_be_bytes()
}

#[inline]
pub(crate) fn unpair(bytes: [u8; 8]) -> [f32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [[a, b, c, d], [e, f, g, h]].map(|bytes| f32::from_bits(u32::from_be_bytes(bytes)))
}
