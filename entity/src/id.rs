//! The newtypes that name scenes, entities and players.
//!
//! ```text
//! EntityId   63 ........ 48 47 ................. 0     OnlineId   63 ......... 32 31 ......... 0
//!            |  scene 16  |      seq 48          |                |   range 32   | counter 32  |
//! LocalId    63 ........ 32 31 ................. 0
//!            | generation  |        slot         |
//! ```
//!
//! No bare integer crosses a function boundary: each id says who makes it, how far it is unique and
//! whether it is ever used again. In JSON an id of 64 bits is a string, because readers that hold
//! numbers as doubles would round it.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use uuid::Uuid;

/// A scene, for as long as it is open: its number, and how often that number was used before.
///
/// The number is unique in the cluster while the scene is open; 0 to 65,535. That of a scene that `cluster.toml`
/// declares comes from there, with generation 0. A scene that is made at run time gets one from the manager, and
/// with it a generation that this number never had: so whatever was meant for an earlier scene of the number has
/// another address, and does not come to the later one. Prints as the number; from generation 1 on as `40000.2`.
///
/// ```
/// use slipgate_entity::SceneId;
/// let dungeon = SceneId::of(40_000, 2);
/// assert_eq!((dungeon.number(), dungeon.generation()), (40_000, 2));
/// assert_eq!((SceneId(7).number(), SceneId(7).generation()), (7, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SceneId(pub u32);

impl SceneId {
    /// Use number `generation` of a number.
    #[must_use]
    pub fn of(number: u16, generation: u16) -> Self {
        Self(u32::from(generation) << 16 | u32::from(number))
    }

    /// The number: the lower 16 bits.
    #[must_use]
    #[inline]
    pub fn number(self) -> u16 {
        (self.0 & 0xffff) as u16
    }

    /// How often the number was used before: the upper 16 bits.
    #[must_use]
    pub fn generation(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The first scene of the same number.
    #[must_use]
    #[inline]
    pub fn first(self) -> Self {
        Self::from(self.number())
    }
}

impl From<u16> for SceneId {
    fn from(number: u16) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for SceneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation() {
            0 => self.number().fmt(f),
            generation => write!(f, "{}.{generation}", self.number()),
        }
    }
}

impl FromStr for SceneId {
    type Err = ParseSceneError;

    /// Reads what it prints as; `40000.0` is read as `40000`.
    fn from_str(text: &str) -> Result<Self, ParseSceneError> {
        let wrong = || ParseSceneError { text: text.to_owned() };
        let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        let (first, second) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self::of(number(first).ok_or_else(wrong)?, number(second).ok_or_else(wrong)?))
    }
}

/// Why a text does not name a scene by its number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no number of a scene: expected 7, or 40000.2")]
pub struct ParseSceneError {
    /// The text as it came.
    pub text: String,
}

/// Place of an entity in the runtime of its scene: scene number and slot number.
///
/// The slot number is used again after a despawn; only together with a generation (a
/// [`Handle`](crate::Handle)) does it name one life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityId(u64);

impl EntityId {
    /// Slot 0 of scene 0; the place in the zero handle.
    pub(crate) const ZERO: Self = Self(0);

    /// Highest sequence number: 48 bits.
    pub const SEQ_MAX: u64 = (1 << 48) - 1;

    /// Packs a scene's number and a sequence number. The scene's generation is not in it.
    ///
    /// # Panics
    ///
    /// If `seq` needs more than 48 bits: a runtime never hands out so many slots.
    ///
    /// ```
    /// use slipgate_entity::{EntityId, SceneId};
    /// let id = EntityId::new(SceneId(1), 42);
    /// assert_eq!((id.scene(), id.seq()), (SceneId(1), 42));
    /// ```
    #[must_use]
    #[inline]
    pub fn new(scene: SceneId, seq: u64) -> Self {
        assert!(seq <= Self::SEQ_MAX, "sequence number {seq} is above {}", Self::SEQ_MAX);
        Self(u64::from(scene.number()) << 48 | seq)
    }

    /// Scene in the upper 16 bits; the first of its number, for which later ones are no others here.
    #[must_use]
    #[inline]
    pub fn scene(self) -> SceneId {
        SceneId::from((self.0 >> 48) as u16)
    }

