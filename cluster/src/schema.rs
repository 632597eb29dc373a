//! What an entity consists of, and what a scene can read of that.
//!
//! ```text
//!   entity: its type, then its components, each in a version     scene: per name the oldest and the newest version
//!     walker 3, bag 1                                              walker 2 to 3, bag 1, hat 1      takes it
//!     walker 3, bag 2                                              walker 3, bag 1                  says: bag 2, I read 1
//! ```
//!
//! Before an entity is frozen, its target compares the two: what it could not read would come back as a copy that was
//! sent for nothing.
//!
//! Keeps: an entity has its type and at most [`PARTS`] parts in all; whatever differs is named.
//! Leaves out: the state itself, which the shell reads; what becomes of a state of an older version.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use slipgate_entity::TypeName;
use thiserror::Error;

use crate::bounds::PARTS;
use crate::moves::Refusal;

/// A part of an entity: its type, or a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its stable name. Types and components share their names.
    pub name: TypeName,
    /// The version of its state.
    pub version: u16,
}

/// All parts of an entity, its type first: 1 to [`PARTS`] of them.
///
/// ```
/// use slipgate_cluster::schema::{Part, Parts};
/// use slipgate_entity::TypeName;
/// let part = |name: &str, version| Part { name: TypeName(name.to_owned()), version };
/// let parts = Parts::new(part("walker", 3), vec![part("bag", 1)])?;
/// assert_eq!((parts.own().version, parts.components().len()), (3, 1));
/// # Ok::<(), slipgate_cluster::schema::PartsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Part>", into = "Vec<Part>")]
pub struct Parts(Vec<Part>);

/// Why a list is not the parts of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it has {parts} parts: there are 1 to {PARTS}")]
pub struct PartsError {
    /// How many there are.
    pub parts: usize,
}

impl Parts {
    /// A type, and the components of one of its entities.
    ///
    /// # Errors
    ///
    /// If they are more than [`PARTS`].
    pub fn new(own: Part, mut components: Vec<Part>) -> Result<Self, PartsError> {
        components.insert(0, own);
        Self::try_from(components)
    }

    /// The type.
    #[must_use]
    pub fn own(&self) -> &Part {
        &self.0[0]
    }

    /// The components.
    #[must_use]
    pub fn components(&self) -> &[Part] {
        &self.0[1..]
    }
}

impl TryFrom<Vec<Part>> for Parts {
    type Error = PartsError;

    fn try_from(parts: Vec<Part>) -> Result<Self, PartsError> {
        if (1..=PARTS).contains(&parts.len()) { Ok(Self(parts)) } else { Err(PartsError { parts: parts.len() }) }
    }
}

impl From<Parts> for Vec<Part> {
    fn from(Parts(parts): Parts) -> Self {
        parts
    }
}

/// Versions of a part that a scene can read; the newest is the one that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest.
    pub oldest: u16,
    /// The newest; not below the oldest.
    pub newest: u16,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { oldest, newest } = self;
        if oldest == newest { newest.fmt(f) } else { write!(f, "{oldest} to {newest}") }
    }
}

/// What a scene can read: types and components by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema(BTreeMap<TypeName, Versions>);

impl Schema {
    /// The version in which this scene writes a part.
    pub(crate) fn newest(&self, name: &TypeName) -> Option<u16> {
        self.0.get(name).map(|versions| versions.newest)
    }

    /// Why an entity of these parts could not be read, if so: the first difference.
    pub(crate) fn refusal(&self, parts: &Parts) -> Option<Refusal> {
        let no_type = || Refusal::NoType { type_name: parts.own().name.clone() };
        let no_component = |component: &Part| Refusal::NoComponent { component: component.name.clone() };
        self.difference(parts.own(), no_type).or_else(|| {
            parts.components().iter().find_map(|component| self.difference(component, || no_component(component)))
        })
    }

    fn difference(&self, part: &Part, unknown: impl FnOnce() -> Refusal) -> Option<Refusal> {
        let Some(&theirs) = self.0.get(&part.name) else { return Some(unknown()) };
        let differs = || Refusal::SchemaDiffers { part: part.name.clone(), ours: part.version, theirs };
        (!(theirs.oldest..=theirs.newest).contains(&part.version)).then(differs)
    }
}

/// Name, oldest and newest version of each part.
impl FromIterator<(TypeName, u16, u16)> for Schema {
    fn from_iter<I: IntoIterator<Item = (TypeName, u16, u16)>>(parts: I) -> Self {
        let row = |(name, oldest, newest)| (name, Versions { oldest, newest });
        Self(parts.into_iter().map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> TypeName {
        TypeName(text.into())
    }

    fn part(text: &str, version: u16) -> Part {
        Part { name: name(text), version }
    }

    fn parts(own: Part, components: &[Part]) -> Parts {
        Parts::new(own, components.to_vec()).expect("few parts")
    }

    fn schema() -> Schema {
        [(name("walker"), 2, 3), (name("bag"), 1, 1)].into_iter().collect()
    }

    #[test]
    fn every_version_from_the_oldest_to_the_newest_is_read() {
        for version in [2, 3] {
            assert_eq!(schema().refusal(&parts(part("walker", version), &[part("bag", 1)])), None);
        }
        assert_eq!((schema().newest(&name("walker")), schema().newest(&name("hat"))), (Some(3), None));
    }

    #[test]
    fn the_first_difference_is_named_with_what_the_scene_reads() {
        let refusal = |entity: Parts| schema().refusal(&entity).map(|refusal| refusal.to_string());
        let expect = |entity, text: &str| assert_eq!(refusal(entity).as_deref(), Some(text));
        expect(parts(part("dragon", 1), &[part("hat", 1)]), "the target does not know the type dragon");
        expect(parts(part("walker", 2), &[part("hat", 1)]), "the target does not know the component hat");
        expect(parts(part("walker", 4), &[part("bag", 9)]), "its walker is of version 4, the target reads 2 to 3");
        expect(parts(part("walker", 1), &[]), "its walker is of version 1, the target reads 2 to 3");
        expect(parts(part("walker", 2), &[part("bag", 0)]), "its bag is of version 0, the target reads 1");
    }

    #[test]
    fn an_entity_has_a_type_and_at_most_as_many_parts_as_are_allowed() {
        assert_eq!(Parts::try_from(Vec::new()), Err(PartsError { parts: 0 }));
        let components = |count| vec![part("bag", 1); count];
        assert!(Parts::new(part("walker", 1), components(PARTS - 1)).is_ok());
        assert_eq!(Parts::new(part("walker", 1), components(PARTS)), Err(PartsError { parts: PARTS + 1 }));
    }
}
