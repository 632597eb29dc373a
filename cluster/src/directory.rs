//! The home: records of the entities whose id range this session holds.
//!
//! The directory answers "who owns this entity?" and decides every change of owner by compare-and-set.
//! It never guesses: an id of one of its ranges either has a record, or is what absence means there; an id of
//! another range is none of its business, and it says so; of a range that it is still coming to know, it says nothing.
//!
//! ```text
//!   granted ---------------------------------------------> complete ---- named elsewhere ---> bequest
//!   named, former home dead ----> rebuild, every scene ------^  ^
//!   named, former home alive ---> inheritance, page by page ----+
//! ```
//!
//! Keeps: a record changes only if `(owner, epoch)` is as expected, and then its epoch rises by one;
//! nobody but the home itself resets an entity's streams;
//! a dead entity stays dead; every request is answered with the record as it now stands; an owner
//! that loses an entity by somebody else's request is told. From the view on that names another home, nothing
//! of a range is answered or changed any more.
//! Leaves out: who is declared dead, and who is named (`manager`).

mod bequest;
mod decide;
mod naming;
mod port;
mod rebuild;
mod records;
mod roster;
mod rosters;
mod succession;
mod tables;
mod witness;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use slipgate_entity::{FixedMap, OnlineId, RangeId};

use self::bequest::Bequest;
use self::naming::Naming;

pub use self::port::{HomeEvent, Input, Lost, Output, Tally};
use self::records::Records;
use self::roster::Roster;
use self::succession::Coming;
pub use self::tables::Tables;
use self::witness::Witness;
use crate::bounds::QUESTIONS_WAITING;
use crate::message::{Control, Nonce};
use crate::ownership::Ownership;
use crate::pace::Pace;
use crate::view::Home;
use crate::{Epoch, Now, Own, Place, Record, Rule, Rules, Session, View};

/// The records of this session's ranges.
#[derive(Clone, Debug)]
pub struct Directory {
    me: Session,
    rules: Rules,
    view: Arc<View>,
    ranges: FixedMap<RangeId, Records>,
    /// The terms in which the ranges are held.
    held: BTreeMap<RangeId, u32>,
    /// Ranges that are not complete, and how they come to be.
    coming: BTreeMap<RangeId, Coming>,
    /// Questions about ranges that are not complete, for when they are.
    waiting: BTreeMap<(OnlineId, Place), Control>,
    bequests: BTreeMap<RangeId, Bequest>,
    /// Records in a page that is handed over.
    page: usize,
    /// Entities in a page of a roster.
    roster_page: usize,
    /// The terms up to which ranges are handed over.
    given: BTreeMap<RangeId, u32>,
    /// Set while the homes are to be given away.
    retiring: Option<Pace>,
    /// Whether births and deaths are told to a witness, and witnesses are asked.
    has_witness: bool,
    roster: Roster,
    witness: Witness,
    /// Ranges whose former homes died, and who died with them.
    naming: BTreeMap<RangeId, Naming>,
    ownership: Ownership,
    labels: FixedMap<OnlineId, String>,
}

/// What a directory is to the home of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Elsewhere,
    /// It is the home, and does not know the records yet.
    Incomplete,
    /// It is the home.
    Complete,
}

impl Directory {
    /// The directory of session `me`, without any range.
    #[must_use]
    pub fn new(me: Session) -> Self {
        Self {
            me,
            rules: Rules::default(),
            view: Arc::default(),
            ranges: FixedMap::default(),
            held: BTreeMap::new(),
            coming: BTreeMap::new(),
            waiting: BTreeMap::new(),
            bequests: BTreeMap::new(),
            page: bequest::PAGE,
            roster_page: ROSTER_PAGE,
            given: BTreeMap::new(),
            retiring: None,
            has_witness: true,
            roster: Roster::new(ROSTER_PAGE),
            witness: Witness::default(),
            naming: BTreeMap::new(),
            ownership: Ownership::default(),
            labels: FixedMap::default(),
        }
    }

    /// The same, handing `page` records over at a time, and telling of as many: so that what a few entities do takes
    /// several pages.
    #[must_use]
    pub fn with_page(self, page: usize) -> Self {
        assert!(page > 0, "a page of no records leads nowhere");
        Self { page, roster_page: page, roster: Roster::new(page), ..self }
    }

