//! Entities whose game code panicked: they take no turns, and whoever speaks to them hears so.
//!
//! ```text
//!   shell: the handler panics ---> NotApplied ---> parked: every stream stops where it is
//!                                                    |            Stopped ---> senders
//!                       Unpark <--- somebody looks --+
//!                       or, by policy, despawned as soon as the turn is acknowledged
//! ```
//!
//! The message whose handler panicked counts as applied, and is answered as failed. What is said after it, on any
//! stream, is answered as parked and never applied, unparked or not: a sender that pipelines must not find its second
//! message applied where the first one failed. So a stream to a parked entity stops for good; its sender goes on with
//! another one once it has heard so.
//!
//! What neighbours say to each other directly is in no stream: it comes back to the sender at once.
//!
//! That an entity is parked is part of its state: it moves with it, and so do the streams that have stopped.
//!
//! Keeps: a parked entity applies nothing and lets nothing wait; what is answered as not applied is never applied.
//! Leaves out: whether game code panics, and what is logged then.

use slipgate_entity::{OnlineId, Returned};

use super::leave::reject;
use super::phase::{HeldMessages, Phase, Why};
use super::talk::{bounce, send};
use super::{Answer, Destination, OnPanic, Output, Scene, Ticket};
use crate::Now;
use crate::bounds::clipped;
use crate::message::{Control, Data, Parked, Payload, Sender};
use crate::moves::{MoveError, Outcome};
use crate::stream::{Over, Stopped, StreamId, Verdict};

/// A message that was not applied, or not to its end.
#[derive(Debug)]
pub(super) struct Fallen {
    pub(super) sender: Sender,
    /// Its stream and its number there, or none if it came directly.
    pub(super) message: Option<(StreamId, u64)>,
    pub(super) payload: Payload,
}

impl Scene {
    /// The shell has not applied a message, or its handler panicked.
    pub(super) fn not_applied(
        &mut self,
        entity: OnlineId,
        Fallen { sender, message, payload }: Fallen,
        panic: Option<Parked>,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let live = self.live.get_mut(&entity).expect("the shell applies to entities that live here");
        let why = if panic.is_some() { Stopped::Failed } else { Stopped::Parked };
        match (message, sender) {
            (Some(message), _) => live.inbox.stop(sender, message, why),
            (None, Sender::Entity(sender)) => {
                let why = if panic.is_some() { Returned::Failed } else { Returned::Parked };
                if panic.is_none() {
                    live.inbox.take_unnumbered_back();
                }
                out.push(Output::Bounced { entity: sender, to: entity, payload, why });
            }
            (None, Sender::Tool(_)) => panic!("expected a neighbour to speak directly, found {sender:?}"),
        }
        if let Some(panic) = panic {
            self.park(entity, panic, now, out);
        }
    }

    /// Game code of an entity panicked: it takes no turns.
    pub(super) fn park(&mut self, entity: OnlineId, panic: Parked, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("only what lives here is called");
        live.parked = Some(cut(panic));
        live.inbox.clear_ahead();
        out.push(Output::Park { entity });
        if self.on_panic == OnPanic::Despawn {
            self.doomed.insert(entity);
            self.stay(entity, Outcome::Cancelled, now, out);
        }
    }

    /// Whether an entity is about to be despawned because it panicked.
    pub(super) fn is_doomed(&self, entity: OnlineId) -> bool {
        self.doomed.contains(&entity)
    }

    /// The turn is acknowledged, so that the sender of the message that failed hears it; then its receiver goes.
    pub(super) fn end_doomed(&mut self, now: Now, out: &mut Vec<Output>) {
        for entity in std::mem::take(&mut self.doomed) {
            if self.live.get(&entity).is_some_and(|live| matches!(live.phase, Phase::Active)) {
                self.decide(entity, Why::Despawn(None), HeldMessages::default(), now, out);
            }
        }
    }

    pub(super) fn unpark(&mut self, ticket: Ticket, entity: OnlineId, out: &mut Vec<Output>) {
        let is_doomed = self.is_doomed(entity);
        let Some(live) = self.live.get_mut(&entity) else {
            return reject(Some(ticket), MoveError::NotOwner { entity }, out);
        };
        if !live.is_active() || is_doomed {
            return reject(Some(ticket), MoveError::Migrating { entity }, out);
        }
        let answer = match live.parked.take() {
            Some(_) => {
                out.push(Output::Unpark { entity });
                Answer::Unparked
            }
            None => Answer::NotParked,
        };
        out.push(Output::Answer { ticket, answer });
    }

    /// The rule for a parked entity: the answer is what was applied before.
    pub(super) fn turn_away(&mut self, data: &Data, out: &mut Vec<Output>) {
        let &Data { entity, stream, sender, reply_to, .. } = data;
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        match live.inbox.turn_away(data, &self.verdicts) {
            Verdict::Repeat => self.owe_ack(entity, sender, reply_to),
            Verdict::Over(Over { floor, doubt }) => {
                out.push(send(Destination::Place(reply_to), Control::Closed { entity, stream, floor, doubt }));
            }
            Verdict::NoRoom | Verdict::Ahead | Verdict::Apply { .. } => self.left_out += 1,
        }
    }

    /// The receiver of a stream of an active entity is parked. The router closes the stream.
    pub(super) fn stream_stopped(
        &mut self,
        sender: OnlineId,
        to: OnlineId,
        (upto, failed): (u64, bool),
        out: &mut Vec<Output>,
    ) {
        let Some(live) = self.live.get_mut(&sender) else { return };
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        let done = stream.load();
        let Some(answered) = stream.stop(upto, failed) else { return };
        self.waiting.take_sent(done);
        self.leave_stream(sender, to);
        bounce(sender, to, answered.failed.into_iter().collect(), Returned::Failed, out);
        bounce(sender, to, answered.parked, Returned::Parked, out);
    }
}

fn cut(parked: Parked) -> Parked {
    Parked { why: clipped(parked.why), ..parked }
}
