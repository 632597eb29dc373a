//! What the derives of `slipgate-macros` expand to. No part of the interface.

pub use crate::game::*;
pub use crate::register;
pub use serde;

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What may stand in a field that travels. Serde asks for the same, but its errors name derives of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bytes, so it cannot travel",
    label = "does not travel",
    note = "put `#[derive(State)]` on `{Self}`, or `transient` on the field"
)]
pub trait Travels {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Travels for T {}

/// Compiles if the type may stand in a field that travels.
pub fn travels<T: Travels>() {}

/// Whether a type travels: `Question::<T>::TRAVELS`, with [`Otherwise`] in scope.
#[derive(Debug)]
pub struct Question<T>(PhantomData<T>);

impl<T: Serialize + DeserializeOwned> Question<T> {
    /// It does.
    pub const TRAVELS: bool = true;
}

/// What the constant is where [`Question`] has none: a type's own comes before that of a trait.
pub trait Otherwise {
    /// It does not.
    const TRAVELS: bool = false;
}

impl<T> Otherwise for Question<T> {}

/// A type itself if `TRAVELS`; else another in its place, of which serde has nothing to say. The latter never runs: the
/// error is [`travels`].
pub trait Stands<const TRAVELS: bool, Other> {
    /// The one of both.
    type Type;

    /// As that one.
    fn lend(&self) -> &Self::Type;

    /// Back from it.
    fn take(stands: Self::Type) -> Self;
}

impl<T, Other> Stands<true, Other> for T {
    type Type = T;

    #[inline]
    fn lend(&self) -> &T {
        self
    }

    #[inline]
    fn take(stands: T) -> T {
        stands
    }
}

impl<T, Other> Stands<false, Other> for T {
    type Type = Other;

    fn lend(&self) -> &Other {
        unreachable!("a program with such a type does not compile")
    }

    fn take(_: Other) -> T {
        unreachable!("a program with such a type does not compile")
    }
}
