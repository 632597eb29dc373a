//! The source's half of a move, up to the copy's departure: ask for room, freeze, send the copy.

use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::alarm::Alarm;
use super::party::{Asker, Mover};
use super::phase::{Deciding, Frozen, HeldMessages, Leaving, Live, Phase, Repeat, Reserving, Why};
use super::talk::send;
use super::{Answer, Companion, Destination, Event, MoveDone, MoveRequest, Output, Scene, Ticket};
use crate::bounds::{RECEIVED_BYTES, SENDING_BYTES};
use crate::message::{Control, Image, Message, Prepare, Reserve};
use crate::moves::{Cost, MoveError, MoveId, Outcome, Refusal, Step};
use crate::schema::Parts;
use crate::stream::{Received, SendStream};
use crate::{Epoch, Now, Rule, Session};

impl Scene {
    pub(super) fn migrate(&mut self, request: MoveRequest, now: Now, out: &mut Vec<Output>) {
        if let Err(error) = self.may_set_out(&request) {
            return reject(request.ticket, error, out);
        }
        let MoveRequest { ticket, id, entity, to, body_bytes, components, objection, companions } = request;
        let count = 1 + companions.len();
        let leader = Companion { entity, id, body_bytes, components, objection };
        let movers = [leader].into_iter().chain(companions).map(|mover| self.look_at(mover, to, count));
        let movers: Vec<Mover> = movers.collect();
        for &Mover { entity, id, .. } in &movers {
            let Live { identity, epoch, .. } = &self.live[&entity];
            let (label, epoch) = (identity.label.clone(), *epoch);
            out.push(Output::Event(Event::MoveBegan { id, entity, label, to, epoch }));
        }
        let asker = self.gather(ticket, &movers);
        let fault = movers.iter().find_map(|mover| Some((mover.entity, mover.ready.clone().err()?)));
        for Mover { entity, id, bytes, ready } in movers {
            let epoch = self.live[&entity].epoch;
            let refusal = match (ready, &fault) {
                (Ok((to, parts)), None) => {
                    let leaving = Leaving { id, asker, to, label: epoch.next(), began: now, bytes, reported: false };
                    self.set_out(entity, leaving, parts, now, out);
                    continue;
                }
                (Err(refusal), _) => refusal,
                (Ok(_), Some((who, why))) => {
                    Refusal::Companion { who: *who, why: Box::new(Outcome::Refused(why.clone())) }
                }
            };
            let (outcome, cost) = (Outcome::Refused(refusal), Cost { bytes, ..Cost::default() });
            self.end(asker, MoveDone { id, entity, to, outcome, epoch, cost, companions: Vec::new() }, out);
        }
    }

    fn set_out(&mut self, entity: OnlineId, leaving: Leaving, parts: Parts, now: Now, out: &mut Vec<Output>) {
        let deadline = now + self.limits.reserve;
        let repeat = Repeat::first(now, &self.limits);
        self.set_phase(entity, Phase::Reserving(Reserving { leaving, parts, deadline, repeat }));
        self.ask_to_leave(entity, out);
    }

    /// Asks the target for room; or the home for the record, which must be of its present term before the copy can go.
    fn ask_to_leave(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        if !self.must_hear_first(entity) {
            return self.ask_for_room(entity, out);
        }
        let nonce = self.nonce();
        out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
    }

    pub(super) fn ask_for_room(&self, entity: OnlineId, out: &mut Vec<Output>) {
        let Phase::Reserving(Reserving { leaving, parts, .. }) = &self.live[&entity].phase else { return };
        let Leaving { id, label, bytes, to, .. } = *leaving;
        let reserve = Reserve { entity, id, label, parts: parts.clone(), bytes };
        out.push(send(Destination::Place(to.into()), Control::Reserve(reserve)));
    }

