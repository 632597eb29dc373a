//! The shells of a node's machines but for its scenes: each is given an input, and what it orders is done.

use std::sync::Arc;

use slipgate_cluster::directory::{self, HomeEvent};
use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::manager::{self, JoinReply, JoinRequest, ManagerReply, ManagerRequest, Ticket};
use slipgate_cluster::member::{self, Welcome};
use slipgate_cluster::message::{Control, ManagerMessage, Message};
use slipgate_cluster::scene::answer_for_a_missing_scene;
use slipgate_cluster::{Envelope, Now, Own, Place, Port, Session, View, globals, range, router};
use slipgate_entity::OnlineId;

use crate::cast::{Cast, Staged};
use crate::cluster::{Cluster, SEAT};
use crate::invariants::{bounded_memory, progress_after_faults};
use crate::life::{Doing, Life, LifeIndex};
use crate::network::{Load, NodeIndex};
use crate::walker::Speech;

impl<C: Cast> Cluster<C> {
    /// Time passes for a life: as its shells have their timers.
    pub(crate) fn tick_life(&mut self, life: LifeIndex) {
        self.tell_member(life, member::Input::Tick);
        if self.lives[life].is_gone {
            return;
        }
        if !self.lives[life].is_retiring {
            self.tell_stock(life, range::Input::Tick);
        }
        self.tell_directory(life, directory::Input::Tick);
        self.tell_router(life, router::Input::Tick);
        C::tick_life(self, life);
        for stage in 0..self.stages.len() {
            if self.stages[stage].life() == life {
                C::tick(self, stage);
            }
        }
        self.tick_globals(life);
        let Life { router, adopted, .. } = &self.lives[life];
        self.demand("bounded_memory", bounded_memory::check_router(router.waiting(), *adopted, &self.plan.limits));
    }

    pub(crate) fn hear_join(&mut self, from: NodeIndex, to: NodeIndex, ticket: Ticket, request: JoinRequest) {
        if to == SEAT && self.seat.is_open() {
            self.play_join(from);
            self.seat.joins.insert(ticket, from);
            self.seat.tell(manager::Input::Join { ticket, own_node: from == SEAT, request });
            self.work_at_seat();
        }
    }

    pub(crate) fn hear_welcome(&mut self, to: NodeIndex, ticket: Ticket, reply: JoinReply) {
        let Doing::Joining { ticket: wanted, asked, .. } = self.nodes[to].doing else { return };
        if ticket != wanted {
            return;
        }
        match reply {
            JoinReply::Welcome { session, view, lease_ms } => {
                let lease = std::time::Duration::from_millis(lease_ms);
                let seed = self.dice.roll();
                let welcome = Welcome { session, view, lease, asked };
                self.begin(Life::new(to, welcome, &self.plan, seed));
                if to == SEAT {
                    self.tell_seat_of_links();
                }
            }
            JoinReply::Refused(refusal) => {
                self.history.count("join refused");
                self.note(|| format!("node {to} is not let in: {refusal}"));
                let until = Now(self.now.0 + REFUSED_US);
                self.nodes[to].doing = Doing::Down { until };
            }
        }
    }

    pub(crate) fn hear_mail(&mut self, Envelope { from, to, message }: Envelope) {
        let Some(life) = self.life_of(to.session) else { return };
        self.note(|| format!("{from:?} -> {to:?}: {message:?}"));
        match (to.port, message) {
            (Port::Scene(scene), message) => match self.stage_of(Own::new(to.session, scene)) {
                Some(stage) => C::hear(self, stage, from, message),
                None => {
                    if let Some(answer) = answer_for_a_missing_scene(Envelope { from, to, message }) {
                        self.send(answer.from, answer.to, answer.message);
                    }
                }
            },
            (Port::Router(_), Message::Control(Control::Reply { entity, payload })) => {
                C::replied(self, life, entity, payload);
            }
            (Port::Router(_), Message::Control(control)) => {
                self.tell_router(life, router::Input::Heard { from, control });
            }
            (Port::Directory, Message::Control(control @ (Control::Globals { .. } | Control::GlobalsNoted { .. }))) => {
                self.tell_globals(life, globals::Input::Heard { from, control });
            }
            (Port::Directory, Message::Control(control)) => {
                self.tell_directory(life, directory::Input::Heard { from, control });
            }
            (Port::Directory, Message::Manager(ManagerMessage::Reply(reply))) => {
                if let ManagerReply::Range { session, request, counter, range } = reply
                    && !self.lives[life].is_retiring
                {
                    self.tell_stock(life, range::Input::Reply { session, request, counter, range });
                }
            }
            (Port::Member, Message::Manager(ManagerMessage::Reply(reply))) => {
                self.tell_member(life, member::Input::Reply(reply));
            }
            (Port::Manager, Message::Manager(ManagerMessage::Request(request))) => {
                self.seat.tell(manager::Input::Request { from: from.session, request });
                self.work_at_seat();
            }
            (to, message) => panic!("expected an actor of the simulation, got {message:?} to {to:?}"),
        }
    }

