//! An entity, wherever it is.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use slipgate_entity::OnlineId;
use slipgate_entity::game::Message;
use slipgate_proto::admin::{Answer, Outgoing, Question, SendReport};

use super::outcome::{self, MoveError, Moved, Problem, SendError, Shown};
use crate::admin::Oracle;
use crate::node::SharedDesk;

/// An entity, wherever it is: small, and as good after a move as before.
///
/// As data it is the entity's id. One that was read from data is not attached to a cluster: `cluster.attach(&reference)`
/// is. Two are equal if they name the same entity.
///
/// ```
/// # use slipgate::doc::{Hit, Player};
/// # use slipgate::prelude::*;
/// # slipgate::doc::run(async |cluster| {
/// let ann: Ref<Player> = cluster.scene("forest").spawn(Player::default()).await?;
/// assert_eq!(ann.ask(Hit { hp: 30 }).await?, 70);
/// ann.move_to("harbor").await?;
/// assert_eq!(ann.ask(Hit { hp: 30 }).await?, 40);
/// # Ok(())
/// # });
/// ```
pub struct Ref<T = Untyped> {
    id: OnlineId,
    /// Name of its type, where that is known.
    kind: Option<&'static str>,
    desk: Option<SharedDesk>,
    of: PhantomData<fn() -> T>,
}

/// The type of an entity of which only the id is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untyped {}

impl<T> Ref<T> {
    pub(super) fn attached(id: OnlineId, kind: Option<&'static str>, desk: SharedDesk) -> Self {
        Self { id, kind, desk: Some(desk), of: PhantomData }
    }

