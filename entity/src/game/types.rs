//! The types of a node: what can be made, read and spoken to there.
//!
//! ```text
//! thing 0 .. 5               numbers are given depth first, so that what is below a type follows it:
//!   actor 1 .. 4             b is a, if a <= b < end of a
//!     monster 2 .. 3
//!     player 3 .. 4
//!   trap 4 .. 5
//! ```
//!
//! Types are put together once, when the program starts, and do not change. What is wrong with them is told all at once.
//! Numbers are private to the process; on the wire and in logs a type is its name.
//!
//! | module | holds |
//! |---|---|
//! | `builder` | puts types together |
//! | `fault` | what can be wrong with them |
//! | `create` | bodies: new, from data, from bytes, from what was saved |
//! | `schema` | what they are, as JSON |

mod builder;
mod create;
mod fault;
mod info;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::data::did_you_mean;
use super::dispatch::{Handler, MessageInfo};
use super::envelope::{Envelope, Form};
use super::message::Tag;
use super::number::PartNumber;
use super::part::Entity;
use super::register::Registration;
use crate::FixedMap;

pub use self::builder::TypesBuilder;
pub use self::create::{CreateError, RestoreError};
pub use self::fault::{TypeFault, TypeFaults};
pub use self::info::{HandlerInfo, TypeInfo};
pub use self::schema::{ComponentSchema, HandlerSchema, Schema, TypeSchema};

pub(crate) use self::info::PartInfo;

/// Number of an entity type in this process: dense from 0, depth first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TypeNumber(pub(crate) u32);

impl TypeNumber {
    /// As an index of an array.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The types of a node. Cheap to clone.
///
/// ```
/// # use slipgate_entity::game::doc::{Actor, Player};
/// use slipgate_entity::game::Types;
/// let types = Types::builder().entity::<Player>().build()?;
/// let (actor, player) = (types.get::<Actor>(), types.entity("player"));
/// assert!(types.is_a(player.expect("built in").number(), actor.expect("came along").number()));
/// # Ok::<(), slipgate_entity::game::TypeFaults>(())
/// ```
#[derive(Clone)]
pub struct Types {
    inner: Arc<Inner>,
}

struct Inner {
    /// In the order of their numbers.
    types: Vec<TypeInfo>,
    names: BTreeMap<&'static str, TypeNumber>,
    /// By part number.
    numbers: Vec<Option<TypeNumber>>,
    parts: Vec<Option<PartInfo>>,
    components: BTreeMap<&'static str, PartNumber>,
    component_tags: FixedMap<Tag, PartNumber>,
    messages: FixedMap<Tag, &'static str>,
}

/// Types that a node needs, and that its program does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no type of this program is named {text}; link in the crate that registers it, and name something of it")]
pub struct MissingTypes {
    /// Their names.
    pub names: Vec<String>,
    text: String,
}

/// Why a text is no message to an entity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseMessageError {
    /// There is no such type.
    #[error("no type is named {name:?}{hint}")]
    Type {
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// The type takes no message of that name.
    #[error("{type_name} takes no message named {name:?}{hint}; it takes: {known}")]
    Unknown {
        /// The type.
        type_name: &'static str,
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
        /// Those that it takes.
        known: String,
    },
    /// No type and no component takes a message of that name.
    #[error("nobody takes a message named {name:?}{hint}; there are {known}")]
    Nobody {
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
        /// Those that there are, as far as one reads them.
        known: String,
    },
    /// The arguments do not fit.
    #[error("the arguments of {name} do not fit: {reason}; it takes {fits}")]
    Arguments {
        /// The message's name.
        name: &'static str,
        /// What is wrong.
        reason: String,
        /// What would fit: its fields with their types.
        fits: String,
    },
}

impl Types {
    /// All types that registered themselves.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub fn linked() -> Result<Self, TypeFaults> {
        let mut builder = Self::builder();
        for registration in inventory::iter::<Registration> {
            (registration.enrol)(&mut builder);
        }
        builder.build()
    }

    /// Types that are named one by one.
    #[must_use]
    pub fn builder() -> TypesBuilder {
        TypesBuilder::default()
    }

    /// Whether all types that a node needs are there.
    ///
    /// # Errors
    ///
    /// Names all that are not.
    pub fn require<S: AsRef<str>>(&self, names: &[S]) -> Result<(), MissingTypes> {
        let missing = names.iter().map(AsRef::as_ref).filter(|&name| self.entity(name).is_none());
        let names: Vec<_> = missing.map(str::to_owned).collect();
        let text: Vec<_> = names.iter().map(|name| format!("{name:?}{}", self.meant(name))).collect();
        if names.is_empty() { Ok(()) } else { Err(MissingTypes { names, text: text.join(", or ") }) }
    }

    /// The entity type of a name.
    #[must_use]
    pub fn entity(&self, name: &str) -> Option<&TypeInfo> {
        self.inner.names.get(name).map(|&number| self.by_number(number))
    }

    /// The entity type that is a Rust type: one array access.
    #[must_use]
    #[inline]
    pub fn get<T: Entity>(&self) -> Option<&TypeInfo> {
        let number = self.inner.numbers.get(T::number().index()).copied().flatten()?;
        Some(self.by_number(number))
    }

    /// The entity type of a number.
    ///
    /// # Panics
    ///
    /// If the number is from other `Types`, and too high for these.
    #[must_use]
    #[inline]
    pub fn by_number(&self, number: TypeNumber) -> &TypeInfo {
        &self.inner.types[number.index()]
    }

    /// All entity types, in the order of their numbers.
    pub fn entities(&self) -> impl Iterator<Item = &TypeInfo> {
        self.inner.types.iter()
    }