    /// The manager does what it can, and what it orders is done.
    pub(crate) fn work_at_seat(&mut self) {
        loop {
            let orders = self.seat.work(self.clock(SEAT));
            if orders.is_empty() {
                break;
            }
            for order in orders {
                self.obey_manager(order);
            }
        }
        let over: Vec<_> = (0..self.lives.len())
            .filter(|&life| !self.lives[life].is_mourned && self.seat.disk.view.is_dead(self.lives[life].session))
            .collect();
        for life in over {
            if !self.lives[life].is_gone {
                self.history.count("verdict on one that is there");
            }
            self.mourn(life);
        }
    }

    fn obey_manager(&mut self, order: manager::Output) {
        match order {
            manager::Output::Persist(_) => unreachable!("writes were taken out"),
            manager::Output::Tell { to, reply } => self.tell_from_seat(to, reply),
            manager::Output::TellAll(reply) => {
                let mut sessions: Vec<_> = self.seat.disk.view.members.values().map(|member| member.session).collect();
                sessions.sort_unstable();
                for session in sessions {
                    self.tell_from_seat(session, reply.clone());
                }
            }
            manager::Output::JoinAnswer { ticket, reply } => {
                let node = self.seat.joins.remove(&ticket);
                let waits = |node: NodeIndex| matches!(self.nodes[node].doing, Doing::Joining { ticket: wanted, .. } if wanted == ticket);
                match node.filter(|&node| waits(node)) {
                    Some(SEAT) => self.hear_welcome(SEAT, ticket, reply),
                    Some(node) => self.network.send(SEAT, node, Load::Welcome { ticket, reply }, self.now),
                    None => {
                        if let JoinReply::Welcome { session, .. } = reply {
                            self.seat.tell(manager::Input::Left(session));
                        }
                    }
                }
            }
            manager::Output::Probe(session) => {
                if let Some(&node) = self.numbers.get(&session.node)
                    && self.links.is_up(SEAT, node)
                    && self.life_of(session).is_some()
                {
                    self.seat.tell(manager::Input::ProbeAnswered(session));
                }
            }
            manager::Output::Event(event) => {
                self.note(|| format!("manager: {event:?}"));
                self.play_manager(&event);
            }
        }
    }

    fn tell_from_seat(&mut self, to: Session, reply: ManagerReply) {
        if let ManagerReply::Range { session, request, range, .. } = reply {
            let verdict = self.history.issued.range(range, session, request);
            self.demand("ids_never_reissued", verdict);
        }
        let port = match reply {
            ManagerReply::Range { .. } => Port::Directory,
            ManagerReply::Scene { .. } => Port::Admin,
            ManagerReply::Renewed { .. } | ManagerReply::NotMember { .. } | ManagerReply::View(_) => Port::Member,
        };
        let Doing::Living(life) = self.nodes[SEAT].doing else { return };
        let from = self.lives[life].place(Port::Manager);
        self.send(from, Place { session: to, port }, Message::Manager(ManagerMessage::Reply(reply)));
    }

    fn ask_manager(&mut self, life: LifeIndex, port: Port, request: ManagerRequest) {
        let view = self.lives[life].member.view();
        let seat = view.members.values().find(|member| self.numbers.get(&member.session.node) == Some(&SEAT));
        if let Some(session) = seat.map(|member| member.session) {
            let (from, to) = (self.lives[life].place(port), Place { session, port: Port::Manager });
            self.send(from, to, Message::Manager(ManagerMessage::Request(request)));
        }
    }

    pub(crate) fn tell_member(&mut self, life: LifeIndex, input: member::Input) {
        let mut out = Vec::new();
        let now = self.clock(self.lives[life].node);
        self.lives[life].member.handle(input, now, &mut out);
        self.events += 1;
        for output in out {
            match output {
                member::Output::Ask(request) => self.ask_manager(life, Port::Member, request),
                member::Output::View(view) => self.take_view(life, &view),
                member::Output::Superseded => self.end_life(life),
            }
        }
    }

    /// A life hears that it is over: its process begins another one.
    pub(crate) fn end_life(&mut self, life: LifeIndex) {
        self.history.count("superseded");
        self.play_superseded(life);
        self.mourn(life);
        self.lives[life].is_gone = true;
        let until = Now(self.now.0 + RESTART_US);
        self.nodes[self.lives[life].node].doing = Doing::Down { until };
    }

