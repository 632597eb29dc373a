//! The receiver's end of all streams to one entity.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StreamId;
use crate::bounds::STREAMS_PER_ENTITY;
use crate::message::Data;
use crate::{Limits, Place};

/// What an entity has applied, per stream. Part of its state: it moves with the entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    streams: BTreeMap<StreamId, Last>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    number: u64,
    reply_to: Place,
}

impl Received {
    /// Highest number of `stream` applied without a gap; 0 if none.
    #[must_use]
    pub fn last(&self, stream: StreamId) -> u64 {
        self.streams.get(&stream).map_or(0, |last| last.number)
    }

    /// Each stream with its highest number and the place where its sender was last heard from.
    pub fn iter(&self) -> impl Iterator<Item = (StreamId, u64, Place)> + '_ {
        self.streams.iter().map(|(&stream, last)| (stream, last.number, last.reply_to))
    }

    /// Number of streams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether nothing was ever applied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Messages applied over all streams.
    #[must_use]
    pub fn applied(&self) -> u64 {
        self.streams.values().fold(0, |sum, last| sum.saturating_add(last.number))
    }
}

/// What becomes of a message that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Apply it, for it was the next one, and then those before which it closed the gap.
    Apply {
        /// What came in.
        next: Data,
        /// What waited behind it, in order; mostly nothing.
        behind: Vec<Data>,
    },
    /// It is applied already: acknowledge again.
    Repeat,
    /// It is ahead of a gap and waits.
    Ahead,
    /// It is ahead of a gap and there is no room to wait, or it begins a stream and the entity has as many
    /// as it may have; its sender will send it again.
    NoRoom,
}

/// What an entity has applied, and what waits for a gap to close.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    received: Received,
    ahead: BTreeMap<(StreamId, u64), Data>,
    ahead_bytes: usize,
}

impl Inbox {
    /// An inbox that goes on where `received` ends.
    #[must_use]
    pub fn resume(received: Received) -> Self {
        Self { received, ahead: BTreeMap::new(), ahead_bytes: 0 }
    }

    /// What was applied.
    #[must_use]
    pub fn received(&self) -> &Received {
        &self.received
    }

    /// Whether a message is ahead of a gap.
    #[must_use]
    pub fn is_ahead(&self, data: &Data) -> bool {
        data.seq.saturating_sub(1) > self.received.last(data.stream)
    }

    /// What waits for a gap to close: payload bytes, messages.
    #[must_use]
    pub fn waiting(&self) -> (usize, usize) {
        (self.ahead_bytes, self.ahead.len())
    }

    /// The rule: the next number is applied, a lower one repeated, a higher one waits within bounds.
    pub fn accept(&mut self, data: Data, limits: &Limits) -> Verdict {
        let streams = self.received.streams.len();
        let known = self.received.streams.get_mut(&data.stream);
        let last = known.as_ref().map_or(0, |last| last.number);
        if data.seq <= last {
            return Verdict::Repeat;
        }
        if data.seq - 1 > last {
            let bytes = self.ahead_bytes + data.payload.len();
            if self.ahead.len() >= limits.held_messages || bytes > limits.held_bytes {
                return Verdict::NoRoom;
            }
            let key = (data.stream, data.seq);
            if self.ahead.insert(key, data).is_none() {
                self.ahead_bytes = bytes;
            }
            return Verdict::Ahead;
        }
        if known.is_none() && streams >= STREAMS_PER_ENTITY {
            return Verdict::NoRoom;
        }
        let stream = data.stream;
        let mut latest = Last { number: data.seq, reply_to: data.reply_to };
        let mut behind = Vec::new();
        while let Some(data) = self.ahead.remove(&(stream, latest.number + 1)) {
            self.ahead_bytes -= data.payload.len();
            behind.push(data);
            latest.number += 1;
        }
        match known {
            Some(last) => *last = latest,
            None => drop(self.received.streams.insert(stream, latest)),
        }
        Verdict::Apply { next: data, behind }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::sync::Arc;

    use slipgate_entity::{OnlineId, RangeId};

    use super::*;
    use crate::message::Sender;
    use crate::{Epoch, Port, Session};

    fn data(generation: u64, seq: u64) -> Data {
        let place = Place { session: Session::new(1, 1), port: Port::Router(0) };
        Data {
            entity: OnlineId::new(RangeId(1), 1),
            stream: StreamId { opened_at: place, generation },
            seq,
            sender: Sender::Tool(Session::new(1, 1)),
            reply_to: place,
            hops: 0,
            base: Epoch::ZERO,
            payload: Arc::from([0u8; 10].as_slice()),
        }
    }

    fn accept(inbox: &mut Inbox, generation: u64, seq: u64) -> Vec<u64> {
        match inbox.accept(data(generation, seq), &Limits::default()) {
            Verdict::Apply { next, behind } => iter::once(&next).chain(&behind).map(|data| data.seq).collect(),
            Verdict::Repeat | Verdict::Ahead | Verdict::NoRoom => Vec::new(),
        }
    }

    #[test]
    fn the_next_number_is_applied_and_a_lower_one_is_only_acknowledged_again() {
        let mut inbox = Inbox::default();
        assert_eq!(accept(&mut inbox, 1, 1), [1]);
        assert_eq!(inbox.accept(data(1, 1), &Limits::default()), Verdict::Repeat);
        assert_eq!(accept(&mut inbox, 1, 2), [2]);
        assert_eq!(inbox.received().last(data(1, 0).stream), 2);
    }

    #[test]
    fn a_number_ahead_of_a_gap_waits_and_follows_once_the_gap_closes() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(data(1, 3), &Limits::default()), Verdict::Ahead);
        assert_eq!(inbox.accept(data(1, 2), &Limits::default()), Verdict::Ahead);
        assert_eq!(accept(&mut inbox, 1, 1), [1, 2, 3]);
        assert_eq!(inbox.ahead_bytes, 0);
    }

    #[test]
    fn streams_do_not_wait_for_each_other() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(data(1, 2), &Limits::default()), Verdict::Ahead);
        assert_eq!(accept(&mut inbox, 2, 1), [1]);
        assert_eq!(inbox.received().len(), 1);
    }

    #[test]
    fn what_waits_ahead_of_gaps_is_bounded_and_a_repeat_does_not_count_twice() {
        let limits = Limits { held_messages: 2, ..Limits::default() };
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(data(1, 5), &limits), Verdict::Ahead);
        assert_eq!(inbox.accept(data(1, 5), &limits), Verdict::Ahead);
        assert_eq!(inbox.ahead_bytes, 10);
        assert_eq!(inbox.accept(data(1, 6), &limits), Verdict::Ahead);
        assert_eq!(inbox.accept(data(1, 7), &limits), Verdict::NoRoom);
    }
}
