//! What a link sends next: control before messages before state.
//!
//! ```text
//!   control   [ack][record][reserve]...     needs no credit; acknowledgements of one stream coalesce
//!   messages  [data][data][ask]...          only while there is credit
//!   bulk      [chunk of A][chunk of B]...   in turns, one chunk at a time
//! ```
//!
//! So a flood of messages never delays a lease or a decision by more than a batch, and a large state
//! never delays a message by more than a chunk.
//!
//! Keeps: each lane is bounded; what does not fit comes back at once. Everything that may be dropped is
//! repeated by whoever sent it.
//! Leaves out: sockets, connecting, time.

use std::collections::{BTreeMap, VecDeque};

use slipgate_cluster::Port;
use slipgate_cluster::manager::ManagerReply;
use slipgate_cluster::message::{Control, ManagerMessage, Message, ToolMessage};
use slipgate_cluster::stream::StreamId;
use slipgate_entity::OnlineId;

use crate::codec;
use crate::frame::{CHUNK_BYTES_MAX, Chunk, Frame, Wire};

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
    acks: BTreeMap<(Port, OnlineId, StreamId), u64>,
    messages: VecDeque<Wire>,
    message_bytes: usize,
    bulk: VecDeque<Transfer>,
    bulk_bytes: usize,
    transfers: u64,
    credit: u64,
    /// Bytes of the peer's messages frames that are placed and not returned as credit yet.
    owed: u64,
    ping: bool,
    pong: bool,
    bye: bool,
}

#[derive(Debug)]
struct Transfer {
    id: u64,
    key: Option<(OnlineId, u64)>,
    bytes: Vec<u8>,
    offset: usize,
}

