//! What verdicts on sessions mean for the tables of the entities here: whose streams nobody will ever close.
//!
//! A tool's stream ends with its session, so it goes at once. A sender that is an entity may have died with its
//! node, on whichever node that was, or live on. Nobody here knows, so its home is asked, once for all who have a
//! stream of it: lost, the stream is over; alive, it is followed to its owner; dead, the router that it left its streams
//! to is given time to close them first.
//!
//! Keeps: a stream is taken for over only if its sender is dead, which is final; whoever still holds such a stream, a
//! router at most, is told of the doubt; the work is done in portions, and every question is repeated until it
//! is answered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use slipgate_entity::OnlineId;

use super::talk::send;
use super::{Destination, Output, Scene};
use crate::message::{Control, Nonce, Sender};
use crate::stream::Open;
use crate::{Now, Record, View};

/// The search for senders that may be gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Entities whose tables are to be looked through.
    tables: VecDeque<OnlineId>,
    missing: BTreeMap<OnlineId, Missing>,
    due: BTreeSet<(Now, OnlineId)>,
}

/// A sender that may be gone.
#[derive(Clone, Debug)]
struct Missing {
    /// Those who have a stream of it, and how that stood when the search began.
    receivers: BTreeMap<OnlineId, Open>,
    /// Of the question that was asked last.
    nonce: Option<Nonce>,
    due: Now,
    wait: Duration,
    /// Whether its home has said that it is dead: it is given until `due`.
    is_dead: bool,
}

impl Search {
    pub(super) fn len(&self) -> usize {
        self.tables.len() + self.missing.len()
    }

    fn begin(&mut self, sender: OnlineId, receiver: OnlineId, open: Open, now: Now) {
        let missing = self.missing.entry(sender).or_insert_with(|| {
            self.due.insert((now, sender));
            let receivers = BTreeMap::new();
            Missing { receivers, nonce: None, due: now, wait: Duration::ZERO, is_dead: false }
        });
        missing.receivers.insert(receiver, open);
    }

    fn put_off(&mut self, sender: OnlineId, due: Now) {
        if let Some(missing) = self.missing.get_mut(&sender) {
            self.due.remove(&(missing.due, sender));
            missing.due = due;
            self.due.insert((due, sender));
        }
    }

    fn end(&mut self, sender: OnlineId) -> BTreeMap<OnlineId, Open> {
        let Some(missing) = self.missing.remove(&sender) else { return BTreeMap::new() };
        self.due.remove(&(missing.due, sender));
        missing.receivers
    }
}

impl Scene {
    /// The manager's latest word.
    pub(super) fn hear_verdicts(&mut self, view: &View, out: &mut Vec<Output>) {
        let before = self.verdicts.version();
        if self.verdicts.take(view) {
            self.search.tables = self.live.ids().collect();
        }
        for entity in self.staged_since(before) {
            self.ask_to_take_over(entity, out);
        }
    }

    /// Looks through the table of an entity that is active here, unless that was done since the latest verdict.
    pub(super) fn sweep(&mut self, entity: OnlineId, now: Now) -> usize {
        let Some(live) = self.live.get_mut(&entity).filter(|live| live.is_active()) else { return 0 };
        if live.inbox.received().swept() >= self.verdicts.since() {
            return 0;
        }
        live.inbox.sweep(&self.verdicts);
        live.missing.clear();
        let entities = live.inbox.received().iter().filter_map(|(sender, open)| match sender {
            Sender::Entity(sender) => Some((sender, *open)),
            Sender::Tool(_) => None,
        });
        let suspects: Vec<_> = entities.filter(|(sender, _)| *sender != entity).collect();
        let rows = suspects.len() + 1;
        for (sender, open) in suspects {
            if self.live.contains_key(&sender) {
                continue;
            }
            self.search.begin(sender, entity, open, now);
            self.live.get_mut(&entity).expect("it is active here").missing.insert(sender);
        }
        self.note_swept(entity);
        rows
    }

    /// Once nobody of its senders is looked for any more, a scene that it moves to need not look for them either.
    fn note_swept(&mut self, entity: OnlineId) {
        if let Some(live) = self.live.get_mut(&entity).filter(|live| live.missing.is_empty()) {
            live.inbox.note_swept(&self.verdicts);
        }
    }

    /// A portion of the work.
    pub(super) fn search_on(&mut self, now: Now, out: &mut Vec<Output>) {
        let mut rows = 0;
        while rows < ROWS_PER_TICK {
            let Some(entity) = self.search.tables.pop_front() else { break };
            rows += 1 + self.sweep(entity, now);
        }
        for _ in 0..QUESTIONS_PER_TICK {
            let Some(&(due, sender)) = self.search.due.first() else { return };
            if due > now {
                return;
            }
            if self.search.missing[&sender].is_dead {
                self.give_up_sender(sender);
            } else {
                self.ask_for_sender(sender, now, out);
            }
        }
    }

    fn ask_for_sender(&mut self, sender: OnlineId, now: Now, out: &mut Vec<Output>) {
        let nonce = self.nonce();
        let live = &self.live;
        let missing = self.search.missing.get_mut(&sender).expect("the caller looks for it");
        missing.receivers.retain(|receiver, _| live.contains_key(receiver));
        if missing.receivers.is_empty() {
            self.search.end(sender);
            return;
        }
        missing.nonce = Some(nonce);
        missing.wait = (missing.wait * 2).clamp(self.limits.resend_first, self.limits.resend_max);
        let due = now + missing.wait;
        self.search.put_off(sender, due);
        out.push(send(Destination::Home(sender), Control::Query { entity: sender, nonce }));
    }

    /// The home's word on a sender that is looked for.
    pub(super) fn missing_record(&mut self, sender: OnlineId, record: &Record, nonce: Option<Nonce>, now: Now) {
        let Some(missing) = self.search.missing.get_mut(&sender) else { return };
        let is_outdated = record.epoch.term() < self.view.term_of(sender.range());
        if missing.is_dead || nonce.is_none() || missing.nonce != nonce || is_outdated {
            return;
        }
        match record.owner {
            // Its home does not know of the verdict yet.
            Some(owner) if self.verdicts.is_dead(owner.session) => {}
            Some(owner) => {
                for receiver in self.search.end(sender).into_keys() {
                    let Some(live) = self.live.get_mut(&receiver) else { continue };
                    live.missing.remove(&sender);
                    live.inbox.follow(Sender::Entity(sender), owner.into(), record.epoch);
                    self.note_swept(receiver);
                }
            }
            None if record.lost => self.give_up_sender(sender),
            None => {
                missing.is_dead = true;
                self.search.put_off(sender, now + self.limits.tombstone);
            }
        }
    }

    /// A sender is dead. Its streams are over, but for those of which something was heard since: whoever holds them
    /// closes them. An entity that is frozen just now is looked through again when it goes on, here or elsewhere.
    fn give_up_sender(&mut self, sender: OnlineId) {
        for (receiver, before) in self.search.end(sender) {
            let Some(live) = self.live.get_mut(&receiver) else { continue };
            if live.is_active() {
                live.missing.remove(&sender);
                if live.inbox.received().open(Sender::Entity(sender)) == Some(&before) {
                    live.inbox.bury(Sender::Entity(sender));
                }
                self.note_swept(receiver);
            }
        }
    }
}

/// Rows of tables looked through in a tick: some ten microseconds.
const ROWS_PER_TICK: usize = 1_024;
/// Homes asked in a tick: some 10,000 a second.
const QUESTIONS_PER_TICK: usize = 256;
