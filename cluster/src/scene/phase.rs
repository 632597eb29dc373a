//! Where an entity of the scene stands between active and gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::direct::Spoken;
use super::party::Asker;
use super::port::Ticket;
use crate::budget::Load;
use crate::message::{Data, Held, Identity, Nonce, Parked, Prepare, Sender};
use crate::moves::{MoveId, Outcome};
use crate::schema::Parts;
use crate::stream::{Inbox, SendStream, Speaker, StreamId};
use crate::time::Wait;
use crate::{Epoch, Limits, Now, Own, Place, Rules};

/// An entity whose record names this scene, as far as the scene knows.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) identity: Identity,
    pub(super) epoch: Epoch,
    pub(super) data: Epoch,
    /// Epoch of the last reset of its streams.
    pub(super) base: Epoch,
    pub(super) inbox: Inbox,
    /// Streams to others, by receiver.
    pub(super) outbox: BTreeMap<OnlineId, SendStream>,
    /// What it has said to others of the scene and they have not applied yet.
    pub(super) spoken: Spoken,
    /// Senders of whose streams it has some, and whose homes are asked whether they are gone.
    pub(super) missing: BTreeSet<OnlineId>,
    /// Version of the view since whose verdicts its table was looked through here.
    pub(super) looked_through: u64,
    /// The move that brought it here.
    pub(super) arrival: Option<MoveId>,
    /// Why it takes no messages, if so.
    pub(super) parked: Option<Parked>,
    pub(super) phase: Phase,
}

impl Live {
    pub(super) fn spawned(identity: Identity, rules: Rules) -> Self {
        Self {
            identity,
            epoch: Epoch::FIRST,
            data: Epoch::FIRST,
            base: Epoch::ZERO,
            inbox: Inbox::default().under(rules),
            outbox: BTreeMap::new(),
            spoken: Spoken::default(),
            missing: BTreeSet::new(),
            looked_through: 0,
            arrival: None,
            parked: None,
            phase: Phase::Active,
        }
    }

    /// The entity, as its streams name it.
    pub(super) fn speaker(&self, entity: OnlineId, reply_to: Place) -> Speaker {
        Speaker { sender: Sender::Entity(entity), epoch: self.epoch, reply_to }
    }

    /// Whether its copy of the streams counts and may change. One that is parked takes no messages, but answers them.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Active | Phase::Reserving(_))
    }

    /// Whether what it says goes with it: it takes turns, or is being encoded.
    pub(super) fn may_speak(&self) -> bool {
        self.is_active() || matches!(self.phase, Phase::Frozen(Frozen { prepare: None, .. }))
    }

    /// How it stands, for people.
    pub(super) fn word(&self) -> &'static str {
        match self.phase {
            Phase::Active | Phase::Reserving(_) if self.parked.is_some() => "parked",
            Phase::Active | Phase::Reserving(_) => "active",
            Phase::Frozen(_) => "frozen",
            Phase::Deciding(_) => "deciding",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Phase {
    Active,
    Reserving(Reserving),
    Frozen(Frozen),
    Deciding(Deciding),
}

impl Phase {
    /// Notes when the target reported that it is active. Returns whether that concerns this phase.
    pub(super) fn note_arrival(&mut self, id: MoveId, now: Now) -> bool {
        let arrived = match self {
            Self::Frozen(frozen) if frozen.leaving.id == id => &mut frozen.arrived,
            Self::Deciding(Deciding { why: Why::GiveUp(give_up), .. }) if give_up.leaving.id == id => {
                &mut give_up.arrived
            }
            Self::Active | Self::Reserving(_) | Self::Frozen(_) | Self::Deciding(_) => return false,
        };
        arrived.get_or_insert(now);
        true
    }

    /// When it wants to be looked at again.
    pub(super) fn due(&self) -> Option<Now> {
        match self {
            Self::Active => None,
            Self::Reserving(Reserving { repeat, deadline, .. }) | Self::Frozen(Frozen { repeat, deadline, .. }) => {
                Some(repeat.due.min(*deadline))
            }
            Self::Deciding(Deciding { why, deadline, repeat, .. }) => {
                let is_reported = match why {
                    Why::GiveUp(give_up) => give_up.leaving.reported,
                    Why::Despawn(ticket) => ticket.is_none(),
                };
                Some(if is_reported { repeat.due } else { repeat.due.min(*deadline) })
            }
        }
    }
}

/// An attempt to leave.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    pub(super) id: MoveId,
    pub(super) asker: Asker,
    pub(super) to: Own,
    pub(super) label: Epoch,
    pub(super) began: Now,
    pub(super) bytes: u64,
    /// Whether the attempt has had its answer already, undecided as it was.
    pub(super) reported: bool,
}

