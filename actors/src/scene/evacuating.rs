//! Moves everybody out of the scene: carries out what the evacuation's machine plans.
//!
//! ```text
//!   a turn: who came, who went, which moves have ended --> machine --> moves, as if a tool had asked for them
//! ```
//!
//! Keeps: a target is not told of any more while nobody is at its other end, or its node is about to stop; whoever is
//! on the way when another evacuation begins, by the orders of whichever before it, is handed over to that one.
//! Leaves out: which scenes are targets, and when everybody should go: the node knows.

use std::collections::BTreeMap;
use std::time::Duration;

use slipgate_cluster::evacuation::{Done, Evacuation, Input, NotDespawned, Output, Progress, Settings, Target};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::scene::Answer;
use slipgate_cluster::{Now, Own};
use slipgate_entity::{OnlineId, TypeName};
use slipgate_proto::admin::KeptRow;
use tokio::sync::oneshot;

use super::SceneActor;
use super::outlook::Outlook;
use super::question::Asker;
use super::troupe::Troupe;

/// Everybody who lives in the scene is to leave.
#[derive(Debug, actix::Message)]
#[rtype(result = "()")]
pub enum Evacuate {
    /// Begin, in place of an earlier evacuation; but a drain leaves one alone that closes the scene.
    Begin {
        /// Why.
        cause: Cause,
        /// Where to.
        targets: Vec<Target>,
        /// When to end at the latest.
        deadline: Now,
    },
    /// These are the targets now, and so much room they have; where one for this cause is under way.
    Retarget {
        /// Why everybody is to leave.
        cause: Cause,
        /// Where to.
        targets: Vec<Target>,
    },
    /// The drain needs nobody else to leave. What is under way ends by itself.
    Cancel,
    /// Whoever is left is to be despawned, as the scene closes: by the evacuation that is under way, or by a new one.
    Despawn {
        /// When a new one is to end at the latest.
        deadline: Now,
    },
}

/// Why everybody is to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The node is to stop, and may yet go on.
    Drain,
    /// The scene closes, for good.
    Close,
}

/// How far an evacuation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HowFar {
    /// Entities by where they are with it.
    pub progress: Progress,
    /// Whether it is over; so it is where none has begun.
    pub is_over: bool,
    /// Moves out of the scene, and copies staged in it, whose end is not told yet.
    pub unsettled: usize,
}

/// Somebody waits for news of it.
#[derive(Debug)]
pub(super) struct Watch {
    /// What is known already.
    pub(super) unlike: HowFar,
    /// Takes the news.
    pub(super) reply: oneshot::Sender<HowFar>,
}

/// Who still lives in the scene.
#[derive(Clone, Debug, Default)]
pub struct Remaining {
    /// How many.
    pub count: u64,
    /// How many may yet come: their homes have not decided.
    pub coming: u64,
    /// The first ones, and why they have not left.
    pub first: Vec<KeptRow>,
    /// Pauses of those that the evacuation has moved, in microseconds.
    pub pauses_us: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct Evacuating {
    cause: Cause,
    stage: Stage,
    /// Of those that it has moved; some of them may have arrived after its end.
    pauses_us: Vec<u64>,
}

#[derive(Debug)]
enum Stage {
    UnderWay(Box<UnderWay>),
    Over(Done),
}

#[derive(Debug)]
struct UnderWay {
    machine: Evacuation,
    targets: Vec<Target>,
    /// Those that the machine was told of last; none if they are to be told anew.
    told: Option<Vec<Own>>,
    /// What the turn brought, for its end.
    news: Vec<Input>,
}

impl Evacuating {
    fn new(cause: Cause, targets: Vec<Target>, deadline: Now) -> Self {
        let settings = Settings { under_way_max: UNDER_WAY_MAX, deadline, wait_first: WAIT_FIRST, wait_max: WAIT_MAX };
        let machine = Evacuation::new(settings);
        let under_way = UnderWay { machine, targets, told: None, news: Vec::new() };
        Self { cause, stage: Stage::UnderWay(Box::new(under_way)), pauses_us: Vec::new() }
    }

    fn under_way(&mut self) -> Option<&mut UnderWay> {
        match &mut self.stage {
            Stage::UnderWay(under_way) => Some(under_way),
            Stage::Over(_) => None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over(_))
    }

