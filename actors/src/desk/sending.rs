//! Messages of tools: parsed, resolved, and handed to the router of the node that is to send them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use slipgate_cluster::message::Payload;
use slipgate_entity::OnlineId;
use slipgate_entity::game::{ASK_BYTES, Reply, reply as reply_of};
use slipgate_proto::admin::{Answer, AskReport, Outgoing, Problem, ProblemKind, Question, SendReport};
use tokio::sync::oneshot;

use super::{Office, PEER_WAIT, Stage, cut_short, resolve, unavailable};
use crate::mailbox::Mailbox;
use crate::panic::guarded;
use crate::router::{REPLY_BYTES, RouterActor, SendBatch, Sent, Waiting};

impl Office {
    /// Names are made ids here; the node that sends gets ids only.
    pub(super) async fn send(
        self: &Rc<Self>,
        via: Option<String>,
        mut messages: Vec<Outgoing>,
        wait: bool,
        timeout_ms: u64,
    ) -> Result<Answer, Problem> {
        let mut names: BTreeMap<String, OnlineId> = BTreeMap::new();
        for message in &mut messages {
            if let Ok(entity) = message.entity.parse::<OnlineId>() {
                self.check_granted(entity).await?;
                continue;
            }
            let entity = match names.get(&message.entity) {
                Some(entity) => *entity,
                None => self.resolve(&message.entity).await?.entity,
            };
            names.insert(std::mem::replace(&mut message.entity, entity.to_string()), entity);
        }
        let view = self.around.post.view();
        let via = via.unwrap_or_else(|| self.around.name.to_string());
        let member = resolve::node(&via, &view)?;
        let question = Question::Send { via: None, messages, wait, timeout_ms };
        let limit = if wait { Duration::from_millis(timeout_ms) } else { Duration::ZERO };
        self.ask_node(&member, question, limit + PEER_WAIT).await
    }

    /// Sends from here. Every message is checked before the first is sent.
    pub(super) async fn send_here(
        &self,
        messages: Vec<Outgoing>,
        wait: bool,
        timeout_ms: u64,
    ) -> Result<Answer, Problem> {
        if *self.around.stage.borrow() == Stage::Stopping {
            // The node waits for the answers to what it has accepted, and then it is gone.
            return Err(stopping());
        }
        if messages.len() > BATCH_MAX {
            return Err(too_many(messages.len()));
        }
        let mut parsed = Vec::with_capacity(messages.len());
        for (position, message) in (0u32..).zip(&messages) {
            parsed.push((position, self.parse(message)?));
        }
        let mut batches: BTreeMap<usize, Vec<(u32, OnlineId, Payload)>> = BTreeMap::new();
        for (position, (entity, payload)) in parsed {
            batches.entry(self.number_of_router(entity)).or_default().push((position, entity, payload));
        }
        let waiting = if wait { Waiting::Outcome(Duration::from_millis(timeout_ms)) } else { Waiting::No };
        let sending = batches.into_iter().map(|(router, messages)| {
            let (reply, report) = oneshot::channel();
            self.around.routers[router].tell(SendBatch { messages, waiting, reply });
            report
        });
        let all = join_all(sending.collect::<Vec<_>>()).await;
        let mut sum = SendReport::default();
        for sent in all {
            // Each router tells positions in the whole.
            sum.add(sent.map_err(|_| cut_short())?.report, 0);
        }
        sum.busy_at.sort_unstable();
        sum.refusals.sort_unstable_by_key(|refusal| refusal.at);
        sum.failures.sort_unstable_by_key(|failure| failure.at);
        Ok(Answer::Sent(sum))
    }

    /// A name is made an id here, as for [`Self::send`].
    pub(super) async fn ask(
        self: &Rc<Self>,
        via: Option<String>,
        mut message: Outgoing,
        raw: bool,
        timeout_ms: u64,
    ) -> Result<Answer, Problem> {
        match message.entity.parse::<OnlineId>() {
            Ok(entity) => self.check_granted(entity).await?,
            Err(_) => message.entity = self.resolve(&message.entity).await?.entity.to_string(),
        }
        let via = via.unwrap_or_else(|| self.around.name.to_string());
        let member = resolve::node(&via, &self.around.post.view())?;
        let question = Question::Ask { via: None, message, raw, timeout_ms };
        self.ask_node(&member, question, Duration::from_millis(timeout_ms) + PEER_WAIT).await
    }

