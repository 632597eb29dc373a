//! Bounded ways into actors.
//!
//! An actix mailbox takes everything that `do_send` throws at it, so whoever writes counts: a mailbox
//! here knows how many envelopes are on their way into its actor, and what they weigh. Above its bound it
//! takes no more messages to entities, which their senders keep and send again; control messages, of which the
//! protocol allows each entity only a few, have four times the room. Whatever it is, nothing that weighs
//! something is taken beyond [`BYTES_MAX`]. A scene's draws on its node's budget for messages to entities, too.

use std::sync::{Arc, Mutex, MutexGuard};

use actix::dev::ToEnvelope;
use actix::{Actor, Addr, Handler, Message};
use slipgate_cluster::Envelope;
use slipgate_cluster::budget::{Load, Part};
use slipgate_cluster::message::Message as Said;
use slipgate_proto::weight::weight;

use crate::budget::{NodeBudget, Share};

/// Bytes that wait for one actor, at most: as much as the lane of a link holds. Messages of 64 KiB would fill
/// four gigabytes before their number is too high.
pub const BYTES_MAX: usize = 64 << 20;

/// Envelopes for one actor, all to the same port.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Mail {
    /// In the order in which they were written.
    pub envelopes: Vec<Envelope>,
    _counted: Counted,
}

/// Room in a mailbox that is taken until this is dropped.
#[derive(Debug)]
pub struct Counted {
    depth: Arc<Mutex<Depth>>,
    here: Sum,
}

/// How much is on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    envelopes: usize,
    bytes: usize,
    /// What of it are messages to entities.
    messages: Load,
}

/// What is on its way.
#[derive(Debug, Default)]
struct Depth {
    sum: Sum,
    /// What the node lets wait here of messages to entities, where that is bounded.
    share: Option<Share>,
}

impl Depth {
    fn put(&mut self, more: Sum) {
        self.sum.envelopes += more.envelopes;
        self.sum.bytes += more.bytes;
        self.sum.messages += more.messages;
        self.settle();
    }

    fn take(&mut self, less: Sum) {
        self.sum.envelopes -= less.envelopes;
        self.sum.bytes -= less.bytes;
        self.sum.messages -= less.messages;
        self.settle();
    }

    fn settle(&mut self) {
        if let Some(share) = &mut self.share {
            share.settle(self.sum.messages.weight());
        }
    }

    /// Takes out what finds no room, with `capacity` for messages; and sums up the rest.
    fn refuse(&mut self, envelopes: &mut Vec<Envelope>, capacity: usize) -> (Vec<Envelope>, Sum) {
        let room = capacity.saturating_sub(self.sum.envelopes);
        let control_room = (4 * capacity).saturating_sub(self.sum.envelopes);
        let allowed = self.share.as_mut().map_or(usize::MAX, |share| {
            let more: Load = envelopes.iter().filter_map(to_entity).sum();
            share.widen(self.sum.messages.weight() + more.weight());
            share.allowed()
        });
        let (mut looked_at, mut taken) = (0, Sum::default());
        let over = envelopes.extract_if(.., |envelope| {
            looked_at += 1;
            let limit = if is_control(&envelope.message) { control_room } else { room };
            let bytes = weight(&envelope.message);
            let message = to_entity(envelope).unwrap_or_default();
            let mut messages = self.sum.messages;
            messages += taken.messages;
            messages += message;
            let fits = bytes == 0 || self.sum.bytes + taken.bytes + bytes <= BYTES_MAX;
            if looked_at > limit || !fits || message.messages > 0 && messages.weight() > allowed {
                return true;
            }
            taken.envelopes += 1;
            taken.bytes += bytes;
            taken.messages += message;
            false
        });
        (over.collect(), taken)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        lock(&self.depth).take(self.here);
    }
}

fn lock(depth: &Mutex<Depth>) -> MutexGuard<'_, Depth> {
    depth.lock().expect("nobody panics while counting")
}

/// A message to an entity, as it counts.
fn to_entity(envelope: &Envelope) -> Option<Load> {
    if let Said::Data(data) = &envelope.message { Some(Load::one(data.payload.len())) } else { None }
}

