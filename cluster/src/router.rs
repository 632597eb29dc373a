//! The streams of tools, and of senders that are gone.
//!
//! A tool has no entity to keep its numbers, so the router of its node does: one stream per receiver,
//! for all tools of the node. Streams of entities live with the entity and move with it
//! ([`scene`](crate::scene)); when such an entity despawns, what it sent and nobody acknowledged
//! passes to the router, which goes on until it is answered. Whatever stream is done with, the router closes.
//!
//! Keeps: an accepted message is applied once or answered `Dead`, or `Unknown` where the receiver was lost or counts
//! anew and may have applied it; messages
//! to one receiver leave in the order they were accepted; after a refusal, later messages of the same batch to the same receiver are
//! refused too, so that a sender can go on where it was stopped; everything kept is bounded, and no owner has it all.
//! Leaves out: which thread runs it; where homes and owners are on the network.

mod closing;
mod lines;
mod port;
mod rehomed;
mod shares;
mod tables;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use slipgate_entity::OnlineId;

use self::closing::Closings;
use self::lines::{Line, Lines, Slot};
pub use self::port::{Input, Output, Ticket, ToSend};
use self::rehomed::Rehomed;
use self::shares::{Share, Shares};
pub use self::tables::Tables;
use crate::budget::Load;
use crate::message::{Control, Nonce, Sender};
use crate::scene::Orphan;
use crate::stream::{Busy, End, Known, SendStream, Speaker, StreamId, StreamOutput};
use crate::{Epoch, Limits, Now, Place, Record, Rule, Rules, View};

/// One router's streams.
#[derive(Clone, Debug)]
pub struct Router {
    me: Place,
    limits: Limits,
    rules: Rules,
    lines: Lines,
    due: BTreeSet<(Now, StreamId, OnlineId)>,
    closings: Closings,
    /// Kept between steps for its room; empty.
    sends: Vec<StreamOutput>,
    rehomed: Rehomed,
    opened: u64,
    asked: u64,
    shares: Shares,
    allowed: usize,
}

impl Router {
    /// The router at `me`.
    #[must_use]
    pub fn new(me: Place, limits: Limits) -> Self {
        Self {
            me,
            limits,
            rules: Rules::default(),
            lines: Lines::default(),
            due: BTreeSet::new(),
            closings: Closings::default(),
            sends: Vec::new(),
            rehomed: Rehomed::default(),
            opened: 0,
            asked: 0,
            shares: Shares::default(),
            allowed: usize::MAX,
        }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Messages kept, over all streams.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.load().messages
    }

