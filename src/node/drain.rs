//! Carries out a planned stop: hears signals, orders and what the actors say, and does what the machine decides.
//!
//! ```text
//!   signals, orders, ticks ---> slipgate_cluster::drain ---> scenes, keeper, directory, routers, membership
//!            ^                                                  |
//!            +------------- answers, one task each -------------+
//! ```
//!
//! Keeps: it waits for nothing but the next thing that happens, so a signal is always heard; what was asked for a drain
//! that was called off is forgotten. It can be dropped at any moment, since all that lasts is told to the actors.
//! Leaves out: what follows what, and how long it may take (`slipgate_cluster::drain`); the goodbye itself.

mod telling;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use slipgate_actors::chronicle::IsRead;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::desk::Stage;
use slipgate_actors::drain::{Order, Ordered, Orders, Teller};
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::member::Intent;
use slipgate_actors::scene::{Cause, Evacuate, HowFar, Remaining, SceneActor, Wind};
use slipgate_actors::scenes::room::find_targets;
use slipgate_cluster::drain::{self, Far, Homes, Input, Left, Output};
use slipgate_cluster::{NodeName, Now};
use slipgate_entity::OnlineId;
use slipgate_proto::admin::{DrainReport, KeptRow, PauseReport, Problem};
use tokio::sync::{oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::stop::{self, Wish};
use super::wiring::{Wired, ask_how_far};

/// A life of a node that is to stop one day.
pub(super) struct Drain<'a> {
    name: &'a NodeName,
    wired: &'a Wired,
    teller: &'a Teller,
    stage: &'a watch::Sender<Stage>,
    clock: NodeClock,
    machine: drain::Drain,
    /// What the actors have not answered yet.
    asked: FuturesUnordered<LocalBoxFuture<'a, Heard>>,
    /// Who has given an order and waits to hear that it is taken up.
    waiting: Vec<oneshot::Sender<Result<DrainReport, Problem>>>,
    /// The scenes that everybody is to leave, and how far each is.
    scenes: Vec<(Mailbox<SceneActor>, Option<HowFar>)>,
    kept_first: Vec<KeptRow>,
    pause_us: PauseReport,
    /// What nobody has answered, while that is waited for and after.
    unanswered: BTreeMap<OnlineId, u64>,
    has_ended: bool,
}

/// How the life ends.
pub(super) enum Ended {
    /// All is done but the goodbye.
    Drained,
    /// There was a verdict on it, or there is a later life.
    Over {
        /// Whether a signal was heard before: then the node stops all the same.
        stops: bool,
    },
}

/// What an actor has said.
enum Heard {
    Said(Input),
    /// One scene, by its place in the list; none if it has ended.
    Far(usize, Option<HowFar>),
    Homes(Homes, watch::Receiver<Homes>),
    Unanswered(BTreeMap<OnlineId, u64>),
    /// All scenes; none of one that is silent.
    Remaining(Vec<Option<Remaining>>),
}

impl<'a> Drain<'a> {
    pub(super) fn new(
        name: &'a NodeName,
        wired: &'a Wired,
        teller: &'a Teller,
        stage: &'a watch::Sender<Stage>,
        clock: NodeClock,
        timeout: Duration,
    ) -> Self {
        Self {
            name,
            wired,
            teller,
            stage,
            clock,
            machine: drain::Drain::new(timeout),
            asked: FuturesUnordered::new(),
            waiting: Vec::new(),
            scenes: Vec::new(),
            kept_first: Vec::new(),
            pause_us: PauseReport::default(),
            unanswered: BTreeMap::new(),
            has_ended: false,
        }
    }

    /// Waits for a wish or an order to stop, and does what it takes.
    pub(super) async fn attend(
        mut self,
        wish: &mut Wish,
        orders: &mut Orders,
        over: &mut watch::Receiver<bool>,
    ) -> Ended {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.has_ended {
            tokio::select! {
                () = wish.come() => self.give(Input::Signal),
                () = stop::over(over) => return Ended::Over { stops: self.machine.stops() },
                Ordered { order, reply } = orders.next() => {
                    self.waiting.push(reply);
                    self.give(match order {
                        Order::Begin(timeout) => Input::Begin { timeout },
                        Order::Cancel => Input::Cancel,
                    });
                }
                Some(heard) = self.asked.next() => self.hear(heard),
                _ = ticks.tick(), if self.machine.is_under_way() => {
                    let may_get_on = self.may_get_on();
                    self.give(Input::Tick { may_get_on });
                }
            }
        }
        self.teller.last_words(LAST_WORDS).await;
        let (reply, is_read) = oneshot::channel();
        self.wired.chronicle.tell(IsRead { reply });
        if is_read.await.unwrap_or(false) {
            // Nobody but this node has its last events.
            sleep(LAST_EVENTS).await;
        }
        Ended::Drained
    }

