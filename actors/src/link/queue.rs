//! What waits for one peer, in its lanes: whoever writes to the peer puts it in, on whichever thread; the
//! connection takes it out.
//!
//! A mailbox in front of the lanes would be one more turn of the executor on the way of everything that leaves
//! the node. Like a mailbox, this is a queue that threads share, and nobody waits for room in it.
//!
//! Keeps: the lanes' bounds, and what the node lets wait; nothing that was meant for one life of the peer is told to
//! another; the lock is held for one batch in, or one frame out, and never while anybody waits for something else.

use std::sync::{Mutex, MutexGuard};

use slipgate_cluster::budget::{Load, Part};
use slipgate_cluster::message::Message;
use slipgate_cluster::{Envelope, Session};
use slipgate_proto::frame::Wire;
use slipgate_proto::lanes::{LaneLimits, Lanes};
use tokio::sync::Notify;

use crate::budget::{NodeBudget, Share};
use crate::mailbox::Door;

/// The queue to one peer.
#[derive(Debug)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    /// Something was put in.
    wake: Notify,
}

#[derive(Debug)]
struct Waiting {
    /// The life of the peer that it is meant for.
    peer: Session,
    lanes: Lanes,
    /// What the node lets wait here.
    share: Share,
}

impl Queue {
    /// An empty queue to `peer`.
    pub(super) fn new(peer: Session, budget: &NodeBudget) -> Self {
        let (lanes, share) = (Lanes::new(LaneLimits::default()), budget.share(Part::Passing));
        Self { waiting: Mutex::new(Waiting { peer, lanes, share }), wake: Notify::new() }
    }

    /// The peer lives again: what waits was meant for the life before.
    pub(super) fn begin_anew(&self, peer: Session) {
        let mut waiting = self.lock();
        (waiting.peer, waiting.lanes) = (peer, Lanes::new(LaneLimits::default()));
        waiting.settle();
    }

    /// Changes the lanes, and has the connection look at them.
    pub(super) fn put_in(&self, change: impl FnOnce(&mut Lanes)) {
        change(&mut self.lock().lanes);
        self.wake.notify_one();
    }

    /// Messages that wait.
    pub(super) fn len(&self) -> usize {
        self.lock().lanes.waiting()
    }

    /// Writes the next frame behind what `bytes` holds already. Returns whether there was one.
    pub(super) fn next_frame(&self, bytes: &mut Vec<u8>) -> bool {
        let mut waiting = self.lock();
        let is_some = waiting.lanes.next_frame(bytes);
        waiting.settle();
        is_some
    }

    /// Waits until something was put in since the last time.
    pub(super) async fn filled(&self) {
        self.wake.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nobody panics with the lanes in hand")
    }
}

impl Waiting {
    /// Takes room for messages that are about to be put in.
    fn make_room(&mut self, envelopes: &[Envelope]) {
        let bytes = |envelope: &Envelope| match &envelope.message {
            Message::Data(data) => Some(Load::one(data.payload.len())),
            Message::Control(_) | Message::Manager(_) | Message::Prepare(_) | Message::Tool(_) => None,
        };
        let more: Load = envelopes.iter().filter_map(bytes).sum();
        self.share.widen(self.lanes.load().weight() + more.weight());
        self.lanes.allow(self.share.allowed());
    }

    fn settle(&mut self) {
        self.share.settle(self.lanes.load().weight());
    }
}

impl Door for Queue {
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let mut refused = 0;
        let mut waiting = self.lock();
        waiting.make_room(&envelopes);
        for Envelope { from, to, message } in envelopes {
            // Written before the peer began a new life: it was meant for the old one.
            if to.session != waiting.peer {
                refused += 1;
                continue;
            }
            refused += u64::from(waiting.lanes.push(Wire { from: from.port, to: to.port, message }).is_err());
        }
        waiting.settle();
        drop(waiting);
        self.wake.notify_one();
        if refused > 0 {
            metrics::counter!("slipgate_messages_dropped_total", "at" => "lane").increment(refused);
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use slipgate_cluster::budget::Budget;
    use slipgate_cluster::message::{Control, Data, Nonce, Sender};
    use slipgate_cluster::stream::StreamId;
    use slipgate_cluster::{Epoch, Place, Port};
    use slipgate_entity::{OnlineId, RangeId};

    use super::*;

    fn place(node: u16) -> Place {
        Place { session: Session::new(node, 1), port: Port::Router(0) }
    }

    fn data(node: u16) -> Envelope {
        let data = Data {
            entity: OnlineId::new(RangeId(1), 1),
            stream: StreamId { opened_at: place(1), generation: 1 },
            seq: 1,
            sender: Sender::Tool(place(1).session),
            reply_to: place(1),
            hops: 0,
            epoch: Epoch::ZERO,
            base: Epoch::ZERO,
            payload: vec![0; 1000].into(),
        };
        Envelope { from: place(1), to: place(node), message: Message::Data(data) }
    }

    /// How many messages are in the frames that come out.
    fn drain(queue: &Queue) -> usize {
        let before = queue.len();
        while queue.next_frame(&mut Vec::new()) {
            queue.put_in(|lanes| lanes.add_credit(1 << 20));
        }
        before - queue.len()
    }

    #[test]
    fn a_link_that_nobody_empties_leaves_the_others_their_room_and_its_own_lane_of_control() {
        let node = NodeBudget::new(Budget::new(4 << 20));
        let queues = [2, 3].map(|peer| Queue::new(Session::new(peer, 1), &node));
        queues[0].put((0..10_000).map(|_| data(2)).collect());
        let one = Load::one(1000).weight();
        let common = Budget::new(4 << 20).common(Part::Passing, 2);
        assert_eq!(queues[0].len(), (slipgate_cluster::budget::OWN_BYTES + common / 2) / one);
        let before = queues[0].len();
        let control = Control::Query { entity: OnlineId::new(RangeId(1), 1), nonce: Nonce(1) };
        queues[0].put(vec![Envelope { message: Message::Control(control), ..data(2) }]);
        assert_eq!(queues[0].len(), before + 1);
        queues[1].put((0..200).map(|_| data(3)).collect());
        assert_eq!(drain(&queues[1]), 200);
        assert_eq!(node.waits(Part::Passing), before * one);
        assert_eq!((drain(&queues[0]), node.waits(Part::Passing)), (before + 1, 0));
    }

    #[test]
    fn what_was_meant_for_an_earlier_life_or_a_link_that_is_gone_is_not_counted_any_more() {
        let node = NodeBudget::default();
        let queue = Queue::new(Session::new(2, 1), &node);
        queue.put((0..200).map(|_| data(2)).collect());
        assert!(node.waits(Part::Passing) > 0);
        queue.begin_anew(Session::new(2, 2));
        assert_eq!(node.waits(Part::Passing), 0);
        queue.put(vec![Envelope { to: Place { session: Session::new(2, 2), ..place(2) }, ..data(2) }]);
        assert!(node.waits(Part::Passing) > 0);
        drop(queue);
        assert_eq!(node.waits(Part::Passing), 0);
    }
}
