//! A view as it changes: what is shown and hidden, and a snapshot at each tick.
//!
//! ```text
//! show, hide --> rows --- tick ---> snapshot 7      changed since 6: places 1, 3
//!                                   snapshot 8                       places 1
//!                                   snapshot 9                       places 3
//!                                   delta 7 -> 9: look at places 1 and 3, and nowhere else
//! ```
//!
//! Rows are copied when something changes after a snapshot was taken, and not before: a view in which nothing changes costs nothing.
//!
//! Keeps: an alias has one place at a time; of the last [`RING`] snapshots it is known which places changed between them.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use slipgate_entity::FixedMap;

use crate::frame::Encoded;
use crate::snapshot::{Rows, Snapshot, ViewId};
use crate::state::{Alias, EntityState, seen_bytes};

/// Ticks for which a snapshot may be a baseline: 3.2 seconds at 20 Hz. Whoever acknowledges nothing for so long gets a full one.
pub const RING: usize = 64;

/// One view.
///
/// ```
/// use slipgate_sync::{Alias, EntityState, Mask, Reel, ViewId, frame::Seen};
///
/// let mut forest = Reel::new(ViewId(1));
/// let (ann, bob) = (Alias(1), Alias(2));
/// forest.show(ann, EntityState::default());
/// forest.show(bob, EntityState::default());
/// let before = forest.tick(7);
///
/// forest.show(ann, EntityState { hp: 5, ..EntityState::default() });
/// forest.hide(bob);
/// forest.tick(8);
/// let Seen::Delta(delta) = Seen::read(&forest.delta_from(&before).frame(1))? else { panic!("a delta") };
/// assert_eq!((delta.entries[0].alias, delta.entries[0].mask), (ann, Mask::HP));
/// assert_eq!(delta.removed, [bob]);
/// # Ok::<(), slipgate_sync::frame::FrameError>(())
/// ```
#[derive(Debug)]
pub struct Reel {
    present: Snapshot,
    places: FixedMap<Alias, usize>,
    vacant: Vec<usize>,
    lives: NonZeroU64,
    /// Since the last snapshot.
    changed: FixedBitSet,
    past: VecDeque<Change>,
}

/// What changed from one snapshot to the next.
#[derive(Debug)]
struct Change {
    from: u32,
    places: FixedBitSet,
}

impl Reel {
    /// An empty view, at tick 0.
    #[must_use]
    pub fn new(view: ViewId) -> Self {
        Self::numbered(view, 1, 0)
    }

    /// An empty view at this tick; `reel` is another one for each reel of a view, and not 0.
    pub(crate) fn numbered(view: ViewId, reel: u64, tick: u32) -> Self {
        Self {
            present: Snapshot { view, reel, tick, rows: Arc::default(), len: 0 },
            places: FixedMap::default(),
            vacant: Vec::new(),
            lives: NonZeroU64::MIN,
            changed: FixedBitSet::new(),
            past: VecDeque::new(),
        }
    }

    /// Lets an entity be seen, or be seen so from now on.
    pub fn show(&mut self, alias: Alias, state: EntityState) {
        let Some(&place) = self.places.get(&alias) else { return self.appear(alias, state) };
        let seen = seen_bytes(alias, &state);
        if self.present.rows.seen[place] != seen {
            self.change(place, |rows| rows.seen[place] = seen);
        }
    }

    /// Lets an entity not be seen any more. Whether it was.
    pub fn hide(&mut self, alias: Alias) -> bool {
        let Some(place) = self.places.remove(&alias) else { return false };
        self.change(place, |rows| rows.put(place, None, [0; _]));
        self.vacant.push(place);
        self.present.len -= 1;
        true
    }

    /// Whether an entity is to be seen.
    #[must_use]
    pub fn shows(&self, alias: Alias) -> bool {
        self.places.contains(&alias)
    }

    /// The snapshot of this tick, which is the [present](Self::present) one until the next tick.
    ///
    /// # Panics
    ///
    /// If `tick` is not later than the one before.
    pub fn tick(&mut self, tick: u32) -> Snapshot {
        let from = self.present.tick;
        assert!(tick > from, "expected a tick after {from}, found {tick}");
        if self.past.len() == RING {
            self.past.pop_front();
        }
        self.past.push_back(Change { from, places: std::mem::take(&mut self.changed) });
        self.present.tick = tick;
        self.present.clone()
    }

    /// The snapshot of the last tick, with what was shown and hidden since.
    #[must_use]
    pub fn present(&self) -> &Snapshot {
        &self.present
    }

    /// What differs between an earlier snapshot and the present one, as a payload. Takes a look at what has changed, and at a bit
    /// for each place and tick in between; if `base` is of another view, or older than [`RING`] ticks, at all of both.
    #[must_use]
    pub fn delta_from(&self, base: &Snapshot) -> Encoded {
        let places = self.changed_since(base);
        self.present.encode_delta_in(base, places.as_ref())
    }

    /// Places that may differ; none if that is not known.
    fn changed_since(&self, base: &Snapshot) -> Option<FixedBitSet> {
        if !self.present.is_of_the_reel_of(base) {
            return None;
        }
        let since = match self.past.iter().position(|change| change.from == base.tick) {
            Some(since) => since,
            None => (base.tick == self.present.tick).then_some(self.past.len())?,
        };
        let mut places = self.changed.clone();
        self.past.range(since..).for_each(|change| places.union_with(&change.places));
        Some(places)
    }

    fn appear(&mut self, alias: Alias, state: EntityState) {
        let place = self.vacant.pop().unwrap_or(self.present.rows.seen.len());
        self.lives = self.lives.saturating_add(1);
        let (life, seen) = (Some(self.lives), seen_bytes(alias, &state));
        self.places.insert(alias, place);
        self.present.len += 1;
        self.change(place, |rows| rows.put(place, life, seen));
    }

    fn change(&mut self, place: usize, change: impl FnOnce(&mut Rows)) {
        change(Arc::make_mut(&mut self.present.rows));
        self.changed.grow_and_insert(place);
    }
}