    /// Nobody is left who would take news of one that is over.
    fn tell(&mut self, input: Input) {
        if let Some(under_way) = self.under_way() {
            under_way.news.push(input);
        }
    }

    /// Hands the turn's news in. Returns who is to begin to leave, and where to; nowhere where it is to be despawned.
    fn go_on(&mut self, outlook: &Outlook, nobody_comes: bool, now: Now) -> Vec<(OnlineId, Option<Own>)> {
        let Some(under_way) = self.under_way() else { return Vec::new() };
        let mut orders = Vec::new();
        for output in under_way.go_on(outlook, nobody_comes, now) {
            match output {
                Output::Move { entity, to } => orders.push((entity, Some(to))),
                Output::Despawn(entity) => orders.push((entity, None)),
                Output::Done(done) => self.stage = Stage::Over(done),
            }
        }
        orders
    }
}

impl UnderWay {
    fn go_on(&mut self, outlook: &Outlook, nobody_comes: bool, now: Now) -> Vec<Output> {
        let is_open =
            |target: &&Target| !outlook.is_gone(target.own.session) && !outlook.view.is_draining(target.own.session);
        let open: Vec<Target> = self.targets.iter().filter(is_open).copied().collect();
        let names: Vec<Own> = open.iter().map(|target| target.own).collect();
        let mut inputs = Vec::new();
        if self.told.as_ref() != Some(&names) {
            self.told = Some(names);
            inputs.push(Input::Targets(open));
        }
        inputs.append(&mut self.news);
        inputs.push(if nobody_comes { Input::Settled } else { Input::Tick });
        let mut out = Vec::new();
        for input in inputs {
            self.machine.handle(input, now, &mut out);
        }
        out
    }
}

impl actix::Handler<Evacuate> for SceneActor {
    type Result = ();

    fn handle(&mut self, evacuate: Evacuate, _: &mut actix::Context<Self>) {
        self.act(|troupe| troupe.order_evacuation(evacuate));
    }
}

impl Troupe {
    /// Begins or changes an evacuation.
    fn order_evacuation(&mut self, evacuate: Evacuate) {
        let under_way = self.evacuating.as_mut().filter(|evacuating| !evacuating.is_over());
        match evacuate {
            Evacuate::Begin { cause, targets, deadline } => {
                let closes = under_way.is_some_and(|evacuating| evacuating.cause == Cause::Close);
                if cause == Cause::Close || !closes {
                    self.begin_evacuation(Evacuating::new(cause, targets, deadline));
                }
            }
            Evacuate::Retarget { cause, targets } => {
                let evacuating = under_way.filter(|evacuating| evacuating.cause == cause);
                if let Some(under_way) = evacuating.and_then(Evacuating::under_way) {
                    under_way.targets = targets;
                    // Told anew although they may be the same: they have other room now.
                    under_way.told = None;
                }
            }
            Evacuate::Cancel => {
                if let Some(evacuating) = under_way.filter(|evacuating| evacuating.cause == Cause::Drain) {
                    evacuating.tell(Input::Cancel);
                }
            }
            Evacuate::Despawn { deadline } => {
                match under_way {
                    Some(evacuating) => evacuating.cause = Cause::Close,
                    None => self.begin_evacuation(Evacuating::new(Cause::Close, Vec::new(), deadline)),
                }
                self.news(Input::Despawn);
            }
        }
        self.turn([]);
    }

    fn begin_evacuation(&mut self, mut evacuating: Evacuating) {
        let leaving: BTreeMap<OnlineId, Option<Own>> = self.asked.values().filter_map(Asker::leaver).collect();
        for entity in self.machine.entities() {
            let Some(type_name) = self.type_of(entity) else { continue };
            evacuating.tell(match leaving.get(&entity) {
                Some(&to) => Input::Leaving { entity, type_name, to },
                None => Input::Seen { entity, type_name },
            });
        }
        self.evacuating = Some(evacuating);
        self.told.evacuated = false;
    }

    /// Something that an evacuation should know at the end of the turn.
    pub(super) fn news(&mut self, input: Input) {
        if let Some(evacuating) = &mut self.evacuating {
            evacuating.tell(input);
        }
    }

