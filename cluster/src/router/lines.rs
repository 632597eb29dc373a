//! A router's streams, in slots: found once for whatever is said about one, and then named by its slot.
//!
//! ```text
//!   receiver -> slot of the tools' stream to it
//!   receiver, id -> slots of the streams that senders have left
//! ```
//!
//! Nearly all that a router handles is a tool's, so that way is one look-up by eight bytes.
//!
//! Keeps: every line has one slot for as long as it is there; tools have one stream to a receiver.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use slipgate_entity::{FixedMap, OnlineId};

use super::Ticket;
use super::shares::Share;
use crate::Place;
use crate::budget::Load;
use crate::message::Sender;
use crate::stream::{SendStream, Speaker, StreamId};

/// A stream, and who hears what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) stream: SendStream,
    pub(super) speaker: Speaker,
    /// Tickets of what is unacknowledged, oldest first; empty for adopted streams.
    pub(super) tickets: VecDeque<Ticket>,
}

impl Line {
    /// Whether its sender is gone.
    pub(super) fn is_adopted(&self) -> bool {
        matches!(self.speaker.sender, Sender::Entity(_))
    }

    /// What it keeps, and because of whom.
    pub(super) fn kept(&self) -> (Share, Load) {
        let home = Share::Home(self.stream.entity().range());
        (self.stream.known().map_or(home, |known| Share::Owner(known.owner)), self.stream.load())
    }
}

/// Where a line is while it is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(usize);

#[derive(Clone, Default)]
pub(super) struct Lines {
    slots: Vec<Option<Line>>,
    free: Vec<usize>,
    tools: FixedMap<OnlineId, Slot>,
    adopted: BTreeMap<OnlineId, BTreeMap<StreamId, Slot>>,
}

impl Lines {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All of them, in no order that counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Line> {
        self.slots.iter().flatten()
    }

    /// How many entities they lead to.
    pub(super) fn receivers(&self) -> usize {
        self.tools.len() + self.adopted.keys().filter(|entity| !self.tools.contains(entity)).count()
    }

    /// The stream with this id to `entity`.
    pub(super) fn find(&self, entity: OnlineId, id: StreamId) -> Option<Slot> {
        let of_tools = self.tools.get(&entity).copied().filter(|&slot| self.get(slot).stream.id() == id);
        of_tools.or_else(|| self.adopted.get(&entity)?.get(&id).copied())
    }

    /// The stream of the tools to `entity`.
    pub(super) fn of_tools(&self, entity: OnlineId) -> Option<Slot> {
        self.tools.get(&entity).copied()
    }

    /// All streams to `entity`.
    pub(super) fn to(&self, entity: OnlineId) -> Vec<Slot> {
        let adopted = self.adopted.get(&entity).into_iter().flat_map(BTreeMap::values);
        self.tools.get(&entity).into_iter().chain(adopted).copied().collect()
    }

    /// Whether there are any to `entity`.
    pub(super) fn lead_to(&self, entity: OnlineId) -> bool {
        self.tools.contains(&entity) || self.adopted.contains_key(&entity)
    }

    /// The next stream that is opened at `me` to `entity`. Somebody may have brought one that claims to have been.
    pub(super) fn next_stream(&self, entity: OnlineId, me: Place, opened: &mut u64) -> StreamId {
        loop {
            let id = StreamId::next(me, opened);
            if self.find(entity, id).is_none() {
                return id;
            }
        }
    }

    pub(super) fn get(&self, slot: Slot) -> &Line {
        self.slots[slot.0].as_ref().expect("a slot that is named has a line in it")
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> &mut Line {
        self.slots[slot.0].as_mut().expect("a slot that is named has a line in it")
    }

    pub(super) fn insert(&mut self, line: Line) -> Slot {
        let (id, entity, is_adopted) = (line.stream.id(), line.stream.entity(), line.is_adopted());
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = Some(line);
                Slot(slot)
            }
            None => {
                self.slots.push(Some(line));
                Slot(self.slots.len() - 1)
            }
        };
        let before = if is_adopted {
            self.adopted.entry(entity).or_default().insert(id, slot)
        } else {
            self.tools.insert(entity, slot)
        };
        assert!(before.is_none(), "two lines of stream {id:?} to {entity}");
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Line {
        let line = self.slots[slot.0].take().expect("a slot that is named has a line in it");
        let entity = line.stream.entity();
        if !line.is_adopted() {
            self.tools.remove(&entity);
        } else if let Some(streams) = self.adopted.get_mut(&entity) {
            streams.remove(&line.stream.id());
            if streams.is_empty() {
                self.adopted.remove(&entity);
            }
        }
        self.free.push(slot.0);
        if self.len() == 0 {
            *self = Self::default();
        }
        line
    }
}

/// By receiver and id: in which slots is the same to everybody.
impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.slots.iter().flatten().map(|line| ((line.stream.entity(), line.stream.id()), line));
        f.debug_map().entries(lines.collect::<BTreeMap<_, _>>()).finish()
    }
}
