//! The entities' bodies: what each has heard, from whom, in which order.

use std::collections::BTreeMap;

use slipgate_cluster::message::{Payload, Sender};
use slipgate_cluster::{Incarnation, NodeId, Session};
use slipgate_entity::{OnlineId, RangeId};

/// A body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// Numbers of the messages applied, by sender.
    pub(crate) heard: BTreeMap<Sender, Vec<u8>>,
    /// How many messages it has sent.
    pub(crate) told: u8,
}

impl Body {
    /// Applies a message. Returns what it says in answer, and to whom.
    pub(crate) fn hear(&mut self, sender: Sender, payload: &Payload) -> Result<Option<(OnlineId, Payload)>, String> {
        let (number, tell) = read(payload);
        let heard = self.heard.entry(sender).or_default();
        let fault = heard.last().is_some_and(|&last| number <= last);
        heard.push(number);
        if fault {
            return Err(format!("from {sender:?} it hears {heard:?}: twice, or out of order"));
        }
        Ok(tell.map(|to| {
            self.told += 1;
            (to, speech(self.told, None))
        }))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.told];
        for (sender, numbers) in &self.heard {
            let (kind, who) = match sender {
                Sender::Tool(session) => (0, u64::from(session.incarnation.0) << 16 | u64::from(session.node.0)),
                Sender::Entity(entity) => (1, entity.as_u64()),
            };
            bytes.push(kind);
            bytes.extend(who.to_le_bytes());
            bytes.push(u8::try_from(numbers.len()).expect("few messages"));
            bytes.extend(numbers);
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let mut bytes = bytes.iter().copied();
        let told = bytes.next().expect("a body begins with what it told");
        let mut heard = BTreeMap::new();
        while let Some(kind) = bytes.next() {
            let who: Vec<_> = bytes.by_ref().take(8).collect();
            let who = u64::from_le_bytes(who.try_into().expect("eight bytes of a sender"));
            let count = usize::from(bytes.next().expect("how many it heard"));
            heard.insert(sender(kind, who), bytes.by_ref().take(count).collect());
        }
        Self { heard, told }
    }
}

/// A message: its number, and whom to tell something.
pub(crate) fn speech(number: u8, tell: Option<OnlineId>) -> Payload {
    [number].into_iter().chain(tell.into_iter().flat_map(|to| to.as_u64().to_le_bytes())).collect()
}

fn read(payload: &Payload) -> (u8, Option<OnlineId>) {
    let (number, tell) = payload.split_first().expect("a message has a number");
    (*number, tell.try_into().ok().map(|tell| online(u64::from_le_bytes(tell))))
}

fn sender(kind: u8, who: u64) -> Sender {
    if kind == 1 {
        return Sender::Entity(online(who));
    }
    let node = NodeId(u16::try_from(who & 0xffff).expect("16 bits"));
    let incarnation = Incarnation(u32::try_from(who >> 16).expect("32 bits"));
    Sender::Tool(Session { node, incarnation })
}

fn online(number: u64) -> OnlineId {
    let range = RangeId(u32::try_from(number >> 32).expect("32 bits"));
    OnlineId::new(range, u32::try_from(number & 0xffff_ffff).expect("32 bits"))
}

#[test]
fn a_body_reads_back_from_its_bytes_and_notices_what_comes_twice() {
    let mut body = Body::default();
    let (tool, friend) = (Sender::Tool(Session::new(3, 70_000)), OnlineId::new(RangeId(7), 8));
    assert_eq!(body.hear(tool, &speech(1, None)), Ok(None));
    assert_eq!(body.hear(tool, &speech(2, Some(friend))), Ok(Some((friend, speech(1, None)))));
    assert_eq!(body.hear(Sender::Entity(friend), &speech(1, None)), Ok(None));
    assert_eq!(Body::decode(&body.encode()), body);
    assert!(body.hear(tool, &speech(2, None)).is_err());
}