    pub(super) fn kind(&self) -> Option<&'static str> {
        self.kind
    }

    /// The entity's id, which it keeps over all its moves.
    #[must_use]
    pub fn id(&self) -> OnlineId {
        self.id
    }

    /// Sends a message and waits until it is applied.
    ///
    /// What neither the entity's type nor any component takes is [`SendError::NotTaken`], where the type is known here.
    ///
    /// # Errors
    ///
    /// If it was not applied, or nobody knows whether it was; says which.
    pub async fn send<M: Message>(&self, message: M) -> Result<(), SendError> {
        self.send_named(M::NAME, &self.arguments(&message)?).await
    }

    /// The same, but waits only until the node has accepted it: then it is applied once, after all that was said before.
    ///
    /// # Errors
    ///
    /// If it was not accepted.
    pub async fn tell<M: Message>(&self, message: M) -> Result<(), SendError> {
        self.tell_named(M::NAME, &self.arguments(&message)?).await
    }

    /// Sends a message and waits for what its handler answers.
    ///
    /// # Errors
    ///
    /// If it was not applied, nobody knows whether it was, or there is no answer; says which.
    ///
    /// ```no_run
    /// # use slipgate::prelude::*;
    /// # #[derive(Debug, Message)] #[message(answer = u32)] struct Hit { hp: u32 }
    /// # async fn hit(ann: &Ref) -> Result<(), Box<dyn std::error::Error>> {
    /// let left: u32 = ann.ask(Hit { hp: 3 }).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ask<M: Message>(&self, message: M) -> Result<M::Answer, SendError> {
        let arguments = self.arguments(&message)?.to_string();
        let message = Outgoing { entity: self.id.to_string(), name: M::NAME.to_owned(), arguments };
        let question = Question::Ask { via: None, message, raw: true, timeout_ms: WAIT_MS };
        let Answer::Asked(report) = self.question(question).await? else { outcome::not_an_answer() };
        outcome::answered::<M>(&report)
    }

    /// Sends a message by its name, with its arguments as JSON, and waits until it is applied.
    ///
    /// # Errors
    ///
    /// If it was not applied, or nobody knows whether it was; says which.
    pub async fn send_named(&self, name: &str, arguments: &serde_json::Value) -> Result<(), SendError> {
        outcome::applied(&self.say(name, arguments, true).await?)
    }

    /// The same, but waits only until the node has accepted it: then it is applied once, after all that was said before.
    ///
    /// # Errors
    ///
    /// If it was not accepted.
    pub async fn tell_named(&self, name: &str, arguments: &serde_json::Value) -> Result<(), SendError> {
        outcome::accepted(&self.say(name, arguments, false).await?)
    }

    async fn say(&self, name: &str, arguments: &serde_json::Value, wait: bool) -> Result<SendReport, Problem> {
        let message = Outgoing { entity: self.id.to_string(), name: name.to_owned(), arguments: arguments.to_string() };
        let question = Question::Send { via: None, messages: vec![message], wait, timeout_ms: WAIT_MS };
        let Answer::Sent(report) = self.question(question).await? else { outcome::not_an_answer() };
        Ok(report)
    }

    /// Moves the entity to a scene: its name or number, optionally `@node`. Ends when it lives there.
    ///
    /// # Errors
    ///
    /// If it does not; says why, and where the entity is, as far as that is known.
    pub async fn move_to(&self, scene: &str) -> Result<Moved, MoveError> {
        let question = Question::Migrate { entity: self.id.to_string(), to: scene.to_owned(), timeout_ms: WAIT_MS };
        let Answer::Move(report) = self.question(question).await? else { outcome::not_an_answer() };
        outcome::moved(report)
    }

    /// Ends the entity for good.
    ///
    /// # Errors
    ///
    /// If it could not be ended, is gone already, or nobody knows yet.
    pub async fn despawn(&self) -> Result<(), Problem> {
        self.question(Question::Despawn { entity: self.id.to_string(), timeout_ms: WAIT_MS }).await.map(drop)
    }

    /// Lets it take messages again after one of its handlers has panicked.
    ///
    /// # Errors
    ///
    /// If it is not parked, or not found.
    pub async fn unpark(&self) -> Result<(), Problem> {
        self.question(Question::Unpark { entity: self.id.to_string(), timeout_ms: WAIT_MS }).await.map(drop)
    }

    /// Where it is, how it is, and its state.
    ///
    /// # Errors
    ///
    /// If it is not found.
    pub async fn show(&self) -> Result<Shown, Problem> {
        let question = Question::Show { entity: self.id.to_string() };
        let Answer::Entity(report) = self.question(question).await? else { outcome::not_an_answer() };
        Ok(outcome::shown(report))
    }

    /// Looks at it until it is as wanted: for what comes about by itself, such as a move that its own handlers ask for.
    /// Needs a runtime with timers: tokio's, or [`block_on`](crate::block_on).
    ///
    /// # Errors
    ///
    /// If it is not found, or not as wanted for ten seconds; see [`until_within`](Self::until_within) for another time.
    pub async fn until(&self, is_so: impl Fn(&Shown) -> bool) -> Result<Shown, Problem> {
        self.until_within(WAIT, is_so).await
    }

    /// The same, for as long as `limit`.
    ///
    /// # Errors
    ///
    /// If it is not found, or not as wanted until then.
    pub async fn until_within(&self, limit: Duration, is_so: impl Fn(&Shown) -> bool) -> Result<Shown, Problem> {
        let looking = async {
            loop {
                let shown = self.show().await?;
                if is_so(&shown) {
                    return Ok(shown);
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        tokio::time::timeout(limit, looking).await.unwrap_or_else(|_| Err(outcome::not_so(self.id, limit)))
    }

    fn arguments<M: Message>(&self, message: &M) -> Result<serde_json::Value, SendError> {
        let arguments = serde_json::to_value(message);
        let arguments = arguments.map_err(|error| SendError::NotJson { message: M::NAME, why: error.to_string() })?;
        if let (Some(kind), Some(desk)) = (self.kind, &self.desk) {
            let taken = desk.types().parse(kind, M::NAME, &arguments.to_string());
            taken.map_err(|error| SendError::NotTaken { why: error.to_string() })?;
        }
        Ok(arguments)
    }

    async fn question(&self, question: Question) -> Result<Answer, Problem> {
        match &self.desk {
            Some(desk) => Ok(desk.ask(question).await?),
            None => Err(outcome::detached(self.id)),
        }
    }
}

impl<T> From<&Ref<T>> for OnlineId {
    fn from(reference: &Ref<T>) -> Self {
        reference.id
    }
}

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        Self { id: self.id, kind: self.kind, desk: self.desk.clone(), of: PhantomData }
    }
}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.id).finish()
    }
}

impl<T> fmt::Display for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Ref<T> {}

impl<T> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<T> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { id: OnlineId::deserialize(deserializer)?, kind: None, desk: None, of: PhantomData })
    }
}

/// Between two looks at an entity.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// How long an outcome is waited for, in milliseconds: as long as the command line waits.
const WAIT_MS: u64 = 10_000;
const WAIT: Duration = Duration::from_millis(WAIT_MS);