impl Lanes {
    /// Empty lanes, with full credit.
    #[must_use]
    pub fn new(limits: LaneLimits) -> Self {
        Self {
            limits,
            control: VecDeque::new(),
            control_taken: 0,
            acks: BTreeMap::new(),
            messages: VecDeque::new(),
            message_bytes: 0,
            bulk: VecDeque::new(),
            bulk_bytes: 0,
            transfers: 0,
            credit: limits.credit,
            owed: 0,
            ping: false,
            pong: false,
            bye: false,
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
            // It asks about messages, and so follows them.
            Message::Control(Control::HandedOn { .. }) | Message::Data(_) | Message::Tool(_) => self.push_message(wire),
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

    fn push_message(&mut self, wire: Wire) -> Result<(), Box<Wire>> {
        let bytes = weight(&wire.message);
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

    fn push_bulk(&mut self, wire: Wire, key: Option<(OnlineId, u64)>) -> Result<(), Box<Wire>> {
        if key.is_some() && self.bulk.iter().any(|transfer| transfer.key == key) {
            // A repeat of what still waits here.
            return Ok(());
        }
        let Ok(bytes) = codec::encode(&wire) else { return Err(Box::new(wire)) };
        if self.bulk_bytes + bytes.len() > self.limits.bulk_bytes {
            return Err(Box::new(wire));
        }
        self.bulk_bytes += bytes.len();
        self.transfers += 1;
        self.bulk.push_back(Transfer { id: self.transfers, key, bytes, offset: 0 });
        Ok(())
    }

    /// The next frame, by urgency; none while nothing may be sent. Its bytes are ready for the framing.
    pub fn next_frame(&mut self) -> Option<Vec<u8>> {
        if let Some(frame) = self.next_of_the_link() {
            return Some(frame.encode());
        }
        if !self.control.is_empty() {
            let (batch, _) = take_batch(&mut self.control);
            self.control_taken += batch.len() as u64;
            for wire in &batch {
                if let Message::Control(control) = &wire.message
                    && let Some(key) = ack_key(wire.to, control)
                {
                    self.acks.remove(&key);
                }
            }
            return Some(Frame::Control(batch).encode());
        }
        if self.credit > 0 && !self.messages.is_empty() {
            let (batch, bytes) = take_batch(&mut self.messages);
            self.message_bytes -= bytes;
            let frame = Frame::Messages(batch).encode();
            self.credit = self.credit.saturating_sub(frame.len() as u64);
            return Some(frame);
        }
        self.next_chunk()
    }

    /// What the link says for itself. A goodbye comes after everything that it lets be heard.
    fn next_of_the_link(&mut self) -> Option<Frame> {
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
        (self.control.is_empty() && std::mem::take(&mut self.bye)).then_some(Frame::Bye)
    }

    fn next_chunk(&mut self) -> Option<Vec<u8>> {
        let mut transfer = self.bulk.pop_front()?;
        let end = transfer.bytes.len().min(transfer.offset + CHUNK_BYTES_MAX);
        let piece = transfer.bytes[transfer.offset..end].to_vec();
        let length = |bytes: usize| u32::try_from(bytes).expect("a transfer stays below the codec's limit");
        let chunk = Chunk {
            transfer: transfer.id,
            total: length(transfer.bytes.len()),
            offset: length(transfer.offset),
            bytes: piece,
        };
        transfer.offset = end;
        if end < transfer.bytes.len() {
            // At most so many alternate: the peer keeps a place for each.
            let turns = self.bulk.len().min(crate::assembly::TRANSFERS_MAX / 2);
            self.bulk.insert(turns, transfer);
        } else {
            self.bulk_bytes -= transfer.bytes.len();
        }
        Some(Frame::Chunk(chunk).encode())
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

    /// Tells the peer, after all control messages, that this session stops on purpose.
    pub fn bye(&mut self) {
        self.bye = true;
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

/// Takes what one frame may carry, and how much it weighs.
fn take_batch(lane: &mut VecDeque<Wire>) -> (Vec<Wire>, usize) {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_MAX && bytes < BATCH_BYTES {
        let Some(wire) = lane.pop_front() else { break };
        bytes += weight(&wire.message);
        batch.push(wire);
    }
    (batch, bytes)
}

/// Bytes of a message beyond its fixed part, at most about what they are when encoded.
fn weight(message: &Message) -> usize {
    match message {
        Message::Data(data) => data.payload.len(),
        Message::Tool(ToolMessage::Ask { question: bytes, .. } | ToolMessage::Answer { answer: bytes, .. }) => {
            bytes.len()
        }
        Message::Control(Control::HandedOn { held, .. }) => HELD_BYTES * held.len(),
        Message::Manager(ManagerMessage::Reply(ManagerReply::View(view))) => {
            let texts: usize = view.members.values().map(|member| member.address.len() + member.admin.len()).sum();
            texts + ROW_BYTES * (view.members.len() + view.scenes.len() + view.homes.len())
        }
        Message::Control(_) | Message::Manager(_) | Message::Prepare(_) => 0,
    }
}

/// Messages in one frame, at most: amortises a frame and a wake-up without delaying the first.
const BATCH_MAX: usize = 512;
/// Payload bytes after which a batch takes no more.
const BATCH_BYTES: usize = 64 << 10;
/// Largest payload of a message between nodes: with a full batch before it, and the fixed parts of as many
/// messages as a batch may have, it still fits into a frame.
pub const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// The fixed part of a message when encoded, at most: two ports, an id, a stream, numbers.
const FIXED_BYTES: usize = 96;
/// One stream of a list of what was held, when encoded.
const HELD_BYTES: usize = 40;
/// One row of a view, when encoded, without its addresses.
const ROW_BYTES: usize = 56;

const _: () = assert!(BATCH_BYTES + MESSAGE_BYTES_MAX + BATCH_MAX * FIXED_BYTES < crate::frame::BYTES_MAX);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_cluster::message::{Data, Nonce, Sender};
    use slipgate_cluster::{Epoch, Own, Place, Session};
    use slipgate_entity::{RangeId, SceneId};

    use super::*;

    fn place() -> Place {
        Place { session: Session::new(1, 1), port: Port::Router(0) }
    }

    fn entity(counter: u32) -> OnlineId {
        OnlineId::new(RangeId(1), counter)
    }

    fn wire(message: Message) -> Wire {
        Wire { from: Port::Router(0), to: Port::Scene(SceneId(1)), message }
    }

    fn data(bytes: usize) -> Wire {
        let stream = StreamId { opened_at: place(), generation: 1 };
        let sender = Sender::Tool(Session::new(1, 1));
        let payload = Arc::from(vec![0u8; bytes]);
        wire(Message::Data(Data { entity: entity(1), stream, seq: 1, sender, reply_to: place(), hops: 0, payload }))
    }

    fn query() -> Wire {
        wire(Message::Control(Control::Query { entity: entity(1), nonce: Nonce(1) }))
    }

    fn ack(counter: u32, upto: u64) -> Wire {
        let stream = StreamId { opened_at: place(), generation: 1 };
        let owner = Own::new(Session::new(1, 1), SceneId(1));
        wire(Message::Control(Control::Ack { entity: entity(counter), stream, upto, owner, epoch: Epoch::FIRST }))
    }

    fn answer(bytes: usize) -> Wire {
        wire(Message::Tool(ToolMessage::Answer { nonce: Nonce(1), answer: vec![7; bytes] }))
    }

    fn next(lanes: &mut Lanes) -> Option<Frame> {
        lanes.next_frame().map(|bytes| Frame::decode(&bytes).expect("a frame of our own"))
    }

    #[test]
    fn control_goes_before_messages_and_messages_before_state() {
        let mut lanes = Lanes::new(LaneLimits::default());
        for wire in [answer(40_000), data(10), query()] {
            lanes.push(wire).expect("room");
        }
        assert!(matches!(next(&mut lanes), Some(Frame::Control(batch)) if batch.len() == 1));
        assert!(matches!(next(&mut lanes), Some(Frame::Messages(batch)) if batch.len() == 1));
        assert!(matches!(next(&mut lanes), Some(Frame::Chunk(chunk)) if chunk.offset == 0));
        lanes.push(query()).expect("room");
        assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
        assert!(matches!(next(&mut lanes), Some(Frame::Chunk(chunk)) if chunk.offset > 0));
    }

    #[test]
    fn messages_stop_without_credit_and_control_does_not() {
        let mut lanes = Lanes::new(LaneLimits { credit: 1000, ..LaneLimits::default() });
        lanes.push(data(2000)).expect("room");
        lanes.push(data(1)).expect("room");
        assert!(matches!(next(&mut lanes), Some(Frame::Messages(batch)) if batch.len() == 2));
        lanes.push(data(1)).expect("room");
        assert!(next(&mut lanes).is_none());
        lanes.push(query()).expect("room");
        assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
        lanes.add_credit(1);
        assert!(matches!(next(&mut lanes), Some(Frame::Messages(_))));
    }

    #[test]
    fn acknowledgements_of_one_stream_coalesce_and_others_do_not() {
        let mut lanes = Lanes::new(LaneLimits::default());
        for wire in [query(), ack(1, 1), ack(2, 1), ack(1, 5)] {
            lanes.push(wire).expect("room");
        }
        assert_eq!(next(&mut lanes), Some(Frame::Control(vec![query(), ack(1, 5), ack(2, 1)])));
        lanes.push(ack(1, 6)).expect("room");
        assert_eq!(next(&mut lanes), Some(Frame::Control(vec![ack(1, 6)])));
    }

    #[test]
    fn each_lane_is_bounded_and_what_does_not_fit_comes_back() {
        let limits =
            LaneLimits { control: 1, messages: 2, message_bytes: 100, bulk_bytes: 30_000, ..LaneLimits::default() };
        let mut lanes = Lanes::new(limits);
        lanes.push(query()).expect("room");
        assert_eq!(lanes.push(query()), Err(Box::new(query())));
        assert_eq!(lanes.push(data(101)), Err(Box::new(data(101))));
        lanes.push(data(60)).expect("room");
        assert_eq!(lanes.push(data(60)), Err(Box::new(data(60))));
        lanes.push(data(1)).expect("room");
        assert_eq!(lanes.push(data(1)), Err(Box::new(data(1))));
        lanes.push(answer(20_000)).expect("room");
        assert!(lanes.push(answer(20_000)).is_err());
        while next(&mut lanes).is_some() {}
        lanes.push(answer(20_000)).expect("room again");
        lanes.push(data(100)).expect("room again");
    }

    #[test]
    fn the_fullest_batch_of_the_largest_messages_fits_into_a_frame() {
        let limits = LaneLimits { credit: u64::MAX, ..LaneLimits::default() };
        let mut lanes = Lanes::new(limits);
        for _ in 0..511 {
            lanes.push(data(128)).expect("room");
        }
        for _ in 0..3 {
            lanes.push(data(MESSAGE_BYTES_MAX)).expect("room");
        }
        assert!(lanes.push(data(MESSAGE_BYTES_MAX + 1)).is_err());
        let mut frames = 0;
        while let Some(frame) = lanes.next_frame() {
            assert!(frame.len() <= crate::frame::BYTES_MAX, "{}", frame.len());
            frames += 1;
        }
        assert_eq!(frames, 3);
    }

    #[test]
    fn what_asks_about_messages_follows_them_and_large_control_goes_in_chunks() {
        let held = |count: u64| {
            let stream = StreamId { opened_at: place(), generation: u64::MAX };
            let held = (0..count).map(|upto| slipgate_cluster::message::Held { stream, upto, count: 1 });
            let source = Own::new(Session::new(1, 1), SceneId(1));
            let id = slipgate_cluster::moves::MoveId(uuid::Uuid::nil());
            wire(Message::Control(Control::HandedOn { entity: entity(1), id, held: held.collect(), source }))
        };
        let mut lanes = Lanes::new(LaneLimits::default());
        for wire in [data(1), held(2), query(), held(5000)] {
            lanes.push(wire).expect("room");
        }
        assert_eq!(next(&mut lanes), Some(Frame::Control(vec![query()])));
        assert_eq!(next(&mut lanes), Some(Frame::Messages(vec![data(1), held(2)])));
        assert!(matches!(next(&mut lanes), Some(Frame::Chunk(_))));
    }

    #[test]
    fn large_transfers_take_turns_and_are_put_together_at_the_other_end() {
        let mut lanes = Lanes::new(LaneLimits::default());
        lanes.push(answer(100_000)).expect("room");
        lanes.push(answer(50_000)).expect("room");
        let mut assembly = crate::assembly::Assembly::default();
        let (mut whole, mut order) = (Vec::new(), Vec::new());
        while let Some(Frame::Chunk(chunk)) = next(&mut lanes) {
            order.push(chunk.transfer);
            whole.extend(assembly.take(chunk).expect("in order"));
        }
        assert_eq!(order[..4], [1, 2, 1, 2]);
        assert_eq!(whole, [answer(50_000), answer(100_000)]);
    }

    #[test]
    fn a_new_connection_starts_transfers_again_under_new_numbers() {
        let mut lanes = Lanes::new(LaneLimits::default());
        lanes.push(answer(40_000)).expect("room");
        let first = next(&mut lanes);
        lanes.reconnect();
        let Some(Frame::Chunk(again)) = next(&mut lanes) else { panic!("expected a chunk") };
        let Some(Frame::Chunk(first)) = first else { panic!("expected a chunk") };
        assert_eq!((again.offset, again.bytes.len()), (0, first.bytes.len()));
        assert_ne!(again.transfer, first.transfer);
    }

    #[test]
    fn credit_is_returned_in_portions_and_a_goodbye_comes_after_control() {
        let mut lanes = Lanes::new(LaneLimits { credit: 800, ..LaneLimits::default() });
        lanes.owe_credit(99);
        assert!(next(&mut lanes).is_none());
        lanes.owe_credit(1);
        assert_eq!(next(&mut lanes), Some(Frame::Credit(100)));
        lanes.bye();
        lanes.push(query()).expect("room");
        assert!(matches!(next(&mut lanes), Some(Frame::Control(_))));
        assert_eq!(next(&mut lanes), Some(Frame::Bye));
        assert!(next(&mut lanes).is_none());
    }
}
