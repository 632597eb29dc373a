//! The target's half of a move: reserve room, stage the copy, ask the home, take over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::alarm::Alarm;
use super::direct::Spoken;
use super::phase::{HeldMessages, Live, Phase, Repeat};
use super::talk::send;
use super::{Destination, Event, Output, Scene, inspection};
use crate::bounds::STAGED_BYTES;
use crate::message::{Control, Image, Nonce, Prepare, Reserve};
use crate::moves::{MoveId, Refusal};
use crate::stream::Inbox;
use crate::{Epoch, Now, Place, Record, Rule};

/// Room kept for an entity on its way in.
#[derive(Clone, Debug)]
pub(super) struct Reservation {
    /// The move for which it was asked last.
    pub(super) id: MoveId,
    pub(super) until: Now,
    /// When it is looked at: what is asked for again is kept for longer.
    pub(super) looked_at: Now,
}

impl Reservation {
    /// Its alarm.
    pub(super) fn alarm(&self, entity: OnlineId) -> (Now, Alarm) {
        (self.looked_at, Alarm::Reservation(entity))
    }
}

/// A copy that is not active yet: only the record can make it so.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    pub(super) prepare: Arc<Prepare>,
    bytes: usize,
    /// Fresh per staging: an answer to an older question never activates a newer copy.
    pub(super) nonce: Option<Nonce>,
    pub(super) held: HeldMessages,
    repeat: Repeat,
}

impl Scene {
    pub(super) fn reserve(&mut self, from: Place, reserve: Reserve, now: Now, out: &mut Vec<Output>) {
        let Reserve { entity, id, label, parts, bytes } = reserve;
        if self.knows_as_old(entity, label) {
            return;
        }
        let is_counted = self.reserved.contains_key(&entity) || self.has_place(entity);
        let has_room = is_counted || self.occupied() < u64::from(self.capacity);
        let (bytes_max, capacity) = (self.limits.state_bytes, self.capacity);
        let refusal = self
            .no_entry()
            .or_else(|| self.schema.refusal(&parts))
            .or_else(|| (bytes > bytes_max).then_some(Refusal::TooLarge { bytes, bytes_max }))
            .or_else(|| (!has_room).then_some(Refusal::Full { capacity }));
        let control = match refusal {
            Some(reason) => Control::Refused { entity, id, label, reason },
            None => {
                self.keep_room(entity, id, now);
                Control::Reserved { entity, id, label }
            }
        };
        out.push(send(Destination::Place(from), control));
    }

    /// Whether the entity counts against the capacity without a reservation.
    fn has_place(&self, entity: OnlineId) -> bool {
        self.live.contains_key(&entity) || self.staged.contains_key(&entity)
    }

    fn keep_room(&mut self, entity: OnlineId, id: MoveId, now: Now) {
        if self.has_place(entity) {
            return;
        }
        let until = now + self.limits.reservation;
        let kept = self.reserved.entry(entity).or_insert(Reservation { id, until, looked_at: until });
        (kept.id, kept.until) = (id, until);
        self.alarms.insert(kept.alarm(entity));
    }

    /// A copy comes in. An old one, or one for an entity that still lives here, is ignored: its sender
    /// repeats it for as long as it matters.
    pub(super) fn prepare(&mut self, from: Place, prepare: Arc<Prepare>, now: Now, out: &mut Vec<Output>) {
        let (entity, label) = (prepare.entity, prepare.label);
        let is_former = label.term() < self.view.term_of(entity.range());
        if is_former && self.rules.keep(Rule::FormerCopiesAreIgnored) {
            // The source has yet to hear of the home's new term; what is staged here is told already.
            return;
        }
        if let Some(live) = self.live.get(&entity) {
            if live.epoch < label {
                // It left and comes straight back: the home has the news that is missing here.
                let nonce = self.nonce();
                out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
            }
            return;
        }
        if label.previous().is_none() || self.knows_as_old(entity, label) {
            return;
        }
        if let Some(staged) = self.staged.get(&entity) {
            if label == staged.prepare.label {
                self.ask_to_take_over(entity, out);
            }
            if label <= staged.prepare.label {
                return;
            }
        } else if let Some(refusal) = self.no_entry() {
            // With room reserved or not: the source keeps it, while a copy here would end with the scene.
            return refuse(from, &prepare, refusal, out);
        } else if !self.reserved.contains_key(&entity) && self.occupied() >= u64::from(self.capacity) {
            return refuse(from, &prepare, Refusal::Full { capacity: self.capacity }, out);
        }
        if let Some(refusal) = inspection::fault(&prepare, &self.receivers, &self.limits) {
            return refuse(from, &prepare, refusal, out);
        }
        let bytes = usize::try_from(inspection::bytes_of(&prepare.image)).unwrap_or(usize::MAX);
        let before = self.staged.get(&entity).map_or(0, |staged| staged.bytes);
        if self.staged_bytes - before + bytes > STAGED_BYTES {
            self.left_out += 1;
            return;
        }
        self.reserved.remove(&entity);
        let held = self.unstage(entity).map(|staged| staged.held).unwrap_or_default();
        let repeat = Repeat::first(now, &self.limits);
        self.staged_bytes += bytes;
        self.staged.insert(entity, Staged { prepare: prepare.clone(), bytes, nonce: None, held, repeat });
        if !self.rules.keep(Rule::ReadBeforeAsking) {
            self.ask_unread(entity, now, out);
        }
        out.push(Output::Decode { entity, prepare });
    }

