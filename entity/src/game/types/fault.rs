//! What can be wrong with a set of types, told all at once when the program starts.

use std::fmt;

use thiserror::Error;

use crate::game::message::Tag;

/// All that is wrong with the types of a program. There are none then: correct them, and build it anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFaults {
    /// What is wrong, in the order of names.
    pub faults: Vec<TypeFault>,
}

impl fmt::Display for TypeFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.faults.len();
        write!(
            f,
            "{count} {} wrong with the types of this program",
            if count == 1 { "thing is" } else { "things are" }
        )?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for TypeFaults {}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum TypeFault {
    /// Two parts have one name.
    #[error("{one} and {other} are both named {name:?}; give one of them another name")]
    Name {
        /// The name.
        name: &'static str,
        /// A Rust type.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// A name is not written as names are.
    #[error("{name:?} of {rust_name} is no name: expected 1 to 48 of a-z, 0-9 and _, beginning with a letter")]
    BadName {
        /// The name.
        name: &'static str,
        /// The Rust type.
        rust_name: &'static str,
    },
    /// Two messages have one name.
    #[error("the messages {one} and {other} are both named {name:?}; give one of them another name")]
    MessageName {
        /// The name.
        name: &'static str,
        /// A Rust type.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// Two names are the same on the wire.
    #[error("the names {one:?} and {other:?} have the same tag {tag} on the wire; change one of them")]
    Tag {
        /// The tag.
        tag: Tag,
        /// A name.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// Two types are the same to clients.
    #[error("{one} and {other} both have the client kind {kind}")]
    ClientKind {
        /// The kind.
        kind: u8,
        /// Name of a type.
        one: &'static str,
        /// Of another.
        other: &'static str,
    },
    /// A type is above itself.
    #[error("{name} is its own parent, by way of those above it")]
    Cycle {
        /// Its name.
        name: &'static str,
    },
    /// Two parts share a number, which each needs for itself.
    #[error("{one} and {other} share a PartCell; `number` needs a static of its own in each type, so not in a generic")]
    Number {
        /// A Rust type.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// Two parts of an entity, or one of them twice, take a message; only one can answer.
    #[error("in {type_name}, both {one} and {other} take {message}; an entity has one handler for a message")]
    Handler {
        /// Name of the type, or of the component.
        type_name: &'static str,
        /// Name of the message.
        message: &'static str,
        /// Name of a part.
        one: &'static str,
        /// Of another, or the same.
        other: &'static str,
    },
    /// The version of a part is 0.
    #[error("{part} has version 0; versions count from 1")]
    Version {
        /// Name of the part.
        part: &'static str,
    },
    /// Migrations have a gap, come twice, or read what is not earlier.
    #[error("{part} has version {version} and reads {reads:?}; it may read versions up to {version}, without a gap")]
    Migrations {
        /// Name of the part.
        part: &'static str,
        /// Its version.
        version: u16,
        /// The versions that it reads.
        reads: Vec<u16>,
    },
    /// A field that is to be saved is not among those of the part.
    #[error("{part} saves {field:?}, and has no such field")]
    Persistent {
        /// Name of the part.
        part: &'static str,
        /// Name of the field.
        field: &'static str,
    },
}
