//! Where each value comes from.

use config::{Value, ValueKind};

use super::Secret;
use super::schema::{Key, SCENES};

/// One key, its value, and the source that had the last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `node.name`, or `scenes[0].id`.
    pub key: String,
    /// Its value.
    pub value: OriginValue,
    /// `default`, `cluster.toml:12`, `env SLIPGATE__NODE__NAME`, `flag --set node.name`.
    pub source: String,
}

/// A value as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginValue {
    /// A text; of a secret, only [`Secret::MASK`].
    Text(String),
    /// A whole number.
    Whole(i64),
}

impl Origin {
    pub(super) fn of(key: &Key, section: &Value) -> Option<Self> {
        Self::read(key.path.to_owned(), key, section)
    }

    pub(super) fn of_scene(number: usize, key: &Key, scene: &Value) -> Option<Self> {
        Self::read(format!("{SCENES}[{number}].{}", key.path), key, scene)
    }

    fn read(path: String, key: &Key, table: &Value) -> Option<Self> {
        let ValueKind::Table(table) = &table.kind else { return None };
        let found = table.get(key.name())?;
        let value = if key.kind.is_secret() {
            OriginValue::Text(Secret::MASK.to_owned())
        } else if let ValueKind::I64(number) = found.kind {
            OriginValue::Whole(number)
        } else {
            OriginValue::Text(found.clone().into_string().ok()?)
        };
        Some(Self { key: path, value, source: found.origin().unwrap_or_default().to_owned() })
    }
}

/// The origin of every key that has a value, in the order in which keys are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins {
    list: Vec<Origin>,
}

impl Origins {
    pub(super) fn new(list: Vec<Origin>) -> Self {
        Self { list }
    }

    /// Finds a key, by its path.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Origin> {
        self.list.iter().find(|origin| origin.key == key)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Origin> {
        self.list.iter()
    }
}

impl<'a> IntoIterator for &'a Origins {
    type Item = &'a Origin;
    type IntoIter = std::slice::Iter<'a, Origin>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
