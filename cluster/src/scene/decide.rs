//! Giving up, despawning, and the directory's word on an entity that lives here.
//!
//! Both ask the home to change the record, and then only the record counts: no time-out, no message of
//! another scene leads out of `Deciding`.

use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::leave::reject;
use super::party::Asker;
use super::phase::{Deciding, Frozen, GiveUp, HeldMessages, Leaving, Live, Phase, Repeat, Reserving, Why};
use super::settle::HandedOver;
use super::talk::send;
use super::{Answer, Departure, Destination, Event, Output, Scene, Ticket};
use crate::message::{Control, Data, Message, Nonce, Prepare};
use crate::moves::{MoveError, Outcome};
use crate::{Now, Record, Rule};

/// An attempt to leave that the record has ended.
struct Ended {
    entity: OnlineId,
    label: Option<String>,
    leaving: Leaving,
    frozen: Now,
    arrived: Option<Now>,
    /// Whether the target took over, whoever owns the entity by now.
    moved: bool,
}

impl Scene {
    /// The source wants its frozen entity back: it asks the home, and waits for its word.
    pub(super) fn give_up(&mut self, entity: OnlineId, outcome: Outcome, now: Now, out: &mut Vec<Output>) {
        if !self.rules.keep(Rule::OnlyTheRecordGivesBack) {
            return self.melt(entity, outcome, now, out);
        }
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let phase = std::mem::replace(&mut live.phase, Phase::Active);
        let Phase::Frozen(frozen) = phase else { panic!("expected {entity} to be frozen when its move is given up") };
        let Frozen { leaving, at, arrived, held, .. } = frozen;
        let why = Why::GiveUp(GiveUp { leaving, frozen: at, arrived, outcome });
        self.decide(entity, why, held, now, out);
    }

    pub(super) fn despawn(&mut self, ticket: Option<Ticket>, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        if !self.live.contains_key(&entity) {
            return reject(ticket, MoveError::NotOwner { entity }, out);
        }
        if ticket.is_none() && !self.is_doomed(entity) {
            // Game code asks once, and hears no answer: a move that has not stopped the entity yet ends.
            self.stay(entity, Outcome::Cancelled, now, out);
        }
        if let Err(error) = self.is_free(entity)
            && self.rules.keep(Rule::DespawnsWaitForTheMove)
        {
            return reject(ticket, error, out);
        }
        self.flush(out);
        self.leave_direct_path(entity, now, out);
        self.decide(entity, Why::Despawn(ticket), HeldMessages::default(), now, out);
    }

    pub(super) fn decide(&mut self, entity: OnlineId, why: Why, held: HeldMessages, now: Now, out: &mut Vec<Output>) {
        let nonce = self.nonce();
        let deciding =
            Deciding { why, nonce, held, deadline: now + self.limits.decide, repeat: Repeat::first(now, &self.limits) };
        let is_taken_on_trust = match deciding.why {
            Why::Despawn(_) => !self.rules.keep(Rule::DespawnsAskTheHome),
            Why::GiveUp(_) => false,
        };
        self.set_phase(entity, Phase::Deciding(deciding));
        if is_taken_on_trust {
            let Live { epoch, data, base, .. } = self.live[&entity];
            let record = Record { owner: None, epoch: epoch.next(), data, lost: false, base };
            return self.lose(entity, record, now, out);
        }
        self.ask_to_decide(entity, out);
    }

    pub(super) fn ask_to_decide(&self, entity: OnlineId, out: &mut Vec<Output>) {
        let live = &self.live[&entity];
        let Phase::Deciding(deciding) = &live.phase else { return };
        let owner = match &deciding.why {
            Why::GiveUp(_) if !self.rules.keep(Rule::GivingUpRaisesTheEpoch) => {
                let query = Control::Query { entity, nonce: deciding.nonce };
                return out.push(send(Destination::Home(entity), query));
            }
            Why::GiveUp(_) => Some(self.me),
            Why::Despawn(_) if self.must_hear_first(entity) => {
                // First the record of the home's present term, which may name somebody else.
                let query = Control::Query { entity, nonce: deciding.nonce };
                return out.push(send(Destination::Home(entity), query));
            }
            Why::Despawn(_) => None,
        };
        let new = Record { owner, epoch: live.epoch.next(), data: live.data, lost: false, base: live.base };
        let control = Control::Cas { entity, owner: self.me, epoch: live.epoch, new, nonce: deciding.nonce };
        out.push(send(Destination::Home(entity), control));
    }

