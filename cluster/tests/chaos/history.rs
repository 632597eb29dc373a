//! What really happened, in one place and without any nodes: the cluster must agree with it.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::message::{Data, Sender};
use slipgate_cluster::moves::{MoveId, Outcome};
use slipgate_cluster::router;
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Own, Session};
use slipgate_entity::OnlineId;

/// Everything one sender said to one receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Numbers of the accepted messages, in order.
    pub(crate) accepted: Vec<u64>,
    /// How many of them were applied.
    pub(crate) applied: usize,
    /// Those answered `Dead`.
    pub(crate) dead: BTreeSet<u64>,
}

/// One stream, as it was seen on the way.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    sender: Sender,
    receiver: OnlineId,
    numbers: BTreeMap<u64, u64>,
}

/// One attempt to move.
#[derive(Clone, Debug)]
pub(crate) struct MoveStory {
    pub(crate) entity: OnlineId,
    pub(crate) source: Own,
    pub(crate) began: u32,
    pub(crate) ended: Vec<Outcome>,
    pub(crate) arrived: u32,
    pub(crate) decided: u32,
}

/// The reference world.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entities: Vec<OnlineId>,
    pub(crate) lines: BTreeMap<(Sender, OnlineId), Line>,
    /// Each stream, and which message has which number in it.
    pub(crate) streams: BTreeMap<StreamId, Stream>,
    pub(crate) moves: BTreeMap<MoveId, MoveStory>,
    /// Where each entity last arrived from.
    pub(crate) came_from: BTreeMap<OnlineId, Own>,
    /// How often each request was answered.
    pub(crate) answers: BTreeMap<Ticket, u32>,
    /// Messages of tools by their ticket, which is their number: whom they are for.
    said: BTreeMap<u64, OnlineId>,
    /// The stream in which each message was seen last.
    seen_in: BTreeMap<u64, StreamId>,
    numbers: u64,
}

impl History {
    /// A number never used before.
    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn line(&mut self, sender: Sender, receiver: OnlineId) -> &mut Line {
        self.lines.entry((sender, receiver)).or_default()
    }

    /// A fresh ticket that wants exactly one answer.
    pub(crate) fn ask(&mut self) -> Ticket {
        let ticket = Ticket(self.number());
        self.answers.insert(ticket, 0);
        ticket
    }

    pub(crate) fn answered(&mut self, ticket: Ticket) {
        *self.answers.get_mut(&ticket).expect("an answer belongs to a request") += 1;
    }

    pub(crate) fn story(&mut self, id: MoveId) -> &mut MoveStory {
        self.moves.get_mut(&id).expect("the move has begun")
    }

    /// A tool is about to say something.
    pub(crate) fn says(&mut self, receiver: OnlineId) -> u64 {
        let number = self.number();
        self.said.insert(number, receiver);
        number
    }

    pub(crate) fn accepted(&mut self, session: Session, ticket: router::Ticket) {
        let receiver = self.said[&ticket.0];
        self.line(Sender::Tool(session), receiver).accepted.push(ticket.0);
    }

    pub(crate) fn refused(&mut self, ticket: router::Ticket) {
        self.said.remove(&ticket.0);
    }

    /// A tool hears that its message is applied: its number in the line, and how many really are.
    pub(crate) fn acknowledged(&mut self, session: Session, ticket: router::Ticket) -> (u64, usize) {
        let receiver = self.said[&ticket.0];
        let line = self.line(Sender::Tool(session), receiver);
        let at = line.accepted.iter().position(|number| *number == ticket.0).expect("it was accepted");
        (at as u64 + 1, line.applied)
    }

    /// A tool hears that its message can never be applied.
    pub(crate) fn dead(&mut self, session: Session, ticket: router::Ticket) -> (u64, OnlineId) {
        let receiver = self.said[&ticket.0];
        self.line(Sender::Tool(session), receiver).dead.insert(ticket.0);
        (ticket.0, receiver)
    }

    /// A message is on its way: a number in a stream always means the same one.
    /// Returns whether it went in another stream before.
    pub(crate) fn sent(&mut self, data: &Data, number: u64) -> Result<bool, String> {
        let fresh = || Stream { sender: data.sender, receiver: data.entity, numbers: BTreeMap::new() };
        let stream = self.streams.entry(data.stream).or_insert_with(fresh);
        let known = *stream.numbers.entry(data.seq).or_insert(number);
        if known == number && (stream.sender, stream.receiver) == (data.sender, data.entity) {
            let before = self.seen_in.insert(number, data.stream);
            return Ok(before.is_some_and(|before| before != data.stream));
        }
        Err(format!("number {} of {:?} was message {known}, and is {number} in {data:?}", data.seq, data.stream))
    }

    /// How many messages of a stream were applied, from the first one on.
    pub(crate) fn applied_of(&self, stream: StreamId) -> usize {
        let Some(Stream { sender, receiver, numbers }) = self.streams.get(&stream) else { return 0 };
        let Some(line) = self.lines.get(&(*sender, *receiver)) else { return 0 };
        let applied = &line.accepted[..line.applied];
        // Messages are numbered as they are accepted, and a line is sorted.
        numbers.values().take_while(|number| applied.binary_search(number).is_ok()).count()
    }
}
