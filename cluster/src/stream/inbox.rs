//! The receiver's end of all streams to one entity.

use std::collections::BTreeMap;

use super::StreamId;
use super::received::{Open, Over, Received, Stopped};
use crate::budget::Load;
use crate::message::{Data, Sender};
use crate::view::Verdicts;
use crate::{Epoch, Limits, Place, Rule, Rules};

/// What becomes of a message that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Apply it, for it was the next one, and then those before which it closed the gap.
    Apply {
        /// What came in.
        next: Data,
        /// What waited behind it, in order; mostly nothing.
        behind: Vec<Data>,
    },
    /// It is answered already, as applied or not: say so again.
    Repeat,
    /// It is ahead of a gap and waits.
    Ahead,
    /// It is ahead of a gap and there is no room to wait, or it begins a stream and the entity has as many
    /// as it may have; its sender will send it again.
    NoRoom,
    /// Its stream is over, or cannot begin any more; its sender is told that it is closed.
    Over(Over),
}

/// What an entity has applied, and what waits for a gap to close.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    received: Received,
    ahead: BTreeMap<(StreamId, u64), Data>,
    ahead_bytes: usize,
    rules: Rules,
}

impl Inbox {
    /// An inbox that goes on where `received` ends.
    #[must_use]
    pub fn resume(received: Received) -> Self {
        Self { received, ..Self::default() }
    }

    /// The same, keeping these rules alone.
    pub(crate) fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// What was applied.
    #[must_use]
    pub fn received(&self) -> &Received {
        &self.received
    }

    /// Whether a message is ahead of a gap.
    #[must_use]
    pub fn is_ahead(&self, data: &Data) -> bool {
        data.seq.saturating_sub(1) > self.received.last(data.sender, data.stream)
    }

    /// What waits for a gap to close.
    #[must_use]
    pub fn waiting(&self) -> Load {
        Load { messages: self.ahead.len(), bytes: self.ahead_bytes }
    }

    /// The rule: the next number is applied, a lower one repeated, a higher one waits within bounds; a stream that
    /// is over does not begin again.
    pub fn accept(&mut self, data: Data, limits: &Limits, verdicts: &Verdicts) -> Verdict {
        match self.received.open_mut(data.sender) {
            Some(open) if open.stream == data.stream => {
                let is_repeat = data.seq <= open.number && self.rules.keep(Rule::RepeatsAreKnown);
                if is_repeat || open.stopped.is_some() && self.rules.keep(Rule::StoppedStreamsStay) {
                    open.hear(&data);
                    return Verdict::Repeat;
                }
                if data.seq - 1 > open.number && self.rules.keep(Rule::GapsAreWaitedFor) {
                    return self.wait(data, limits);
                }
                open.hear(&data);
                open.number = data.seq;
                if self.ahead.is_empty() {
                    self.received.count(1);
                    return Verdict::Apply { next: data, behind: Vec::new() };
                }
                self.apply(data)
            }
            Some(_) | None => self.begin(data, limits, verdicts),
        }
    }

    /// The first that is heard of a stream.
    fn begin(&mut self, data: Data, limits: &Limits, verdicts: &Verdicts) -> Verdict {
        if let Some(over) = self.received.is_over(&data, verdicts, self.rules) {
            self.forget_ahead(data.stream);
            return Verdict::Over(over);
        }
        if data.seq == 0 {
            return Verdict::Repeat;
        }
        if data.seq > 1 && self.rules.keep(Rule::GapsAreWaitedFor) {
            return self.wait(data, limits);
        }
        if !self.received.has_room_for(data.sender) {
            return Verdict::NoRoom;
        }
        let Data { stream, reply_to, epoch, .. } = data;
        let open = Open { stream, number: 1, reply_to, epoch, stopped: None };
        if let Some(former) = self.received.begin(data.sender, open, verdicts, self.rules) {
            self.forget_ahead(former.stream);
        }
        self.apply(data)
    }

    /// The rule while the entity is parked: nothing is applied and nothing waits. The stream has stopped behind what
    /// was applied of it, for good, so that what is answered so is never applied by a repeat.
    pub fn turn_away(&mut self, data: &Data, verdicts: &Verdicts) -> Verdict {
        if let Some(open) = self.received.open_mut(data.sender).filter(|open| open.stream == data.stream) {
            open.hear(data);
            if data.seq > open.number {
                open.stopped.get_or_insert(Stopped::Parked);
            }
            return Verdict::Repeat;
        }
        if let Some(over) = self.received.is_over(data, verdicts, self.rules) {
            return Verdict::Over(over);
        }
        // A number ahead of a gap begins nothing: its sender repeats the first one.
        if data.seq != 1 || !self.received.has_room_for(data.sender) {
            return Verdict::NoRoom;
        }
        let &Data { stream, reply_to, epoch, .. } = data;
        let open = Open { stream, number: 0, reply_to, epoch, stopped: Some(Stopped::Parked) };
        self.received.begin(data.sender, open, verdicts, self.rules);
        Verdict::Repeat
    }