    /// Whether this scene knows of a later change of the record than the one `label` is to make.
    fn knows_as_old(&self, entity: OnlineId, label: Epoch) -> bool {
        let is_old = |known: Epoch| label <= known && self.rules.keep(Rule::OldCopiesAreRefused);
        self.live.get(&entity).is_some_and(|live| is_old(live.epoch))
            || self.gone.get(&entity).is_some_and(|tombstone| is_old(tombstone.record.epoch))
    }

    /// The shell has read the bytes, or could not.
    pub(super) fn decoded(
        &mut self,
        entity: OnlineId,
        label: Epoch,
        result: Result<(), String>,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let nonce = self.nonce();
        let limits = self.limits.clone();
        let Some(staged) = self.staged.get_mut(&entity).filter(|staged| staged.prepare.label == label) else { return };
        match result {
            Ok(()) => {
                staged.nonce = Some(nonce);
                staged.repeat = Repeat::first(now, &limits);
                self.alarms.insert((staged.repeat.due, Alarm::Staged(entity)));
                if !self.rules.keep(Rule::OnlyTheRecordHandsOver) {
                    let record = Record::handed_to(self.me, label, staged.prepare.image.base);
                    return self.take_over(entity, record, now, out);
                }
                self.ask_to_take_over(entity, out);
            }
            Err(reason) => {
                let prepare = staged.prepare.clone();
                self.drop_staged(entity, out);
                refuse(prepare.from.into(), &prepare, Refusal::Unreadable { reason }, out);
            }
        }
    }

    /// What [`Rule::ReadBeforeAsking`] is for never happening.
    fn ask_unread(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let nonce = Some(self.nonce());
        let staged = self.staged.get_mut(&entity).expect("the caller holds a staged copy");
        (staged.nonce, staged.repeat) = (nonce, Repeat::first(now, &self.limits));
        self.ask_to_take_over(entity, out);
    }

    pub(super) fn ask_to_take_over(&self, entity: OnlineId, out: &mut Vec<Output>) {
        let Staged { prepare, nonce: Some(nonce), .. } = &self.staged[&entity] else { return };
        if !self.knows_verdicts_of(&prepare.image) {
            // Nothing is asked that might activate it; but whether it is still wanted.
            return out.push(send(Destination::Home(entity), Control::Query { entity, nonce: *nonce }));
        }
        let new = Record::handed_to(self.me, prepare.label, prepare.image.base);
        let Some(epoch) = prepare.label.previous() else { return };
        let control = Control::Cas { entity, owner: prepare.from, epoch, new, nonce: *nonce };
        out.push(send(Destination::Home(entity), control));
    }

    /// Copies that waited for a later view than `version`, and need not wait any more.
    pub(super) fn staged_since(&self, version: u64) -> Vec<OnlineId> {
        let had_to_wait = |staged: &Staged| staged.prepare.image.received.verdicts() > version;
        let staged = self.staged.iter().filter(|(_, staged)| had_to_wait(staged));
        staged.filter(|(_, staged)| self.knows_verdicts_of(&staged.prepare.image)).map(|(entity, _)| *entity).collect()
    }

    /// A copy may lean on verdicts that are not known here yet: until they are, it would take late messages of the
    /// dead for new ones.
    fn knows_verdicts_of(&self, image: &Image) -> bool {
        image.received.verdicts() <= self.verdicts.version() || !self.rules.keep(Rule::VerdictsComeFirst)
    }

    pub(super) fn staged_tick(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let limits = self.limits.clone();
        let Some(staged) = self.staged.get_mut(&entity).filter(|staged| staged.repeat.due <= now) else { return };
        staged.repeat.again(now, &limits);
        self.alarms.insert((staged.repeat.due, Alarm::Staged(entity)));
        if self.rules.keep(Rule::TargetRepeats) {
            self.ask_to_take_over(entity, out);
        }
    }

