//! Joins: one after the other per name, each decided once it is known whether the holder lives.
//!
//! | the holder of the name | the join |
//! |---|---|
//! | nobody, said goodbye, or its link went down | is let in |
//! | the own node | is refused |
//! | its link is up | waits for its answer to a probe; without one in time it is let in |
//! | loaded from disk | waits as long for its link; then as above |
//! | welcomed, no link yet | waits for its link for [`Waits::welcomed`](super::Waits); then as above |
//!
//! The manager's own node is let in at once, whoever holds its name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slipgate_entity::SceneId;

use super::life::{Life, Presence};
use super::scenes::events_of_lost_scenes;
use super::{
    Counter, JoinRefusal, JoinReply, JoinRequest, Manager, ManagerEvent, ManagerReply, Output, SceneDeclaration,
    Ticket, Write,
};
use crate::bounds::{NODES, SCENE_NUMBERS_MADE, SCENES};
use crate::view::{Member, ScenePlacement};
use crate::{Incarnation, NodeId, NodeName, Now, Rule, Session};

/// Joins under one name that may wait at once (a guess: a crash loop retries every few hundred
/// milliseconds and a decision takes one to three seconds).
const WAITING_MAX: usize = 8;

/// Who asks to join.
#[derive(Debug)]
pub(super) struct Applicant {
    pub(super) ticket: Ticket,
    pub(super) own_node: bool,
    pub(super) request: JoinRequest,
}

/// Joins under one name; the first is being decided.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: VecDeque<Applicant>,
    inquiry: Inquiry,
}

/// How far the manager is with asking whether the holder lives, on behalf of the first in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inquiry {
    /// Not asked; a holder loaded from disk has this long to show up.
    Open { until: Now },
    /// Asked; it has this long to answer.
    Asked { until: Now },
    /// It lives.
    Answered,
}

/// What becomes of the first in a queue.
enum Verdict {
    LetIn,
    Refuse { address: String },
    Ask { holder: Session },
    Wait,
}

impl Queue {
    /// Gives the holder of the name until then: what it said meanwhile was not heard.
    pub(super) fn wait_anew(&mut self, until: Now) {
        self.inquiry = match self.inquiry {
            Inquiry::Open { .. } => Inquiry::Open { until },
            Inquiry::Asked { .. } => Inquiry::Asked { until },
            Inquiry::Answered => Inquiry::Answered,
        };
    }
}

impl Manager {
    pub(super) fn ask_to_join(&mut self, applicant: Applicant, now: Now, out: &mut Vec<Output>) {
        let name = applicant.request.name.clone();
        let inquiry = Inquiry::Open { until: now + self.waits.probe };
        let queue = self.joins.entry(name.clone()).or_insert_with(|| Queue { waiting: VecDeque::new(), inquiry });
        let waiting = queue.waiting.len();
        if applicant.own_node {
            queue.waiting.push_front(applicant);
        } else if waiting < WAITING_MAX {
            queue.waiting.push_back(applicant);
        } else {
            refuse(&applicant, JoinRefusal::Busy { name: name.clone(), waiting }, out);
        }
        self.decide(&name, now, out);
    }

    pub(super) fn withdraw(&mut self, ticket: Ticket, now: Now, out: &mut Vec<Output>) {
        let found = self.joins.iter().find_map(|(name, queue)| {
            let at = queue.waiting.iter().position(|applicant| applicant.ticket == ticket)?;
            Some((name.clone(), at))
        });
        let Some((name, at)) = found else { return };
        if at == 0 {
            self.take_first(&name, now);
        } else if let Some(queue) = self.joins.get_mut(&name) {
            queue.waiting.remove(at);
        }
        self.decide(&name, now, out);
    }

    pub(super) fn probe_answered(&mut self, session: Session, now: Now, out: &mut Vec<Output>) {
        if self.latest_life(session).is_none() {
            return;
        }
        let Some(name) = self.stored.view.members.get(&session.node).map(|member| member.name.clone()) else { return };
        if let Some(queue) = self.joins.get_mut(&name)
            && matches!(queue.inquiry, Inquiry::Asked { .. })
        {
            queue.inquiry = Inquiry::Answered;
        }
        self.decide(&name, now, out);
    }

    /// Decides the joins that wait for news of `session`.
    pub(super) fn decide_held_by(&mut self, session: Session, now: Now, out: &mut Vec<Output>) {
        let Some(name) = self.stored.view.members.get(&session.node).map(|member| member.name.clone()) else { return };
        self.decide(&name, now, out);
    }

