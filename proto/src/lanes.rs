//! What a link sends next: control before messages before state.
//!
//! ```text
//!   control   [ack][record][reserve]...     needs no credit; acknowledgements of one stream coalesce
//!   messages  [data][data][ask]...          only while there is credit
//!   bulk      [chunk of A][chunk of B]...   in turns, one chunk at a time: copies, and pages of records
//! ```
//!
//! So a flood of messages never delays a lease or a decision by more than a batch, and a large state
//! never delays a message by more than a chunk.
//!
//! Keeps: each lane is bounded; what does not fit comes back at once. Everything that may be dropped is
//! repeated by whoever sent it.
//! Leaves out: sockets, connecting, time.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use slipgate_cluster::Port;
use slipgate_cluster::budget::Load;
use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::stream::StreamId;
use slipgate_entity::{FixedMap, OnlineId};

use crate::codec;
use crate::frame::packed::ITEMS_MAX;
use crate::frame::{self, CHUNK_BYTES_MAX, Chunk, Frame, Wire};
use crate::weight::weight;

/// Bounds of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneLimits {
    /// Control messages that wait. Default 65,536.
    pub control: usize,
    /// Messages that wait. Default 65,536.
    pub messages: usize,
    /// Payload bytes of the messages that wait. Default 16 MiB.
    pub message_bytes: usize,
    /// Bytes of state that wait. Default 64 MiB.
    pub bulk_bytes: usize,
    /// Bytes of messages frames that may be on the way before the peer returns credit. Default 1 MiB.
    pub credit: u64,
}

impl Default for LaneLimits {
    fn default() -> Self {
        Self { control: 1 << 16, messages: 1 << 16, message_bytes: 16 << 20, bulk_bytes: 64 << 20, credit: 1 << 20 }
    }
}

/// What waits to be sent over one link.
#[derive(Debug)]
pub struct Lanes {
    limits: LaneLimits,
    control: VecDeque<Wire>,
    /// Control messages ever taken out, so that `acks` can hold stable positions.
    control_taken: u64,
    acks: FixedMap<(Port, OnlineId, StreamId), u64>,
    messages: VecDeque<Wire>,
    message_bytes: usize,
    /// What the node lets wait of them.
    allowed: usize,
    bulk: VecDeque<Transfer>,
    /// Copies of entities that wait in `bulk`.
    copies: FixedMap<CopyKey, ()>,
    bulk_bytes: usize,
    transfers: u64,
    credit: u64,
    /// Bytes of the peer's messages frames that are placed and not returned as credit yet.
    owed: u64,
    ping: bool,
    pong: bool,
    bye: Option<Goodbye>,
}

/// What is still to be heard before the goodbye, beside control messages.
#[derive(Clone, Copy, Debug)]
struct Goodbye {
    /// So many of the messages that wait.
    messages: usize,
    /// Transfers up to this number.
    transfers: u64,
}

#[derive(Debug)]
struct Transfer {
    id: u64,
    key: Option<CopyKey>,
    bytes: Vec<u8>,
    offset: usize,
}

/// Names a copy: the entity, and the label under which it goes.
type CopyKey = (OnlineId, u64);

impl Lanes {
    /// Empty lanes, with full credit.
    #[must_use]
    pub fn new(limits: LaneLimits) -> Self {
        Self {
            limits,
            control: VecDeque::new(),
            control_taken: 0,
            acks: FixedMap::default(),
            messages: VecDeque::new(),
            message_bytes: 0,
            allowed: usize::MAX,
            bulk: VecDeque::new(),
            copies: FixedMap::default(),
            bulk_bytes: 0,
            transfers: 0,
            credit: limits.credit,
            owed: 0,
            ping: false,
            pong: false,
            bye: None,
        }
    }

    /// Puts a message into its lane.
    ///
    /// # Errors
    ///
    /// If the lane is full; the message comes back.
    pub fn push(&mut self, wire: Wire) -> Result<(), Box<Wire>> {
        match &wire.message {
            Message::Prepare(prepare) => {
                let key = (prepare.entity, prepare.label.as_u64());
                self.push_bulk(wire, Some(key))
            }
            // Whatever is rare and large: a view, a long question, the list of what was held.
            Message::Control(_) | Message::Manager(_) | Message::Tool(_) if weight(&wire.message) > CHUNK_BYTES_MAX => {
                self.push_bulk(wire, None)
            }
            // What is told in case, or when, a range gets another home: many pages, while everything else goes on.
            Message::Control(
                Control::Claims { .. } | Control::Bequest { .. } | Control::Roster { .. } | Control::RosterIs { .. },
            ) => self.push_bulk(wire, None),
            // It asks about messages, and so follows them; or it is the answer to one.
            Message::Control(Control::HandedOn { .. } | Control::Reply { .. })
            | Message::Data(_)
            | Message::Tool(_) => self.push_message(wire),
            Message::Control(control) => {
                let key = ack_key(wire.to, control);
                self.push_control(wire, key)
            }
            Message::Manager(_) => self.push_control(wire, None),
        }
    }

