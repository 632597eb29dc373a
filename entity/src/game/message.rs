//! Messages: Rust types that entities and tools send; who sends them, and what comes of an ask.
//!
//! A [`Tag`] is FNV-1a of the message's name. Tags that collide are found when the types are put together.
//!
//! Leaves out: the bytes of payloads (`envelope`); how a payload gets there, in what order, and how often.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::part::Field;
use crate::{OnlineId, PlayerId};

/// A message: a Rust type with a name that is stable on the wire.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use slipgate_entity::game::{Field, Message};
///
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Hit {
///     hp: u32,
/// }
///
/// impl Message for Hit {
///     const NAME: &'static str = "hit";
///     const FIELDS: &'static [Field] = &[Field::new("hp", "u32")];
///     type Answer = ();
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is no message", note = "put `#[derive(Message, Debug)]` on it")]
pub trait Message: Serialize + DeserializeOwned + fmt::Debug + Send + 'static {
    /// Stable name: `[a-z][a-z0-9_]*`, at most 48 bytes.
    const NAME: &'static str;
    /// Its fields, for people and for the export of the schema.
    const FIELDS: &'static [Field] = &[];
    /// What a handler answers; `()` for most.
    type Answer: Serialize + DeserializeOwned + fmt::Debug + Send + 'static;
}

/// What a name is on the wire: FNV-1a, 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tag(pub u32);

impl Tag {
    /// The tag of a name.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0x811c_9dc5u32;
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        Self(hash)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A question of one entity, which counts them from 1 over its moves; timers draw from the same numbers. Or one of a tool, of
/// which its node keeps count.
///
/// ```
/// # use slipgate_entity::OnlineId;
/// # use slipgate_entity::game::doc::Hit;
/// use std::time::Duration;
/// use slipgate_entity::game::{Answered, AskId, Context};
///
/// struct Duel {
///     last_blow: Option<AskId>,
/// }
///
/// impl Duel {
///     fn strike(&mut self, other: OnlineId, cx: &mut Context<'_>) {
///         self.last_blow = cx.ask(other, Hit { hp: 3 }, Duration::from_secs(1)).ok();
///     }
///
///     /// Whether it is the answer to the blow before this one.
///     fn is_old(&self, answer: &Answered<Hit>) -> bool {
///         self.last_blow != Some(answer.ask)
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

/// What came of an ask: an answer, or why there is none.
///
/// Goes to the part that asked, and to no other.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Hit};
/// use slipgate_entity::game::{Answered, Handlers};
///
/// fn handlers(table: &mut Handlers<Health>) {
///     table.on_answer(|health, answer: Answered<Hit>, _| {
///         if answer.result.is_ok_and(|left| left <= 0) {
///             health.hp += 10;
///         }
///     });
/// }
/// ```
#[derive(Debug)]
pub struct Answered<M: Message> {
    /// Which ask.
    pub ask: AskId,
    /// What the other said.
    pub result: Result<M::Answer, AskError>,
}

/// What comes back to a tool that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'p> {
    /// What the handler answered.
    Answer {
        /// Tag of the message.
        tag: Tag,
        /// The answer's bytes.
        bytes: &'p [u8],
    },
    /// The message was applied, and its answer was left out: nobody wants it, or it is too large.
    Done,
    /// The entity did not take the message, for the reason given. It was not applied.
    Refused(String),
    /// The handler panicked. What it had done by then is done.
    Panicked {
        /// What the panic said, and of which message.
        why: String,
        /// What becomes of the entity.
        fate: Fate,
    },
}

/// What becomes of an entity whose handler panicked, by its node's policy.
///
/// ```
/// use slipgate_entity::game::Fate;
/// assert_eq!(serde_json::to_string(&Fate::Parked)?, r#""parked""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It takes no messages until somebody unparks it.
    Parked,
    /// It is gone for good.
    Despawned,
}

/// Why an ask has no answer.
///
/// ```
/// use slipgate_entity::game::{AskError, Returned};
///
/// fn may_have_been_applied(error: &AskError) -> bool {
///     match error {
///         AskError::Timeout | AskError::Unreadable(_) => true,
///         AskError::Returned(why) => matches!(why, Returned::Unknown | Returned::Failed),
///         AskError::Refused(_) => false,
///     }
/// }
/// assert!(may_have_been_applied(&AskError::Timeout));
/// assert!(!may_have_been_applied(&AskError::Returned(Returned::Busy)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AskError {
    /// None came in time. Whether the other applied the message is not known.
    #[error("no answer came in time")]
    Timeout,
    /// The message came back.
    #[error("the message came back: {0}")]
    Returned(Returned),
    /// The other does not take it. It was not applied.
    #[error("refused: {0}")]
    Refused(String),
    /// What came is no answer of the kind. The other applied the message.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
}

