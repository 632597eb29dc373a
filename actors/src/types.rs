//! The entity types that a node can host, by their stable names.
//!
//! A type knows how its bodies are made, read from bytes, and spoken to. Bytes and JSON meet here and
//! nowhere below: a body is plain data.

mod walker;

use std::sync::Arc;

use slipgate_cluster::schema::Schema;
use slipgate_entity::{Body, OnlineId, TypeName};
use thiserror::Error;
pub use walker::WalkerType;

/// An entity type.
pub trait EntityType: Send + Sync + std::fmt::Debug {
    /// Its stable name.
    fn name(&self) -> TypeName;

    /// Its version; scenes with another version refuse its entities.
    fn version(&self) -> u16;

    /// The body of a new entity.
    fn create(&self, entity: OnlineId) -> Box<dyn Body>;

    /// A body from the bytes that another one encoded.
    ///
    /// # Errors
    ///
    /// If the bytes are none of this type's; says why.
    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Body>, String>;

    /// The messages that it takes from tools.
    fn messages(&self) -> &'static [MessageKind];

    /// A message from its name and its arguments as JSON text.
    ///
    /// # Errors
    ///
    /// If the arguments do not fit; says what would.
    fn parse(&self, name: &str, arguments: &str) -> Result<Vec<u8>, String>;

    /// The name of a message, for people; none if the bytes are none.
    fn kind_of(&self, payload: &[u8]) -> Option<&'static str>;
}

/// A message that a type takes from tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageKind {
    /// Its name.
    pub name: &'static str,
    /// Arguments that fit, as JSON.
    pub example: &'static str,
}

/// Why a text is no message to any type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseMessageError {
    /// No type takes a message of that name.
    #[error("no type takes a message named {name:?}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The arguments do not fit.
    #[error("the arguments of {name:?} do not fit: {reason}; these would: {example}")]
    Arguments {
        /// The message's name.
        name: String,
        /// What is wrong.
        reason: String,
        /// Arguments that fit.
        example: &'static str,
    },
}

/// The types of a node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Types {
    types: Arc<[Arc<dyn EntityType>]>,
}

impl Types {
    /// The types given.
    #[must_use]
    pub fn new(types: Vec<Arc<dyn EntityType>>) -> Self {
        Self { types: types.into() }
    }

    /// The built-in ones: `walker`.
    #[must_use]
    pub fn built_in() -> Self {
        Self::new(vec![Arc::new(WalkerType)])
    }

    /// The type named `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn EntityType>> {
        self.types.iter().find(|known| known.name().0 == name)
    }

    /// What can be read: each type in its own version.
    #[must_use]
    pub fn schema(&self) -> Schema {
        self.types.iter().map(|known| (known.name(), known.version(), known.version())).collect()
    }

    /// Names, for people.
    #[must_use]
    pub fn names(&self) -> String {
        join(self.types.iter().map(|known| known.name().0))
    }

    /// A message from its name and its arguments as JSON text.
    ///
    /// # Errors
    ///
    /// If no type takes it.
    pub fn parse(&self, name: &str, arguments: &str) -> Result<Vec<u8>, ParseMessageError> {
        let messages = || self.types.iter().flat_map(|known| known.messages().iter().map(move |kind| (known, kind)));
        let Some((known, kind)) = messages().find(|(_, kind)| kind.name == name) else {
            let known = join(messages().map(|(_, kind)| kind.name.to_owned()));
            return Err(ParseMessageError::Unknown { name: name.to_owned(), known });
        };
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        known.parse(name, arguments).map_err(|reason| {
            let name = name.to_owned();
            ParseMessageError::Arguments { name, reason, example: kind.example }
        })
    }
}

fn join(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
