//! Bounded ways into actors.
//!
//! An actix mailbox takes everything that `do_send` throws at it, so whoever writes counts: a mailbox
//! here knows how many envelopes are on their way into its actor, and what they weigh. Above its bound it
//! takes no more messages to entities, which their senders keep and send again; control messages, of which the
//! protocol allows each entity only a few, have four times the room. Whatever it is, nothing that weighs
//! something is taken beyond [`BYTES_MAX`].

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix::dev::ToEnvelope;
use actix::{Actor, Addr, Handler, Message};
use slipgate_cluster::Envelope;
use slipgate_cluster::message::Message as Said;
use slipgate_proto::weight::weight;

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
    depth: Arc<Depth>,
    envelopes: usize,
    bytes: usize,
}

/// What is on its way.
#[derive(Debug, Default)]
struct Depth {
    envelopes: AtomicUsize,
    bytes: AtomicUsize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.depth.envelopes.fetch_sub(self.envelopes, Ordering::Relaxed);
        self.depth.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
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
    depth: Arc<Depth>,
    capacity: usize,
}

impl<A: Actor> Mailbox<A> {
    /// A way into the actor at `addr` with room for `capacity` messages to entities.
    #[must_use]
    pub fn new(addr: Addr<A>, capacity: usize) -> Self {
        Self { addr, depth: Arc::default(), capacity }
    }

    /// The actor's address.
    #[must_use]
    pub fn addr(&self) -> &Addr<A> {
        &self.addr
    }

    /// Takes room for one message, which carries it; none if the mailbox is full.
    #[must_use]
    pub fn claim(&self) -> Option<Counted> {
        if self.depth.envelopes.load(Ordering::Relaxed) >= self.capacity {
            return None;
        }
        Some(self.count(1, 0))
    }

    fn count(&self, envelopes: usize, bytes: usize) -> Counted {
        self.depth.envelopes.fetch_add(envelopes, Ordering::Relaxed);
        self.depth.bytes.fetch_add(bytes, Ordering::Relaxed);
        Counted { depth: self.depth.clone(), envelopes, bytes }
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
        let depth = self.depth.envelopes.load(Ordering::Relaxed);
        let mut bytes_after = self.depth.bytes.load(Ordering::Relaxed);
        let mut bytes = 0;
        let room = self.capacity.saturating_sub(depth);
        let control_room = (4 * self.capacity).saturating_sub(depth);
        let mut taken = 0;
        let over = envelopes.extract_if(.., |envelope| {
            let limit = if is_control(&envelope.message) { control_room } else { room };
            let weight = weight(&envelope.message);
            let fits = weight == 0 || bytes_after + weight <= BYTES_MAX;
            taken += 1;
            if taken > limit || !fits {
                return true;
            }
            bytes_after += weight;
            bytes += weight;
            false
        });
        let refused: Vec<_> = over.collect();
        if !envelopes.is_empty() {
            let counted = self.count(envelopes.len(), bytes);
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
    use slipgate_cluster::message::{Control, Nonce};
    use slipgate_cluster::{Place, Port, Session};
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