    /// Names of all components.
    pub fn components(&self) -> impl Iterator<Item = &'static str> {
        self.inner.components.keys().copied()
    }

    /// Whether `number` is `of` or below it: two comparisons.
    ///
    /// # Panics
    ///
    /// As [`by_number`](Self::by_number).
    #[must_use]
    #[inline]
    pub fn is_a(&self, number: TypeNumber, of: TypeNumber) -> bool {
        of <= number && number < self.by_number(of).end
    }

    /// A type and all below it: their numbers are neighbours.
    ///
    /// # Panics
    ///
    /// As [`by_number`](Self::by_number).
    pub fn below(&self, number: TypeNumber) -> impl Iterator<Item = TypeNumber> {
        self.inner.types[number.index()..self.by_number(number).end.index()].iter().map(TypeInfo::number)
    }

    /// The bytes of a message to an entity of a type, from its name and its arguments as JSON.
    ///
    /// # Errors
    ///
    /// If neither the type nor any component takes it, or the arguments do not fit.
    pub fn parse(&self, type_name: &str, message: &str, arguments: &str) -> Result<Vec<u8>, ParseMessageError> {
        let kind = self
            .entity(type_name)
            .ok_or_else(|| ParseMessageError::Type { name: type_name.to_owned(), hint: self.meant(type_name) })?;
        let own = kind.takes();
        let others = self.inner.parts.iter().flatten().filter(|part| part.is_component());
        let mut all = own.chain(others.flat_map(|part| &part.handlers));
        let Some(handler) = all.find(|handler| handler.message.name == message) else {
            let mut known: Vec<_> = kind.takes().map(|handler| handler.message.name).collect();
            known.sort_unstable();
            let hint = did_you_mean(message, known.iter().copied());
            let (type_name, name, known) = (kind.name(), message.to_owned(), known.join(", "));
            return Err(ParseMessageError::Unknown { type_name, name, hint, known });
        };
        parse(handler, arguments)
    }

    /// The bytes of a message, whoever takes it, from its name and its arguments as JSON.
    ///
    /// # Errors
    ///
    /// If nobody takes it, or the arguments do not fit.
    pub fn parse_any(&self, message: &str, arguments: &str) -> Result<Vec<u8>, ParseMessageError> {
        let all = || self.inner.parts.iter().flatten().flat_map(|part| &part.handlers);
        let Some(handler) = all().find(|handler| handler.message.name == message) else {
            let known: BTreeSet<_> = all().map(|handler| handler.message.name).collect();
            let hint = did_you_mean(message, known.iter().copied());
            return Err(ParseMessageError::Nobody { name: message.to_owned(), hint, known: list(&known) });
        };
        parse(handler, arguments)
    }

    /// An answer to a message with the tag `tag`, as JSON.
    ///
    /// # Errors
    ///
    /// If none of these types takes such a message, or the bytes are no answer to it.
    pub fn describe_answer(&self, tag: Tag, answer: &[u8]) -> Result<Value, String> {
        let mut all = self.inner.parts.iter().flatten().flat_map(|part| &part.handlers);
        match all.find(|handler| handler.message.tag == tag) {
            Some(handler) => (handler.describe)(answer),
            None => Err(format!("nobody here takes a message with the tag {tag}")),
        }
    }

    /// The name of the message in a payload; none if it is none that a type takes.
    #[must_use]
    pub fn kind_of(&self, payload: &[u8]) -> Option<&'static str> {
        let envelope = Envelope::read(payload)?;
        match envelope.form {
            Form::Message | Form::Ask(_) | Form::Answer(_) | Form::Refused(_) | Form::Done(_) | Form::Panicked(_) => {
                self.message(envelope.tag)
            }
        }
    }

    /// Name, oldest version that can be read, and present version of each part, by name.
    #[must_use]
    pub fn readable(&self) -> Vec<(&'static str, u16, u16)> {
        let parts = self.inner.parts.iter().flatten();
        let mut all: Vec<_> = parts.map(|part| (part.name(), part.oldest(), part.version())).collect();
        all.sort_unstable();
        all
    }

    #[cold]
    pub(crate) fn message(&self, tag: Tag) -> Option<&'static str> {
        self.inner.messages.get(&tag).copied()
    }

    pub(crate) fn part(&self, number: PartNumber) -> Option<&PartInfo> {
        self.inner.parts.get(number.index())?.as_ref()
    }

    /// A part that a type of these names.
    pub(crate) fn known(&self, number: PartNumber) -> &PartInfo {
        self.part(number).unwrap_or_else(|| panic!("expected {number:?} among the parts of these types, found none"))
    }

    pub(crate) fn own(&self, kind: &TypeInfo) -> &PartInfo {
        self.known(kind.part)
    }

    pub(crate) fn component_of(&self, tag: Tag) -> Option<&PartInfo> {
        self.part(*self.inner.component_tags.get(&tag)?)
    }

    /// `, did you mean "player"?`, or nothing.
    #[must_use]
    pub fn meant(&self, name: &str) -> String {
        did_you_mean(name, self.inner.names.keys().copied())
    }
}

/// Names, and how many more there are.
fn list(names: &BTreeSet<&str>) -> String {
    let first: Vec<_> = names.iter().copied().take(LISTED_MAX).collect();
    match names.len() - first.len() {
        0 if first.is_empty() => "none".to_owned(),
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

/// Names that a person reads in a line.
const LISTED_MAX: usize = 20;

fn parse(handler: &Handler, arguments: &str) -> Result<Vec<u8>, ParseMessageError> {
    let MessageInfo { name, fields, .. } = handler.message;
    let fits = |reason| ParseMessageError::Arguments { name, reason, fits: info::fits(fields) };
    (handler.parse)(arguments).map_err(fits)
}

impl fmt::Debug for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.inner.names.keys()).finish()
    }
}
