//! The cluster as whoever drives it sees it: time, questions to scenes, messages to entities.
//!
//! Keeps: time passes here and nowhere else; whoever asks hears, or that it is over.

use std::time::Duration;

use slipgate_actors::router::{SendBatch, Sent, Waiting};
use slipgate_actors::scene::Question;
use slipgate_cluster::message::Payload;
use slipgate_cluster::{Own, View, router};
use slipgate_entity::OnlineId;
use slipgate_entity::game::Types;
use slipgate_proto::admin::SendReport;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::{GamePanic, Games, Shape};
use crate::cast::Staged;
use crate::cluster::{Cluster, TICK_US};
use crate::life::LifeIndex;
use crate::network::{Faults, NodeIndex};
use crate::plan::Plan;

/// A cluster with a game in it.
#[derive(Debug)]
pub struct World {
    pub(super) cluster: Cluster<Games>,
}

/// An answer that is to come.
#[derive(Debug)]
pub struct Pending<T> {
    /// Of whoever answers.
    life: LifeIndex,
    answer: oneshot::Receiver<T>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// None has come in the time given.
    Late,
    /// Whoever was to answer is gone.
    Gone,
}

impl World {
    /// A cluster all of whose nodes have joined. With a trace, every message is noted, which takes its time.
    ///
    /// # Panics
    ///
    /// If it does not come to be: a fault of the simulator.
    #[must_use]
    pub fn new(shape: Shape, seed: u64, is_traced: bool) -> Self {
        let plan = Plan {
            seed,
            nodes: u16::try_from(shape.nodes.len()).expect("a few nodes"),
            scenes_per_node: 0,
            capacity: CAPACITY,
            limits: shape.limits.clone(),
            waits: shape.waits,
            faults: Faults::default(),
            ticks: 0,
            script: Vec::new(),
            mutant: None,
        };
        let mut cluster = Cluster::of(Games::new(shape, seed), &plan, is_traced);
        cluster.network.spare_own();
        let mut world = Self { cluster };
        let is_ready = world.run_until(START, Self::is_ready);
        assert!(is_ready, "expected a cluster within {START:?}, found {:?}", world.cluster.unsettled());
        world
    }

    fn is_ready(&self) -> bool {
        let nodes = self.cluster.nodes.len();
        let are_linked = (0..nodes).all(|one| (one..nodes).all(|other| self.cluster.links.is_up(one, other)));
        let have_ids = self.cluster.living().all(|life| self.cluster.lives[life].stock.left() > 0);
        are_linked && have_ids && self.is_at_rest()
    }

    /// Since the first node has started.
    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_micros(self.cluster.now.0)
    }

    /// Milliseconds since 1970, as scenes tell them.
    #[must_use]
    pub fn unix_ms(&self) -> u64 {
        self.cluster.unix_ms()
    }

    /// The types that all nodes can host.
    #[must_use]
    pub fn types(&self) -> &Types {
        &self.cluster.cast.shape.types
    }

    /// Largest payload of a message.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.cluster.plan.limits.message_bytes
    }

    /// The cluster as the manager knows it.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.cluster.seat.disk.view
    }

    /// Lets a little time pass.
    pub fn tick(&mut self) {
        self.cluster.tick();
    }

    /// Lets time pass until something is so, at most so long. Whether it is.
    pub fn run_until(&mut self, limit: Duration, is_so: impl Fn(&Self) -> bool) -> bool {
        let end = self.now() + limit;
        loop {
            if is_so(self) {
                return true;
            }
            if self.now() >= end {
                return false;
            }
            self.tick();
        }
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now() + time;
        while self.now() < end {
            self.tick();
        }
    }

    /// Time between two ticks.
    #[must_use]
    pub fn tick_length() -> Duration {
        Duration::from_micros(TICK_US)
    }

    /// A number below `end`, which is not 0; the same in every run of a seed.
    pub fn roll(&mut self, end: u64) -> u64 {
        self.cluster.cast.dice.within(0..end)
    }

    /// Sends a message to an entity, as a tool does that is at the first node that can send.
    #[must_use]
    pub fn send(&mut self, entity: OnlineId, payload: Payload, waiting: Waiting) -> Option<Pending<Sent>> {
        let cluster = &mut self.cluster;
        let can_send = |life: &LifeIndex| !cluster.is_stopped(cluster.lives[*life].node) && cluster.may_act(*life);
        let life = cluster.living().find(can_send)?;
        let (reply, answer) = oneshot::channel();
        let now = cluster.clock(cluster.lives[life].node);
        let blank = SendReport { incarnation: cluster.lives[life].session.incarnation.0, ..SendReport::default() };
        let batch = SendBatch { messages: vec![(0, entity, payload)], waiting, reply };
        let (_, to_send) = cluster.batches(life).open(batch, blank, now);
        cluster.tell_router(life, router::Input::Send(to_send));
        cluster.batches(life).answer_ended(now);
        Some(Pending { life, answer })
    }

    /// Asks a scene, as a desk of its node does; none where that scene is not there, or its process stands still.
    #[must_use]
    pub fn ask<T>(&mut self, own: Own, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Option<Pending<T>> {
        let stage = self.cluster.stage_of(own)?;
        let life = self.cluster.stages[stage].life();
        if self.cluster.is_stopped(self.cluster.lives[life].node) {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        self.cluster.act(stage, |troupe| troupe.ask(question(reply)));
        Some(Pending { life, answer })
    }

    /// What has come of something that was asked, if anything has.
    pub fn look<T>(&self, pending: &mut Pending<T>) -> Option<Result<T, Unanswered>> {
        match pending.answer.try_recv() {
            Ok(answer) => Some(Ok(answer)),
            Err(TryRecvError::Empty) if !self.cluster.lives[pending.life].is_gone => None,
            Err(TryRecvError::Empty | TryRecvError::Closed) => Some(Err(Unanswered::Gone)),
        }
    }

    /// Lets time pass until an answer has come.
    ///
    /// # Errors
    ///
    /// If none comes.
    pub fn wait<T>(&mut self, mut pending: Pending<T>, limit: Duration) -> Result<T, Unanswered> {
        let end = self.now() + limit;
        loop {
            if let Some(told) = self.look(&mut pending) {
                return told;
            }
            if self.now() >= end {
                return Err(Unanswered::Late);
            }
            self.tick();
        }
    }

    /// The panics of game code since this was asked last.
    pub fn take_panics(&mut self) -> Vec<GamePanic> {
        std::mem::take(&mut self.cluster.cast.panics)
    }

    /// What has happened, for people.
    #[must_use]
    pub fn story(&self) -> &[String] {
        &self.cluster.cast.story
    }

    /// Every message and everything that has happened, if it is traced.
    #[must_use]
    pub fn trace(&mut self) -> Vec<String> {
        self.cluster.trace.take().unwrap_or_default()
    }

    pub(super) fn node(&self, name: &str) -> NodeIndex {
        let nodes = &self.cluster.cast.shape.nodes;
        let known = || nodes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let found = nodes.iter().position(|(node, _)| node.as_str() == name);
        found.unwrap_or_else(|| panic!("there is no node {name:?}; there are {}", known()))
    }
}

/// Entities that a scene may hold.
const CAPACITY: u32 = 10_000;
/// How long a cluster may take to come to be: some joins.
const START: Duration = Duration::from_secs(60);
