//! The batches of a router that somebody waits for, by the tickets of their messages.
//!
//! A ticket is the batch's number and the message's index in it.
//!
//! Keeps: a batch is answered once: when it has ended, or its time is over, or it was refused as a whole.
//! Leaves out: sending; a clock.

use std::collections::BTreeMap;

use slipgate_cluster::Now;
use slipgate_cluster::message::Payload;
use slipgate_cluster::router::{Output, Ticket, ToSend};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{AskId, reply};
use slipgate_proto::admin::SendReport;
use tokio::sync::oneshot;

use super::SendBatch;
use super::batch::{Batch, Sent};

/// The batches of a router.
#[derive(Debug)]
pub struct Batches {
    all: BTreeMap<u64, (Batch, oneshot::Sender<Sent>)>,
    last: u64,
}

impl Batches {
    /// The highest number that batches may be counted from.
    pub const FIRST_MAX: u64 = NUMBER_MAX / 2;

    /// None yet; the first has the number after `last`.
    #[must_use]
    pub fn after(last: u64) -> Self {
        Self { all: BTreeMap::new(), last }
    }

    /// Begins another one, whose report is `blank` so far. Returns its number, and what the machine is to send.
    pub fn open(&mut self, batch: SendBatch, blank: SendReport, now: Now) -> (u64, Vec<ToSend>) {
        let SendBatch { messages, waiting, reply } = batch;
        self.last += 1;
        let number = self.last;
        let named = messages.iter().map(|(position, entity, _)| (*position, *entity)).collect();
        let batch = Batch::new(named, waiting, blank, now);
        let to_send = messages.into_iter().enumerate().map(|(index, (_, entity, payload))| {
            let ticket = Ticket(number << INDEX_BITS | index as u64 & INDEX_MAX);
            ToSend { ticket, entity, payload: batch.payload(ticket, payload) }
        });
        let to_send = to_send.collect();
        self.all.insert(number, (batch, reply));
        (number, to_send)
    }

    /// Gives a whole batch back: nothing of it was accepted.
    pub fn refuse(&mut self, number: u64) {
        if let Some((batch, reply)) = self.all.remove(&number) {
            let _ = reply.send(batch.all_busy());
        }
    }

    /// The machine says what became of a message; what else it says is none of theirs.
    pub fn hear(&mut self, output: &Output, now: Now) {
        match output {
            Output::Accepted(ticket) => self.note(*ticket, |batch, _| batch.accept()),
            Output::Busy(ToSend { ticket, .. }) => self.note(*ticket, Batch::busy),
            Output::Applied(ticket) => self.note(*ticket, |batch, index| batch.passed(index, now)),
            Output::Failed(ticket) => self.note(*ticket, |batch, index| batch.failed(index, now)),
            Output::Unknown(ticket) => self.end(*ticket, |report| &mut report.unknown),
            Output::Lost(ticket) => self.end(*ticket, |report| &mut report.lost),
            Output::Dead(ticket) => self.end(*ticket, |report| &mut report.dead),
            Output::Parked(ticket) => self.end(*ticket, |report| &mut report.parked),
            Output::Data { .. } | Output::Close { .. } | Output::AskHome { .. } => {}
        }
    }

    /// An entity answers a tool, or says why it did not take a message.
    pub fn replied(&mut self, entity: OnlineId, payload: Payload) {
        if let Some((AskId(ask), _)) = reply(&payload) {
            self.note(Ticket(ask & !AskId::NO_ANSWER), |batch, index| batch.replied(index, entity, payload));
        }
    }

    /// Answers those that have ended, or whose time is over.
    pub fn answer_ended(&mut self, now: Now) {
        for (_, (batch, reply)) in self.all.extract_if(.., |_, (batch, _)| batch.is_over(now)) {
            // A tool that went away misses nothing.
            let _ = reply.send(batch.sent());
        }
    }

    /// Whether a reply is still waited for to what an entity has gone past.
    #[must_use]
    pub fn await_replies(&self) -> bool {
        self.all.values().any(|(batch, _)| batch.awaits_reply())
    }

    fn note(&mut self, Ticket(ticket): Ticket, change: impl FnOnce(&mut Batch, usize)) {
        let Some((batch, _)) = self.all.get_mut(&(ticket >> INDEX_BITS)) else { return };
        let index = usize::try_from(ticket & INDEX_MAX).expect("16 bits fit into an index");
        change(batch, index);
    }

    fn end(&mut self, ticket: Ticket, count: impl FnOnce(&mut SendReport) -> &mut u32) {
        self.note(ticket, |batch, index| batch.ended(index, count));
    }
}

/// Numbers of batches: they leave room for the positions, and for the mark of an ask whose answer nobody wants.
const NUMBER_MAX: u64 = 1 << 47;
const INDEX_BITS: u32 = 16;
const INDEX_MAX: u64 = (1 << INDEX_BITS) - 1;
