//! Messages of tools, and how sending them went.

use serde::{Deserialize, Serialize};
use slipgate_entity::game::Fate;

use super::json_text;

/// One message to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// An id; with `Send` from the command line also a unique prefix or label.
    pub entity: String,
    /// Name of the message, as the type declares it: `step`, `hit`, `note`, `greet`, `stumble`.
    pub name: String,
    /// Its arguments as JSON text; `{}` for none.
    pub arguments: String,
}

/// How sending went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendReport {
    /// Messages that the router took: each is applied once, or answered.
    pub accepted: u32,
    /// Messages that came back because a bound was reached; the first `accepted` ones of each entity went.
    pub busy: u32,
    /// Of the accepted ones, known to be applied when this was written.
    pub applied: u32,
    /// Of the accepted ones, answered `Dead`: the entity is gone.
    pub dead: u32,
    /// Of the accepted ones, still unanswered when this was written.
    pub open: u32,
    /// Positions in the request of those that were busy.
    pub busy_at: Vec<u32>,
    /// Of the accepted ones, answered `Unknown`: the entity was lost with its node, and may have applied
    /// them before.
    pub unknown: u32,
    /// The life of the node whose router answered. What an earlier life of it had accepted, and nobody had
    /// acknowledged, is gone with it. 0 where nobody was asked.
    pub incarnation: u32,
    /// Of the accepted ones, answered `Failed`: the handler panicked, and what it had done by then is done.
    pub failed: u32,
    /// Of the accepted ones, answered `Parked`: the entity takes no messages; they are never applied.
    pub parked: u32,
    /// Of the accepted ones, not taken by the entity: it has no such message, it is not for tools, or the arguments do not
    /// fit. They are not applied. Known only where the outcome was waited for.
    pub refused: u32,
    /// Why, for the first [`REFUSALS_MAX`] of them.
    pub refusals: Vec<NotTaken>,
    /// Of the accepted ones, come to the entity, which has applied or refused them: its word on that was lost on the way. Only
    /// where the outcome was waited for.
    pub passed: u32,
    /// What the panics said, for the first [`REFUSALS_MAX`] of the failed ones. Only where the outcome was waited for.
    pub failures: Vec<Panicked>,
    /// Of the accepted ones, answered `Lost`: the entity was lost with its node before they had left; they are not applied.
    pub lost: u32,
}

/// A message at which the handler of its entity panicked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panicked {
    /// Its position in the request.
    pub at: u32,
    /// What the panic said.
    pub why: String,
    /// What became of the entity.
    pub fate: Fate,
}

/// A message that an entity did not take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTaken {
    /// Its position in the request.
    pub at: u32,
    /// Why.
    pub why: String,
}

/// What came of a message whose answer was waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskReport {
    /// The entity's id.
    pub entity: String,
    /// Name of the message.
    pub message: String,
    /// What became of it.
    pub sent: SendReport,
    /// Whether there is an answer: not if the message was not applied, or the answer was lost on its way.
    pub answered: bool,
    /// What its handler answered, as JSON text; `null` if there is none. Its bytes, as a list of numbers, if that was
    /// asked for.
    #[serde(with = "json_text::whole")]
    pub answer: String,
    /// Why there is no answer, though the message was applied: it is too large, or cannot be told as JSON.
    pub why: Option<String>,
}

/// Refusals, and failures, that a report tells the reasons of.
pub const REFUSALS_MAX: usize = 16;

impl SendReport {
    /// Adds the report of a part that began at position `at` of the whole.
    ///
    /// ```
    /// use slipgate_proto::admin::SendReport;
    /// let mut whole = SendReport { accepted: 2, ..SendReport::default() };
    /// whole.add(SendReport { busy: 1, busy_at: vec![0], ..SendReport::default() }, 2);
    /// assert_eq!((whole.accepted, whole.busy, whole.busy_at), (2, 1, vec![2]));
    /// ```
    pub fn add(&mut self, part: Self, at: u32) {
        let Self {
            accepted,
            busy,
            applied,
            dead,
            open,
            busy_at,
            unknown,
            incarnation,
            failed,
            parked,
            refused,
            refusals,
            passed,
            failures,
            lost,
        } = part;
        self.accepted += accepted;
        self.busy += busy;
        self.applied += applied;
        self.dead += dead;
        self.open += open;
        self.unknown += unknown;
        self.failed += failed;
        self.parked += parked;
        self.refused += refused;
        self.passed += passed;
        self.lost += lost;
        let room = REFUSALS_MAX.saturating_sub(self.refusals.len());
        let refusals = refusals.into_iter().map(|refusal| NotTaken { at: refusal.at + at, ..refusal });
        self.refusals.extend(refusals.take(room));
        let room = REFUSALS_MAX.saturating_sub(self.failures.len());
        let failures = failures.into_iter().map(|failure| Panicked { at: failure.at + at, ..failure });
        self.failures.extend(failures.take(room));
        self.incarnation = self.incarnation.max(incarnation);
        self.busy_at.extend(busy_at.into_iter().map(|position| position + at));
    }
}
