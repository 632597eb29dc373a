//! What verdicts on sessions mean for the tables of the entities here: whose streams nobody will ever close.
//!
//! A tool's stream ends with its session, so it goes at once. A sender that is an entity may have died with its
//! node, on whichever node that was, or live on. Nobody here knows, so its home is asked, once for all who have a
//! stream of it: lost, the stream is over; alive, it is followed to its owner, and asked whether the stream is still its
//! own, as the router that it was left to may have died; dead, that router is given time to close it first.
//!
//! What the dead said is not taken after their verdict, be it late on its way or held here meanwhile: it would open a stream
//! that nobody looks for, or pass for a word of whoever lives.
//!
//! Keeps: a stream is taken for over only if its sender says so, or is dead, which is final; whoever still holds a stream of the
//! dead, a router at most, is told of the doubt; the work is done in portions, and every question is repeated until the stream
//! is over, or heard of.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slipgate_entity::OnlineId;

use super::talk::send;
use super::{Destination, Output, Scene};
use crate::message::{Control, Sender};
use crate::stream::Open;
use crate::time::Wait;
use crate::{Epoch, Now, Own, Record, View};

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
    due: Now,
    wait: Wait,
    /// The epoch of its death, if its home has told of one: it is given until `due`.
    died: Option<Epoch>,
}

impl Search {
    pub(super) fn len(&self) -> usize {
        self.tables.len() + self.missing.len()
    }

