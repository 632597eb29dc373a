//! The planned stop of a node in a play: carries out what `cluster::drain` and `cluster::evacuation` decide, as the shells
//! of a node do.
//!
//! ```text
//!   a signal, an order ──> Drain ──> doors, homes, goodbye
//!                            │ ^
//!                            v │ how far
//!   ends of moves ──> Evacuation, one a scene ──> moves, as if a tool had asked for them
//! ```
//!
//! Whoever is asked answers at once; what takes its time is looked at whenever time is told.
//!
//! Leaves out: a drain that is called off; despawns.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use slipgate_cluster::drain::{self, Drain, Event, Far, Homes, Input, Left, Output};
use slipgate_cluster::evacuation::{self, Done, Evacuation, Offer, Settings, Target, UNDER_WAY_MAX};
use slipgate_cluster::moves::{MoveError, Outcome};
use slipgate_cluster::scene::{Answer, Input as SceneInput, MoveRequest, Ticket};
use slipgate_cluster::{Now, Own, Session, directory, manager, member};
use slipgate_entity::{OnlineId, TypeName};

use super::names::node as node_name;
use super::play::Play;
use super::script::NEVER;
use crate::cluster::{Cluster, SEAT};
use crate::life::{Doing, LifeIndex};
use crate::network::NodeIndex;

/// What a node hears of its drain until time is told again.
#[derive(Debug, Default)]
pub(crate) struct News {
    ended: Vec<(Ticket, Result<Outcome, MoveError>)>,
    bequests: BTreeMap<Session, u64>,
    given_away: BTreeSet<Session>,
}

impl News {
    /// Whoever asked a scene has been answered.
    pub(crate) fn hear(&mut self, ticket: Ticket, answer: &Answer) {
        match answer {
            Answer::Moved(done) => self.ended.push((ticket, Ok(done.outcome.clone()))),
            Answer::Rejected(error) => self.ended.push((ticket, Err(error.clone()))),
            Answer::Spawned(_)
            | Answer::NotSpawned(_)
            | Answer::Despawned
            | Answer::Undecided
            | Answer::Cancelled
            | Answer::Unparked
            | Answer::NotParked => {}
        }
    }

    /// A home has given a range to the next one.
    pub(crate) fn bequeathed(&mut self, home: Session) {
        *self.bequests.entry(home).or_default() += 1;
    }

    /// A home has nothing left to give.
    pub(crate) fn gave_all(&mut self, home: Session) {
        self.given_away.insert(home);
    }
}

/// A node that is to stop.
#[derive(Debug)]
pub(crate) struct Leave {
    life: LifeIndex,
    machine: Drain,
    /// By stage.
    evacuations: BTreeMap<usize, (Evacuation, Option<Done>)>,
    asked: BTreeMap<Ticket, (usize, OnlineId)>,
    targets: Vec<Target>,
    /// Those that the evacuations were told of last.
    told: Vec<Own>,
    homes: Homes,
    shuts: bool,
    awaits_answers: bool,
}

impl Leave {
    fn new(life: LifeIndex) -> Self {
        Self {
            life,
            machine: Drain::new(TIMEOUT),
            evacuations: BTreeMap::new(),
            asked: BTreeMap::new(),
            targets: Vec::new(),
            told: Vec::new(),
            homes: Homes::default(),
            shuts: false,
            awaits_answers: false,
        }
    }

    fn is_evacuated(&self) -> bool {
        self.evacuations.values().all(|(_, done)| done.is_some())
    }
}

impl Cluster {
    /// A node hears that it is to stop, by a signal or by an order.
    pub(crate) fn direct_drain(&mut self, node: NodeIndex, input: Input) {
        assert_ne!(node, SEAT, "the manager's node does not drain in a play");
        let Doing::Living(life) = self.nodes[node].doing else { panic!("node {} does not live", node + 1) };
        let mut leave = Leave::new(life);
        let (now, who) = (self.now, node_name(self.lives[life].session));
        self.play_with(|play| play.begin_beat(now, &who, "hears so", false));
        self.give_drain(&mut leave, input);
        self.play_with(|play| {
            play.end_beat();
            play.leaves.push(leave);
        });
    }

