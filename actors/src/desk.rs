//! The admin desk: answers questions of tools for the whole cluster.
//!
//! ```text
//!   tool --> desk of the asked node --> its own scenes, routers, directory
//!                 |    ^
//!                 v    | questions and answers over the links
//!             desks of other nodes: they answer for themselves only
//! ```
//!
//! A question about an entity goes to the node that its record names, and again to the next one if the entity has
//! moved meanwhile.
//!
//! Keeps: every question is answered within its time; at most [`OPEN_MAX`] are open; a node that does not
//! answer is reported as silent, and does not keep the others from being reported.
//! Leaves out: HTTP, tokens, JSON (`slipgate::admin`).

mod bounds;
mod draining;
mod entities;
mod heard;
mod here;
mod peers;
mod report;
mod resolve;
mod scenes;
mod sending;
mod spawning;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, Addr, AsyncContext, Context, Handler, Message, ResponseFuture};
use slipgate_cluster::manager::{ManagerReply, SceneRefusal};
use slipgate_cluster::message::{Control, ManagerMessage, Message as Said, Nonce, ToolMessage};
use slipgate_cluster::{Envelope, NodeName, Place, Port, Record};
use slipgate_entity::SceneId;
use slipgate_entity::game::Types;
use slipgate_proto::admin::{Answer, Problem, ProblemKind, Question};
use slipgate_proto::codec;
use tokio::sync::{oneshot, watch};

use self::heard::{Heard, Hearing};
use crate::chronicle::Chronicle;
use crate::clock::NodeClock;
use crate::directory::DirectoryActor;
use crate::drain::DrainDesk;
use crate::mailbox::{Halt, Mail, Mailbox, tell};
use crate::member::MemberActor;
use crate::post::Post;
use crate::router::RouterActor;
use crate::scenes::Scenes;
use crate::scenes::keeper::SceneKeeper;

/// Questions open at once; more are told to come back.
pub const OPEN_MAX: usize = 1024;

/// A handle on the node's desk; cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {
    addr: Addr<DeskActor>,
}

impl Desk {
    /// Answers a question, asking other nodes where they know more.
    ///
    /// # Errors
    ///
    /// If there is no answer; the problem says why, what state is left, and what to do.
    pub async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        if !self.addr.connected() {
            return Err(unavailable("stopping", "the node is stopping"));
        }
        self.addr.send(Asked(question)).await.unwrap_or_else(|_| Err(cut_short()))
    }

    /// Closes the desk: the session is over.
    pub fn close(&self) {
        tell(&self.addr, Halt);
    }
}

/// How far a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its scenes are not open yet.
    Starting,
    /// It works.
    Working,
    /// It takes nobody in, and is to stop when everybody has left.
    Draining,
    /// It has been told to stop.
    Stopping,
}

/// What a desk needs of its node.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Name of the cluster.
    pub cluster: String,
    /// Name of this node.
    pub name: NodeName,
    /// Name of the node that runs the manager.
    pub manager: NodeName,
    /// Version of the program.
    pub version: &'static str,
    /// Largest payload of one message, in bytes.
    pub message_bytes: usize,
    /// How far the node is.
    pub stage: watch::Receiver<Stage>,
    /// Where orders to drain go.
    pub drain: DrainDesk,
    /// Where envelopes go.
    pub post: Post,
    /// The node's clock.
    pub clock: NodeClock,
    /// The types that it can host.
    pub types: Types,
    /// Its scenes.
    pub scenes: Scenes,
    /// Opens and ends scenes.
    pub keeper: Mailbox<SceneKeeper>,
    /// Its routers, by number.
    pub routers: Vec<Mailbox<RouterActor>>,
    /// Its directory.
    pub directory: Mailbox<DirectoryActor>,
    /// Its membership.
    pub member: Mailbox<MemberActor>,
    /// Its chronicle.
    pub chronicle: Mailbox<Chronicle>,
}

/// The desk's actor.
#[derive(Debug)]
pub struct DeskActor {
    office: Rc<Office>,
}

impl DeskActor {
    /// Opens the desk of a node.
    #[must_use]
    pub fn open(around: Surroundings) -> Desk {
        let office = Office {
            around,
            asked: Cell::new(0),
            open: Cell::new(0),
            tools: RefCell::new(BTreeMap::new()),
            wishes: RefCell::new(BTreeMap::new()),
            records: RefCell::new(BTreeMap::new()),
            heard: RefCell::new(Heard::default()),
        };
        Desk { addr: Self { office: Rc::new(office) }.start() }
    }
}

/// Questions to other places that are not answered yet. Only whoever was asked can answer.
type Unanswered<T> = RefCell<BTreeMap<(Place, Nonce), oneshot::Sender<T>>>;

/// What the desk's open questions share; all run on the desk's thread.
#[derive(Debug)]
struct Office {
    around: Surroundings,
    asked: Cell<u64>,
    open: Cell<usize>,
    tools: Unanswered<Vec<u8>>,
    /// Requests to the manager about scenes.
    wishes: RefCell<BTreeMap<u64, oneshot::Sender<Result<SceneId, SceneRefusal>>>>,
    records: Unanswered<Option<Record>>,
    heard: RefCell<Heard>,
}

