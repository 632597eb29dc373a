//! The direct path: messages between two entities of the scene, applied in the order in which they were said.
//!
//! ```text
//!   a handler sends --> both live here and take turns, nothing unacknowledged between them?
//!        yes: said; applied when the turn ends          no: numbered, in the sender's stream
//!                  |                                              ^
//!                  +--- one of the two stops taking turns --------+
//! ```
//!
//! Neither end counts: what is said is applied before anything else can be said between the two, so there is nothing
//! to repeat, to acknowledge or to close. It is not applied at once, within the handler that sends it, for two entities
//! that answer each other would never come to an end.
//!
//! Keeps: what is said has both its ends active here; what waits of one sender fits into an empty stream, so
//! that it can always be numbered instead; a message that follows in the stream is applied later.
//! Leaves out: a durable record of what was applied on this path. It belongs to one of the scene's turns, before the
//! state of either end leaves.

use std::collections::VecDeque;

use slipgate_entity::{OnlineId, Returned};

use super::{Output, Scene};
use crate::bounds::{WAITING_BYTES, WAITING_FIXED_BYTES};
use crate::message::{Payload, Sender};
use crate::{Limits, Now, Rule};

/// What is said and not applied yet, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Direct {
    said: VecDeque<Said>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Said {
    sender: OnlineId,
    to: OnlineId,
    payload: Payload,
}

impl Said {
    fn weight(&self) -> usize {
        self.payload.len() + WAITING_FIXED_BYTES
    }
}

/// How much of one sender is said and not applied yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spoken {
    messages: usize,
    bytes: usize,
}

impl Direct {
    pub(super) fn len(&self) -> usize {
        self.said.len()
    }

    /// What counts against the node's budget.
    pub(super) fn weight(&self) -> usize {
        self.bytes
    }

    /// Takes what an entity says to another, if there is room; else gives it back.
    pub(super) fn say(
        &mut self,
        (sender, spoken): (OnlineId, &mut Spoken),
        to: OnlineId,
        payload: Payload,
        limits: &Limits,
    ) -> Result<(), Payload> {
        let said = Said { sender, to, payload };
        let more = Spoken { messages: spoken.messages + 1, bytes: spoken.bytes + said.payload.len() };
        let fits = more.messages <= limits.stream_window + limits.stream_queue
            && more.bytes <= limits.stream_bytes
            && self.bytes + said.weight() <= WAITING_BYTES;
        if !fits {
            return Err(said.payload);
        }
        *spoken = more;
        self.bytes += said.weight();
        self.said.push_back(said);
        Ok(())
    }
}

impl Scene {
    /// Whether anything is said and not applied yet: by handlers that ran since the turn ended, or within its end.
    #[must_use]
    pub fn has_said(&self) -> bool {
        self.direct.len() > 0
    }

    /// The turn ends: what was said in it is applied. What that leads to is for the next end.
    pub(super) fn apply_said(&mut self, out: &mut Vec<Output>) {
        let mut said = std::mem::take(&mut self.direct.said);
        self.direct.bytes = 0;
        for Said { sender, to, payload } in said.drain(..) {
            let live = self.live.get_mut(&sender).expect("whoever speaks directly lives here");
            live.spoken = Spoken::default();
            let live = self.live.get_mut(&to).expect("whoever is spoken to directly lives here");
            if live.parked.is_some() {
                out.push(Output::Bounced { entity: sender, to, payload, why: Returned::Parked });
                continue;
            }
            live.inbox.count_unnumbered();
            out.push(Output::Apply { entity: to, sender: Sender::Entity(sender), message: None, payload });
        }
        self.direct.said = said;
    }

    /// An entity is about to stop taking turns: what is said by it or to it goes on in streams.
    pub(super) fn leave_direct_path(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        if !self.has_said() || !self.rules.keep(Rule::DirectEndsBeforeTheFreeze) {
            return;
        }
        let said = std::mem::take(&mut self.direct.said);
        let (ours, others): (VecDeque<_>, VecDeque<_>) =
            said.into_iter().partition(|said| said.sender == entity || said.to == entity);
        self.direct.said = others;
        for said in ours {
            self.direct.bytes -= said.weight();
            let Said { sender, to, payload } = said;
            let spoken = &mut self.live.get_mut(&sender).expect("whoever speaks directly lives here").spoken;
            spoken.messages -= 1;
            spoken.bytes -= payload.len();
            self.send_numbered(sender, to, payload, now, out);
        }
    }
}
