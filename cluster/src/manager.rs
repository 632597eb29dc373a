//! Who is a member, under which incarnation; which ranges are issued; which scenes there are, where they and homes are.
//!
//! One manager runs in a cluster. It is off the data path: while it restarts, entities keep
//! working, and only joins, new ranges and verdicts wait.
//!
//! ```text
//!   Join ----------> is the holder of the name alive? --Probe--> holder
//!                        | no, or no answer in time      | ProbeAnswered
//!                        v                               v
//!   Persist, TellAll(View), Welcome(incarnation + 1)    Refused(NameTaken)
//!
//!   Range(request) --> same number as the last: the same range again
//!                      higher: Persist, TellAll(View), Range      lower: nothing
//!
//!   OpenScene, CloseScene, SceneIs --> Persist, TellAll(View), Scene      (see `scenes`)
//! ```
//!
//! Outputs are orders, and their order counts: a `Persist` stands before every answer and every view
//! that depends on it. Whoever performs them stops for good at a write that fails, and performs
//! nothing after it; several writes may be put together, if all of them go before all else.
//!
//! Keeps: a range is issued once; an incarnation is given once; the version of the view never falls;
//! all three over restarts of the manager at any moment. Only the latest life of a node gets ranges
//! and renewals. A name has one member. A range whose home is dead has another one, in the next term, in
//! the same commit as the verdict, or with nobody there, as whatever makes somebody able to be it.
//! Leaves out: who is in a scene, and moving them out of one that closes; whether an address or its text is sound: the
//! handshake checks that.

mod event;
mod grant;
mod heirs;
mod join;
mod life;
mod message;
mod scenes;
mod state;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use event::{ManagerEvent, SceneEnd};
use join::Queue;
pub use life::Waits;
use life::{Life, Presence};
pub use message::{
    Counter, JoinRefusal, JoinReply, JoinRequest, ManagerReply, ManagerRequest, SceneDeclaration, SceneNews,
    SceneRefusal,
};
use scenes::MadeLately;
pub use state::{Grant, Stored, Write};

use crate::{Incarnation, NodeId, NodeName, Now, Rule, Rules, Session, View};

/// Names a join while it waits; made by the shell, meaningless outside its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What happens to the manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A node asks to become a member.
    Join {
        /// Names the join until it is answered; fresh.
        ticket: Ticket,
        /// Whether it is the node that runs this manager. Nobody else can be that node, so it is
        /// decided at once.
        own_node: bool,
        /// What it asks.
        request: JoinRequest,
    },
    /// Whoever asked to join is gone and waits no more.
    Withdrawn {
        /// Its ticket.
        ticket: Ticket,
    },
    /// A member asks something.
    Request {
        /// The session whose link it came over.
        from: Session,
        /// What it asks.
        request: ManagerRequest,
    },
    /// A link to a session is up.
    LinkUp(Session),
    /// The link to a session is down.
    LinkDown(Session),
    /// A session answered a probe over its link.
    ProbeAnswered(Session),
    /// A session said goodbye: it stops as planned. Also: its welcome reached nobody. It is dead at once, or as soon as
    /// the lease of an earlier life of its node has ended.
    Left(Session),
    /// Time passed.
    Tick,
    /// For longer than the margin this manager's process was stopped, and heard nobody. Comes before the next
    /// [`Tick`](Self::Tick).
    Slept,
}

/// What the manager orders, to be performed in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Puts the writes on disk, all or none, before anything after it is performed.
    Persist(Vec<Write>),
    /// Tells one session.
    Tell {
        /// Whom.
        to: Session,
        /// What.
        reply: ManagerReply,
    },
    /// Tells every session with a link, and the own node.
    TellAll(ManagerReply),
    /// Answers a join.
    JoinAnswer {
        /// Which one.
        ticket: Ticket,
        /// The answer.
        reply: JoinReply,
    },
    /// Asks a session over its link whether it lives.
    Probe(Session),
    /// Reports something for logs.
    Event(ManagerEvent),
}

/// The manager of a cluster.
#[derive(Debug)]
pub struct Manager {
    stored: Stored,
    told: Arc<View>,
    waits: Waits,
    lives: BTreeMap<NodeId, Life>,
    /// Superseded lives without a verdict: when their leases end.
    ending: BTreeMap<Session, Now>,
    joins: BTreeMap<NodeName, Queue>,
    made_lately: MadeLately,
    rules: Rules,
}

