//! Types that register themselves: no list of all of them has to be kept anywhere.
//!
//! `register!(entity Player)` and `register!(component Health)` stand beside the type, and [`Types::linked`](super::Types::linked) finds what
//! is linked into the program. A crate that nothing in the program names may be left out by the linker; so a node says
//! which types it needs, and [`Types::require`](super::Types::require) names those that are not there.

use super::part::{Component, Entity};
use super::types::TypesBuilder;

/// A type that registered itself.
#[derive(Debug)]
pub struct Registration {
    pub(crate) enrol: fn(&mut TypesBuilder),
}

inventory::collect!(Registration);

impl Registration {
    /// Of an entity type.
    #[doc(hidden)]
    #[must_use]
    pub const fn entity<T: Entity>() -> Self {
        Self { enrol: TypesBuilder::add_entity::<T> }
    }

    /// Of a component.
    #[doc(hidden)]
    #[must_use]
    pub const fn component<C: Component>() -> Self {
        Self { enrol: TypesBuilder::add_component::<C> }
    }
}

/// Registers a type, beside its declaration: `register!(entity Player)`, `register!(component Health)`.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use slipgate_entity::game::{Behaviour, Entity, Part, PartCell, PartNumber, Types};
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// struct Chest {
///     gold: u32,
/// }
/// # impl Behaviour for Chest {}
/// # impl Part for Chest {
/// #     const NAME: &'static str = "chest";
/// #     fn number() -> PartNumber {
/// #         static CELL: PartCell = PartCell::new();
/// #         CELL.number()
/// #     }
/// # }
/// impl Entity for Chest {
///     type Parent = ();
/// }
/// slipgate_entity::register!(entity Chest);
///
/// assert!(Types::linked()?.entity("chest").is_some());
/// # Ok::<(), slipgate_entity::game::TypeFaults>(())
/// ```
#[macro_export]
macro_rules! register {
    (entity $type:ty) => {
        $crate::game::inventory::submit! { $crate::game::Registration::entity::<$type>() }
    };
    (component $type:ty) => {
        $crate::game::inventory::submit! { $crate::game::Registration::component::<$type>() }
    };
}
