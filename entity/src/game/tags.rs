//! What stands under the tags of messages, found in one step for most.
//!
//! ```text
//! tag 0x...5 -> home 5:  [ .. | 5: hit | 6: heal, whose home is 5, too | 7: free | .. ]
//! ```
//!
//! A tag is a hash already, so its lowest bits say where to look. Half of the places are free, so that the next free one
//! is near. A look-up stands before every message to an entity; with a map that hashes tags once more it took a
//! quarter of the whole way to the handler.
//!
//! Keeps: a power of two of places, at least twice the tags; whatever is in it is found before the first free place.
//! Leaves out: taking out. Types do not change once they are put together.

use super::message::Tag;

/// A table from tags to values.
#[derive(Clone, Debug)]
pub(crate) struct Tags<V> {
    places: Vec<Option<(Tag, V)>>,
    used: usize,
}

impl<V> Default for Tags<V> {
    fn default() -> Self {
        Self { places: Vec::new(), used: 0 }
    }
}

impl<V> Tags<V> {
    /// What stands under `tag`.
    #[inline]
    pub(crate) fn get(&self, tag: Tag) -> Option<&V> {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = tag.0 as usize;
        loop {
            match self.places.get(place & mask)? {
                Some((found, value)) if *found == tag => return Some(value),
                Some(_) => place += 1,
                None => return None,
            }
        }
    }

    /// Puts a value under a tag that has none.
    ///
    /// # Panics
    ///
    /// If it has one.
    pub(crate) fn insert(&mut self, tag: Tag, value: V) {
        assert!(self.get(tag).is_none(), "expected nothing under the tag {tag}, found something");
        if 2 * (self.used + 1) > self.places.len() {
            let room = (2 * self.places.len()).max(2);
            let all = std::mem::replace(&mut self.places, std::iter::repeat_with(|| None).take(room).collect());
            all.into_iter().flatten().for_each(|(tag, value)| self.put(tag, value));
        }
        self.put(tag, value);
        self.used += 1;
    }

    fn put(&mut self, tag: Tag, value: V) {
        let mask = self.places.len() - 1;
        let home = tag.0 as usize;
        let free = (home..).map(|place| place & mask).find(|&place| self.places[place].is_none());
        self.places[free.expect("half of the places are free")] = Some((tag, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_found_also_where_all_have_one_home() {
        for step in [1, 2, 64, 1 << 20] {
            let mut tags = Tags::default();
            for number in 0..100 {
                assert_eq!(tags.get(Tag(number * step)), None);
                tags.insert(Tag(number * step), number);
                assert!((0..=number).all(|known| tags.get(Tag(known * step)) == Some(&known)), "{number} by {step}");
            }
        }
    }

    #[test]
    fn an_empty_table_has_nothing() {
        assert_eq!(Tags::<()>::default().get(Tag(7)), None);
    }
}
