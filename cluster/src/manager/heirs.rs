//! Who keeps the records of a range next: when its home is dead, or wants to be rid of it.
//!
//! The heir is chosen by counting alone, the same from the same state: whoever is home of the fewest ranges, of
//! those the lowest node; one whose lease is late only if there is nobody else, since its own verdict may be next.
//! With nobody there the range stays where it is, and has an heir as soon as somebody joins, or stops stopping.
//!
//! Keeps: a range is passed on in the next term; nobody is heir who is dead.
//! Leaves out: how the heir comes to the records (`directory`).

use std::collections::BTreeMap;

use super::{Manager, ManagerEvent, ManagerReply, Output, Write};
use crate::view::Home;
use crate::{Rule, Session};

impl Manager {
    /// A session wants to give its homes away: it stops as planned. Said again, it hears how things are.
    pub(super) fn retire(&mut self, session: Session, out: &mut Vec<Output>) {
        let heirs = self.heirs(|home| home.session == session);
        if heirs.is_empty() {
            out.push(Output::Tell { to: session, reply: ManagerReply::View(self.told.clone()) });
            return;
        }
        self.commit(heirs.into_iter().map(Write::Home).collect(), out);
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
    }

    /// The next homes of those ranges whose home `leaves`.
    pub(super) fn heirs(&self, leaves: impl Fn(&Home) -> bool) -> Vec<Home> {
        let view = &self.stored.view;
        let leaving: Vec<_> = view.homes.values().filter(|home| leaves(home)).collect();
        if leaving.is_empty() {
            return Vec::new();
        }
        let members = view.members.values().map(|member| member.session);
        let may_take =
            |session: &Session| view.takes_homes(*session) && leaving.iter().all(|home| home.session != *session);
        let mut holds: BTreeMap<Session, usize> = members.filter(may_take).map(|session| (session, 0)).collect();
        for home in view.homes.values() {
            if let Some(count) = holds.get_mut(&home.session) {
                *count += 1;
            }
        }
        let is_late = |session: Session| self.lives.get(&session.node).is_some_and(|life| life.lease_ended);
        let pass_on = |home: &Home| {
            let chosen = holds.iter_mut().min_by_key(|(session, count)| (is_late(**session), **count, **session));
            let (heir, count) = chosen?;
            *count += 1;
            let passed = home.passed_to(*heir)?;
            Some(if self.rules.keep(Rule::TermsRise) { passed } else { Home { term: home.term, ..passed } })
        };
        leaving.into_iter().filter_map(pass_on).collect()
    }
}

/// What is told of the homes among the writes: one event for each pair of predecessor and heir.
pub(super) fn events(writes: &[Write]) -> Vec<Output> {
    let mut passed: BTreeMap<(Session, Session), u64> = BTreeMap::new();
    for write in writes {
        if let Write::Home(Home { session, before: Some(before), .. }) = write {
            *passed.entry((*before, *session)).or_default() += 1;
        }
    }
    let event = |((from, to), ranges)| Output::Event(ManagerEvent::HomesPassed { from, to, ranges });
    passed.into_iter().map(event).collect()
}