    /// The same, telling nobody of births and deaths, and asking nobody: where only records matter.
    #[must_use]
    pub fn without_witness(self) -> Self {
        Self { has_witness: false, ..self }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The record of `entity`, if this is the complete home of its range. An id that was never given out, or is
    /// dead, has a record without owner.
    #[must_use]
    pub fn record(&self, entity: OnlineId) -> Option<Record> {
        let is_known = |records: &&Records| records.is_complete() || !self.rules.keep(Rule::IncompleteHomesAreSilent);
        let records = self.ranges.get(&entity.range()).filter(is_known)?;
        Some(records.word(entity.counter()))
    }

    /// What this directory is to the home of `range`.
    #[must_use]
    pub fn standing(&self, range: RangeId) -> Standing {
        match self.ranges.get(&range) {
            None => Standing::Elsewhere,
            Some(records) if records.is_complete() => Standing::Complete,
            Some(_) => Standing::Incomplete,
        }
    }

    /// Whether ids of `range` may be registered here: it was granted to this session, and never given away.
    #[must_use]
    pub fn issues(&self, range: RangeId) -> bool {
        self.held.get(&range) == Some(&0)
    }

    /// Who owns what, as the records say.
    #[must_use]
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Ranges that this is the home of.
    #[must_use]
    pub fn homes(&self) -> usize {
        self.held.len()
    }

    /// Ranges that are not complete, or not handed over yet.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.coming.len() + self.bequests.len()
    }

    /// Ranges that this is the home of, or that their next homes have not taken over yet.
    #[must_use]
    pub fn to_give(&self) -> usize {
        self.held.len() + self.bequests.len()
    }

