//! The words of entities, in pages found by range and counter.
//!
//! ```text
//! OnlineId   63 ......... 32 31 ..... 20 19 ..... 10 9 ...... 0
//!            |   range      |    top    |  branch   |   word   |
//!                 |               |          |           |
//!               tree  ------->  branch --> page  --> owner, place
//! ```
//!
//! A node is the home of few ranges, and looks at the same one again and again: their trees are in a short
//! ordered list, and the one that was looked at last is tried first. Below that every step is an array access.
//! The owner of an entity, which is what a message asks for, and its place in the owner's list, which only a
//! change asks for, are in arrays of their own, so that twice as many owners fit into the cache.
//!
//! Keeps: a page, a branch or a tree exists while it holds a word. One empty page is kept for the next that
//! is needed.

use std::cell::Cell;

use slipgate_entity::{OnlineId, RangeId};

use super::Seat;
use super::owners::OwnerNumber;

#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    /// By range.
    trees: Vec<Tree>,
    /// Where in `trees` somebody looked last. A guess: whoever uses it compares the range.
    latest: Cell<usize>,
    spare: Option<Box<Page>>,
}

/// The pages of a range.
#[derive(Clone, Debug)]
struct Tree {
    range: RangeId,
    /// As long as the highest counter needs.
    branches: Vec<Option<Box<Branch>>>,
}

#[derive(Clone, Debug)]
struct Branch {
    pages: [Option<Box<Page>>; FANOUT],
    used: usize,
}

#[derive(Clone, Debug)]
struct Page {
    owners: [Option<OwnerNumber>; WORDS],
    places: [u32; WORDS],
    used: usize,
}

/// The way to a word.
#[derive(Clone, Copy)]
struct Way {
    top: usize,
    branch: usize,
    word: usize,
}

impl Pages {
    #[inline]
    pub(super) fn owner(&self, id: OnlineId) -> Option<OwnerNumber> {
        let way = Way::to(id);
        self.page(id, way)?.owners[way.word]
    }

    pub(super) fn get(&self, id: OnlineId) -> Option<Seat> {
        let way = Way::to(id);
        let page = self.page(id, way)?;
        Some(Seat { owner: page.owners[way.word]?, place: page.places[way.word] })
    }

    #[inline]
    fn page(&self, id: OnlineId, way: Way) -> Option<&Page> {
        let tree = match self.trees.get(self.latest.get()) {
            Some(tree) if tree.range == id.range() => tree,
            Some(_) | None => {
                let at = self.find(id.range()).ok()?;
                self.latest.set(at);
                &self.trees[at]
            }
        };
        tree.branches.get(way.top)?.as_ref()?.pages[way.branch].as_deref()
    }

    fn find(&self, range: RangeId) -> Result<usize, usize> {
        self.trees.binary_search_by_key(&range, |tree| tree.range)
    }

    pub(super) fn set(&mut self, id: OnlineId, seat: Seat) {
        let way = Way::to(id);
        let at = match self.find(id.range()) {
            Ok(at) => at,
            Err(at) => {
                self.trees.insert(at, Tree { range: id.range(), branches: Vec::new() });
                at
            }
        };
        let branches = &mut self.trees[at].branches;
        if branches.len() <= way.top {
            branches.resize_with(way.top + 1, || None);
        }
        let branch = branches[way.top].get_or_insert_with(Branch::new);
        let page = branch.pages[way.branch].get_or_insert_with(|| {
            branch.used += 1;
            self.spare.take().unwrap_or_else(Page::new)
        });
        if page.owners[way.word].replace(seat.owner).is_none() {
            page.used += 1;
        }
        page.places[way.word] = seat.place;
    }

    /// Takes the word out, and away with it whatever it was the last one in.
    pub(super) fn clear(&mut self, id: OnlineId) -> Option<Seat> {
        let way = Way::to(id);
        let at = self.find(id.range()).ok()?;
        let tree = &mut self.trees[at];
        let branch = tree.branches.get_mut(way.top)?.as_mut()?;
        let page = branch.pages[way.branch].as_mut()?;
        let seat = Seat { owner: page.owners[way.word].take()?, place: page.places[way.word] };
        page.used -= 1;
        if page.used > 0 {
            return Some(seat);
        }
        self.spare = branch.pages[way.branch].take();
        branch.used -= 1;
        if branch.used == 0 {
            tree.branches[way.top] = None;
            let kept = tree.branches.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            tree.branches.truncate(kept);
            tree.branches.shrink_to(2 * kept);
            if kept == 0 {
                self.trees.remove(at);
            }
        }
        Some(seat)
    }

    /// Pages in use.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.trees.iter().flat_map(|tree| tree.branches.iter().flatten()).map(|branch| branch.used).sum()
    }

    /// Bytes of everything that is in use.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let branches = self.trees.iter().flat_map(|tree| tree.branches.iter().flatten()).count();
        let tops: usize = self.trees.iter().map(|tree| tree.branches.capacity()).sum();
        self.trees.len() * size_of::<Tree>()
            + tops * size_of::<Option<Box<Branch>>>()
            + branches * size_of::<Branch>()
            + self.len() * size_of::<Page>()
    }
}

impl Branch {
    fn new() -> Box<Self> {
        Box::new(Self { pages: [const { None }; FANOUT], used: 0 })
    }
}

impl Page {
    fn new() -> Box<Self> {
        Box::new(Self { owners: [None; WORDS], places: [0; WORDS], used: 0 })
    }
}

impl Way {
    #[inline]
    fn to(id: OnlineId) -> Self {
        let counter = id.counter() as usize;
        Self { top: counter / (WORDS * FANOUT), branch: counter / WORDS % FANOUT, word: counter % WORDS }
    }
}

/// Words of a page: 4 KiB of owners, 4 KiB of places. The more, the fewer pages there are to find; the fewer, the
/// less a sparse range costs.
const WORDS: usize = 1024;
/// Pages of a branch, 8 KiB of them: a million words, so that most homes have one branch.
const FANOUT: usize = 1024;

const _: () = assert!(WORDS.is_power_of_two() && FANOUT.is_power_of_two(), "a way is made of shifts and masks");
const _: () = assert!(size_of::<Option<OwnerNumber>>() == 4, "an owner is four bytes, with or without");
