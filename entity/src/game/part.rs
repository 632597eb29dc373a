//! What entities are made of: their own part, and components.
//!
//! ```text
//! Player (own part)      a struct: Serialize, Deserialize, Default, Debug
//!   Health  (component)  the same; any number of them, one of each type
//!   Bag     (component)
//! ```
//!
//! A part has a stable name, a version, state that travels, and behaviour. Without macros:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use slipgate_entity::game::{Behaviour, Component, Part, PartCell, PartNumber};
//!
//! #[derive(Debug, Default, Serialize, Deserialize)]
//! struct Health {
//!     hp: i32,
//! }
//!
//! impl Behaviour for Health {}
//!
//! impl Part for Health {
//!     const NAME: &'static str = "health";
//!     fn number() -> PartNumber {
//!         static CELL: PartCell = PartCell::new();
//!         CELL.number()
//!     }
//! }
//!
//! impl Component for Health {}
//! slipgate_entity::register!(component Health);
//! ```

use std::any::TypeId;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::behaviour::Behaviour;
use super::flags::Flags;
use super::number::PartNumber;
use super::types::TypesBuilder;

/// A piece of an entity: a type that travels under a stable name.
///
/// What serde skips does not travel: it is what the type's `Default` says after a move.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// use slipgate_entity::game::{Behaviour, Field, Part, PartCell, PartNumber};
///
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// struct Purse {
///     gold: u32,
///     #[serde(skip)]
///     is_open: bool,
/// }
///
/// impl Behaviour for Purse {}
///
/// impl Part for Purse {
///     const NAME: &'static str = "purse";
///     const PERSISTENT: &'static [&'static str] = &["gold"];
///     const FIELDS: &'static [Field] =
///         &[Field::new("gold", "u32").persistent(), Field::new("is_open", "bool").transient()];
///
///     fn number() -> PartNumber {
///         static CELL: PartCell = PartCell::new();
///         CELL.number()
///     }
/// }
/// ```
pub trait Part: Behaviour + Serialize + DeserializeOwned + Default + Debug + Send + 'static {
    /// Stable name, unique among entity types and components: `[a-z][a-z0-9_]*`, at most 48 bytes.
    const NAME: &'static str;
    /// Version of the state, from 1; rises when a field comes, goes or changes its type.
    const VERSION: u16 = 1;
    /// Names of the fields that also belong to the saved form.
    const PERSISTENT: &'static [&'static str] = &[];
    /// Its fields, for people and for the export of the schema.
    const FIELDS: &'static [Field] = &[];

    /// Its number in this process, from a static [`PartCell`](super::PartCell) of the type's own.
    fn number() -> PartNumber;
}

/// A part that stands beside an entity's own: at most one of a type in an entity, removed with it and not before.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use slipgate_entity::game::{Behaviour, Part, PartCell, PartNumber};
/// use slipgate_entity::game::{Component, Context};
///
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// struct Stamina {
///     left: u32,
/// }
/// # impl Behaviour for Stamina {}
/// # impl Part for Stamina {
/// #     const NAME: &'static str = "stamina";
/// #     fn number() -> PartNumber {
/// #         static CELL: PartCell = PartCell::new();
/// #         CELL.number()
/// #     }
/// # }
/// impl Component for Stamina {}
///
/// /// In a handler of another part of the entity.
/// fn rest(cx: &mut Context<'_>) {
///     if let Some(stamina) = cx.component_mut::<Stamina>() {
///         stamina.left += 10;
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no component",
    note = "put `#[derive(Component, Default, Debug)]` on it"
)]
pub trait Component: Part {}

/// The own part of an entity type.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use slipgate_entity::game::doc::{Actor, Health};
/// # use slipgate_entity::game::{Behaviour, Part, PartCell, PartNumber, Types};
/// use slipgate_entity::game::{ComponentList, Entity, Flags};
///
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// struct Orc {
///     rage: u32,
/// }
/// # impl Behaviour for Orc {}
/// # impl Part for Orc {
/// #     const NAME: &'static str = "orc";
/// #     fn number() -> PartNumber {
/// #         static CELL: PartCell = PartCell::new();
/// #         CELL.number()
/// #     }
/// # }
/// impl Entity for Orc {
///     type Parent = Actor;
///     const FLAGS: Flags = Flags::DEFAULT.with(Flags::IS_MONSTER);
///
///     fn components(list: &mut ComponentList) {
///         list.with::<Health>();
///     }
/// }
/// # let types = Types::builder().entity::<Orc>().build().unwrap();
/// # assert!(types.get::<Orc>().is_some() && types.get::<Actor>().is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no entity type",
    note = "put `#[derive(Entity, Default, Debug)]` on it"
)]
pub trait Entity: Part {
    /// The type above it, or `()`.
    type Parent: Lineage;
    /// Whether it is a node of the tree only, and cannot be created.
    const ABSTRACT: bool = false;
    /// Flags of a new entity, in addition to those of the types above. A type below one that leaves
    /// [`Flags::SUPPORT_MIGRATE`] out says [`Flags::NONE`], or it gets it back.
    const FLAGS: Flags = Flags::DEFAULT;
    /// Stable number on the wire to clients; none: clients are not told of it.
    const CLIENT_KIND: Option<u8> = None;

