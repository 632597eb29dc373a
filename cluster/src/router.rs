//! The streams of tools, and of senders that are gone.
//!
//! A tool has no entity to keep its numbers, so the router of its node does: one stream per receiver,
//! for all tools of the node. Streams of entities live with the entity and move with it
//! ([`scene`](crate::scene)); when such an entity despawns, what it sent and nobody acknowledged
//! passes to the router, which goes on until it is answered.
//!
//! Keeps: an accepted message is applied once or answered `Dead`, or `Unknown` where the receiver was lost; messages to one receiver leave in the
//! order they were accepted; after a refusal, later messages of the same batch to the same receiver are
//! refused too, so that a sender can go on where it was stopped; everything kept is bounded.
//! Leaves out: which thread runs it; where homes and owners are on the network.

use std::collections::{BTreeSet, VecDeque};

use slipgate_entity::{FixedMap, OnlineId};

use crate::message::{Control, Data, Nonce, Payload, Sender};
use crate::stream::{End, SendStream, StreamId, StreamOutput};
use crate::{Limits, Now, Own, Place};

/// Names a message for the tool that sent it; chosen by the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A message that a tool wants sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToSend {
    /// Names it in the answers.
    pub ticket: Ticket,
    /// The receiver.
    pub entity: OnlineId,
    /// What is said.
    pub payload: Payload,
}

/// What a router is told or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A tool sends messages, in this order.
    Send(Vec<ToSend>),
    /// An owner, a scene or a home says something about a stream or an entity.
    Heard(Control),
    /// A sender despawned; its unacknowledged messages pass to this router.
    Adopt(Vec<SendStream>),
    /// Time passes.
    Tick,
}

/// What a router wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message for an owner.
    Data {
        /// The owner.
        to: Own,
        /// The message.
        data: Data,
    },
    /// Ask the home of `entity` for its record.
    AskHome {
        /// The entity.
        entity: OnlineId,
        /// Comes back with the answer.
        nonce: Nonce,
    },
    /// The message is accepted: it will be applied once, or answered.
    Accepted(Ticket),
    /// A bound is reached, or an earlier message of the batch to the same receiver met one.
    Busy(Ticket),
    /// The accepted message is applied.
    Applied(Ticket),
    /// The accepted message can never be applied: the receiver is dead.
    Dead(Ticket),
    /// The receiver was lost with its node, or goes on as a copy that may have missed something: the accepted
    /// message was applied before that, or never will be.
    Unknown(Ticket),
}

/// One router's streams.
#[derive(Clone, Debug)]
pub struct Router {
    me: Place,
    limits: Limits,
    streams: FixedMap<StreamId, Line>,
    by_entity: FixedMap<OnlineId, BTreeSet<StreamId>>,
    tools: FixedMap<OnlineId, StreamId>,
    due: BTreeSet<(Now, StreamId)>,
    opened: u64,
    asked: u64,
    waiting: usize,
    waiting_bytes: usize,
}

#[derive(Clone, Debug)]
struct Line {
    stream: SendStream,
    /// Tickets of what is unacknowledged, oldest first; empty for adopted streams.
    tickets: VecDeque<Ticket>,
}

impl Router {
    /// The router at `me`.
    #[must_use]
    pub fn new(me: Place, limits: Limits) -> Self {
        Self {
            me,
            limits,
            streams: FixedMap::default(),
            by_entity: FixedMap::default(),
            tools: FixedMap::default(),
            due: BTreeSet::new(),
            opened: 0,
            asked: 0,
            waiting: 0,
            waiting_bytes: 0,
        }
    }