    /// The same, with the bytes of their payloads.
    #[must_use]
    pub fn load(&self) -> Load {
        self.shares.all()
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Send(batch) => self.send(batch, now, out),
            Input::Heard { from, control } => self.heard(from, control, now, out),
            Input::Adopt(orphans) => {
                for orphan in orphans {
                    self.adopt(orphan, now, out);
                }
            }
            Input::View(view) => self.see(view),
            Input::Allow(allowed) => self.allowed = allowed,
            Input::Tick => self.tick(now, out),
        }
    }

    fn heard(&mut self, from: Place, control: Control, now: Now, out: &mut Vec<Output>) {
        match control {
            Control::Ack { entity, stream, upto, owner, epoch, base } => {
                let Some(slot) = self.lines.find(entity, stream) else { return };
                let rules = self.rules;
                self.with_line(slot, now, out, |line, out| {
                    if line.stream.base() != Some(base) && rules.keep(Rule::AcksCountFromOneReset) {
                        // About numbers that count from another reset.
                        return;
                    }
                    let newly = line.stream.acknowledge(upto);
                    out.extend(line.tickets.drain(..newly.min(line.tickets.len())).map(Output::Applied));
                    line.stream.learn_owner(owner, epoch);
                });
            }
            Control::Stopped { entity, stream, upto, failed, base, .. } => {
                self.stopped(from, (stream, entity, base), (upto, failed), now, out);
            }
            Control::Redirect { entity, stream, owner, epoch } => {
                self.closings.redirected(entity, stream, from, (owner, epoch), now);
                let Some(slot) = self.lines.find(entity, stream) else { return };
                self.with_line(slot, now, out, |line, _| {
                    line.stream.redirect(from, owner, epoch);
                });
            }
            Control::NotOwner { entity, .. } => {
                if self.lines.lead_to(entity) || self.closings.concern(entity) {
                    self.ask(entity, out);
                }
            }
            Control::RecordIs { entity, record, .. } => self.record(entity, &record, now, out),
            Control::Closed { entity, stream, floor, doubt } => {
                self.closed(from, entity, (stream, floor), doubt, now, out);
            }
            // A home that is not one, or anything meant for another kind of actor: the next tick asks again.
            Control::NotHome { .. }
            | Control::Cas { .. }
            | Control::Query { .. }
            | Control::Reclaim { .. }
            | Control::Reserve(_)
            | Control::Reserved { .. }
            | Control::Release { .. }
            | Control::Refused { .. }
            | Control::IsActive { .. }
            | Control::Arrived { .. }
            | Control::HandedOn { .. }
            | Control::Settled { .. }
            | Control::AskClaims { .. }
            | Control::Claims { .. }
            | Control::Bequest { .. }
            | Control::Inherited { .. }
            | Control::Roster { .. }
            | Control::RosterNoted { .. }
            | Control::AskRoster { .. }
            | Control::RosterIs { .. }
            | Control::Globals { .. }
            | Control::GlobalsNoted { .. }
            // What a tool asked for is for whoever asked on its behalf.
            | Control::Reply { .. }
            | Control::AskStream { .. }
            | Control::Close { .. } => {}
        }
    }

    fn see(&mut self, view: Arc<View>) {
        let lines = self.due.iter().filter_map(|&(_, id, entity)| Some(self.lines.get(self.lines.find(entity, id)?)));
        self.rehomed.see(view, lines.filter(|line| line.stream.waiting() > 0).map(|line| line.stream.entity()));
    }

    /// The home's word on a receiver.
    fn record(&mut self, entity: OnlineId, record: &Record, now: Now, out: &mut Vec<Output>) {
        self.closings.record(entity, record, now);
        for slot in self.lines.to(entity) {
            let end = self.lines.get(slot).stream.is_ended_by(record);
            let is_kept = |end: &End| *end != End::Unknown || self.rules.keep(Rule::ResetsEndWindows);
            let Some(end) = end.filter(is_kept) else {
                self.with_line(slot, now, out, |line, _| drop(line.stream.learn_record(record)));
                continue;
            };
            let mut line = self.remove(slot);
            match (end, Known::of(record)) {
                (End::Dead, _) => out.extend(line.tickets.into_iter().map(Output::Dead)),
                (End::Lost, _) => out.extend(line.tickets.into_iter().map(Output::Lost)),
                (End::Unknown, None) => out.extend(line.tickets.into_iter().map(Output::Unknown)),
                (End::Unknown, Some(known)) => {
                    let next = || self.lines.next_stream(entity, self.me, &mut self.opened);
                    let left = line.stream.begin_anew(known, next).len();
                    out.extend(line.tickets.drain(..left.min(line.tickets.len())).map(Output::Unknown));
                    if line.stream.waiting() > 0 {
                        let slot = self.insert(line);
                        self.with_line(slot, now, out, |_, _| {});
                    }
                }
            }
        }
    }

    /// The receiver has closed a stream. What is unacknowledged of it was not applied and goes on under another id;
    /// unless the receiver took its sender for gone, and so it is: then nobody is left to be told what became of it.
    fn closed(
        &mut self,
        from: Place,
        entity: OnlineId,
        (id, floor): (StreamId, u64),
        doubt: bool,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        if self.closings.closed(entity, id, from) {
            return;
        }
        let Some(slot) = self.lines.find(entity, id) else { return };
        let line = self.lines.get(slot);
        if !line.stream.leads_to(from) && self.rules.keep(Rule::OnlyTheOwnerCloses) {
            return;
        }
        let is_over =
            line.stream.waiting() == 0 || doubt && line.is_adopted() || !self.rules.keep(Rule::ClosedWindowsGoOn);
        let mut line = self.remove(slot);
        if is_over {
            return;
        }
        let mut next = id.after(floor, self.me, &mut self.opened);
        if self.lines.find(entity, next).is_some() {
            next = self.lines.next_stream(entity, self.me, &mut self.opened);
        }
        line.stream.renew(next);
        let slot = self.insert(line);
        self.with_line(slot, now, out, |_, _| {});
    }

    /// The receiver is parked. Everything unacknowledged is answered, and the next message to it begins another stream.
    fn stopped(
        &mut self,
        from: Place,
        (id, entity, base): (StreamId, OnlineId, Epoch),
        (upto, failed): (u64, bool),
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let Some(slot) = self.lines.find(entity, id) else { return };
        let stream = &self.lines.get(slot).stream;
        if !stream.leads_to(from) || stream.base() != Some(base) || upto > stream.given() {
            return;
        }
        let mut line = self.remove(slot);
        let answered = line.stream.stop(upto, failed).expect("the number was given out");
        let mut tickets = line.tickets.into_iter();
        out.extend(tickets.by_ref().take(answered.applied).map(Output::Applied));
        out.extend(tickets.by_ref().take(usize::from(answered.failed.is_some())).map(Output::Failed));
        out.extend(tickets.map(Output::Parked));
        self.closings.add(&line.stream, line.speaker.sender, now);
    }

    fn send(&mut self, batch: Vec<ToSend>, now: Now, out: &mut Vec<Output>) {
        let mut refused = BTreeSet::new();
        let mut touched: Vec<Slot> = Vec::new();
        for ToSend { ticket, entity, payload } in batch {
            let bytes = payload.len();
            let has_room = self.has_room(entity, bytes) || !self.rules.keep(Rule::QueuesAreBounded);
            if refused.contains(&entity) || !has_room {
                refused.insert(entity);
                out.push(Output::Busy(ToSend { ticket, entity, payload }));
                continue;
            }
            let slot = self.line_to(entity);
            let line = self.lines.get_mut(slot);
            // One that is named again further on is looked at again, and found to have nothing more to send.
            if touched.last() != Some(&slot) {
                touched.push(slot);
            }
            match line.stream.push(payload, &self.limits) {
                Ok(_) => {
                    line.tickets.push_back(ticket);
                    self.shares.put(line.kept().0, Load::one(bytes));
                    out.push(Output::Accepted(ticket));
                }
                Err(Busy(payload)) => {
                    refused.insert(entity);
                    out.push(Output::Busy(ToSend { ticket, entity, payload }));
                }
            }
        }
        for slot in touched {
            self.with_line(slot, now, out, |_, _| {});
        }
    }

    /// Whether a tool's message to an entity may be kept, as far as all streams together are concerned.
    fn has_room(&self, entity: OnlineId, bytes: usize) -> bool {
        let slot = self.lines.of_tools(entity);
        let share = slot.map_or(Share::Home(entity.range()), |slot| self.lines.get(slot).kept().0);
        self.load().weight() + Load::one(bytes).weight() <= self.allowed
            && self.shares.admit(share, bytes, &self.limits)
    }

    fn line_to(&mut self, entity: OnlineId) -> Slot {
        if let Some(slot) = self.lines.of_tools(entity) {
            return slot;
        }
        let id = StreamId::next(self.me, &mut self.opened);
        let speaker = Speaker { sender: Sender::Tool(self.me.session), epoch: Epoch::ZERO, reply_to: self.me };
        self.insert(Line { stream: SendStream::open(id, entity), speaker, tickets: VecDeque::new() })
    }

    fn adopt(&mut self, orphan: Orphan, now: Now, out: &mut Vec<Output>) {
        let Orphan { sender, epoch, stream } = orphan;
        let sender = Sender::Entity(sender);
        if stream.waiting() == 0 || !self.rules.keep(Rule::OnlyEmptyWindowsClose) {
            return self.closings.add(&stream, sender, now);
        }
        if self.lines.find(stream.entity(), stream.id()).is_some() {
            // Two copies that brought the same stream: not of one entity, then.
            return;
        }
        let speaker = Speaker { sender, epoch, reply_to: self.me };
        let slot = self.insert(Line { stream, speaker, tickets: VecDeque::new() });
        self.with_line(slot, now, out, |_, _| {});
    }

    fn insert(&mut self, line: Line) -> Slot {
        let (share, load) = line.kept();
        self.shares.put(share, load);
        self.lines.insert(line)
    }

    fn remove(&mut self, slot: Slot) -> Line {
        let mut line = self.lines.remove(slot);
        let (share, load) = line.kept();
        self.shares.take(share, load);
        if let Some(alarm) = line.stream.disarm() {
            self.due.remove(&(alarm, line.stream.id(), line.stream.entity()));
        }
        line
    }

    /// Changes a line, then sends what it now may, keeps the sums and sets its alarm.
    fn with_line(
        &mut self,
        slot: Slot,
        now: Now,
        out: &mut Vec<Output>,
        change: impl FnOnce(&mut Line, &mut Vec<Output>),
    ) {
        let line = self.lines.get_mut(slot);
        let before = line.kept();
        change(line, out);
        line.stream.transmit(&line.speaker, now, &self.limits, &mut self.sends);
        self.keep(slot, before, now, out);
    }

    /// Does what a line wants done, which has changed.
    fn keep(&mut self, slot: Slot, before: (Share, Load), now: Now, out: &mut Vec<Output>) {
        let line = self.lines.get_mut(slot);
        let (id, entity) = (line.stream.id(), line.stream.entity());
        // The messages of `send` are counted when they are pushed, before the line is looked at here.
        let kept = line.kept();
        if kept != before {
            self.shares.take(before.0, before.1);
            self.shares.put(kept.0, kept.1);
        }
        if let Some(alarm) = line.stream.arm(&self.limits) {
            if let Some(later) = alarm.instead_of {
                self.due.remove(&(later, id, entity));
            }
            self.due.insert((alarm.at, id, entity));
        }
        // An adopted stream has no sender left that might begin another message.
        let is_done = line.stream.waiting() == 0 && (line.is_adopted() || line.stream.is_idle(now, &self.limits));
        let mut asks = false;
        out.extend(self.sends.drain(..).filter_map(|output| match output {
            StreamOutput::Data { to, data } => Some(Output::Data { to, data }),
            StreamOutput::AskHome => {
                asks = true;
                None
            }
        }));
        if asks {
            self.ask(entity, out);
        }
        if is_done {
            let line = self.remove(slot);
            if self.rules.keep(Rule::ClosedStreamsAreTold) {
                self.closings.add(&line.stream, line.speaker.sender, now);
            }
        }
    }

    fn ask(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        self.asked += 1;
        out.push(Output::AskHome { entity, nonce: Nonce(self.asked) });
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        while let Some(&(due, id, entity)) = self.due.first() {
            if due > now {
                break;
            }
            self.due.pop_first();
            let slot = self.lines.find(entity, id).expect("an alarm belongs to a stream");
            let line = self.lines.get_mut(slot);
            line.stream.rang(now);
            let before = line.kept();
            line.stream.tick(&line.speaker, now, &self.limits, &mut self.sends);
            if !self.rules.keep(Rule::StreamsRepeat) {
                self.sends.clear();
            }
            self.keep(slot, before, now, out);
        }
        let mut ask = self.rehomed.portion();
        self.closings.tick(now, &self.limits, out, &mut ask);
        for entity in ask {
            self.ask(entity, out);
        }
    }
}

#[cfg(test)]
mod tests;
