//! What the actors of a cluster say to each other.
//!
//! Every request may be repeated, lost, late or doubled: the answer is the state as it stands, and
//! the asker decides by comparing numbers, never by "my request succeeded".
//!
//! | family | from, to | lane |
//! |---|---|---|
//! | [`Control`] | scenes, directories, routers | control: no credit needed; claims, legacies and rosters in bulk |
//! | [`Data`], [`ToolMessage`] | senders to scenes; admin desks | messages: credits |
//! | [`Prepare`] | source to target | bulk: in chunks |
//! | [`ManagerMessage`] | nodes and the manager | control |

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, TypeName};

use crate::claim::Claim;
use crate::globals::Global;
use crate::legacy::Legacy;
use crate::manager::{ManagerReply, ManagerRequest};
use crate::moves::{MoveId, Refusal};
use crate::record::{Epoch, Own, Record};
use crate::roster::{Bereft, RosterNews};
use crate::schema::Parts;
use crate::stream::{Received, SendStream, StreamId};
use crate::{Place, Session};

/// Anything one actor says to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Small, and never waits behind messages or state.
    Control(Control),
    /// A message to an entity.
    Data(Data),
    /// The state of an entity that is to move.
    Prepare(Arc<Prepare>),
    /// To and from the manager.
    Manager(ManagerMessage),
    /// A tool's question to another node, or the answer.
    Tool(ToolMessage),
}

/// Matches an answer to the question it answers; fresh per question, unique in the asking actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonce(pub u64);

