//! What is known of one part, and of one entity type.

use std::any::TypeId;
use std::sync::Arc;

use serde_json::Value;

use super::TypeNumber;
use crate::FixedMap;
use crate::game::body::parts::At;
use crate::game::dispatch::{AnswerHandler, Handler, Handlers, Migration};
use crate::game::erased::AnyPart;
use crate::game::flags::Flags;
use crate::game::message::{Callers, Tag};
use crate::game::number::PartNumber;
use crate::game::part::{Field, Listed, Part, Position};

/// A part, without its type.
#[derive(Debug)]
pub(crate) struct PartInfo {
    pub(super) number: PartNumber,
    pub(super) id: TypeId,
    pub(super) rust_name: &'static str,
    name: &'static str,
    version: u16,
    pub(super) persistent: &'static [&'static str],
    pub(super) fields: &'static [Field],
    pub(crate) handlers: Vec<Arc<Handler>>,
    by_tag: FixedMap<Tag, Arc<Handler>>,
    pub(crate) answers: Vec<AnswerHandler>,
    pub(super) migrations: Vec<Migration>,
    pub(super) entity: Option<EntityInfo>,
    make: fn() -> Box<dyn AnyPart>,
    read: fn(&[u8]) -> Made,
    read_saved: fn(Value) -> Made,
}

/// What an entity type says beside its own part.
#[derive(Debug)]
pub(super) struct EntityInfo {
    pub(super) parent: Option<TypeId>,
    pub(super) is_abstract: bool,
    pub(super) flags: Flags,
    pub(super) client_kind: Option<u8>,
    pub(super) components: Vec<Listed>,
    pub(super) stands: fn(&dyn AnyPart) -> Option<Position>,
}

/// A part, or why there is none.
type Made = Result<Box<dyn AnyPart>, String>;
/// How bytes of some version become a part.
type Reading<'t> = &'t dyn Fn(&[u8]) -> Made;
/// How fields that some version saved become a part.
type SavedReading<'t> = &'t dyn Fn(Value) -> Made;

impl PartInfo {
    pub(super) fn of<P: Part>(entity: Option<EntityInfo>) -> Self {
        let mut table = Handlers::<P>::new();
        P::handlers(&mut table);
        let Handlers { handlers, answers, mut migrations, .. } = table;
        migrations.sort_by_key(|migration| migration.from);
        let handlers: Vec<_> = handlers.into_iter().map(Arc::new).collect();
        let mut by_tag = FixedMap::default();
        for handler in &handlers {
            // What a part takes twice is a fault of the types, which are told of it elsewhere.
            if by_tag.get(&handler.message.tag).is_none() {
                by_tag.insert(handler.message.tag, Arc::clone(handler));
            }
        }
        Self {
            number: P::number(),
            id: TypeId::of::<P>(),
            rust_name: std::any::type_name::<P>(),
            name: P::NAME,
            version: P::VERSION,
            persistent: P::PERSISTENT,
            fields: P::FIELDS,
            handlers,
            by_tag,
            answers,
            migrations,
            entity,
            make: || Box::new(P::default()),
            read: |bytes| match crate::codec::decode_part::<P>(bytes) {
                Ok(part) => Ok(Box::new(part)),
                Err(error) => Err(crate::game::dispatch::text_of(&error)),
            },
            read_saved: |value| match serde_json::from_value::<P>(value) {
                Ok(part) => Ok(Box::new(part)),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn version(&self) -> u16 {
        self.version
    }

    /// The oldest version that can be read.
    pub(crate) fn oldest(&self) -> u16 {
        self.migrations.first().map_or(self.version, |migration| migration.from)
    }

    pub(crate) fn is_component(&self) -> bool {
        self.entity.is_none()
    }

    pub(crate) fn make(&self) -> Box<dyn AnyPart> {
        (self.make)()
    }

    pub(crate) fn find_handler(&self, tag: Tag) -> Option<&Handler> {
        self.by_tag.get(&tag).map(|handler| &**handler)
    }

    /// What reads bytes of `version`.
    pub(crate) fn read(&self, version: u16) -> Option<Reading<'_>> {
        if version == self.version {
            return Some(&self.read);
        }
        Some(&self.migration(version)?.read)
    }

    /// What reads fields of `version` that were saved.
    pub(super) fn read_saved(&self, version: u16) -> Option<SavedReading<'_>> {
        if version == self.version {
            return Some(&self.read_saved);
        }
        Some(&self.migration(version)?.read_saved)
    }

    fn migration(&self, version: u16) -> Option<&Migration> {
        self.migrations.iter().find(|migration| migration.from == version)
    }

    pub(super) fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }
}