    /// Takes one input and appends what should follow.
    ///
    /// # Panics
    ///
    /// If an id is registered after itself or a later one, or is of a range that this does not [issue](Self::issues): ids come from
    /// this node's own stock.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Opened { range } => self.open(range),
            Input::Registered { entity, owner, label } => self.register(entity, owner, label),
            Input::View(view) => self.see(view, now, out),
            Input::Retire => self.retire(now, out),
            Input::Stay => self.retiring = None,
            Input::Tick => self.tick(now, out),
            Input::Heard { from, control: Control::Claims { range, term, after, claims, more } } => {
                self.claims(from, (range, term, after), (claims, more), now, out);
            }
            Input::Heard { from, control: Control::Bequest { range, term, after, legacy } } => {
                self.inherit(from, (range, term, after), legacy, now, out);
            }
            Input::Heard { from, control: Control::Inherited { range, term, after } } => {
                self.inherited(from, (range, term, after), now, out);
            }
            Input::Heard { from, control } => {
                self.hear_of_rosters(from, &control, now, out);
                self.hear(from, control, out);
            }
        }
    }

    /// A question about an entity. While nothing is known of its range it waits: whoever asks would only ask again.
    fn hear(&mut self, from: Place, control: Control, out: &mut Vec<Output>) {
        let (Control::Query { entity, nonce }
        | Control::Cas { entity, nonce, .. }
        | Control::Reclaim { entity, nonce, .. }) = control
        else {
            return;
        };
        let is_incomplete = self.standing(entity.range()) == Standing::Incomplete;
        if is_incomplete && self.rules.keep(Rule::IncompleteHomesAreSilent) {
            if self.waiting.len() < QUESTIONS_WAITING || self.waiting.contains_key(&(entity, from)) {
                self.waiting.insert((entity, from), control);
            }
            return;
        }
        if let Control::Cas { owner, epoch, new, .. } = control {
            let hit = may_ask(from, owner, &new) && self.swap(entity, (owner, epoch), new);
            self.answer(from, entity, nonce, out);
            let is_told = hit && Place::from(owner) != from && self.rules.keep(Rule::FormerOwnersAreTold);
            if let Some(record) = self.record(entity).filter(|_| is_told) {
                let control = Control::RecordIs { entity, record, nonce: None };
                out.push(Output::Tell { to: owner.into(), control });
            }
            return;
        }
        if let Control::Reclaim { me, .. } = control {
            self.reclaim(from, entity, me);
        }
        self.answer(from, entity, nonce, out);
    }

    /// A range is granted to this session. The grant may come late: after the view that says that the range has been passed
    /// on. Nothing is issued then, as the next home has asked every scene, or is about to.
    fn open(&mut self, range: RangeId) {
        let is_first = |home: &Home| home.session == self.me && home.term == 0;
        let is_mine = self.view.homes.get(&range).is_none_or(is_first);
        if !is_mine && self.rules.keep(Rule::LateGrantsOpenNothing) {
            return;
        }
        if let Entry::Vacant(term) = self.held.entry(range) {
            term.insert(0);
            self.ranges.insert(range, Records::issued(range));
        }
    }

    fn register(&mut self, entity: OnlineId, owner: Own, label: Option<String>) {
        assert!(self.issues(entity.range()), "expected {entity} to be of a range that is issued here");
        let records = self.ranges.get_mut(&entity.range()).expect("an id is registered at the home of its range");
        records.give_out(entity.counter(), Record::registered(owner));
        self.ownership.assign(entity, owner);
        if let Some(label) = label {
            self.labels.insert(entity, label);
        }
        self.roster.born(entity.range());
    }

    /// Whatever dead sessions own is lost, as soon as its home is complete. The epoch rises, or those who wait for it would
    /// never be told.
    fn bury(&mut self, out: &mut Vec<Output>) {
        if !self.rules.keep(Rule::TheDeadAreBuried) {
            return;
        }
        let buried: Vec<_> = self.ownership.owners().filter(|owner| self.view.is_dead(owner.session)).collect();
        for owner in buried {
            let known = |entity: &OnlineId| self.standing(entity.range()) == Standing::Complete;
            for entity in self.ownership.list(owner).iter().copied().filter(known).collect::<Vec<_>>() {
                let record = self.ranges.get(&entity.range()).and_then(|records| records.get(entity.counter()));
                let record = record.expect("an entity with an owner has a record");
                assert!(record.names(owner), "expected the record of {entity} to name {owner:?}, found {record:?}");
                let label = self.labels.remove(&entity);
                let buried = record.buried();
                let raises = self.rules.keep(Rule::BurialsRaiseTheEpoch);
                self.change(entity, if raises { buried } else { Record { epoch: record.epoch, ..buried } });
                let Own { session, scene } = owner;
                out.push(Output::Lost(Lost { entity, label, session, scene: Some(scene) }));
            }
        }
    }

    fn swap(&mut self, entity: OnlineId, expected: (Own, Epoch), new: Record) -> bool {
        // Nobody is buried twice: what a dead session would own would never be looked for again.
        let for_the_dead = new.owner.is_some_and(|owner| self.view.is_dead(owner.session));
        let for_the_dead = for_the_dead && self.rules.keep(Rule::TheDeadAreNotNamed);
        let Some(records) = self.ranges.get(&entity.range()) else { return false };
        let Some(record) = records.get(entity.counter()) else { return false };
        let is_theirs = record.owner == Some(expected.0) || !self.rules.keep(Rule::OwnersAreCompared);
        let is_latest = record.epoch == expected.1 || !self.rules.keep(Rule::EpochsAreCompared);
        let as_expected = record.owner.is_some() && is_theirs && is_latest;
        let new = if is_latest && record.epoch != expected.1 { moved_up(&record, new) } else { new };
        // The last change of a term is kept for the verdict.
        let leaves_one = !new.epoch.is_last() && !new.epoch.next().is_last();
        let is_next = new.epoch.previous() == Some(record.epoch) && leaves_one;
        let same_streams = new.base == record.base;
        let same_copy = new.data == record.data || new.data == new.epoch;
        // Whom a death has taken is for the home to say.
        let well_formed = is_next && same_streams && same_copy && !new.lost;
        let hits = as_expected && well_formed && !for_the_dead;
        if hits {
            self.change(entity, new);
        }
        hits
    }

    /// Replaces the record of an entity that has one.
    fn change(&mut self, entity: OnlineId, new: Record) {
        let records = self.ranges.get_mut(&entity.range()).expect("only what has a record is changed");
        records.change(entity.counter(), new);
        if let Some(owner) = new.owner {
            self.ownership.assign(entity, owner);
        } else {
            self.labels.remove(&entity);
            self.ownership.retire(entity);
            self.roster.died(entity);
        }
    }

    fn reclaim(&mut self, from: Place, entity: OnlineId, me: Own) {
        let Some(record) = self.record(entity) else { return };
        let Some(owner) = record.owner else { return };
        let same_node = owner.session.node == me.session.node && from.session == me.session;
        if same_node && owner.session.incarnation < me.session.incarnation {
            let new = record.changed_to(Some(me));
            self.swap(entity, (owner, record.epoch), new);
        }
    }

    fn answer(&self, to: Place, entity: OnlineId, nonce: Nonce, out: &mut Vec<Output>) {
        let control = match self.record(entity) {
            Some(record) => Control::RecordIs { entity, record, nonce: Some(nonce) },
            None => Control::NotHome { entity, nonce },
        };
        out.push(Output::Tell { to, control });
    }
}

/// Entities in a page of a roster: some 6 KiB, and their labels.
const ROSTER_PAGE: usize = 512;

/// What is asked of an earlier epoch, as a change of the present record: for a home that does not compare them.
fn moved_up(record: &Record, new: Record) -> Record {
    let epoch = record.epoch.next();
    Record { epoch, data: if new.data == new.epoch { epoch } else { record.data }, ..new }
}

/// Only the old or the new owner's node may ask for a change.
fn may_ask(from: Place, owner: Own, new: &Record) -> bool {
    let node = from.session.node;
    node == owner.session.node || new.owner.is_some_and(|new| new.session.node == node)
}
