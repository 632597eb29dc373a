//! Batches in which everything is of one kind, and mostly alike: messages, or acknowledgements.
//!
//! What goes from one node to another in one batch mostly has its ends, its sender and its opener in common, and
//! numbers that are near each other. So an item says only what is not as in the one before it:
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 2 | how many items, big-endian: 1 to [`ITEMS_MAX`] |
//! | 2 | n | the items, one behind the other |
//!
//! An item begins with a byte of marks, lowest bit first, each for a part that differs and therefore follows, in this
//! order. Before the first item every number is 0, every port `Router` 0, the sender a tool.
//!
//! | mark | of a message | of an acknowledgement |
//! |---|---|---|
//! | 1 | `from` Port, `to` Port | the same |
//! | 2 | `opened_at` Place | the same |
//! | 4 | `sender` Sender, `epoch` Epoch | `owner` Own |
//! | 8 | `reply_to` Place | `epoch` Epoch |
//! | 16 | `hops` u8, `base` Epoch | `base` Epoch |
//! | 32 | step of `entity`, of `generation`, of `seq` | |
//! | | `payload`: length, bytes | step of `entity`, of `generation`, of `upto` |
//!
//! A step is the difference to the item before, as the codec writes an `i64`, wrapping around. Without mark 32 a message
//! is the next of the same stream.
//!
//! Keeps: what is read is at most [`ITEMS_MAX`] items and their payloads, whatever the bytes claim; anything that is
//! wrong is an error that says what, and never a panic.

mod numbers;

use std::sync::Arc;

use slipgate_cluster::message::{Control, Data, Message, Sender};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Epoch, Incarnation, NodeId, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use thiserror::Error;

use self::numbers::Source;
use super::Wire;
use crate::codec::{self, DecodeError};

/// Items in one batch, at most: amortises a frame and a wake-up without delaying the first.
pub const ITEMS_MAX: usize = 512;

/// Why bytes are no packed batch.
#[derive(Debug, Error)]
pub enum PackedError {
    /// There are none, or more than a batch may have, or more than the bytes can hold.
    #[error("{count} items in {bytes} bytes are no batch")]
    Count {
        /// How many are claimed.
        count: usize,
        /// In how many bytes.
        bytes: usize,
    },
    /// An item has marks that nobody gives.
    #[error("the marks {marks:#04x} are not known")]
    Marks {
        /// The marks.
        marks: u8,
    },
    /// The bytes end within an item.
    #[error("the bytes end within an item")]
    Cut,
    /// A number is larger than its kind may be.
    #[error("{number} is too large a number")]
    Number {
        /// The number.
        number: u64,
    },
    /// A port or a sender cannot be read.
    #[error("a part of an item cannot be read")]
    Part(#[source] DecodeError),
    /// The batch ended before the bytes did.
    #[error("{trailing} bytes follow the batch")]
    Trailing {
        /// How many.
        trailing: usize,
    },
}

/// What all of a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// [`Message::Data`].
    Messages,
    /// [`Control::Ack`].
    Acknowledgements,
}