    /// Sequence number in the lower 48 bits.
    #[must_use]
    #[inline]
    pub fn seq(self) -> u64 {
        self.0 & Self::SEQ_MAX
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scene(), self.seq())
    }
}

/// A slot and its generation in eight bytes, valid in one runtime of one process.
///
/// For hot paths: one array access and one comparison, as neither side of it can be 0.
///
/// ```
/// use slipgate_entity::{LookupError, Runtime, SceneId};
///
/// let mut runtime = Runtime::new(SceneId(1));
/// let ann = runtime.spawn("ann")?;
/// let local = ann.local().expect("a slot");
/// assert_eq!((size_of_val(&local), runtime.get_local(local)), (8, Ok(&"ann")));
/// runtime.despawn(ann).expect("ann lives");
/// assert_eq!(runtime.get_local(local), Err(LookupError::NotFound));
/// # Ok::<(), slipgate_entity::SlotsExhausted<&str>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId {
    generation: NonZeroU32,
    slot: u32,
}

impl LocalId {
    /// From its number: the generation in the upper 32 bits, the slot in the lower. None if the generation is 0.
    ///
    /// ```
    /// use slipgate_entity::LocalId;
    /// let id = LocalId::from_u64(3 << 32 | 7).expect("a generation");
    /// assert_eq!((id.generation().get(), id.slot(), id.as_u64()), (3, 7, 3 << 32 | 7));
    /// ```
    #[must_use]
    pub fn from_u64(number: u64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are wanted")]
        let (generation, slot) = ((number >> 32) as u32, number as u32);
        Some(Self { generation: NonZeroU32::new(generation)?, slot })
    }

    /// Its number.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        u64::from(self.generation.get()) << 32 | u64::from(self.slot)
    }

    /// The life number `generation` of the slot `slot`.
    #[must_use]
    #[inline]
    pub fn new(generation: NonZeroU32, slot: u32) -> Self {
        Self { generation, slot }
    }

    /// Which life of the slot.
    #[must_use]
    #[inline]
    pub fn generation(self) -> NonZeroU32 {
        self.generation
    }

    /// The slot.
    #[must_use]
    #[inline]
    pub fn slot(self) -> u32 {
        self.slot
    }
}

const _: () = assert!(size_of::<Option<LocalId>>() == 8, "no life has the generation 0");

/// Number of a range of 2^32 online ids, handed out once by the manager; 0 is never handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RangeId(pub u32);

impl fmt::Display for RangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of an entity in the whole cluster, for as long as the cluster's manager store lives.
///
/// Never issued twice; kept over every move. Prints as `range.counter`, for example `3.1204`; so it
/// is written in JSON and other text formats, while binary ones hold the whole number.
///
/// ```
/// use slipgate_entity::{OnlineId, RangeId};
///
/// let ann: OnlineId = "3.1204".parse()?;
/// assert_eq!((ann.range(), ann.counter(), ann.to_string()), (RangeId(3), 1204, "3.1204".to_owned()));
/// # Ok::<(), slipgate_entity::ParseIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OnlineId(u64);

impl OnlineId {
    /// Packs a range and a counter.
    #[must_use]
    pub fn new(range: RangeId, counter: u32) -> Self {
        Self(u64::from(range.0) << 32 | u64::from(counter))
    }

    /// From the whole number.
    #[must_use]
    pub fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// Range in the upper 32 bits; it tells the entity's home.
    #[must_use]
    pub fn range(self) -> RangeId {
        RangeId((self.0 >> 32) as u32)
    }

    /// Counter in the lower 32 bits.
    #[must_use]
    pub fn counter(self) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are wanted")]
        let counter = self.0 as u32;
        counter
    }

    /// The whole number.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for OnlineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.range(), self.counter()))
    }
}

impl fmt::Debug for OnlineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.range(), self.counter())
    }
}

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not an online id: expected range.counter, for example 3.1204")]
pub struct ParseIdError {
    /// The text as it came.
    pub text: String,
}

impl FromStr for OnlineId {
    type Err = ParseIdError;