/// The session is over: the actor stops, and with it whatever it holds.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Halt;

/// Takes envelopes for one port, or refuses them.
pub trait Door: Send + Sync + std::fmt::Debug {
    /// Puts envelopes in, in order, and returns those that found no room.
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope>;
}

/// A bounded way into one actor.
pub struct Mailbox<A: Actor> {
    addr: Addr<A>,
    depth: Arc<Mutex<Depth>>,
    capacity: usize,
}

impl<A: Actor> Mailbox<A> {
    /// A way into the actor at `addr` with room for `capacity` messages to entities.
    #[must_use]
    pub fn new(addr: Addr<A>, capacity: usize) -> Self {
        Self { addr, depth: Arc::default(), capacity }
    }

    /// The same, where messages to entities draw on the node's budget.
    #[must_use]
    pub fn within(budget: &NodeBudget, addr: Addr<A>, capacity: usize) -> Self {
        let mailbox = Self::new(addr, capacity);
        lock(&mailbox.depth).share = Some(budget.share(Part::Passing));
        mailbox
    }

    /// The actor's address.
    #[must_use]
    pub fn addr(&self) -> &Addr<A> {
        &self.addr
    }

    /// Takes room for one message, which carries it; none if the mailbox is full.
    #[must_use]
    pub fn claim(&self) -> Option<Counted> {
        let mut depth = lock(&self.depth);
        if depth.sum.envelopes >= self.capacity {
            return None;
        }
        let here = Sum { envelopes: 1, ..Sum::default() };
        depth.put(here);
        Some(Counted { depth: self.depth.clone(), here })
    }

    /// Tells the actor something of which only a few can be on their way: one per open request.
    pub fn tell<M>(&self, message: M)
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<M>,
        A::Context: ToEnvelope<A, M>,
    {
        tell(&self.addr, message);
    }
}

/// Tells an actor something of which only a few can be on their way.
pub fn tell<A, M>(addr: &Addr<A>, message: M)
where
    M: Message + Send + 'static,
    M::Result: Send,
    A: Actor + Handler<M>,
    A::Context: ToEnvelope<A, M>,
{
    #[expect(clippy::disallowed_methods, reason = "this module is where messages into actors are bounded")]
    addr.do_send(message);
}

impl<A> Door for Mailbox<A>
where
    A: Actor + Handler<Mail>,
    A::Context: ToEnvelope<A, Mail>,
{
    fn put(&self, mut envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let mut depth = lock(&self.depth);
        let (refused, here) = depth.refuse(&mut envelopes, self.capacity);
        depth.put(here);
        drop(depth);
        let counted = Counted { depth: self.depth.clone(), here };
        if !envelopes.is_empty() {
            tell(&self.addr, Mail { envelopes, _counted: counted });
        }
        refused
    }
}

fn is_control(message: &Said) -> bool {
    match message {
        Said::Control(_) | Said::Manager(_) => true,
        Said::Data(_) | Said::Prepare(_) | Said::Tool(_) => false,
    }
}

impl<A: Actor> Clone for Mailbox<A> {
    fn clone(&self) -> Self {
        Self { addr: self.addr.clone(), depth: self.depth.clone(), capacity: self.capacity }
    }
}