    /// Room is reserved: the entity stops, and is encoded; with all its party, once there is room for all.
    pub(super) fn reserved(&mut self, entity: OnlineId, id: MoveId, label: Epoch, now: Now, out: &mut Vec<Output>) {
        let Some(live) = self.live.get(&entity) else { return };
        let Phase::Reserving(Reserving { leaving, .. }) = &live.phase else { return };
        if leaving.id != id || leaving.label != label || self.must_hear_first(entity) {
            return;
        }
        let leavers = self.note_room(entity, leaving.asker);
        if leavers.is_empty() {
            return;
        }
        self.flush(out);
        for &entity in &leavers {
            self.leave_direct_path(entity, now, out);
        }
        for &entity in &leavers {
            self.freeze(entity, now);
        }
        out.extend(leavers.into_iter().map(|entity| Output::Encode { entity }));
    }

    fn freeze(&mut self, entity: OnlineId, now: Now) {
        let Phase::Reserving(Reserving { leaving, .. }) = &self.live[&entity].phase else {
            panic!("expected {entity} to have asked for room, found it {:?}", self.live[&entity].phase);
        };
        let frozen = Frozen {
            leaving: leaving.clone(),
            at: now,
            prepare: None,
            arrived: None,
            held: HeldMessages::default(),
            deadline: now + self.limits.transfer,
            repeat: Repeat::first(now, &self.limits),
        };
        self.set_phase(entity, Phase::Frozen(frozen));
    }

    /// The body is encoded: the copy goes to the target.
    pub(super) fn encoded(&mut self, entity: OnlineId, body: Vec<u8>, now: Now, out: &mut Vec<Output>) {
        let me = self.me;
        let bytes_max = self.limits.state_bytes;
        let live = self.live.get_mut(&entity).expect("only a frozen entity is encoded");
        let Phase::Frozen(frozen) = &mut live.phase else { panic!("expected {entity} to be frozen when encoded") };
        let bytes = body.len() as u64 + table_bytes(live.inbox.received(), live.outbox.values());
        frozen.leaving.bytes = bytes;
        if bytes > bytes_max {
            return self.melt(entity, Outcome::Refused(Refusal::TooLarge { bytes, bytes_max }), now, out);
        }
        let mut image = Image {
            identity: live.identity.clone(),
            body,
            received: live.inbox.received().clone(),
            sending: live.outbox.values().cloned().collect(),
            base: live.base,
            parked: live.parked.clone(),
        };
        if !self.rules.keep(Rule::TableMoves) {
            image.received = Received::default();
        }
        if !self.rules.keep(Rule::OutboxMoves) {
            image.sending.clear();
        }
        let Leaving { id, label, to, .. } = frozen.leaving;
        let prepare = Arc::new(Prepare { entity, id, from: me, label, image });
        frozen.prepare = Some(prepare.clone());
        out.push(Output::Send { to: Destination::Place(to.into()), message: Message::Prepare(prepare) });
    }

    /// A frozen entity has no copy that could go. Nothing has left this scene yet, so it simply goes on.
    pub(super) fn melt(&mut self, entity: OnlineId, outcome: Outcome, now: Now, out: &mut Vec<Output>) {
        let Phase::Frozen(frozen) = &self.live[&entity].phase else { panic!("expected {entity} to be frozen") };
        let (leaving, at) = (frozen.leaving.clone(), frozen.at);
        self.thaw(entity, now, out);
        self.end_leaving(entity, &leaving, outcome, now.since(at), now, out);
    }

    pub(super) fn refused(
        &mut self,
        entity: OnlineId,
        id: MoveId,
        label: Epoch,
        reason: Refusal,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let Some(live) = self.live.get(&entity) else { return };
        match &live.phase {
            Phase::Reserving(reserving) if reserving.leaving.id == id => {
                self.stay(entity, Outcome::Refused(reason), now, out);
            }
            Phase::Frozen(frozen) if frozen.leaving.id == id && frozen.leaving.label == label => {
                self.give_up(entity, Outcome::Refused(reason), now, out);
            }
            Phase::Active | Phase::Reserving(_) | Phase::Frozen(_) | Phase::Deciding(_) => {}
        }
    }