    fn push_control(&mut self, wire: Wire, key: Option<(Port, OnlineId, StreamId)>) -> Result<(), Box<Wire>> {
        if let Some(&position) = key.as_ref().and_then(|key| self.acks.get(key)) {
            let index = usize::try_from(position - self.control_taken).expect("the lane is far shorter than 2^64");
            self.control[index] = wire;
            return Ok(());
        }
        if self.control.len() >= self.limits.control {
            return Err(Box::new(wire));
        }
        if let Some(key) = key {
            self.acks.insert(key, self.control_taken + self.control.len() as u64);
        }
        self.control.push_back(wire);
        Ok(())
    }

    /// Messages that wait, without control and state.
    #[must_use]
    pub fn load(&self) -> Load {
        Load { messages: self.messages.len(), bytes: self.message_bytes }
    }

    /// So much may wait of messages to entities: what the node allows of its budget, until it says otherwise. What
    /// tools ask and hear has the lane's bounds alone, for nobody repeats it.
    pub fn allow(&mut self, allowed: usize) {
        self.allowed = allowed;
    }

    fn push_message(&mut self, wire: Wire) -> Result<(), Box<Wire>> {
        let bytes = weight(&wire.message);
        if let Message::Data(_) = &wire.message
            && self.load().weight() + Load::one(bytes).weight() > self.allowed
        {
            return Err(Box::new(wire));
        }
        if bytes > MESSAGE_BYTES_MAX {
            return Err(Box::new(wire));
        }
        if self.messages.len() >= self.limits.messages || self.message_bytes + bytes > self.limits.message_bytes {
            return Err(Box::new(wire));
        }
        self.message_bytes += bytes;
        self.messages.push_back(wire);
        Ok(())
    }

    fn push_bulk(&mut self, wire: Wire, key: Option<CopyKey>) -> Result<(), Box<Wire>> {
        if key.is_some_and(|key| self.copies.contains(&key)) {
            // A repeat of what still waits here.
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(BULK_FIXED_BYTES + weight(&wire.message));
        if codec::append(&wire, &mut bytes).is_err() {
            return Err(Box::new(wire));
        }
        if self.bulk_bytes + bytes.len() > self.limits.bulk_bytes {
            return Err(Box::new(wire));
        }
        self.bulk_bytes += bytes.len();
        if let Some(key) = key {
            self.copies.insert(key, ());
        }
        self.transfers += 1;
        self.bulk.push_back(Transfer { id: self.transfers, key, bytes, offset: 0 });
        Ok(())
    }

    /// Writes the next frame, by urgency, behind what `bytes` holds already; its length is for the framing to say.
    /// Returns whether there was one: not while nothing may be sent.
    pub fn next_frame(&mut self, bytes: &mut Vec<u8>) -> bool {
        if let Some(frame) = self.next_of_the_link() {
            frame.append(bytes);
            return true;
        }
        if !self.control.is_empty() {
            let (batch, _) = next_batch(&self.control);
            let count = batch.len();
            frame::append_control(batch, bytes);
            self.control_taken += count as u64;
            for wire in self.control.drain(..count) {
                if let Message::Control(control) = &wire.message
                    && let Some(key) = ack_key(wire.to, control)
                {
                    self.acks.remove(&key);
                }
            }
            return true;
        }
        if self.credit > 0 && !self.messages.is_empty() {
            let (batch, weight) = next_batch(&self.messages);
            let (count, before) = (batch.len(), bytes.len());
            frame::append_messages(batch, bytes);
            self.messages.drain(..count);
            self.message_bytes -= weight;
            if let Some(goodbye) = &mut self.bye {
                goodbye.messages = goodbye.messages.saturating_sub(count);
            }
            self.credit = self.credit.saturating_sub((bytes.len() - before) as u64);
            return true;
        }
        self.next_chunk(bytes)
    }

    /// What the link says for itself. A goodbye comes after everything that it lets be heard.
    fn next_of_the_link(&mut self) -> Option<Frame<'static>> {
        if std::mem::take(&mut self.pong) {
            return Some(Frame::Pong);
        }
        if std::mem::take(&mut self.ping) {
            return Some(Frame::Ping);
        }
        // In large portions: the peer stops only when a whole allowance is on the way.
        if self.owed >= self.limits.credit / 8 {
            return Some(Frame::Credit(std::mem::take(&mut self.owed)));
        }
        let Goodbye { messages, transfers } = self.bye?;
        let is_heard = self.control.is_empty() && messages == 0 && self.bulk.iter().all(|waits| waits.id > transfers);
        if !is_heard {
            return None;
        }
        self.bye = None;
        Some(Frame::Bye)
    }