    /// The directory's word on a staged copy.
    pub(super) fn staged_record(
        &mut self,
        entity: OnlineId,
        record: Record,
        nonce: Option<Nonce>,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let staged = self.staged.get(&entity).expect("the caller holds a staged copy");
        let label = staged.prepare.label;
        if staged.nonce.is_none() || nonce != staged.nonce && self.rules.keep(Rule::NoncesMatch) {
            return;
        }
        // The answer is younger than the copy, and dead is final: an id that was never given out is dead, too.
        if record.epoch < label && record.owner.is_some() {
            return;
        }
        if record.names(self.me) && record.data == label {
            if !self.knows_verdicts_of(&staged.prepare.image) {
                return;
            }
            return self.take_over(entity, record, now, out);
        }
        let earlier_life = record.owner.is_some_and(|owner| {
            let (theirs, ours) = (owner.session, self.me.session);
            owner.scene == self.me.scene && theirs.node == ours.node && theirs.incarnation < ours.incarnation
        });
        if earlier_life && record.data == label {
            let nonce = staged.nonce.unwrap_or(Nonce(0));
            out.push(send(Destination::Home(entity), Control::Reclaim { entity, me: self.me, nonce }));
            return;
        }
        self.drop_staged(entity, out);
        self.bury(entity, record, now);
    }

    fn take_over(&mut self, entity: OnlineId, record: Record, now: Now, out: &mut Vec<Output>) {
        let Staged { prepare, mut held, .. } = self.unstage(entity).expect("the caller holds a staged copy");
        self.gone.remove(&entity);
        let Image { identity, received, sending, .. } = &prepare.image;
        let bytes = inspection::bytes_of(&prepare.image);
        let mut identity = identity.clone();
        // It was read as what this scene writes, whatever it was before.
        identity.type_version = self.schema.newest(&identity.type_name).unwrap_or(identity.type_version);
        let label = identity.label.clone();
        let mut outbox = BTreeMap::new();
        for stream in sending {
            if self.receivers.sender(stream.entity(), stream.id()).is_some() {
                // Two copies were staged that brought the same stream: not of one entity, then.
                self.left_out += 1;
                continue;
            }
            self.receivers.add(stream.entity(), stream.id(), entity);
            let mut stream = stream.clone();
            stream.settle_in();
            self.waiting.put_sent(stream.load());
            outbox.insert(stream.entity(), stream);
        }
        let live = Live {
            identity,
            epoch: record.epoch,
            data: prepare.label,
            base: prepare.image.base,
            inbox: Inbox::resume(received.clone()).under(self.rules),
            outbox,
            spoken: Spoken::default(),
            missing: BTreeSet::new(),
            looked_through: 0,
            arrival: Some(prepare.id),
            parked: prepare.image.parked.clone(),
            phase: Phase::Active,
        };
        self.live.insert(entity, live);
        out.push(Output::Install { entity });
        if prepare.image.parked.is_some() {
            out.push(Output::Park { entity });
        }
        let (id, from) = (prepare.id, prepare.from);
        out.push(Output::Event(Event::MoveArrived { id, entity, label, from, epoch: record.epoch, bytes }));
        out.push(send(Destination::Place(from.into()), Control::Arrived { entity, id, epoch: record.epoch }));
        if record.base > prepare.image.base {
            self.reset_streams(entity, record.base, out);
        }
        self.sweep_if_new(entity, now);
        self.acknowledge_all(entity);
        self.apply_held(entity, held.take(), now, out);
        if self.rules.keep(Rule::WindowGoesOnAtTheTarget) {
            self.resume_sending(entity, now, out);
        }
    }

    fn drop_staged(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        self.unstage(entity);
        out.push(Output::DropStaged { entity });
    }

    fn unstage(&mut self, entity: OnlineId) -> Option<Staged> {
        let staged = self.staged.remove(&entity)?;
        self.staged_bytes -= staged.bytes;
        Some(staged)
    }

    /// Ends what somebody has begun here under an id that was not given out yet.
    pub(super) fn drop_impostor(&mut self, entity: OnlineId, out: &mut Vec<Output>) {
        self.reserved.remove(&entity);
        if self.staged.contains_key(&entity) {
            self.drop_staged(entity, out);
        }
    }
}

fn refuse(to: Place, prepare: &Prepare, reason: Refusal, out: &mut Vec<Output>) {
    let (entity, id, label): (OnlineId, MoveId, Epoch) = (prepare.entity, prepare.id, prepare.label);
    out.push(send(Destination::Place(to), Control::Refused { entity, id, label, reason }));
}
