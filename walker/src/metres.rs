//! A length in metres: always finite, also when it comes from bytes of others.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A finite number of metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f32", into = "f32")]
pub struct Metres(f32);

/// A number is no length.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{0} metres are no finite length")]
pub struct NotFinite(pub f32);

impl Metres {
    /// So many metres.
    ///
    /// # Errors
    ///
    /// If the number is not finite.
    pub fn new(metres: f32) -> Result<Self, NotFinite> {
        if metres.is_finite() { Ok(Self(metres)) } else { Err(NotFinite(metres)) }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0
    }
}

impl TryFrom<f32> for Metres {
    type Error = NotFinite;

    fn try_from(metres: f32) -> Result<Self, NotFinite> {
        Self::new(metres)
    }
}

impl From<Metres> for f32 {
    fn from(metres: Metres) -> Self {
        metres.0
    }
}
