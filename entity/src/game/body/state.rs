//! A body as bytes that travel, and as JSON.
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | form: 1 |
//! | 8 | flags |
//! | part | the own part |
//! | 2, then each: 4, part | components in order: tag of the name |
//! | 2, then each: 8, 8, block | timers: id, time left in microseconds, payload |
//! | 2, then each: 8, 8, 4, 4, 8 | asks: id, time left, tag of the part's name, tag of the message, whom |
//! | block | what it brings along, as JSON; empty: nothing |
//! | 8 | numbers given out to timers and asks |
//!
//! A part is its version in 2 bytes and a block of the codec's bytes, a block is its length in 4 bytes and that. All
//! numbers are little-endian.
//!
//! Keeps: no more is allocated than is there; all of the bytes are used up.

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::calls::{ASKS_MAX, Ask, Calls, TIMERS_MAX, Timer, TimerId};
use super::parts::{At, Parts};
use super::{Body, Phase};
use crate::OnlineId;
use crate::codec;
use crate::game::erased::AnyPart;
use crate::game::flags::Flags;
use crate::game::message::{AskId, Tag};
use crate::game::types::{PartInfo, TypeInfo, Types};
use crate::game::world::{Description, Identity, Moment};

/// Why a body cannot be written. It is as it was.
#[derive(Debug, Error)]
pub enum EncodeBodyError {
    /// Serde cannot write a part, or it needs more than 16 MiB.
    #[error("{part} cannot be written: {source}")]
    Part {
        /// Name of the part.
        part: &'static str,
        /// Why.
        source: codec::EncodeError,
    },
    /// A block is longer than its length can say.
    #[error("{length} bytes are more than a block holds")]
    Block {
        /// How long it is.
        length: usize,
    },
}

/// Why bytes are no body. Nothing was kept of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeBodyError {
    /// The node does not know the type, or it is abstract.
    #[error("the type {name} is not known here, or only others may be of it")]
    Type {
        /// Its name.
        name: String,
    },
    /// The bytes have another form.
    #[error("the bytes have form {found}, this program reads form {FORM}")]
    Form {
        /// The form found.
        found: u8,
    },
    /// They end too early.
    #[error("the bytes end within {what}")]
    Short {
        /// What is not whole.
        what: &'static str,
    },
    /// They do not end where they should.
    #[error("{count} bytes follow the body")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// There is more than an entity may have.
    #[error("{count} {what} are more than {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// No entity lives so long that it gives out so many numbers; they would come to an end.
    #[error("{given} numbers of timers and asks are more than an entity gives out")]
    Numbers {
        /// How many.
        given: u64,
    },
    /// A component is not known here, comes twice, or takes what another takes.
    #[error("the component {name} is not known here, or cannot be in this entity")]
    Component {
        /// Its name, or its tag.
        name: String,
    },
    /// A version of a part cannot be read.
    #[error("{part} has version {found}; versions {oldest} to {newest} can be read here")]
    Version {
        /// Name of the part.
        part: &'static str,
        /// The version found.
        found: u16,
        /// The oldest that can be read.
        oldest: u16,
        /// The present one.
        newest: u16,
    },
    /// The bytes of a part are none of it.
    #[error("the bytes are no {part}: {reason}")]
    Part {
        /// Name of the part.
        part: &'static str,
        /// What the decoder said.
        reason: String,
    },
    /// What it brings along is no JSON.
    #[error("what it brings along is no JSON: {reason}")]
    Brings {
        /// What the decoder said.
        reason: String,
    },
}

const FORM: u8 = 1;
/// Half of what there is: the other half lasts for longer than any program runs.
const NUMBERS_MAX: u64 = u64::MAX / 2;

impl Body {
    pub(in crate::game) fn new(kind: &TypeInfo, own: Box<dyn AnyPart>, identity: Identity) -> Self {
        let (type_number, type_name) = (kind.number(), kind.name());
        let description = Description { handle: crate::Handle::ZERO, type_number, type_name, identity };
        Self {
            description: description.into(),
            flags: kind.flags(),
            parts: Parts::new(own),
            calls: Calls::default(),
            stands: kind.stands,
            phase: Phase::Outside,
            brings: None,
            is_around_open: false,
        }
    }

    /// Adds a component to a new body, before `init`. False if it cannot be there.
    pub(in crate::game) fn push(&mut self, part: Box<dyn AnyPart>, types: &Types) -> Result<(), super::AddError> {
        self.check_addition(&*part, types)?;
        self.parts.push(part);
        Ok(())
    }

