//! Dense numbers for parts: what a component is found by, in one array access.
//!
//! ```text
//! Health::number() -> its own static PartCell -> drawn from one counter at first use
//! ```
//!
//! Numbers depend on which type asked first, so they are private to the process: on the wire, in logs and in saved
//! states a part is its name. [`Types`](super::Types) asks components before entity types, so that theirs are the low ones.
//!
//! Keeps: a cell has one number for good; no two cells share one.
//! Leaves out: numbers of entity types ([`TypeNumber`](super::TypeNumber)), which come from their tree.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of a part in this process, from 0, dense.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Player};
/// use slipgate_entity::game::Part;
///
/// assert_eq!(Health::number(), Health::number());
/// assert_ne!(Health::number().index(), Player::number().index());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartNumber(u32);

impl PartNumber {
    /// As an index of an array.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for PartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {}", self.0)
    }
}

/// Where a part keeps its number. Each type has a static one of its own, in its `Part::number`:
///
/// ```
/// use slipgate_entity::game::{PartCell, PartNumber};
///
/// fn number() -> PartNumber {
///     static CELL: PartCell = PartCell::new();
///     CELL.number()
/// }
/// assert_eq!(number(), number());
/// ```
#[derive(Debug)]
pub struct PartCell(OnceLock<PartNumber>);

impl PartCell {
    /// A cell that has no number yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The number, drawn now if this is the first time.
    ///
    /// # Panics
    ///
    /// If 2^32 numbers are drawn, which no program has types for.
    #[inline]
    #[must_use]
    pub fn number(&self) -> PartNumber {
        *self.0.get_or_init(|| {
            let drawn = NEXT.fetch_add(1, Ordering::Relaxed);
            assert!(drawn < u32::MAX, "expected fewer than 2^32 parts, found {drawn}");
            PartNumber(drawn)
        })
    }
}

impl Default for PartCell {
    fn default() -> Self {
        Self::new()
    }
}

static NEXT: AtomicU32 = AtomicU32::new(0);
