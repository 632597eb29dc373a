//! Who in the scene writes to whom, and what is known of those written to.
//!
//! A thousand entities that write to one share what is known of its owner, and one question to its home: were
//! each to ask for itself, every answer would have to be laid before all of them.
//!
//! Keeps: what is known of an owner only moves to higher epochs, that of its resets too; a home is asked about one entity at most
//! once per wait, whoever wants to know.

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_entity::OnlineId;

use crate::Now;
use crate::stream::{Known, StreamId};

#[derive(Clone, Debug, Default)]
pub(super) struct Receivers {
    receivers: BTreeMap<OnlineId, Receiver>,
}

#[derive(Clone, Debug, Default)]
struct Receiver {
    senders: BTreeMap<StreamId, OnlineId>,
    known: Option<Known>,
    ask_after: Now,
}

impl Receivers {
    pub(super) fn add(&mut self, to: OnlineId, stream: StreamId, sender: OnlineId) {
        self.receivers.entry(to).or_default().senders.insert(stream, sender);
    }

    /// The last one to leave takes along what was known.
    pub(super) fn remove(&mut self, to: OnlineId, stream: StreamId) {
        if let Some(receiver) = self.receivers.get_mut(&to) {
            receiver.senders.remove(&stream);
            if receiver.senders.is_empty() {
                self.receivers.remove(&to);
            }
        }
    }

    /// How many are written to.
    pub(super) fn len(&self) -> usize {
        self.receivers.len()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.receivers.is_empty()
    }

    /// Who in the scene has this stream.
    pub(super) fn sender(&self, to: OnlineId, stream: StreamId) -> Option<OnlineId> {
        self.receivers.get(&to)?.senders.get(&stream).copied()
    }

    /// Everybody in the scene who writes to `to`.
    pub(super) fn senders(&self, to: OnlineId) -> Vec<OnlineId> {
        self.receivers.get(&to).map(|receiver| receiver.senders.values().copied().collect()).unwrap_or_default()
    }

    /// The owner and its resets, as far as anybody here has heard.
    pub(super) fn known(&self, to: OnlineId) -> Option<Known> {
        self.receivers.get(&to)?.known
    }

    /// Takes note of an owner, or of a reset. Returns whether it is news.
    pub(super) fn learn(&mut self, to: OnlineId, news: Known) -> bool {
        let Some(receiver) = self.receivers.get_mut(&to) else { return false };
        let is_news = match &mut receiver.known {
            Some(known) => known.update(news),
            None => {
                receiver.known = Some(news);
                true
            }
        };
        if is_news {
            // Whoever finds it outdated already may ask at once.
            receiver.ask_after = Now::default();
        }
        is_news
    }

    /// Whether the home may be asked now; then nobody else asks for `wait`.
    pub(super) fn may_ask(&mut self, to: OnlineId, now: Now, wait: Duration) -> bool {
        let Some(receiver) = self.receivers.get_mut(&to) else { return true };
        let may = now >= receiver.ask_after;
        if may {
            receiver.ask_after = now + wait;
        }
        may
    }
}
