//! Moves everybody out of the scene: carries out what the evacuation's machine plans.
//!
//! ```text
//!   a turn: who came, who went, which moves have ended --> machine --> moves, as if a tool had asked for them
//! ```
//!
//! Keeps: a target is not told of any more while nobody is at its other end, or its node is about to stop.
//! Leaves out: which scenes are targets, and when everybody should go: the node knows.

use std::time::Duration;

use slipgate_cluster::evacuation::{Done, Evacuation, Input, Output, Progress, Settings, Target};
use slipgate_cluster::moves::{MoveError, Outcome};
use slipgate_cluster::scene::Answer;
use slipgate_cluster::{Now, Own};
use slipgate_entity::{OnlineId, TypeName};
use slipgate_proto::admin::KeptRow;

use super::SceneActor;
use super::question::Asker;
use crate::post::Post;

/// Everybody who lives in the scene is to leave.
#[derive(Debug, actix::Message)]
#[rtype(result = "()")]
pub enum Evacuate {
    /// Begin, in place of an earlier evacuation.
    Begin {
        /// Where to.
        targets: Vec<Target>,
        /// When to end at the latest.
        deadline: Now,
    },
    /// These are the targets now, and so much room they have.
    Retarget(Vec<Target>),
    /// Nobody else is to leave. What is under way ends by itself.
    Cancel,
    /// Whoever is left is to be despawned: by the evacuation that is under way, or by a new one.
    Despawn {
        /// When a new one is to end at the latest.
        deadline: Now,
    },
}

/// How far an evacuation is.
#[derive(Clone, Copy, Debug, Default)]
pub struct HowFar {
    /// Entities by where they are with it.
    pub progress: Progress,
    /// Whether it is over; so it is where none has begun.
    pub is_over: bool,
}

/// Who still lives in the scene.
#[derive(Clone, Debug, Default)]
pub struct Remaining {
    /// How many.
    pub count: u64,
    /// The first ones, and why they have not left.
    pub first: Vec<KeptRow>,
    /// Pauses of those that the evacuation has moved, in microseconds.
    pub pauses_us: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct Evacuating {
    machine: Evacuation,
    targets: Vec<Target>,
    /// Those that the machine was told of last.
    told: Vec<Own>,
    /// What the turn brought, for its end.
    news: Vec<Input>,
    pauses_us: Vec<u64>,
    done: Option<Done>,
}

impl Evacuating {
    fn new(targets: Vec<Target>, deadline: Now) -> Self {
        let settings = Settings { under_way_max: UNDER_WAY_MAX, deadline, wait_first: WAIT_FIRST, wait_max: WAIT_MAX };
        let machine = Evacuation::new(settings);
        Self { machine, targets, told: Vec::new(), news: Vec::new(), pauses_us: Vec::new(), done: None }
    }

    /// Hands the turn's news in. Returns who is to begin to leave, and where to; nowhere where it is to be despawned.
    fn go_on(&mut self, post: &Post, nobody_comes: bool, now: Now) -> Vec<(OnlineId, Option<Own>)> {
        let view = post.view();
        let is_open = |target: &&Target| !post.is_gone(target.own.session) && !view.is_draining(target.own.session);
        let open: Vec<Target> = self.targets.iter().filter(is_open).copied().collect();
        let names: Vec<Own> = open.iter().map(|target| target.own).collect();
        let mut inputs = Vec::new();
        if names != self.told {
            self.told = names;
            inputs.push(Input::Targets(open));
        }
        inputs.append(&mut self.news);
        inputs.push(if nobody_comes { Input::Settled } else { Input::Tick });
        let mut out = Vec::new();
        for input in inputs {
            self.machine.handle(input, now, &mut out);
        }
        let mut orders = Vec::new();
        for output in out {
            match output {
                Output::Move { entity, to } => orders.push((entity, Some(to))),
                Output::Despawn(entity) => orders.push((entity, None)),
                Output::Done(done) => self.done = Some(done),
            }
        }
        orders
    }

    fn how_far(&self) -> HowFar {
        let mut progress = self.machine.progress();
        if let Some(Done { moved, gone, kept }) = &self.done {
            progress = Progress { moved: *moved, gone: *gone, kept: kept.len() as u64, ..Progress::default() };
        }
        HowFar { progress, is_over: self.done.is_some() }
    }
}

impl actix::Handler<Evacuate> for SceneActor {
    type Result = ();

    fn handle(&mut self, evacuate: Evacuate, _: &mut actix::Context<Self>) {
        match evacuate {
            Evacuate::Begin { targets, deadline } => self.begin_evacuation(targets, deadline),
            Evacuate::Retarget(targets) => {
                if let Some(evacuating) = &mut self.evacuating {
                    evacuating.targets = targets;
                    // Told anew although they are the same: they have other room now.
                    evacuating.told.clear();
                }
            }
            Evacuate::Cancel => self.news(Input::Cancel),
            Evacuate::Despawn { deadline } => {
                if self.evacuating.as_ref().is_none_or(|evacuating| evacuating.done.is_some()) {
                    self.begin_evacuation(Vec::new(), deadline);
                }
                self.news(Input::Despawn);
            }
        }
        self.turn([]);
    }
}

impl SceneActor {
    fn begin_evacuation(&mut self, targets: Vec<Target>, deadline: Now) {
        let mut evacuating = Evacuating::new(targets, deadline);
        let seen = self.machine.entities().filter_map(|entity| self.seen(entity));
        evacuating.news.extend(seen);
        self.evacuating = Some(evacuating);
        self.told.evacuated = false;
    }

