//! What really happened, in one place.
//!
//! An entity is *touched* by the end of a life if it lived there, had a copy there, was on its way there or was
//! sent there later, or came from there with its copy waiting elsewhere. Only a touched one may be lost, or have its
//! streams reset.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::message::{Data, Sender};
use slipgate_cluster::moves::{MoveId, Outcome};
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Own, Session, router};
use slipgate_entity::{OnlineId, RangeId};

use crate::invariants::ids_never_reissued::Issued;
use crate::invariants::{Verdict, acknowledged_is_kept, no_duplicate, streams_in_order};
use crate::tally::Tally;

/// Everything one sender said to one receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Numbers of the accepted messages, in order; they rise.
    pub(crate) accepted: Vec<u64>,
    /// Those that any copy of the receiver has applied.
    pub(crate) applied: BTreeSet<u64>,
    /// Those of which the sender has heard that they are applied.
    pub(crate) acknowledged: BTreeSet<u64>,
    /// Those of which the sender has heard that the receiver was dead.
    pub(crate) dead: BTreeSet<u64>,
    /// Those of which the sender has heard that nobody knows.
    pub(crate) unknown: BTreeSet<u64>,
    /// Those of which the sender has heard that the receiver was lost before they left.
    pub(crate) lost: BTreeSet<u64>,
}

/// One attempt to move.
#[derive(Clone, Debug)]
pub(crate) struct MoveStory {
    pub(crate) entity: OnlineId,
    pub(crate) source: Own,
    pub(crate) began: u32,
    pub(crate) ended: Vec<Outcome>,
    /// How often the target has told of it.
    pub(crate) arrived: u32,
    pub(crate) decided: u32,
}

/// One stream, as it was seen on the way.
#[derive(Debug)]
struct Meaning {
    sender: Sender,
    receiver: OnlineId,
    numbers: BTreeMap<u64, u64>,
    /// How many of them, from 1 on, are known to be applied: what is applied once stays so.
    applied: Cell<u64>,
}

/// The reference.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entities: Vec<OnlineId>,
    pub(crate) issued: Issued,
    pub(crate) touched: BTreeSet<OnlineId>,
    /// Whose streams began anew.
    pub(crate) reset: BTreeSet<OnlineId>,
    /// Those that were despawned: where everybody dies who knew of it, a home may take them for lost.
    pub(crate) despawned: BTreeSet<OnlineId>,
    /// Those that a home has called lost.
    pub(crate) named: BTreeSet<OnlineId>,
    /// Those that ended with their homes, and the living who had been told of them.
    pub(crate) witnessed: BTreeMap<OnlineId, BTreeSet<Session>>,
    /// Ranges of which a page came to their next home that was not the last, and in which term.
    pub(crate) begun: BTreeSet<(RangeId, u32)>,
    pub(crate) lines: BTreeMap<(Sender, OnlineId), Line>,
    pub(crate) moves: BTreeMap<MoveId, MoveStory>,
    /// Who was asked, and how often it answered.
    pub(crate) answers: BTreeMap<Ticket, (Own, u32)>,
    /// Where each entity last arrived from.
    pub(crate) came_from: BTreeMap<OnlineId, Own>,
    pub(crate) tally: Tally,
    /// Each stream, and what its numbers mean.
    streams: BTreeMap<StreamId, Meaning>,
    /// The stream in which each message was seen last.
    seen_in: BTreeMap<u64, StreamId>,
    said: BTreeMap<u64, OnlineId>,
    numbers: u64,
}

impl History {
    /// Whether an entity may be called lost.
    pub(crate) fn may_be_lost(&self, entity: OnlineId) -> bool {
        self.touched.contains(&entity) || self.despawned.contains(&entity)
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        self.tally.count(what);
    }

    /// A number never used before.
    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn line(&mut self, sender: Sender, receiver: OnlineId) -> &mut Line {
        self.lines.entry((sender, receiver)).or_default()
    }

    /// A fresh ticket for a question to `own`.
    pub(crate) fn ask(&mut self, own: Own) -> Ticket {
        let ticket = Ticket(self.number());
        self.answers.insert(ticket, (own, 0));
        ticket
    }