    /// Messages kept, over all streams.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Send(batch) => self.send(batch, now, out),
            Input::Heard(Control::Ack { entity, stream, upto, owner, epoch, base }) => {
                self.with_line(stream, entity, now, out, |line, out| {
                    if line.stream.base() != Some(base) {
                        // About numbers that count from another reset.
                        return;
                    }
                    let newly = line.stream.acknowledge(upto);
                    out.extend(line.tickets.drain(..newly.min(line.tickets.len())).map(Output::Applied));
                    line.stream.learn_owner(owner, epoch);
                });
            }
            Input::Heard(Control::Redirect { entity, stream, owner, epoch }) => {
                self.with_line(stream, entity, now, out, |line, _| {
                    line.stream.learn_owner(owner, epoch);
                });
            }
            Input::Heard(Control::NotOwner { entity, .. } | Control::NotHome { entity, .. })
                if !self.by_entity.contains(&entity) => {}
            Input::Heard(Control::NotOwner { entity, .. }) => self.ask(entity, out),
            Input::Heard(Control::RecordIs { entity, record, .. }) => {
                for stream in self.by_entity.get(&entity).cloned().unwrap_or_default() {
                    let line = self.streams.get(&stream).expect("an entity's streams are there");
                    let end = line.stream.is_ended_by(&record);
                    if end.is_some() && self.tools.get(&entity) == Some(&stream) {
                        self.tools.remove(&entity);
                    }
                    self.with_line(stream, entity, now, out, |line, out| {
                        line.stream.learn_record(&record);
                        let answer = match end {
                            Some(End::Dead) => Output::Dead,
                            Some(End::Unknown) => Output::Unknown,
                            None => return,
                        };
                        out.extend(line.tickets.drain(..).map(answer));
                    });
                }
            }
            // A home that is not one, or anything meant for another kind of actor: the next tick asks again.
            Input::Heard(_) => {}
            Input::Adopt(streams) => {
                for stream in streams {
                    self.adopt(stream, now, out);
                }
            }
            Input::Tick => self.tick(now, out),
        }
    }

    fn send(&mut self, batch: Vec<ToSend>, now: Now, out: &mut Vec<Output>) {
        let mut refused = BTreeSet::new();
        let mut touched: Vec<(StreamId, OnlineId)> = Vec::new();
        for message in batch {
            let sender = Sender::Tool(self.me.session);
            let room = self.waiting < self.limits.router_queue
                && self.waiting_bytes + message.payload.len() <= self.limits.router_bytes;
            let stream = self.stream_to(message.entity);
            let line = self.streams.get_mut(&stream).expect("the stream was opened just now");
            let bytes = message.payload.len();
            let taken = room
                && !refused.contains(&message.entity)
                && line.stream.push(sender, message.payload, &self.limits).is_ok();
            if taken {
                line.tickets.push_back(message.ticket);
                self.waiting += 1;
                self.waiting_bytes += bytes;
                // One that is named again further on is looked at again, and found to have nothing more to send.
                if touched.last().is_none_or(|(last, _)| *last != stream) {
                    touched.push((stream, message.entity));
                }
                out.push(Output::Accepted(message.ticket));
            } else {
                refused.insert(message.entity);
                out.push(Output::Busy(message.ticket));
            }
        }
        for (stream, entity) in touched {
            self.with_line(stream, entity, now, out, |_, _| {});
        }
    }

    fn stream_to(&mut self, entity: OnlineId) -> StreamId {
        if let Some(&stream) = self.tools.get(&entity) {
            return stream;
        }
        self.opened += 1;
        let id = StreamId { opened_at: self.me, generation: self.opened };
        self.tools.insert(entity, id);
        self.insert(SendStream::open(id, entity));
        id
    }

    fn insert(&mut self, stream: SendStream) {
        self.by_entity.or_insert_with(stream.entity(), BTreeSet::new).insert(stream.id());
        self.streams.insert(stream.id(), Line { stream, tickets: VecDeque::new() });
    }

    fn adopt(&mut self, mut stream: SendStream, now: Now, out: &mut Vec<Output>) {
        if stream.waiting() == 0 {
            return;
        }
        let (id, entity) = (stream.id(), stream.entity());
        stream.resume();
        self.waiting += stream.waiting();
        self.waiting_bytes += stream.waiting_bytes();
        self.insert(stream);
        self.with_line(id, entity, now, out, |_, _| {});
    }

    /// Changes a line, then sends what it now may, keeps the sums and sets its alarm.
    fn with_line(
        &mut self,
        stream: StreamId,
        entity: OnlineId,
        now: Now,
        out: &mut Vec<Output>,
        change: impl FnOnce(&mut Line, &mut Vec<Output>),
    ) {
        let Some(line) = self.streams.get_mut(&stream).filter(|line| line.stream.entity() == entity) else { return };
        let before = (line.stream.waiting(), line.stream.waiting_bytes(), line.stream.due());
        change(line, out);
        let mut sends = Vec::new();
        line.stream.transmit(self.me, now, &self.limits, &mut sends);
        self.keep(stream, before, sends, out);
    }

    fn keep(
        &mut self,
        id: StreamId,
        before: (usize, usize, Option<Now>),
        sends: Vec<StreamOutput>,
        out: &mut Vec<Output>,
    ) {
        let line = self.streams.get(&id).expect("the caller holds the line");
        let (entity, due) = (line.stream.entity(), line.stream.due());
        // The messages of `send` are counted when they are pushed, before the line is looked at here.
        self.waiting = self.waiting + line.stream.waiting() - before.0;
        self.waiting_bytes = self.waiting_bytes + line.stream.waiting_bytes() - before.1;
        if due != before.2 {
            if let Some(old) = before.2 {
                self.due.remove(&(old, id));
            }
            if let Some(due) = due {
                self.due.insert((due, id));
            }
        }
        for output in sends {
            match output {
                StreamOutput::Data { to, data } => out.push(Output::Data { to, data }),
                StreamOutput::AskHome => self.ask(entity, out),
            }
        }
        self.forget_if_done(id);
    }

    /// An adopted stream has no sender left: once it is answered nothing refers to it.
    fn forget_if_done(&mut self, id: StreamId) {
        let line = self.streams.get(&id).expect("the caller holds the line");
        let entity = line.stream.entity();
        if line.stream.waiting() > 0 || self.tools.get(&entity) == Some(&id) {
            return;
        }
        self.streams.remove(&id);
        if let Some(streams) = self.by_entity.get_mut(&entity) {
            streams.remove(&id);
            if streams.is_empty() {
                self.by_entity.remove(&entity);
            }
        }
    }

    fn ask(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        self.asked += 1;
        out.push(Output::AskHome { entity, nonce: Nonce(self.asked) });
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        while let Some(&(due, id)) = self.due.first() {
            if due > now {
                return;
            }
            let line = self.streams.get_mut(&id).expect("an alarm belongs to a stream");
            let before = (line.stream.waiting(), line.stream.waiting_bytes(), line.stream.due());
            let mut sends = Vec::new();
            line.stream.tick(self.me, now, &self.limits, &mut sends);
            self.keep(id, before, sends, out);
        }
    }
}

#[cfg(test)]
mod tests;