    /// Reads `range.counter`, both decimal and within 32 bits, without signs or spaces.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let wrong = || ParseIdError { text: text.to_owned() };
        let (range, counter) = text.split_once('.').ok_or_else(wrong)?;
        let number = |digits: &str| -> Option<u32> {
            digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        Ok(Self::new(RangeId(number(range).ok_or_else(wrong)?), number(counter).ok_or_else(wrong)?))
    }
}

impl Serialize for OnlineId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for OnlineId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

/// Number of an entity across restarts and databases: a UUID of version 7.
///
/// ```
/// use slipgate_entity::PersistId;
///
/// let text = "\"0190163d-8694-739b-aea5-966c26f8ad91\"";
/// let ann: PersistId = serde_json::from_str(text)?;
/// assert_eq!((ann.0.get_version_num(), format!("\"{ann}\"")), (7, text.to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PersistId(pub Uuid);

impl fmt::Display for PersistId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a player, made by the game; exists while no entity does. 0 means none.
///
/// ```
/// # use slipgate_entity::game::doc::Player;
/// use slipgate_entity::PlayerId;
/// use slipgate_entity::game::Spawn;
///
/// assert_eq!(Spawn::of::<Player>().player, PlayerId::NONE);
/// assert_eq!(Spawn::of::<Player>().player(PlayerId(7)).player, PlayerId(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u64);

impl PlayerId {
    /// No player.
    pub const NONE: Self = Self(0);
}

/// Stable name of an entity type, on the wire and in logs; 1 to 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TypeName(pub String);

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_id_tells_its_scene_without_a_look_up() {
        let id = EntityId::new(SceneId::of(u16::MAX, 3), EntityId::SEQ_MAX);
        assert_eq!(id.scene(), SceneId::from(u16::MAX));
        assert_eq!(id.seq(), EntityId::SEQ_MAX);
        assert_eq!(EntityId::new(SceneId(1), 42).to_string(), "1:42");
    }

    #[test]
    fn a_scene_prints_as_its_number_with_its_generation_from_the_second_use_on_and_reads_back() {
        for (scene, text) in
            [(SceneId(7), "7"), (SceneId::of(40_000, 2), "40000.2"), (SceneId(u32::MAX), "65535.65535")]
        {
            assert_eq!(scene.to_string(), text);
            assert_eq!(text.parse(), Ok(scene));
        }
        assert_eq!(SceneId::of(40_000, 2).first(), SceneId(40_000));
        for text in ["", "7.", ".2", "65536", "7.65536", "-1", "+1", "1.2.3", "a"] {
            assert!(text.parse::<SceneId>().is_err(), "{text}");
        }
    }

    #[test]
    #[should_panic(expected = "is above")]
    fn a_sequence_number_is_never_truncated() {
        let _ = EntityId::new(SceneId(1), EntityId::SEQ_MAX + 1);
    }

    #[test]
    fn an_online_id_prints_as_range_and_counter_and_reads_back() {
        let id = OnlineId::new(RangeId(3), 1204);
        assert_eq!(id.to_string(), "3.1204");
        assert_eq!("3.1204".parse(), Ok(id));
        assert_eq!(id.as_u64(), 3 << 32 | 1204);
    }

    #[test]
    fn an_online_id_is_text_in_json_and_nothing_else_is_read_for_it() {
        let id = OnlineId::new(RangeId(3), 1204);
        assert_eq!(serde_json::to_string(&id).expect("an id is JSON"), r#""3.1204""#);
        assert_eq!(serde_json::from_str::<OnlineId>(r#""3.1204""#).expect("its own text"), id);
        assert!(serde_json::from_str::<OnlineId>("12884903092").is_err());
    }

    #[test]
    fn a_text_that_is_no_online_id_is_refused_with_the_text() {
        for text in ["", "3", "3.", ".4", "3.4.5", "+3.4", "3.-4", "4294967296.0", "3. 4", "a.b"] {
            let error = text.parse::<OnlineId>().expect_err(text);
            assert_eq!(error.text, text);
        }
    }

    #[test]
    fn a_local_id_keeps_generation_and_slot_apart() {
        let id = LocalId::new(NonZeroU32::MAX, 7);
        assert_eq!((id.generation(), id.slot()), (NonZeroU32::MAX, 7));
    }
}
