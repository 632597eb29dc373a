//! The client's half: what it sees, from the frames that came.
//!
//! ```text
//! full 7        sees 7           acknowledges 7
//! delta 7 -> 9  sees 9, keeps 7  acknowledges 9
//! delta 7 -> 8  came late: nothing
//! delta 9 -> 10 sees 10, forgets 7
//! delta 6 -> 11 6 is not there: asks for a full one
//! ```
//!
//! Keeps: what is seen is what was to be seen at that tick, or nothing changes; ticks rise; at most [`RING`] baselines are kept.
//! Leaves out: what stands between two ticks, which is for whoever draws.

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;

use crate::frame::Seen;
use crate::frame::delta::{Delta, Entry};
use crate::frame::full::Full;
use crate::reel::RING;
use crate::state::{Alias, EntityState, Mask};

/// What a client sees.
///
/// ```
/// use slipgate_sync::{Alias, EntityState, Receiver, Reel, Taken, ViewId, frame::Seen};
///
/// let mut forest = Reel::new(ViewId(1));
/// forest.show(Alias(1), EntityState::default());
/// let frame = forest.tick(7).full().frame(1);
///
/// let mut receiver = Receiver::default();
/// assert_eq!(receiver.take(Seen::read(&frame)?), Ok(Taken::Sees { tick: 7 }));
/// assert_eq!(receiver.sees().len(), 1);
/// # Ok::<(), slipgate_sync::frame::FrameError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    tick: u32,
    sees: BTreeMap<Alias, EntityState>,
    /// Earlier ones that a delta may lead on from, the oldest first.
    earlier: VecDeque<(u32, BTreeMap<Alias, EntityState>)>,
}

/// What came of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is what the client sees now: to be acknowledged.
    Sees {
        /// Of which tick.
        tick: u32,
    },
    /// It came late: something later is seen already.
    Old {
        /// Of which tick.
        tick: u32,
    },
}

/// Why a frame cannot be what is to be seen. Nothing changed; ask for a full one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TakeError {
    /// The snapshot that it leads on from was never seen, or is forgotten.
    #[error("it leads on from tick {baseline}, which is not here any more")]
    NoBaseline {
        /// Which tick.
        baseline: u32,
    },
    /// Somebody is named twice.
    #[error("entity {alias} is named twice")]
    Twice {
        /// Who.
        alias: Alias,
    },
    /// Some fields of an entity that is not there.
    #[error("entity {alias} has changed, and is not there")]
    Unseen {
        /// Who.
        alias: Alias,
    },
}

impl Receiver {
    /// The tick that is seen; 0 before the first.
    #[must_use]
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Who is seen.
    #[must_use]
    pub fn sees(&self) -> &BTreeMap<Alias, EntityState> {
        &self.sees
    }

    /// Takes a frame in.
    ///
    /// # Errors
    ///
    /// If it is not for what is seen here.
    pub fn take(&mut self, frame: Seen) -> Result<Taken, TakeError> {
        let tick = match &frame {
            Seen::Full(full) => full.tick,
            Seen::Delta(delta) => delta.tick,
        };
        if tick <= self.tick {
            return Ok(Taken::Old { tick });
        }
        let (sees, needed_from) = match frame {
            // A delta that leads on from an earlier one may be on its way: its acknowledgement and this snapshot crossed.
            Seen::Full(full) => (all(&full)?, 0),
            Seen::Delta(delta) => (self.led_on(&delta)?, delta.baseline),
        };
        self.earlier.push_back((self.tick, std::mem::replace(&mut self.sees, sees)));
        self.earlier.retain(|(tick, _)| *tick >= needed_from);
        if self.earlier.len() > RING {
            self.earlier.pop_front();
        }
        self.tick = tick;
        Ok(Taken::Sees { tick })
    }

    fn led_on(&self, delta: &Delta) -> Result<BTreeMap<Alias, EntityState>, TakeError> {
        let Delta { baseline, entries, removed, .. } = delta;
        let is_present = *baseline == self.tick && self.tick > 0;
        let earlier = || self.earlier.iter().find(|(tick, _)| tick == baseline && *tick > 0).map(|(_, sees)| sees);
        let base = if is_present { Some(&self.sees) } else { earlier() };
        let mut sees = base.ok_or(TakeError::NoBaseline { baseline: *baseline })?.clone();
        for &alias in removed {
            sees.remove(&alias).ok_or(TakeError::Unseen { alias })?;
        }
        let mut named = std::collections::BTreeSet::new();
        for &Entry { alias, mask, state } in entries {
            if !named.insert(alias) {
                return Err(TakeError::Twice { alias });
            }
            match sees.get_mut(&alias) {
                Some(seen) => seen.merge(mask, &state),
                None if mask == Mask::ALL => {
                    sees.insert(alias, state);
                }
                None => return Err(TakeError::Unseen { alias }),
            }
        }
        Ok(sees)
    }
}

fn all(full: &Full) -> Result<BTreeMap<Alias, EntityState>, TakeError> {
    let mut sees = BTreeMap::new();
    for &(alias, state) in &full.entities {
        if sees.insert(alias, state).is_some() {
            return Err(TakeError::Twice { alias });
        }
    }
    Ok(sees)
}
