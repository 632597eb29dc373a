//! The links between nodes: who hears when one is up, when it is down, and when it is lost.
//!
//! A link is up where both lives know each other and the network carries both ways. A short loss is forgiven; then
//! the scenes of both hear that the other is lost.

use slipgate_cluster::manager::Input;
use slipgate_cluster::scene::Input as SceneInput;
use slipgate_cluster::{Now, Session};

use crate::cast::{Cast, Staged};
use crate::cluster::{Cluster, SEAT};
use crate::life::{Doing, LifeIndex};
use crate::network::NodeIndex;

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Never up, or told to be lost.
    #[default]
    Lost,
    /// The network carries since then.
    Dialling {
        since: Now,
    },
    Up,
    /// It does not, since then.
    Down {
        since: Now,
    },
}

/// A pair of nodes, and of which lives the link is.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    of: Option<[Session; 2]>,
    state: State,
}

#[derive(Debug)]
pub(crate) struct Links {
    nodes: usize,
    all: Vec<Link>,
}

impl Links {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes, all: vec![Link::default(); nodes * nodes] }
    }

    /// Whether nobody should wait for the other.
    pub(crate) fn is_lost(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let link = || &self.all[one.min(other) * self.nodes + one.max(other)];
        one != other && matches!(link().state, State::Lost | State::Dialling { .. })
    }

    pub(crate) fn is_up(&self, one: NodeIndex, other: NodeIndex) -> bool {
        one == other || matches!(self.all[one.min(other) * self.nodes + one.max(other)].state, State::Up)
    }
}

impl<C: Cast> Cluster<C> {
    pub(crate) fn look_at_links(&mut self) {
        for one in 0..self.nodes.len() {
            for other in one + 1..self.nodes.len() {
                self.look_at_link(one, other);
            }
        }
    }

    fn look_at_link(&mut self, one: NodeIndex, other: NodeIndex) {
        for (here, there) in [(one, other), (other, one)] {
            self.look_at_stranger(here, there);
        }
        let at = one * self.links.nodes + other;
        let Link { of, state } = self.links.all[at];
        let lives = self.acquainted(one, other).map(|lives| lives.map(|life| self.lives[life].session));
        if let (Some(before), true) = (of, lives != of && lives.is_some()) {
            // One of them has begun another life.
            self.link_down(before);
            self.link_lost(before);
            self.links.all[at] = Link { of: lives, state: State::Lost };
            return;
        }
        let Some(sessions) = lives.or(of) else { return };
        let carries = lives.is_some()
            && self.network.is_whole(one, other, self.now)
            && !self.is_stopped(one)
            && !self.is_stopped(other);
        let next = match (state, carries) {
            (State::Lost, true) => State::Dialling { since: self.now },
            (State::Dialling { since }, true) if self.now.since(since) >= DIAL_US => {
                self.link_up(sessions);
                State::Up
            }
            (State::Dialling { .. }, false) => State::Lost,
            (State::Up, false) => State::Down { since: self.now },
            (State::Down { since }, true) if self.now.since(since) < SILENCE_US => State::Up,
            (State::Down { .. }, true) => State::Dialling { since: self.now },
            (State::Down { since }, false) if self.now.since(since) >= LOST_US => {
                self.link_lost(sessions);
                State::Lost
            }
            (State::Down { since }, false) => {
                let before = self.now.since(since) - crate::cluster::TICK_US.min(self.now.since(since));
                if before < SILENCE_US && self.now.since(since) >= SILENCE_US {
                    self.link_down(sessions);
                }
                State::Down { since }
            }
            (state, _) => state,
        };
        self.links.all[at] = Link { of: Some(sessions), state: next };
    }

    /// Whoever shakes hands with a node that knows of a verdict on it hears so; and so does one without a lease that the
    /// manager's node has never heard of.
    fn look_at_stranger(&mut self, here: NodeIndex, there: NodeIndex) {
        let (Some(knows), Some(life)) = (self.life_at(here), self.life_at(there)) else { return };
        let carries = self.network.is_whole(here, there, self.now) && !self.is_stopped(here) && !self.is_stopped(there);
        let (view, session) = (self.lives[knows].member.view(), self.lives[life].session);
        let is_stranger = here == SEAT && !view.is_latest(session) && !self.may_act(life);
        if carries && (view.is_dead(session) || is_stranger) {
            self.end_life(life);
        }
    }

    fn life_at(&self, node: NodeIndex) -> Option<LifeIndex> {
        match self.nodes[node].doing {
            Doing::Living(life) => Some(life),
            Doing::Down { .. } | Doing::Joining { .. } => None,
        }
    }

    /// The lives of two nodes, if each knows of the other.
    fn acquainted(&self, one: NodeIndex, other: NodeIndex) -> Option<[LifeIndex; 2]> {
        let (one, other) = (self.life_at(one)?, self.life_at(other)?);
        let knows = |one: LifeIndex, other: LifeIndex| {
            let (view, session) = (self.lives[one].member.view(), self.lives[other].session);
            view.is_live(session)
        };
        (knows(one, other) && knows(other, one)).then_some([one, other])
    }

    fn link_up(&mut self, sessions: [Session; 2]) {
        C::meet(self, sessions);
        self.tell_seat_of_link(sessions, Input::LinkUp);
    }

    fn link_down(&mut self, sessions: [Session; 2]) {
        self.tell_seat_of_link(sessions, Input::LinkDown);
    }

    fn tell_seat_of_link(&mut self, sessions: [Session; 2], news: fn(Session) -> Input) {
        let is_at_seat = |session: Session| self.numbers.get(&session.node) == Some(&SEAT);
        if let Some(&other) = sessions.iter().find(|session| !is_at_seat(**session))
            && sessions.iter().any(|session| is_at_seat(*session))
        {
            self.seat.tell(news(other));
        }
    }

    fn link_lost(&mut self, [one, other]: [Session; 2]) {
        for (here, gone) in [(one, other), (other, one)] {
            if let Some(life) = self.life_of(here) {
                self.lose_peer(life, gone);
            }
        }
    }

    /// The scenes of a life hear that another is lost.
    pub(crate) fn lose_peer(&mut self, life: LifeIndex, gone: Session) {
        for stage in 0..self.stages.len() {
            if self.stages[stage].life() == life {
                C::tell(self, stage, SceneInput::PeerLost(gone));
            }
        }
    }

    /// A manager that has just begun hears of every link that is up.
    pub(crate) fn tell_seat_of_links(&mut self) {
        for other in 1..self.nodes.len() {
            if self.links.is_up(SEAT, other)
                && let Some(sessions) = self.links.all[SEAT * self.links.nodes + other].of
            {
                self.link_up(sessions);
            }
        }
    }
}

/// From the moment that the network carries until a link is up.
const DIAL_US: u64 = 20_000;
/// Silence after which a link is down.
const SILENCE_US: u64 = 100_000;
/// Silence after which nobody should wait for the other.
const LOST_US: u64 = 300_000;
