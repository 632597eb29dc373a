//! Asking the desks of other nodes.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use slipgate_cluster::message::{Control, Message as Said, Nonce, ToolMessage};
use slipgate_cluster::view::{Member, View};
use slipgate_cluster::{Place, Port, Record};
use slipgate_entity::OnlineId;
use slipgate_proto::admin::{Answer, Problem, ProblemKind, Question};
use slipgate_proto::codec;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Office, PEER_WAIT, not_readable};
use crate::directory::Look;

impl Office {
    /// Asks one node to answer for itself.
    pub(super) async fn ask_node(
        self: &Rc<Self>,
        member: &Member,
        question: Question,
        wait: Duration,
    ) -> Result<Answer, Problem> {
        if member.session == self.around.post.me() {
            return timeout(wait, self.answer_here(question)).await.unwrap_or_else(|_| Err(silent(member, wait)));
        }
        if self.around.post.is_gone(member.session) {
            return Err(gone(member));
        }
        let nonce = self.nonce();
        let (asker, answer) = oneshot::channel();
        let to = Place { session: member.session, port: Port::Admin };
        self.tools.borrow_mut().insert((to, nonce), asker);
        let question = codec::encode(&question).expect("a question is far below the codec's limit");
        let ask = Said::Tool(ToolMessage::Ask { nonce, question });
        let answer = timeout(wait, self.insist(to, ask, answer)).await;
        self.tools.borrow_mut().remove(&(to, nonce));
        let bytes = match answer {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(lost(member)),
            Err(_) => return Err(silent(member, wait)),
        };
        codec::decode(&bytes).unwrap_or_else(|error| Err(not_readable(&error)))
    }

    /// Says it again until it is answered: a question or its answer may have been on a link that was cut. The other
    /// desk knows a repeat by its nonce, and the directory's answers are what stands.
    async fn insist<T>(&self, to: Place, message: Said, mut answer: oneshot::Receiver<T>) -> Option<T> {
        loop {
            self.around.post.send_one(Port::Admin, to, message.clone());
            match timeout(REPEAT_EVERY, &mut answer).await {
                Ok(answered) => return answered.ok(),
                Err(_) if self.around.post.is_gone(to.session) => return None,
                Err(_) => {}
            }
        }
    }

    /// Asks every member to answer for itself, all at once.
    pub(super) async fn ask_all(
        self: &Rc<Self>,
        question: impl Fn(&Member) -> Question,
    ) -> Vec<(Member, Result<Answer, Problem>)> {
        let view = self.around.post.view();
        let asking = view.members.values().map(|member| async {
            let answer = self.ask_node(member, question(member), PEER_WAIT).await;
            (member.clone(), answer)
        });
        join_all(asking).await
    }

    /// The record of an entity, from its home; from the next one, if another is named meanwhile.
    ///
    /// None: nobody is the home of such an entity.
    pub(super) async fn record(&self, entity: OnlineId) -> Result<Option<Record>, Problem> {
        let post = &self.around.post;
        let asking = async {
            loop {
                let home = post.home_of(entity)?;
                let moved_on = post.await_view(|view| (view.home_of(entity.range()) != Some(home)).then_some(()));
                let asked = async {
                    if post.is_gone(home.session) || post.view().is_replaced(home.session) {
                        return None;
                    }
                    match self.ask_home(home, entity).await {
                        Some(None) => {
                            // It is not the home yet, or not any more: it knows another view than this node, and nobody
                            // tells here when it has learned of the same.
                            tokio::time::sleep(REPEAT_EVERY).await;
                            Some(None)
                        }
                        said => said,
                    }
                };
                match select(pin!(asked), pin!(moved_on)).await {
                    Either::Left((Some(Some(record)), _)) => return Some(Some(record)),
                    Either::Left((None, _)) => return Some(None),
                    Either::Left((Some(None), _)) | Either::Right(_) => {}
                }
            }
        };
        match timeout(HOME_WAIT, asking).await {
            Ok(None) => Ok(None),
            Ok(Some(Some(record))) => Ok(Some(record)),
            Ok(Some(None)) | Err(_) => Err(home_unreachable(entity, &post.view())),
        }
    }

    /// What a node says that is taken for the home of an entity. None: nothing; inside, that it is not the home.
    async fn ask_home(&self, home: Place, entity: OnlineId) -> Option<Option<Record>> {
        let (asker, answer) = oneshot::channel();
        if home.session == self.around.post.me() {
            self.around.directory.tell(Look { entity, reply: asker });
            return answer.await.ok();
        }
        let nonce = self.nonce();
        self.records.borrow_mut().insert((home, nonce), asker);
        let _asked = Asked { office: self, home, nonce };
        self.insist(home, Said::Control(Control::Query { entity, nonce }), answer).await
    }
}

/// A question to a home that is open, until it is dropped.
struct Asked<'a> {
    office: &'a Office,
    home: Place,
    nonce: Nonce,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.office.records.borrow_mut().remove(&(self.home, self.nonce));
    }
}

/// A home that is dead has no successor before the verdict, and one that was named just now may not be complete.
fn home_unreachable(entity: OnlineId, view: &View) -> Problem {
    let home = view.homes.get(&entity.range());
    let node = home.map_or_else(|| "?".to_owned(), |home| view.node_text(home.session.node));
    let text = match home.and_then(|home| home.before) {
        Some(before) if !home.is_some_and(|home| view.is_dead(home.session)) => format!(
            "the home of {entity} is being rebuilt: node {node} takes the place of {}, and has not heard from every scene, \
             or does not answer",
            view.node_text(before.node)
        ),
        _ => format!("the home of {entity}, that life of node {node}, does not answer"),
    };
    Problem {
        kind: ProblemKind::Timeout,
        reason: "home_unreachable".to_owned(),
        text,
        state: Some("nothing has changed; the entity goes on wherever it is".to_owned()),
        hint: Some(
            "try again once another node is its home: after the lease and the margin      slipgate nodes".to_owned(),
        ),
    }
}

/// Known at once: nobody has to wait to find out.
fn gone(member: &Member) -> Problem {
    Problem {
        kind: ProblemKind::Unavailable,
        reason: "node_gone".to_owned(),
        text: format!("node {} is not connected: it has stopped, or died, or cannot be reached", member.name),
        state: Some("nothing was asked of it".to_owned()),
        hint: Some("slipgate nodes".to_owned()),
    }
}

/// It was asked, and then it was gone.
fn lost(member: &Member) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "node_lost".to_owned(),
        text: format!(
            "node {} was lost before it answered: it has stopped, or died, or cannot be reached",
            member.name
        ),
        state: Some("the request may have been carried out there".to_owned()),
        hint: Some("slipgate nodes".to_owned()),
    }
}

fn silent(member: &Member, wait: Duration) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "silent".to_owned(),
        text: format!("node {} did not answer within {} ms", member.name, wait.as_millis()),
        state: Some("the request may still be carried out there".to_owned()),
        hint: Some("slipgate nodes".to_owned()),
    }
}

/// Between repeats of a question: above a round trip and a busy turn.
const REPEAT_EVERY: Duration = Duration::from_millis(250);
/// How long a home may take: a link that was cut is up again by then, a node that naps awake.
const HOME_WAIT: Duration = Duration::from_secs(3);