    /// Lists the components that each has; those of the types above come before.
    fn components(list: &mut ComponentList) {
        let _ = list;
    }

    /// Where it stands, for messages to those around; none: nowhere.
    fn position(&self) -> Option<Position> {
        None
    }
}

/// What may stand above an entity type: `()`, or another one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no entity type, so none stands below it",
    note = "put `#[derive(Entity, Default, Debug)]` on it; it may be `abstract`"
)]
pub trait Lineage: 'static {
    /// Adds the type, with all above it.
    #[doc(hidden)]
    fn enrol(builder: &mut TypesBuilder);

    /// The type's identity in this process; none for `()`.
    #[doc(hidden)]
    fn id() -> Option<TypeId>;
}

impl Lineage for () {
    fn enrol(_: &mut TypesBuilder) {}

    fn id() -> Option<TypeId> {
        None
    }
}

impl<T: Entity> Lineage for T {
    fn enrol(builder: &mut TypesBuilder) {
        builder.add_entity::<T>();
    }

    fn id() -> Option<TypeId> {
        Some(TypeId::of::<T>())
    }
}

/// The components that a type lists, in order.
///
/// ```
/// # use slipgate_entity::game::doc::Health;
/// use slipgate_entity::game::{Component, ComponentList};
///
/// /// What all fighters have, for the `components` of each type.
/// fn fighter<Weapon: Component>(list: &mut ComponentList) {
///     list.with::<Health>().with::<Weapon>();
/// }
/// ```
#[derive(Debug, Default)]
pub struct ComponentList {
    pub(crate) listed: Vec<Listed>,
}

/// A component as a list names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) id: TypeId,
    pub(crate) enrol: fn(&mut TypesBuilder),
}

impl ComponentList {
    /// Adds a component behind those listed; once, if it is listed already.
    pub fn with<C: Component>(&mut self) -> &mut Self {
        let id = TypeId::of::<C>();
        if self.listed.iter().all(|listed| listed.id != id) {
            self.listed.push(Listed { id, enrol: TypesBuilder::add_component::<C> });
        }
        self
    }
}

/// A place in a scene, in the units of the game; usually metres.
///
/// ```
/// use slipgate_entity::game::Position;
///
/// let (gate, guard) = (Position { x: 1.0, y: 1.0 }, Position { x: 4.0, y: 5.0 });
/// assert!(gate.is_within(5.0, guard) && !gate.is_within(4.9, guard));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// To the east.
    pub x: f32,
    /// To the north.
    pub y: f32,
}

impl Position {
    /// Whether `other` is at most `radius` away. Never, if one of them is not a number.
    #[must_use]
    pub fn is_within(self, radius: f32, other: Self) -> bool {
        let (dx, dy, radius) = (f64::from(self.x - other.x), f64::from(self.y - other.y), f64::from(radius));
        radius >= 0.0 && dx * dx + dy * dy <= radius * radius
    }
}

/// A field of a part or a message, as people are shown it.
///
/// ```
/// use slipgate_entity::game::Field;
///
/// const FIELDS: &[Field] = &[Field::new("gold", "u32").persistent(), Field::new("is_open", "bool").transient()];
/// assert!(FIELDS[0].travels && FIELDS[0].persistent && !FIELDS[1].travels);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its Rust type, as written.
    #[serde(rename = "type")]
    pub rust_type: &'static str,
    /// Whether it travels with its entity.
    pub travels: bool,
    /// Whether it belongs to the saved form.
    pub persistent: bool,
}

impl Field {
    /// A field that travels and is not saved.
    #[must_use]
    pub const fn new(name: &'static str, rust_type: &'static str) -> Self {
        Self { name, rust_type, travels: true, persistent: false }
    }

    /// The same, staying behind when its entity moves.
    #[must_use]
    pub const fn transient(self) -> Self {
        Self { travels: false, ..self }
    }

    /// The same, saved.
    #[must_use]
    pub const fn persistent(self) -> Self {
        Self { persistent: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_is_a_circle_with_its_edge_and_nothing_that_is_no_number() {
        let here = Position { x: 1.0, y: 1.0 };
        let there = Position { x: 4.0, y: 5.0 };
        assert!(here.is_within(5.0, there) && !here.is_within(4.9, there));
        assert!(here.is_within(0.0, here) && !here.is_within(-1.0, here) && !here.is_within(f32::NAN, here));
        assert!(!here.is_within(f32::INFINITY, Position { x: f32::NAN, y: 0.0 }));
        let far = Position { x: f32::MAX, y: f32::MAX };
        assert!(!here.is_within(1.0, far) && here.is_within(f32::INFINITY, far));
    }
}
