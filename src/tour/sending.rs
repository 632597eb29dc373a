//! Which note goes next, and what an answer to it means.
//!
//! A sender has one lane per walker. A batch takes the next few numbers of some lanes, in turn. What was
//! busy is sent again under the same number, before any later one of that lane. When the answer to a
//! batch is lost, nobody knows which of its notes were accepted; sending them again could double them.
//! The sender then begins a new life under a new name, and the old one's last batch counts as unsure. So it does when a
//! report tells that another life of the node has taken the batch: what the earlier one had not delivered is gone.
//!
//! Keeps: per (sender, walker), numbers leave in order, and a later one never before the earlier ones
//! are accepted, apart from those that share a batch.

use std::collections::BTreeMap;

use slipgate_proto::admin::SendReport;

use super::account::Account;
use crate::admin::body::BatchMessage;

/// One sender's books.
#[derive(Debug)]
pub struct Sender {
    name: String,
    life: u32,
    lanes: Vec<Lane>,
    turn: usize,
    /// The life of the node that accepts, once it is known; 0 until then.
    incarnation: u32,
    closed: Vec<Closed>,
}

/// An account to which nothing is added any more, and the life of the node that accepted.
#[derive(Debug)]
struct Closed {
    account: Account,
    incarnation: u32,
}

#[derive(Debug)]
struct Lane {
    entity: String,
    /// The next number to send; all before it are accepted.
    next: u64,
}

impl Lane {
    fn account(&self, sender: &str, unsure: u64) -> Account {
        Account {
            entity: self.entity.clone(),
            sender: sender.to_owned(),
            accepted: self.next - 1,
            unsure,
            outlived: false,
        }
    }
}

/// Notes that travel in one request.
#[derive(Debug)]
pub struct Batch {
    notes: Vec<Note>,
    sender: String,
}

#[derive(Debug)]
struct Note {
    lane: usize,
    entity: String,
    number: u64,
}

impl Batch {
    /// The notes as messages, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<BatchMessage> {
        let message = |note: &Note| BatchMessage {
            entity: note.entity.clone(),
            name: "note".into(),
            arguments: serde_json::json!({ "sender": self.sender, "number": note.number }).to_string(),
        };
        self.notes.iter().map(message).collect()
    }

    /// How many notes it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.notes.len()
    }

    /// Whether it holds none: the sender has no walkers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

impl Sender {
    /// A sender with this name to these walkers.
    #[must_use]
    pub fn new(name: String, walkers: &[String]) -> Self {
        let lanes = walkers.iter().map(|entity| Lane { entity: entity.clone(), next: 1 }).collect();
        Self { name, life: 1, lanes, turn: 0, incarnation: 0, closed: Vec::new() }
    }

    /// The notes that go next: at most [`BATCH_MAX`], [`RUN`] for each walker.
    pub fn batch(&mut self) -> Batch {
        let lanes = self.lanes.len().min(BATCH_MAX / RUN);
        let mut notes = Vec::with_capacity(lanes * RUN);
        for _ in 0..lanes {
            let lane = self.turn % self.lanes.len();
            self.turn = lane + 1;
            let Lane { entity, next } = &self.lanes[lane];
            let numbers = (*next..).take(RUN);
            notes.extend(numbers.map(|number| Note { lane, entity: entity.clone(), number }));
        }
        Batch { notes, sender: self.sender() }
    }

    /// Books an answer; returns how many notes were accepted.
    pub fn settle(&mut self, batch: &Batch, report: &SendReport) -> u64 {
        let mut reached: BTreeMap<usize, u64> = BTreeMap::new();
        for (at, note) in batch.notes.iter().enumerate() {
            let is_busy = report.busy_at.iter().any(|busy| *busy as usize == at);
            let next = reached.entry(note.lane).or_insert(note.number);
            if !is_busy && *next == note.number {
                *next += 1;
            }
        }
        let accepted = |(lane, next): (&usize, &u64)| next - self.lanes[*lane].next;
        let accepted = reached.iter().map(accepted).sum();
        for (lane, next) in reached {
            self.lanes[lane].next = next;
        }
        if self.incarnation != 0 && self.incarnation != report.incarnation {
            self.close(|_| 0);
        } else {
            self.incarnation = report.incarnation;
        }
        accepted
    }

    /// Stops writing to a walker.
    pub fn leave(&mut self, entity: &str) {
        let (sender, incarnation) = (self.sender(), self.incarnation);
        let left = self.lanes.extract_if(.., |lane| lane.entity == entity);
        self.closed.extend(left.map(|lane| Closed { account: lane.account(&sender, 0), incarnation }));
        self.turn = 0;
    }

    /// Books that the answer was lost: closes the accounts and begins a new life.
    pub fn lose(&mut self, batch: &Batch) {
        self.close(|lane| batch.notes.iter().filter(|note| note.lane == lane).count() as u64);
    }

    /// Closes the accounts, with so many unsure notes for each lane, and begins a new life.
    fn close(&mut self, unsure: impl Fn(usize) -> u64) {
        let (sender, incarnation) = (self.sender(), self.incarnation);
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            self.closed.push(Closed { account: lane.account(&sender, unsure(at)), incarnation });
            lane.next = 1;
        }
        self.life += 1;
        self.incarnation = 0;
    }

    /// What was accepted, over all lives of the sender. `is_over` says which lives of the node are over.
    #[must_use]
    pub fn accounts(&self, is_over: impl Fn(u32) -> bool) -> Vec<Account> {
        let is_outlived = |incarnation| incarnation != 0 && is_over(incarnation);
        let closed = self
            .closed
            .iter()
            .map(|Closed { account, incarnation }| Account { outlived: is_outlived(*incarnation), ..account.clone() });
        let (sender, outlived) = (self.sender(), is_outlived(self.incarnation));
        let open = self.lanes.iter().map(|lane| Account { outlived, ..lane.account(&sender, 0) });
        closed.chain(open).collect()
    }

    fn sender(&self) -> String {
        if self.life == 1 { self.name.clone() } else { format!("{}.{}", self.name, self.life) }
    }
}

