//! Whoever dials this node: joins go to the manager, links to the member, everybody else is refused.
//!
//! Keeps: at most [`PENDING_MAX`] strangers are listened to at a time and as many answered, each within its
//! time; every refusal is told to the other side, and in the log as one line per cause with the number left out.

mod cause;
mod newcomer;

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use slipgate_cluster::manager::{JoinRefusal, JoinReply, JoinRequest};
use slipgate_cluster::{NodeName, Session};
use slipgate_proto::handshake::{HELLO_BYTES_MAX, HandshakeError, Hello, PROTOCOL, Purpose, Refusal, Reply};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::AbortHandle;

use self::cause::{Cause, Words};
use super::text::{self, TextError};
use crate::mailbox::Mailbox;
use crate::manager::JoinAsked;
use crate::manager_seat::Seat;
use crate::member::{Incoming, MemberActor};
use crate::post::Post;
use crate::transport::{Connection, Listener};

/// Handshakes under way at once: so many that have not said who they are, and so many that wait for the answer.
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

/// A handshake that has not come to its end.
struct Pending {
    /// Whether the other side is still expected to say who it is.
    unheard: Rc<Cell<bool>>,
    task: AbortHandle,
}

/// Accepts connections until the listener fails or the node stops.
pub async fn keep(gate: Gate, mut listener: Box<dyn Listener>) {
    let porter = Rc::new(Porter { gate, words: Words::new(), answering: Arc::new(Semaphore::new(PENDING_MAX)) });
    let mut pending = VecDeque::new();
    let mut looks = tokio::time::interval(LOOK);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = looks.tick() => {
                porter.words.sum_up();
                continue;
            }
        };
        match accepted {
            Ok((connection, from)) => {
                porter.make_room(&mut pending);
                let unheard = Rc::new(Cell::new(true));
                let meeting = porter.clone().meet(connection, from, unheard.clone());
                let task = tokio::task::spawn_local(meeting).abort_handle();
                pending.push_back(Pending { unheard, task });
            }
            Err(error) => {
                porter.words.refused(Cause::NotAccepted, "", &error);
                // Mostly for want of file descriptors: the next attempt fails as well until somebody gives one back.
                tokio::time::sleep(LOOK / 10).await;
            }
        }
    }
}

/// The gate at work.
struct Porter {
    gate: Gate,
    words: Words,
    answering: Arc<Semaphore>,
}

impl Porter {
    /// Whoever has been silent for longest goes when there is no room: a node that means to link or to join
    /// speaks at once, so a flood of silent strangers does not keep it out.
    fn make_room(&self, pending: &mut VecDeque<Pending>) {
        if pending.len() < PENDING_MAX {
            return;
        }
        pending.retain(|pending| pending.unheard.get() && !pending.task.is_finished());
        if pending.len() >= PENDING_MAX
            && let Some(oldest) = pending.pop_front()
        {
            oldest.task.abort();
            self.words.refused(Cause::CrowdedOut, "", &"too many say nothing, and this one had waited longest");
        }
    }

    async fn meet(self: Rc<Self>, mut connection: Connection, from: String, unheard: Rc<Cell<bool>>) {
        let hello = text::read::<Hello>(&mut connection, HELLO_BYTES_MAX).await;
        unheard.set(false);
        let Ok(_permit) = self.answering.clone().try_acquire_owned() else {
            return self.words.refused(Cause::CrowdedOut, &from, &"too many wait for an answer");
        };
        let hello = match hello {
            Ok(hello) => hello,
            Err(TextError::Unreadable(HandshakeError::OtherVersion { theirs })) => {
                return self.refuse(connection, &from, Refusal::OtherVersion { here: PROTOCOL, theirs }).await;
            }
            Err(error) => return self.words.refused(Cause::of_text(&error), &from, &error),
        };
        let gate = &self.gate;
        if hello.cluster != gate.cluster {
            let refusal = Refusal::OtherCluster { here: gate.cluster.clone(), theirs: shown(&hello.cluster) };
            return self.refuse(connection, &from, refusal).await;
        }
        let standing = gate.standing.borrow().clone();
        match (standing, hello.purpose) {
            (Standing::Stopping, _) => self.refuse(connection, &from, Refusal::Stopping).await,
            (Standing::Joining, Purpose::Link { .. }) => self.refuse(connection, &from, Refusal::Joining).await,
            // The manager's node goes first and so has the lowest number: all others dial it, and it can
            // tell its later lives to those who do not know them yet.
            (Standing::Joining, Purpose::Join(_)) if gate.seat.is_some() => {
                self.refuse(connection, &from, Refusal::Joining).await;
            }
            (Standing::Joining | Standing::Joined(_), Purpose::Join(request)) => {
                self.join(connection, &from, request).await;
            }
            (Standing::Joined(here), Purpose::Link { name, session, to }) => {
                self.link(connection, &from, here, Caller { name, session, to }).await;
            }
        }
    }