/// An entity type.
#[derive(Debug)]
pub struct TypeInfo {
    pub(super) number: TypeNumber,
    /// The number behind that of the last type below it.
    pub(super) end: TypeNumber,
    pub(super) name: &'static str,
    pub(super) version: u16,
    pub(super) oldest: u16,
    pub(super) parent: Option<TypeNumber>,
    pub(super) flags: Flags,
    pub(super) client_kind: Option<u8>,
    pub(super) is_abstract: bool,
    pub(super) part: PartNumber,
    pub(super) listed: Vec<(PartNumber, &'static str)>,
    pub(crate) stands: fn(&dyn AnyPart) -> Option<Position>,
    pub(super) takes: Takes,
}

/// The handlers of an entity type: of its own part and of the components that it lists.
#[derive(Debug, Default)]
pub(super) struct Takes {
    all: Vec<(At, &'static str, Arc<Handler>)>,
    by_tag: FixedMap<Tag, (At, Arc<Handler>)>,
}

/// A handler, as people are shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerInfo {
    /// The message.
    pub message: &'static str,
    /// The component that takes it; none: the own part.
    pub component: Option<&'static str>,
    /// Who may call.
    pub callers: Callers,
    /// Rust type of the answer.
    pub answer: &'static str,
    /// The message's fields.
    pub fields: &'static [Field],
}

impl Takes {
    /// The part that takes one of its messages already, if there is one.
    pub(super) fn add(&mut self, at: At, part: &PartInfo) -> Vec<(&'static str, &'static str)> {
        let mut taken = Vec::new();
        for handler in &part.handlers {
            let tag = handler.message.tag;
            match self.all.iter().find(|(_, _, other)| other.message.tag == tag) {
                Some(&(_, by, _)) => taken.push((handler.message.name, by)),
                None => {
                    self.by_tag.insert(tag, (at, Arc::clone(handler)));
                    self.all.push((at, part.name, Arc::clone(handler)));
                }
            }
        }
        taken
    }
}

impl TypeInfo {
    /// Its number in this process.
    #[must_use]
    pub fn number(&self) -> TypeNumber {
        self.number
    }

    /// Its stable name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Version of its own part.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Oldest version of its own part that can be read.
    #[must_use]
    pub fn oldest(&self) -> u16 {
        self.oldest
    }

    /// The type above it.
    #[must_use]
    pub fn parent(&self) -> Option<TypeNumber> {
        self.parent
    }

    /// Flags of a new entity: its own, and those of the types above.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Its number on the wire to clients.
    #[must_use]
    pub fn client_kind(&self) -> Option<u8> {
        self.client_kind
    }

    /// Whether only types below it can be created.
    #[must_use]
    pub fn is_abstract(&self) -> bool {
        self.is_abstract
    }

    /// Names of the components that each has, in order: those of the types above come first.
    pub fn components(&self) -> impl Iterator<Item = &'static str> {
        self.listed.iter().map(|&(_, name)| name)
    }

    /// What it takes: its own part first, then its components in order.
    pub fn handlers(&self) -> impl Iterator<Item = HandlerInfo> {
        self.takes.all.iter().map(|(at, part, handler)| HandlerInfo {
            message: handler.message.name,
            component: (*at != At::Own).then_some(*part),
            callers: handler.callers,
            answer: handler.answer,
            fields: handler.message.fields,
        })
    }

    pub(crate) fn listed(&self) -> impl Iterator<Item = PartNumber> {
        self.listed.iter().map(|&(number, _)| number)
    }

    pub(crate) fn listed_len(&self) -> usize {
        self.listed.len()
    }

    #[inline]
    pub(crate) fn find_handler(&self, tag: Tag) -> Option<(At, &Handler)> {
        let (at, handler) = self.takes.by_tag.get(&tag)?;
        Some((*at, handler))
    }

    pub(super) fn takes(&self) -> impl Iterator<Item = &Arc<Handler>> {
        self.takes.all.iter().map(|(_, _, handler)| handler)
    }
}

/// Arguments that a message takes, in one line: `{"hp": i32}`.
pub(super) fn fits(fields: &[Field]) -> String {
    let fields: Vec<_> = fields.iter().map(|field| format!("{:?}: {}", field.name, field.rust_type)).collect();
    format!("{{{}}}", fields.join(", "))
}