    /// Appends it as bytes; `brings` is what it brings along to where they go.
    ///
    /// # Errors
    ///
    /// See [`EncodeBodyError`]; `bytes` then ends in a piece of it.
    pub fn encode(&self, now: Moment, brings: Option<&Value>, bytes: &mut Vec<u8>) -> Result<(), EncodeBodyError> {
        bytes.push(FORM);
        bytes.extend(self.flags.0.to_le_bytes());
        let own = self.parts.get(At::Own).expect("a body that takes no turn has its own part");
        put_part(own, bytes)?;
        put_count(self.parts.len() - 1, bytes);
        for part in self.parts.components() {
            bytes.extend(Tag::of(part.name()).0.to_le_bytes());
            put_part(part, bytes)?;
        }
        put_count(self.calls.timers().len(), bytes);
        for Timer { due, id, payload } in self.calls.timers() {
            bytes.extend(id.0.to_le_bytes());
            bytes.extend(due.0.saturating_sub(now.0).to_le_bytes());
            put_block(bytes, |bytes| {
                bytes.extend(payload);
                Ok(())
            })?;
        }
        put_count(self.calls.asks().len(), bytes);
        for Ask { deadline, id, at, tag, to } in self.calls.asks() {
            bytes.extend(id.0.to_le_bytes());
            bytes.extend(deadline.0.saturating_sub(now.0).to_le_bytes());
            bytes.extend(Tag::of(self.parts.name(*at)).0.to_le_bytes());
            bytes.extend(tag.0.to_le_bytes());
            bytes.extend(to.as_u64().to_le_bytes());
        }
        put_block(bytes, |bytes| {
            bytes.extend(brings.into_iter().flat_map(|brings| brings.to_string().into_bytes()));
            Ok(())
        })?;
        bytes.extend(self.calls.given().to_le_bytes());
        Ok(())
    }

    /// It as JSON, for people: type, flags and the fields of each part.
    #[must_use]
    pub fn describe(&self) -> Value {
        let fields =
            |part: &dyn AnyPart| part.to_value().unwrap_or_else(|error| json!({ "unreadable": error.to_string() }));
        let components: Map<_, _> =
            self.parts.components().map(|part| (part.name().to_owned(), fields(part))).collect();
        json!({
            "type": self.description.type_name(),
            "flags": self.flags.names().collect::<Vec<_>>(),
            "own": self.parts.get(At::Own).map(fields),
            "components": components,
            "timers": self.calls.timers().len(),
            "asks": self.calls.asks().len(),
        })
    }

    /// What is to be kept of it over restarts: its flags, and the persistent fields of its parts, with their versions.
    /// [`Types::create_saved`] makes it again.
    ///
    /// ```json
    /// {"type":"player","flags":"516","parts":{"player":{"version":1,"fields":{"name":"ann"}}}}
    /// ```
    #[must_use]
    pub fn save(&self) -> Value {
        let own = self.parts.get(At::Own).into_iter();
        let parts = own.chain(self.parts.components()).map(|part| (part.name().to_owned(), saved(part)));
        let (name, flags) = (self.description.type_name(), self.flags.0.to_string());
        json!({ "type": name, "flags": flags, "parts": parts.collect::<Map<_, _>>() })
    }

    pub(in crate::game) fn decode(
        types: &Types,
        kind: &TypeInfo,
        identity: Identity,
        bytes: &[u8],
        now: Moment,
    ) -> Result<Self, DecodeBodyError> {
        let mut reader = Reader { bytes };
        let [form] = reader.take("the form")?;
        if form != FORM {
            return Err(DecodeBodyError::Form { found: form });
        }
        let flags = Flags(reader.u64("the flags")?);
        let mut body = Self::new(kind, reader.part(types.own(kind))?, identity);
        body.flags = flags;
        body.take_components(types, kind, &mut reader)?;
        body.take_calls(now, &mut reader)?;
        if reader.bytes.is_empty() { Ok(body) } else { Err(DecodeBodyError::Trailing { count: reader.bytes.len() }) }
    }

    /// A component that the type lists and the bytes do not have is as its `Default`: the list has grown since.
    fn take_components(
        &mut self,
        types: &Types,
        kind: &TypeInfo,
        reader: &mut Reader<'_>,
    ) -> Result<(), DecodeBodyError> {
        let mut came = Vec::new();
        for _ in 0..reader.count("components", usize::from(u16::MAX))? {
            let tag = Tag(reader.u32("a component")?);
            let info = types.component_of(tag).ok_or_else(|| DecodeBodyError::Component { name: tag.to_string() })?;
            came.push(Some(reader.part(info)?));
        }
        for number in kind.listed() {
            let place = came.iter().position(|part| part.as_ref().is_some_and(|part| part.number() == number));
            let part = place.and_then(|place| came[place].take());
            self.place(part.unwrap_or_else(|| types.known(number).make()), types)?;
        }
        came.into_iter().flatten().try_for_each(|part| self.place(part, types))
    }