    pub(super) fn report_undecided(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let Phase::Deciding(Deciding { why, .. }) = &mut live.phase else { return };
        let give_up = match why {
            Why::GiveUp(give_up) => give_up,
            Why::Despawn(ticket) => {
                let answer = |ticket| Output::Answer { ticket, answer: Answer::Undecided };
                return out.extend(ticket.take().map(answer));
            }
        };
        if std::mem::replace(&mut give_up.leaving.reported, true) {
            return;
        }
        let (leaving, frozen) = (give_up.leaving.clone(), give_up.frozen);
        self.end_leaving(entity, &leaving, Outcome::Undecided, now.since(frozen), now, out);
    }

    /// The directory's word on an entity that lives here.
    pub(super) fn live_record(&mut self, entity: OnlineId, record: Record, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let is_news =
            record.epoch > live.epoch || record.epoch == live.epoch && !self.rules.keep(Rule::GivingUpRaisesTheEpoch);
        if !is_news {
            return;
        }
        let still_ours = record.names(self.me) && record.data == live.data;
        if !still_ours {
            return self.lose(entity, record, now, out);
        }
        if !self.rules.keep(Rule::OwnersTakeUpEpochs) && record.epoch.term() > live.epoch.term() {
            return;
        }
        live.epoch = record.epoch;
        if record.base > live.base {
            self.reset_streams(entity, record.base, out);
        }
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        match &mut live.phase {
            Phase::Active => {}
            Phase::Reserving(Reserving { leaving, .. }) => {
                leaving.label = record.epoch.next();
                let asker = leaving.asker;
                self.forget_room(entity, asker);
                self.ask_for_room(entity, out);
            }
            Phase::Frozen(frozen) => {
                frozen.leaving.label = record.epoch.next();
                frozen.prepare = frozen
                    .prepare
                    .as_ref()
                    .map(|prepare| Arc::new(Prepare { label: frozen.leaving.label, ..Prepare::clone(prepare) }));
                if let Some(prepare) = frozen.prepare.clone() {
                    let to = Destination::Place(frozen.leaving.to.into());
                    out.push(Output::Send { to, message: Message::Prepare(prepare) });
                }
            }
            Phase::Deciding(deciding) => match &deciding.why {
                Why::Despawn(_) => {
                    self.nonces += 1;
                    deciding.nonce = Nonce(self.nonces);
                    self.ask_to_decide(entity, out);
                }
                Why::GiveUp(_) => self.get_back(entity, record, now, out),
            },
        }
    }

    /// The home has named the source again: the entity goes on here, with what was held.
    fn get_back(&mut self, entity: OnlineId, record: Record, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let Phase::Deciding(Deciding { why: Why::GiveUp(give_up), held, .. }) = &mut live.phase else { return };
        let messages = held.take();
        let (leaving, frozen) = (give_up.leaving.clone(), give_up.frozen);
        let outcome = give_up.outcome.clone();
        self.go_on(entity, messages, now, out);
        if leaving.reported {
            out.push(decided(entity, &leaving, &record));
        } else {
            self.end_leaving(entity, &leaving, outcome, now.since(frozen), now, out);
        }
    }

    /// A frozen entity whose copy never left goes on at once.
    pub(super) fn thaw(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let Phase::Frozen(frozen) = &mut live.phase else { return };
        let messages = frozen.held.take();
        self.go_on(entity, messages, now, out);
    }

    /// A frozen entity takes turns again, and begins with what was held.
    fn go_on(&mut self, entity: OnlineId, held: Vec<Data>, now: Now, out: &mut Vec<Output>) {
        self.set_phase(entity, Phase::Active);
        self.sweep_if_new(entity, now);
        self.apply_held(entity, held, now, out);
        self.resume_sending(entity, now, out);
    }

