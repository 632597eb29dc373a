//! What is to be seen in a view at one tick, complete; and the difference of two.
//!
//! ```text
//! place   0         1        2         3          places are used again at once; a life never is
//! tick 7  ann 1     -        bob 2     cid 3
//! tick 9  ann 1     dee 4    bob 2     cid 5      delta 7 -> 9: cid is removed; dee and cid are new, all fields; ann, if she differs
//! ```
//!
//! Keeps: the difference is exact: applied to the one snapshot it gives the other, and no field is in it whose bytes are the same.
//! Whoever left the view and came back in between is removed and new. In the snapshots of two views an alias is the same
//! entity in both, as nobody leaves who is to be seen in both.
//! Leaves out: how a view changes (`reel`), who gets what (`replicator`), bytes (`frame`).

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use slipgate_entity::FixedMap;

use crate::frame::delta::{Delta, Encoder, Entry};
use crate::frame::{Encoded, full};
use crate::state::{Alias, EntityState, Mask, SeenBytes, alias_of, seen_bytes, state_of};

/// Numbers the views of a [`Replicator`](crate::Replicator).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub u32);

/// One view at one tick. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) view: ViewId,
    /// Which reel of the view it is of: a view may be over and begin anew, with other lives. 0 is none.
    pub(crate) reel: u64,
    pub(crate) tick: u32,
    pub(crate) rows: Arc<Rows>,
    pub(crate) len: usize,
}

/// Entities by place, as they are on the wire: so a full snapshot is copied, and what differs are bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Which appearance in the view it is; none where nobody is.
    pub(crate) lives: Vec<Option<NonZeroU64>>,
    /// What is seen of it.
    pub(crate) seen: Vec<SeenBytes>,
    /// The places where somebody is.
    pub(crate) taken: FixedBitSet,
}

