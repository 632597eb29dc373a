//! Naming those who died with their home: a later home of their range asks every member whether it was the witness.
//!
//! It asks once it is complete: who is on a roster and has no record then is claimed by nobody. Nobody waits for it, and what
//! senders hear is the same before and after.
//!
//! Keeps: nobody is named twice by one home; a member that is dead is not waited for. Every page that is asked for tells
//! the witness what it may forget, the page behind the last one included.
//! Leaves out: rosters of witnesses that are dead, or were never told.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_entity::{OnlineId, RangeId};

use super::bequest::directory_of;
use super::{HomeEvent, Output};
use crate::bounds::ROSTER_ROWS;
use crate::message::Control;
use crate::pace::Pace;
use crate::roster::Bereft;
use crate::{Now, Session, View};

#[derive(Clone, Debug)]
pub(super) struct Naming {
    range: RangeId,
    term: u32,
    asked: BTreeMap<Session, Asked>,
    /// Those that need not be named any more.
    named: BTreeSet<OnlineId>,
}

/// How far a member has been heard.
#[derive(Clone, Debug)]
struct Asked {
    after: Option<OnlineId>,
    heard: usize,
    /// How many were named, by the home that they died with.
    lost: BTreeMap<Session, u64>,
    pace: Pace,
}

impl Naming {
    /// Asks all that `view` knows of. `named` are those that were lost by what scenes said; none where
    /// nobody can be lost: then everything may be forgotten unheard.
    pub(super) fn begin(range: RangeId, term: u32, named: Option<BTreeSet<OnlineId>>, view: &View) -> Self {
        let after = if named.is_some() { None } else { Some(OnlineId::new(range, u32::MAX)) };
        let asked = || Asked { after, heard: 0, lost: BTreeMap::new(), pace: Pace::fresh() };
        let members = view.members.values().map(|member| member.session);
        let asked = members.filter(|session| view.is_live(*session)).map(|session| (session, asked())).collect();
        Self { range, term, asked, named: named.unwrap_or_default() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.asked.is_empty()
    }

    pub(super) fn see(&mut self, view: &View, out: &mut Vec<Output>) {
        let gone: Vec<_> = self.asked.keys().copied().filter(|session| !view.is_live(*session)).collect();
        for session in gone {
            self.end(session, out);
        }
    }

    /// Asks for the pages that are wanted next, or asks again, as long as there is room for questions.
    pub(super) fn ask(&mut self, now: Now, room: &mut usize, out: &mut Vec<Output>) {
        let (range, term) = (self.range, self.term);
        for (session, asked) in &mut self.asked {
            if *room > 0 && asked.pace.is_due(now) {
                *room -= 1;
                let control = Control::AskRoster { range, term, after: asked.after };
                out.push(Output::Tell { to: directory_of(*session), control });
            }
        }
    }

    /// A member's page: those on it that are lost by the records and were not named before. One that was not asked for is
    /// ignored; of one that is out of order, the rest.
    pub(super) fn hear(
        &mut self,
        from: Session,
        after: Option<OnlineId>,
        rows: Vec<Bereft>,
        is_lost: impl Fn(OnlineId) -> bool,
        out: &mut Vec<Output>,
    ) -> Vec<Bereft> {
        let Some(asked) = self.asked.get_mut(&from).filter(|asked| asked.after == after) else { return Vec::new() };
        let (mut lost, is_last) = (Vec::new(), rows.is_empty());
        for row in rows {
            let is_next = row.entity.range() == self.range && asked.after.is_none_or(|after| row.entity > after);
            if !is_next || asked.heard >= ROSTER_ROWS {
                break;
            }
            asked.after = Some(row.entity);
            asked.heard += 1;
            if is_lost(row.entity) && self.named.insert(row.entity) {
                *asked.lost.entry(row.home).or_default() += 1;
                lost.push(row);
            }
        }
        asked.pace = Pace::fresh();
        if is_last || asked.after == after {
            self.end(from, out);
        }
        lost
    }

    fn end(&mut self, witness: Session, out: &mut Vec<Output>) {
        let lost = self.asked.remove(&witness).map(|asked| asked.lost).unwrap_or_default();
        for (home, lost) in lost {
            out.push(Output::Event(HomeEvent::Named { range: self.range, home, witness, lost }));
        }
    }
}