    pub(super) fn decide_all(&mut self, now: Now, out: &mut Vec<Output>) {
        let names: Vec<NodeName> = self.joins.keys().cloned().collect();
        for name in names {
            self.decide(&name, now, out);
        }
    }

    fn decide(&mut self, name: &NodeName, now: Now, out: &mut Vec<Output>) {
        while let Some(verdict) = self.verdict(name, now) {
            match verdict {
                Verdict::Wait => return,
                Verdict::Ask { holder } => {
                    let until = now + self.waits.probe;
                    if let Some(queue) = self.joins.get_mut(name) {
                        queue.inquiry = Inquiry::Asked { until };
                    }
                    out.push(Output::Probe(holder));
                    out.push(Output::Event(ManagerEvent::Asking { name: name.clone(), holder }));
                }
                Verdict::LetIn => {
                    if let Some(applicant) = self.take_first(name, now) {
                        self.let_in(&applicant, now, out);
                    }
                }
                Verdict::Refuse { address } => {
                    if let Some(applicant) = self.take_first(name, now) {
                        refuse(&applicant, JoinRefusal::NameTaken { name: name.clone(), address }, out);
                    }
                }
            }
        }
        self.joins.remove(name);
    }

    /// What becomes of the first join under `name`; none if no join waits.
    fn verdict(&self, name: &NodeName, now: Now) -> Option<Verdict> {
        let queue = self.joins.get(name)?;
        let first = queue.waiting.front()?;
        let Some(holder) = self.stored.view.member_named(name.as_str()) else { return Some(Verdict::LetIn) };
        if first.own_node {
            return Some(Verdict::LetIn);
        }
        if self.stored.view.is_dead(holder.session) {
            return Some(Verdict::LetIn);
        }
        let life = self.lives.get(&holder.session.node).expect("every member has a life");
        let refuse = || Verdict::Refuse { address: holder.address.clone() };
        Some(match life.presence {
            Presence::Left => Verdict::LetIn,
            Presence::OwnNode => refuse(),
            // It may be the asker's own earlier life, killed before its link: only a link tells.
            Presence::Welcomed { at } if now < at + self.waits.welcomed => Verdict::Wait,
            Presence::Welcomed { .. } => Verdict::LetIn,
            // Its link may come up, or up again, any moment: a cut is no death.
            Presence::Loaded | Presence::Unlinked => match queue.inquiry {
                Inquiry::Open { until } | Inquiry::Asked { until } if now < until => Verdict::Wait,
                Inquiry::Open { .. } | Inquiry::Asked { .. } => Verdict::LetIn,
                Inquiry::Answered => refuse(),
            },
            Presence::Linked => match queue.inquiry {
                Inquiry::Open { .. } => Verdict::Ask { holder: holder.session },
                Inquiry::Asked { until } if now < until => Verdict::Wait,
                Inquiry::Asked { .. } => Verdict::LetIn,
                Inquiry::Answered => refuse(),
            },
        })
    }

    /// Takes the first join out; the next one starts its own inquiry.
    fn take_first(&mut self, name: &NodeName, now: Now) -> Option<Applicant> {
        let queue = self.joins.get_mut(name)?;
        queue.inquiry = Inquiry::Open { until: now + self.waits.probe };
        queue.waiting.pop_front()
    }

