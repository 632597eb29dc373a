//! What a router is told and asked, and what it wants done.

use std::sync::Arc;

use slipgate_entity::OnlineId;

use crate::message::{Control, Data, Nonce, Payload, Sender};
use crate::scene::Orphan;
use crate::stream::StreamId;
use crate::{Own, Place, View};

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
    Heard {
        /// From where.
        from: Place,
        /// What.
        control: Control,
    },
    /// Streams that their senders leave behind: what is unacknowledged passes to this router, and so does closing
    /// them.
    Adopt(Vec<Orphan>),
    /// The cluster has changed.
    View(Arc<View>),
    /// So much may wait here: what the node allows of its budget, until it says otherwise.
    Allow(usize),
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
    /// Tell an owner that a stream is done with.
    Close {
        /// The owner.
        to: Own,
        /// The entity.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Whose it was.
        sender: Sender,
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
    /// A bound is reached, or an earlier message of the batch to the same receiver met one: the message comes back.
    Busy(ToSend),
    /// The accepted message is applied.
    Applied(Ticket),
    /// The accepted message can never be applied: the receiver is dead.
    Dead(Ticket),
    /// The receiver was lost with its node, or goes on as a copy that may have missed something: the accepted
    /// message was applied before that, or never will be. One that had not left yet goes to such a copy.
    Unknown(Ticket),
    /// The receiver was lost with its node before the accepted message had left: it was not applied, and never will be.
    Lost(Ticket),
    /// The receiver's handler panicked at the accepted message.
    Failed(Ticket),
    /// The receiver is parked, and the accepted message is never applied.
    Parked(Ticket),
}
