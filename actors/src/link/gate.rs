//! Whoever dials this node: joins go to the manager, links to the member, everybody else is refused.
//!
//! Keeps: at most [`PENDING_MAX`] handshakes at a time, each within its time; every refusal is logged here
//! and told to the other side.

use std::sync::Arc;

use slipgate_cluster::manager::{JoinRefusal, JoinReply, JoinRequest};
use slipgate_cluster::{NodeName, Session};
use slipgate_proto::handshake::{HELLO_BYTES_MAX, HandshakeError, Hello, PROTOCOL, Purpose, Refusal, Reply};
use tokio::sync::{Semaphore, oneshot, watch};

use super::text::{self, TextError};
use crate::mailbox::Mailbox;
use crate::manager::JoinAsked;
use crate::manager_seat::Seat;
use crate::member::{Incoming, MemberActor};
use crate::post::Post;
use crate::transport::{Connection, Listener};

/// Handshakes under way at once.
pub const PENDING_MAX: usize = 256;

/// What the gate knows of its node.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Name of the cluster.
    pub cluster: String,
    /// Name of this node.
    pub name: NodeName,
    /// Name of the node that runs the manager.
    pub manager: NodeName,
    /// The manager's seat, if this is its node.
    pub seat: Option<Seat>,
    /// How far the node is.
    pub standing: watch::Receiver<Standing>,
}

/// How far the node is.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It has not joined.
    Joining,
    /// It is a member.
    Joined(Joined),
    /// It stops: nobody is to link to it any more.
    Stopping,
}

/// A node that has joined.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Its post.
    pub post: Post,
    /// Its member.
    pub member: Mailbox<MemberActor>,
}

/// Who wants to be the other end of a link.
struct Caller {
    name: NodeName,
    session: Session,
    /// Whom it means to reach.
    to: Session,
}

