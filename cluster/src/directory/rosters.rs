//! A directory among others that tell it of their entities, and that it tells of its own: how it comes to
//! know its witness, and what it asks where it takes the place of a home that died.

use std::collections::BTreeSet;

use slipgate_entity::{OnlineId, RangeId};

use super::naming::Naming;
use super::records::Records;
use super::roster::Book;
use super::succession::PageId;
use super::witness::Told;
use super::{Directory, Lost, Output};
use crate::bounds::LABEL_BYTES;
use crate::message::Control;
use crate::roster::Bereft;
use crate::{Now, Place, Port, View};

impl Directory {
    /// Whether the home of term `term` has told that `entity` lives, and no later one of its range has heard so from here.
    #[must_use]
    pub fn witnesses(&self, entity: OnlineId, term: u32) -> bool {
        self.witness.knows(entity, term)
    }

    /// Whether the witness, if there is any, knows of all that lives here.
    #[must_use]
    pub fn is_witnessed(&self) -> bool {
        self.roster.is_told()
    }

    pub(super) fn see_witnesses(&mut self, view: &View, out: &mut Vec<Output>) {
        if self.has_witness {
            self.roster.see(self.me, view, self.held.keys().copied());
        }
        self.witness.see(view);
        for naming in self.naming.values_mut() {
            naming.see(view, out);
        }
        self.naming.retain(|_, naming| !naming.is_done());
    }

    /// Says again what nobody has answered.
    pub(super) fn go_on_with_rosters(&mut self, now: Now, out: &mut Vec<Output>) {
        let mut room = ASKED_AT_ONCE;
        for naming in self.naming.values_mut() {
            naming.ask(now, &mut room, out);
        }
        let Self { ranges, held, labels, .. } = self;
        self.roster.tell(Book { ranges, held, labels }, now, out);
    }

    /// A range is complete that others were the home of before: they may have told of some who died with them.
    pub(super) fn ask_witnesses(&mut self, range: RangeId, lost: BTreeSet<OnlineId>) {
        self.roster.born(range);
        if !self.has_witness {
            return;
        }
        let any_lost = self.ranges.get(&range).is_some_and(|records| records.absent().lost);
        let naming = Naming::begin(range, self.held[&range], any_lost.then_some(lost), &self.view);
        self.naming.insert(range, naming);
    }

    /// What is said of rosters; anything else is none of this.
    pub(super) fn hear_of_rosters(&mut self, from: Place, control: &Control, now: Now, out: &mut Vec<Output>) {
        if let Control::Roster { number, anew, news } = control {
            let told = Told { number: *number, anew: *anew, news: news.clone() };
            if from.port == Port::Directory && self.witness.take(from.session, told, &self.view) {
                out.push(Output::Tell { to: from, control: Control::RosterNoted { number: *number } });
            }
        } else if let Control::RosterNoted { number } = control {
            self.roster.noted(from.session, *number);
            self.go_on_with_rosters(now, out);
        } else if let Control::AskRoster { range, term, after } = control {
            self.ask_roster(from, (*range, *term, *after), out);
        } else if let Control::RosterIs { range, term, after, rows } = control {
            self.roster_is(from, (*range, *term, *after), rows.clone(), out);
            self.go_on_with_rosters(now, out);
        }
    }

    fn ask_roster(&mut self, from: Place, page: PageId, out: &mut Vec<Output>) {
        let (range, term, after) = page;
        if self.view.home_of(range) == Some(from) && self.view.term_of(range) == term {
            let rows = self.witness.give(page, self.roster_page);
            out.push(Output::Tell { to: from, control: Control::RosterIs { range, term, after, rows } });
        }
    }

    fn roster_is(&mut self, from: Place, (range, term, after): PageId, rows: Vec<Bereft>, out: &mut Vec<Output>) {
        let is_asked = from.port == Port::Directory && self.held.get(&range) == Some(&term);
        let Some(naming) = self.naming.get_mut(&range).filter(|_| is_asked) else { return };
        let records = self.ranges.get(&range);
        let is_lost = |entity: OnlineId| {
            records.is_some_and(|records: &Records| records.absent().lost && records.get(entity.counter()).is_none())
        };
        let lost = naming.hear(from.session, after, rows, is_lost, out);
        if naming.is_done() {
            self.naming.remove(&range);
        }
        out.extend(lost.into_iter().map(|Bereft { entity, label, home }| {
            let label = label.filter(|label| label.len() <= LABEL_BYTES);
            Output::Lost(Lost { entity, label, session: home, scene: None })
        }));
    }
}

/// Questions in one turn; the others follow in the next one.
const ASKED_AT_ONCE: usize = 4_096;
