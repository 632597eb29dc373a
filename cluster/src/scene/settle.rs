//! After the decision for the target: hand on what was held, hear that it is active, report.
//!
//! The move is over for the entity; what follows only makes the source's report true. The target is
//! asked how many of the held messages it has applied, so that `held` and `delivered` can be compared.

use slipgate_entity::OnlineId;

use super::alarm::Alarm;
use super::phase::{HeldMessages, Leaving, Repeat};
use super::talk::send;
use super::{Destination, MoveDone, Output, Scene};
use crate::message::{Control, Data, Held, Message};
use crate::moves::{Cost, MoveId, Outcome};
use crate::{Epoch, Now, Own, Place};

/// A move that the record has decided for somebody else.
#[derive(Clone, Debug)]
pub(super) struct HandedOver {
    pub(super) entity: OnlineId,
    pub(super) label: Option<String>,
    pub(super) leaving: Leaving,
    pub(super) frozen: Now,
    pub(super) arrived: Option<Now>,
    pub(super) owner: Own,
    pub(super) epoch: Epoch,
    pub(super) messages: Vec<Data>,
}

/// A move whose end is not reported yet.
#[derive(Clone, Debug)]
pub(super) struct Settling {
    over: HandedOver,
    held: Vec<Held>,
    count: u64,
    delivered: u64,
    decided: Now,
    deadline: Now,
    repeat: Repeat,
}

impl Scene {
    /// Hands on what was held, in order, and asks what the target makes of it.
    pub(super) fn settle(&mut self, mut over: HandedOver, now: Now, out: &mut Vec<Output>) {
        let messages = std::mem::take(&mut over.messages);
        let held = HeldMessages::summary(&messages);
        let count = held.iter().map(|held| held.count).sum();
        for data in messages {
            self.hand_on(data, &over, out);
        }
        let settling = Settling {
            held,
            count,
            delivered: 0,
            decided: now,
            deadline: now + self.limits.settle,
            repeat: Repeat::first(now, &self.limits),
            over,
        };
        let id = settling.over.leaving.id;
        if count > 0 {
            self.ask_what_is_applied(&settling, out);
        }
        self.alarms.insert((settling.repeat.due.min(settling.deadline), Alarm::Settling(id)));
        self.settling.insert(id, settling);
        self.report_if_settled(id, now, out);
    }

    fn hand_on(&self, mut data: Data, over: &HandedOver, out: &mut Vec<Output>) {
        if data.hops >= self.limits.hops {
            let (entity, stream) = (data.entity, data.stream);
            let control = Control::Redirect { entity, stream, owner: over.owner, epoch: over.epoch };
            out.push(send(Destination::Place(data.reply_to), control));
            return;
        }
        data.hops += 1;
        out.push(Output::Send { to: Destination::Place(over.owner.into()), message: Message::Data(data) });
    }

    fn ask_what_is_applied(&self, settling: &Settling, out: &mut Vec<Output>) {
        let HandedOver { entity, leaving, owner, .. } = &settling.over;
        let held = settling.held.clone();
        let control = Control::HandedOn { entity: *entity, id: leaving.id, held, source: self.me };
        out.push(send(Destination::Place((*owner).into()), control));
    }

    /// The target reports that it is active.
    pub(super) fn arrived(&mut self, entity: OnlineId, id: MoveId, epoch: Epoch, now: Now, out: &mut Vec<Output>) {
        self.note_takeover(entity, id);
        if let Some(settling) = self.settling.get_mut(&id) {
            settling.over.arrived.get_or_insert(now);
            return self.report_if_settled(id, now, out);
        }
        let nonce = self.nonce();
        let Some(live) = self.live.get_mut(&entity).filter(|live| live.epoch < epoch) else { return };
        if live.phase.note_arrival(id, now) {
            // The target's word decides nothing; the record's does.
            out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
        }
    }

    /// The target's answer to what was handed on.
    pub(super) fn settled(&mut self, id: MoveId, delivered: u64, now: Now, out: &mut Vec<Output>) {
        let Some(settling) = self.settling.get_mut(&id) else { return };
        settling.delivered = settling.delivered.max(delivered.min(settling.count));
        self.report_if_settled(id, now, out);
    }