    fn begin(&mut self, sender: OnlineId, receiver: OnlineId, open: Open, now: Now) {
        let missing = self.missing.entry(sender).or_insert_with(|| {
            self.due.insert((now, sender));
            let receivers = BTreeMap::new();
            Missing { receivers, due: now, wait: Wait::default(), died: None }
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

    /// An entity begins to take turns here: its table is looked through, unless that was done since the latest verdict
    /// by whoever had it before.
    pub(super) fn sweep_if_new(&mut self, entity: OnlineId, now: Now) {
        let Some(live) = self.live.get_mut(&entity) else { return };
        let since = self.verdicts.since();
        if live.inbox.received().swept() < since {
            self.sweep(entity, now);
        } else {
            // What is known only elsewhere does not keep out here what comes late.
            live.inbox.note_swept(since);
            live.looked_through = since;
        }
    }

    /// Looks through the table of an entity that is active here.
    fn sweep(&mut self, entity: OnlineId, now: Now) -> usize {
        let Some(live) = self.live.get_mut(&entity).filter(|live| live.is_active()) else { return 0 };
        live.inbox.sweep(&self.verdicts);
        live.missing.clear();
        live.looked_through = self.verdicts.since();
        let entities = live.inbox.received().iter().filter_map(|(sender, open)| match sender {
            Sender::Entity(sender) => Some((sender, *open)),
            Sender::Tool(_) => None,
        });
        let suspects: Vec<_> = entities.collect();
        let rows = suspects.len() + 1;
        for (sender, open) in suspects {
            self.suspect(sender, entity, open, now);
        }
        self.note_swept(entity);
        rows
    }

    fn suspect(&mut self, sender: OnlineId, entity: OnlineId, open: Open, now: Now) {
        let is_held = self.holds_stream(sender, entity, open.stream);
        let live = self.live.get_mut(&entity).expect("it is active here");
        match is_held {
            Some(true) => {}
            Some(false) => {
                live.inbox.close(Sender::Entity(sender), open.stream, &self.verdicts);
            }
            None => {
                self.search.begin(sender, entity, open, now);
                live.missing.insert(sender);
            }
        }
    }

    /// The table was looked through, and then a sender began a stream with something that had been said long before.
    pub(super) fn look_for_latecomer(&mut self, sender: Sender, entity: OnlineId, now: Now) {
        let Sender::Entity(sender) = sender else { return };
        let Some(live) = self.live.get_mut(&entity).filter(|_| self.verdicts.since() > 0) else { return };
        let Some(open) = live.inbox.received().open(Sender::Entity(sender)).copied() else { return };
        live.inbox.note_swept(0);
        self.suspect(sender, entity, open, now);
        self.note_swept(entity);
    }

    /// Once nobody of its senders is looked for any more, a scene that it moves to need not look for them either.
    fn note_swept(&mut self, entity: OnlineId) {
        if let Some(live) = self.live.get_mut(&entity).filter(|live| live.missing.is_empty()) {
            live.inbox.note_swept(live.looked_through);
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
            match self.search.missing[&sender].died {
                Some(died) => self.lose_patience(sender, died, now),
                None => self.ask_for_sender(sender, now, out),
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
        let due = now + missing.wait.next(self.limits.resend_first, self.limits.resend_max);
        self.search.put_off(sender, due);
        out.push(send(Destination::Home(sender), Control::Query { entity: sender, nonce }));
    }

    /// The home's word on a sender that is looked for. One that is older than what was heard of it may come late.
    pub(super) fn missing_record(&mut self, sender: OnlineId, record: &Record, now: Now, out: &mut Vec<Output>) {
        let Some(missing) = self.search.missing.get_mut(&sender).filter(|missing| missing.died.is_none()) else {
            return;
        };
        if missing.receivers.values().any(|open| record.epoch < open.epoch) {
            return;
        }
        match record.owner {
            // Its home does not know of the verdict yet.
            Some(owner) if self.verdicts.is_dead(owner.session) => {}
            Some(owner) => self.follow_sender(sender, (owner, record.epoch), out),
            None if record.lost => {
                for receiver in self.search.end(sender).into_keys() {
                    self.give_up_sender(sender, receiver, record.epoch);
                }
            }
            None => {
                missing.died = Some(record.epoch);
                self.search.put_off(sender, now + self.limits.tombstone);
            }
        }
    }

    /// A sender lives. Those who have heard of it since are done with; for the others its scene is asked, until it closes
    /// the stream, or says something.
    fn follow_sender(&mut self, sender: OnlineId, (owner, epoch): (Own, Epoch), out: &mut Vec<Output>) {
        let Some(missing) = self.search.missing.get_mut(&sender) else { return };
        let mut done = Vec::new();
        missing.receivers.retain(|&receiver, before| {
            let Some(live) = self.live.get_mut(&receiver) else { return false };
            live.inbox.follow(Sender::Entity(sender), owner.into(), epoch);
            let open = live.inbox.received().open(Sender::Entity(sender));
            let is_quiet = open.is_some_and(|open| (open.stream, open.number) == (before.stream, before.number));
            if is_quiet {
                let control = Control::AskStream { entity: receiver, stream: before.stream, sender };
                out.push(send(Destination::Place(owner.into()), control));
            } else {
                done.push(receiver);
            }
            is_quiet
        });
        if missing.receivers.is_empty() {
            self.search.end(sender);
        }
        for receiver in done {
            self.live.get_mut(&receiver).expect("it was here").missing.remove(&sender);
            self.note_swept(receiver);
        }
    }

    /// A sender has been dead for a while. Where something was heard of it since, that is waited for again: whoever
    /// holds its streams closes them.
    fn lose_patience(&mut self, sender: OnlineId, died: Epoch, now: Now) {
        for (receiver, before) in self.search.end(sender) {
            let live = self.live.get(&receiver);
            let open = live.and_then(|live| live.inbox.received().open(Sender::Entity(sender)).copied());
            match open {
                Some(open) if open != before => self.search.begin(sender, receiver, open, now),
                Some(_) | None => self.give_up_sender(sender, receiver, died),
            }
        }
    }

    /// A sender is dead, and so is whoever might have held its stream. A receiver that is frozen just now is looked
    /// through again when it goes on, here or elsewhere.
    fn give_up_sender(&mut self, sender: OnlineId, receiver: OnlineId, died: Epoch) {
        let Some(live) = self.live.get_mut(&receiver).filter(|live| live.is_active()) else { return };
        live.missing.remove(&sender);
        // The router that it left its streams to speaks with the very epoch of its death.
        if live.inbox.received().open(Sender::Entity(sender)).is_some_and(|open| open.epoch <= died) {
            live.inbox.bury(Sender::Entity(sender), &self.verdicts);
        }
        self.note_swept(receiver);
    }
}

/// Rows of tables looked through in a tick: some ten microseconds.
const ROWS_PER_TICK: usize = 1_024;
/// Homes asked in a tick: some 10,000 a second.
const QUESTIONS_PER_TICK: usize = 256;
