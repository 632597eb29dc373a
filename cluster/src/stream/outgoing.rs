//! The sender's end of a stream.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;
use thiserror::Error;

use super::{Known, StreamId};
use crate::budget::Load;
use crate::message::{Data, Payload, Sender};
use crate::time::Wait;
use crate::{Epoch, Limits, Now, Own, Place, Record};

/// A message that is not acknowledged yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What is said.
    #[serde(with = "crate::bytes")]
    pub payload: Payload,
}

/// Who speaks on a stream, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Who.
    pub sender: Sender,
    /// Its epoch, if it is an entity.
    pub epoch: Epoch,
    /// Where it hears answers.
    pub reply_to: Place,
}

/// The stream is at a bound. Nothing was kept of the message, which comes back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("too much is waiting already; send it again when earlier messages are acknowledged")]
pub struct Busy(pub Payload);

/// Why nothing more comes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The receiver is dead: what is unacknowledged was not applied, and never will be.
    Dead,
    /// The receiver was lost, or goes on as a copy that may have missed something: what is unacknowledged was
    /// applied before that, or never will be.
    Unknown,
    /// The receiver was lost before anything of the stream had left: nothing of it was applied, or ever will be.
    Lost,
}

/// How a stream that has stopped is answered: first to last, what was unacknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// How many were applied.
    pub applied: usize,
    /// The one whose handler panicked.
    pub failed: Option<Waiting>,
    /// Those behind it, which are never applied.
    pub parked: Vec<Waiting>,
}

impl End {
    /// What a record without an owner tells.
    pub(super) fn of(record: &Record) -> Self {
        if record.lost { Self::Unknown } else { Self::Dead }
    }
}

/// When a stream wants to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// When.
    pub at: Now,
    /// The alarm that is set for later, and not wanted any more.
    pub instead_of: Option<Now>,
}

/// What a stream wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamOutput {
    /// A message for the owner.
    Data {
        /// The owner.
        to: Own,
        /// The message.
        data: Data,
    },
    /// The owner is not known, or does not answer: ask the home.
    AskHome,
}

/// The sender's end of a stream: counter, window, and what it knows of the owner.
///
/// All of it but the clockwork moves with a sender that is an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendStream {
    id: StreamId,
    entity: OnlineId,
    acked: u64,
    unacked: VecDeque<Waiting>,
    known: Option<Known>,
    #[serde(skip)]
    sent: u64,
    /// How many at the end of the window have never left; 0 where that is not known.
    #[serde(skip)]
    unsent: usize,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    due: Option<Now>,
    #[serde(skip)]
    wait: Wait,
    /// Since when nothing is unacknowledged.
    #[serde(skip)]
    idle: Option<Now>,
    /// The alarm that is set for it.
    #[serde(skip)]
    alarm: Option<Now>,
    /// Whether it has a new id of which nothing is acknowledged yet.
    #[serde(skip)]
    renewed: bool,
}

impl SendStream {
    /// A stream to `entity` on which nothing was sent.
    #[must_use]
    pub fn open(id: StreamId, entity: OnlineId) -> Self {
        Self {
            id,
            entity,
            acked: 0,
            unacked: VecDeque::new(),
            known: None,
            sent: 0,
            unsent: 0,
            bytes: 0,
            due: None,
            wait: Wait::default(),
            idle: None,
            alarm: None,
            renewed: false,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// The receiver.
    #[must_use]
    pub fn entity(&self) -> OnlineId {
        self.entity
    }

    /// Epoch of the receiver's last reset, as it was when the stream began; none before anything was sent.
    #[must_use]
    pub fn base(&self) -> Option<Epoch> {
        Some(self.known?.base)
    }

    /// Messages not acknowledged yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.unacked.len()
    }

    /// Payload bytes not acknowledged yet.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.bytes
    }

    /// Both.
    #[must_use]
    pub fn load(&self) -> Load {
        Load { messages: self.waiting(), bytes: self.bytes }
    }