    /// A message that was to be applied was not, or its handler panicked.
    pub fn stop(&mut self, sender: Sender, message: (StreamId, u64), why: Stopped) {
        self.received.stop(sender, message, why);
    }

    /// The entity is parked: what waits for a gap to close is said again by its senders.
    pub fn clear_ahead(&mut self) {
        self.ahead.clear();
        self.ahead_bytes = 0;
    }

    /// `data` is counted in its stream already; what waits behind it follows.
    fn apply(&mut self, data: Data) -> Verdict {
        let (stream, mut number) = (data.stream, data.seq);
        let mut behind = Vec::new();
        while let Some(data) = self.ahead.remove(&(stream, number + 1)) {
            self.ahead_bytes -= data.payload.len();
            behind.push(data);
            number += 1;
        }
        let open = self.received.open_mut(data.sender).expect("the stream was just counted in");
        open.number = number;
        self.received.count(1 + behind.len() as u64);
        Verdict::Apply { next: data, behind }
    }

    fn wait(&mut self, data: Data, limits: &Limits) -> Verdict {
        let bytes = self.ahead_bytes + data.payload.len();
        let is_full = self.ahead.len() >= limits.held_messages || bytes > limits.held_bytes;
        if is_full && self.rules.keep(Rule::HeldIsBounded) {
            return Verdict::NoRoom;
        }
        if self.ahead.insert((data.stream, data.seq), data).is_none() {
            self.ahead_bytes = bytes;
        }
        Verdict::Ahead
    }

    /// A message that is in no stream was counted in, and is not applied after all.
    pub fn take_unnumbered_back(&mut self) {
        self.received.take_back(1);
    }

    /// A message that is in no stream is applied.
    pub fn count_unnumbered(&mut self) {
        self.received.count(1);
    }

    /// The sender has closed its stream. Returns whether that is taken note of: a table that is full takes no note
    /// of the streams of one more opener.
    pub fn close(&mut self, sender: Sender, stream: StreamId, verdicts: &Verdicts) -> bool {
        let is_open = self.received.open(sender).is_some_and(|open| open.stream == stream);
        if !is_open && !verdicts.is_dead(stream.opened_at.session) && !self.received.has_room(stream.opened_at) {
            return false;
        }
        self.received.close(sender, stream, verdicts);
        self.forget_ahead(stream);
        true
    }

    /// The sender is gone for good, and nobody goes on with its stream who would know what was applied of it.
    pub fn bury(&mut self, sender: Sender, verdicts: &Verdicts) {
        if let Some(open) = self.received.bury(sender, verdicts) {
            self.forget_ahead(open.stream);
        }
    }

    /// There are new verdicts, or they are new to the entity. What waits of streams that have not begun goes: nobody
    /// looks for their senders, and those that live say it again.
    pub fn sweep(&mut self, verdicts: &Verdicts) {
        self.received.sweep(verdicts, self.rules);
        if self.ahead.is_empty() {
            return;
        }
        self.keep_ahead(|received, stream, sender| received.last(sender, stream) > 0);
    }

    /// The table was looked through for senders that are gone, by somebody who knows the verdicts `since` that view,
    /// and nobody is looked for any more.
    pub fn note_swept(&mut self, since: u64) {
        self.received.note_swept(since);
    }

    /// The sender goes on at `place`, as its home says.
    pub fn follow(&mut self, sender: Sender, place: Place, epoch: Epoch) {
        self.received.follow(sender, place, epoch);
    }

    /// The streams were reset: nothing is known of any.
    pub fn reset(&mut self) {
        self.received.reset();
        self.clear_ahead();
    }

    /// A stream is over; with it all that were opened there before it and have not begun yet.
    fn forget_ahead(&mut self, over: StreamId) {
        if self.ahead.is_empty() {
            return;
        }
        self.keep_ahead(|received, stream, sender| {
            stream != over && (!received.is_below_floor(stream) || received.last(sender, stream) > 0)
        });
    }

    fn keep_ahead(&mut self, keep: impl Fn(&Received, StreamId, Sender) -> bool) {
        self.ahead.retain(|(stream, _), data| keep(&self.received, *stream, data.sender));
        self.ahead_bytes = self.ahead.values().map(|data| data.payload.len()).sum();
    }
}

#[cfg(test)]
mod tests;