/// Whether all of a batch is of a family, and it is not more than one frame takes.
pub(super) fn is_of(family: Family, batch: &[Wire]) -> bool {
    let is_of = |wire: &Wire| match wire.message {
        Message::Data(_) => family == Family::Messages,
        Message::Control(Control::Ack { .. }) => family == Family::Acknowledgements,
        Message::Control(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => false,
    };
    (1..=ITEMS_MAX).contains(&batch.len()) && batch.iter().all(is_of)
}

/// Writes a batch that [is of](is_of) a family.
pub(super) fn append(batch: &[Wire], bytes: &mut Vec<u8>) {
    let count = u16::try_from(batch.len()).expect("a batch has at most ITEMS_MAX items");
    bytes.extend(count.to_be_bytes());
    let mut before = Item::FIRST;
    for wire in batch {
        match &wire.message {
            Message::Data(data) => append_message(wire, data, &mut before, bytes),
            Message::Control(Control::Ack { entity, stream, upto, owner, epoch, base }) => {
                let mut item = Item { owner: *owner, epoch: *epoch, base: *base, ..before };
                item.set_numbers(wire, *entity, *stream, *upto);
                append_acknowledgement(&item, &before, bytes);
                before = item;
            }
            Message::Control(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => {
                unreachable!("a batch of one family holds nothing else")
            }
        }
    }
}

/// Reads a batch of a family.
pub(super) fn decode(family: Family, bytes: &[u8]) -> Result<Vec<Wire>, PackedError> {
    let mut source = Source::new(bytes);
    let count = usize::from(u16::from_be_bytes(source.array()?));
    if count == 0 || count > ITEMS_MAX || count * ITEM_BYTES_MIN > source.left() {
        return Err(PackedError::Count { count, bytes: source.left() });
    }
    let mut batch = Vec::with_capacity(count);
    let mut item = Item::FIRST;
    for _ in 0..count {
        let message = match family {
            Family::Messages => Message::Data(item.read_message(&mut source)?),
            Family::Acknowledgements => Message::Control(item.read_acknowledgement(&mut source)?),
        };
        batch.push(Wire { from: item.from, to: item.to, message });
    }
    match source.left() {
        0 => Ok(batch),
        trailing => Err(PackedError::Trailing { trailing }),
    }
}

/// What an item may have in common with the one before it.
#[derive(Clone, Copy)]
struct Item {
    from: Port,
    to: Port,
    opened_at: Place,
    sender: Sender,
    owner: Own,
    reply_to: Place,
    hops: u8,
    epoch: Epoch,
    base: Epoch,
    entity: u64,
    generation: u64,
    /// `seq` or `upto`.
    number: u64,
}

impl Item {
    /// Before the first.
    const FIRST: Self = {
        let session = Session { node: NodeId(0), incarnation: Incarnation(0) };
        let place = Place { session, port: Port::Router(0) };
        Self {
            from: place.port,
            to: place.port,
            opened_at: place,
            sender: Sender::Tool(session),
            owner: Own { session, scene: SceneId(0) },
            reply_to: place,
            hops: 0,
            epoch: Epoch::ZERO,
            base: Epoch::ZERO,
            entity: 0,
            generation: 0,
            number: 0,
        }
    };

    fn set_numbers(&mut self, wire: &Wire, entity: OnlineId, stream: StreamId, number: u64) {
        (self.from, self.to, self.opened_at) = (wire.from, wire.to, stream.opened_at);
        (self.entity, self.generation, self.number) = (entity.as_u64(), stream.generation, number);
    }

    fn online_id(&self) -> OnlineId {
        #[expect(clippy::cast_possible_truncation, reason = "the halves of an id are wanted")]
        let (range, counter) = ((self.entity >> 32) as u32, self.entity as u32);
        OnlineId::new(RangeId(range), counter)
    }

    fn stream(&self) -> StreamId {
        StreamId { opened_at: self.opened_at, generation: self.generation }
    }

    fn read_message(&mut self, source: &mut Source<'_>) -> Result<Data, PackedError> {
        let marks = self.read_marks(MESSAGE_MARKS, source)?;
        if marks & SPEAKER != 0 {
            self.sender = source.part()?;
            self.epoch = source.epoch()?;
        }
        if marks & REPLY_TO != 0 {
            self.reply_to = source.part()?;
        }
        if marks & BASE != 0 {
            self.hops = source.byte()?;
            self.base = source.epoch()?;
        }
        if marks & STREAM != 0 {
            self.read_steps(source)?;
        } else {
            self.number = self.number.wrapping_add(1);
        }
        let Self { sender, reply_to, hops, base, epoch, number: seq, .. } = *self;
        let payload = Arc::from(source.payload()?);
        Ok(Data { entity: self.online_id(), stream: self.stream(), seq, sender, reply_to, hops, payload, base, epoch })
    }

    fn read_acknowledgement(&mut self, source: &mut Source<'_>) -> Result<Control, PackedError> {
        let marks = self.read_marks(ACKNOWLEDGEMENT_MARKS, source)?;
        if marks & OWNER != 0 {
            self.owner = source.part()?;
        }
        if marks & EPOCH != 0 {
            self.epoch = source.epoch()?;
        }
        if marks & BASE != 0 {
            self.base = source.epoch()?;
        }
        self.read_steps(source)?;
        let Self { owner, epoch, base, number: upto, .. } = *self;
        Ok(Control::Ack { entity: self.online_id(), stream: self.stream(), upto, owner, epoch, base })
    }

    /// The marks of an item, and what both families have behind them.
    fn read_marks(&mut self, known: u8, source: &mut Source<'_>) -> Result<u8, PackedError> {
        let marks = source.byte()?;
        if marks & !known != 0 {
            return Err(PackedError::Marks { marks });
        }
        if marks & PORTS != 0 {
            self.from = source.part()?;
            self.to = source.part()?;
        }
        if marks & OPENER != 0 {
            self.opened_at = source.part()?;
        }
        Ok(marks)
    }

    fn read_steps(&mut self, source: &mut Source<'_>) -> Result<(), PackedError> {
        for number in [&mut self.entity, &mut self.generation, &mut self.number] {
            *number = number.wrapping_add_signed(source.step()?);
        }
        Ok(())
    }

    /// Writes the marks, of which the caller knows `more`, and what both families have behind them.
    fn append_marks(&self, before: &Self, more: u8, bytes: &mut Vec<u8>) -> u8 {
        let ports = (self.from, self.to) != (before.from, before.to);
        let opener = self.opened_at != before.opened_at;
        let marks = more | mark(ports, PORTS) | mark(opener, OPENER) | mark(self.base != before.base, BASE);
        bytes.push(marks);
        if ports {
            append_part(&(self.from, self.to), bytes);
        }
        if opener {
            append_part(&self.opened_at, bytes);
        }
        marks
    }

    fn append_steps(&self, before: &Self, bytes: &mut Vec<u8>) {
        numbers::append_step(self.entity, before.entity, bytes);
        numbers::append_step(self.generation, before.generation, bytes);
        numbers::append_step(self.number, before.number, bytes);
    }
}

fn append_message(wire: &Wire, data: &Data, before: &mut Item, bytes: &mut Vec<u8>) {
    let &Data { entity, stream, seq, sender, reply_to, hops, base, epoch, .. } = data;
    let mut item = Item { sender, reply_to, hops, base, epoch, ..*before };
    item.set_numbers(wire, entity, stream, seq);
    let is_next = item.entity == before.entity
        && item.generation == before.generation
        && item.number == before.number.wrapping_add(1);
    let more = mark((sender, epoch) != (before.sender, before.epoch), SPEAKER)
        | mark(reply_to != before.reply_to, REPLY_TO)
        | mark(hops != before.hops, BASE)
        | mark(!is_next, STREAM);
    let marks = item.append_marks(before, more, bytes);
    if marks & SPEAKER != 0 {
        append_part(&(sender, epoch), bytes);
    }
    if marks & REPLY_TO != 0 {
        append_part(&reply_to, bytes);
    }
    if marks & BASE != 0 {
        append_part(&(hops, base), bytes);
    }
    if marks & STREAM != 0 {
        item.append_steps(before, bytes);
    }
    numbers::append(data.payload.len() as u64, bytes);
    bytes.extend_from_slice(&data.payload);
    *before = item;
}

fn append_acknowledgement(item: &Item, before: &Item, bytes: &mut Vec<u8>) {
    let more = mark(item.owner != before.owner, OWNER) | mark(item.epoch != before.epoch, EPOCH);
    let marks = item.append_marks(before, more, bytes);
    if marks & OWNER != 0 {
        append_part(&item.owner, bytes);
    }
    if marks & EPOCH != 0 {
        append_part(&item.epoch, bytes);
    }
    if marks & BASE != 0 {
        append_part(&item.base, bytes);
    }
    item.append_steps(before, bytes);
}

fn append_part<T: serde::Serialize>(part: &T, bytes: &mut Vec<u8>) {
    codec::append_part(part, bytes).expect("a part of an item is a few numbers");
}

fn mark(differs: bool, mark: u8) -> u8 {
    if differs { mark } else { 0 }
}

const PORTS: u8 = 1;
const OPENER: u8 = 2;
const SPEAKER: u8 = 4;
const OWNER: u8 = 4;
const REPLY_TO: u8 = 8;
const EPOCH: u8 = 8;
const BASE: u8 = 16;
const STREAM: u8 = 32;
const MESSAGE_MARKS: u8 = PORTS | OPENER | SPEAKER | REPLY_TO | BASE | STREAM;
const ACKNOWLEDGEMENT_MARKS: u8 = PORTS | OPENER | OWNER | EPOCH | BASE;

/// Marks, and the length of an empty payload.
const ITEM_BYTES_MIN: usize = 2;

#[cfg(test)]
mod tests;