    /// The record names somebody else, or nobody: the entity is gone from here.
    fn lose(&mut self, entity: OnlineId, record: Record, now: Now, out: &mut Vec<Output>) {
        self.leave_direct_path(entity, now, out);
        self.set_phase_gone(entity);
        let live = self.live.remove(&entity).expect("the caller holds a live entity");
        self.bury(entity, record, now);
        let why = match (record.owner, &live.phase) {
            (None, _) => Departure::Despawned,
            (Some(own), Phase::Frozen(_) | Phase::Deciding(Deciding { why: Why::GiveUp(_), .. })) => {
                Departure::Moved(own)
            }
            (Some(_), Phase::Active | Phase::Reserving(_) | Phase::Deciding(_)) => Departure::Superseded,
        };
        // Only a commit changes `data`, and the first one after ours is the target's: it took over, and its
        // copy of the streams is the one that counts, whatever became of the entity since. While a despawn is
        // decided no copy is on its way: a home that does not know the dead tells of an earlier one, which is none.
        let is_despawning = matches!(live.phase, Phase::Deciding(Deciding { why: Why::Despawn(_), .. }));
        let moved = if is_despawning { record.data > live.data } else { record.data != live.data };
        out.push(Output::Remove { entity, why });
        // The copy that counted last may have said more than this one knows of.
        let outdated = record.lost || record.base > live.base;
        if record.owner.is_none() && !moved && self.rules.keep(Rule::WindowsOutliveTheirSenders) {
            for mut stream in live.outbox.into_values() {
                if outdated {
                    stream.fail();
                }
                self.leave(entity, record.epoch, stream);
            }
        }
        let label = live.identity.label;
        match live.phase {
            Phase::Active => {}
            Phase::Reserving(Reserving { leaving, .. }) => {
                let done = self.done(entity, &leaving, Outcome::Lost, 0, record.epoch, now);
                self.end_labelled(leaving.asker, label, done, out);
                if let Asker::Party(id) = leaving.asker {
                    self.break_up(id, entity, &Outcome::Lost, now, out);
                }
            }
            Phase::Frozen(Frozen { leaving, at, arrived, held, .. }) => {
                let ended = Ended { entity, label, leaving, frozen: at, arrived, moved };
                self.hand_over(ended, record, held, now, out);
            }
            Phase::Deciding(Deciding { why: Why::Despawn(ticket), held, .. }) => {
                self.return_to_senders(held, out);
                let answer = if record.owner.is_none() {
                    Answer::Despawned
                } else {
                    Answer::Rejected(MoveError::NotOwner { entity })
                };
                out.extend(ticket.map(|ticket| Output::Answer { ticket, answer }));
            }
            Phase::Deciding(Deciding { why: Why::GiveUp(give_up), held, .. }) => {
                let GiveUp { leaving, frozen, arrived, outcome: _ } = give_up;
                let ended = Ended { entity, label, leaving, frozen, arrived, moved };
                self.hand_over(ended, record, held, now, out);
            }
        }
    }

    /// A frozen entity has a new owner: the target of its move, as a rule, or whoever it has gone to since.
    fn hand_over(&mut self, ended: Ended, record: Record, mut held: HeldMessages, now: Now, out: &mut Vec<Output>) {
        let Ended { entity, label, leaving, frozen, arrived, moved } = ended;
        if record.names(leaving.to) && record.data == leaving.label && arrived.is_none() {
            self.await_takeover(entity, leaving.id);
        }
        if leaving.reported {
            out.push(decided(entity, &leaving, &record));
            return self.return_to_senders(held, out);
        }
        match record.owner {
            Some(owner) if moved => {
                let messages = held.take();
                let over = HandedOver { entity, label, leaving, frozen, arrived, owner, epoch: record.epoch, messages };
                self.settle(over, now, out);
            }
            Some(_) | None => {
                self.return_to_senders(held, out);
                let outcome = if moved { Outcome::Moved { epoch: leaving.label } } else { Outcome::Lost };
                let done = self.done(entity, &leaving, outcome, now.since(frozen), record.epoch, now);
                self.end_labelled(leaving.asker, label, done, out);
            }
        }
    }

    /// What was held for an entity that is dead: its senders ask the home and hear so.
    pub(super) fn return_to_senders(&self, mut held: HeldMessages, out: &mut Vec<Output>) {
        for data in held.take() {
            let control = Control::NotOwner { entity: data.entity, stream: data.stream };
            out.push(send(Destination::Place(data.reply_to), control));
        }
    }

    fn set_phase_gone(&mut self, entity: OnlineId) {
        self.busy.remove(&entity);
        for stream in self.live[&entity].outbox.values() {
            self.receivers.remove(stream.entity(), stream.id());
            self.waiting.take_sent(stream.load());
        }
    }
}

/// An attempt that was reported as undecided is decided.
fn decided(entity: OnlineId, leaving: &Leaving, record: &Record) -> Output {
    Output::Event(Event::MoveDecided { id: leaving.id, entity, owner: record.owner, epoch: record.epoch })
}