    /// The bytes, counted anew: right for a stream that has just arrived, too.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.unacked.iter().map(|waiting| waiting.payload.len()).sum()
    }

    /// Highest number acknowledged.
    #[must_use]
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Highest number given out.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.acked + self.unacked.len() as u64
    }

    /// When it wants [`tick`](Self::tick) next; none while nothing is unacknowledged.
    #[must_use]
    pub fn due(&self) -> Option<Now> {
        self.due
    }

    /// Numbers a message and keeps it until it is acknowledged.
    ///
    /// # Errors
    ///
    /// At the stream's bound in messages or bytes; nothing was kept then.
    pub fn push(&mut self, payload: Payload, limits: &Limits) -> Result<u64, Busy> {
        let bytes = self.bytes + payload.len();
        if self.unacked.len() >= limits.stream_window + limits.stream_queue || bytes > limits.stream_bytes {
            return Err(Busy(payload));
        }
        self.bytes = bytes;
        self.unacked.push_back(Waiting { payload });
        self.unsent += 1;
        Ok(self.given())
    }

    /// Sends what the window has room for, or asks the home while no owner is known.
    pub fn transmit(&mut self, speaker: &Speaker, now: Now, limits: &Limits, out: &mut Vec<StreamOutput>) {
        if self.unacked.is_empty() {
            self.due = None;
            self.idle.get_or_insert(now);
            return;
        }
        self.idle = None;
        let first_of_burst = self.due.is_none();
        if first_of_burst {
            self.wait = Wait::default();
            self.due = Some(now + self.wait.next(limits.resend_first, limits.resend_max));
        }
        let Some(Known { owner, base, .. }) = self.known else {
            if first_of_burst {
                out.push(StreamOutput::AskHome);
            }
            return;
        };
        let from = index(self.sent - self.acked);
        for (offset, waiting) in self.unacked.iter().take(limits.stream_window).enumerate().skip(from) {
            let seq = self.acked + 1 + offset as u64;
            self.sent = seq;
            let data = Data {
                entity: self.entity,
                stream: self.id,
                seq,
                sender: speaker.sender,
                reply_to: speaker.reply_to,
                hops: 0,
                payload: waiting.payload.clone(),
                base,
                epoch: speaker.epoch,
            };
            out.push(StreamOutput::Data { to: owner, data });
            self.unsent = self.unsent.min(self.unacked.len() - offset - 1);
        }
    }

    /// Everything up to `upto` is applied. Returns how many messages that newly acknowledges.
    ///
    /// A number that was never given out is ignored: it cannot come from an honest owner.
    pub fn acknowledge(&mut self, upto: u64) -> usize {
        if upto <= self.acked || upto > self.given() {
            return 0;
        }
        let newly = index(upto - self.acked);
        self.bytes -= self.unacked.drain(..newly).map(|waiting| waiting.payload.len()).sum::<usize>();
        self.acked = upto;
        self.unsent = self.unsent.min(self.unacked.len());
        self.renewed = false;
        self.sent = self.sent.max(upto);
        // Progress: whatever is still on the way gets a full wait of its own.
        self.due = None;
        newly
    }

    /// The receiver says that the stream has stopped behind `upto`, and whether that message failed. Everything
    /// unacknowledged has its answer then; nothing more goes by this stream.
    ///
    /// A number that was never given out is ignored, as in [`acknowledge`](Self::acknowledge): then there is no answer.
    pub fn stop(&mut self, upto: u64, failed: bool) -> Option<Answered> {
        if upto > self.given() {
            return None;
        }
        let newly = index(upto.saturating_sub(self.acked));
        let mut applied = self.fail();
        let parked = applied.split_off(newly);
        let failed = applied.pop_if(|_| failed);
        Some(Answered { applied: applied.len(), failed, parked })
    }

    /// Learns of an owner. Returns whether it is news, so that the window is to be sent again.
    ///
    /// An owner that counts from a later base is of no use to this stream: it is [over](Self::is_reset_by), and
    /// whoever keeps it ends it.
    pub fn learn(&mut self, news: Known) -> bool {
        match &mut self.known {
            Some(known) if news.epoch <= known.epoch || news.base > known.base => return false,
            Some(known) => (known.owner, known.epoch) = (news.owner, news.epoch),
            None => self.known = Some(news),
        }
        self.resume();
        true
    }

    /// Whether what is sent goes there. Nobody else has anything to say of where the receiver went, or that it has closed
    /// the stream: whatever else is said of it comes late, or from a peer that speaks for others.
    #[must_use]
    pub fn leads_to(&self, place: Place) -> bool {
        self.known.is_some_and(|known| known.is_owned_by(place))
    }

    /// Is told by somebody where the receiver went. Returns whether that is news.
    pub fn redirect(&mut self, by: Place, owner: Own, epoch: Epoch) -> bool {
        self.leads_to(by) && self.learn_owner(owner, epoch)
    }

    /// Learns of an owner from somebody who does not know of resets. That is no news before anything was sent.
    pub fn learn_owner(&mut self, owner: Own, epoch: Epoch) -> bool {
        self.base().is_some_and(|base| self.learn(Known { owner, epoch, base }))
    }

    /// Learns a record from the home. Returns the messages of which nothing more comes, if the stream is over.
    pub fn learn_record(&mut self, record: &Record) -> Vec<Waiting> {
        if self.is_ended_by(record).is_some() {
            return self.fail();
        }
        if let Some(known) = Known::of(record) {
            self.learn(known);
        }
        Vec::new()
    }

    /// Whether a record tells that nothing more comes of the stream, and why.
    #[must_use]
    pub fn is_ended_by(&self, record: &Record) -> Option<End> {
        match &self.known {
            Some(known) => known.end_by(record),
            // Nothing leaves for an owner that is not known.
            None => record.owner.is_none().then_some(if record.lost { End::Lost } else { End::Dead }),
        }
    }

    /// Whether the receiver counts from a later base than this stream: what it applied of it is forgotten.
    #[must_use]
    pub fn is_reset_by(&self, base: Epoch) -> bool {
        self.base().is_some_and(|ours| base > ours)
    }

    /// Takes everything unacknowledged out: nothing more comes of it.
    pub fn fail(&mut self) -> Vec<Waiting> {
        self.acked += self.unacked.len() as u64;
        self.sent = self.acked;
        self.unsent = 0;
        self.bytes = 0;
        self.due = None;
        self.unacked.drain(..).collect()
    }

    /// The receiver counts from a later base: takes out what has left, of which nothing more comes. What never left
    /// was applied by nobody, and goes on under another id, if there is anything.
    pub fn begin_anew(&mut self, known: Known, open: impl FnOnce() -> StreamId) -> Vec<Waiting> {
        let kept = self.unacked.split_off(self.unacked.len() - self.unsent);
        let left = std::mem::replace(&mut self.unacked, kept);
        (self.acked, self.known, self.renewed) = (0, Some(known), false);
        self.resume();
        if !self.unacked.is_empty() {
            self.id = open();
        }
        left.into()
    }

    /// Sends the window anew at the next [`transmit`](Self::transmit): after a move, or for a new owner.
    pub fn resume(&mut self) {
        self.sent = self.acked;
        self.due = None;
        self.bytes = self.payload_bytes();
    }

    /// Goes on in another place: what was to happen when is begun anew there.
    pub fn settle_in(&mut self) {
        self.resume();
        (self.idle, self.alarm, self.renewed) = (None, None, false);
    }

    /// The receiver says that the stream is over, and that it has applied nothing of the window: it goes on under
    /// another id, numbered from 1. The first time at once; should that be over too, the window waits for its
    /// repeat.
    pub fn renew(&mut self, id: StreamId) {
        let (due, wait) = (self.due, self.wait);
        self.id = id;
        self.acked = 0;
        self.resume();
        if std::mem::replace(&mut self.renewed, true) {
            self.sent = self.unacked.len() as u64;
            (self.due, self.wait) = (due, wait);
        }
    }

    /// Whether nothing was unacknowledged for so long that the stream should be closed.
    #[must_use]
    pub fn is_idle(&self, now: Now, limits: &Limits) -> bool {
        self.unacked.is_empty() && self.idle.is_some_and(|since| now >= since + limits.stream_idle)
    }

    /// Whether anything of it can be known to its receiver.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.known.is_some()
    }

    /// What is known of the receiver.
    #[must_use]
    pub fn known(&self) -> Option<Known> {
        self.known
    }

    /// Notes that the alarm has rung, if it is the one that is set.
    pub fn rang(&mut self, now: Now) {
        if self.alarm.is_some_and(|alarm| alarm <= now) {
            self.alarm = None;
        }
    }

    /// The alarm to set, and the one to put off for it; nothing while one is set that rings early enough.
    pub fn arm(&mut self, limits: &Limits) -> Option<Alarm> {
        let wanted = self.due.or(self.idle.map(|since| since + limits.stream_idle))?;
        if self.alarm.is_some_and(|set| set <= wanted) {
            return None;
        }
        Some(Alarm { at: wanted, instead_of: self.alarm.replace(wanted) })
    }

    /// Takes back the alarm that is set.
    pub fn disarm(&mut self) -> Option<Now> {
        self.alarm.take()
    }

    /// Sends at most a window again and asks the home, if it is time; then waits longer.
    pub fn tick(&mut self, speaker: &Speaker, now: Now, limits: &Limits, out: &mut Vec<StreamOutput>) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        let mut wait = self.wait;
        self.sent = self.acked;
        self.due = None;
        self.transmit(speaker, now, limits, out);
        if self.known.is_some() {
            out.push(StreamOutput::AskHome);
        }
        self.due = Some(now + wait.next(limits.resend_first, limits.resend_max));
        self.wait = wait;
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a window is far smaller than the address space")
}

#[cfg(test)]
mod tests;
