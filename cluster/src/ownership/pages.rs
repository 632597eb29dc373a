//! The words of entities, in pages indexed by counter.
//!
//! ```text
//! OnlineId   63 ......... 32 31 ........ 10 9 ...... 0
//!            |   range 32   |           counter 32   |
//!            |          page 54 bits       | word 10  |
//! ```
//!
//! A page exists while it holds a word. One empty page is kept for the next that is needed.

use std::fmt;

use slipgate_entity::{FixedMap, OnlineId};

use super::Seat;

#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    pages: FixedMap<PageNumber, Page>,
    spare: Option<Page>,
}

/// Range and upper bits of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PageNumber(u64);

#[derive(Clone)]
struct Page {
    words: Box<[Option<Seat>; WORDS]>,
    used: usize,
}

impl Pages {
    #[inline]
    pub(super) fn get(&self, id: OnlineId) -> Option<Seat> {
        let (page, word) = split(id);
        self.pages.get(&page)?.words[word]
    }

    pub(super) fn set(&mut self, id: OnlineId, seat: Seat) {
        let (number, word) = split(id);
        let page = self.pages.or_insert_with(number, || self.spare.take().unwrap_or_else(Page::new));
        if page.words[word].replace(seat).is_none() {
            page.used += 1;
        }
    }

    /// Takes the word out, and the page away if it was the last on it.
    pub(super) fn clear(&mut self, id: OnlineId) -> Option<Seat> {
        let (number, word) = split(id);
        let page = self.pages.get_mut(&number)?;
        let seat = page.words[word].take()?;
        page.used -= 1;
        if page.used == 0 {
            self.spare = self.pages.remove(&number);
        }
        Some(seat)
    }

    /// Pages in use.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }
}

impl Page {
    fn new() -> Self {
        Self { words: Box::new([None; WORDS]), used: 0 }
    }
}

/// The words in use: a page of a thousand empty ones tells nobody anything.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words.iter().enumerate().filter_map(|(at, word)| Some((at, word.as_ref()?)));
        f.debug_map().entries(words).finish()
    }
}

#[inline]
fn split(id: OnlineId) -> (PageNumber, usize) {
    let word = id.counter() as usize % WORDS;
    (PageNumber(id.as_u64() >> WORDS.ilog2()), word)
}

/// Words of a page: 8 KiB of them. The more, the fewer look-ups of pages miss the cache; the fewer, the
/// less a sparse range costs.
const WORDS: usize = 1024;

const _: () = assert!(WORDS.is_power_of_two(), "the page number is what a shift leaves");