impl<A: Actor> std::fmt::Debug for Mailbox<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox").field("depth", &self.depth).field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use actix::Context;
    use slipgate_cluster::budget::{Budget, OWN_BYTES};
    use slipgate_cluster::message::{Control, Data, Nonce, Sender};
    use slipgate_cluster::stream::StreamId;
    use slipgate_cluster::{Epoch, Place, Port, Session};
    use slipgate_entity::{OnlineId, RangeId};

    use super::*;

    /// Keeps what it gets, and with it the count, until it is let go.
    struct Slow(Arc<Mutex<Vec<Mail>>>);

    impl Actor for Slow {
        type Context = Context<Self>;
    }

    impl Handler<Mail> for Slow {
        type Result = ();

        fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
            self.0.lock().expect("not poisoned").push(mail);
        }
    }

    fn place() -> Place {
        Place { session: Session::new(1, 1), port: Port::Directory }
    }

    fn control() -> Envelope {
        let control = Control::Query { entity: OnlineId::new(RangeId(1), 1), nonce: Nonce(1) };
        Envelope { from: place(), to: place(), message: Said::Control(control) }
    }

    fn tool() -> Envelope {
        let ask = slipgate_cluster::message::ToolMessage::Ask { nonce: Nonce(1), question: vec![] };
        Envelope { message: Said::Tool(ask), ..control() }
    }

    fn data(seq: u64) -> Envelope {
        let data = Data {
            entity: OnlineId::new(RangeId(1), 1),
            stream: StreamId { opened_at: place(), generation: 1 },
            seq,
            sender: Sender::Tool(place().session),
            reply_to: place(),
            hops: 0,
            epoch: Epoch::ZERO,
            base: Epoch::ZERO,
            payload: vec![0; 1000].into(),
        };
        Envelope { message: Said::Data(data), ..control() }
    }

    #[actix_rt::test]
    async fn messages_to_entities_draw_on_the_nodes_budget_and_what_finds_no_room_comes_back_whole() {
        let node = NodeBudget::new(Budget::new(4 << 20));
        let kept = Arc::new(Mutex::new(Vec::new()));
        let slow = Mailbox::within(&node, Slow(kept.clone()).start(), 1 << 16);
        let flood: Vec<_> = (0..10_000).map(data).collect();
        let back = slow.put(flood.clone());
        // What it has for itself, and half of what so many holders have in common.
        let room = |holders: usize| OWN_BYTES + Budget::new(4 << 20).common(Part::Passing, holders) / 2;
        let taken = room(1) / Load::one(1000).weight();
        assert_eq!(back, flood[taken..], "in order");
        let other = Mailbox::within(&node, Slow(kept.clone()).start(), 1 << 16);
        assert_eq!(slow.put(vec![tool(), control()]), [], "what nobody would send again is not bounded by it");
        assert_eq!(other.put(flood[..100].to_vec()), [], "another scene has room");
        assert_eq!(node.waits(Part::Passing), (taken + 100) * Load::one(1000).weight());
        let mut turns = 0;
        while node.waits(Part::Passing) > 0 {
            kept.lock().expect("not poisoned").clear();
            tokio::task::yield_now().await;
            turns += 1;
            assert!(turns < 1000, "the actors did not get their mail");
        }
        assert_eq!(slow.put(flood).len(), 10_000 - room(2) / Load::one(1000).weight(), "there is room again");
    }

    #[actix_rt::test]
    async fn a_mailbox_takes_messages_up_to_its_bound_and_control_beyond_it() {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let mailbox = Mailbox::new(Slow(kept.clone()).start(), 3);
        assert_eq!(mailbox.put(vec![tool(), tool()]).len(), 0);
        assert_eq!(mailbox.put(vec![tool(), tool(), control()]).len(), 1);
        assert_eq!(mailbox.put(vec![tool()]).len(), 1);
        let flood: Vec<_> = (0..20).map(|_| control()).collect();
        assert_eq!(mailbox.put(flood).len(), 12);
        let mut turns = 0;
        while kept.lock().expect("not poisoned").len() < 3 {
            tokio::task::yield_now().await;
            turns += 1;
            assert!(turns < 1000, "the actor did not get its mail");
        }
        kept.lock().expect("not poisoned").clear();
        assert_eq!(mailbox.put(vec![tool(), tool(), tool(), tool()]).len(), 1);
    }

    #[actix_rt::test]
    async fn a_mailbox_is_bounded_in_bytes_too_and_what_weighs_nothing_still_comes_through() {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let mailbox = Mailbox::new(Slow(kept.clone()).start(), 1000);
        let heavy = || {
            let ask = slipgate_cluster::message::ToolMessage::Ask { nonce: Nonce(1), question: vec![0; BYTES_MAX / 4] };
            Envelope { message: Said::Tool(ask), ..control() }
        };
        assert_eq!(mailbox.put((0..6).map(|_| heavy()).collect()).len(), 2);
        assert_eq!(mailbox.put(vec![heavy(), control(), tool()]).len(), 1);
    }
}
