//! What an entity has applied of whose stream, and which streams are over.
//!
//! ```text
//!   open     sender -> its stream, highest number applied, where it was last heard from
//!   floors   opener -> highest generation opened there that is over here
//!   wide     session -> the same for all its openers, once there are many: scenes come and go
//! ```
//!
//! A sender has one stream to an entity at a time, so its next one tells that the former is over. What is over is
//! remembered as one number for each scene and router that opens streams: an id that is not open and not above it
//! was applied to its end, or never begun; whichever it was, it is not applied, and its sender is told that it is
//! closed. A verdict on a session is an infinite floor, so the finite ones are forgotten with it.
//!
//! Keeps: a floor only rises while its opener's session lives; what is open stays known whatever the floor; a stream
//! that is over is never open again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slipgate_entity::SceneId;

use super::StreamId;
use crate::bounds::{FLOORS_PER_SESSION, NUMBER_MAX, STREAMS_PER_ENTITY};
use crate::message::{Data, Sender};
use crate::view::Verdicts;
use crate::{Epoch, Place, Port, Rule, Rules, Session};

/// What an entity has applied, per sender, and which streams are over. Part of its state: it moves with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    open: BTreeMap<Sender, Open>,
    floors: BTreeMap<Place, Floor>,
    /// One floor for all that was opened in a session, where so many of its scenes have one.
    wide: BTreeMap<Session, Floor>,
    applied: u64,
    /// Version of the view whose verdicts stand for floors that are not here any more.
    verdicts: u64,
    /// Version of the view since whose verdicts the table was looked through for senders that are gone.
    swept: u64,
}

/// A stream that something was applied of, and that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The stream.
    pub stream: StreamId,
    /// Highest number applied without a gap.
    pub number: u64,
    /// Where the sender was last heard from.
    pub reply_to: Place,
    /// The sender's epoch there.
    pub epoch: Epoch,
    /// Why nothing beyond `number` is ever applied, if so.
    pub stopped: Option<Stopped>,
}

/// Why a stream has stopped. Its sender goes on with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    /// The handler of the last message panicked.
    Failed,
    /// The entity was parked when the next one came.
    Parked,
}

impl Open {
    /// Where the sender is now: what it said from an earlier place may come later.
    pub(super) fn hear(&mut self, data: &Data) {
        if data.epoch >= self.epoch {
            (self.epoch, self.reply_to) = (data.epoch, data.reply_to);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Floor {
    /// Highest generation that is over.
    closed: u64,
    /// Highest generation that is over because its sender was taken for gone.
    buried: u64,
}

/// Why nothing of a stream is applied any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// Whatever its session opens up to this generation may be told the same.
    pub floor: u64,
    /// Whether something of it may have been applied without its sender having heard so: it was taken for gone.
    pub doubt: bool,
}

impl Received {
    /// Highest number of the sender's stream applied without a gap; 0 if none.
    #[must_use]
    pub fn last(&self, sender: Sender, stream: StreamId) -> u64 {
        self.open(sender).filter(|open| open.stream == stream).map_or(0, |open| open.number)
    }

    /// The sender's stream.
    #[must_use]
    pub fn open(&self, sender: Sender) -> Option<&Open> {
        self.open.get(&sender)
    }

    /// Each sender with its stream.
    pub fn iter(&self) -> impl Iterator<Item = (Sender, &Open)> + '_ {
        self.open.iter().map(|(&sender, open)| (sender, open))
    }

    /// Streams that are open.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.open.len()
    }

    /// Openers of which it is remembered up to where their streams are over.
    #[must_use]
    pub fn floors(&self) -> usize {
        self.floors.len() + self.wide.len()
    }