impl Office {
    fn nonce(&self) -> Nonce {
        self.asked.set(self.asked.get() + 1);
        Nonce(self.asked.get())
    }

    /// Counts a question in, unless too many are open.
    fn admit(self: &Rc<Self>) -> Result<Open, Problem> {
        if self.open.get() >= OPEN_MAX {
            return Err(unavailable("too_many_questions", "too many questions of tools are open on this node"));
        }
        self.open.set(self.open.get() + 1);
        Ok(Open(self.clone()))
    }
}

/// A question that is open, until it is dropped.
struct Open(Rc<Office>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
    }
}

#[derive(Debug, Message)]
#[rtype(result = "Result<Answer, Problem>")]
struct Asked(Question);

impl Actor for DeskActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let mailbox = Mailbox::new(ctx.address(), MAILBOX);
        self.office.around.post.open(Port::Admin, Arc::new(mailbox));
    }
}

impl Handler<Asked> for DeskActor {
    type Result = ResponseFuture<Result<Answer, Problem>>;

    fn handle(&mut self, Asked(question): Asked, _: &mut Context<Self>) -> Self::Result {
        let office = self.office.clone();
        let admitted = office.admit();
        Box::pin(async move {
            let _open = admitted?;
            office.answer(question).await
        })
    }
}

impl Handler<Halt> for DeskActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl DeskActor {
    /// Another desk asks, or asks again because it has heard no answer.
    fn hear(&self, from: Place, nonce: Nonce, question: Vec<u8>) {
        let office = self.office.clone();
        let reply = move |office: &Office, answer| {
            office.around.post.send_one(Port::Admin, from, Said::Tool(ToolMessage::Answer { nonce, answer }));
        };
        let hearing = office.heard.borrow_mut().hear(from, nonce);
        match hearing {
            Hearing::UnderWay => {}
            Hearing::Answered(answer) => reply(&office, answer),
            Hearing::New => {
                let admitted = office.admit();
                actix_rt::spawn(async move {
                    let answer = match (admitted, codec::decode(&question)) {
                        (Err(problem), _) => Err(problem),
                        (Ok(_), Err(error)) => Err(not_readable(&error)),
                        (Ok(_open), Ok(question)) => match bounds::bounded(question) {
                            Ok(question) => office.answer_here(question).await,
                            Err(problem) => Err(problem),
                        },
                    };
                    let answer = codec::encode(&answer).unwrap_or_else(|_| Vec::new());
                    office.heard.borrow_mut().answered(from, nonce, &answer);
                    reply(&office, answer);
                });
            }
        }
    }
}

impl Handler<Mail> for DeskActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        for Envelope { from, message, .. } in mail.envelopes {
            match message {
                Said::Tool(ToolMessage::Ask { nonce, question }) => self.hear(from, nonce, question),
                Said::Tool(ToolMessage::Answer { nonce, answer }) => {
                    if let Some(asker) = self.office.tools.borrow_mut().remove(&(from, nonce)) {
                        drop(asker.send(answer));
                    }
                }
                Said::Control(Control::RecordIs { record, nonce: Some(nonce), .. }) => {
                    if let Some(asker) = self.office.records.borrow_mut().remove(&(from, nonce)) {
                        let _ = asker.send(Some(record));
                    }
                }
                Said::Control(Control::NotHome { nonce, .. }) => {
                    if let Some(asker) = self.office.records.borrow_mut().remove(&(from, nonce)) {
                        let _ = asker.send(None);
                    }
                }
                Said::Manager(ManagerMessage::Reply(ManagerReply::Scene { session, request, result }))
                    if self.office.is_manager_speaking_to(from, session) =>
                {
                    if let Some(asker) = self.office.wishes.borrow_mut().remove(&request) {
                        let _ = asker.send(result);
                    }
                }
                Said::Control(_) | Said::Data(_) | Said::Prepare(_) | Said::Manager(_) => {}
            }
        }
    }
}

fn not_readable(error: &codec::DecodeError) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "unreadable".to_owned(),
        text: format!("the question cannot be read: {error}"),
        state: None,
        hint: Some("run the same version on all nodes".to_owned()),
    }
}

/// The node has stopped, or this life of it is over, while something was under way.
fn cut_short() -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "stopping".to_owned(),
        text: "the node stopped before it had answered".to_owned(),
        state: Some("what was asked for may have been done".to_owned()),
        hint: Some("slipgate nodes".to_owned()),
    }
}

fn unavailable(reason: &str, text: &str) -> Problem {
    Problem {
        kind: ProblemKind::Unavailable,
        reason: reason.to_owned(),
        text: text.to_owned(),
        state: None,
        hint: Some("try again in a moment: slipgate status".to_owned()),
    }
}

/// Questions and answers of other desks that may wait.
const MAILBOX: usize = 4096;
/// How long a peer may take for a question that is not about time.
const PEER_WAIT: Duration = Duration::from_secs(1);
