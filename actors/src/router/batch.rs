//! Messages that a tool sent together, and what has become of each.
//!
//! ```text
//!   accepted -> open -> applied, refused, failed: the entity has gone past it, and has said which
//!                    -> passed, failed: it has gone past it, and what it said was lost on the way
//!                    -> dead, unknown, lost, parked: there is no reply
//!   or busy
//! ```
//!
//! A reply is said once, beside the acknowledgement and maybe before or behind it. That a message has failed is known
//! without one; the reply says what the panic said.
//!
//! Keeps: what is accepted is in one count of the report at any time; `applied` is what was applied.

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_cluster::bounds::clipped;
use slipgate_cluster::message::Payload;
use slipgate_cluster::{Now, router};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{AskId, Fate, Reply, asking, reply};
use slipgate_proto::admin::{NotTaken, Panicked, REFUSALS_MAX, SendReport};

/// Whether and how a tool waits for what becomes of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Not at all.
    No,
    /// Until their entities have gone past them, at most so long: for whoever knows that they are taken. They are plain messages, and
    /// nobody replies.
    Passed(Duration),
    /// For that, at most so long.
    Outcome(Duration),
    /// For the answers too.
    Answer(Duration),
}

/// What became of a batch.
#[derive(Debug)]
pub struct Sent {
    /// The counts.
    pub report: SendReport,
    /// What came back to the messages, by their positions, where answers were waited for: payloads that [`reply`] reads.
    pub replies: BTreeMap<u32, Payload>,
}

#[derive(Debug)]
pub(super) struct Batch {
    report: SendReport,
    messages: Vec<(u32, OnlineId)>,
    waiting: Waiting,
    until: Now,
    said: BTreeMap<usize, Said>,
    replies: BTreeMap<u32, Payload>,
    /// What the entities have gone past and have not replied to.
    unanswered: BTreeMap<usize, (Past, Now)>,
}

/// How an entity has gone past a message to which it has not replied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    /// It has applied or refused it.
    Acknowledged,
    /// Its handler panicked.
    Failed,
}

/// What an entity has said to a message.
#[derive(Debug)]
enum Said {
    Taken,
    Refused(String),
    Panicked(String, Fate),
}

impl Batch {
    /// Messages of which nothing is known: their positions in the request, and to whom they go.
    pub(super) fn new(messages: Vec<(u32, OnlineId)>, waiting: Waiting, blank: SendReport, now: Now) -> Self {
        let wait = match waiting {
            Waiting::No => Duration::ZERO,
            Waiting::Passed(wait) | Waiting::Outcome(wait) | Waiting::Answer(wait) => wait,
        };
        Self {
            report: blank,
            messages,
            waiting,
            until: now + wait,
            said: BTreeMap::new(),
            replies: BTreeMap::new(),
            unanswered: BTreeMap::new(),
        }
    }

    /// The payload as it is sent under a ticket.
    pub(super) fn payload(&self, router::Ticket(ticket): router::Ticket, payload: Payload) -> Payload {
        let ask = match self.waiting {
            Waiting::No | Waiting::Passed(_) => return payload,
            Waiting::Outcome(_) => AskId(ticket | AskId::NO_ANSWER),
            Waiting::Answer(_) => AskId(ticket),
        };
        asking(&payload, ask).map_or(payload, Into::into)
    }

