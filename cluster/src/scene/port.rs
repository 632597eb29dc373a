//! What a scene is told and asked, and what it wants done.

use std::sync::Arc;

use slipgate_entity::{OnlineId, Returned, SceneId};
use thiserror::Error;

use super::Amount;
use super::request::{MoveDone, MoveRequest};
use crate::message::{Identity, Message, Parked, Payload, Prepare, Sender};
use crate::moves::{MoveError, MoveId};
use crate::stream::{End, SendStream, StreamId};
use crate::{Epoch, Own, Place, Session, View};

/// Names a request for the shell that made it; comes back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a scene is told or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A new entity is wanted.
    Spawn {
        /// Names the request.
        ticket: Ticket,
        /// What it is.
        identity: Identity,
    },
    /// The directory of this node has registered a fresh id for a spawn.
    Registered {
        /// The spawn.
        ticket: Ticket,
        /// The id.
        entity: OnlineId,
    },
    /// The directory of this node has no id to give.
    NotRegistered {
        /// The spawn.
        ticket: Ticket,
    },
    /// An entity is to be removed for good.
    Despawn {
        /// Names the request, where somebody waits for its answer.
        ticket: Option<Ticket>,
        /// The entity.
        entity: OnlineId,
    },
    /// An entity is to move.
    Migrate(Box<MoveRequest>),
    /// A move is to be given up.
    Cancel {
        /// Names the request.
        ticket: Ticket,
        /// The move.
        id: MoveId,
    },
    /// The answer to [`Output::Encode`].
    Encoded {
        /// The entity.
        entity: OnlineId,
        /// Its body's bytes.
        body: Vec<u8>,
    },
    /// The answer to [`Output::Encode`], if the body could not be encoded.
    NotEncoded {
        /// The entity.
        entity: OnlineId,
        /// Why not.
        reason: String,
    },
    /// The answer to [`Output::Decode`].
    Decoded {
        /// The entity.
        entity: OnlineId,
        /// Label of the copy.
        label: Epoch,
        /// Why the bytes could not be read, if so.
        result: Result<(), String>,
    },
    /// A handler of an entity sends a message.
    Sends {
        /// The sender.
        entity: OnlineId,
        /// The receiver.
        to: OnlineId,
        /// What is said.
        payload: Payload,
    },
    /// Game code of an entity panicked over something else than a message to it.
    Panicked {
        /// The entity.
        entity: OnlineId,
        /// What is known of it.
        panic: Parked,
    },
    /// The answer to an [`Output::Apply`] that was not done, or not to its end; at once, before the next output.
    NotApplied {
        /// The entity.
        entity: OnlineId,
        /// Who spoke.
        sender: Sender,
        /// The message: its stream and its number there, or none if it came directly.
        message: Option<(StreamId, u64)>,
        /// What was said.
        payload: Payload,
        /// Why the entity is parked, if this message's handler panicked; nothing where it was not called since the
        /// entity is parked.
        panic: Option<Parked>,
    },
    /// A parked entity is to take turns again.
    Unpark {
        /// Names the request.
        ticket: Ticket,
        /// The entity.
        entity: OnlineId,
    },
    /// A message came in.
    Heard {
        /// From where.
        from: Place,
        /// What.
        message: Message,
    },
    /// The cluster as the manager now tells it. Whoever opens a scene hands in the present one first.
    View(Arc<View>),
    /// The link to a session is lost, or the session is over.
    PeerLost(Session),
    /// What the node allows of its budget, until it says otherwise.
    Allow(Amount),
    /// The turn ends: what was applied in it is acknowledged, and what entities of the scene said to each other in it
    /// is applied. That may be answered: [`Scene::has_said`](super::Scene::has_said).
    Flush,
    /// Time passes.
    Tick,
    /// No newcomers any more; who lives here may leave.
    Drain,
    /// The drain was called off: newcomers are welcome again.
    Reopen,
    /// Nobody comes and nobody leaves any more: what is under way is settled.
    Shut,
    /// The scene is being closed: nobody is taken in again, and it is over as soon as nobody is left.
    Close,
    /// The scene stops: every move under way is answered.
    Stop,
}

/// A stream that its sender leaves behind: it is gone, or has had nothing more to say for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The sender.
    pub sender: OnlineId,
    /// Its epoch.
    pub epoch: Epoch,
    /// The stream, with whatever is unacknowledged.
    pub stream: SendStream,
}

/// Where a message of a scene goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a place.
    Place(Place),
    /// To whichever place is the home of the entity; nowhere while that is not known.
    Home(OnlineId),
}

