//! The sender's end of a stream.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;
use thiserror::Error;

use super::StreamId;
use crate::message::{Data, Payload, Sender};
use crate::{Epoch, Limits, Now, Own, Place, Record};

/// A message that is not acknowledged yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Who speaks.
    pub sender: Sender,
    /// What is said.
    #[serde(with = "crate::bytes")]
    pub payload: Payload,
}

/// The stream, or all of a router's streams together, are at a bound. Nothing was kept of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too much is waiting already; send it again when earlier messages are acknowledged")]
pub struct Busy;

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
    known: Option<(Own, Epoch)>,
    #[serde(skip)]
    sent: u64,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    due: Option<Now>,
    #[serde(skip)]
    wait: Duration,
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
            bytes: 0,
            due: None,
            wait: Duration::ZERO,
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

    /// The same, counted anew: right for a stream that has just arrived, too.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.unacked.iter().map(|waiting| waiting.payload.len()).sum()
    }

    /// Highest number acknowledged.
    #[must_use]
    pub fn acked(&self) -> u64 {
        self.acked
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
    pub fn push(&mut self, sender: Sender, payload: Payload, limits: &Limits) -> Result<u64, Busy> {
        let bytes = self.bytes + payload.len();
        if self.unacked.len() >= limits.stream_window + limits.stream_queue || bytes > limits.stream_bytes {
            return Err(Busy);
        }
        self.bytes = bytes;
        self.unacked.push_back(Waiting { sender, payload });
        Ok(self.acked + self.unacked.len() as u64)
    }

    /// Sends what the window has room for, or asks the home while no owner is known.
    pub fn transmit(&mut self, reply_to: Place, now: Now, limits: &Limits, out: &mut Vec<StreamOutput>) {
        if self.unacked.is_empty() {
            self.due = None;
            return;
        }
        let first_of_burst = self.due.is_none();
        if first_of_burst {
            self.wait = limits.resend_first;
            self.due = Some(now + self.wait);
        }
        let Some((owner, _)) = self.known else {
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
                sender: waiting.sender,
                reply_to,
                hops: 0,
                payload: waiting.payload.clone(),
            };
            out.push(StreamOutput::Data { to: owner, data });
        }
    }

    /// Everything up to `upto` is applied. Returns how many messages that newly acknowledges.
    ///
    /// A number that was never given out is ignored: it cannot come from an honest owner.
    pub fn acknowledge(&mut self, upto: u64) -> usize {
        let given = self.acked + self.unacked.len() as u64;
        if upto <= self.acked || upto > given {
            return 0;
        }
        let newly = index(upto - self.acked);
        self.bytes -= self.unacked.drain(..newly).map(|waiting| waiting.payload.len()).sum::<usize>();
        self.acked = upto;
        self.sent = self.sent.max(upto);
        // Progress: whatever is still on the way gets a full wait of its own.
        self.due = None;
        newly
    }

    /// Learns of an owner. Returns whether it is news, so that the window is to be sent again.
    pub fn learn(&mut self, owner: Own, epoch: Epoch) -> bool {
        if self.known.is_some_and(|(_, known)| epoch <= known) {
            return false;
        }
        self.known = Some((owner, epoch));
        self.resume();
        true
    }

    /// Learns a record from the home. Returns the messages that can never be applied if the entity is dead.
    pub fn learn_record(&mut self, record: &Record) -> Vec<Waiting> {
        if self.is_ended_by(record) {
            return self.fail();
        }
        if let Some(owner) = record.owner {
            self.learn(owner, record.epoch);
        }
        Vec::new()
    }

    /// Whether a record tells that the receiver is dead, which is final. An answer from before the id was
    /// given out says the same and may come late; it is older than an owner that is known.
    #[must_use]
    pub fn is_ended_by(&self, record: &Record) -> bool {
        record.owner.is_none() && self.known.is_none_or(|(_, known)| record.epoch > known)
    }

    /// Takes everything unacknowledged out: the receiver is dead.
    pub fn fail(&mut self) -> Vec<Waiting> {
        self.acked += self.unacked.len() as u64;
        self.sent = self.acked;
        self.bytes = 0;
        self.due = None;
        self.unacked.drain(..).collect()
    }

    /// Sends the window anew at the next [`transmit`](Self::transmit): after a move, or for a new owner.
    pub fn resume(&mut self) {
        self.sent = self.acked;
        self.due = None;
        self.bytes = self.payload_bytes();
    }

    /// Sends at most a window again and asks the home, if it is time; then waits longer.
    pub fn tick(&mut self, reply_to: Place, now: Now, limits: &Limits, out: &mut Vec<StreamOutput>) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        let wait = (self.wait * 2).clamp(limits.resend_first, limits.resend_max);
        self.sent = self.acked;
        self.due = None;
        self.transmit(reply_to, now, limits, out);
        if self.known.is_some() {
            out.push(StreamOutput::AskHome);
        }
        self.wait = wait;
        self.due = Some(now + wait);
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a window is far smaller than the address space")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_entity::{RangeId, SceneId};

    use super::*;
    use crate::{Port, Session};

    fn place() -> Place {
        Place { session: Session::new(1, 1), port: Port::Router(0) }
    }

    fn own(node: u16) -> Own {
        Own::new(Session::new(node, 1), SceneId(node))
    }

    fn stream() -> SendStream {
        SendStream::open(StreamId { opened_at: place(), generation: 1 }, OnlineId::new(RangeId(1), 1))
    }

    fn limits() -> Limits {
        Limits { stream_window: 3, stream_queue: 2, stream_bytes: 100, ..Limits::default() }
    }

    fn push(stream: &mut SendStream, count: usize) -> Vec<Result<u64, Busy>> {
        let sender = Sender::Tool(Session::new(1, 1));
        (0..count).map(|_| stream.push(sender, Arc::from([7u8; 10].as_slice()), &limits())).collect()
    }

    fn sent(stream: &mut SendStream, now: u64) -> (Vec<(u16, u64)>, usize) {
        let mut out = Vec::new();
        stream.transmit(place(), Now(now), &limits(), &mut out);
        split(&out)
    }

    fn split(out: &[StreamOutput]) -> (Vec<(u16, u64)>, usize) {
        let data = out.iter().filter_map(|output| match output {
            StreamOutput::Data { to, data } => Some((to.scene.0, data.seq)),
            StreamOutput::AskHome => None,
        });
        let data: Vec<_> = data.collect();
        (data.clone(), out.len() - data.len())
    }

    #[test]
    fn a_send_is_numbered_and_transmitted_while_the_window_has_room_and_waits_behind_it() {
        let mut stream = stream();
        stream.learn(own(2), Epoch::FIRST);
        assert_eq!(push(&mut stream, 6), [Ok(1), Ok(2), Ok(3), Ok(4), Ok(5), Err(Busy)]);
        assert_eq!(sent(&mut stream, 0), (vec![(2, 1), (2, 2), (2, 3)], 0));
        assert_eq!(sent(&mut stream, 1), (vec![], 0));
        assert_eq!(stream.acknowledge(2), 2);
        assert_eq!(sent(&mut stream, 2), (vec![(2, 4), (2, 5)], 0));
    }

    #[test]
    fn a_stream_is_bounded_in_bytes_too() {
        let mut stream = stream();
        let limits = Limits { stream_bytes: 25, ..limits() };
        let sender = Sender::Tool(Session::new(1, 1));
        let payload: Payload = Arc::from([0u8; 10].as_slice());
        assert_eq!(stream.push(sender, payload.clone(), &limits), Ok(1));
        assert_eq!(stream.push(sender, payload.clone(), &limits), Ok(2));
        assert_eq!(stream.push(sender, payload.clone(), &limits), Err(Busy));
        assert_eq!(stream.waiting_bytes(), 20);
        stream.acknowledge(1);
        assert_eq!(stream.push(sender, payload, &limits), Ok(3));
    }

    #[test]
    fn with_no_owner_known_it_asks_the_home_once_and_sends_when_it_learns_one() {
        let mut stream = stream();
        push(&mut stream, 1);
        assert_eq!(sent(&mut stream, 0), (vec![], 1));
        push(&mut stream, 1);
        assert_eq!(sent(&mut stream, 1), (vec![], 0));
        assert!(stream.learn(own(2), Epoch::FIRST));
        assert_eq!(sent(&mut stream, 2), (vec![(2, 1), (2, 2)], 0));
    }

    #[test]
    fn an_ack_shrinks_the_window_and_one_that_was_never_earned_is_ignored() {
        let mut stream = stream();
        push(&mut stream, 3);
        assert_eq!(stream.acknowledge(9), 0);
        assert_eq!(stream.acknowledge(2), 2);
        assert_eq!(stream.acknowledge(2), 0);
        assert_eq!(stream.acknowledge(1), 0);
        assert_eq!((stream.acked(), stream.waiting()), (2, 1));
    }

    #[test]
    fn a_redirect_to_a_higher_epoch_resends_the_window_and_a_lower_one_is_ignored() {
        let mut stream = stream();
        stream.learn(own(2), Epoch::new(0, 5));
        push(&mut stream, 2);
        sent(&mut stream, 0);
        assert!(!stream.learn(own(3), Epoch::new(0, 5)));
        assert!(!stream.learn(own(3), Epoch::new(0, 4)));
        assert_eq!(sent(&mut stream, 1), (vec![], 0));
        assert!(stream.learn(own(3), Epoch::new(0, 6)));
        assert_eq!(sent(&mut stream, 1), (vec![(3, 1), (3, 2)], 0));
    }

    #[test]
    fn a_tick_with_something_unacknowledged_resends_a_window_asks_and_backs_off() {
        let mut stream = stream();
        stream.learn(own(2), Epoch::FIRST);
        push(&mut stream, 4);
        sent(&mut stream, 0);
        let mut waits = Vec::new();
        for _ in 0..6 {
            let due = stream.due().expect("something is unacknowledged");
            let mut out = Vec::new();
            stream.tick(place(), Now(due.0 - 1), &limits(), &mut out);
            assert!(out.is_empty());
            stream.tick(place(), due, &limits(), &mut out);
            assert_eq!(split(&out), (vec![(2, 1), (2, 2), (2, 3)], 1));
            waits.push(stream.due().expect("still unacknowledged").since(due) / 1000);
        }
        assert_eq!(waits, [200, 400, 800, 1600, 2000, 2000]);
        stream.acknowledge(4);
        let mut out = Vec::new();
        stream.tick(place(), Now(u64::MAX), &limits(), &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_dead_receiver_fails_the_window_to_the_sender() {
        let mut stream = stream();
        push(&mut stream, 3);
        assert_eq!(stream.learn_record(&Record::never()).len(), 3);
        assert_eq!((stream.waiting(), stream.waiting_bytes(), stream.due()), (0, 0, None));
    }

    #[test]
    fn a_late_answer_from_before_the_receiver_was_spawned_is_not_taken_for_its_death() {
        let mut stream = stream();
        stream.learn(own(2), Epoch::FIRST);
        push(&mut stream, 1);
        assert!(stream.learn_record(&Record::never()).is_empty());
        assert_eq!(stream.waiting(), 1);
        let dead = Record { owner: None, epoch: Epoch::FIRST.next(), data: Epoch::FIRST, lost: false };
        assert_eq!(stream.learn_record(&dead).len(), 1);
    }

    #[test]
    fn a_stream_that_stops_halfway_keeps_no_alarm_unless_something_is_unacknowledged() {
        let mut stream = stream();
        stream.learn(own(2), Epoch::FIRST);
        push(&mut stream, 2);
        sent(&mut stream, 0);
        stream.acknowledge(1);
        assert_eq!(sent(&mut stream, 1), (vec![], 0));
        assert!(stream.due().is_some());
        stream.acknowledge(2);
        sent(&mut stream, 2);
        assert_eq!(stream.due(), None);
    }
}
