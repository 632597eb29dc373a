//! Bodies: new ones, from data, from bytes, and from what was saved.

use serde_json::Value;
use thiserror::Error;

use super::info::{PartInfo, TypeInfo};
use super::{TypeNumber, Types};
use crate::game::body::{AddError, Body, DecodeBodyError};
use crate::game::data::{Data, did_you_mean, lay_over};
use crate::game::erased::AnyPart;
use crate::game::flags::Flags;
use crate::game::part::Entity;
use crate::game::world::{Identity, Moment};

/// Why no entity was made. Nothing is left of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// There is no such type.
    #[error("no type is named {name:?}{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// Only types below it can be created.
    #[error("{name} is abstract: create one of the types below it")]
    Abstract {
        /// Its name.
        name: &'static str,
    },
    /// The data is for a part that is neither the entity's own nor a component.
    #[error("no component is named {name:?}{hint}")]
    Component {
        /// The name in the data.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// The data of a part does not fit.
    #[error("the data of {part} does not fit: {reason}")]
    Data {
        /// The part.
        part: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A component of the data cannot be in such an entity.
    #[error(transparent)]
    Add(#[from] AddError),
}

/// Why what was saved is no entity. Nothing is left of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// It is not what [`Body::save`] writes.
    #[error("it is no saved entity: expected {expected}")]
    Shape {
        /// What is not there.
        expected: &'static str,
    },
    /// A version of a part cannot be read.
    #[error("{part} was saved with version {found}; versions {oldest} to {newest} can be read here")]
    Version {
        /// The part.
        part: &'static str,
        /// The version found.
        found: u64,
        /// The oldest that can be read.
        oldest: u16,
        /// The present one.
        newest: u16,
    },
    /// It could not be created.
    #[error(transparent)]
    Create(#[from] CreateError),
}

impl Types {
    /// A new entity of the type named, its parts as their `Default` is with `data` laid over. What the data has beyond
    /// the type's own parts are further components, in the order of their names. It has no slot yet, and no `init` ran.
    ///
    /// # Errors
    ///
    /// If there is no such type, it is abstract, or the data does not fit; see [`CreateError`].
    pub fn create(&self, name: &str, identity: Identity, data: &Data) -> Result<Body, CreateError> {
        let unknown = || CreateError::Unknown { name: name.to_owned(), hint: self.meant(name) };
        self.create_kind(self.entity(name).ok_or_else(unknown)?, identity, data)
    }

    /// The same by number.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    ///
    /// # Panics
    ///
    /// As [`by_number`](Self::by_number).
    pub fn create_number(&self, number: TypeNumber, identity: Identity, data: &Data) -> Result<Body, CreateError> {
        self.create_kind(self.by_number(number), identity, data)
    }

    /// A new entity whose own part is given.
    ///
    /// # Errors
    ///
    /// If these types do not have it, or it is abstract.
    pub fn create_of<T: Entity>(&self, own: T, identity: Identity) -> Result<Body, CreateError> {
        let unknown = || CreateError::Unknown { name: T::NAME.to_owned(), hint: self.meant(T::NAME) };
        let kind = creatable(self.get::<T>().ok_or_else(unknown)?)?;
        let components = kind.listed().map(|number| self.known(number).make()).collect();
        self.put_together(kind, Box::new(own), components, identity)
    }

    /// An entity from the bytes that [`Body::encode`] wrote, perhaps those of an earlier version. It has no slot yet.
    ///
    /// # Errors
    ///
    /// If the type or a version cannot be read here, or the bytes are no body; see [`DecodeBodyError`].
    pub fn decode(&self, name: &str, identity: Identity, bytes: &[u8], now: Moment) -> Result<Body, DecodeBodyError> {
        let kind = self.entity(name).filter(|kind| !kind.is_abstract);
        let kind = kind.ok_or_else(|| DecodeBodyError::Type { name: name.to_owned() })?;
        Body::decode(self, kind, identity, bytes, now)
    }

    /// An entity from what [`Body::save`] kept: the saved fields laid over those of `Default`. It has no slot yet.
    ///
    /// # Errors
    ///
    /// See [`RestoreError`].
    pub fn create_saved(&self, identity: Identity, saved: &Value) -> Result<Body, RestoreError> {
        let shape = |expected| RestoreError::Shape { expected };
        let name = saved["type"].as_str().ok_or_else(|| shape("the name of a type"))?;
        let flags = saved["flags"].as_str().and_then(|flags| flags.parse().ok());
        let flags = Flags(flags.ok_or_else(|| shape("flags, a number as text"))?);
        let parts = saved["parts"].as_object().ok_or_else(|| shape("parts by name"))?;
        let unknown = || CreateError::Unknown { name: name.to_owned(), hint: self.meant(name) };
        let kind = creatable(self.entity(name).ok_or_else(unknown)?)?;
        let part = |info: &PartInfo| match parts.get(info.name()) {
            Some(saved) => restore(info, saved),
            None => Ok(info.make()),
        };
        let own = part(self.own(kind))?;
        let mut components = kind.listed().map(|number| part(self.known(number))).collect::<Result<Vec<_>, _>>()?;
        for info in self.further(kind, parts.keys())? {
            components.push(part(info)?);
        }
        let mut body = self.put_together(kind, own, components, identity)?;
        body.flags = flags;
        Ok(body)
    }

    fn create_kind(&self, kind: &TypeInfo, identity: Identity, data: &Data) -> Result<Body, CreateError> {
        let kind = creatable(kind)?;
        let part = |info: &PartInfo| match data.parts.get(info.name()) {
            Some(fields) => from_data(info, fields),
            None => Ok(info.make()),
        };
        let own = part(self.own(kind))?;
        let mut components = kind.listed().map(|number| part(self.known(number))).collect::<Result<Vec<_>, _>>()?;
        for info in self.further(kind, data.parts.keys())? {
            components.push(part(info)?);
        }
        self.put_together(kind, own, components, identity)
    }

    /// Components that are named, and are not among those that the type lists.
    fn further<'n>(
        &self,
        kind: &TypeInfo,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Vec<&PartInfo>, CreateError> {
        let mut further = Vec::new();
        for name in names {
            if name == kind.name() || kind.components().any(|listed| listed == name) {
                continue;
            }
            let hint = || did_you_mean(name, self.components().chain([kind.name()]));
            let unknown = || CreateError::Component { name: name.clone(), hint: hint() };
            further.push(self.component_named(name).ok_or_else(unknown)?);
        }
        Ok(further)
    }

    /// The components that the data names.
    pub(crate) fn components_from(&self, data: &Data) -> Result<Vec<Box<dyn AnyPart>>, CreateError> {
        let component = |(name, fields): (&String, &Value)| {
            let unknown = || CreateError::Component { name: name.clone(), hint: did_you_mean(name, self.components()) };
            from_data(self.component_named(name).ok_or_else(unknown)?, fields)
        };
        data.parts.iter().map(component).collect()
    }

    fn put_together(
        &self,
        kind: &TypeInfo,
        own: Box<dyn AnyPart>,
        components: Vec<Box<dyn AnyPart>>,
        identity: Identity,
    ) -> Result<Body, CreateError> {
        let mut body = Body::new(kind, own, identity);
        for component in components {
            body.push(component, self)?;
        }
        Ok(body)
    }

    pub(crate) fn component_named(&self, name: &str) -> Option<&PartInfo> {
        self.part(*self.inner.components.get(name)?)
    }
}

fn creatable(kind: &TypeInfo) -> Result<&TypeInfo, CreateError> {
    if kind.is_abstract { Err(CreateError::Abstract { name: kind.name() }) } else { Ok(kind) }
}

/// A part as its `Default` is, with fields laid over it.
fn from_data(info: &PartInfo, fields: &Value) -> Result<Box<dyn AnyPart>, CreateError> {
    let wrong = |reason| CreateError::Data { part: info.name(), reason };
    let base = info.make().to_value().map_err(|error| wrong(error.to_string()))?;
    let whole = lay_over(base, fields, |name| info.has_field(name)).map_err(wrong)?;
    let read = info.read_saved(info.version()).expect("the present version can be read");
    read(whole).map_err(wrong)
}

/// A part from its saved fields; those of an earlier version as they are, for what reads it.
fn restore(info: &PartInfo, saved: &Value) -> Result<Box<dyn AnyPart>, RestoreError> {
    let found = saved["version"].as_u64().ok_or(RestoreError::Shape { expected: "a version of each part" })?;
    let fields = saved.get("fields").ok_or(RestoreError::Shape { expected: "fields of each part" })?;
    let (part, oldest, newest) = (info.name(), info.oldest(), info.version());
    if found == u64::from(newest) {
        return Ok(from_data(info, fields)?);
    }
    let read = u16::try_from(found).ok().and_then(|found| info.read_saved(found));
    let read = read.ok_or(RestoreError::Version { part, found, oldest, newest })?;
    read(fields.clone()).map_err(|reason| CreateError::Data { part, reason }.into())
}