    /// Time is told to whoever is about to stop.
    pub(crate) fn pass_for_drains(&mut self) {
        let Some(play) = &mut self.play else { return };
        let leaves = std::mem::take(&mut play.leaves);
        let ended = std::mem::take(&mut play.news.ended);
        for mut leave in leaves {
            self.pass_for_drain(&mut leave, &ended);
            if !self.lives[leave.life].is_gone {
                self.play_with(|play| play.leaves.push(leave));
            }
        }
    }

    fn pass_for_drain(&mut self, leave: &mut Leave, ended: &[(Ticket, Result<Outcome, MoveError>)]) {
        let (life, now) = (leave.life, self.clock(self.lives[leave.life].node));
        let open = self.open(leave);
        if leave.told != open.iter().map(|target| target.own).collect::<Vec<_>>() {
            self.tell_targets(leave, open);
        }
        for (ticket, ended) in ended {
            if let Some((stage, entity)) = leave.asked.remove(ticket) {
                let ended = ended.clone();
                self.give_evacuation(leave, stage, evacuation::Input::MoveEnded { entity, ended });
            }
        }
        for stage in leave.evacuations.keys().copied().collect::<Vec<_>>() {
            let nobody_comes = self.stages[stage].scene.coming() == 0;
            let input = if nobody_comes { evacuation::Input::Settled } else { evacuation::Input::Tick };
            self.give_evacuation(leave, stage, input);
        }
        if !leave.evacuations.is_empty() {
            let far = self.far(leave);
            self.give_drain(leave, Input::Far(far));
        }
        if leave.machine.report(now).step == drain::Step::HandingOver {
            let homes = self.homes_of(leave.life);
            if leave.homes != homes {
                leave.homes = homes;
                self.give_drain(leave, Input::Homes(homes));
            }
        }
        if leave.shuts {
            let unsettled = self.stages_of(life).iter().map(|&stage| self.stages[stage].scene.unsettled()).sum();
            self.give_drain(leave, Input::Shut { unsettled });
        }
        if leave.awaits_answers && self.lives[life].router.waiting() == 0 {
            leave.awaits_answers = false;
            self.give_drain(leave, Input::Answered);
        }
        if !self.lives[life].is_gone && leave.machine.is_under_way() {
            let me = self.lives[life].session;
            let view = self.lives[life].member.view();
            let others = view.members.values().filter(|member| member.session != me);
            let may_get_on = self.may_act(life) && others.into_iter().any(|other| view.takes_homes(other.session));
            self.give_drain(leave, Input::Tick { may_get_on });
        }
        self.play_with(Play::end_beat);
    }

    fn give_drain(&mut self, leave: &mut Leave, input: Input) {
        let mut out = Vec::new();
        let now = self.clock(self.lives[leave.life].node);
        leave.machine.handle(input, now, &mut out);
        for output in out {
            self.carry_out(leave, output);
        }
    }

    fn carry_out(&mut self, leave: &mut Leave, output: Output) {
        let life = leave.life;
        match output {
            Output::CloseDoors => {
                self.tells_of_drain(life, "closes its doors");
                self.tell_member(life, member::Input::Drain);
                self.tell_stages(life, &SceneInput::Drain);
                let count = self.stages_of(life).iter().map(|&stage| self.stages[stage].scene.len() as u64).sum();
                self.give_drain(leave, Input::Counted(count));
            }
            Output::FindTargets => {
                let targets = self.targets(life);
                self.give_drain(leave, Input::Targets(targets));
            }
            Output::MoveOut { targets, deadline } => {
                leave.targets = targets;
                self.move_out(leave, deadline);
            }
            Output::Retarget(targets) => {
                leave.targets = targets;
                let open = self.open(leave);
                self.tell_targets(leave, open);
            }
            Output::StopMoving => self.give_evacuations(leave, &evacuation::Input::Cancel),
            Output::AskLeft => {
                let scenes = self.stages_of(life).into_iter().map(|stage| &self.stages[stage].scene);
                let count = scenes.map(|scene| (scene.len() + scene.coming()) as u64).sum();
                let moved = leave.evacuations.values().map(|(machine, _)| machine.progress().moved).sum();
                self.give_drain(leave, Input::Left(Left { moved, count, is_sure: true }));
            }
            Output::GiveHomesAway => {
                self.tells_of_drain(life, "gives its homes away");
                self.lives[life].is_retiring = true;
                self.lives[life].stock.surrender();
                self.tell_directory(life, directory::Input::Retire);
            }
            Output::Shut => {
                leave.shuts = true;
                self.tell_stages(life, &SceneInput::Shut);
            }
            Output::EndMoves => self.tell_stages(life, &SceneInput::Stop),
            Output::AwaitAnswers => {
                leave.shuts = false;
                leave.awaits_answers = true;
            }
            Output::TakenUp => {}
            Output::Event(event) => self.tells_drain_event(leave, event),
            Output::End => self.say_goodbye(life),
            Output::Resume | Output::Refused(_) => unreachable!("no script calls a drain off, or begins it twice"),
        }
    }

