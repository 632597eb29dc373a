//! The life of an entity in a scene: apply, freeze, transfer, stage, take over.
//!
//! ```text
//!              Reserved            RecordIs: the target          (source)
//!   Active -> Reserving -> Frozen -------------------> gone, tombstone
//!     ^  ^________|          | give up                     ^
//!     |   Refused, late      v                             |
//!     +------------------ Deciding ------------------------+
//!       RecordIs: me, k+1
//!                  Prepare            RecordIs: me            (target)
//!   absent ------> Staged ------------------> Active
//! ```
//!
//! A move is decided by the record at the entity's home alone: the target asks the home to name it, the
//! source may ask the home to name the source again, the first to hit has decided, and both act on the
//! record. No time-out leads out of `Deciding`.
//!
//! Keeps: at most one scene is active for an entity; an active entity applies each stream in sequence, a parked one
//! nothing; what arrives for a frozen or staged one is held within bounds and never acknowledged; an older copy
//! never replaces a newer one; every attempt to move ends with one answer.
//! Leaves out: the entity's body, which is the shell's (it encodes, decodes, applies when told);
//! what becomes of an entity whose home is rebuilt (`directory`): the scene says what it knows; a durable stage.

mod alarm;
mod arrive;
mod claims;
mod close;
mod closing;
mod decide;
mod direct;
mod graves;
mod inspection;
mod leave;
mod missing;
mod parked;
mod party;
mod phase;
mod population;
mod port;
mod receivers;
mod request;
mod reset;
mod settle;
mod tables;
mod talk;
mod terms;
mod verdicts;
mod waiting;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use slipgate_entity::OnlineId;

use self::alarm::{Alarm, Alarms};
use self::arrive::{Reservation, Staged};
use self::direct::Direct;
use self::graves::Tombstone;
pub use self::missing::answer_for_a_missing_scene;
use self::parked::Fallen;
use self::party::Party;
use self::phase::{Live, Phase};
use self::population::Population;
pub use self::port::{
    Answer, Departure, Destination, Event, Input, OnPanic, Orphan, Output, SpawnRefusal, Stand, Ticket,
};
use self::receivers::Receivers;
pub use self::request::{Companion, CompanionDone, MoveDone, MoveRequest};
use self::settle::Settling;
pub use self::tables::Tables;
use self::talk::{StreamNews, Told};
use self::terms::Outdated;
use self::verdicts::Search;
pub use self::waiting::Amount;
use self::waiting::Waiting;
use crate::message::{Control, Identity, Message, Nonce, Sender};
use crate::moves::{MoveId, Outcome, Refusal};
use crate::schema::Schema;
use crate::stream::Known;
use crate::view::Verdicts;
use crate::{Limits, Now, Own, Place, Record, Rule, Rules, View};

/// What a scene is, for as long as it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The scene in its session.
    pub me: Own,
    /// Entities it may hold, those on their way in included.
    pub capacity: u32,
    /// What it can read of entities that come.
    pub schema: Schema,
    /// Bounds and deadlines.
    pub limits: Limits,
    /// What becomes of an entity whose handler panics.
    pub on_panic: OnPanic,
}

/// One scene's entities, as far as ownership and messages are concerned.
#[derive(Clone, Debug)]
pub struct Scene {
    me: Own,
    capacity: u32,
    schema: Schema,
    limits: Limits,
    on_panic: OnPanic,
    rules: Rules,
    live: Population,
    staged: BTreeMap<OnlineId, Staged>,
    reserved: BTreeMap<OnlineId, Reservation>,
    /// Bytes of the staged copies.
    staged_bytes: usize,
    gone: BTreeMap<OnlineId, Tombstone>,
    /// The tombstones, oldest first; some are replaced by a later one already.
    graves: VecDeque<(Now, OnlineId)>,
    settling: BTreeMap<MoveId, Settling>,
    /// Those who set out together, until the last attempt of them has ended.
    parties: BTreeMap<MoveId, Party>,
    spawning: BTreeMap<Ticket, Identity>,
    /// Entities that are reserving, frozen or deciding.
    busy: BTreeSet<OnlineId>,
    receivers: Receivers,
    /// Messages between two of its entities that are not applied yet.
    direct: Direct,
    /// Streams that their senders have left behind in this step.
    orphans: Vec<Orphan>,
    verdicts: Verdicts,
    search: Search,
    alarms: Alarms,
    /// Senders of whose streams something was applied or repeated in this turn, and where they are.
    acks: Vec<((OnlineId, Sender), Place)>,
    /// Entities to which somebody speaks from a later reset than is known here: their homes have news.
    behind: BTreeSet<OnlineId>,
    /// Entities that are to be despawned once this turn is acknowledged, since they panicked.
    doomed: BTreeSet<OnlineId>,
    /// The cluster as the manager last told it: the terms of homes are in it.
    view: Arc<View>,
    outdated: Outdated,
    waiting: Waiting,
    /// Messages that found no room since somebody asked.
    left_out: u64,
    opened: u64,
    nonces: u64,
    doors: Doors,
    /// Whether it is being closed; for good, whatever becomes of its node's wish to stop.
    closing: bool,
}

