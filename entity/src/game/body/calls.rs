//! What an entity waits for: timers and answers, each by a number that it keeps over moves.
//!
//! Keeps: at most [`TIMERS_MAX`] timers and [`ASKS_MAX`] asks; numbers rise and are not used again; each is heard of once.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parts::At;
use crate::OnlineId;
use crate::game::message::{AskId, Tag};
use crate::game::world::Moment;

/// Timers that run in one entity at a time; far more than a part needs, and few enough to travel with it.
pub const TIMERS_MAX: usize = 256;

/// Asks of one entity that wait for an answer at a time.
pub const ASKS_MAX: usize = 256;

/// A timer of one entity; counts from 1 within it, over its moves. Asks draw from the same numbers.
///
/// ```
/// # use slipgate_entity::game::doc::Hit;
/// use std::time::Duration;
/// use slipgate_entity::game::{Context, TimerId};
///
/// struct Fuse {
///     burning: Option<TimerId>,
/// }
///
/// impl Fuse {
///     fn light(&mut self, cx: &mut Context<'_>) {
///         self.burning = cx.after(Duration::from_secs(3), Hit { hp: 50 }).ok();
///     }
///
///     fn put_out(&mut self, cx: &mut Context<'_>) -> bool {
///         self.burning.take().is_some_and(|timer| cx.cancel(timer))
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimerId(pub u64);

/// Too much waits in the entity already. Nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Full {
    /// Timers.
    #[error("{TIMERS_MAX} timers run already")]
    Timers,
    /// Asks.
    #[error("{ASKS_MAX} asks wait for an answer already")]
    Asks,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) due: Moment,
    pub(super) id: TimerId,
    pub(super) payload: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) deadline: Moment,
    pub(super) id: AskId,
    /// The part that asked.
    pub(super) at: At,
    /// Of the message.
    pub(super) tag: Tag,
    pub(super) to: OnlineId,
}

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Timer(Timer),
    Ask(Ask),
}

/// Both tables are kept with what is due first at their end.
#[derive(Default)]
pub(crate) struct Calls {
    timers: Vec<Timer>,
    asks: Vec<Ask>,
    /// Numbers given out.
    given: u64,
}

impl Calls {
    pub(crate) fn set_timer(&mut self, due: Moment, payload: Vec<u8>) -> Result<TimerId, Full> {
        if self.timers.len() >= TIMERS_MAX {
            return Err(Full::Timers);
        }
        self.given += 1;
        let id = TimerId(self.given);
        self.insert_timer(Timer { due, id, payload });
        Ok(id)
    }

    pub(crate) fn ask(&mut self, at: At, tag: Tag, to: OnlineId, deadline: Moment) -> Result<AskId, Full> {
        if self.asks.len() >= ASKS_MAX {
            return Err(Full::Asks);
        }
        self.given += 1;
        let id = AskId(self.given);
        self.insert_ask(Ask { deadline, id, at, tag, to });
        Ok(id)
    }

    pub(crate) fn cancel(&mut self, id: TimerId) -> bool {
        let place = self.timers.iter().position(|timer| timer.id == id);
        place.map(|place| self.timers.remove(place)).is_some()
    }

    /// Takes an ask out, if it waits.
    pub(super) fn settle(&mut self, id: AskId) -> Option<Ask> {
        let place = self.asks.iter().position(|ask| ask.id == id)?;
        Some(self.asks.remove(place))
    }

    pub(super) fn ask_of(&self, id: AskId) -> Option<&Ask> {
        self.asks.iter().find(|ask| ask.id == id)
    }

    /// When the next is due.
    pub(super) fn due(&self) -> Option<Moment> {
        let timer = self.timers.last().map(|timer| timer.due);
        let ask = self.asks.last().map(|ask| ask.deadline);
        timer.into_iter().chain(ask).min()
    }

    /// Takes the next out if it is due; of two that are due at once, what was asked for first.
    pub(super) fn pop(&mut self, now: Moment) -> Option<Due> {
        let timer = self.timers.last().map(|timer| (timer.due, timer.id.0)).filter(|(due, _)| *due <= now);
        let ask = self.asks.last().map(|ask| (ask.deadline, ask.id.0)).filter(|(due, _)| *due <= now);
        match (timer, ask) {
            (Some(timer), Some(ask)) if ask < timer => self.asks.pop().map(Due::Ask),
            (None, Some(_)) => self.asks.pop().map(Due::Ask),
            (Some(_), _) => self.timers.pop().map(Due::Timer),
            (None, None) => None,
        }
    }

    /// How many numbers were given out.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Forgets what was asked for when `given` numbers were given out. The numbers are not used again.
    pub(super) fn forget_since(&mut self, given: u64) {
        self.timers.retain(|timer| timer.id.0 <= given);
        self.asks.retain(|ask| ask.id.0 <= given);
    }

    pub(super) fn timers(&self) -> &[Timer] {
        &self.timers
    }

    pub(super) fn asks(&self) -> &[Ask] {
        &self.asks
    }

    /// Of an entity that was elsewhere, without what it waits for.
    pub(super) fn arrived(given: u64) -> Self {
        Self { given, ..Self::default() }
    }

    pub(super) fn insert_timer(&mut self, timer: Timer) {
        let key = (timer.due, timer.id);
        let place = self.timers.partition_point(|other| (other.due, other.id) > key);
        self.timers.insert(place, timer);
    }

    pub(super) fn insert_ask(&mut self, ask: Ask) {
        let key = (ask.deadline, ask.id);
        let place = self.asks.partition_point(|other| (other.deadline, other.id) > key);
        self.asks.insert(place, ask);
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (timers, asks) = (self.timers.len(), self.asks.len());
        f.debug_struct("Calls").field("timers", &timers).field("asks", &asks).finish_non_exhaustive()
    }
}
