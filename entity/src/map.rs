//! A hash map with a fixed hasher, for look-ups only.
//!
//! The standard map draws a random seed, so two runs walk it in different orders; ordered walks in
//! this crate and in those above it use `BTreeMap` or slots. A [`FixedMap`] therefore has no
//! iterator at all. Its keys are ids that this cluster made itself, never text a client chose.

use std::fmt;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Map from an id to a value, O(1), without iteration.
#[derive(Clone)]
pub struct FixedMap<K, V> {
    inner: FxHashMap<K, V>,
}

impl<K, V> Default for FixedMap<K, V> {
    fn default() -> Self {
        Self { inner: FxHashMap::default() }
    }
}

/// In the order of what the keys look like: maps that hold the same look the same, whatever they went through.
impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for FixedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries: Vec<_> = self.inner.iter().map(|entry| (format!("{:?}", entry.0), entry)).collect();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        f.debug_map().entries(entries.into_iter().map(|(_, entry)| entry)).finish()
    }
}

impl<K: Eq + Hash, V> FixedMap<K, V> {
    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.inner.get(key)
    }

    /// The value under `key`, to change.
    #[must_use]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.inner.get_mut(key)
    }

    /// Whether there is a value under `key`.
    #[must_use]
    pub fn contains(&self, key: &K) -> bool {
        self.inner.contains_key(key)
    }

    /// Puts a value under `key` and returns the one it replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.inner.insert(key, value)
    }

    /// Takes the value under `key` out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.inner.remove(key)
    }

    /// The value under `key`, made by `make` where there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.inner.entry(key).or_insert_with(make)
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether the map holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_under_its_key_until_it_is_removed() {
        let mut map = FixedMap::default();
        assert_eq!(map.insert(7u64, "ann"), None);
        assert_eq!(map.get(&7), Some(&"ann"));
        assert!(map.contains(&7));
        assert_eq!(map.len(), 1);

        assert_eq!(map.remove(&7), Some("ann"));
        assert_eq!(map.remove(&7), None);
        assert!(!map.contains(&7));
        assert!(map.is_empty());
    }

    #[test]
    fn an_insert_hands_back_the_value_it_replaces() {
        let mut map = FixedMap::default();
        map.insert(7u64, "ann");
        assert_eq!(map.insert(7, "bob"), Some("ann"));
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn a_value_is_made_only_where_there_is_none() {
        let mut map = FixedMap::default();
        *map.or_insert_with(7u64, || 1) += 1;
        *map.or_insert_with(7, || unreachable!("there is a value")) += 1;
        assert_eq!(map.get(&7), Some(&3));
    }

    #[test]
    fn maps_that_hold_the_same_look_the_same() {
        let filled = |keys: &[u64]| {
            let mut map = FixedMap::default();
            for &key in keys {
                map.insert(key, key / 2);
            }
            map
        };
        let mut map = filled(&[9, 3, 77, 1, 12, 5, 100, 8]);
        for key in [77, 100, 9, 1, 5] {
            map.remove(&key);
        }
        assert_eq!(format!("{map:?}"), "{12: 6, 3: 1, 8: 4}");
        assert_eq!(format!("{map:?}"), format!("{:?}", filled(&[3, 8, 12])));
    }

    #[test]
    fn a_value_can_be_changed_in_place() {
        let mut map = FixedMap::default();
        map.insert(7u64, 1);
        *map.get_mut(&7).expect("there is a value") = 2;
        assert_eq!(map.get(&7), Some(&2));
        assert_eq!(map.get_mut(&8), None);
    }
}