/// What differs at a place.
pub(crate) enum Difference<'r> {
    /// Some fields of whoever is there.
    Changed(&'r SeenBytes, Mask),
    /// Whoever is there is new.
    New(&'r SeenBytes),
    /// Whoever was there is not there any more; somebody else may be.
    Gone(&'r SeenBytes),
}

impl Rows {
    #[inline]
    fn at(&self, place: usize) -> Option<(NonZeroU64, &SeenBytes)> {
        Some((self.lives.get(place).copied().flatten()?, self.seen.get(place)?))
    }

    fn iter(&self) -> impl Iterator<Item = &SeenBytes> {
        self.lives.iter().zip(&self.seen).filter(|(life, _)| life.is_some()).map(|(_, seen)| seen)
    }

    /// Those who are there, in pieces without a gap.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.taken.zeroes().take_while(|&place| place < self.seen.len()).chain([self.seen.len()]);
        ends.scan(0, |begin, end| {
            let piece = self.seen[*begin..end].as_flattened();
            *begin = end + 1;
            Some(piece)
        })
    }

    /// Lets somebody be in a place, or nobody.
    pub(crate) fn put(&mut self, place: usize, life: Option<NonZeroU64>, seen: SeenBytes) {
        if self.seen.len() == place {
            self.lives.push(life);
            self.seen.push(seen);
        } else {
            (self.lives[place], self.seen[place]) = (life, seen);
        }
        self.taken.grow(place + 1);
        self.taken.set(place, life.is_some());
    }
}

impl Snapshot {
    /// A snapshot of its own, of no [`Reel`](crate::Reel); the last of an alias counts.
    ///
    /// ```
    /// use slipgate_sync::{Alias, EntityState, Snapshot, ViewId};
    ///
    /// let empty = Snapshot::of(ViewId(1), 1, []);
    /// let one = Snapshot::of(ViewId(1), 2, [(Alias(7), EntityState::default())]);
    /// assert_eq!(one.delta_from(&empty).entries[0].alias, Alias(7));
    /// ```
    #[must_use]
    pub fn of(view: ViewId, tick: u32, entities: impl IntoIterator<Item = (Alias, EntityState)>) -> Self {
        let mut places = FixedMap::default();
        let mut rows = Rows::default();
        for (alias, state) in entities {
            let place = *places.or_insert_with(alias, || rows.seen.len());
            rows.put(place, Some(NonZeroU64::MIN), seen_bytes(alias, &state));
        }
        Self { view, reel: 0, tick, len: rows.seen.len(), rows: Arc::new(rows) }
    }

    /// The tick that it shows.
    #[must_use]
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// The view that it shows.
    #[must_use]
    pub fn view(&self) -> ViewId {
        self.view
    }

    /// How many are to be seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nobody is to be seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Everybody who is to be seen, by place.
    pub fn iter(&self) -> impl Iterator<Item = (Alias, EntityState)> {
        self.rows.iter().map(|seen| (alias_of(seen), state_of(seen)))
    }

    /// All of it, as a payload.
    #[must_use]
    pub fn full(&self) -> Encoded {
        full::encode(self.tick, self.len, self.rows.pieces())
    }

    /// What differs from an earlier snapshot, of this view or of another one. O(both); see
    /// [`Reel::delta_from`](crate::Reel::delta_from) for what takes only what has changed.
    #[must_use]
    pub fn delta_from(&self, base: &Self) -> Delta {
        let mut delta = Delta { tick: self.tick, baseline: base.tick, entries: Vec::new(), removed: Vec::new() };
        self.differences(base, None::<Range<usize>>, |difference| delta.push(&difference));
        delta
    }

    /// The same as a payload.
    #[must_use]
    pub fn encode_delta_from(&self, base: &Self) -> Encoded {
        self.encode_delta_in(base, None)
    }

    /// The same, where both are of one reel and differ in no other places than these, if some are given.
    pub(crate) fn encode_delta_in(&self, base: &Self, places: Option<&FixedBitSet>) -> Encoded {
        let mut encoder = Encoder::new(self.tick, base.tick, places.map_or(0, |places| places.count_ones(..)));
        self.differences(base, places.map(FixedBitSet::ones), |difference| encoder.push(&difference));
        encoder.done()
    }

    pub(crate) fn is_of_the_reel_of(&self, other: &Self) -> bool {
        self.reel != 0 && (self.view, self.reel) == (other.view, other.reel)
    }

    #[inline]
    pub(crate) fn differences<'r>(
        &'r self,
        base: &'r Self,
        places: Option<impl Iterator<Item = usize>>,
        each: impl FnMut(Difference<'r>),
    ) {
        match places {
            Some(places) => self.differences_in(base, places, each),
            None if self.is_of_the_reel_of(base) => {
                self.differences_in(base, 0..self.rows.seen.len().max(base.rows.seen.len()), each);
            }
            None => self.differences_by_alias(base, each),
        }
    }

    #[inline]
    fn differences_in<'r>(
        &'r self,
        base: &'r Self,
        places: impl Iterator<Item = usize>,
        mut each: impl FnMut(Difference<'r>),
    ) {
        for place in places {
            match (base.rows.at(place), self.rows.at(place)) {
                (Some((life, before)), Some((same, now))) if life == same => {
                    let mask = Mask::differing(before, now);
                    if mask != Mask::NONE {
                        each(Difference::Changed(now, mask));
                    }
                }
                (before, now) => {
                    if let Some((_, seen)) = before {
                        each(Difference::Gone(seen));
                    }
                    if let Some((_, seen)) = now {
                        each(Difference::New(seen));
                    }
                }
            }
        }
    }

    fn differences_by_alias<'r>(&'r self, base: &'r Self, mut each: impl FnMut(Difference<'r>)) {
        let mut before = FixedMap::default();
        for seen in base.rows.iter() {
            before.insert(alias_of(seen), seen);
        }
        for now in self.rows.iter() {
            match before.remove(&alias_of(now)).map(|before| Mask::differing(before, now)) {
                Some(Mask::NONE) => {}
                Some(mask) => each(Difference::Changed(now, mask)),
                None => each(Difference::New(now)),
            }
        }
        base.rows.iter().filter(|seen| before.contains(&alias_of(seen))).map(Difference::Gone).for_each(each);
    }
}

impl Delta {
    fn push(&mut self, difference: &Difference<'_>) {
        let entry = |seen, mask| Entry { alias: alias_of(seen), mask, state: state_of(seen) };
        match difference {
            Difference::Changed(seen, mask) => self.entries.push(entry(seen, *mask)),
            Difference::New(seen) => self.entries.push(entry(seen, Mask::ALL)),
            Difference::Gone(seen) => self.removed.push(alias_of(seen)),
        }
    }
}

impl Encoder {
    #[inline]
    fn push(&mut self, difference: &Difference<'_>) {
        match difference {
            Difference::Changed(seen, mask) => self.entry(seen, *mask),
            Difference::New(seen) => self.entry(seen, Mask::ALL),
            Difference::Gone(seen) => self.remove(alias_of(seen)),
        }
    }
}