/// Accepts connections until the listener fails or the node stops.
pub async fn keep(gate: Gate, mut listener: Box<dyn Listener>) {
    let pending = Arc::new(Semaphore::new(PENDING_MAX));
    loop {
        let permit = pending.clone().acquire_owned().await;
        match listener.accept().await {
            Ok((connection, from)) => {
                let gate = gate.clone();
                tokio::task::spawn_local(async move {
                    gate.meet(connection, &from).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(event = "gate.failed", "a connection could not be accepted: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

impl Gate {
    async fn meet(&self, mut connection: Connection, from: &str) {
        let hello = match text::read::<Hello>(&mut connection, HELLO_BYTES_MAX).await {
            Ok(hello) => hello,
            Err(TextError::Unreadable(HandshakeError::OtherVersion { theirs })) => {
                return self.refuse(connection, from, Refusal::OtherVersion { here: PROTOCOL, theirs }).await;
            }
            // A port that is only looked at (a health check, a scanner) is nothing to warn about.
            Err(error) => {
                tracing::info!(event = "gate.refused", from, "a connection ended before it had begun: {error}");
                return;
            }
        };
        if hello.cluster != self.cluster {
            let refusal = Refusal::OtherCluster { here: self.cluster.clone(), theirs: hello.cluster };
            return self.refuse(connection, from, refusal).await;
        }
        let standing = self.standing.borrow().clone();
        match (standing, hello.purpose) {
            (Standing::Stopping, _) => self.refuse(connection, from, Refusal::Stopping).await,
            (Standing::Joining, Purpose::Link { .. }) => self.refuse(connection, from, Refusal::Joining).await,
            // The manager's node goes first and so has the lowest number: all others dial it, and it can
            // tell its later lives to those who do not know them yet.
            (Standing::Joining, Purpose::Join(_)) if self.seat.is_some() => {
                self.refuse(connection, from, Refusal::Joining).await;
            }
            (Standing::Joining | Standing::Joined(_), Purpose::Join(request)) => self.join(connection, request).await,
            (Standing::Joined(here), Purpose::Link { name, session, to }) => {
                self.link(connection, from, here, Caller { name, session, to }).await;
            }
        }
    }

    async fn join(&self, mut connection: Connection, request: JoinRequest) {
        let reply = match &self.seat {
            None => Some(JoinReply::Refused(JoinRefusal::NotManager { manager: self.manager.clone() })),
            Some(seat) => ask_to_join(seat, request, false).await,
        };
        // A manager that is just stopping answers nothing: the other side asks again.
        let Some(reply) = reply else { return };
        if let Err(error) = text::write(&mut connection, &Reply::Join(reply)).await {
            tracing::info!(event = "gate.refused", "the answer to a join did not arrive: {error}");
        }
    }

    async fn link(&self, mut connection: Connection, from: &str, here: Joined, caller: Caller) {
        let (Joined { post, member }, Caller { name, session, to }) = (here, caller);
        let known = post.view().members.get(&session.node).map(|member| member.session);
        let refusal = match known {
            _ if to != post.me() => Some(Refusal::NotMe { meant: to, here: post.me() }),
            Some(known) if known.incarnation > session.incarnation => {
                Some(Refusal::OldIncarnation { name, latest: known.incarnation, theirs: session.incarnation })
            }
            Some(known) if known == session && post.view().is_dead(session) => Some(Refusal::Dead { name }),
            Some(known) if known == session => None,
            Some(_) | None => Some(Refusal::NotKnown { name }),
        };
        if let Some(refusal) = refusal {
            return self.refuse(connection, from, refusal).await;
        }
        match text::write(&mut connection, &Reply::Linked).await {
            Ok(()) => member.tell(Incoming { session, connection }),
            Err(error) => tracing::info!(event = "gate.refused", from, "a link ended before it had begun: {error}"),
        }
    }

    async fn refuse(&self, mut connection: Connection, from: &str, refusal: Refusal) {
        match refusal {
            Refusal::NotKnown { .. } | Refusal::NotMe { .. } | Refusal::Joining | Refusal::Stopping => {
                tracing::debug!(event = "gate.refused", from, "a connection is refused for the moment: {refusal}");
            }
            Refusal::OtherCluster { .. }
            | Refusal::OtherVersion { .. }
            | Refusal::OldIncarnation { .. }
            | Refusal::Dead { .. } => {
                tracing::warn!(event = "gate.refused", from, "a connection is refused: {refusal}");
            }
        }
        // Whoever is gone already needs no reason.
        let _ = text::write(&mut connection, &Reply::Refused(refusal)).await;
    }
}

/// Asks the manager of this node; none if it is just not there.
pub async fn ask_to_join(seat: &Seat, request: JoinRequest, own_node: bool) -> Option<JoinReply> {
    let (reply, answer) = oneshot::channel();
    seat.tell(JoinAsked { request, own_node, reply });
    answer.await.ok()
}

#[cfg(test)]
mod tests {
    use slipgate_cluster::manager::Waits;

    use super::*;
    use crate::clock::NodeClock;
    use crate::link::dial::{self, DialError};
    use crate::transport::memory::MemoryNetwork;

    fn name(text: &str) -> NodeName {
        NodeName::new(text).expect("a name")
    }

    /// What a gate answers to a join, and to a link.
    async fn knock(seat: Option<Seat>, standing: Standing) -> [Result<(), DialError>; 2] {
        let network = MemoryNetwork::default();
        let (_standing, standing) = watch::channel(standing);
        let gate = Gate { cluster: "demo".into(), name: name("m"), manager: name("m"), seat, standing };
        let keeping = tokio::task::spawn_local(keep(gate, Box::new(network.listen("m"))));
        let caller = dial::Caller { cluster: "demo".into(), name: name("a") };
        let request = JoinRequest { name: name("a"), address: "a:1".into(), admin: "a:2".into(), scenes: Vec::new() };
        let join = dial::join(&network, "m", &caller, request).await.map(drop);
        let link = dial::link(&network, "m", &caller, Session::new(2, 1), Session::new(1, 1)).await.map(drop);
        keeping.abort();
        [join, link]
    }

    fn refused_for_the_moment(answer: &Result<(), DialError>, with: &Refusal) -> bool {
        matches!(answer, Err(error @ DialError::Refused { refusal, .. }) if refusal == with && error.may_pass())
    }

    #[actix_rt::test]
    async fn a_node_that_stops_refuses_everybody_for_the_moment() {
        let answers = knock(None, Standing::Stopping).await;
        assert!(answers.iter().all(|answer| refused_for_the_moment(answer, &Refusal::Stopping)), "{answers:?}");
    }

    #[actix_rt::test]
    async fn the_managers_node_lets_nobody_in_before_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("manager.redb");
        let (seat, keeper) = Seat::take(store, Waits::default(), NodeClock::start()).await.expect("a manager");
        let answers = knock(Some(seat), Standing::Joining).await;
        assert!(answers.iter().all(|answer| refused_for_the_moment(answer, &Refusal::Joining)), "{answers:?}");
        keeper.stop().await;
    }

    #[actix_rt::test]
    async fn a_node_that_has_not_joined_refuses_links_and_answers_joins_with_where_the_manager_is() {
        let [join, link] = knock(None, Standing::Joining).await;
        assert!(join.is_ok(), "{join:?}");
        assert!(refused_for_the_moment(&link, &Refusal::Joining), "{link:?}");
    }
}