    fn asks(&self) -> bool {
        matches!(self.waiting, Waiting::Outcome(_) | Waiting::Answer(_))
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
    pub(super) fn passed(&mut self, index: usize, now: Now) {
        if !self.asks() {
            self.count(|report| &mut report.applied);
        } else {
            self.await_reply(index, Past::Acknowledged, now);
        }
    }

    /// The handler of the message panicked.
    pub(super) fn failed(&mut self, index: usize, now: Now) {
        if !self.asks() {
            self.count(|report| &mut report.failed);
        } else {
            self.await_reply(index, Past::Failed, now);
        }
    }

    fn await_reply(&mut self, index: usize, past: Past, now: Now) {
        if !self.settle(index) {
            self.unanswered.insert(index, (past, now + REPLY_WAIT));
        }
    }

    /// The message has ended otherwise, and is counted so; unless its entity has said what became of it.
    pub(super) fn ended(&mut self, index: usize, count: impl FnOnce(&mut SendReport) -> &mut u32) {
        if !self.settle(index) {
            self.count(count);
        }
    }

    /// An entity has said something to a message of the batch. What nobody waits for, or somebody else says, is left out.
    pub(super) fn replied(&mut self, index: usize, from: OnlineId, payload: Payload) {
        let Some(&(position, entity)) = self.messages.get(index) else { return };
        if !self.asks() || entity != from || self.said.contains_key(&index) {
            return;
        }
        let said = match reply(&payload) {
            Some((_, Reply::Answer { .. } | Reply::Done)) => Said::Taken,
            Some((_, Reply::Refused(why))) => Said::Refused(clipped(why)),
            Some((_, Reply::Panicked { why, fate })) => Said::Panicked(clipped(why), fate),
            None => return,
        };
        if matches!(self.waiting, Waiting::Answer(_)) && payload.len() <= REPLY_BYTES {
            self.replies.insert(position, payload);
        }
        self.said.insert(index, said);
        if self.unanswered.remove(&index).is_some() {
            self.settle(index);
        }
    }

    /// Counts a message by what its entity has said, if it has.
    fn settle(&mut self, index: usize) -> bool {
        let at = self.messages[index].0;
        match self.said.get_mut(&index) {
            None => return false,
            Some(Said::Taken) => self.count(|report| &mut report.applied),
            Some(Said::Refused(why)) => {
                let why = std::mem::take(why);
                self.count(|report| &mut report.refused);
                if self.report.refusals.len() < REFUSALS_MAX {
                    self.report.refusals.push(NotTaken { at, why });
                }
            }
            Some(Said::Panicked(why, fate)) => {
                let (why, fate) = (std::mem::take(why), *fate);
                self.count(|report| &mut report.failed);
                if self.report.failures.len() < REFUSALS_MAX {
                    self.report.failures.push(Panicked { at, why, fate });
                }
            }
        }
        true
    }

    fn count(&mut self, count: impl FnOnce(&mut SendReport) -> &mut u32) {
        self.report.open -= 1;
        *count(&mut self.report) += 1;
    }

    /// Whether a reply is still waited for to what an entity has gone past.
    pub(super) fn awaits_reply(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// Whether there is nothing more to wait for: all has ended, or only that is open to which no reply has come in time.
    pub(super) fn is_over(&self, now: Now) -> bool {
        let all_passed = self.report.open as usize == self.unanswered.len();
        let is_lost = || self.unanswered.values().all(|(_, until)| *until <= now);
        self.report.open == 0 || self.until <= now || all_passed && is_lost()
    }

    /// How it stands.
    pub(super) fn sent(mut self) -> Sent {
        for (past, _) in std::mem::take(&mut self.unanswered).into_values() {
            self.count(|report| match past {
                Past::Acknowledged => &mut report.passed,
                Past::Failed => &mut report.failed,
            });
        }
        Sent { report: self.report, replies: self.replies }
    }
}

/// The largest reply: what fits into a message, with room for what is around it.
pub const REPLY_BYTES: usize = 60 << 10;
/// How long a reply is waited for behind the acknowledgement: one that is not lost takes a little longer, unless much waits
/// in front of it.
const REPLY_WAIT: Duration = Duration::from_secs(1);

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
        let mut batch = Batch::new(messages, Waiting::Answer(LONG), SendReport::default(), Now(0));
        (0..count).for_each(|_| batch.accept());
        batch
    }

    fn answer() -> Payload {
        [&[3], &7u64.to_le_bytes()[..], &[0; 4]].concat().into()
    }

    fn refusal() -> Payload {
        [&[4], &7u64.to_le_bytes()[..], &[0; 4], &[2], b"no"].concat().into()
    }

    fn panic_reply() -> Payload {
        [&[6], &7u64.to_le_bytes()[..], &[0; 4], &[2], b"ow", &[1]].concat().into()
    }

    #[test]
    fn what_a_panic_says_and_what_becomes_of_the_entity_is_told_whichever_comes_first() {
        let mut batch = batch(2);
        batch.replied(0, entity(1), panic_reply());
        batch.failed(0, Now(0));
        batch.failed(1, Now(0));
        assert!(!batch.is_over(Now(0)) && batch.awaits_reply());
        batch.replied(1, entity(1), panic_reply());
        assert!(batch.is_over(Now(0)) && !batch.awaits_reply());
        let Sent { report, .. } = batch.sent();
        let failure = |at| Panicked { at, why: "ow".to_owned(), fate: Fate::Despawned };
        assert_eq!((report.failed, report.open, report.failures), (2, 0, vec![failure(0), failure(1)]));
    }