    /// A life takes a newer view: its home at once, its scenes and its router when they are next given something.
    pub(crate) fn take_view(&mut self, life: LifeIndex, view: &Arc<View>) {
        let (session, node) = (self.lives[life].session, self.lives[life].node);
        self.note(|| format!("{session:?} takes view {}: {:?}", view.version, view.homes));
        let highest = view.highest_range();
        let seen = &mut self.nodes[node].seen;
        *seen = highest.max(*seen);
        self.tell_directory_all(life, None);
        let dead: Vec<_> =
            self.lives.iter().map(|life| life.session).filter(|session| view.is_dead(*session)).collect();
        for gone in dead {
            self.lose_peer(life, gone);
        }
    }

    fn tell_stock(&mut self, life: LifeIndex, input: range::Input) {
        let mut out = Vec::new();
        let now = self.clock(self.lives[life].node);
        self.lives[life].stock.handle(input, now, &mut out);
        self.events += 1;
        for output in out {
            match output {
                range::Output::Ask(request) => self.ask_manager(life, Port::Directory, request),
                range::Output::Installed { range } => {
                    self.tell_directory(life, directory::Input::Opened { range });
                    let at = &mut self.lives[life];
                    if !at.directory.issues(range) {
                        at.stock.surrender();
                        self.history.count("range passed on before its grant");
                    }
                }
                range::Output::Refused { .. } => self.history.count("range refused"),
            }
        }
    }

    pub(crate) fn tell_directory(&mut self, life: LifeIndex, input: directory::Input) {
        self.tell_directory_all(life, Some(input));
    }

    /// The latest view first, as the shell does.
    fn tell_directory_all(&mut self, life: LifeIndex, input: Option<directory::Input>) {
        let (mut out, mut may_change) = (Vec::new(), false);
        let now = self.clock(self.lives[life].node);
        let at = &mut self.lives[life];
        let view = at.member.view();
        if view.version > at.directory_view {
            at.directory_view = view.version;
            at.directory.handle(directory::Input::View(view.clone()), now, &mut out);
            self.events += 1;
            may_change = true;
        }
        if let Some(input) = input {
            if let directory::Input::Heard { control: Control::Bequest { range, term, legacy, .. }, .. } = &input
                && matches!(legacy, Legacy::Page { more: true, .. })
            {
                self.history.begun.insert((*range, *term));
            }
            may_change |= !matches!(input, directory::Input::Tick);
            at.directory.handle(input, now, &mut out);
            self.events += 1;
        }
        // Time alone changes no record without a word.
        may_change |= !out.is_empty();
        let me = at.place(Port::Directory);
        for output in out {
            match output {
                directory::Output::Tell { to, control } => self.send_noted(me, to, Message::Control(control)),
                directory::Output::Ask(request) => self.ask_manager(life, Port::Directory, request),
                directory::Output::Lost(lost) => {
                    self.note(|| format!("{me:?}: {lost:?}"));
                    self.history.count("lost by name");
                    self.play_lost(life, &lost);
                    C::lose(self, &lost);
                }
                directory::Output::GivenAway => self.play_given_away(life),
                directory::Output::Event(event) => self.home_event(me, &event),
            }
        }
        if may_change {
            self.look_at_home(life);
        }
    }

    fn home_event(&mut self, me: Place, event: &HomeEvent) {
        self.note(|| format!("{me:?}: {event:?}"));
        self.play_home_event(me, event);
        self.history.count(match event {
            HomeEvent::Rebuilt { .. } => "rebuilt",
            HomeEvent::Inherited { .. } => "handed over",
            HomeEvent::Rebuilding { range, term, .. } if self.history.begun.contains(&(*range, *term)) => {
                "hand-over cut short"
            }
            HomeEvent::Rebuilding { range, .. } if self.was_alive(*range) => "not complete when passed on",
            HomeEvent::Rebuilding { .. } => "rebuilding",
            HomeEvent::Named { .. } => "named by a witness",
            HomeEvent::Bequeathed { .. } => "bequeathed",
        });
    }

    /// Whether the home before the present one of a range is there.
    fn was_alive(&self, range: slipgate_entity::RangeId) -> bool {
        let before = self.seat.disk.view.homes.get(&range).and_then(|home| home.before);
        before.is_some_and(|session| self.life_of(session).is_some())
    }