    async fn join(&self, mut connection: Connection, from: &str, request: JoinRequest) {
        if let Some(fault) = newcomer::fault(&request) {
            return self.words.refused(Cause::Impossible, from, &fault);
        }
        let reply = match &self.gate.seat {
            None => Some(JoinReply::Refused(JoinRefusal::NotManager { manager: self.gate.manager.clone() })),
            Some(seat) => ask_to_join(seat, request, false).await,
        };
        // A manager that is just stopping answers nothing: the other side asks again.
        let Some(reply) = reply else { return };
        if let Err(error) = text::write(&mut connection, &Reply::Join(reply)).await {
            self.words.refused(Cause::Unanswered, from, &error);
        }
    }

    async fn link(&self, mut connection: Connection, from: &str, here: Joined, caller: Caller) {
        let (Joined { post, member }, Caller { name, session, to }) = (here, caller);
        let view = post.view();
        let known = view.members.get(&session.node).filter(|member| member.name == name).map(|member| member.session);
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
            Err(error) => self.words.refused(Cause::Unanswered, from, &error),
        }
    }

    async fn refuse(&self, mut connection: Connection, from: &str, refusal: Refusal) {
        match Cause::of_refusal(&refusal) {
            Some(cause) => self.words.refused(cause, from, &refusal),
            None => {
                tracing::debug!(event = "gate.refused", from, "a connection is refused for the moment: {refusal}");
            }
        }
        // Whoever is gone already needs no reason.
        let _ = text::write(&mut connection, &Reply::Refused(refusal)).await;
    }
}

/// A name that may be anything, cut to what a line has room for.
fn shown(name: &str) -> String {
    name.chars().take(NodeName::BYTES_MAX).collect()
}

/// Asks the manager of this node; none if it is just not there.
pub async fn ask_to_join(seat: &Seat, request: JoinRequest, own_node: bool) -> Option<JoinReply> {
    let (reply, answer) = oneshot::channel();
    seat.tell(JoinAsked { request, own_node, reply });
    answer.await.ok()
}

/// How often the log is told what it was spared.
const LOOK: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use slipgate_cluster::manager::Waits;

    use super::*;
    use crate::clock::NodeClock;
    use crate::link::dial::{self, DialError};
    use crate::transport::Transport;
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
        let request =
            JoinRequest { name: name("a"), address: "a:1".into(), admin: "a:2".into(), scenes: Vec::new(), seen: None };
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
    async fn a_crowd_that_says_nothing_does_not_keep_out_whoever_speaks() {
        let network = MemoryNetwork::default();
        let (_standing, standing) = watch::channel(Standing::Stopping);
        let gate = Gate { cluster: "demo".into(), name: name("m"), manager: name("m"), seat: None, standing };
        let keeping = tokio::task::spawn_local(keep(gate, Box::new(network.listen("m"))));
        let mut crowd = Vec::new();
        for _ in 0..2 * PENDING_MAX {
            crowd.push(network.dial("m").await.expect("somebody listens"));
        }
        let caller = dial::Caller { cluster: "demo".into(), name: name("a") };
        let link = dial::link(&network, "m", &caller, Session::new(2, 1), Session::new(1, 1)).await.map(drop);
        assert!(refused_for_the_moment(&link, &Refusal::Stopping), "{link:?}");
        let mut ended = 0;
        for connection in &mut crowd {
            let read = tokio::io::AsyncReadExt::read_u8(connection);
            ended += usize::from(tokio::time::timeout(Duration::ZERO, read).await.is_ok());
        }
        assert!((PENDING_MAX..=PENDING_MAX + 1).contains(&ended), "{ended} of the crowd are gone");
        keeping.abort();
    }

    #[actix_rt::test]
    async fn a_node_that_has_not_joined_refuses_links_and_answers_joins_with_where_the_manager_is() {
        let [join, link] = knock(None, Standing::Joining).await;
        assert!(join.is_ok(), "{join:?}");
        assert!(refused_for_the_moment(&link, &Refusal::Joining), "{link:?}");
    }
}