/// Who may still go through a scene's doors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doors {
    /// Anybody.
    Open,
    /// Whoever leaves: nobody is taken in.
    OutOnly,
    /// Nobody: what is under way is settled, and nothing more begins.
    Shut,
}

/// Where a message for an entity goes, as far as this scene knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To this owner.
    Owner(Own),
    /// A move is under way: it is held here until the move is decided.
    Hold,
    /// Not known here: ask the home.
    Unknown,
}

impl Scene {
    /// An empty scene.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings { me, capacity, schema, limits, on_panic } = settings;
        Self {
            me,
            capacity,
            schema,
            limits,
            on_panic,
            rules: Rules::default(),
            live: Population::default(),
            staged: BTreeMap::new(),
            reserved: BTreeMap::new(),
            staged_bytes: 0,
            gone: BTreeMap::new(),
            graves: VecDeque::new(),
            settling: BTreeMap::new(),
            parties: BTreeMap::new(),
            spawning: BTreeMap::new(),
            busy: BTreeSet::new(),
            receivers: Receivers::default(),
            direct: Direct::default(),
            orphans: Vec::new(),
            verdicts: Verdicts::default(),
            search: Search::default(),
            alarms: Alarms::default(),
            acks: Vec::new(),
            behind: BTreeSet::new(),
            doomed: BTreeSet::new(),
            view: Arc::default(),
            outdated: Outdated::default(),
            waiting: Waiting::default(),
            left_out: 0,
            opened: 0,
            nonces: 0,
            doors: Doors::Open,
            closing: false,
        }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Takes one input and appends what should follow, in the order in which it must be done.
    ///
    /// An [`Output::Encode`] must be answered with [`Input::Encoded`] or [`Input::NotEncoded`], an [`Output::Decode`] with
    /// [`Input::Decoded`], and an [`Output::Apply`] that did not go well with [`Input::NotApplied`], before any other
    /// input but [`Input::Sends`], and before the next output is done.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        self.take(input, now, out);
        if !self.orphans.is_empty() {
            out.push(Output::Adopt(std::mem::take(&mut self.orphans)));
        }
    }

    fn take(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Spawn { ticket, identity } => self.spawn(ticket, identity, out),
            Input::Registered { ticket, entity } => self.registered(ticket, entity, now, out),
            Input::NotRegistered { ticket } => {
                if self.spawning.remove(&ticket).is_some() {
                    out.push(Output::Answer { ticket, answer: Answer::NotSpawned(SpawnRefusal::NoRange) });
                }
            }
            Input::Despawn { ticket, entity } => self.despawn(ticket, entity, now, out),
            Input::Migrate(request) => self.migrate(*request, now, out),
            Input::Cancel { ticket, id } => self.cancel(ticket, id, now, out),
            Input::Encoded { entity, body } => self.encoded(entity, body, now, out),
            Input::NotEncoded { entity, reason } => {
                self.melt(entity, Outcome::Refused(Refusal::Unreadable { reason }), now, out);
            }
            Input::Decoded { entity, label, result } => self.decoded(entity, label, result, now, out),
            Input::Sends { entity, to, payload } => self.sends(entity, to, payload, now, out),
            Input::Panicked { entity, panic } => self.park(entity, panic, now, out),
            Input::NotApplied { entity, sender, message, payload, panic } => {
                self.not_applied(entity, Fallen { sender, message, payload }, panic, now, out);
            }
            Input::Unpark { ticket, entity } => self.unpark(ticket, entity, out),
            Input::Heard { message: Message::Data(data), .. } => self.data(data, out),
            Input::Heard { from, message: Message::Prepare(prepare) } => self.prepare(from, prepare, now, out),
            Input::Heard { from, message: Message::Control(control) } => self.control(from, control, now, out),
            Input::Heard { message: Message::Manager(_) | Message::Tool(_), .. } => {}
            Input::View(view) => {
                self.hear_verdicts(&view, out);
                self.see(view, now);
            }
            Input::PeerLost(session) => self.peer_lost(session, now, out),
            Input::Allow(allowed) => self.waiting.allow(allowed),
            Input::Flush => {
                self.flush(out);
                self.apply_said(out);
                self.end_doomed(now, out);
            }
            Input::Tick => self.tick(now, out),
            Input::Drain => self.doors = Doors::OutOnly,
            Input::Reopen => self.doors = Doors::Open,
            Input::Shut => self.doors = Doors::Shut,
            Input::Close => self.closing = true,
            Input::Stop => self.stop(now, out),
        }
    }

    fn control(&mut self, from: Place, control: Control, now: Now, out: &mut Vec<Output>) {
        match control {
            Control::RecordIs { entity, record, nonce } => self.record_is(entity, record, nonce, now, out),
            Control::Reserve(reserve) => self.reserve(from, reserve, now, out),
            Control::Reserved { entity, id, label } => self.reserved(entity, id, label, now, out),
            Control::Refused { entity, id, label, reason } => self.refused(entity, id, label, reason, now, out),
            Control::Release { entity, id } => self.release(entity, id),
            Control::IsActive { entity, id } => self.is_active(from, entity, id, out),
            Control::Arrived { entity, id, epoch } => self.arrived(entity, id, epoch, now, out),
            Control::HandedOn { entity, id, held, source } => self.handed_on(entity, id, held, source, out),
            Control::Settled { id, delivered, .. } => self.settled(id, delivered, now, out),
            Control::Ack { entity: receiver, stream, upto, owner, epoch, base } => {
                let told = Told::Applied { upto, known: Known { owner, epoch, base } };
                self.stream_heard(StreamNews { receiver, stream, told }, now, out);
            }
            Control::Redirect { entity: receiver, stream, owner, epoch } => {
                let told = Told::Moved { by: from, owner, epoch };
                self.stream_heard(StreamNews { receiver, stream, told }, now, out);
            }
            Control::NotOwner { entity: receiver, stream } => {
                self.stream_heard(StreamNews { receiver, stream, told: Told::Nothing }, now, out);
            }
            Control::Close { entity, stream, sender } => self.close(from, entity, stream, sender, out),
            Control::AskStream { entity, stream, sender } => self.ask_stream(from, (sender, entity), stream, out),
            Control::Closed { entity: receiver, stream, floor, .. } => {
                let told = Told::Closed { by: from, floor };
                self.stream_heard(StreamNews { receiver, stream, told }, now, out);
            }
            Control::Stopped { entity: receiver, stream, upto, failed, base, .. } => {
                let told = Told::Stopped { by: from, upto, failed, base };
                self.stream_heard(StreamNews { receiver, stream, told }, now, out);
            }
            Control::AskClaims { range, term, after } => self.ask_claims(from, (range, term, after), now, out),
            // The next repeat asks whoever is the home by then.
            Control::NotHome { .. }
            | Control::Cas { .. }
            | Control::Query { .. }
            | Control::Reclaim { .. }
            | Control::Claims { .. }
            | Control::Bequest { .. }
            | Control::Inherited { .. }
            | Control::Roster { .. }
            | Control::RosterNoted { .. }
            | Control::AskRoster { .. }
            | Control::RosterIs { .. }
            | Control::Globals { .. }
            | Control::GlobalsNoted { .. }
            | Control::Reply { .. } => {}
        }
    }

    /// Takes the directory's word, for whichever of the scene's dealings with the entity it concerns.
    fn record_is(&mut self, entity: OnlineId, record: Record, nonce: Option<Nonce>, now: Now, out: &mut Vec<Output>) {
        if record.epoch.is_last() {
            // No honest home comes that far, and nothing could follow it.
            return;
        }
        let is_former = record.epoch.term() < self.view.term_of(entity.range());
        if is_former && self.rules.keep(Rule::FormerHomesAreIgnored) {
            // A former home has said it: what it decides is out of date, or comes again from the present one.
        } else if self.staged.contains_key(&entity) {
            self.staged_record(entity, record, nonce, now, out);
        } else if self.live.contains_key(&entity) {
            self.live_record(entity, record, now, out);
        } else {
            self.gone_record(entity, record);
        }
        self.receiver_record(entity, &record, now, out);
        self.missing_record(entity, &record, now, out);
    }

    fn spawn(&mut self, ticket: Ticket, identity: Identity, out: &mut Vec<Output>) {
        let refusal = if self.closing {
            Some(SpawnRefusal::Closing)
        } else if self.is_draining() {
            Some(SpawnRefusal::Draining)
        } else if self.occupied() >= u64::from(self.capacity) {
            Some(SpawnRefusal::Full { capacity: self.capacity })
        } else {
            None
        };
        if let Some(refusal) = refusal {
            out.push(Output::Answer { ticket, answer: Answer::NotSpawned(refusal) });
            return;
        }
        let label = identity.label.clone();
        self.spawning.insert(ticket, identity);
        out.push(Output::Register { ticket, label });
    }

    fn registered(&mut self, ticket: Ticket, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        if self.live.contains_key(&entity) {
            // Somebody brought an entity here under an id that was not given out yet. The next id is free.
            let label = self.spawning.get(&ticket).and_then(|identity| identity.label.clone());
            out.push(Output::Register { ticket, label });
            return;
        }
        let Some(identity) = self.spawning.remove(&ticket) else { return };
        self.drop_impostor(entity, out);
        out.push(Output::Create { ticket, entity, identity: identity.clone() });
        self.live.insert(entity, Live::spawned(identity, self.rules));
        self.sweep_if_new(entity, now);
        self.note_outdated(entity, now);
        out.push(Output::Answer { ticket, answer: Answer::Spawned(entity) });
    }

    fn stop(&mut self, now: Now, out: &mut Vec<Output>) {
        self.doors = Doors::Shut;
        self.flush(out);
        for entity in self.busy.clone() {
            self.abandon(entity, now, out);
        }
        for id in self.settling.keys().copied().collect::<Vec<_>>() {
            self.conclude_settling(id, now, out);
        }
    }

    /// Entities that count against the capacity: here, on their way in, and being spawned. A reservation ends
    /// when the entity is staged, so nobody counts twice.
    fn occupied(&self) -> u64 {
        (self.live.len() + self.staged.len() + self.spawning.len() + self.reserved.len()) as u64
    }

    fn nonce(&mut self) -> Nonce {
        self.nonces += 1;
        Nonce(self.nonces)
    }

    /// The scene in its session.
    #[must_use]
    pub fn me(&self) -> Own {
        self.me
    }

    /// Where a message for `entity` goes.
    #[must_use]
    #[inline]
    pub fn route(&self, entity: OnlineId) -> Route {
        if let Some(is_active) = self.live.is_active(entity) {
            return if is_active { Route::Owner(self.me) } else { Route::Hold };
        }
        if self.staged.contains_key(&entity) {
            return Route::Hold;
        }
        self.gone.get(&entity).and_then(|tombstone| tombstone.record.owner).map_or(Route::Unknown, Route::Owner)
    }

    /// How an entity that lives here stands.
    #[must_use]
    pub fn stand(&self, entity: OnlineId) -> Option<Stand> {
        let live = self.live.get(&entity)?;
        Some(Stand {
            phase: live.word(),
            parked: live.parked.clone(),
            epoch: live.epoch,
            data: live.data,
            base: live.base,
            identity: live.identity.clone(),
            senders: live.inbox.received().streams() as u64,
            applied: live.inbox.received().applied(),
            unacknowledged: live.outbox.values().map(|stream| stream.waiting() as u64).sum(),
        })
    }

    /// Entities that live here, by id.
    pub fn entities(&self) -> impl Iterator<Item = OnlineId> + '_ {
        self.live.ids()
    }

    /// Number of entities that live here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether no entity lives here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Whether the scene refuses newcomers.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.closing || self.doors != Doors::Open
    }

    /// Takes the number of messages to entities that found no room since the last time: their senders send
    /// them again.
    pub fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    /// The place of the scene, as others write to it.
    fn place(&self) -> Place {
        self.me.into()
    }

    fn set_phase(&mut self, entity: OnlineId, phase: Phase) {
        match phase {
            Phase::Active => self.busy.remove(&entity),
            Phase::Reserving(_) | Phase::Frozen(_) | Phase::Deciding(_) => self.busy.insert(entity),
        };
        if let Some(due) = phase.due() {
            self.alarms.insert((due, Alarm::Live(entity)));
        }
        self.live.set_phase(entity, phase);
    }
}