    #[test]
    fn a_message_has_failed_also_where_the_word_of_its_panic_is_lost() {
        let mut batch = batch(1);
        batch.failed(0, Now(5));
        assert!(!batch.is_over(Now(5)));
        assert!(batch.is_over(Now(5) + REPLY_WAIT));
        let Sent { report, .. } = batch.sent();
        assert_eq!((report.failed, report.passed, report.open, report.failures.len()), (1, 0, 0, 0));
    }

    #[test]
    fn a_message_is_applied_once_its_answer_is_there_whichever_comes_first() {
        let mut batch = batch(2);
        batch.replied(0, entity(1), answer());
        batch.passed(0, Now(0));
        batch.passed(1, Now(0));
        assert!(!batch.is_over(Now(0)) && batch.awaits_reply());
        batch.replied(1, entity(1), answer());
        assert!(batch.is_over(Now(0)) && !batch.awaits_reply());
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.open, replies.len()), (2, 0, 2));
    }

    #[test]
    fn a_message_that_was_not_taken_is_not_counted_as_applied_and_its_reason_is_told() {
        let mut batch = batch(2);
        batch.passed(0, Now(0));
        batch.replied(0, entity(1), refusal());
        batch.passed(1, Now(0));
        batch.replied(1, entity(1), answer());
        let Sent { report, .. } = batch.sent();
        assert_eq!((report.applied, report.refused, report.open), (1, 1, 0));
        assert_eq!(report.refusals, [NotTaken { at: 0, why: "no".to_owned() }]);
    }

    #[test]
    fn what_the_entity_has_gone_past_without_a_word_that_came_through_is_neither_applied_nor_open() {
        let mut batch = batch(1);
        batch.passed(0, Now(5));
        assert!(!batch.is_over(Now(5)));
        assert!(batch.is_over(Now(5) + REPLY_WAIT));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.open, report.passed, replies.len()), (0, 0, 1, 0));
    }

    #[test]
    fn a_reply_that_is_lost_does_not_end_a_batch_of_which_something_is_under_way() {
        let mut batch = batch(2);
        batch.passed(0, Now(0));
        assert!(!batch.is_over(Now(0) + REPLY_WAIT * 2));
        assert!(batch.is_over(Now(0) + LONG));
    }

    #[test]
    fn refusals_are_counted_however_much_others_have_answered() {
        let mut batch = batch(1_024);
        let large: Payload = [&answer()[..], &[0; REPLY_BYTES]].concat().into();
        for index in 0..1_024 {
            batch.replied(index, entity(1), if index < 900 { large.clone() } else { refusal() });
            batch.passed(index, Now(0));
        }
        assert!(batch.is_over(Now(0)));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.refused, report.refusals.len()), (900, 124, REFUSALS_MAX));
        assert_eq!(replies.len(), 124, "what is too large is not kept");
    }

    #[test]
    fn an_answer_says_that_it_was_taken_even_if_the_entity_is_gone_before_the_acknowledgement() {
        let mut batch = batch(2);
        batch.replied(0, entity(1), answer());
        batch.ended(0, |report| &mut report.dead);
        batch.ended(1, |report| &mut report.dead);
        let Sent { report, .. } = batch.sent();
        assert_eq!((report.applied, report.dead), (1, 1));
    }

    #[test]
    fn nobody_else_answers_for_an_entity_and_nobody_twice() {
        let mut batch = batch(2);
        batch.replied(0, entity(2), answer());
        batch.replied(7, entity(1), answer());
        batch.replied(0, entity(1), answer());
        batch.replied(0, entity(1), refusal());
        batch.replied(1, entity(1), [9; 4].as_slice().into());
        batch.passed(0, Now(0));
        let Sent { report, replies } = batch.sent();
        assert_eq!((report.applied, report.refused, replies.len()), (1, 0, 1));
    }

    #[test]
    fn whoever_waits_for_no_outcome_sends_plain_messages_and_whoever_wants_no_answer_says_so() {
        let plain = [1, 0, 0, 0, 0];
        let ticket = router::Ticket(9);
        let of = |waiting| Batch::new(vec![(0, entity(1))], waiting, SendReport::default(), Now(0));
        assert_eq!(&*of(Waiting::No).payload(ticket, plain.as_slice().into()), plain);
        assert_eq!(of(Waiting::Outcome(LONG)).payload(ticket, plain.as_slice().into())[8], 0x80);
        let mut batch = of(Waiting::Outcome(LONG));
        batch.accept();
        batch.replied(0, entity(1), answer());
        batch.passed(0, Now(0));
        assert_eq!((batch.report.applied, batch.replies.len()), (1, 0));
    }
}