/// Notes in one request, at most: a compromise between requests and the time that one takes.
pub const BATCH_MAX: usize = 32;

/// Notes for one walker in a row within a request.
pub const RUN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(walkers: &[&str]) -> Sender {
        Sender::new("t@n1".into(), &walkers.iter().map(|&walker| walker.to_owned()).collect::<Vec<_>>())
    }

    fn busy_at(busy_at: &[u32]) -> SendReport {
        SendReport { busy_at: busy_at.to_vec(), ..SendReport::default() }
    }

    fn numbers(batch: &Batch) -> Vec<(&str, u64)> {
        batch.notes.iter().map(|note| (note.entity.as_str(), note.number)).collect()
    }

    fn accepted(sender: &Sender) -> Vec<(String, String, u64, u64)> {
        let accounts = sender.accounts(|_| false).into_iter();
        accounts.map(|one| (one.entity, one.sender, one.accepted, one.unsure)).collect()
    }

    #[test]
    fn numbers_begin_at_1_and_go_on_where_all_was_accepted() {
        let mut sender = sender(&["a", "b"]);
        let first = sender.batch();
        let expected = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 1), ("b", 2), ("b", 3), ("b", 4)];
        assert_eq!(numbers(&first), expected);
        assert_eq!(sender.settle(&first, &busy_at(&[])), 8);
        assert_eq!(numbers(&sender.batch())[0], ("a", 5));
    }

    #[test]
    fn a_busy_note_is_sent_again_before_later_ones_of_its_walker() {
        let mut sender = sender(&["a", "b"]);
        let first = sender.batch();
        assert_eq!(sender.settle(&first, &busy_at(&[2, 3])), 6);
        let second = sender.batch();
        assert_eq!(numbers(&second)[..2], [("a", 3), ("a", 4)]);
        assert_eq!(numbers(&second)[4], ("b", 5));
    }

    #[test]
    fn what_follows_a_busy_note_is_sent_again_even_if_it_was_not_told_busy() {
        let mut sender = sender(&["a"]);
        let first = sender.batch();
        assert_eq!(sender.settle(&first, &busy_at(&[1])), 1);
        assert_eq!(numbers(&sender.batch())[0], ("a", 2));
    }

    #[test]
    fn walkers_take_turns_when_they_do_not_all_fit() {
        let names: Vec<_> = (0..10).map(|n| n.to_string()).collect();
        let mut sender = Sender::new("t".into(), &names);
        let first = sender.batch();
        assert_eq!(first.len(), BATCH_MAX);
        sender.settle(&first, &busy_at(&[]));
        let second = sender.batch();
        let expected = ["8", "9", "0", "1", "2", "3", "4", "5"];
        assert_eq!(numbers(&second).iter().step_by(RUN).map(|note| note.0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_lost_answer_begins_a_new_life_and_leaves_the_old_ones_end_unsure() {
        let mut sender = sender(&["a", "b"]);
        let first = sender.batch();
        sender.settle(&first, &busy_at(&[]));
        let second = sender.batch();
        sender.lose(&second);
        let expected = [("a", "t@n1", 4, 4), ("b", "t@n1", 4, 4), ("a", "t@n1.2", 0, 0), ("b", "t@n1.2", 0, 0)];
        let expected = expected.map(|(entity, sender, sure, unsure)| (entity.into(), sender.into(), sure, unsure));
        assert_eq!(accepted(&sender), expected);
        assert_eq!(numbers(&sender.batch())[0], ("a", 1));
    }

    #[test]
    fn another_life_of_the_node_begins_a_new_life_of_the_sender_and_outlives_the_accounts() {
        let mut sender = sender(&["a"]);
        let by = |incarnation| SendReport { incarnation, ..SendReport::default() };
        for incarnation in [1, 1, 2, 2] {
            let batch = sender.batch();
            assert_eq!(sender.settle(&batch, &by(incarnation)), 4);
        }
        let accounts = sender.accounts(|incarnation| incarnation < 2);
        let told: Vec<_> = accounts.iter().map(|one| (one.sender.as_str(), one.accepted, one.outlived)).collect();
        assert_eq!(told, [("t@n1", 12, true), ("t@n1.2", 4, false)]);
    }

    #[test]
    fn a_walker_that_is_left_is_not_written_to_and_keeps_its_account() {
        let mut sender = sender(&["a", "b"]);
        let first = sender.batch();
        sender.settle(&first, &busy_at(&[]));
        sender.leave("a");
        assert!(numbers(&sender.batch()).iter().all(|(entity, _)| *entity == "b"));
        sender.leave("b");
        assert!(sender.batch().is_empty());
        assert_eq!(accepted(&sender).iter().map(|account| account.2).sum::<u64>(), 8);
    }

    #[test]
    fn a_note_travels_under_the_senders_name() {
        let message = &sender(&["a"]).batch().messages()[1];
        assert_eq!((message.entity.as_str(), message.name.as_str()), ("a", "note"));
        let arguments: serde_json::Value = serde_json::from_str(&message.arguments).expect("JSON");
        assert_eq!(arguments, serde_json::json!({"sender": "t@n1", "number": 2}));
    }
}
