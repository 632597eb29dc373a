//! Whom a home tells of births and deaths, so that somebody can name its entities should it die with them.
//!
//! ```text
//!   records of a range   1 2 3 4 5 6 7 8 9        born: whoever lives from `next` on
//!                                next ^           dead: whoever died below it
//!   home ---- Roster, a batch ----> witness
//!        <--- RosterNoted --------              then, at the next tick that is due, the next batch
//! ```
//!
//! A birth costs nothing but to count it: what was not told is what the records have from `next` on. When
//! another member is the witness, `next` goes back to the beginning, and the whole roster follows, batch by batch. The
//! witness before keeps its own until then, and is told afterwards that it may forget it.
//!
//! Keeps: a witness has at most one unacknowledged batch; what waits is bounded: too many deaths at once, and the roster
//! begins anew. Numbers rise over all batches of a session, so that an old one is never taken for a new one.
//! Leaves out: births and deaths that were not told when the home dies; what a witness does (`witness`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use slipgate_entity::{FixedMap, OnlineId, RangeId};

use super::Output;
use super::bequest::directory_of;
use super::records::Records;
use crate::bounds::DEATHS_UNTOLD;
use crate::message::Control;
use crate::pace::Pace;
use crate::roster::{Born, RosterNews};
use crate::{Now, Session, View};

/// What is told, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    witness: Option<Session>,
    /// Entities in a batch.
    page: usize,
    number: u64,
    /// Whether the next batch is the first of a whole roster.
    begins: bool,
    /// Whether the witness has been told everything, but for what has happened since.
    is_whole: bool,
    /// The first counter of each range that is not told of yet; 0 where there is none.
    next: BTreeMap<RangeId, u32>,
    /// Ranges that may have somebody from there on.
    untold: BTreeSet<RangeId>,
    dead: BTreeSet<OnlineId>,
    /// Births and deaths since the last batch.
    waiting: usize,
    due: Now,
    batch: Option<Batch>,
    /// Those that were the witness before, and what tells them to forget it.
    former: BTreeMap<Session, Option<Batch>>,
}

/// Something that the witness has not acknowledged.
#[derive(Clone, Debug)]
struct Batch {
    number: u64,
    anew: bool,
    news: Vec<RosterNews>,
    /// Whether more was there than it could take.
    is_full: bool,
    pace: Pace,
}

/// What a home knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Book<'a> {
    pub(super) ranges: &'a FixedMap<RangeId, Records>,
    pub(super) held: &'a BTreeMap<RangeId, u32>,
    pub(super) labels: &'a FixedMap<OnlineId, String>,
}

impl Roster {
    pub(super) fn new(page: usize) -> Self {
        Self {
            witness: None,
            page,
            number: 0,
            begins: false,
            is_whole: false,
            next: BTreeMap::new(),
            untold: BTreeSet::new(),
            dead: BTreeSet::new(),
            waiting: 0,
            due: Now(0),
            batch: None,
            former: BTreeMap::new(),
        }
    }

    /// Entities of this home whose birth or death waits to be told, as far as they are counted.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether everybody who is concerned has heard everything.
    pub(super) fn is_told(&self) -> bool {
        let is_told = self.is_whole && self.untold.is_empty() && self.dead.is_empty() && self.batch.is_none();
        self.witness.is_none() || is_told && self.former.is_empty()
    }

    /// Takes a newer view: somebody else may be the witness.
    pub(super) fn see(&mut self, me: Session, view: &View, held: impl Iterator<Item = RangeId>) {
        self.former.retain(|session, _| view.is_live(*session));
        let witness = view.witness_of(me);
        if witness == self.witness {
            return;
        }
        if let Some(before) = std::mem::replace(&mut self.witness, witness).filter(|before| view.is_live(*before)) {
            self.former.insert(before, None);
        }
        if let Some(witness) = witness {
            self.former.remove(&witness);
        }
        self.begin(held);
    }

    /// A range has entities that are not told of.
    pub(super) fn born(&mut self, range: RangeId) {
        if self.witness.is_some() {
            self.untold.insert(range);
            self.waiting += 1;
        }
    }

    /// An entity has died.
    pub(super) fn died(&mut self, entity: OnlineId) {
        let is_told = self.next.get(&entity.range()).is_some_and(|next| entity.counter() < *next);
        if is_told && self.dead.insert(entity) {
            self.waiting += 1;
        }
        if self.dead.len() > DEATHS_UNTOLD {
            let ranges: Vec<_> = self.next.keys().chain(&self.untold).copied().collect();
            self.begin(ranges.into_iter());
        }
    }