    /// Rows of the table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.streams() + self.floors()
    }

    /// Whether nothing is open and nothing is over.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages applied, ever.
    #[must_use]
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// Version of the view that a scene must have before it lets the entity go on: verdicts of that view stand
    /// for floors that are not here any more.
    #[must_use]
    pub fn verdicts(&self) -> u64 {
        self.verdicts
    }

    /// Version of the view with the latest verdicts for which the table was looked through.
    #[must_use]
    pub fn swept(&self) -> u64 {
        self.swept
    }

    pub(super) fn note_swept(&mut self, since: u64) {
        self.swept = since;
    }

    /// Whether the stream is closed, as far as the floors tell.
    #[must_use]
    pub fn is_below_floor(&self, stream: StreamId) -> bool {
        self.floor_of(stream).is_some_and(|floor| stream.generation <= floor.closed)
    }

    fn floor_of(&self, stream: StreamId) -> Option<Floor> {
        let own = self.floors.get(&stream.opened_at);
        let Some(wide) = self.wide.get(&stream.opened_at.session) else { return own.copied() };
        let own = own.copied().unwrap_or_default();
        Some(Floor { closed: wide.closed.max(own.closed), buried: own.buried })
    }

    /// Whether honest senders and openers can have said all that is remembered here.
    #[must_use]
    pub(crate) fn is_possible(&self) -> bool {
        let is_possible = |floor: &Floor| floor.closed.max(floor.buried) <= NUMBER_MAX;
        self.open.values().all(|open| open.number <= NUMBER_MAX && open.stream.is_possible())
            && self.floors.values().chain(self.wide.values()).all(is_possible)
    }

    /// Nothing is open and nothing is over: the streams were reset. What was applied was applied all the same.
    pub(super) fn reset(&mut self) {
        *self = Self { applied: self.applied, swept: self.swept, ..Self::default() };
    }

    pub(super) fn open_mut(&mut self, sender: Sender) -> Option<&mut Open> {
        self.open.get_mut(&sender)
    }

    pub(super) fn take_back(&mut self, messages: u64) {
        self.applied -= messages;
    }

    pub(super) fn count(&mut self, messages: u64) {
        self.applied = self.applied.saturating_add(messages);
    }

    /// Whether a message of a stream that is not open comes too late to open it.
    pub(super) fn is_over(&mut self, data: &Data, verdicts: &Verdicts, rules: Rules) -> Option<Over> {
        let (sender, stream) = (data.sender, data.stream);
        if verdicts.is_dead(stream.opened_at.session) && rules.keep(Rule::StreamsOfTheDeadAreOver) {
            self.lean_on(verdicts);
            return Some(Over { floor: 0, doubt: true });
        }
        let is_below = |floor: &Floor| stream.generation <= floor.closed && rules.keep(Rule::OverIsOver);
        if let Some(floor) = self.floor_of(stream).filter(is_below) {
            return Some(Over { floor: floor.closed, doubt: stream.generation <= floor.buried });
        }
        let latest = self.open.get(&sender)?;
        let is_earlier = data.epoch < latest.epoch
            || stream.opened_at == latest.stream.opened_at && stream.generation < latest.stream.generation;
        let is_earlier = is_earlier && rules.keep(Rule::EarlierStreamsAreOver);
        if is_earlier && self.has_room(stream.opened_at) {
            self.raise(stream);
        }
        is_earlier.then_some(Over { floor: stream.generation, doubt: false })
    }

    /// Whether there is room for one more stream of a sender: for itself, or for the floor of the one before.
    pub(super) fn has_room_for(&self, sender: Sender) -> bool {
        match self.open(sender) {
            Some(former) => self.has_room(former.stream.opened_at),
            None => self.len() < STREAMS_PER_ENTITY,
        }
    }

    /// Whether there is room for the floor of an opener.
    pub(super) fn has_room(&self, opener: Place) -> bool {
        self.len() < STREAMS_PER_ENTITY || self.floors.contains_key(&opener) || self.wide.contains_key(&opener.session)
    }

    /// A message was counted in, and its handler panicked, or was not called since the entity is parked. Nothing
    /// beyond it is applied; what was counted in already is taken back.
    pub(super) fn stop(&mut self, sender: Sender, (stream, seq): (StreamId, u64), why: Stopped) {
        let number = match why {
            Stopped::Failed => seq,
            Stopped::Parked => seq - 1,
        };
        let Some(open) = self.open.get_mut(&sender) else { return };
        if open.stream != stream || open.number < number || open.stopped.is_some() {
            return;
        }
        let taken_back = open.number - number;
        (open.number, open.stopped) = (number, Some(why));
        self.take_back(taken_back);
    }

    /// A sender begins a stream: the one before is over.
    pub(super) fn begin(&mut self, sender: Sender, open: Open, verdicts: &Verdicts, rules: Rules) -> Option<Open> {
        let former = self.open.insert(sender, open);
        if let Some(former) = former.filter(|_| rules.keep(Rule::TheNextEndsTheLast)) {
            self.end(former.stream, verdicts);
        }
        former
    }

    /// The sender has closed the stream. Returns whether it was open.
    pub(super) fn close(&mut self, sender: Sender, stream: StreamId, verdicts: &Verdicts) -> bool {
        let was_open = self.open(sender).is_some_and(|open| open.stream == stream);
        if was_open {
            self.open.remove(&sender);
        }
        self.end(stream, verdicts);
        was_open
    }

    /// The sender is gone, and was not heard to close its stream.
    pub(super) fn bury(&mut self, sender: Sender, verdicts: &Verdicts) -> Option<Open> {
        let open = self.open.remove(&sender)?;
        if verdicts.is_dead(open.stream.opened_at.session) {
            self.lean_on(verdicts);
            return Some(open);
        }
        let generation = open.stream.generation;
        let own = self.floors.entry(open.stream.opened_at).or_default();
        *own = Floor { closed: own.closed.max(generation), buried: own.buried.max(generation) };
        Some(open)
    }

    /// What was over in sessions that are dead needs no floor: the verdict is one, for whoever knows of it.
    /// Returns the senders that died with their sessions, as tools do.
    pub(super) fn sweep(&mut self, verdicts: &Verdicts, rules: Rules) -> Vec<Open> {
        let gone = self.open.extract_if(.., |sender, open| {
            let Sender::Tool(session) = sender else { return false };
            let is_over = verdicts.is_dead(*session) && verdicts.is_dead(open.stream.opened_at.session);
            is_over && rules.keep(Rule::ToolsAreSweptOut)
        });
        let gone: Vec<_> = gone.map(|(_, open)| open).collect();
        let floors = self.floors();
        self.floors.retain(|opener, _| !verdicts.is_dead(opener.session));
        self.wide.retain(|session, _| !verdicts.is_dead(*session));
        if !gone.is_empty() || self.floors() < floors {
            self.lean_on(verdicts);
        }
        gone
    }

    /// The sender goes on at `place`, as the home says.
    pub(super) fn follow(&mut self, sender: Sender, place: Place, epoch: Epoch) {
        if let Some(open) = self.open.get_mut(&sender).filter(|open| open.epoch < epoch) {
            (open.reply_to, open.epoch) = (place, epoch);
        }
    }

    /// A stream is over: below a floor, unless a verdict on its opener's session is one already.
    fn end(&mut self, stream: StreamId, verdicts: &Verdicts) {
        if verdicts.is_dead(stream.opened_at.session) {
            self.lean_on(verdicts);
        } else {
            self.raise(stream);
        }
    }

    fn raise(&mut self, stream: StreamId) {
        let session = stream.opened_at.session;
        if !self.wide.contains_key(&session) && !self.floors.contains_key(&stream.opened_at) {
            self.widen(session);
        }
        let floor = match self.wide.get_mut(&session) {
            Some(floor) => floor,
            None => self.floors.entry(stream.opened_at).or_default(),
        };
        floor.closed = floor.closed.max(stream.generation);
    }

    /// One more floor of a session that has as many as it may have: the highest is the floor of all. Doubt is not
    /// spread so: it would end windows of which nothing was applied.
    fn widen(&mut self, session: Session) {
        let lowest = Place { session, port: Port::Scene(SceneId(0)) };
        let openers = || self.floors.range(lowest..).take_while(|(opener, _)| opener.session == session);
        if openers().count() < FLOORS_PER_SESSION {
            return;
        }
        let closed = openers().map(|(_, floor)| floor.closed).max().unwrap_or_default();
        self.floors.retain(|opener, floor| opener.session != session || floor.buried > 0);
        self.wide.insert(session, Floor { closed, buried: 0 });
    }

    fn lean_on(&mut self, verdicts: &Verdicts) {
        self.verdicts = self.verdicts.max(verdicts.since());
    }
}