    pub(crate) fn answered(&mut self, ticket: Ticket) -> Verdict {
        let (_, count) = self.answers.get_mut(&ticket).expect("an answer belongs to a request");
        *count += 1;
        if *count == 1 { Ok(()) } else { Err(format!("{ticket:?} is answered twice")) }
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

    /// Whom a message of a tool is for.
    pub(crate) fn receiver_of(&self, number: u64) -> OnlineId {
        self.said[&number]
    }

    /// What a router says of a message of a tool.
    pub(crate) fn told(&mut self, session: Session, output: &router::Output) -> Verdict {
        use router::Output as Told;
        let (Told::Accepted(ticket)
        | Told::Busy(router::ToSend { ticket, .. })
        | Told::Applied(ticket)
        | Told::Dead(ticket)
        | Told::Unknown(ticket)
        | Told::Lost(ticket)
        | Told::Failed(ticket)
        | Told::Parked(ticket)) = output
        else {
            return Ok(());
        };
        let (number, receiver) = (ticket.0, self.said[&ticket.0]);
        let line = self.lines.entry((Sender::Tool(session), receiver)).or_default();
        let is_fresh = match output {
            Told::Accepted(_) => {
                line.accepted.push(number);
                true
            }
            Told::Applied(_) => {
                acknowledged_is_kept::check(line, number)?;
                line.acknowledged.insert(number)
            }
            Told::Dead(_) => {
                self.tally.count("dead answers");
                line.dead.insert(number)
            }
            Told::Unknown(_) => {
                self.tally.count("unknown");
                line.unknown.insert(number)
            }
            Told::Lost(_) => {
                self.tally.count("told lost");
                no_duplicate::check_lost(line, number)?;
                line.lost.insert(number)
            }
            Told::Busy(_) => {
                self.tally.count("busy");
                true
            }
            Told::Failed(_) | Told::Parked(_) => return Err(format!("no handler panics here, and {output:?} is told")),
            Told::Data { .. } | Told::Close { .. } | Told::AskHome { .. } => true,
        };
        if is_fresh { Ok(()) } else { Err(format!("{output:?} is told twice")) }
    }

    /// A message is on its way: a number in a stream always means the same one, from the same one to the same one.
    pub(crate) fn sent(&mut self, data: &Data, number: u64) -> Verdict {
        let Data { stream, seq, sender, entity: receiver, .. } = *data;
        let meaning = || Meaning { sender, receiver, numbers: BTreeMap::new(), applied: Cell::new(0) };
        let meaning = self.streams.entry(stream).or_insert_with(meaning);
        let known = *meaning.numbers.entry(seq).or_insert(number);
        let ends = (meaning.sender, meaning.receiver);
        let verdict = streams_in_order::check_numbering((number, sender, receiver), (known, ends.0, ends.1));
        verdict.map_err(|what| format!("{seq} of {stream:?}: {what}"))?;
        if self.seen_in.insert(number, stream).is_some_and(|before| before != stream) {
            self.tally.count("messages renumbered");
        }
        Ok(())
    }

    /// What is acknowledged of a stream is applied, from its first number on.
    pub(crate) fn acknowledges(&self, stream: StreamId, upto: u64) -> Verdict {
        acknowledged_is_kept::check_upto(upto, self.applied_of(stream)).map_err(|what| format!("{stream:?}: {what}"))
    }

    /// How many messages of a stream were applied, from the first one on.
    pub(crate) fn applied_of(&self, stream: StreamId) -> u64 {
        let Some(Meaning { sender, receiver, numbers, applied }) = self.streams.get(&stream) else { return 0 };
        let Some(line) = self.lines.get(&(*sender, *receiver)) else { return 0 };
        while numbers.get(&(applied.get() + 1)).is_some_and(|number| line.applied.contains(number)) {
            applied.set(applied.get() + 1);
        }
        applied.get()
    }

    /// A body has applied a message, and now has applied `list` of this sender.
    pub(crate) fn apply(&mut self, sender: Sender, receiver: OnlineId, list: &[u64]) -> Verdict {
        self.tally.count("applied");
        let sender_is_reset = matches!(sender, Sender::Entity(sender) if self.reset.contains(&sender));
        let may_skip = sender_is_reset || self.reset.contains(&receiver);
        let line = self.lines.entry((sender, receiver)).or_default();
        no_duplicate::check(line, list, sender_is_reset)?;
        streams_in_order::check(line, list, may_skip)?;
        line.applied.extend(list.last());
        Ok(())
    }
}