    /// Asks from here.
    pub(super) async fn ask_here(&self, message: &Outgoing, raw: bool, timeout_ms: u64) -> Result<Answer, Problem> {
        if *self.around.stage.borrow() == Stage::Stopping {
            return Err(stopping());
        }
        let (entity, payload) = self.parse(message)?;
        let (reply, sent) = oneshot::channel();
        let waiting = Waiting::Answer(Duration::from_millis(timeout_ms));
        self.router_of(entity).tell(SendBatch { messages: vec![(0, entity, payload)], waiting, reply });
        let Sent { report, replies } = sent.await.map_err(|_| cut_short())?;
        let told = match replies.get(&0).and_then(|payload| reply_of(payload)) {
            Some((_, Reply::Answer { bytes, .. })) if raw => Some(Ok(json!(bytes))),
            // A game says what JSON its answer is.
            Some((_, Reply::Answer { tag, bytes })) => Some(
                guarded(|| self.around.types.describe_answer(tag, bytes))
                    .unwrap_or_else(|panic| Err(format!("it panicked: {}", panic.text)))
                    .map_err(|why| format!("it cannot be told as JSON: {why}")),
            ),
            Some((_, Reply::Done)) => Some(Err(format!("it is larger than {REPLY_BYTES} bytes"))),
            Some((_, Reply::Refused(_) | Reply::Panicked { .. })) | None => None,
        };
        let (answer, why) = match told {
            Some(Ok(answer)) => (Some(answer), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        Ok(Answer::Asked(AskReport {
            entity: entity.to_string(),
            message: message.name.clone(),
            sent: report,
            answered: answer.is_some(),
            answer: answer.unwrap_or_default().to_string(),
            why,
        }))
    }

    /// One router per receiver, or the messages of this node to it would have no order.
    fn router_of(&self, entity: OnlineId) -> &Mailbox<RouterActor> {
        &self.around.routers[self.number_of_router(entity)]
    }

    fn number_of_router(&self, entity: OnlineId) -> usize {
        let routers = self.around.routers.len() as u64;
        usize::try_from(entity.as_u64() % routers).expect("a router's number is small")
    }

    fn parse(&self, message: &Outgoing) -> Result<(OnlineId, Payload), Problem> {
        let entity: OnlineId = message.entity.parse().map_err(|error| usage("not_an_id", &error))?;
        // A game reads its own arguments.
        let parsed = guarded(|| self.around.types.parse_any(&message.name, &message.arguments));
        let parsed = parsed.map_err(|panic| usage("not_a_message", &format!("reading it panicked: {}", panic.text)))?;
        let payload = parsed.map_err(|error| usage("not_a_message", &error))?;
        // Whoever waits for the outcome sends it as an ask.
        let (bytes, bytes_max) = (payload.len() + ASK_BYTES, self.around.message_bytes);
        if bytes > bytes_max {
            return Err(usage(
                "message_too_large",
                &format!("a message of {bytes} bytes is above the limit of {bytes_max} ([limits] message_bytes)"),
            ));
        }
        Ok((entity, Arc::from(payload)))
    }
}

fn stopping() -> Problem {
    unavailable("stopping", "the node is stopping")
}

fn usage(reason: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: reason.to_owned(),
        text: error.to_string(),
        state: Some("nothing was sent".to_owned()),
        hint: Some("slipgate send --help".to_owned()),
    }
}

fn too_many(messages: usize) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "too_many_messages".to_owned(),
        text: format!("{messages} messages in one request are above the limit of {BATCH_MAX}"),
        state: Some("nothing was sent".to_owned()),
        hint: Some("send them in several requests".to_owned()),
    }
}

/// Messages in one request.
const BATCH_MAX: usize = 1024;