    fn place(&mut self, part: Box<dyn AnyPart>, types: &Types) -> Result<(), DecodeBodyError> {
        let name = part.name();
        self.push(part, types).map_err(|_| DecodeBodyError::Component { name: name.to_owned() })
    }

    fn take_calls(&mut self, now: Moment, reader: &mut Reader<'_>) -> Result<(), DecodeBodyError> {
        let mut timers = Vec::new();
        for _ in 0..reader.count("timers", TIMERS_MAX)? {
            let (id, left) = (TimerId(reader.u64("a timer")?), reader.u64("a timer")?);
            let payload = reader.block("a timer")?.to_vec();
            timers.push(Timer { due: Moment(now.0.saturating_add(left)), id, payload });
        }
        let mut asks = Vec::new();
        for _ in 0..reader.count("asks", ASKS_MAX)? {
            let (id, left) = (AskId(reader.u64("an ask")?), reader.u64("an ask")?);
            let (part, tag) = (Tag(reader.u32("an ask")?), Tag(reader.u32("an ask")?));
            let to = OnlineId::from_u64(reader.u64("an ask")?);
            let mut places = (0..self.parts.len()).filter_map(|place| self.parts.at(place));
            let at = places.find(|&at| Tag::of(self.parts.name(at)) == part);
            let at = at.ok_or_else(|| DecodeBodyError::Component { name: part.to_string() })?;
            asks.push(Ask { deadline: Moment(now.0.saturating_add(left)), id, at, tag, to });
        }
        let brings = reader.block("what it brings along")?;
        if !brings.is_empty() {
            let wrong = |error: serde_json::Error| DecodeBodyError::Brings { reason: error.to_string() };
            self.brings = Some(Box::new(serde_json::from_slice(brings).map_err(wrong)?));
        }
        let given = reader.u64("the numbers given out")?;
        let highest = timers.iter().map(|timer| timer.id.0).chain(asks.iter().map(|ask| ask.id.0)).max();
        let given = given.max(highest.unwrap_or(0));
        if given > NUMBERS_MAX {
            return Err(DecodeBodyError::Numbers { given });
        }
        self.calls = Calls::arrived(given);
        timers.into_iter().for_each(|timer| self.calls.insert_timer(timer));
        asks.into_iter().for_each(|ask| self.calls.insert_ask(ask));
        Ok(())
    }
}

fn saved(part: &dyn AnyPart) -> Value {
    let fields = match part.to_value() {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|name, _| part.persistent().contains(&name.as_str()));
            fields
        }
        Ok(_) | Err(_) => Map::new(),
    };
    json!({ "version": part.version(), "fields": fields })
}

fn put_part(part: &dyn AnyPart, bytes: &mut Vec<u8>) -> Result<(), EncodeBodyError> {
    bytes.extend(part.version().to_le_bytes());
    put_block(bytes, |bytes| part.encode(bytes).map_err(|source| EncodeBodyError::Part { part: part.name(), source }))
}

fn put_count(count: usize, bytes: &mut Vec<u8>) {
    let count = u16::try_from(count).expect("what an entity has is bounded far below 65,536");
    bytes.extend(count.to_le_bytes());
}

fn put_block(
    bytes: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeBodyError>,
) -> Result<(), EncodeBodyError> {
    let at = bytes.len();
    bytes.extend([0; 4]);
    write(bytes)?;
    let length = bytes.len() - at - 4;
    let told = u32::try_from(length).map_err(|_| EncodeBodyError::Block { length })?;
    bytes[at..at + 4].copy_from_slice(&told.to_le_bytes());
    Ok(())
}

/// Bytes that are not read yet.
struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeBodyError> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(DecodeBodyError::Short { what })?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, DecodeBodyError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, DecodeBodyError> {
        self.take(what).map(u64::from_le_bytes)
    }

    fn count(&mut self, what: &'static str, max: usize) -> Result<usize, DecodeBodyError> {
        let count = usize::from(self.take(what).map(u16::from_le_bytes)?);
        if count > max { Err(DecodeBodyError::TooMany { what, count, max }) } else { Ok(count) }
    }

    fn block(&mut self, what: &'static str) -> Result<&'b [u8], DecodeBodyError> {
        let length = self.u32(what)? as usize;
        let (block, rest) = self.bytes.split_at_checked(length).ok_or(DecodeBodyError::Short { what })?;
        self.bytes = rest;
        Ok(block)
    }

    fn part(&mut self, info: &PartInfo) -> Result<Box<dyn AnyPart>, DecodeBodyError> {
        let version = self.take(info.name()).map(u16::from_le_bytes)?;
        let block = self.block(info.name())?;
        let (part, newest) = (info.name(), info.version());
        let read = info.read(version).ok_or(DecodeBodyError::Version {
            part,
            found: version,
            oldest: info.oldest(),
            newest,
        })?;
        read(block).map_err(|reason| DecodeBodyError::Part { part, reason })
    }
}
