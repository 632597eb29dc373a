//! What goes back to tools that asked, and what comes back to entities.
//!
//! Keeps: an entity hears of one message after the other; what waits meanwhile is bounded.

use std::collections::VecDeque;

use slipgate_cluster::bounds::clipped;
use slipgate_cluster::message::{Control, Message as Said, Payload};
use slipgate_cluster::scene::OnPanic;
use slipgate_cluster::{Envelope, Now, Place};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{Effect, Fate, Returned, panicked, reply, without_answer};

use super::troupe::Troupe;
use crate::router::REPLY_BYTES;

/// A message that came back: whose it is, whom it was for, and why.
pub(super) type Bounced = (OnlineId, OnlineId, Payload, Returned);

/// What came back while game code heard of another, for later: whoever sends it again at once would never come to an end.
#[derive(Debug, Default)]
pub(super) struct Returns {
    /// Whether game code hears of one just now.
    tells: bool,
    waiting: VecDeque<Bounced>,
    bytes: usize,
}

impl Returns {
    /// Keeps one for later. Whether there was room.
    fn keep(&mut self, bounced: Bounced) -> bool {
        let bytes = self.bytes + bounced.2.len() + FIXED_BYTES;
        let fits = self.waiting.is_empty() || bytes <= BYTES_MAX;
        if fits {
            self.bytes = bytes;
            self.waiting.push_back(bounced);
        }
        fits
    }

    /// All that waits.
    pub(super) fn take(&mut self) -> VecDeque<Bounced> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting)
    }
}

impl Troupe {
    /// Says to the router of a tool what is for the tool.
    pub(super) fn reply(&mut self, entity: OnlineId, to: Place, effects: &mut Vec<Effect>) {
        for effect in effects.extract_if(.., |effect| matches!(effect, Effect::Reply { .. })) {
            let Effect::Reply { payload } = effect else { continue };
            let is_wanted = |payload: &[u8]| reply(payload).is_some_and(|(ask, _)| ask.wants_answer());
            let fits = payload.len() <= REPLY_BYTES && is_wanted(&payload);
            let payload = if fits { payload } else { without_answer(payload) };
            let message = Said::Control(Control::Reply { entity, payload: payload.into() });
            self.letters.push(Envelope { from: self.me.into(), to, message });
        }
    }

    /// Says to the router of a tool what the panic at its message said, if anybody waits for that.
    pub(super) fn reply_panicked(&mut self, entity: OnlineId, to: Place, (message, why): (&[u8], &str)) {
        let fate = match self.on_panic {
            OnPanic::Park => Fate::Parked,
            OnPanic::Despawn => Fate::Despawned,
        };
        if let Some(payload) = panicked(message, &clipped(why.to_owned()), fate) {
            let message = Said::Control(Control::Reply { entity, payload: payload.into() });
            self.letters.push(Envelope { from: self.me.into(), to, message });
        }
    }

    /// A message that an entity sent came back: its sender hears of it, once it has heard of the one before.
    pub(super) fn bounced(&mut self, entity: OnlineId, to: OnlineId, payload: Payload, why: Returned, now: Now) {
        if self.returns.tells {
            if !self.returns.keep((entity, to, payload, why)) {
                tracing::warn!(event = "message.bounced", entity = %entity, "too much comes back: it does not hear of all");
            }
            return;
        }
        self.returns.tells = true;
        self.give_back(entity, (to, &payload), why, now);
        self.returns.tells = false;
    }

    /// A message that an entity sent came back: it is counted, and its sender hears of it.
    fn give_back(&mut self, entity: OnlineId, message: (OnlineId, &[u8]), why: Returned, now: Now) {
        let name = match why {
            Returned::Dead => "dead",
            Returned::Unknown => "unknown",
            Returned::Busy => "busy",
            Returned::TooLarge => "too_large",
            Returned::Failed => "failed",
            Returned::Parked => "parked",
            Returned::Refused => "refused",
        };
        metrics::counter!("slipgate_messages_bounced_total", "why" => name).increment(1);
        // The copy of an entity that is leaving is under way, and would not know of it.
        if !self.takes_turns(entity) {
            return;
        }
        self.come_in(entity, now);
        let result = self.bodies.give_back(entity, message, why, now);
        self.ran(entity, result, now);
    }
}

/// Of messages that came back while their senders heard of others. A guess: some of the largest.
const BYTES_MAX: usize = 64 << 20;
/// What one of them counts beside its payload.
const FIXED_BYTES: usize = 64;
