//! Ranges that come to this session, or go from it: as the manager's view says, and as the others answer.
//!
//! Keeps: what was learnt on the way to a complete home is told to those it concerns and to nobody else; who
//! takes a range over does so from the very session that the view names; an epoch of a term is told with one record: of
//! what is handed over nobody hears before all of it is there, and nobody is buried.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use slipgate_entity::{OnlineId, RangeId};

use super::bequest::{Bequest, Estate, Inheritance, directory_of};
use super::decide::{Certainty, Decision, Inquiry};
use super::rebuild::{Rebuild, stakes};
use super::records::Records;
use super::{Directory, HomeEvent, Lost, Output};
use crate::bounds::LABEL_BYTES;
use crate::claim::{Claim, Stake};
use crate::legacy::{Heirloom, Legacy};
use crate::manager::ManagerRequest;
use crate::message::Control;
use crate::pace::Pace;
use crate::view::Home;
use crate::{Now, Own, Place, Port, Record, Rule, Session, View};

/// How a range that is not complete comes to be so.
#[derive(Clone, Debug)]
pub(super) enum Coming {
    /// Its former home is dead: from what every scene says.
    Rebuilt(Box<Rebuild>),
    /// Its former home hands its records over.
    Inherited(Inheritance),
}

/// A page: of which range, in which term, after which entity.
pub(super) type PageId = (RangeId, u32, Option<OnlineId>);

impl Directory {
    /// Takes a newer view.
    pub(super) fn see(&mut self, view: Arc<View>, now: Now, out: &mut Vec<Output>) {
        if view.version <= self.view.version {
            return;
        }
        self.view = view.clone();
        self.part(&view);
        self.bury(out);
        self.take(&view, now, out);
        for range in self.coming.keys().copied().collect::<Vec<_>>() {
            self.see_verdicts(range, &view, now, out);
        }
        self.see_witnesses(&view, out);
        self.go_on(now, out);
    }

