//! What a node's types are, for programs and people: the same types, the same text.

use serde::Serialize;

use super::Types;
use super::info::{PartInfo, TypeInfo};
use crate::game::message::Callers;
use crate::game::part::Field;

/// Types, components and handlers, each in the order of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Entity types.
    pub types: Vec<TypeSchema>,
    /// Components.
    pub components: Vec<ComponentSchema>,
}

/// An entity type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeSchema {
    /// Its name.
    pub name: &'static str,
    /// Version of its own part.
    pub version: u16,
    /// Oldest version that can be read.
    pub oldest: u16,
    /// The type above it.
    pub parent: Option<&'static str>,
    /// Whether only types below it can be created.
    pub is_abstract: bool,
    /// Names of its flags, with those of the types above.
    pub flags: Vec<String>,
    /// Its number on the wire to clients.
    pub client_kind: Option<u8>,
    /// Fields of its own part.
    pub fields: &'static [Field],
    /// Its components, in the order in which an entity has them.
    pub components: Vec<&'static str>,
    /// What its own part takes.
    pub handlers: Vec<HandlerSchema>,
}

/// A component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComponentSchema {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: u16,
    /// Oldest version that can be read.
    pub oldest: u16,
    /// Its fields.
    pub fields: &'static [Field],
    /// What it takes.
    pub handlers: Vec<HandlerSchema>,
}

/// A message that a part takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HandlerSchema {
    /// Name of the message.
    pub message: &'static str,
    /// What its name is on the wire, in hex.
    pub tag: String,
    /// Who may call.
    pub from: Callers,
    /// Its fields.
    pub fields: &'static [Field],
    /// Rust type of the answer.
    pub answer: &'static str,
}

impl Types {
    /// Everything about the types that is not private to the process.
    #[must_use]
    pub fn schema(&self) -> Schema {
        let types = self.inner.names.values().map(|&number| self.type_schema(self.by_number(number)));
        let components = self.inner.components.values().map(|&number| component_schema(self.known(number)));
        Schema { types: types.collect(), components: components.collect() }
    }

    fn type_schema(&self, kind: &TypeInfo) -> TypeSchema {
        let own = self.own(kind);
        TypeSchema {
            name: kind.name(),
            version: kind.version(),
            oldest: kind.oldest(),
            parent: kind.parent().map(|parent| self.by_number(parent).name()),
            is_abstract: kind.is_abstract(),
            flags: kind.flags().names().collect(),
            client_kind: kind.client_kind(),
            fields: own.fields,
            components: kind.components().collect(),
            handlers: handlers(own),
        }
    }
}

fn component_schema(part: &PartInfo) -> ComponentSchema {
    ComponentSchema {
        name: part.name(),
        version: part.version(),
        oldest: part.oldest(),
        fields: part.fields,
        handlers: handlers(part),
    }
}

fn handlers(part: &PartInfo) -> Vec<HandlerSchema> {
    let mut handlers: Vec<_> = part
        .handlers
        .iter()
        .map(|handler| HandlerSchema {
            message: handler.message.name,
            tag: handler.message.tag.to_string(),
            from: handler.callers,
            fields: handler.message.fields,
            answer: handler.answer,
        })
        .collect();
    handlers.sort_by_key(|handler| handler.message);
    handlers
}
