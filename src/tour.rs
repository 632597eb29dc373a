//! Moves walkers around under fire, and counts what came of it.
//!
//! ```text
//! senders, one per node:  note 1, note 2, note 3 ... to every walker, without pause
//! movers:                 each walker to another scene, on any node, straight back, many at once
//! watcher:                lists entities again and again: is one active twice?
//! then:                   every walker's ledger against what was accepted for it
//! ```
//!
//! A tour proves nothing that it did not see: it counts the accepted messages itself and lets the
//! walkers' ledgers say what was applied.
//!
//! | module | holds |
//! |---|---|
//! | [`account`] | what a ledger says against what was accepted |
//! | [`sending`] | which note goes next, and what an answer to it means |
//! | [`itinerary`] | who moves where next, and how moves ended |
//! | [`twins`] | whether an entity is active twice, or nowhere |
//! | [`summary`] | the result |
//! | `drive` | threads and HTTP around these |
//!
//! A node may stop as planned meanwhile: who sends through it ends, moves to it are refused, and its walkers go on
//! elsewhere. It ends early where the node that it asks is gone, or no move ends any more. What only the gone node could
//! tell is unknown, never lost.
//!
//! Keeps: numbers of a sender to a walker are sent in order, each until it is accepted; the walkers of
//! a tour are removed at its end, also of one that failed; where they could not be, it says so.
//! Leaves out: what a message costs (`bench`).

pub mod account;
mod calls;
mod crew;
mod drive;
pub mod itinerary;
pub mod sending;
pub mod summary;
pub mod twins;

use std::time::Duration;

use thiserror::Error;

use crate::client::CallError;

pub use drive::{Ended, Surroundings, run};
pub use summary::Summary;

/// How a tour is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// Attempts to move, in all.
    pub moves: u64,
    /// Walkers spawned in every scene.
    pub walkers_per_scene: u32,
    /// Moves under way at once, at most; never more than there are walkers.
    pub movers: usize,
    /// Decides who moves where; the order in which threads come to it does the rest.
    pub seed: u64,
    /// How long to wait for the next move to end, and after the last one until every accepted message is applied.
    pub timeout: Duration,
    /// Whether the walkers stay.
    pub afterwards: Afterwards,
}

/// What becomes of the walkers at the end of a tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// They are removed.
    Despawn,
    /// They stay.
    Keep,
}

/// What became of the walkers of a tour that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They were removed.
    Removed,
    /// They stay, so many, as was wished.
    Kept(usize),
    /// Some could not be removed; unless their node is gone as well, they are still there.
    Left {
        /// How many.
        left: usize,
        /// Of how many.
        of: usize,
    },
}

/// Why a tour has no result. Its walkers are removed, as far as the cluster answers.
#[derive(Debug, Error)]
pub enum TourError {
    /// The cluster did not answer, or said no, where nothing works without it.
    #[error("{what}: {source}")]
    Call {
        /// What was wanted.
        what: &'static str,
        /// What came instead.
        source: CallError,
    },
    /// There is nowhere to move to; open a second scene.
    #[error("a tour needs two open scenes, and there are {open}")]
    TooFewScenes {
        /// How many are open.
        open: usize,
    },
    /// Somebody stopped it.
    #[error("the tour was stopped before its end")]
    Stopped {
        /// What became of its walkers.
        fate: Fate,
    },
}

#[cfg(test)]
pub(crate) mod world;

#[cfg(test)]
mod tests;