/// Control messages: the directory's, acknowledgements, and the steps of a hand-off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// Asks the home to replace the record, if it still is `(owner, epoch)`.
    Cas {
        /// The entity.
        entity: OnlineId,
        /// The owner expected.
        owner: Own,
        /// The epoch expected.
        epoch: Epoch,
        /// The record wanted.
        new: Record,
        /// Comes back with the answer.
        nonce: Nonce,
    },
    /// Asks the home for the record.
    Query {
        /// The entity.
        entity: OnlineId,
        /// Comes back with the answer.
        nonce: Nonce,
    },
    /// Asks the home to name the sender as the owner: same node, an earlier life of it in the record.
    Reclaim {
        /// The entity.
        entity: OnlineId,
        /// The scene that asks.
        me: Own,
        /// Comes back with the answer.
        nonce: Nonce,
    },
    /// The home's only answer: the record as it now stands.
    RecordIs {
        /// The entity.
        entity: OnlineId,
        /// Its record.
        record: Record,
        /// Of the question; none when an old owner is told of a change that it did not ask for.
        nonce: Option<Nonce>,
    },
    /// The node that was asked is not the home of the id's range, or not any more.
    NotHome {
        /// The entity.
        entity: OnlineId,
        /// Of the question.
        nonce: Nonce,
    },
    /// Everything of the stream up to `upto` is applied; says who owns the entity, too.
    Ack {
        /// The entity.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Highest number applied without a gap.
        upto: u64,
        /// The owner that speaks.
        owner: Own,
        /// Its epoch.
        epoch: Epoch,
        /// Epoch of the entity's last reset: the number counts from there.
        base: Epoch,
    },
    /// The entity went to `owner` at `epoch`.
    Redirect {
        /// The entity.
        entity: OnlineId,
        /// The stream that asked.
        stream: StreamId,
        /// Where it went.
        owner: Own,
        /// At which epoch.
        epoch: Epoch,
    },
    /// The scene does not have the entity and does not know where it went.
    NotOwner {
        /// The entity.
        entity: OnlineId,
        /// The stream that asked.
        stream: StreamId,
    },
    /// Asks the target for room.
    Reserve(Reserve),
    /// There is room, for a while.
    Reserved {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
        /// Label of the copy that may come.
        label: Epoch,
    },
    /// The target will not, or cannot, take the copy `label`.
    Refused {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
        /// Label of the copy meant.
        label: Epoch,
        /// Why.
        reason: Refusal,
    },
    /// Asks the target whether the copy `label` is active: the record already names it.
    IsActive {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
    },
    /// The target's report: it is active.
    Arrived {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
        /// Epoch under which it took over.
        epoch: Epoch,
    },
    /// What the source held and has handed on: per stream the highest number and how many.
    HandedOn {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
        /// Per stream: highest number, how many.
        held: Vec<Held>,
        /// The source, which gets the answer; a target that handed the entity on passes this on, too.
        source: Own,
    },
    /// The target's answer: how many of those are applied.
    Settled {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
        /// How many of the held ones are applied.
        delivered: u64,
    },
    /// The new home of a range asks a scene what it knows of its entities, page by page.
    AskClaims {
        /// The range.
        range: RangeId,
        /// The home's term.
        term: u32,
        /// The last entity of the page before; none for the first page.
        after: Option<OnlineId>,
    },
    /// A scene's answer; it has taken up the term.
    Claims {
        /// As asked.
        range: RangeId,
        /// As asked.
        term: u32,
        /// As asked.
        after: Option<OnlineId>,
        /// All that it knows of some entities, by id.
        claims: Vec<Claim>,
        /// Whether it knows of further entities.
        more: bool,
    },
    /// The former home of a range hands its records over to the next one, page by page.
    Bequest {
        /// The range.
        range: RangeId,
        /// The next home's term.
        term: u32,
        /// The last entity of the page before; none for the first page.
        after: Option<OnlineId>,
        /// The page.
        legacy: Legacy,
    },
    /// The next home has taken a page over.
    Inherited {
        /// The range.
        range: RangeId,
        /// Its term.
        term: u32,
        /// Of the page.
        after: Option<OnlineId>,
    },
    /// The sender's side is done with the stream: everything in it is acknowledged, or answered for good.
    Close {
        /// The entity.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Whose it was.
        sender: Sender,
    },
    /// Nothing of the stream is applied any more: it is over, or was never begun and cannot begin any more.
    Closed {
        /// The entity.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Streams opened in the same session up to this generation are closed, too, or may as well be; for a sender
        /// that opens another one there.
        floor: u64,
        /// Whether something of it may have been applied without its sender having heard so: it was taken for
        /// gone.
        doubt: bool,
    },
    /// The stream has stopped: the entity was parked. Nothing of it beyond `upto` is ever applied.
    Stopped {
        /// The entity.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Highest number applied without a gap.
        upto: u64,
        /// Whether the handler of that very message panicked.
        failed: bool,
        /// The owner that speaks.
        owner: Own,
        /// Its epoch.
        epoch: Epoch,
        /// Epoch of the entity's last reset: the number counts from there.
        base: Epoch,
    },
    /// The source does not need the room that was kept for this move.
    Release {
        /// The entity.
        entity: OnlineId,
        /// The move.
        id: MoveId,
    },
    /// A home tells its witness who was born and who has died.
    Roster {
        /// Rises with every batch of the session, whoever it is for.
        number: u64,
        /// Whether nothing counts that the home has told before.
        anew: bool,
        /// What is new, by range.
        news: Vec<RosterNews>,
    },
    /// The witness has noted a batch.
    RosterNoted {
        /// Of the batch.
        number: u64,
    },
    /// The home of a range asks a member what earlier homes of it have told, page by page.
    AskRoster {
        /// The range.
        range: RangeId,
        /// The home's term.
        term: u32,
        /// The last entity of the page before; none for the first page. Those up to it may be forgotten.
        after: Option<OnlineId>,
    },
    /// The answer.
    RosterIs {
        /// As asked.
        range: RangeId,
        /// As asked.
        term: u32,
        /// As asked.
        after: Option<OnlineId>,
        /// Those that lived, by id; nobody if there are none further.
        rows: Vec<Bereft>,
    },
    /// What an entity says to a tool that asked: said once, and lost with the link that it is on.
    Reply {
        /// The entity.
        entity: OnlineId,
        /// An answer, or why the message was not taken; it names the ask.
        #[serde(with = "crate::bytes")]
        payload: Payload,
    },
    /// The global entities of a node.
    Globals {
        /// Rises with each list of a session.
        number: u64,
        /// All of them, by id.
        globals: Vec<Global>,
    },
    /// Such a list is noted.
    GlobalsNoted {
        /// Its number.
        number: u64,
    },
    /// A receiver's scene asks that of the sender whether the stream is still its own. If it is not, `Close` is the answer.
    AskStream {
        /// The receiver.
        entity: OnlineId,
        /// The stream.
        stream: StreamId,
        /// Whose it was.
        sender: OnlineId,
    },
}

