//! What the senders of a scene or a router know of a receiver.
//!
//! Keeps: the owner is only replaced by one of a higher epoch; the base only rises.

use serde::{Deserialize, Serialize};

use super::End;
use crate::{Epoch, Own, Place, Record};

/// Who owns a receiver, and since when its streams are numbered anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The owner.
    pub owner: Own,
    /// Its epoch.
    pub epoch: Epoch,
    /// Epoch of the last reset of the receiver's streams.
    pub base: Epoch,
}

impl Known {
    /// What a record tells; nothing if there is no owner.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        Some(Self { owner: record.owner?, epoch: record.epoch, base: record.base })
    }

    /// Whether whoever speaks from there is the owner.
    #[must_use]
    pub fn is_owned_by(&self, place: Place) -> bool {
        Place::from(self.owner) == place
    }

    /// Whether a record tells that nothing more comes of a stream to the receiver. Dead is final; an answer from
    /// before the id was given out says the same and may come late, but is older than an owner that is known.
    #[must_use]
    pub fn end_by(&self, record: &Record) -> Option<End> {
        if record.base > self.base {
            return Some(End::Unknown);
        }
        let ends = record.owner.is_none() && record.epoch > self.epoch;
        ends.then(|| End::of(record))
    }

    /// Takes over what is newer in `news`. Returns whether anything is.
    pub fn update(&mut self, news: Self) -> bool {
        let before = *self;
        if news.epoch > self.epoch {
            (self.owner, self.epoch) = (news.owner, news.epoch);
        }
        self.base = self.base.max(news.base);
        *self != before
    }
}