/// Asking the target for room, while the entity runs on.
#[derive(Clone, Debug)]
pub(super) struct Reserving {
    pub(super) leaving: Leaving,
    pub(super) parts: Parts,
    pub(super) deadline: Now,
    pub(super) repeat: Repeat,
}

/// No turns; the copy is on its way.
#[derive(Clone, Debug)]
pub(super) struct Frozen {
    pub(super) leaving: Leaving,
    pub(super) at: Now,
    /// None only until the shell has encoded the body.
    pub(super) prepare: Option<Arc<Prepare>>,
    /// When the target reported that it is active; the record has the last word all the same.
    pub(super) arrived: Option<Now>,
    pub(super) held: HeldMessages,
    pub(super) deadline: Now,
    pub(super) repeat: Repeat,
}

/// A compare-and-set of our own is on its way; only the record leads out.
#[derive(Clone, Debug)]
pub(super) struct Deciding {
    pub(super) why: Why,
    pub(super) nonce: Nonce,
    pub(super) held: HeldMessages,
    pub(super) deadline: Now,
    pub(super) repeat: Repeat,
}

#[derive(Clone, Debug)]
pub(super) enum Why {
    GiveUp(GiveUp),
    /// None if nobody waits for the answer, or the requester has heard that it is undecided.
    Despawn(Option<Ticket>),
}

#[derive(Clone, Debug)]
pub(super) struct GiveUp {
    pub(super) leaving: Leaving,
    pub(super) frozen: Now,
    pub(super) arrived: Option<Now>,
    /// How the attempt ends if the source gets the entity back.
    pub(super) outcome: Outcome,
}

/// When something unanswered is repeated; the waits double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) due: Now,
    wait: Wait,
}

impl Repeat {
    pub(super) fn first(now: Now, limits: &Limits) -> Self {
        let mut repeat = Self { due: now, wait: Wait::default() };
        repeat.again(now, limits);
        repeat
    }

    pub(super) fn again(&mut self, now: Now, limits: &Limits) {
        self.due = now + self.wait.next(limits.resend_first, limits.resend_max);
    }
}

/// Messages for an entity that takes no turns, within bounds; those without room are sent again later.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldMessages {
    messages: Vec<Data>,
    bytes: usize,
}

impl HeldMessages {
    /// Whether there is room for a message.
    pub(super) fn has_room(&self, data: &Data, limits: &Limits) -> bool {
        self.messages.len() < limits.held_messages && self.bytes + data.payload.len() <= limits.held_bytes
    }

    /// Holds a message for which there is room.
    pub(super) fn hold(&mut self, data: Data) {
        self.bytes += data.payload.len();
        self.messages.push(data);
    }

    /// What is held.
    pub(super) fn load(&self) -> Load {
        Load { messages: self.messages.len(), bytes: self.bytes }
    }

    pub(super) fn take(&mut self) -> Vec<Data> {
        self.bytes = 0;
        std::mem::take(&mut self.messages)
    }

    /// Per stream the highest number and how many different ones.
    pub(super) fn summary(messages: &[Data]) -> Vec<Held> {
        let mut numbers: BTreeMap<(StreamId, Sender), BTreeSet<u64>> = BTreeMap::new();
        for data in messages {
            numbers.entry((data.stream, data.sender)).or_default().insert(data.seq);
        }
        let held = numbers.into_iter().filter_map(|((stream, sender), numbers)| {
            let upto = *numbers.last()?;
            Some(Held { stream, sender, upto, count: numbers.len() as u64 })
        });
        held.collect()
    }
}