    /// A reservation comes to nothing: the entity never stopped, and nobody who was to go with it does.
    pub(super) fn stay(&mut self, entity: OnlineId, outcome: Outcome, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get(&entity).expect("the caller holds a live entity");
        let Phase::Reserving(Reserving { leaving, .. }) = &live.phase else { return };
        let leaving = leaving.clone();
        if let Asker::Party(id) = leaving.asker {
            return self.break_up(id, entity, &outcome, now, out);
        }
        self.set_phase(entity, Phase::Active);
        self.end_leaving(entity, &leaving, outcome, 0, now, out);
    }

    pub(super) fn cancel(&mut self, ticket: Ticket, id: MoveId, now: Now, out: &mut Vec<Output>) {
        let leaves = |entity: &&OnlineId| match &self.live[*entity].phase {
            Phase::Reserving(reserving) => reserving.leaving.id == id,
            Phase::Frozen(frozen) => frozen.leaving.id == id,
            Phase::Deciding(Deciding { why: Why::GiveUp(give_up), .. }) => give_up.leaving.id == id,
            Phase::Active | Phase::Deciding(_) => false,
        };
        let Some(entity) = self.busy.iter().find(leaves).copied() else {
            return reject(Some(ticket), MoveError::NoMigration { id }, out);
        };
        out.push(Output::Answer { ticket, answer: Answer::Cancelled });
        self.turn_back(entity, Outcome::Cancelled, now, out);
    }

    pub(super) fn peer_lost(&mut self, session: Session, now: Now, out: &mut Vec<Output>) {
        let leads_there = |entity: &OnlineId| match &self.live[entity].phase {
            Phase::Reserving(reserving) => reserving.leaving.to.session == session,
            Phase::Frozen(frozen) => frozen.leaving.to.session == session,
            Phase::Active | Phase::Deciding(_) => false,
        };
        let lost: Vec<_> = self.busy.iter().copied().filter(leads_there).collect();
        for entity in lost {
            self.turn_back(entity, Outcome::NodeLost, now, out);
        }
    }

    fn turn_back(&mut self, entity: OnlineId, outcome: Outcome, now: Now, out: &mut Vec<Output>) {
        match &self.live[&entity].phase {
            Phase::Reserving(_) => self.stay(entity, outcome, now, out),
            Phase::Frozen(_) => self.give_up(entity, outcome, now, out),
            Phase::Active | Phase::Deciding(_) => {}
        }
    }

    /// A step of leaving is late, or wants repeating.
    pub(super) fn leave_tick(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let limits = self.limits.clone();
        let nonce = self.nonce();
        let live = self.live.get_mut(&entity).expect("the alarm names a live entity");
        match &mut live.phase {
            Phase::Active => return,
            Phase::Reserving(reserving) if reserving.deadline <= now => {
                let asker = reserving.leaving.asker;
                let who = self.who_is_late(entity, asker);
                let is_outdated = self.is_outdated(who);
                let late = Outcome::Timeout { step: Step::Reserve };
                return self.stay(who, if is_outdated { Outcome::HomeUnreachable } else { late }, now, out);
            }
            Phase::Frozen(frozen) if frozen.deadline <= now => {
                return self.give_up(entity, Outcome::Timeout { step: Step::Transfer }, now, out);
            }
            Phase::Reserving(reserving) => {
                reserving.repeat.again(now, &limits);
                self.ask_to_leave(entity, out);
            }
            Phase::Frozen(frozen) => {
                frozen.repeat.again(now, &limits);
                let copy = frozen.prepare.clone().filter(|_| self.rules.keep(Rule::SourceRepeats));
                if let Some(prepare) = copy {
                    let to = Destination::Place(frozen.leaving.to.into());
                    out.push(Output::Send { to, message: Message::Prepare(prepare) });
                    out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
                }
            }
            Phase::Deciding(deciding) => {
                deciding.repeat.again(now, &limits);
                let late = deciding.deadline <= now;
                self.ask_to_decide(entity, out);
                if late {
                    self.report_undecided(entity, now, out);
                }
            }
        }
        if let Some(due) = self.live.get(&entity).and_then(|live| live.phase.due()) {
            self.alarms.insert((due, Alarm::Live(entity)));
        }
    }

