//! What parts begin with, as data: JSON or TOML, by their names.
//!
//! ```toml
//! [player]
//! name = "ann"
//! [health]
//! hp = 70
//! ```
//!
//! A part begins as its `Default` with these fields laid over it. All of the data fits, or nothing is done.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use super::part::Part;

/// Fields of parts, by the names of the parts.
///
/// ```
/// use slipgate_entity::game::Data;
/// let json = Data::from_json(r#"{"health":{"hp":70}}"#)?;
/// assert_eq!(json, Data::from_toml("[health]\nhp = 70")?);
/// # Ok::<(), slipgate_entity::game::ParseDataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    pub(crate) parts: BTreeMap<String, Value>,
}

/// Why a text is no data. Nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the text is no table of parts: {reason}")]
pub struct ParseDataError {
    reason: String,
}

impl Data {
    /// From a JSON object of parts.
    ///
    /// # Errors
    ///
    /// If the text is no JSON, or no object.
    pub fn from_json(text: &str) -> Result<Self, ParseDataError> {
        let parts = serde_json::from_str(text).map_err(|error| ParseDataError { reason: error.to_string() })?;
        Ok(Self { parts })
    }

    /// From a TOML document, a table for each part.
    ///
    /// # Errors
    ///
    /// If the text is no TOML.
    pub fn from_toml(text: &str) -> Result<Self, ParseDataError> {
        let parts = toml::from_str(text).map_err(|error| ParseDataError { reason: error.to_string() })?;
        Ok(Self { parts })
    }

    /// With fields for one part more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, fields: Value) -> Self {
        self.parts.insert(name.into(), fields);
        self
    }

    /// With one part more, as it is.
    ///
    /// # Panics
    ///
    /// If serde cannot write the part as JSON.
    #[must_use]
    pub fn part<P: Part>(self, part: &P) -> Self {
        match serde_json::to_value(part) {
            Ok(fields) => self.with(P::NAME, fields),
            Err(error) => panic!("{} cannot be written as JSON: {error}", P::NAME),
        }
    }
}

/// Lays `fields` over those of `base`; a part that is no table of fields is replaced.
pub(crate) fn lay_over(base: Value, fields: &Value, known: impl Fn(&str) -> bool) -> Result<Value, String> {
    let Value::Object(mut base) = base else { return Ok(fields.clone()) };
    let Value::Object(fields) = fields else { return Err(format!("expected fields by name, found {fields}")) };
    for (name, value) in fields {
        if !base.contains_key(name) && !known(name) {
            return Err(unknown_field(name, &base));
        }
        base.insert(name.clone(), value.clone());
    }
    Ok(Value::Object(base))
}

fn unknown_field(name: &str, fields: &Map<String, Value>) -> String {
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    let hint = did_you_mean(name, names.iter().copied());
    format!("no field is named {name:?}{hint}; there are: {}", names.join(", "))
}

/// `, did you mean "health"?`, or nothing if no name is near.
pub(crate) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let near = known.map(|known| (strsim::osa_distance(name, known), known)).min();
    let far = 1 + name.chars().count() / 3;
    near.filter(|&(distance, _)| distance <= far)
        .map_or_else(String::new, |(_, near)| format!(", did you mean {near:?}?"))
}