    fn report_if_settled(&mut self, id: MoveId, now: Now, out: &mut Vec<Output>) {
        let Some(settling) = self.settling.get(&id) else { return };
        if settling.over.arrived.is_some() && settling.delivered == settling.count {
            self.conclude_settling(id, now, out);
        }
    }

    pub(super) fn settle_tick(&mut self, id: MoveId, now: Now, out: &mut Vec<Output>) {
        let limits = self.limits.clone();
        let Some(mut settling) = self.settling.remove(&id) else { return };
        if settling.deadline <= now {
            self.settling.insert(id, settling);
            return self.conclude_settling(id, now, out);
        }
        if settling.repeat.due <= now {
            settling.repeat.again(now, &limits);
            let HandedOver { entity, arrived, .. } = settling.over;
            if arrived.is_none() {
                let target = settling.over.leaving.to;
                out.push(send(Destination::Place(target.into()), Control::IsActive { entity, id }));
            }
            if settling.delivered < settling.count {
                self.ask_what_is_applied(&settling, out);
            }
        }
        self.alarms.insert((settling.repeat.due.min(settling.deadline), Alarm::Settling(id)));
        self.settling.insert(id, settling);
    }

    /// Reports the move as done, with what is known by now.
    pub(super) fn conclude_settling(&mut self, id: MoveId, now: Now, out: &mut Vec<Output>) {
        let Some(settling) = self.settling.remove(&id) else { return };
        let HandedOver { entity, label, leaving, frozen, arrived, epoch, .. } = settling.over;
        let until = arrived.unwrap_or(settling.decided).min(now);
        let cost = Cost {
            total_us: until.since(leaving.began),
            pause_us: until.since(frozen),
            held: settling.count,
            delivered: settling.delivered,
            bytes: leaving.bytes,
        };
        let done = MoveDone {
            id,
            entity,
            to: Ok(leaving.to),
            outcome: Outcome::Moved { epoch: leaving.label },
            epoch,
            cost,
            companions: Vec::new(),
        };
        self.end_labelled(leaving.asker, label, done, out);
    }

    /// The source asks whether the copy is active here.
    pub(super) fn is_active(&mut self, from: Place, entity: OnlineId, id: MoveId, out: &mut Vec<Output>) {
        let Some(live) = self.live.get(&entity).filter(|live| live.arrival == Some(id)) else { return };
        out.push(send(Destination::Place(from), Control::Arrived { entity, id, epoch: live.epoch }));
    }

    /// The source asks how many of the held messages are applied. A scene that has handed the entity on
    /// passes the question on, too.
    pub(super) fn handed_on(
        &mut self,
        entity: OnlineId,
        id: MoveId,
        held: Vec<Held>,
        source: Own,
        out: &mut Vec<Output>,
    ) {
        if self.staged.contains_key(&entity) {
            // A tombstone of an earlier stay would send the question in circles; the source repeats it.
            return;
        }
        if let Some(live) = self.live.get(&entity) {
            let received = live.inbox.received();
            // What is over was applied, as far as it could be; what a parked entity does not apply is answered.
            let last = |held: &Held| {
                let open = received.open(held.sender).filter(|open| open.stream == held.stream);
                match open {
                    Some(open) if open.stopped.is_none() => open.number,
                    None if !received.is_below_floor(held.stream) => 0,
                    Some(_) | None => held.upto,
                }
            };
            let applied = |held: &Held| held.count - held.upto.saturating_sub(last(held)).min(held.count);
            let delivered = held.iter().map(applied).fold(0, u64::saturating_add);
            out.push(send(Destination::Place(source.into()), Control::Settled { entity, id, delivered }));
        } else if let Some(owner) = self.gone.get(&entity).and_then(|tombstone| tombstone.record.owner) {
            let control = Control::HandedOn { entity, id, held, source };
            out.push(send(Destination::Place(owner.into()), control));
        }
    }
}
