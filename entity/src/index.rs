//! From online ids to small numbers: the slot of an array where something about the entity is kept.
//!
//! ```text
//!   3.1204  ->  line 3.1200, word 4  ->  17
//!               16 words: 3.1200 to 3.1215
//! ```
//!
//! Nodes give out counters one after the other, so ids that are looked up in one place are often neighbours, and
//! share a line: as long as one line of the processor's cache. The lines are found by hash. So a table of a
//! million neighbours hashes 65,536 lines, which stay in the cache, and the look-up itself misses it once.
//!
//! Keeps: a line exists while it holds a number. An id without neighbours costs its line.
//! Leaves out: what the numbers mean; an order of the ids.

use crate::{FixedMap, OnlineId};

/// Table from online ids to numbers below [`OnlineIndex::NUMBER_MAX`], O(1), without iteration.
///
/// ```
/// use slipgate_entity::{OnlineId, OnlineIndex, RangeId};
///
/// let ann = OnlineId::new(RangeId(3), 1204);
/// let mut index = OnlineIndex::default();
/// assert_eq!(index.insert(ann, 17), None);
/// assert_eq!(index.get(ann), Some(17));
/// assert_eq!(index.remove(ann), Some(17));
/// assert_eq!(index.get(ann), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct OnlineIndex {
    places: FixedMap<LineNumber, u32>,
    lines: Vec<Line>,
    /// Words in use, by line.
    used: Vec<u8>,
    free: Vec<u32>,
    len: usize,
}

/// Range and upper bits of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LineNumber(u64);

/// A word is one more than its number; 0 is none.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Line([u32; WORDS]);

impl OnlineIndex {
    /// Highest number that can be kept.
    pub const NUMBER_MAX: u32 = u32::MAX - 1;

    /// The number under `id`.
    #[must_use]
    #[inline]
    pub fn get(&self, id: OnlineId) -> Option<u32> {
        let (line, word) = split(id);
        let place = *self.places.get(&line)?;
        self.lines[index(place)].0[word].checked_sub(1)
    }

    /// Puts a number under `id` and returns the one that it replaces.
    ///
    /// # Panics
    ///
    /// If it is above [`NUMBER_MAX`](Self::NUMBER_MAX).
    pub fn insert(&mut self, id: OnlineId, number: u32) -> Option<u32> {
        assert!(number <= Self::NUMBER_MAX, "expected a number of at most {}, found {number}", Self::NUMBER_MAX);
        let (line, word) = split(id);
        let place = match self.places.get(&line) {
            Some(&place) => index(place),
            None => self.add_line(line),
        };
        let before = std::mem::replace(&mut self.lines[place].0[word], number + 1).checked_sub(1);
        if before.is_none() {
            self.used[place] += 1;
            self.len += 1;
        }
        before
    }

    /// Takes the number under `id` out.
    pub fn remove(&mut self, id: OnlineId) -> Option<u32> {
        let (line, word) = split(id);
        let place = *self.places.get(&line)?;
        let number = std::mem::take(&mut self.lines[index(place)].0[word]).checked_sub(1)?;
        self.used[index(place)] -= 1;
        self.len -= 1;
        if self.used[index(place)] == 0 {
            self.places.remove(&line);
            self.free.push(place);
        }
        if self.len == 0 {
            *self = Self::default();
        }
        Some(number)
    }

    /// Ids that have a number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no id has a number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn add_line(&mut self, line: LineNumber) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.lines.push(Line([0; WORDS]));
            self.used.push(0);
            u32::try_from(self.lines.len() - 1).expect("2^32 lines are more than a machine holds")
        });
        self.places.insert(line, place);
        index(place)
    }
}

#[inline]
fn split(id: OnlineId) -> (LineNumber, usize) {
    (LineNumber(id.as_u64() / WORDS as u64), id.counter() as usize % WORDS)
}

#[inline]
fn index(place: u32) -> usize {
    place as usize
}

/// Words of a line.
const WORDS: usize = 16;

const _: () = assert!(size_of::<Line>() == 64, "a line is as long as one of the cache");

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::RangeId;
    use crate::dice::Dice;

    fn id(range: u32, counter: u32) -> OnlineId {
        OnlineId::new(RangeId(range), counter)
    }

    #[test]
    fn neighbours_share_a_line_and_ranges_do_not() {
        let mut index = OnlineIndex::default();
        for counter in 0..32 {
            index.insert(id(1, counter), counter);
        }
        assert_eq!(index.lines.len(), 2);
        index.insert(id(2, 0), 0);
        assert_eq!((index.lines.len(), index.len()), (3, 33));
        assert_eq!((index.get(id(1, 31)), index.get(id(2, 1)), index.get(id(3, 0))), (Some(31), None, None));
    }

    #[test]
    fn a_line_that_holds_nothing_is_used_for_the_next() {
        let mut index = OnlineIndex::default();
        index.insert(id(1, 0), 5);
        for counter in 1..1000 {
            let lonely = id(7, counter << 12);
            index.insert(lonely, counter);
            assert_eq!(index.remove(lonely), Some(counter));
            assert_eq!(index.remove(lonely), None);
        }
        assert_eq!((index.lines.len(), index.len()), (2, 1));
    }

    #[test]
    fn an_index_that_was_emptied_keeps_no_memory() {
        let mut index = OnlineIndex::default();
        for counter in 0..1000 {
            index.insert(id(1, counter << 8), 0);
        }
        for counter in 0..1000 {
            index.remove(id(1, counter << 8));
        }
        assert_eq!((index.lines.capacity(), index.free.capacity(), index.is_empty()), (0, 0, true));
    }

    #[test]
    #[should_panic(expected = "at most 4294967294")]
    fn a_number_that_has_no_word_is_refused() {
        OnlineIndex::default().insert(id(1, 0), u32::MAX);
    }

    #[test]
    fn the_index_agrees_with_an_ordered_map() {
        let mut rng = Dice::of(1204);
        let mut index = OnlineIndex::default();
        let mut reference = BTreeMap::new();
        for step in 0..20_000 {
            let id = id(rng.below(3), rng.below(60) * 5);
            let number = rng.below(1000);
            if rng.below(2) == 0 {
                assert_eq!(index.insert(id, number), reference.insert(id, number), "step {step}: insert {id}");
            } else {
                assert_eq!(index.remove(id), reference.remove(&id), "step {step}: remove {id}");
            }
            assert_eq!(index.get(id), reference.get(&id).copied(), "step {step}: get {id}");
            assert_eq!(index.len(), reference.len(), "step {step}: len");
        }
    }
}