    fn next_chunk(&mut self, bytes: &mut Vec<u8>) -> bool {
        let Some(mut transfer) = self.bulk.pop_front() else { return false };
        let end = transfer.bytes.len().min(transfer.offset + CHUNK_BYTES_MAX);
        let length = |bytes: usize| u32::try_from(bytes).expect("a transfer stays below the codec's limit");
        let chunk = Chunk {
            transfer: transfer.id,
            total: length(transfer.bytes.len()),
            offset: length(transfer.offset),
            bytes: transfer.bytes[transfer.offset..end].into(),
        };
        Frame::Chunk(chunk).append(bytes);
        transfer.offset = end;
        if end < transfer.bytes.len() {
            // At most so many alternate: the peer keeps a place for each.
            let turns = self.bulk.len().min(crate::assembly::TRANSFERS_MAX / 2);
            self.bulk.insert(turns, transfer);
        } else {
            self.bulk_bytes -= transfer.bytes.len();
            if let Some(key) = transfer.key {
                self.copies.remove(&key);
            }
        }
        true
    }

    /// The peer has placed or refused so many bytes of messages frames.
    pub fn add_credit(&mut self, bytes: u64) {
        self.credit = self.credit.saturating_add(bytes).min(self.limits.credit);
    }

    /// So many bytes of the peer's messages frames have been placed or refused here.
    pub fn owe_credit(&mut self, bytes: u64) {
        self.owed += bytes;
    }

    /// Asks the peer whether it lives.
    pub fn ping(&mut self) {
        self.ping = true;
    }

    /// Answers the peer that this side lives.
    pub fn pong(&mut self) {
        self.pong = true;
    }

    /// Tells the peer that this session stops on purpose, once all is written that waits: an answer to a tool may be
    /// in any lane. Of what is put in later, only control messages go first.
    pub fn bye(&mut self) {
        self.bye = Some(Goodbye { messages: self.messages.len(), transfers: self.transfers });
    }

    /// A new connection of the same session: credit is full, transfers start again from their beginning.
    pub fn reconnect(&mut self) {
        self.credit = self.limits.credit;
        self.owed = 0;
        for transfer in &mut self.bulk {
            transfer.offset = 0;
            self.transfers += 1;
            transfer.id = self.transfers;
        }
        if let Some(goodbye) = &mut self.bye {
            goodbye.transfers = self.transfers;
        }
    }

    /// Messages that wait, over all lanes.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.control.len() + self.messages.len() + self.bulk.len()
    }
}

fn ack_key(to: Port, control: &Control) -> Option<(Port, OnlineId, StreamId)> {
    if let Control::Ack { entity, stream, .. } = control { Some((to, *entity, *stream)) } else { None }
}

/// What the next frame carries of a lane, and how much it weighs: less than it may where the lane begins anew at the
/// start of its memory.
fn next_batch(lane: &VecDeque<Wire>) -> (&[Wire], usize) {
    let (front, _) = lane.as_slices();
    let (mut count, mut bytes) = (0, 0);
    while count < front.len().min(ITEMS_MAX) && bytes < BATCH_BYTES {
        bytes += weight(&front[count].message);
        count += 1;
    }
    (&front[..count], bytes)
}

/// Payload bytes after which a batch takes no more.
const BATCH_BYTES: usize = 64 << 10;
/// Largest payload of a message between nodes: with a full batch before it, and the fixed parts of as many
/// messages as a batch may have, it still fits into a frame.
pub const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// The fixed part of a message when encoded, at most: two ports, an id, a stream, two places, numbers.
const FIXED_BYTES: usize = 128;

/// The fixed part of what goes in chunks, when encoded, as a rule.
const BULK_FIXED_BYTES: usize = 256;

const _: () = assert!(BATCH_BYTES + MESSAGE_BYTES_MAX + ITEMS_MAX * FIXED_BYTES < crate::frame::BYTES_MAX);
