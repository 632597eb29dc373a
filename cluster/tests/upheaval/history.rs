//! What really happened, in one place, and what must be true of it at every step.
//!
//! An entity is *touched* by the death of a node if it lived there, had a copy there, was on its way there or was
//! sent there later, or came from there with its copy waiting elsewhere. Only a touched one may be lost, or have its streams reset.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::message::Sender;
use slipgate_cluster::moves::{MoveId, Outcome};
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::{Own, Session, router};
use slipgate_entity::{OnlineId, RangeId};

/// Everything one sender said to one receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Numbers of the accepted messages, in order.
    pub(crate) accepted: Vec<u64>,
    /// Those that any copy of the receiver has applied.
    pub(crate) applied: BTreeSet<u64>,
    /// Those of which the sender has heard that they are applied.
    pub(crate) acknowledged: BTreeSet<u64>,
    pub(crate) dead: BTreeSet<u64>,
    pub(crate) unknown: BTreeSet<u64>,
}

/// One attempt to move.
#[derive(Clone, Debug)]
pub(crate) struct MoveStory {
    pub(crate) source: Own,
    pub(crate) began: u32,
    pub(crate) ended: Vec<Outcome>,
    pub(crate) decided: u32,
}

/// The reference world.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entities: BTreeSet<OnlineId>,
    pub(crate) touched: BTreeSet<OnlineId>,
    /// Whose streams began anew.
    pub(crate) reset: BTreeSet<OnlineId>,
    /// Those that were despawned: where everybody dies who knew of it, a home may take them for lost.
    pub(crate) despawned: BTreeSet<OnlineId>,
    /// Those that a home has called lost.
    pub(crate) named: BTreeSet<OnlineId>,
    /// Those that died with their homes, and the living who had been told of them.
    pub(crate) witnessed: BTreeMap<OnlineId, BTreeSet<Session>>,
    /// Ranges of which a page came to their next home that was not the last, and in which term.
    pub(crate) begun: BTreeSet<(RangeId, u32)>,
    pub(crate) lines: BTreeMap<(Sender, OnlineId), Line>,
    pub(crate) moves: BTreeMap<MoveId, MoveStory>,
    /// Who was asked, and how often it answered.
    pub(crate) answers: BTreeMap<Ticket, (Own, u32)>,
    pub(crate) tally: BTreeMap<&'static str, u64>,
    sent: BTreeMap<u64, OnlineId>,
    numbers: u64,
}

impl History {
    /// Whether an entity may be called lost.
    pub(crate) fn may_be_lost(&self, entity: OnlineId) -> bool {
        self.touched.contains(&entity) || self.despawned.contains(&entity)
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
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

    pub(crate) fn answered(&mut self, ticket: Ticket) {
        let (_, count) = self.answers.get_mut(&ticket).expect("an answer belongs to a request");
        *count += 1;
        assert_eq!(*count, 1, "{ticket:?} is answered twice");
    }

    /// A tool is about to say something.
    pub(crate) fn says(&mut self, receiver: OnlineId) -> u64 {
        let number = self.number();
        self.sent.insert(number, receiver);
        number
    }

    /// What a router says of a message of a tool.
    pub(crate) fn told(&mut self, session: Session, output: &router::Output) {
        let (router::Output::Accepted(ticket)
        | router::Output::Busy(router::ToSend { ticket, .. })
        | router::Output::Applied(ticket)
        | router::Output::Dead(ticket)
        | router::Output::Unknown(ticket)
        | router::Output::Lost(ticket)) = output
        else {
            return;
        };
        let (number, receiver) = (ticket.0, self.sent[&ticket.0]);
        let line = self.line(Sender::Tool(session), receiver);
        match output {
            router::Output::Accepted(_) => line.accepted.push(number),
            router::Output::Applied(_) => {
                assert!(line.applied.contains(&number), "{number} to {receiver} is acknowledged and was never applied");
                line.acknowledged.insert(number);
            }
            router::Output::Dead(_) => {
                line.dead.insert(number);
            }
            router::Output::Unknown(_) => {
                line.unknown.insert(number);
                self.count("unknown");
            }
            router::Output::Lost(_) => {
                assert!(!line.applied.contains(&number), "{number} to {receiver} is told lost, and was applied");
                line.unknown.insert(number);
                self.count("lost");
            }
            router::Output::Failed(_)
            | router::Output::Parked(_)
            | router::Output::Busy(_)
            | router::Output::Data { .. }
            | router::Output::Close { .. }
            | router::Output::AskHome { .. } => {}
        }
    }

    /// A body has applied a message, and now has applied `list` of this sender.
    ///
    /// # Panics
    ///
    /// If it is a repeat, out of order, answered already, or if something is missing before it that nobody has been
    /// told of.
    pub(crate) fn apply(&mut self, sender: Sender, receiver: OnlineId, list: &[u64]) {
        self.count("applied");
        let is_reset = self.reset.contains(&receiver);
        let sender_is_reset = matches!(sender, Sender::Entity(sender) if self.reset.contains(&sender));
        let line = self.line(sender, receiver);
        let number = *list.last().expect("something was applied");
        let place = |number: &u64| line.accepted.iter().position(|accepted| accepted == number);
        let at = place(&number).unwrap_or_else(|| panic!("{number} to {receiver} was never accepted from {sender:?}"));
        let before = list.len().checked_sub(2).and_then(|before| place(&list[before]));
        assert!(
            before.is_none_or(|before| before < at),
            "{number} to {receiver} is out of order: {list:?} of {line:?}"
        );
        // A sender that begins anew is told so of all that it had said, and some of that is on its way yet.
        let is_told = line.unknown.contains(&number) && !sender_is_reset;
        assert!(!is_told, "{number} to {receiver} is applied after it was told unknown");
        assert!(!line.dead.contains(&number), "{number} to {receiver} is applied after it was told dead");
        let skipped = &line.accepted[before.map_or(0, |before| before + 1)..at];
        let is_known = |number: &u64| line.unknown.contains(number) || line.dead.contains(number);
        let gap = skipped.iter().filter(|number| !is_known(number)).count();
        assert!(
            gap == 0 || is_reset || sender_is_reset,
            "{skipped:?} to {receiver} are skipped before {number} of {sender:?}: {line:?}"
        );
        line.applied.insert(number);
    }
}
