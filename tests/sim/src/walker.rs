//! The bodies of the simulation, and what they are told.
//!
//! A walker records, per sender, the number of every message it has applied, in order; its record moves
//! with it as bytes. A message may ask it to tell another entity something.

use std::collections::BTreeMap;

use slipgate_cluster::message::{Payload, Sender};
use slipgate_cluster::{Incarnation, NodeId, Session};
use slipgate_entity::{OnlineId, RangeId};

/// A body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walker {
    pub(crate) applied: BTreeMap<Sender, Vec<u64>>,
}

impl Walker {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut words = Vec::new();
        for (sender, numbers) in &self.applied {
            let (kind, who) = match sender {
                Sender::Tool(session) => (0, u64::from(session.incarnation.0) << 16 | u64::from(session.node.0)),
                Sender::Entity(entity) => (1, entity.as_u64()),
            };
            words.extend([kind, who, numbers.len() as u64]);
            words.extend(numbers);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let mut words = words(bytes);
        let mut applied = BTreeMap::new();
        while let Some(kind) = words.next() {
            let who = words.next().expect("a sender has an id");
            let sender = if kind == 0 {
                let node = NodeId(u16::try_from(who & 0xffff).expect("16 bits"));
                let incarnation = Incarnation(u32::try_from(who >> 16).expect("32 bits"));
                Sender::Tool(Session { node, incarnation })
            } else {
                Sender::Entity(online(who))
            };
            let count = words.next().expect("a sender has a count");
            applied.insert(sender, (0..count).map(|_| words.next().expect("as many numbers as counted")).collect());
        }
        Self { applied }
    }
}

/// What a message says: its number in the whole simulation, and whom to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speech {
    pub(crate) number: u64,
    pub(crate) tell: Option<OnlineId>,
}

impl Speech {
    pub(crate) fn payload(self) -> Payload {
        let words = [self.number, self.tell.map_or(0, OnlineId::as_u64)];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn read(payload: &Payload) -> Self {
        let mut words = words(payload);
        let mut word = || words.next().expect("a speech has two words");
        let (number, tell) = (word(), word());
        Self { number, tell: (tell != 0).then(|| online(tell)) }
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
}

fn online(number: u64) -> OnlineId {
    let range = RangeId(u32::try_from(number >> 32).expect("32 bits"));
    OnlineId::new(range, u32::try_from(number & 0xffff_ffff).expect("32 bits"))
}

#[test]
fn a_walker_reads_back_from_its_bytes() {
    let mut walker = Walker::default();
    walker.applied.insert(Sender::Tool(Session::new(3, 70_000)), vec![1, 2, 9]);
    walker.applied.insert(Sender::Entity(OnlineId::new(RangeId(7), 8)), vec![]);
    assert_eq!(Walker::decode(&walker.encode()), walker);
    let speech = Speech { number: 5, tell: Some(OnlineId::new(RangeId(7), 8)) };
    assert_eq!(Speech::read(&speech.payload()), speech);
}