    /// Says again what nobody has answered.
    pub(super) fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        self.go_on(now, out);
    }

    fn go_on(&mut self, now: Now, out: &mut Vec<Output>) {
        let rebuilds = self.coming.values_mut().filter_map(|coming| match coming {
            Coming::Rebuilt(rebuild) => Some(rebuild),
            Coming::Inherited(_) => None,
        });
        for rebuild in rebuilds.take(AT_ONCE) {
            rebuild.ask(now, out);
        }
        for bequest in self.bequests.values_mut().take(AT_ONCE) {
            bequest.say(now, out);
        }
        self.go_on_with_rosters(now, out);
        self.give_away(now, out);
    }

    /// Lets go of what others are the home of by now.
    fn part(&mut self, view: &View) {
        let is_mine = |range: &RangeId, term: u32| match view.homes.get(range) {
            Some(home) => home.session == self.me && home.term == term,
            // The view that tells of a range may be behind the grant of it.
            None => term == 0,
        };
        let gone: Vec<_> = self.held.iter().filter(|(range, term)| !is_mine(range, **term)).collect();
        let gone: Vec<_> = gone.into_iter().map(|(range, term)| (*range, *term)).collect();
        let mut estates: Vec<(RangeId, u32, Estate)> = Vec::new();
        for (range, term) in gone {
            let is_complete = self.ranges.get(&range).is_some_and(Records::is_complete);
            let estate = self.let_go(range);
            if is_complete {
                estates.push((range, term, estate));
            }
        }
        let is_wanted = |home: &Home, bequest: &Bequest| bequest.is_for(home) && !view.is_dead(home.session);
        self.bequests.retain(|range, bequest| view.homes.get(range).is_some_and(|home| is_wanted(home, bequest)));
        for home in view.homes.values().filter(|home| home.before == Some(self.me) && home.session != self.me) {
            let is_given = self.given.get(&home.range).is_some_and(|term| *term >= home.term);
            if is_given || self.bequests.contains_key(&home.range) || view.is_dead(home.session) {
                continue;
            }
            let mine = estates.iter().position(|(range, term, _)| *range == home.range && term + 1 == home.term);
            let estate = mine.map(|at| estates.swap_remove(at).2);
            self.bequests.insert(home.range, Bequest::new(home, estate, self.page));
        }
    }

    /// Forgets a range, and returns what has to be told of it.
    fn let_go(&mut self, range: RangeId) -> Estate {
        self.held.remove(&range);
        self.coming.remove(&range);
        self.naming.remove(&range);
        self.roster.let_go(range);
        self.waiting.retain(|(entity, _), _| entity.range() != range);
        let Some(records) = self.ranges.remove(&range) else {
            return Estate { records: VecDeque::new(), absent_is_lost: true };
        };
        let absent_is_lost = records.absent().lost;
        let mut told = VecDeque::new();
        for (entity, record) in records.iter() {
            if record.owner.is_some() {
                self.ownership.retire(entity);
            }
            let label = self.labels.remove(&entity);
            let is_told = record.owner.is_some() || record.lost != absent_is_lost;
            if is_told && self.rules.keep(Rule::LegaciesAreWhole) {
                told.push_back(Heirloom { entity, record, label });
            }
        }
        Estate { records: told, absent_is_lost }
    }

    /// Takes up the ranges that this session is the home of.
    fn take(&mut self, view: &View, now: Now, out: &mut Vec<Output>) {
        let me = self.me;
        for home in view.homes.values().filter(|home| home.session == me) {
            if self.held.contains_key(&home.range) {
                continue;
            }
            let Some(before) = home.before else {
                self.open(home.range);
                continue;
            };
            self.held.insert(home.range, home.term);
            self.ranges.insert(home.range, Records::passed(home.range, home.term));
            if view.is_dead(before) {
                self.rebuild(home, now, out);
            } else {
                let inheritance = Inheritance { before, after: None, taken: 0, kept: 0 };
                self.coming.insert(home.range, Coming::Inherited(inheritance));
            }
        }
    }

    /// Begins to ask every scene.
    fn rebuild(&mut self, home: &Home, now: Now, out: &mut Vec<Output>) {
        let rebuild = Rebuild::begin(home, &self.view, self.rules, now);
        let (range, term, scenes) = (home.range, home.term, rebuild.scenes());
        out.push(Output::Event(HomeEvent::Rebuilding { range, term, scenes }));
        self.coming.insert(range, Coming::Rebuilt(Box::new(rebuild)));
    }

    /// A former home that cannot hand over any more, or never could, or hands over what no home has: nothing of it counts.
    fn rebuild_instead(&mut self, range: RangeId, now: Now, out: &mut Vec<Output>) {
        let Some(home) = self.view.homes.get(&range).copied() else { return };
        self.let_go(range);
        self.held.insert(range, home.term);
        self.ranges.insert(range, Records::passed(range, home.term));
        self.rebuild(&home, now, out);
        self.advance(range, now, out);
    }

    fn see_verdicts(&mut self, range: RangeId, view: &View, now: Now, out: &mut Vec<Output>) {
        match self.coming.get_mut(&range) {
            Some(Coming::Rebuilt(rebuild)) => {
                rebuild.see(view);
                self.advance(range, now, out);
            }
            Some(Coming::Inherited(inheritance)) if view.is_dead(inheritance.before) => {
                self.rebuild_instead(range, now, out);
            }
            Some(Coming::Inherited(_)) | None => {}
        }
    }

    /// A scene says what it knows.
    pub(super) fn claims(
        &mut self,
        from: Place,
        (range, term, after): PageId,
        (claims, more): (Vec<Claim>, bool),
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let Port::Scene(scene) = from.port else { return };
        if self.held.get(&range) != Some(&term) {
            return;
        }
        let Some(Coming::Rebuilt(rebuild)) = self.coming.get_mut(&range) else { return };
        rebuild.hear(Own::new(from.session, scene), after, claims, more);
        self.advance(range, now, out);
        self.go_on(now, out);
    }

    /// Decides whatever can be decided.
    fn advance(&mut self, range: RangeId, now: Now, out: &mut Vec<Output>) {
        let Some(Coming::Rebuilt(mut rebuild)) = self.coming.remove(&range) else { return };
        while let Some((entity, claims)) = rebuild.next(self.rules) {
            let (claims, label) = stakes(claims);
            let inquiry = Inquiry {
                term: self.held[&range],
                rules: self.rules,
                claims: &claims,
                is_dead: |session| self.view.is_dead(session),
                is_heard: |own| rebuild.is_heard(own, entity),
            };
            let decision = inquiry.decide();
            let count = match decision.certainty {
                Certainty::Exact => &mut rebuild.tally.kept,
                Certainty::Reset => &mut rebuild.tally.reset,
                Certainty::Dead => &mut rebuild.tally.dead,
                Certainty::Lost => &mut rebuild.tally.lost,
            };
            *count += 1;
            if decision.certainty == Certainty::Lost {
                rebuild.lost.insert(entity);
            }
            self.settle(entity, decision, label, &claims, out);
        }
        if !rebuild.is_done() {
            self.coming.insert(range, Coming::Rebuilt(rebuild));
            return;
        }
        let (term, tally, took_us) = (self.held[&range], rebuild.tally, rebuild.took_us(now));
        out.push(Output::Event(HomeEvent::Rebuilt { range, term, tally, took_us }));
        self.complete(range, std::mem::take(&mut rebuild.lost), out);
    }

    /// Writes a decision down, and tells whoever has the entity or a copy of it.
    fn settle(
        &mut self,
        entity: OnlineId,
        Decision { record, certainty, was_at }: Decision,
        label: Option<String>,
        claims: &[(Own, Stake)],
        out: &mut Vec<Output>,
    ) {
        let is_lost = certainty == Certainty::Lost;
        if let Some(owner) = was_at.filter(|_| is_lost) {
            let Own { session, scene } = owner;
            out.push(Output::Lost(Lost { entity, label: label.clone(), session, scene: Some(scene) }));
        }
        if !is_lost {
            self.enter(entity, record, label);
        }
        for (own, stake) in claims {
            let nonce = match stake {
                Stake::Staged { nonce, .. } => Some(*nonce),
                Stake::Active(_) | Stake::Leaving { .. } | Stake::Despawning(_) => None,
                Stake::Gone(_) => continue,
            };
            let control = Control::RecordIs { entity, record, nonce };
            out.push(Output::Tell { to: (*own).into(), control });
        }
    }

    /// Puts a record of a range that is not complete in its place.
    fn enter(&mut self, entity: OnlineId, record: Record, label: Option<String>) {
        let records = self.ranges.get_mut(&entity.range()).expect("a range that comes to be has its records");
        records.insert(entity.counter(), record);
        let Some(owner) = record.owner else { return };
        self.ownership.assign(entity, owner);
        if let Some(label) = label.filter(|label| label.len() <= LABEL_BYTES) {
            self.labels.insert(entity, label);
        }
    }

    /// The home of a range is complete: whoever waits for its word is answered.
    fn complete(&mut self, range: RangeId, lost: BTreeSet<OnlineId>, out: &mut Vec<Output>) {
        self.coming.remove(&range);
        self.ranges.get_mut(&range).expect("a range that comes to be has its records").complete();
        self.ask_witnesses(range, lost);
        self.bury(out);
        let waiting: Vec<_> = self.waiting.extract_if(.., |(entity, _), _| entity.range() == range).collect();
        for ((_, from), control) in waiting {
            self.hear(from, control, out);
        }
    }

    /// The former home hands a page over.
    pub(super) fn inherit(
        &mut self,
        from: Place,
        (range, term, after): PageId,
        legacy: Legacy,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let is_said =
            |home: &&Home| home.session == self.me && home.term == term && home.before.map(directory_of) == Some(from);
        if self.held.get(&range) != Some(&term) || self.view.homes.get(&range).filter(is_said).is_none() {
            return;
        }
        let acknowledgement = Output::Tell { to: from, control: Control::Inherited { range, term, after } };
        let Some(Coming::Inherited(inheritance)) = self.coming.get_mut(&range) else {
            out.push(acknowledgement);
            return;
        };
        if inheritance.after != after {
            if inheritance.after > after {
                out.push(acknowledgement);
            }
            return;
        }
        out.push(acknowledgement);
        let Legacy::Page { records, more, absent_is_lost } = legacy else {
            return self.rebuild_instead(range, now, out);
        };
        if !inheritance.take(range, &records, more) {
            return self.rebuild_instead(range, now, out);
        }
        let (from, kept) = (inheritance.before, inheritance.kept);
        if let Some(known) = self.ranges.get_mut(&range) {
            known.set_absent(Record::absent(term, absent_is_lost));
        }
        for Heirloom { entity, record, label } in records {
            self.enter(entity, record.in_term(term), label);
        }
        if !more {
            out.push(Output::Event(HomeEvent::Inherited { range, term, from, kept }));
            self.complete(range, BTreeSet::new(), out);
            self.tell_owners(range, out);
        }
    }

    /// The records are the home's word from here on. Not page by page: a hand-over that is cut short begins the same
    /// term anew, and whoever had been told would know an epoch that comes to say something else.
    fn tell_owners(&self, range: RangeId, out: &mut Vec<Output>) {
        for (entity, record) in self.ranges.get(&range).into_iter().flat_map(Records::iter) {
            if let Some(owner) = record.owner {
                let control = Control::RecordIs { entity, record, nonce: None };
                out.push(Output::Tell { to: owner.into(), control });
            }
        }
    }

    /// The next home has taken a page over.
    pub(super) fn inherited(&mut self, from: Place, (range, term, after): PageId, now: Now, out: &mut Vec<Output>) {
        let Some(bequest) = self.bequests.get_mut(&range) else { return };
        if bequest.term != term || directory_of(bequest.heir) != from || !bequest.acknowledge(after) {
            return self.go_on(now, out);
        }
        let (to, kept) = (bequest.heir, bequest.kept);
        self.bequests.remove(&range);
        self.given.insert(range, term);
        out.push(Output::Event(HomeEvent::Bequeathed { range, to, kept }));
        self.go_on(now, out);
    }

    /// This session stops: its homes are to be others'.
    pub(super) fn retire(&mut self, now: Now, out: &mut Vec<Output>) {
        self.retiring.get_or_insert(Pace::fresh());
        self.give_away(now, out);
    }

    fn give_away(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(pace) = &mut self.retiring else { return };
        let (me, view) = (self.me, &self.view);
        let has_homes = view.homes.values().any(|home| home.session == me);
        let others = |session: Session| session != me && view.takes_homes(session);
        if has_homes && view.members.values().any(|member| others(member.session)) {
            if pace.is_due(now) {
                out.push(Output::Ask(ManagerRequest::Retire { session: me }));
            }
        } else if self.bequests.is_empty() {
            self.retiring = None;
            out.push(Output::GivenAway);
        }
    }
}

/// Ranges that are rebuilt, or handed over, at once: each is a page for each scene. The others follow as these end.
const AT_ONCE: usize = 64;
