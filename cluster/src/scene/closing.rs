//! Streams that end: those of our entities that are at rest, and those to our entities that others close.
//!
//! ```text
//!   sender's scene          router of its thread                 receiver's scene
//!   idle: forgets it ---->  Close, until answered  ------------> forgets it, raises the floor
//!                           forgets it             <------------ Closed
//! ```
//!
//! A router may die with a stream to close. After a verdict the receiver's scene therefore asks that of the sender
//! (`verdicts`), which closes in the router's place what is not the sender's any more.
//!
//! Keeps: a stream is left only with an empty window; only an active entity answers that a stream is closed, for
//! only its copy of the table counts; a window that was told to be closed goes on under another id.

use slipgate_entity::OnlineId;

use super::talk::send;
use super::{Destination, Orphan, Output, Scene};
use crate::message::{Control, Sender};
use crate::stream::{SendStream, StreamId};
use crate::{Epoch, Now, Place, Rule};

impl Scene {
    /// A stream of an active entity has been at rest for long enough.
    pub(super) fn leave_stream(&mut self, sender: OnlineId, to: OnlineId) {
        let Some(live) = self.live.get_mut(&sender) else { return };
        let epoch = live.epoch;
        let Some(stream) = live.outbox.remove(&to) else { return };
        self.receivers.remove(to, stream.id());
        if self.rules.keep(Rule::ClosedStreamsAreTold) {
            self.leave(sender, epoch, stream);
        }
    }

    /// The router goes on with a stream, by its own clock.
    pub(super) fn leave(&mut self, sender: OnlineId, epoch: Epoch, mut stream: SendStream) {
        stream.settle_in();
        self.orphans.push(Orphan { sender, epoch, stream });
    }

    /// The receiver has closed a stream of an active entity.
    pub(super) fn stream_closed(
        &mut self,
        sender: OnlineId,
        to: OnlineId,
        floor: u64,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let me = self.place();
        let Some(live) = self.live.get_mut(&sender) else { return };
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        self.receivers.remove(to, stream.id());
        if stream.waiting() == 0 || !self.rules.keep(Rule::ClosedWindowsGoOn) {
            self.waiting.take_sent(stream.load());
            live.outbox.remove(&to);
            return;
        }
        stream.renew(stream.id().after(floor, me, &mut self.opened));
        self.receivers.add(to, stream.id(), sender);
        self.transmit(sender, to, now, out);
    }

    /// Whether a stream to an entity is still that of a sender who is here. None, unless the sender is active: only then its
    /// outbox is the one that counts.
    pub(super) fn holds_stream(&self, sender: OnlineId, to: OnlineId, stream: StreamId) -> Option<bool> {
        let live = self.live.get(&sender).filter(|live| live.is_active())?;
        Some(live.outbox.get(&to).is_some_and(|held| held.id() == stream))
    }

    /// A receiver's scene asks whether a stream is still the sender's. What a sender has left is acknowledged to its end,
    /// whoever else there is to say so.
    pub(super) fn ask_stream(
        &mut self,
        from: Place,
        (sender, entity): (OnlineId, OnlineId),
        stream: StreamId,
        out: &mut Vec<Output>,
    ) {
        if self.holds_stream(sender, entity, stream) == Some(false) {
            let sender = Sender::Entity(sender);
            out.push(send(Destination::Place(from), Control::Close { entity, stream, sender }));
        }
    }

    /// A router is done with a stream to an entity, or the scene of its sender says so in its place. What is frozen, deciding or staged does not answer: its copy of the
    /// table is on its way, or not the one that counts yet.
    pub(super) fn close(
        &mut self,
        from: Place,
        entity: OnlineId,
        stream: StreamId,
        sender: Sender,
        out: &mut Vec<Output>,
    ) {
        let from = Destination::Place(from);
        if !stream.is_possible() {
            self.left_out += 1;
        } else if let Some(live) = self.live.get_mut(&entity) {
            if !live.is_active() && self.rules.keep(Rule::OnlyTheActiveClose) {
                return;
            }
            if live.inbox.close(sender, stream, &self.verdicts) {
                out.push(send(from, Control::Closed { entity, stream, floor: 0, doubt: false }));
            } else {
                self.left_out += 1;
            }
        } else if !self.staged.contains_key(&entity) {
            out.push(send(from, self.elsewhere(entity, stream)));
        }
    }
}