/// Why a message that an entity sent came back.
///
/// ```
/// use slipgate_entity::game::Returned;
///
/// fn advice(why: Returned) -> &'static str {
///     match why {
///         Returned::Dead | Returned::Unknown => "forget it",
///         Returned::Busy => "send it again later",
///         Returned::TooLarge | Returned::Refused => "mend the sender",
///         Returned::Failed | Returned::Parked => "mend the receiver",
///     }
/// }
/// assert_eq!(format!("{}: {}", Returned::Busy, advice(Returned::Busy)), "busy: send it again later");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Returned {
    /// The receiver is dead: it was not applied, and never will be.
    #[error("dead")]
    Dead,
    /// The receiver was lost with its node, or goes on as a copy that may have missed something: it was applied before
    /// that, or never will be.
    #[error("unknown")]
    Unknown,
    /// Too much waits already: it was not kept. Send it again later.
    #[error("busy")]
    Busy,
    /// It is larger than a message may be: it was not kept.
    #[error("too large")]
    TooLarge,
    /// The receiver's handler panicked. What it had done by then is done.
    #[error("failed")]
    Failed,
    /// The receiver is parked: it was not applied, and never will be.
    #[error("parked")]
    Parked,
    /// The receiver does not take it: no such message, not from here, or the arguments do not fit. It was not applied.
    #[error("refused")]
    Refused,
}

/// Who calls.
///
/// ```
/// # use slipgate_entity::OnlineId;
/// # use slipgate_entity::game::doc::Hit;
/// use slipgate_entity::game::{Caller, Context};
///
/// /// Whoever hits is hit.
/// fn hit(cx: &mut Context<'_>) {
///     if let Caller::Entity(attacker) = cx.caller() && attacker != cx.id() {
///         cx.send(attacker, Hit { hp: 1 });
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// An entity; may be the same one.
    Entity(OnlineId),
    /// Somebody with a tool.
    Tool,
    /// A client, for its player.
    Client(PlayerId),
    /// A timer of the entity itself.
    Timer,
    /// The scene, in hooks.
    Scene,
}

/// Who may call.
///
/// ```
/// use slipgate_entity::PlayerId;
/// use slipgate_entity::game::{Caller, Callers};
///
/// let client = Caller::Client(PlayerId(7));
/// assert!(Callers::ANY.allow(client) && !Callers::CLUSTER.allow(client));
/// assert!(Callers::CLUSTER.allow(Caller::Timer) && !Callers::CLIENT.allow(Caller::Timer));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Callers {
    /// Clients.
    pub client: bool,
    /// Entities, timers and the tools of operators.
    pub cluster: bool,
}

impl Callers {
    /// Clients alone.
    pub const CLIENT: Self = Self { client: true, cluster: false };
    /// The cluster alone.
    pub const CLUSTER: Self = Self { client: false, cluster: true };
    /// Everybody.
    pub const ANY: Self = Self { client: true, cluster: true };

    /// Whether `caller` is among them.
    #[must_use]
    pub fn allow(self, caller: Caller) -> bool {
        match caller {
            Caller::Client(_) => self.client,
            Caller::Entity(_) | Caller::Tool | Caller::Timer | Caller::Scene => self.cluster,
        }
    }
}

impl AskId {
    /// Set in the number of an ask whose answer nobody wants: only whether it was applied.
    pub const NO_ANSWER: u64 = 1 << 63;

    /// Whether anybody wants the answer.
    #[must_use]
    pub fn wants_answer(self) -> bool {
        self.0 & Self::NO_ANSWER == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_fnv_1a_of_the_name() {
        assert_eq!(
            [Tag::of(""), Tag::of("a"), Tag::of("foobar")].map(|tag| tag.0),
            [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]
        );
    }

    #[test]
    fn clients_are_apart_from_the_cluster() {
        let cluster = [Caller::Tool, Caller::Timer, Caller::Entity(OnlineId::new(crate::RangeId(1), 1))];
        assert!(cluster.iter().all(|&caller| Callers::CLUSTER.allow(caller) && !Callers::CLIENT.allow(caller)));
        let client = Caller::Client(PlayerId(1));
        assert!(Callers::CLIENT.allow(client) && !Callers::CLUSTER.allow(client) && Callers::ANY.allow(client));
    }
}
