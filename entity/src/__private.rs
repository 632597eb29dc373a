//! What the derives of `slipgate-macros` expand to. No part of the interface.

pub use crate::game::*;
pub use crate::register;
pub use serde;

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