/// What a scene wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Apply a message to an entity, then hand in what its handler sends. If the entity is parked, or its handler
    /// panics, hand in [`Input::NotApplied`] instead.
    Apply {
        /// The entity.
        entity: OnlineId,
        /// Who speaks.
        sender: Sender,
        /// The message: its stream and its number there; none if a neighbour says it directly.
        message: Option<(StreamId, u64)>,
        /// What is said.
        payload: Payload,
    },
    /// The body takes no turns from here on.
    Park {
        /// The entity.
        entity: OnlineId,
    },
    /// The body takes turns again.
    Unpark {
        /// The entity.
        entity: OnlineId,
    },
    /// Ask this node's directory for a fresh id.
    Register {
        /// The spawn.
        ticket: Ticket,
        /// The entity's label.
        label: Option<String>,
    },
    /// Make the body of a new entity.
    Create {
        /// The spawn.
        ticket: Ticket,
        /// Its id.
        entity: OnlineId,
        /// What it is.
        identity: Identity,
    },
    /// Encode the body: it is frozen. Answer at once.
    ///
    /// What its game code says as it leaves is handed in before the answer, by [`Input::Sends`]: it is numbered behind
    /// all that the entity has said, is a part of the copy, and is sent from wherever the entity goes on: from the
    /// target, or from here if the move comes to nothing. What finds no room there comes back at once, before the answer
    /// too. After the answer the entity says nothing.
    Encode {
        /// The entity.
        entity: OnlineId,
    },
    /// Decode a copy and keep it aside. Answer at once.
    Decode {
        /// The entity.
        entity: OnlineId,
        /// Everything about it.
        prepare: Arc<Prepare>,
    },
    /// The copy kept aside is the entity from here on.
    Install {
        /// The entity.
        entity: OnlineId,
    },
    /// The copy kept aside is obsolete.
    DropStaged {
        /// The entity.
        entity: OnlineId,
    },
    /// The body is no longer here.
    Remove {
        /// The entity.
        entity: OnlineId,
        /// Why.
        why: Departure,
    },
    /// Streams that their senders leave behind: the router goes on with them, and closes them.
    Adopt(Vec<Orphan>),
    /// A message that an entity sent comes back to it.
    Bounced {
        /// The sender.
        entity: OnlineId,
        /// The receiver.
        to: OnlineId,
        /// What was said.
        payload: Payload,
        /// Why.
        why: Returned,
    },
    /// A message for somebody else.
    Send {
        /// Where to.
        to: Destination,
        /// What.
        message: Message,
    },
    /// The answer to a request.
    Answer {
        /// The request.
        ticket: Ticket,
        /// Its answer.
        answer: Answer,
    },
    /// Something to tell people.
    Event(Event),
}

impl From<End> for Returned {
    fn from(end: End) -> Self {
        match end {
            End::Dead => Self::Dead,
            // Game code is told no more than that the receiver was lost.
            End::Unknown | End::Lost => Self::Unknown,
        }
    }
}

/// Why a body is no longer in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It moved.
    Moved(Own),
    /// It was despawned.
    Despawned,
    /// The record names another owner, by a change that this scene had no part in.
    Superseded,
}

/// Why an entity was not spawned. Nothing was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpawnRefusal {
    /// The scene has no room.
    #[error("the scene is full ({capacity} of {capacity})")]
    Full {
        /// Entities it may hold.
        capacity: u32,
    },
    /// The scene is stopping.
    #[error("the scene is draining")]
    Draining,
    /// The scene is being closed.
    #[error("the scene is closing")]
    Closing,
    /// The node has no ids left, and the manager has not given it a new range yet.
    #[error("the node holds no range of ids yet")]
    NoRange,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It lives, under this id.
    Spawned(OnlineId),
    /// It does not.
    NotSpawned(SpawnRefusal),
    /// It is gone for good.
    Despawned,
    /// The home has not answered by the deadline: the entity takes no turns, and is gone for good once it does.
    Undecided,
    /// The attempt to move has ended, and so have those of all companions.
    Moved(Box<MoveDone>),
    /// The move is given up; its own answer follows.
    Cancelled,
    /// It takes turns again.
    Unparked,
    /// It was not parked.
    NotParked,
    /// The request was not taken up.
    Rejected(MoveError),
}

/// What becomes of an entity whose handler panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnPanic {
    /// It stays, and takes no turns until somebody unparks it.
    #[default]
    Park,
    /// It is despawned.
    Despawn,
}

/// Something to tell people: one line in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The source takes up a request to move.
    MoveBegan {
        /// The attempt.
        id: MoveId,
        /// The entity.
        entity: OnlineId,
        /// Its label.
        label: Option<String>,
        /// The target, or the number that no open scene has.
        to: Result<Own, SceneId>,
        /// The entity's epoch.
        epoch: Epoch,
    },
    /// The target has taken over.
    MoveArrived {
        /// The attempt.
        id: MoveId,
        /// The entity.
        entity: OnlineId,
        /// Its label.
        label: Option<String>,
        /// The source.
        from: Own,
        /// The entity's new epoch.
        epoch: Epoch,
        /// Encoded size of the state.
        bytes: u64,
    },
    /// The attempt has ended, as the source sees it.
    MoveEnded {
        /// Its label.
        label: Option<String>,
        /// How.
        done: Box<MoveDone>,
    },
    /// A move that was reported as undecided is decided.
    MoveDecided {
        /// The attempt.
        id: MoveId,
        /// The entity.
        entity: OnlineId,
        /// Who owns the entity.
        owner: Option<Own>,
        /// Its epoch.
        epoch: Epoch,
    },
}

/// How an entity stands in its scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// `active`, `parked`, `frozen` or `deciding`.
    pub phase: &'static str,
    /// Why it is parked, and since when, if so.
    pub parked: Option<Parked>,
    /// Its epoch.
    pub epoch: Epoch,
    /// Epoch at which the copy was made.
    pub data: Epoch,
    /// Epoch of the last reset of its streams.
    pub base: Epoch,
    /// What it is.
    pub identity: Identity,
    /// Streams that it has applied messages of.
    pub senders: u64,
    /// Messages applied.
    pub applied: u64,
    /// Messages sent and not acknowledged.
    pub unacknowledged: u64,
}
