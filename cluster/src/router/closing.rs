//! Streams that their senders have left: their receivers are told until they answer.
//!
//! There may be very many of them at once, and none is urgent. So they are told in portions and with waits that
//! double, and beyond a bound one is forgotten: its receiver then keeps its row until the sender begins another
//! stream to it, or, once it is gone, until the next verdict on any session.
//!
//! Keeps: nothing is sent about a stream after its answer; what is known of an owner only moves to higher epochs.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_entity::OnlineId;

use super::Output;
use crate::bounds::CLOSING_STREAMS;
use crate::message::Sender;
use crate::stream::{Known, SendStream, StreamId};
use crate::time::Wait;
use crate::{Epoch, Limits, Now, Own, Place, Record};

#[derive(Clone, Debug, Default)]
pub(super) struct Closings {
    streams: BTreeMap<OnlineId, BTreeMap<StreamId, Closing>>,
    due: BTreeSet<(Now, OnlineId, StreamId)>,
}

#[derive(Clone, Debug)]
struct Closing {
    sender: Sender,
    known: Known,
    due: Now,
    wait: Wait,
}

impl Closings {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    pub(super) fn concern(&self, entity: OnlineId) -> bool {
        self.streams.contains_key(&entity)
    }

    /// Takes a stream on. One that was never sent on is known to nobody.
    pub(super) fn add(&mut self, stream: &SendStream, sender: Sender, now: Now) {
        let Some(known) = stream.known() else { return };
        if self.len() >= CLOSING_STREAMS {
            return;
        }
        let closing = Closing { sender, known, due: now, wait: Wait::default() };
        let (entity, id) = (stream.entity(), stream.id());
        if let Some(before) = self.streams.entry(entity).or_default().insert(id, closing) {
            self.due.remove(&(before.due, entity, id));
        }
        self.due.insert((now, entity, id));
    }

    /// Somebody says that the receiver has closed the stream. Returns whether that is one of these, whose answer it is
    /// then; only the owner's counts.
    pub(super) fn closed(&mut self, entity: OnlineId, stream: StreamId, by: Place) -> bool {
        let Some(closing) = self.streams.get(&entity).and_then(|streams| streams.get(&stream)) else { return false };
        if closing.known.is_owned_by(by) {
            self.remove(entity, stream);
        }
        true
    }

    fn remove(&mut self, entity: OnlineId, stream: StreamId) {
        let Some(streams) = self.streams.get_mut(&entity) else { return };
        let Some(closing) = streams.remove(&stream) else { return };
        if streams.is_empty() {
            self.streams.remove(&entity);
        }
        self.due.remove(&(closing.due, entity, stream));
    }

    /// Somebody tells where the receiver went; only the owner can know.
    pub(super) fn redirected(
        &mut self,
        entity: OnlineId,
        stream: StreamId,
        by: Place,
        (owner, epoch): (Own, Epoch),
        now: Now,
    ) {
        let closing = self.streams.get(&entity).and_then(|streams| streams.get(&stream));
        if closing.is_some_and(|closing| closing.known.is_owned_by(by)) {
            self.moved(entity, stream, owner, epoch, now);
        }
    }

    fn moved(&mut self, entity: OnlineId, stream: StreamId, owner: Own, epoch: Epoch, now: Now) {
        let Some(closing) = self.streams.get_mut(&entity).and_then(|streams| streams.get_mut(&stream)) else { return };
        let base = closing.known.base;
        if closing.known.update(Known { owner, epoch, base }) {
            self.due.remove(&(closing.due, entity, stream));
            (closing.due, closing.wait) = (now, Wait::default());
            self.due.insert((now, entity, stream));
        }
    }

    /// The home's word on a receiver: one that is dead, or has begun anew, knows of none of these.
    pub(super) fn record(&mut self, entity: OnlineId, record: &Record, now: Now) {
        let Some(streams) = self.streams.get(&entity) else { return };
        for (stream, known) in streams.iter().map(|(id, closing)| (*id, closing.known)).collect::<Vec<_>>() {
            if known.end_by(record).is_some() {
                self.remove(entity, stream);
            } else if let Some(owner) = record.owner {
                self.moved(entity, stream, owner, record.epoch, now);
            }
        }
    }

    /// Tells a portion of those whose time has come. One that has not answered before may be elsewhere.
    pub(super) fn tick(&mut self, now: Now, limits: &Limits, out: &mut Vec<Output>, ask: &mut BTreeSet<OnlineId>) {
        for _ in 0..CLOSES_PER_TICK {
            let Some(&(due, entity, stream)) = self.due.first() else { return };
            if due > now {
                return;
            }
            self.due.pop_first();
            let closing = self.streams.get_mut(&entity).and_then(|streams| streams.get_mut(&stream));
            let closing = closing.expect("what is due is to be closed");
            if closing.wait.has_begun() {
                ask.insert(entity);
            }
            closing.due = now + closing.wait.next(limits.resend_first, limits.resend_max);
            self.due.insert((closing.due, entity, stream));
            out.push(Output::Close { to: closing.known.owner, entity, stream, sender: closing.sender });
        }
    }
}

/// Streams told of in a tick: some 25,000 a second.
const CLOSES_PER_TICK: usize = 512;
