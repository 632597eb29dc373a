//! The source's half of a move, up to the copy's departure: ask for room, freeze, send the copy.

use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::alarm::Alarm;
use super::phase::{Deciding, Frozen, HeldMessages, Leaving, Phase, Repeat, Reserving, Why};
use super::talk::send;
use super::{Answer, Destination, Doors, Event, MoveDone, MoveRequest, Output, Scene, Ticket};
use crate::bounds::{RECEIVED_BYTES, SENDING_BYTES};
use crate::message::{Control, Image, Message, Prepare, Reserve};
use crate::moves::{Cost, MoveError, MoveId, Outcome, Refusal, Step};
use crate::schema::{Part, Parts};
use crate::stream::{Received, SendStream};
use crate::{Epoch, Now, Session};

impl Scene {
    pub(super) fn migrate(&mut self, request: MoveRequest, now: Now, out: &mut Vec<Output>) {
        let MoveRequest { ticket, id, entity, to, body_bytes, components, objection } = request;
        let Some(live) = self.live.get(&entity) else {
            return reject(ticket, MoveError::NotOwner { entity }, out);
        };
        if !matches!(live.phase, Phase::Active) || self.is_doomed(entity) {
            return reject(ticket, MoveError::Migrating { entity }, out);
        }
        let bytes = body_bytes + table_bytes(live.inbox.received(), live.outbox.values());
        let epoch = live.epoch;
        let own = Part { name: live.identity.type_name.clone(), version: live.identity.type_version };
        let parts = Parts::new(own, components);
        out.push(Output::Event(Event::MoveBegan { id, entity, label: live.identity.label.clone(), to, epoch }));
        let under_way = u32::try_from(self.moves_under_way()).unwrap_or(u32::MAX);
        let refusal = match to {
            Err(scene) => Some(Refusal::NoScene { scene }),
            Ok(own) if own == self.me => Some(Refusal::AlreadyThere),
            // A scene that ends settles what it has begun, and begins nothing more.
            Ok(_) if self.doors == Doors::Shut => Some(Refusal::Draining),
            Ok(_) if objection.is_some() => objection.map(Refusal::bounded),
            Ok(_) if bytes > self.limits.state_bytes => {
                Some(Refusal::TooLarge { bytes, bytes_max: self.limits.state_bytes })
            }
            Ok(_) if under_way >= self.limits.moves_per_scene => Some(Refusal::Busy { under_way }),
            Ok(_) => parts.as_ref().err().map(|error| Refusal::Unreadable { reason: error.to_string() }),
        };
        let (Ok(own), Ok(parts), None) = (to, parts, &refusal) else {
            let refusal = refusal.expect("where it would go");
            let cost = Cost { bytes, ..Cost::default() };
            let done = MoveDone { id, entity, to, outcome: Outcome::Refused(refusal), epoch, cost };
            return self.end(ticket, done, out);
        };
        let leaving = Leaving { id, ticket, to: own, label: epoch.next(), began: now, bytes, reported: false };
        let deadline = now + self.limits.reserve;
        let repeat = Repeat::first(now, &self.limits);
        self.set_phase(entity, Phase::Reserving(Reserving { leaving, parts, deadline, repeat }));
        self.ask_to_leave(entity, out);
    }

    /// Asks the target for room; or the home for the record, which must be of its present term before the copy can go.
    fn ask_to_leave(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        if !self.is_outdated(entity) {
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

    /// Room is reserved: the entity stops, and is encoded.
    pub(super) fn reserved(&mut self, entity: OnlineId, id: MoveId, label: Epoch, now: Now, out: &mut Vec<Output>) {
        let Some(live) = self.live.get(&entity) else { return };
        let Phase::Reserving(reserving) = &live.phase else { return };
        if reserving.leaving.id != id || reserving.leaving.label != label || self.is_outdated(entity) {
            return;
        }
        let leaving = reserving.leaving.clone();
        self.flush(out);
        self.leave_direct_path(entity, now, out);
        let frozen = Frozen {
            leaving,
            at: now,
            prepare: None,
            arrived: None,
            held: HeldMessages::default(),
            deadline: now + self.limits.transfer,
            repeat: Repeat::first(now, &self.limits),
        };
        self.set_phase(entity, Phase::Frozen(frozen));
        out.push(Output::Encode { entity });
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
            return self.melt(entity, Refusal::TooLarge { bytes, bytes_max }, now, out);
        }
        let image = Image {
            identity: live.identity.clone(),
            body,
            received: live.inbox.received().clone(),
            sending: live.outbox.values().cloned().collect(),
            base: live.base,
            parked: live.parked.clone(),
        };
        let Leaving { id, label, to, .. } = frozen.leaving;
        let prepare = Arc::new(Prepare { entity, id, from: me, label, image });
        frozen.prepare = Some(prepare.clone());
        out.push(Output::Send { to: Destination::Place(to.into()), message: Message::Prepare(prepare) });
    }

    /// A frozen entity has no copy that could go. Nothing has left this scene yet, so it simply goes on.
    pub(super) fn melt(&mut self, entity: OnlineId, refusal: Refusal, now: Now, out: &mut Vec<Output>) {
        let Phase::Frozen(frozen) = &self.live[&entity].phase else { panic!("expected {entity} to be frozen") };
        let (leaving, at) = (frozen.leaving.clone(), frozen.at);
        self.thaw(entity, now, out);
        self.end_leaving(entity, &leaving, Outcome::Refused(refusal), now.since(at), now, out);
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

    /// A reservation comes to nothing: the entity never stopped.
    pub(super) fn stay(&mut self, entity: OnlineId, outcome: Outcome, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get(&entity).expect("the caller holds a live entity");
        let Phase::Reserving(reserving) = &live.phase else { return };
        let leaving = reserving.leaving.clone();
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
        let is_outdated = self.is_outdated(entity);
        let live = self.live.get_mut(&entity).expect("the alarm names a live entity");
        match &mut live.phase {
            Phase::Active => return,
            Phase::Reserving(reserving) if reserving.deadline <= now && is_outdated => {
                return self.stay(entity, Outcome::HomeUnreachable, now, out);
            }
            Phase::Reserving(reserving) if reserving.deadline <= now => {
                return self.stay(entity, Outcome::Timeout { step: Step::Reserve }, now, out);
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
                if let Some(prepare) = frozen.prepare.clone() {
                    let to = Destination::Place(frozen.leaving.to.into());
                    out.push(Output::Send { to, message: Message::Prepare(prepare) });
                }
                out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
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
        &self,
        entity: OnlineId,
        leaving: &Leaving,
        outcome: Outcome,
        pause_us: u64,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let epoch = self.live[&entity].epoch;
        let done = self.done(entity, leaving, outcome, pause_us, epoch, now);
        self.end(leaving.ticket, done, out);
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
        MoveDone { id: leaving.id, entity, to: Ok(leaving.to), outcome, epoch, cost }
    }

    fn end(&self, ticket: Option<Ticket>, done: MoveDone, out: &mut Vec<Output>) {
        let label = self.live.get(&done.entity).and_then(|live| live.identity.label.clone());
        self.end_labelled(ticket, label, done, out);
    }

    /// The one place where an attempt ends: a line for people, an answer for whoever asked.
    pub(super) fn end_labelled(
        &self,
        ticket: Option<Ticket>,
        label: Option<String>,
        done: MoveDone,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Event(Event::MoveEnded { label, done: done.clone() }));
        if let Some(ticket) = ticket {
            out.push(Output::Answer { ticket, answer: Answer::Moved(done) });
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