    /// Something that an evacuation should know at the end of the turn.
    pub(super) fn news(&mut self, input: Input) {
        if let Some(evacuating) = &mut self.evacuating {
            evacuating.news.push(input);
        }
    }

    /// Somebody lives here now.
    pub(super) fn news_of(&mut self, entity: OnlineId) {
        if self.evacuating.is_some()
            && let Some(seen) = self.seen(entity)
        {
            self.news(seen);
        }
    }

    fn seen(&self, entity: OnlineId) -> Option<Input> {
        let type_name: TypeName = self.machine.stand(entity)?.identity.type_name;
        Some(Input::Seen { entity, type_name })
    }

    /// A move or a despawn that the evacuation ordered has ended.
    pub(super) fn leave_ended(&mut self, entity: OnlineId, answer: Answer) {
        let Some(evacuating) = &mut self.evacuating else { return };
        match answer {
            Answer::Moved(done) => {
                if matches!(done.outcome, Outcome::Moved { .. }) {
                    evacuating.pauses_us.push(done.cost.pause_us);
                }
                evacuating.news.push(Input::MoveEnded { entity, ended: Ok(done.outcome) });
            }
            Answer::Despawned => evacuating.news.push(Input::DespawnEnded { entity, ended: Ok(()) }),
            // It goes as soon as its home answers, and until then another try finds it under way.
            Answer::Undecided => {
                let ended = Err(MoveError::Migrating { entity });
                evacuating.news.push(Input::DespawnEnded { entity, ended });
            }
            // Of the two, the machine looks only at the one that it waits for.
            Answer::Rejected(error) => {
                evacuating.news.push(Input::MoveEnded { entity, ended: Err(error.clone()) });
                evacuating.news.push(Input::DespawnEnded { entity, ended: Err(error) });
            }
            Answer::Spawned(_) | Answer::NotSpawned(_) | Answer::Cancelled => {
                panic!("expected {entity} to have left or stayed, found {answer:?}")
            }
        }
    }

    /// At the end of a turn: lets an evacuation go on with what the turn brought.
    pub(super) fn evacuate(&mut self, now: Now) {
        loop {
            let nobody_comes = self.machine.is_draining() && self.machine.coming() == 0;
            let Some(evacuating) = self.evacuating.as_mut().filter(|evacuating| evacuating.done.is_none()) else {
                return;
            };
            let orders = evacuating.go_on(&self.around.post, nobody_comes, now);
            if orders.is_empty() {
                return;
            }
            // Those that end at once are news for another round.
            for (entity, to) in orders {
                let asker = Asker::Evacuation(entity);
                let inputs = match to {
                    Some(to) => self.order_move(entity, Ok(to), asker),
                    None => vec![slipgate_cluster::scene::Input::Despawn { ticket: self.ticket(asker), entity }],
                };
                for input in inputs {
                    self.step(input, now);
                }
            }
        }
    }

    /// Whether there was an evacuation, and it is over.
    pub(super) fn is_evacuated(&self) -> bool {
        self.evacuating.as_ref().is_some_and(|evacuating| evacuating.done.is_some())
    }

    pub(super) fn how_far(&self) -> HowFar {
        let over = HowFar { is_over: true, ..HowFar::default() };
        self.evacuating.as_ref().map_or(over, Evacuating::how_far)
    }

    pub(super) fn remaining(&self, limit: usize) -> Remaining {
        let view = self.around.post.view();
        let scene = view.scene_text(self.me.scene);
        let kept = self.evacuating.as_ref().and_then(|evacuating| evacuating.done.as_ref()).map(|done| &done.kept);
        let why = |entity: OnlineId| {
            let at = kept?.binary_search_by_key(&entity, |(entity, _)| *entity).ok()?;
            kept?.get(at).map(|(_, why)| (why.word().to_owned(), why.to_string()))
        };
        let row = |entity: OnlineId| {
            let (reason, text) =
                why(entity).unwrap_or_else(|| ("late".to_owned(), "it was not moved in time".to_owned()));
            let label = self.machine.stand(entity).and_then(|stand| stand.identity.label);
            KeptRow { entity: entity.to_string(), label, scene: scene.clone(), reason, text }
        };
        Remaining {
            count: self.machine.len() as u64,
            first: self.machine.entities().take(limit).map(row).collect(),
            pauses_us: self.evacuating.as_ref().map(|evacuating| evacuating.pauses_us.clone()).unwrap_or_default(),
        }
    }
}

/// Moves under way out of one scene.
const UNDER_WAY_MAX: usize = slipgate_cluster::evacuation::UNDER_WAY_MAX;
/// First and longest wait before a move is tried again.
const WAIT_FIRST: Duration = Duration::from_millis(50);
const WAIT_MAX: Duration = Duration::from_secs(1);