/// What the source held of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The stream.
    pub stream: StreamId,
    /// Whose it is.
    pub sender: Sender,
    /// Highest number held.
    pub upto: u64,
    /// How many were held.
    pub count: u64,
}

/// What the target needs to know before the freeze.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// The entity.
    pub entity: OnlineId,
    /// The move.
    pub id: MoveId,
    /// Label of the copy that would come.
    pub label: Epoch,
    /// What it consists of, in the versions of the source.
    pub parts: Parts,
    /// Encoded size now, in bytes.
    pub bytes: u64,
}

/// The state of an entity on its way, and the label under which it may be activated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepare {
    /// The entity.
    pub entity: OnlineId,
    /// The move.
    pub id: MoveId,
    /// The source: owner in the record that the target's compare-and-set expects.
    pub from: Own,
    /// Epoch at the source plus one.
    pub label: Epoch,
    /// The state.
    pub image: Image,
}

/// Everything that makes up an entity: what leaves one scene and appears in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// What the entity is, apart from its state.
    pub identity: Identity,
    /// The body's own bytes.
    #[serde(with = "crate::bytes")]
    pub body: Vec<u8>,
    /// What it has applied, per stream.
    pub received: Received,
    /// What it has sent and not yet seen acknowledged, per receiver.
    pub sending: Vec<SendStream>,
    /// Epoch of the last reset of its streams, as its source knows it.
    pub base: Epoch,
    /// Why it takes no turns until somebody unparks it, if so.
    pub parked: Option<Parked>,
}

/// Why an entity is parked, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// What its game code was at, and what the panic said; at most [`PARKED_BYTES`](crate::bounds::PARKED_BYTES).
    pub why: String,
    /// When, in milliseconds since 1970, by the clock of the node where it was.
    pub since_ms: u64,
}

/// What stays the same about an entity for its whole life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Stable name of its type.
    pub type_name: TypeName,
    /// Version of the type, as whoever hosts it writes it.
    pub type_version: u16,
    /// A name for people; at most 64 bytes.
    pub label: Option<String>,
    /// Its number over restarts.
    pub persist: PersistId,
    /// The player it belongs to.
    pub player: PlayerId,
}

/// Who speaks in a message to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sender {
    /// Another entity.
    Entity(OnlineId),
    /// A tool, through the router of this session.
    Tool(Session),
}

/// A numbered message to an entity.
///
/// | field | meaning |
/// |---|---|
/// | `entity` | the receiver |
/// | `stream`, `seq` | the sender's stream and the number in it, from 1 without gaps |
/// | `sender` | who speaks |
/// | `reply_to` | where the sender's stream lives, for acknowledgements |
/// | `hops` | how often it was handed on |
/// | `payload` | what is said, in the receiver's type's own form |
/// | `base` | epoch of the receiver's last reset, as the sender knows it: the number counts from there |
/// | `epoch` | the sender's own, if it is an entity: tells what it said earlier from what it said later |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// The receiver.
    pub entity: OnlineId,
    /// The sender's stream.
    pub stream: StreamId,
    /// Number in the stream, from 1 without gaps.
    pub seq: u64,
    /// Who speaks.
    pub sender: Sender,
    /// Where the stream lives.
    pub reply_to: Place,
    /// How often it was handed on.
    pub hops: u8,
    /// What is said.
    #[serde(with = "crate::bytes")]
    pub payload: Payload,
    /// Epoch of the receiver's last reset, as the sender knows it.
    pub base: Epoch,
    /// The sender's own epoch as it says so; zero if it is no entity.
    pub epoch: Epoch,
}

/// The bytes of a message; shared, because the sender keeps them until they are acknowledged.
pub type Payload = Arc<[u8]>;

/// To and from the manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManagerMessage {
    /// A node asks.
    Request(ManagerRequest),
    /// The manager answers, or tells.
    Reply(ManagerReply),
}

/// A tool's question to another node's admin desk, or the answer; the bytes are `slipgate_proto`'s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolMessage {
    /// A question.
    Ask {
        /// Comes back with the answer.
        nonce: Nonce,
        /// The encoded question.
        #[serde(with = "crate::bytes")]
        question: Vec<u8>,
    },
    /// Its answer.
    Answer {
        /// Of the question.
        nonce: Nonce,
        /// The encoded answer.
        #[serde(with = "crate::bytes")]
        answer: Vec<u8>,
    },
}