    pub(crate) fn tell_router(&mut self, life: LifeIndex, input: router::Input) {
        if !self.may_act(life) {
            return;
        }
        let mut out = Vec::new();
        let now = self.clock(self.lives[life].node);
        let at = &mut self.lives[life];
        let view = at.member.view();
        if input == router::Input::Tick && view.version > at.router_view {
            at.router_view = view.version;
            at.router.handle(router::Input::View(view.clone()), now, &mut out);
        }
        at.router.handle(input, now, &mut out);
        self.events += 1;
        let me = at.place(Port::Router(0));
        for output in out {
            C::told(self, life, &output);
            self.play_tool(life, &output);
            match output {
                router::Output::Data { to, data } => self.send_noted(me, to.into(), Message::Data(data)),
                router::Output::Close { to, entity, stream, sender } => {
                    self.history.count("streams closed");
                    self.send_noted(me, to.into(), Message::Control(Control::Close { entity, stream, sender }));
                }
                router::Output::AskHome { entity, nonce } => {
                    if let Some(home) = self.lives[life].member.view().home_of(entity.range()) {
                        self.send_noted(me, home, Message::Control(Control::Query { entity, nonce }));
                    }
                }
                router::Output::Accepted(_)
                | router::Output::Busy(_)
                | router::Output::Applied(_)
                | router::Output::Dead(_)
                | router::Output::Unknown(_)
                | router::Output::Lost(_)
                | router::Output::Failed(_)
                | router::Output::Parked(_) => {}
            }
        }
    }

    /// A fresh id of a life, owned by one of its scenes; none while there is none in stock.
    pub(crate) fn register(&mut self, stage: usize, label: Option<String>) -> Option<OnlineId> {
        let (life, owner) = (self.stages[stage].life(), self.stages[stage].me());
        self.tell_directory_all(life, None);
        let now = self.clock(self.lives[life].node);
        let at = &mut self.lives[life];
        let entity = at.stock.take().ok()?;
        if !at.directory.issues(entity.range()) {
            // The range was given away, and this session goes on after all: it needs another one.
            at.stock.surrender();
            return None;
        }
        at.directory.handle(directory::Input::Registered { entity, owner, label }, now, &mut Vec::new());
        self.play_born(life, entity);
        let verdict = self.history.issued.id(entity);
        self.demand("ids_never_reissued", verdict);
        self.history.entities.push(entity);
        Some(entity)
    }

    /// Sends; whoever looks on sees it first.
    pub(crate) fn send_noted(&mut self, from: Place, to: Place, message: Message) {
        C::look_at(self, &message);
        self.send(from, to, message);
    }
}

impl Cluster {
    /// One that was despawned may come back, where all who knew are gone and a late copy is not.
    pub(crate) fn check_dead(&self, number: u64, receiver: OnlineId) {
        let record = self.record(receiver).filter(|_| !self.history.may_be_lost(receiver));
        self.demand("progress_after_faults", progress_after_faults::check_dead(number, record.as_ref()));
    }

    /// Only whom the end of a life has touched may be lost.
    pub(crate) fn called_lost(&mut self, lost: &directory::Lost) {
        let may_be = self.history.may_be_lost(lost.entity);
        let verdict = if may_be { Ok(()) } else { Err(format!("{lost:?}, though no end of a life has touched it")) };
        self.demand("progress_after_faults", verdict);
        self.history.named.insert(lost.entity);
    }

    /// Notes what the words of a letter say of an entity: that its streams begin anew, or that it has been despawned.
    pub(crate) fn note_letter(&mut self, message: &Message) {
        if let Message::Data(data) = message {
            if data.hops > 0 {
                self.history.count("messages handed on");
            }
            let verdict = self.history.sent(data, Speech::read(&data.payload).number);
            self.demand("streams_in_order", verdict);
        }
        if let Message::Control(Control::Ack { stream, upto, .. }) = message {
            self.demand("acknowledged_is_kept", self.history.acknowledges(*stream, *upto));
        }
        if let Message::Control(Control::Closed { .. }) = message {
            self.history.count("closed");
        }
        if let Message::Control(Control::RecordIs { entity, record, .. }) = message {
            if record.base > slipgate_cluster::Epoch::ZERO && self.history.reset.insert(*entity) {
                self.history.count("streams reset");
                // One that was despawned may come back, where all who knew are dead and a late copy is not.
                let may_be = self.history.may_be_lost(*entity);
                let verdict = if may_be {
                    Ok(())
                } else {
                    Err(format!("{entity} is reset, though no end of a life has touched it"))
                };
                self.demand("progress_after_faults", verdict);
            }
            // An id without a record has none of a term's later epochs.
            if record.owner.is_none() && !record.lost && record.epoch.previous().is_some() {
                self.history.despawned.insert(*entity);
            }
        }
    }
}

/// From the refusal of a join to the next try.
const REFUSED_US: u64 = 200_000;
/// From the end of a life to the next try, in the same process or another one.
const RESTART_US: u64 = 100_000;