    fn move_out(&mut self, leave: &mut Leave, deadline: Now) {
        let settings = Settings { under_way_max: UNDER_WAY_MAX, deadline, wait_first: WAIT_FIRST, wait_max: WAIT_MAX };
        let stages = self.stages_of(leave.life);
        leave.evacuations = stages.iter().map(|&stage| (stage, (Evacuation::new(settings), None))).collect();
        let open = self.open(leave);
        self.tell_targets(leave, open);
        for stage in stages {
            for entity in self.stages[stage].scene.entities().collect::<Vec<_>>() {
                let type_name = TypeName("walker".into());
                self.give_evacuation(leave, stage, evacuation::Input::Seen { entity, type_name });
            }
            self.give_evacuation(leave, stage, evacuation::Input::Tick);
        }
    }

    /// The targets with somebody at their other end whose nodes do not stop, too.
    fn open(&self, leave: &Leave) -> Vec<Target> {
        let life = &self.lives[leave.life];
        let is_open = |target: &&Target| {
            let session = target.own.session;
            !self.is_out_of_reach(leave.life, session) && !life.member.view().is_draining(session)
        };
        leave.targets.iter().filter(is_open).copied().collect()
    }

    fn tell_targets(&mut self, leave: &mut Leave, open: Vec<Target>) {
        leave.told = open.iter().map(|target| target.own).collect();
        self.give_evacuations(leave, &evacuation::Input::Targets(open));
    }

    fn is_out_of_reach(&self, life: LifeIndex, session: Session) -> bool {
        let here = self.lives[life].node;
        self.numbers.get(&session.node).is_none_or(|&there| self.links.is_lost(here, there))
    }

    fn give_evacuations(&mut self, leave: &mut Leave, input: &evacuation::Input) {
        for stage in leave.evacuations.keys().copied().collect::<Vec<_>>() {
            self.give_evacuation(leave, stage, input.clone());
        }
    }

    fn give_evacuation(&mut self, leave: &mut Leave, stage: usize, input: evacuation::Input) {
        let now = self.clock(self.lives[leave.life].node);
        let Some((machine, done)) = leave.evacuations.get_mut(&stage) else { return };
        let mut out = Vec::new();
        machine.handle(input, now, &mut out);
        let mut orders = Vec::new();
        for output in out {
            match output {
                evacuation::Output::Move { entity, to } => orders.push((entity, to)),
                evacuation::Output::Despawn(_) => unreachable!("a drain despawns nobody"),
                evacuation::Output::Done(told) => *done = Some(told),
            }
        }
        for (entity, to) in orders {
            let ticket = self.order_out(stage, entity, to);
            leave.asked.insert(ticket, (stage, entity));
        }
    }

    fn order_out(&mut self, stage: usize, entity: OnlineId, to: Own) -> Ticket {
        let names = self.play.as_ref().map(|play| (play.names.entity(entity), play.names.own(to)));
        let (who, target) = names.expect("it is being written down");
        let ticket = self.asks(stage, format!("by its node to move {who} to {target}"));
        let mover = self.mover_of(stage, entity, None);
        let request =
            MoveRequest { body_bytes: mover.body_bytes, ..MoveRequest::new(Some(ticket), mover.id, entity, Ok(to)) };
        self.tell_scene(stage, SceneInput::Migrate(Box::new(request)));
        ticket
    }