    /// Somebody lives here now.
    pub(super) fn news_of(&mut self, entity: OnlineId) {
        if self.evacuating.as_ref().is_some_and(|evacuating| !evacuating.is_over())
            && let Some(type_name) = self.type_of(entity)
        {
            self.news(Input::Seen { entity, type_name });
        }
    }

    fn type_of(&self, entity: OnlineId) -> Option<TypeName> {
        Some(self.machine.stand(entity)?.identity.type_name)
    }

    /// A move or a despawn that the evacuation ordered has ended; or one of an evacuation before it.
    pub(super) fn leave_ended(&mut self, entity: OnlineId, answer: Answer) {
        let Some(evacuating) = &mut self.evacuating else { return };
        match answer {
            Answer::Moved(done) => {
                if matches!(done.outcome, Outcome::Moved { .. }) {
                    evacuating.pauses_us.push(done.cost.pause_us);
                }
                evacuating.tell(Input::MoveEnded { entity, ended: Ok(done.outcome) });
            }
            Answer::Despawned => evacuating.tell(Input::DespawnEnded { entity, ended: Ok(()) }),
            Answer::Undecided => {
                evacuating.tell(Input::DespawnEnded { entity, ended: Err(NotDespawned::Undecided) });
            }
            // Of the two, the machine looks only at the one that it waits for.
            Answer::Rejected(error) => {
                evacuating.tell(Input::MoveEnded { entity, ended: Err(error.clone()) });
                evacuating.tell(Input::DespawnEnded { entity, ended: Err(NotDespawned::Rejected(error)) });
            }
            Answer::Spawned(_) | Answer::NotSpawned(_) | Answer::Cancelled | Answer::Unparked | Answer::NotParked => {
                panic!("expected {entity} to have left or stayed, found {answer:?}")
            }
        }
    }

    /// At the end of a turn: lets an evacuation go on with what the turn brought.
    pub(super) fn evacuate(&mut self, now: Now) {
        loop {
            let nobody_comes = self.machine.is_draining() && self.machine.coming() == 0;
            let Some(evacuating) = &mut self.evacuating else { return };
            let orders = evacuating.go_on(&self.outlook, nobody_comes, now);
            if orders.is_empty() {
                return;
            }
            // Those that end at once are news for another round.
            for (entity, to) in orders {
                let asker = Asker::Evacuation { entity, to };
                let inputs = match to {
                    Some(to) => self.order_move(entity, Ok(to), asker),
                    None => vec![slipgate_cluster::scene::Input::Despawn { ticket: Some(self.ticket(asker)), entity }],
                };
                for input in inputs {
                    self.step(input, now);
                }
            }
        }
    }

    /// Whether there was an evacuation, and it is over.
    pub(super) fn is_evacuated(&self) -> bool {
        self.evacuating.as_ref().is_some_and(Evacuating::is_over)
    }

    pub(super) fn how_far(&self) -> HowFar {
        let unsettled = self.machine.unsettled();
        let Some(Evacuating { stage, pauses_us, .. }) = &self.evacuating else {
            return HowFar { is_over: true, unsettled, ..HowFar::default() };
        };
        let progress = match stage {
            Stage::UnderWay(under_way) => under_way.machine.progress(),
            Stage::Over(done) => Progress { gone: done.gone, kept: self.machine.len() as u64, ..Progress::default() },
        };
        let progress = Progress { moved: pauses_us.len() as u64, ..progress };
        HowFar { progress, is_over: matches!(stage, Stage::Over(_)), unsettled }
    }

    /// At the end of a turn: answers those who wait for news of it.
    pub(super) fn answer_watches(&mut self) {
        if self.watches.is_empty() {
            return;
        }
        let far = self.how_far();
        for Watch { reply, .. } in self.watches.extract_if(.., |watch| watch.unlike != far || watch.reply.is_closed()) {
            // Whoever has given up waiting asks again if it wants to know.
            let _ = reply.send(far);
        }
    }

    pub(super) fn remaining(&self, limit: usize) -> Remaining {
        let view = self.outlook.view.clone();
        let scene = view.scene_text(self.me.scene);
        let kept = match self.evacuating.as_ref().map(|evacuating| &evacuating.stage) {
            Some(Stage::Over(done)) => Some(&done.kept),
            Some(Stage::UnderWay(_)) | None => None,
        };
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
            coming: self.machine.coming() as u64,
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