    /// Another session is the home of a range.
    pub(super) fn let_go(&mut self, range: RangeId) {
        self.next.remove(&range);
        self.untold.remove(&range);
        self.dead.retain(|entity| entity.range() != range);
    }

    /// Says what is due, or says it again.
    pub(super) fn tell(&mut self, book: Book<'_>, now: Now, out: &mut Vec<Output>) {
        let Some(witness) = self.witness else { return };
        if self.batch.is_none() && self.is_due(now) {
            self.due = now + EVERY;
            self.batch = self.fill(book);
        }
        if let Some(batch) = &mut self.batch {
            batch.say(witness, now, out);
        }
        if self.is_whole {
            for (session, farewell) in &mut self.former {
                let number = &mut self.number;
                let farewell = farewell.get_or_insert_with(|| Batch::new(number, true, Vec::new(), false));
                farewell.say(*session, now, out);
            }
        }
    }

    /// A batch is acknowledged.
    pub(super) fn noted(&mut self, from: Session, number: u64) {
        let is_it = |batch: &Batch| batch.number == number;
        if self.former.get(&from).is_some_and(|farewell| farewell.as_ref().is_some_and(is_it)) {
            self.former.remove(&from);
        }
        if self.witness == Some(from)
            && let Some(batch) = self.batch.take_if(|batch| is_it(batch))
        {
            self.is_whole |= !batch.is_full;
            if batch.is_full {
                self.due = Now(0);
            }
        }
    }

    fn begin(&mut self, held: impl Iterator<Item = RangeId>) {
        self.begins = self.witness.is_some();
        self.is_whole = false;
        self.batch = None;
        self.next.clear();
        self.dead.clear();
        self.untold = held.filter(|_| self.begins).collect();
        self.waiting = 0;
        self.due = Now(0);
    }

    fn is_due(&self, now: Now) -> bool {
        let is_any = !self.is_whole || !self.untold.is_empty() || !self.dead.is_empty();
        is_any && (self.due <= now || self.waiting >= self.page)
    }

    /// The next batch, if there is anything to tell.
    fn fill(&mut self, book: Book<'_>) -> Option<Batch> {
        let mut news: BTreeMap<RangeId, (Vec<Born>, Vec<OnlineId>)> = BTreeMap::new();
        let mut room = self.page;
        while let Some(entity) = self.dead.first().copied().filter(|_| room > 0) {
            self.dead.remove(&entity);
            news.entry(entity.range()).or_default().1.push(entity);
            room -= 1;
        }
        let mut looked = 0;
        while let Some(range) = self.untold.first().copied().filter(|_| room > 0 && looked < LOOKED_AT) {
            let records = book.ranges.get(&range).filter(|records| records.is_complete());
            let next = self.next.entry(range).or_insert(0);
            let first = *next;
            let mut rest = records.into_iter().flat_map(|records| records.from(first));
            let born = &mut news.entry(range).or_default().0;
            while room > 0 && looked < LOOKED_AT {
                let Some((entity, record)) = rest.next() else {
                    self.untold.remove(&range);
                    break;
                };
                looked += 1;
                *next = entity.counter().saturating_add(1);
                if record.owner.is_some() {
                    born.push(Born { entity, label: book.labels.get(&entity).cloned() });
                    room -= 1;
                }
            }
        }
        let is_full = !self.untold.is_empty() || !self.dead.is_empty();
        self.waiting = 0;
        let told = news.into_iter().filter(|(_, (born, dead))| !born.is_empty() || !dead.is_empty());
        let told = told.filter_map(|(range, (born, dead))| {
            let term = *book.held.get(&range)?;
            Some(RosterNews { range, term, born, dead })
        });
        let (news, anew) = (told.collect::<Vec<_>>(), std::mem::take(&mut self.begins));
        if news.is_empty() && !anew {
            if is_full {
                self.due = Now(0);
            }
            self.is_whole |= !is_full;
            return None;
        }
        Some(Batch::new(&mut self.number, anew, news, is_full))
    }
}

impl Batch {
    fn new(number: &mut u64, anew: bool, news: Vec<RosterNews>, is_full: bool) -> Self {
        *number += 1;
        Self { number: *number, anew, news, is_full, pace: Pace::patient() }
    }

    fn say(&mut self, to: Session, now: Now, out: &mut Vec<Output>) {
        if self.pace.is_due(now) {
            let control = Control::Roster { number: self.number, anew: self.anew, news: self.news.clone() };
            out.push(Output::Tell { to: directory_of(to), control });
        }
    }
}

/// Between two batches, unless there is a whole one to tell: what is born meanwhile may be lost without a name.
const EVERY: Duration = Duration::from_millis(100);
/// Records that are looked at for one batch: many may be of the lost, and a turn must end.
const LOOKED_AT: usize = 1 << 16;