    /// The scenes that may take somebody, and how much room they have: as their nodes tell whoever asks.
    fn targets(&self, life: LifeIndex) -> Vec<Target> {
        let me = self.lives[life].session;
        let offer = |stage: &crate::stage::Stage| {
            let taken = stage.scene.len() + stage.scene.arriving();
            let room = self.plan.capacity.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX));
            (stage.me().scene, Offer { is_open: !stage.scene.is_draining(), room })
        };
        let offers = self.open_stages().map(offer).collect();
        let is_out = |session: Session| session == me || self.is_out_of_reach(life, session);
        evacuation::targets(self.lives[life].member.view(), &offers, is_out)
    }

    fn far(&self, leave: &Leave) -> Far {
        let unsettled = self.stages_of(leave.life).into_iter().map(|stage| self.stages[stage].scene.unsettled()).sum();
        let far = Far { unsettled, is_over: leave.is_evacuated(), ..Far::default() };
        leave.evacuations.values().fold(far, |far, (machine, _)| {
            let progress = machine.progress();
            let open = far.open + progress.under_way + progress.waiting;
            Far { moved: far.moved + progress.moved, kept: far.kept + progress.kept, open, ..far }
        })
    }

    fn homes_of(&self, life: LifeIndex) -> Homes {
        let session = self.lives[life].session;
        let news = self.play.as_ref().map(|play| &play.news);
        let given = news.and_then(|news| news.bequests.get(&session)).copied().unwrap_or_default();
        let is_done = news.is_some_and(|news| news.given_away.contains(&session));
        Homes { given, left: self.lives[life].directory.to_give() as u64, is_done }
    }

    fn say_goodbye(&mut self, life: LifeIndex) {
        let (session, index) = (self.lives[life].session, self.lives[life].node);
        self.tells_of_drain(life, "says goodbye, and its process ends");
        self.crash(index, NEVER);
        self.seat.tell(manager::Input::Left(session));
        self.work_at_seat();
    }

    fn tells_drain_event(&mut self, leave: &Leave, event: Event) {
        let report = leave.machine.report(self.clock(self.lives[leave.life].node));
        let (entities, moved, kept) = (report.entities, report.moved, report.kept);
        let words = match event {
            Event::Begun => format!("logs: it drains, {entities} are to move"),
            Event::Resumed => "logs: it goes on".into(),
            Event::Stopping => format!("logs: it stops, {moved} moved, {kept} kept, {} homes given", report.homes),
            Event::Kept => format!("logs: it is kept, {moved} moved, {kept} could not"),
            Event::Drained => format!("logs: it is drained, {moved} moved, {kept} lost, {} homes given", report.homes),
        };
        self.tells_of_drain(leave.life, &words);
        let dones = leave.evacuations.values().filter_map(|(_, done)| done.as_ref()).filter(|_| event == Event::Kept);
        for (entity, why) in dones.flat_map(|done| &done.kept).map(|(entity, why)| (*entity, why.word())) {
            let name = self.play.as_ref().map(|play| play.names.entity(entity)).expect("it is being written down");
            self.tells_of_drain(leave.life, &format!("names {name}: {why}"));
        }
    }

    fn tells_of_drain(&mut self, life: LifeIndex, what: &str) {
        let (now, who) = (self.now, node_name(self.lives[life].session));
        self.play_with(|play| play.does(now, &who, what.to_owned()));
    }

    fn stages_of(&self, life: LifeIndex) -> Vec<usize> {
        (0..self.stages.len()).filter(|&stage| self.stages[stage].life == life).collect()
    }

    fn tell_stages(&mut self, life: LifeIndex, input: &SceneInput) {
        for stage in self.stages_of(life) {
            self.tell_scene_or_defer(stage, input.clone());
        }
    }
}

/// How long a planned stop may take, as a node's configuration has it by default.
const TIMEOUT: Duration = Duration::from_secs(25);
/// Waits of an evacuation before it tries a move again, as in the shell.
const WAIT_FIRST: Duration = Duration::from_millis(50);
const WAIT_MAX: Duration = Duration::from_secs(1);