impl Manager {
    /// Continues from what is on disk; from nothing, if `stored` is the default.
    ///
    /// Every stored member gets a whole lease anew: what it renewed before is not known.
    #[must_use]
    pub fn load(stored: Stored, waits: Waits, now: Now) -> Self {
        let life = Life::begin(Presence::Loaded, now + waits.lease);
        let lives = stored.view.members.keys().map(|node| (*node, life)).collect();
        let earlier = stored.view.members.values().filter_map(|member| {
            let Session { node, incarnation } = member.session;
            let before = Session { node, incarnation: Incarnation(incarnation.0.checked_sub(1)?) };
            (before.incarnation.0 > 0 && !stored.view.is_dead(before)).then_some((before, now + waits.lease))
        });
        let ending = earlier.collect();
        Self {
            told: Arc::new(stored.view.clone()),
            stored,
            waits,
            lives,
            ending,
            joins: BTreeMap::new(),
            made_lately: MadeLately::default(),
            rules: Rules::default(),
        }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The cluster as it was last told.
    #[must_use]
    pub fn view(&self) -> &Arc<View> {
        &self.told
    }

    /// Takes one input and appends what is to be done.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Join { ticket, own_node, request } => {
                self.ask_to_join(join::Applicant { ticket, own_node, request }, now, out);
            }
            Input::Withdrawn { ticket } => self.withdraw(ticket, now, out),
            Input::Request { from, request } => self.answer(from, &request, now, out),
            Input::LinkUp(session) => self.saw(session, Presence::Linked, now, out),
            Input::LinkDown(session) => self.saw(session, Presence::Unlinked, now, out),
            Input::ProbeAnswered(session) => self.probe_answered(session, now, out),
            Input::Left(session) => self.saw(session, Presence::Left, now, out),
            Input::Tick => {
                self.end_leases(now, out);
                self.decide_all(now, out);
            }
            Input::Slept if !self.rules.keep(Rule::SleepersGiveLeasesAnew) => {}
            Input::Slept => self.begin_leases_anew(now),
        }
    }

    /// Makes changes, names another home for every range whose home is dead by them, raises the version, and
    /// orders all of it onto the disk.
    fn commit(&mut self, mut writes: Vec<Write>, out: &mut Vec<Output>) {
        writes.iter().for_each(|write| self.stored.apply(write));
        let view = &self.stored.view;
        let mut further: Vec<_> = self.heirs(|home| view.is_dead(home.session)).into_iter().map(Write::Home).collect();
        further.push(Write::Version(view.version + 1));
        further.iter().for_each(|write| self.stored.apply(write));
        writes.append(&mut further);
        self.told = Arc::new(self.stored.view.clone());
        let named = heirs::events(&writes);
        out.push(Output::Persist(writes));
        out.extend(named);
    }

    fn latest_life(&mut self, session: Session) -> Option<&mut Life> {
        if !self.stored.view.is_live(session) {
            return None;
        }
        self.lives.get_mut(&session.node)
    }

    /// Notes what the network says of a session. A goodbye is final, and the own node needs no link.
    fn saw(&mut self, session: Session, presence: Presence, now: Now, out: &mut Vec<Output>) {
        let breaks = presence == Presence::Unlinked && !self.rules.keep(Rule::BrokenLinksAreNoVerdict);
        let Some(life) = self.latest_life(session) else { return };
        let leaves = presence == Presence::Left || breaks;
        match life.presence {
            Presence::Left => return,
            Presence::OwnNode if !leaves => return,
            Presence::OwnNode
            | Presence::Loaded
            | Presence::Welcomed { .. }
            | Presence::Linked
            | Presence::Unlinked => life.presence = presence,
        }
        if leaves {
            out.push(Output::Event(ManagerEvent::Left { session }));
            self.part_with(session, out);
        }
        if presence == Presence::Linked {
            // It may have missed a view while there was no link, and the manager's own new life with it.
            out.push(Output::Tell { to: session, reply: ManagerReply::View(self.told.clone()) });
        }
        self.decide_held_by(session, now, out);
    }

    /// A session has said goodbye. A verdict is on all lives up to it: an earlier one that may still run, cut off, has
    /// its lease first. Until then nobody is to be sent where nobody is any more.
    fn part_with(&mut self, session: Session, out: &mut Vec<Output>) {
        let earlier = self.ending.iter().filter(|(earlier, _)| earlier.node == session.node);
        let Some(until) = earlier.map(|(_, until)| *until).max() else { return self.bury(&[session], out) };
        let life = self.lives.get_mut(&session.node).expect("every member has a life");
        (life.lease_until, life.lease_ended) = (until, true);
        if !self.stored.view.is_draining(session) {
            self.commit(vec![Write::Draining(session)], out);
            out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        }
    }

    /// What was renewed while nobody listened is not known, as after a restart.
    fn begin_leases_anew(&mut self, now: Now) {
        let until = now + self.waits.lease;
        for life in self.lives.values_mut() {
            life.lease_until = life.lease_until.max(until);
            life.await_link_anew(now);
        }
        for end in self.ending.values_mut() {
            *end = until.max(*end);
        }
        for queue in self.joins.values_mut() {
            queue.wait_anew(now + self.waits.probe);
        }
    }

    /// Reports leases that ran out, each once; after the margin, declares the sessions dead.
    fn end_leases(&mut self, now: Now, out: &mut Vec<Output>) {
        let margin = self.waits.margin;
        let mut over: Vec<Session> =
            self.ending.iter().filter(|(_, until)| now >= **until + margin).map(|(session, _)| *session).collect();
        for (node, life) in &mut self.lives {
            let session = self.stored.view.members.get(node).expect("every life belongs to a member").session;
            if now < life.lease_until || self.stored.view.is_dead(session) {
                continue;
            }
            if !std::mem::replace(&mut life.lease_ended, true) {
                out.push(Output::Event(ManagerEvent::LeaseEnded { session }));
            }
            if now >= life.lease_until + margin {
                over.push(session);
            }
        }
        self.bury(&over, out);
    }

    /// The verdict: these sessions are over for good. On disk before anybody hears of it.
    fn bury(&mut self, sessions: &[Session], out: &mut Vec<Output>) {
        if sessions.is_empty() {
            return;
        }
        let scenes = self.scenes_that_end_with(sessions);
        let mut writes: Vec<_> = sessions.iter().map(|session| Write::Dead(*session)).collect();
        writes.extend(scenes.iter().map(|scene| Write::SceneGone(scene.id)));
        self.commit(writes, out);
        self.ending.retain(|session, _| !self.stored.view.is_dead(*session));
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        out.extend(sessions.iter().map(|session| Output::Event(ManagerEvent::Dead { session: *session })));
        out.extend(scenes::events_of_lost_scenes(scenes));
    }
}