    fn give(&mut self, input: Input) {
        let mut out = Vec::new();
        self.machine.handle(input, self.now(), &mut out);
        for output in out {
            self.perform(output);
        }
        self.tell();
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::CloseDoors => self.close_doors(),
            Output::FindTargets => {
                let post = &self.wired.joined.post;
                let targets = find_targets(post.clone(), Some(self.wired.desk.clone()), Some(post.me()));
                self.ask(async move { Heard::Said(Input::Targets(targets.await)) });
            }
            Output::MoveOut { targets, deadline } => {
                let begin = || Evacuate::Begin { cause: Cause::Drain, targets: targets.clone(), deadline };
                self.tell_scenes(begin);
                self.scenes = self.wired.scenes.all().into_iter().map(|scene| (scene, None)).collect();
                (0..self.scenes.len()).for_each(|at| self.watch_scene(at));
                self.sum_up();
            }
            Output::Retarget(targets) => {
                self.tell_scenes(|| Evacuate::Retarget { cause: Cause::Drain, targets: targets.clone() });
            }
            Output::StopMoving => self.tell_scenes(|| Evacuate::Cancel),
            Output::AskLeft => {
                let remaining = self.wired.remaining(KEPT_TOLD);
                self.ask(async move { Heard::Remaining(remaining.await) });
            }
            Output::GiveHomesAway => {
                let homes = self.wired.give_homes_away();
                self.watch_homes(homes);
            }
            Output::Shut => {
                self.stage.send_replace(Stage::Stopping);
                self.wind_and_look(Wind::Down);
            }
            Output::EndMoves => self.wind_and_look(Wind::Up),
            Output::AwaitAnswers => {
                let answers = self.wired.await_answers();
                self.ask(async move {
                    answers.await;
                    Heard::Said(Input::Answered)
                });
                self.count_unanswered(Duration::ZERO);
            }
            Output::Resume => self.resume(),
            Output::TakenUp => {
                self.tell();
                for reply in self.waiting.drain(..) {
                    // Whoever has given up waiting sees it in the report.
                    let _ = reply.send(Ok(self.teller.told()));
                }
            }
            Output::Refused(refusal) => {
                if let Some(reply) = self.waiting.pop() {
                    let _ = reply.send(Err(telling::refused(refusal, self.name)));
                }
            }
            Output::Event(event) => {
                self.tell();
                self.report(event);
            }
            Output::End => self.has_ended = true,
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Said(input) => self.give(input),
            Heard::Far(at, Some(far)) => {
                self.scenes[at].1 = Some(far);
                self.watch_scene(at);
                self.sum_up();
            }
            Heard::Far(at, None) => {
                self.scenes[at].1 = Some(HowFar { is_over: true, ..HowFar::default() });
                self.sum_up();
            }
            Heard::Homes(homes, next) => {
                self.give(Input::Homes(homes));
                if !homes.is_done {
                    self.watch_homes(next);
                }
            }
            Heard::Unanswered(unanswered) => {
                self.unanswered = unanswered;
                self.tell();
                if !self.unanswered.is_empty() {
                    self.count_unanswered(COUNT_EVERY);
                }
            }
            Heard::Remaining(all) => {
                let is_sure = all.iter().all(Option::is_some);
                let mut pauses_us = Vec::new();
                let mut count = 0;
                self.kept_first.clear();
                for remaining in all.into_iter().flatten() {
                    count += remaining.count + remaining.coming;
                    self.kept_first.extend(remaining.first);
                    pauses_us.extend(remaining.pauses_us);
                }
                self.kept_first.truncate(KEPT_TOLD);
                let moved = pauses_us.len() as u64;
                self.pause_us = PauseReport::of(pauses_us);
                self.give(Input::Left(Left { moved, count, is_sure }));
            }
        }
    }

    fn close_doors(&mut self) {
        self.forget();
        self.kept_first.clear();
        self.pause_us = PauseReport::default();
        self.stage.send_replace(Stage::Draining);
        self.wired.joined.member.tell(Intent::Drain);
        let wired = self.wired;
        let told = wired.wind(Wind::Drain);
        self.ask(async move {
            told.await;
            let all = wired.remaining(0).await;
            Heard::Said(Input::Counted(all.into_iter().flatten().map(|remaining| remaining.count).sum()))
        });
    }

    /// The node goes on. Who has moved stays where it is.
    fn resume(&mut self) {
        self.forget();
        self.tell_scenes(|| Evacuate::Cancel);
        drop(self.wired.wind(Wind::Reopen));
        self.wired.keep_homes();
        self.wired.joined.member.tell(Intent::Resume);
        self.stage.send_replace(Stage::Working);
    }

    /// What was asked before is of no interest any more.
    fn forget(&mut self) {
        self.asked.clear();
        self.scenes.clear();
        self.unanswered.clear();
    }

    fn ask(&self, answer: impl Future<Output = Heard> + 'a) {
        self.asked.push(Box::pin(answer));
    }

    fn tell_scenes(&self, what: impl Fn() -> Evacuate) {
        self.wired.scenes.all().iter().for_each(|scene| scene.tell(what()));
    }

    fn wind_and_look(&self, wind: Wind) {
        let wired = self.wired;
        let told = wired.wind(wind);
        self.ask(async move {
            told.await;
            let all = wired.how_far().await;
            Heard::Said(Input::Shut { unsettled: all.into_iter().flatten().map(|far| far.unsettled).sum() })
        });
    }

    fn count_unanswered(&self, after: Duration) {
        let wired = self.wired;
        self.ask(async move {
            tokio::time::sleep(after).await;
            Heard::Unanswered(wired.unanswered().await)
        });
    }

    fn watch_homes(&self, mut homes: watch::Receiver<Homes>) {
        self.ask(async move {
            // A directory that is gone with its life has nothing more to give.
            let is_there = homes.changed().await.is_ok();
            let told = *homes.borrow_and_update();
            Heard::Homes(Homes { is_done: told.is_done || !is_there, ..told }, homes)
        });
    }

    /// Asks a scene how far it is; once it has said so, for news of that.
    fn watch_scene(&self, at: usize) {
        let (scene, far) = &self.scenes[at];
        let news = ask_how_far(scene, *far);
        self.ask(async move { Heard::Far(at, news.await) });
    }

    /// Says how far the scenes are, once all have said so since they were told to begin.
    fn sum_up(&mut self) {
        let Some(all) = self.scenes.iter().map(|(_, far)| *far).collect::<Option<Vec<HowFar>>>() else { return };
        let mut sum = Far { is_over: true, ..Far::default() };
        for HowFar { progress, is_over, unsettled } in all {
            sum.moved += progress.moved;
            sum.kept += progress.kept;
            sum.open += progress.under_way + progress.waiting;
            sum.unsettled += unsettled;
            sum.is_over &= is_over;
        }
        self.give(Input::Far(sum));
    }

    /// Without a lease no scene or router takes a turn. Where everybody stops, there is neither a target nor a home that
    /// could answer.
    fn may_get_on(&self) -> bool {
        let post = &self.wired.joined.post;
        let view = post.view();
        let mut others = view.members.values().map(|member| member.session).filter(|session| *session != post.me());
        post.lease().is_held() && others.any(|session| view.takes_homes(session) && !post.is_gone(session))
    }

    fn now(&self) -> Now {
        self.clock.now()
    }
}

/// Between two counts of what nobody has answered: often enough to follow.
const COUNT_EVERY: Duration = Duration::from_millis(250);
/// Between two looks at the time: below each wait that is counted by it.
const TICK: Duration = Duration::from_millis(50);
/// Entities named one by one that could not move: more are a page that nobody reads.
const KEPT_TOLD: usize = 100;
/// For how long the last events can be read: whoever watches, at whichever node, asks five times a second.
const LAST_EVENTS: Duration = Duration::from_millis(400);
/// How long the last report may take to whoever follows.
const LAST_WORDS: Duration = Duration::from_millis(250);
