//! Messages that a tool sent together, and what has become of each.
//!
//! ```text
//!   accepted -> open -> applied, refused: once the reply has come, or is not waited for any longer
//!                    -> dead, unknown, failed, parked: there is no reply
//!   or busy
//! ```
//!
//! A reply is said once, beside the acknowledgement and maybe before or behind it. One that was lost on its way leaves a
//! message that was applied without an answer.
//!
//! Keeps: what is accepted is in one count of the report at any time.

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_cluster::message::Payload;
use slipgate_cluster::{Now, router};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{AskId, Reply, asking, reply};
use slipgate_proto::admin::{NotTaken, REFUSALS_MAX, SendReport};

/// What became of a batch.
#[derive(Debug)]
pub struct Sent {
    /// The counts.
    pub report: SendReport,
    /// What came back to the messages, by their positions: payloads that [`reply`] reads. As many as
    /// [`REPLY_BYTES`] hold.
    pub replies: BTreeMap<u32, Payload>,
}

#[derive(Debug)]
pub(super) struct Batch {
    report: SendReport,
    messages: Vec<(u32, OnlineId)>,
    /// Whether replies are expected.
    asks: bool,
    until: Now,
    replies: BTreeMap<usize, Payload>,
    reply_bytes: usize,
    /// What is applied and has no reply yet, and until when that is waited for.
    unanswered: BTreeMap<usize, Now>,
}

impl Batch {
    /// Messages of which nothing is known: their positions in the request, and to whom they go.
    pub(super) fn new(messages: Vec<(u32, OnlineId)>, wait: Option<Duration>, blank: SendReport, now: Now) -> Self {
        Self {
            report: blank,
            messages,
            asks: wait.is_some(),
            until: now + wait.unwrap_or_default(),
            replies: BTreeMap::new(),
            reply_bytes: 0,
            unanswered: BTreeMap::new(),
        }
    }

    /// The payload as it is sent under a ticket.
    pub(super) fn payload(&self, router::Ticket(ticket): router::Ticket, payload: Payload) -> Payload {
        if self.asks { asking(&payload, AskId(ticket)).map_or(payload, Into::into) } else { payload }
    }

    pub(super) fn accept(&mut self) {
        self.report.accepted += 1;
        self.report.open += 1;
    }

    pub(super) fn busy(&mut self, index: usize) {
        self.report.busy += 1;
        self.report.busy_at.push(self.messages[index].0);
    }

    /// Nothing of it is accepted.
    pub(super) fn all_busy(mut self) -> Sent {
        self.report.busy = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        self.report.busy_at = self.messages.iter().map(|(position, _)| *position).collect();
        self.sent()
    }

    /// The entity has gone past the message.
    pub(super) fn applied(&mut self, index: usize, now: Now) {
        if self.asks && !self.replies.contains_key(&index) {
            self.unanswered.insert(index, now + REPLY_WAIT);
        } else {
            self.settle(index);
        }
    }

    /// The message has ended, and is counted so.
    pub(super) fn ended(&mut self, count: impl FnOnce(&mut SendReport) -> &mut u32) {
        self.report.open -= 1;
        *count(&mut self.report) += 1;
    }

    /// An entity has said something to a message of the batch. What nobody waits for, or somebody else says, is left out.
    pub(super) fn replied(&mut self, index: usize, from: OnlineId, payload: Payload) {
        let is_its = self.messages.get(index).is_some_and(|(_, entity)| *entity == from);
        let bytes = self.reply_bytes + payload.len();
        if !self.asks || !is_its || self.replies.contains_key(&index) || bytes > REPLY_BYTES {
            return;
        }
        self.reply_bytes = bytes;
        self.replies.insert(index, payload);
        if self.unanswered.remove(&index).is_some() {
            self.settle(index);
        }
    }

    fn settle(&mut self, index: usize) {
        match self.replies.get(&index).and_then(|payload| reply(payload)) {
            Some((_, Reply::Refused(why))) => {
                self.ended(|report| &mut report.refused);
                if self.report.refusals.len() < REFUSALS_MAX {
                    let why = why.chars().take(WHY_CHARS).collect();
                    self.report.refusals.push(NotTaken { at: self.messages[index].0, why });
                }
            }
            Some((_, Reply::Answer { .. })) | None => self.ended(|report| &mut report.applied),
        }
    }