    fn let_in(&mut self, applicant: &Applicant, now: Now, out: &mut Vec<Output>) {
        let request = &applicant.request;
        let earlier = self.stored.view.member_named(request.name.as_str()).map(|member| member.session);
        let Some(session) = self.next_life(earlier) else {
            refuse(applicant, JoinRefusal::Exhausted { name: request.name.clone() }, out);
            return;
        };
        let next = self.next_range(Counter::Online);
        if let Some(seen) = request.seen.filter(|seen| *seen >= next) {
            refuse(applicant, JoinRefusal::StoreIsOld { seen, next }, out);
            return;
        }
        if self.scenes_with(session.node, request) > SCENES {
            refuse(applicant, JoinRefusal::Exhausted { name: request.name.clone() }, out);
            return;
        }
        if let Err(refusal) = self.check_scenes(session.node, request) {
            refuse(applicant, refusal, out);
            return;
        }
        let JoinRequest { name, address, admin, scenes, .. } = request.clone();
        let member = Member { session, name: name.clone(), address: address.clone(), admin };
        let mut writes = vec![Write::Member(member)];
        let given_up: Vec<_> = self.scenes_given_up(session.node, &scenes).cloned().collect();
        writes.extend(given_up.iter().map(|scene| Write::SceneGone(scene.id)));
        writes.extend(scenes.into_iter().map(|scene| {
            let SceneDeclaration { id, name, capacity } = scene;
            Write::Scene(ScenePlacement::declared(id, name, session.node, capacity))
        }));
        let earlier_alive = earlier.filter(|earlier| !self.stored.view.is_dead(*earlier));
        let is_over = applicant.own_node || !self.rules.keep(Rule::ReplacedLivesKeepTheirLease);
        if is_over {
            // The store was open there: with this process on it, that life is over.
            writes.extend(earlier_alive.map(Write::Dead));
        }
        self.commit(writes, out);
        if let Some(earlier) = earlier_alive.filter(|_| !is_over) {
            // It may still run somewhere, cut off, until its lease ends.
            let until = self.lives.get(&earlier.node).map_or(now + self.waits.lease, |life| life.lease_until);
            self.ending.insert(earlier, until);
        }
        let presence = if applicant.own_node { Presence::OwnNode } else { Presence::Welcomed { at: now } };
        self.lives.insert(session.node, Life::begin(presence, now + self.waits.lease));
        let lease_ms = u64::try_from(self.waits.lease.as_millis()).unwrap_or(u64::MAX);
        let reply = JoinReply::Welcome { session, view: self.told.clone(), lease_ms };
        // The others hear first, so that they know the newcomer by the time it dials them.
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        out.push(Output::JoinAnswer { ticket: applicant.ticket, reply });
        out.push(Output::Event(ManagerEvent::Joined { session, name, address, replaces: earlier }));
        out.extend(events_of_lost_scenes(given_up));
    }

    /// The life after `earlier`, or the first life of a new node; none if the numbers are used up.
    fn next_life(&self, earlier: Option<Session>) -> Option<Session> {
        if let Some(Session { node, incarnation }) = earlier {
            let rise = u32::from(self.rules.keep(Rule::LivesAreTold));
            return Some(Session { node, incarnation: Incarnation(incarnation.0.checked_add(rise)?) });
        }
        if self.stored.view.members.len() >= NODES {
            return None;
        }
        let highest = self.stored.view.members.keys().next_back().map_or(0, |node| node.0);
        Some(Session { node: NodeId(highest.checked_add(1)?), incarnation: Incarnation(1) })
    }

    /// How many scenes the cluster would have.
    fn scenes_with(&self, node: NodeId, request: &JoinRequest) -> usize {
        let elsewhere = self.stored.view.scenes.values().filter(|scene| scene.node != node).count();
        elsewhere + request.scenes.len()
    }

    /// Checks that no scene of the request has the number or the name of another scene.
    fn check_scenes(&self, node: NodeId, request: &JoinRequest) -> Result<(), JoinRefusal> {
        let elsewhere = || self.stored.view.scenes.values().filter(|scene| scene.node != node);
        let named = self.stored.view.present_scenes().filter(|scene| scene.node != node);
        let mut names: BTreeMap<&NodeName, SceneId> = named.map(|scene| (&scene.name, scene.id)).collect();
        let mut places: BTreeMap<SceneId, NodeId> = elsewhere().map(|scene| (scene.id, scene.node)).collect();
        for declared in &request.scenes {
            if declared.id >= SceneId::from(SCENE_NUMBERS_MADE) {
                return Err(JoinRefusal::SceneReserved { scene: declared.id });
            }
            if let Some(holder) = places.insert(declared.id, node) {
                let holder = self.stored.view.members.get(&holder).filter(|member| member.session.node != node);
                let node = holder.map_or_else(|| request.name.clone(), |member| member.name.clone());
                return Err(JoinRefusal::SceneTaken { scene: declared.id, node });
            }
            if let Some(scene) = names.insert(&declared.name, declared.id) {
                return Err(JoinRefusal::SceneNameTaken { name: declared.name.clone(), scene });
            }
        }
        Ok(())
    }

    /// Scenes placed on `node` that it no longer declares, or that were made in a life of it before.
    fn scenes_given_up(&self, node: NodeId, declared: &[SceneDeclaration]) -> impl Iterator<Item = &ScenePlacement> {
        let declared: BTreeSet<SceneId> = declared.iter().map(|scene| scene.id).collect();
        self.stored.view.scenes.values().filter(move |scene| scene.node == node && !declared.contains(&scene.id))
    }
}

fn refuse(applicant: &Applicant, refusal: JoinRefusal, out: &mut Vec<Output>) {
    let JoinRequest { name, address, .. } = applicant.request.clone();
    let reply = JoinReply::Refused(refusal.clone());
    out.push(Output::JoinAnswer { ticket: applicant.ticket, reply });
    out.push(Output::Event(ManagerEvent::JoinRefused { name, address, refusal }));
}
