//! What members ask: renewals and ranges; and that they are about to stop. Homes that are given away are in `heirs`.

use slipgate_entity::RangeId;

use super::life::Presence;
use super::scenes::SceneWish;
use super::{Counter, Grant, Manager, ManagerEvent, ManagerReply, ManagerRequest, Output, Write};
use crate::bounds::{HOMES, RANGES_PER_SESSION};
use crate::view::{Home, Made};
use crate::{Now, Rule, Session};

impl Manager {
    pub(super) fn answer(&mut self, from: Session, request: &ManagerRequest, now: Now, out: &mut Vec<Output>) {
        let session = request.session();
        if session != from {
            out.push(Output::Event(ManagerEvent::SpokeForAnother { from, session }));
            return;
        }
        let lives = self.latest_life(session).is_some_and(|life| life.presence != Presence::Left);
        if !lives {
            out.push(Output::Tell { to: from, reply: ManagerReply::NotMember { session } });
            out.push(Output::Event(ManagerEvent::NotMember { session }));
            return;
        }
        match *request {
            ManagerRequest::OpenScene { request: number, ref name, node, capacity, .. } => {
                let wanted = SceneWish { name: name.clone(), node, capacity };
                self.open_scene(Made { by: session, request: number }, wanted, out);
            }
            ManagerRequest::CloseScene { request: number, scene, clearing, .. } => {
                self.close_scene(Made { by: session, request: number }, scene, clearing, out);
            }
            ManagerRequest::SceneIs { scene, news, .. } => self.scene_is(session, scene, news, out),
            ManagerRequest::Renew { sent, version, .. } => {
                self.renew(session, now);
                // The view goes first: whoever is renewed has the latest.
                self.compare_view(session, version, out);
                out.push(Output::Tell { to: session, reply: ManagerReply::Renewed { session, sent } });
            }
            ManagerRequest::Range { request, counter, .. } => self.grant(session, request, counter, out),
            ManagerRequest::Drain { .. } => self.note_drain(session, Write::Draining(session), out),
            ManagerRequest::Resume { .. } => self.note_drain(session, Write::Working(session), out),
            ManagerRequest::Retire { .. } => self.retire(session, out),
        }
    }

    /// A life is about to stop, or goes on after all. A repeat means that the view was lost on its way.
    fn note_drain(&mut self, session: Session, write: Write, out: &mut Vec<Output>) {
        let drains = write == Write::Draining(session);
        if self.stored.view.is_draining(session) == drains {
            out.push(Output::Tell { to: session, reply: ManagerReply::View(self.told.clone()) });
            return;
        }
        self.commit(vec![write], out);
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        let event = if drains { ManagerEvent::Drains { session } } else { ManagerEvent::Resumed { session } };
        out.push(Output::Event(event));
    }

    fn renew(&mut self, session: Session, now: Now) {
        let until = now + self.waits.lease;
        if let Some(life) = self.latest_life(session) {
            life.renew(until);
        }
    }

    fn compare_view(&self, session: Session, theirs: u64, out: &mut Vec<Output>) {
        let ours = self.told.version;
        if theirs < ours {
            out.push(Output::Tell { to: session, reply: ManagerReply::View(self.told.clone()) });
        } else if theirs > ours {
            out.push(Output::Event(ManagerEvent::StoreIsOld { session, theirs, ours }));
        }
    }

    /// The range that is issued next.
    pub(super) fn next_range(&self, counter: Counter) -> RangeId {
        self.stored.counters.get(&counter).copied().unwrap_or(FIRST_RANGE)
    }

    fn grant(&mut self, session: Session, request: u64, counter: Counter, out: &mut Vec<Output>) {
        let is_theirs = |grant: &&Grant| grant.session == session || !self.rules.keep(Rule::GrantsAreNotResumed);
        let last = self.stored.grants.get(&(session.node, counter)).filter(is_theirs);
        if let Some(last) = last
            && last.request == request
        {
            let range = last.range;
            // A late repeat of somebody who has given that range away since wants nothing any more.
            let is_given = self.stored.view.homes.get(&range).is_none_or(|home| home.session != session);
            if is_given && self.rules.keep(Rule::GivenRangesStayGiven) {
                return;
            }
            out.push(Output::Tell { to: session, reply: ManagerReply::Range { session, request, counter, range } });
            return;
        }
        if request > RANGES_PER_SESSION {
            out.push(Output::Event(ManagerEvent::CounterExhausted { counter, session }));
            return;
        }
        if request <= last.map_or(0, |last| last.request) {
            return;
        }
        let range = self.next_range(counter);
        let has_room = self.stored.view.homes.len() < HOMES;
        let Some(next) = range.0.checked_add(1).filter(|_| has_room).map(RangeId) else {
            out.push(Output::Event(ManagerEvent::CounterExhausted { counter, session }));
            return;
        };
        let home = match counter {
            Counter::Online => Write::Home(Home::first(range, session)),
        };
        let grant = Grant { session, request, range };
        self.commit(vec![Write::Counter { counter, next }, Write::Grant { counter, grant }, home], out);
        // The view goes first: on one link a node hears that it is the home before it can use the range.
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        out.push(Output::Tell { to: session, reply: ManagerReply::Range { session, request, counter, range } });
        out.push(Output::Event(ManagerEvent::Granted { session, counter, range }));
    }
}

/// 0 stays unused, so that no online id is the number 0.
const FIRST_RANGE: RangeId = RangeId(1);