    /// Whether there is nothing more to wait for.
    pub(super) fn is_over(&mut self, now: Now) -> bool {
        let late: Vec<_> = self.unanswered.extract_if(.., |_, until| *until <= now).collect();
        late.into_iter().for_each(|(index, _)| self.settle(index));
        self.report.open == 0 || self.until <= now
    }

    /// How it stands.
    pub(super) fn sent(mut self) -> Sent {
        for index in std::mem::take(&mut self.unanswered).into_keys() {
            self.settle(index);
        }
        let replies = self.replies.into_iter().map(|(index, payload)| (self.messages[index].0, payload));
        Sent { report: self.report, replies: replies.collect() }
    }
}

/// Of the replies to a batch that are kept.
pub const REPLY_BYTES: usize = 256 << 10;
/// How long a reply is waited for behind the acknowledgement: one that is not lost takes a little longer at most.
const REPLY_WAIT: Duration = Duration::from_secs(1);
/// Characters of why a message was not taken.
const WHY_CHARS: usize = 300;

#[cfg(test)]
mod tests {
    use slipgate_entity::RangeId;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn entity(counter: u32) -> OnlineId {
        OnlineId::new(RangeId(1), counter)
    }

    fn batch(count: u32) -> Batch {
        let messages = (0..count).map(|position| (position, entity(1))).collect();
        let mut batch = Batch::new(messages, Some(LONG), SendReport::default(), Now(0));
        (0..count).for_each(|_| batch.accept());
        batch
    }

    fn answer() -> Payload {
        [&[3], &7u64.to_le_bytes()[..], &[0; 4]].concat().into()
    }

    fn refusal() -> Payload {
        [&[4], &7u64.to_le_bytes()[..], &[0; 4], &[2], b"no"].concat().into()
    }

    #[test]
    fn a_message_is_applied_once_its_answer_is_there_whichever_comes_first() {
        let mut batch = batch(2);
        batch.replied(0, entity(1), answer());
        batch.applied(0, Now(0));
        batch.applied(1, Now(0));
        assert!(!batch.is_over(Now(0)));
        batch.replied(1, entity(1), answer());
        assert!(batch.is_over(Now(0)));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.open, replies.len()), (2, 0, 2));
    }

    #[test]
    fn a_message_that_was_not_taken_is_not_counted_as_applied_and_its_reason_is_told() {
        let mut batch = batch(2);
        batch.applied(0, Now(0));
        batch.replied(0, entity(1), refusal());
        batch.applied(1, Now(0));
        batch.replied(1, entity(1), answer());
        let Sent { report, .. } = batch.sent();
        assert_eq!((report.applied, report.refused, report.open), (1, 1, 0));
        assert_eq!(report.refusals, [NotTaken { at: 0, why: "no".to_owned() }]);
    }

    #[test]
    fn an_answer_that_was_lost_is_waited_for_a_while_and_its_message_was_applied() {
        let mut batch = batch(1);
        batch.applied(0, Now(5));
        assert!(!batch.is_over(Now(5)));
        assert!(batch.is_over(Now(5) + REPLY_WAIT));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.open, replies.len()), (1, 0, 0));
    }

    #[test]
    fn what_is_applied_at_the_end_of_the_time_counts_and_what_is_open_stays_so() {
        let mut batch = batch(2);
        batch.applied(0, Now(0) + LONG);
        assert!(batch.is_over(Now(0) + LONG));
        let Sent { report, .. } = batch.sent();
        assert_eq!((report.applied, report.open), (1, 1));
    }

    #[test]
    fn nobody_else_answers_for_an_entity_and_nobody_twice_or_without_bound() {
        let mut batch = batch(2);
        batch.replied(0, entity(2), answer());
        batch.replied(7, entity(1), answer());
        batch.replied(0, entity(1), answer());
        batch.replied(0, entity(1), refusal());
        batch.replied(1, entity(1), vec![3; REPLY_BYTES].into());
        batch.applied(0, Now(0));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.refused, replies.len()), (1, 0, 1));
    }
}