    /// The scene stops: a move under way ends here, as far as anybody can be told.
    pub(super) fn abandon(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("a busy entity lives here");
        let (leaving, frozen) = match &mut live.phase {
            Phase::Reserving(_) => return self.stay(entity, Outcome::SceneStopped, now, out),
            Phase::Frozen(frozen) => (&mut frozen.leaving, frozen.at),
            Phase::Deciding(Deciding { why: Why::GiveUp(give_up), .. }) => (&mut give_up.leaving, give_up.frozen),
            Phase::Active | Phase::Deciding(_) => return,
        };
        self.busy.remove(&entity);
        if std::mem::replace(&mut leaving.reported, true) {
            return;
        }
        let (leaving, pause) = (leaving.clone(), now.since(frozen));
        self.end_leaving(entity, &leaving, Outcome::SceneStopped, pause, now, out);
    }

    pub(super) fn end_leaving(
        &mut self,
        entity: OnlineId,
        leaving: &Leaving,
        outcome: Outcome,
        pause_us: u64,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let epoch = self.live[&entity].epoch;
        let done = self.done(entity, leaving, outcome, pause_us, epoch, now);
        self.end(leaving.asker, done, out);
    }

    pub(super) fn done(
        &self,
        entity: OnlineId,
        leaving: &Leaving,
        outcome: Outcome,
        pause_us: u64,
        epoch: Epoch,
        now: Now,
    ) -> MoveDone {
        let cost = Cost { total_us: now.since(leaving.began), pause_us, held: 0, delivered: 0, bytes: leaving.bytes };
        let (id, to) = (leaving.id, Ok(leaving.to));
        MoveDone { id, entity, to, outcome, epoch, cost, companions: Vec::new() }
    }

    fn end(&mut self, asker: Asker, done: MoveDone, out: &mut Vec<Output>) {
        let label = self.live.get(&done.entity).and_then(|live| live.identity.label.clone());
        self.end_labelled(asker, label, done, out);
    }

    /// The one place where an attempt ends: a line for people, an answer for whoever asked.
    pub(super) fn end_labelled(&mut self, asker: Asker, label: Option<String>, done: MoveDone, out: &mut Vec<Output>) {
        out.push(Output::Event(Event::MoveEnded { label, done: Box::new(done.clone()) }));
        match asker {
            Asker::Nobody => {}
            Asker::Tool(ticket) => out.push(Output::Answer { ticket, answer: Answer::Moved(Box::new(done)) }),
            Asker::Party(id) => self.member_done(id, done, out),
        }
    }
}

pub(super) fn reject(ticket: Option<Ticket>, error: MoveError, out: &mut Vec<Output>) {
    if let Some(ticket) = ticket {
        out.push(Output::Answer { ticket, answer: Answer::Rejected(error) });
    }
}

/// An upper bound for the encoded stream tables, and the payloads kept.
pub(super) fn table_bytes<'a>(received: &Received, sending: impl Iterator<Item = &'a SendStream>) -> u64 {
    let kept = sending.map(|stream| SENDING_BYTES + stream.payload_bytes() + PAYLOAD_LENGTH_BYTES * stream.waiting());
    (received.len() * RECEIVED_BYTES + kept.sum::<usize>()) as u64
}

/// How long a payload is, encoded.
const PAYLOAD_LENGTH_BYTES: usize = 4;
