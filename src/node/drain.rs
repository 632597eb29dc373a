//! A planned stop: everybody moves out, homes are handed over, what was accepted is answered; then the goodbye.
//!
//! ```text
//!   working -- SIGTERM, order --> moving -> handing over -> settling -> goodbye, exit 0
//!      ^                             |
//!      +---- cancelled --------------+--> kept (by order, and somebody could not move): stays, takes nobody in
//! ```
//!
//! A signal is for good: whoever cannot move is listed, and ends with the node. An order ends the node only once it is
//! empty, because whoever gave it waits to be told what could not move. A second signal ends it at once.
//!
//! Keeps: the time given bounds all of it; it can be dropped at any moment, since all that lasts is told to the actors.
//! Leaves out: who goes where (`slipgate_cluster::evacuation`); the goodbye itself.

use std::cell::Cell;
use std::time::Duration;

use serde_json::json;
use slipgate_actors::chronicle::{Happening, take_down};
use slipgate_actors::clock::NodeClock;
use slipgate_actors::desk::Stage;
use slipgate_actors::drain::{Order, Ordered, Orders, Teller};
use slipgate_actors::member::Intent;
use slipgate_actors::scene::{Evacuate, HowFar, Remaining, Wind};
use slipgate_cluster::evacuation::Target;
use slipgate_cluster::{NodeName, Now};
use slipgate_proto::admin::{Answer, DrainReport, KeptRow, PauseReport, Problem, ProblemKind, Question, SceneReport};
use tokio::sync::watch;

use super::stop::{self, Wish};
use super::wiring::Wired;

/// A life of a node that is to stop one day.
pub(super) struct Drain<'a> {
    pub(super) name: &'a NodeName,
    pub(super) wired: &'a Wired,
    pub(super) teller: &'a Teller,
    pub(super) stage: &'a watch::Sender<Stage>,
    pub(super) clock: NodeClock,
    /// How long it may take unless an order says otherwise.
    pub(super) timeout: Duration,
    /// When it should be over.
    until: Cell<Now>,
    began: Cell<Now>,
    /// Whether the node stops whatever it keeps.
    stops: Cell<bool>,
}

/// How the life ends.
pub(super) enum Ended {
    /// All is done but the goodbye.
    Drained,
    /// There was a verdict on it, or there is a later life.
    Over,
}

/// How an attempt to empty the node ends.
enum Emptied {
    /// All is done but the goodbye.
    Drained,
    /// Somebody could not move, and the node stays.
    Kept,
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
        let (until, began, stops) = (Cell::new(Now(0)), Cell::new(Now(0)), Cell::new(false));
        Self { name, wired, teller, stage, clock, timeout, until, began, stops }
    }

    /// Waits for a wish or an order to stop, and does what it takes.
    pub(super) async fn attend(&self, wish: &mut Wish, orders: &mut Orders, over: &mut watch::Receiver<bool>) -> Ended {
        loop {
            tokio::select! {
                () = wish.come() => self.begin(None, true).await,
                () = stop::over(over) => return Ended::Over,
                Ordered { order, reply } = orders.next() => match order {
                    Order::Begin(timeout) => {
                        self.begin(timeout, false).await;
                        // Whoever has given up waiting sees it in the report.
                        let _ = reply.send(Ok(self.teller.told()));
                    }
                    Order::Cancel => {
                        let _ = reply.send(self.cancel().await);
                        continue;
                    }
                },
            }
            let emptying = self.empty();
            tokio::pin!(emptying);
            loop {
                tokio::select! {
                    emptied = &mut emptying => match emptied {
                        Emptied::Drained => return Ended::Drained,
                        Emptied::Kept => break,
                    },
                    () = wish.come() => if self.stops.replace(true) {
                        self.end_at_once().await;
                        return Ended::Drained;
                    } else {
                        self.until.set(self.until.get().min(self.clock.now() + self.timeout));
                    },
                    () = stop::over(over) => return Ended::Over,
                    Ordered { order, reply } = orders.next() => match order {
                        Order::Begin(_) => drop(reply.send(Ok(self.teller.told()))),
                        Order::Cancel if self.stops.get() => drop(reply.send(Err(self.stops_for_good()))),
                        Order::Cancel => {
                            drop(reply.send(self.cancel().await));
                            break;
                        }
                    },
                }
            }
        }
    }

    async fn begin(&self, timeout: Option<Duration>, stops: bool) {
        let now = self.clock.now();
        let timeout = timeout.unwrap_or(self.timeout);
        self.began.set(now);
        self.until.set(now + timeout);
        self.stops.set(stops);
        self.stage.send_replace(Stage::Draining);
        self.wired.joined.member.tell(Intent::Drain);
        self.wired.wind(Wind::Drain).await;
        let entities = self.remaining(0).await.count;
        let node = self.name.to_string();
        self.teller.tell(|report| {
            *report = DrainReport {
                node,
                state: DrainReport::DRAINING.to_owned(),
                step: Some("moving".to_owned()),
                entities,
                ..DrainReport::default()
            };
        });
        let timeout = humantime::format_duration(timeout).to_string();
        tracing::info!(
            event = "node.draining", entities, timeout = %timeout,
            "node {} takes nobody in any more, and moves {entities} entities out", self.name
        );
        self.chronicle("node.draining", &json!({ "entities": entities }));
    }

    /// The node goes on. Who has moved stays where it is.
    async fn cancel(&self) -> Result<DrainReport, Problem> {
        if *self.stage.borrow() == Stage::Working {
            return Err(self.does_not_drain());
        }
        for scene in self.wired.scenes.all() {
            scene.tell(Evacuate::Cancel);
        }
        self.wired.wind(Wind::Reopen).await;
        self.wired.keep_homes();
        self.wired.joined.member.tell(Intent::Resume);
        self.stage.send_replace(Stage::Working);
        self.teller.tell(|report| {
            DrainReport::WORKING.clone_into(&mut report.state);
            report.step = None;
        });
        let DrainReport { moved, entities, .. } = self.teller.told();
        tracing::info!(
            event = "node.resumed",
            moved,
            entities,
            "node {} goes on after all; {moved} of {entities} entities have moved and stay where they are",
            self.name
        );
        self.chronicle("node.resumed", &json!({ "moved": moved, "entities": entities }));
        Ok(self.teller.told())
    }

    /// Does all there is to do before the goodbye.
    async fn empty(&self) -> Emptied {
        self.move_out().await;
        let left = self.remaining(KEPT_TOLD).await;
        self.tell_of(&left);
        if left.count > 0 && !self.stops.get() {
            self.list(&left, "it stays here, and the node with it");
            self.teller.tell(|report| {
                DrainReport::KEPT.clone_into(&mut report.state);
                report.step = None;
            });
            self.tell_the_end("node.kept", "is not empty, and stays");
            return Emptied::Kept;
        }
        self.step("handing_over");
        let homes = self.wired.hand_over_homes(self.left()).await;
        self.teller.tell(|report| report.homes = homes);
        self.step("settling");
        self.settle().await;
        self.end(&left);
        if self.teller.is_followed(FOLLOWED) {
            // Whoever follows is told of the end by this node: there is nobody else who could.
            tokio::time::sleep(LAST_WORDS).await;
        }
        Emptied::Drained
    }

    /// A second signal: what is under way gets a moment, the rest is listed.
    async fn end_at_once(&self) {
        for scene in self.wired.scenes.all() {
            scene.tell(Evacuate::Cancel);
        }
        self.wired.wind_down(SETTLE).await;
        let left = self.remaining(KEPT_TOLD).await;
        self.tell_of(&left);
        self.end(&left);
    }

    fn end(&self, left: &Remaining) {
        self.list(left, "it ends with the node");
        self.teller.tell(|report| {
            DrainReport::DRAINED.clone_into(&mut report.state);
            report.step = None;
        });
        self.tell_the_end("node.drained", "has drained");
    }

    /// Moves everybody out who can go, for as long as there is time.
    async fn move_out(&self) {
        let targets = self.targets().await;
        let deadline = self.moving_until();
        for scene in self.wired.scenes.all() {
            scene.tell(Evacuate::Begin { targets: targets.clone(), deadline });
        }
        let mut counted = self.clock.now();
        let mut hopeful = counted;
        loop {
            let far = self.wired.how_far().await;
            self.tell_progress(&far);
            let now = self.clock.now();
            if far.iter().all(|scene| scene.is_over) {
                return;
            }
            if self.may_get_on(&far) {
                hopeful = now;
            }
            if now >= self.moving_until() || hopeful + SETTLE < now {
                self.wired.scenes.all().iter().for_each(|scene| scene.tell(Evacuate::Cancel));
                return;
            }
            if counted + COUNT_EVERY < now {
                counted = now;
                let targets = self.targets().await;
                self.wired.scenes.all().iter().for_each(|scene| scene.tell(Evacuate::Retarget(targets.clone())));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Whether it makes sense to wait longer for those who have not left.
    ///
    /// Without a lease no scene takes a turn. Where everybody stops, there is neither a target nor a home that could
    /// answer. And where everybody has left or cannot, only copies may still come that their homes have not decided.
    fn may_get_on(&self, far: &[HowFar]) -> bool {
        let open = far.iter().any(|scene| scene.progress.under_way + scene.progress.waiting > 0);
        open && self.wired.joined.post.lease().is_held() && self.is_somebody_there()
    }

    /// The scenes of other nodes that take newcomers, and the room that they have.
    async fn targets(&self) -> Vec<Target> {
        let post = &self.wired.joined.post;
        let me = post.me();
        let view = post.view();
        let others = || view.members.values().map(|member| member.session).filter(|session| session.node != me.node);
        if !others().any(|session| view.is_live(session) && !post.is_gone(session)) {
            return Vec::new();
        }
        let Ok(Answer::Scenes(scenes)) = self.wired.desk.ask(Question::Scenes).await else { return Vec::new() };
        let target = |scene: SceneReport| {
            let own = view.own_of(view.scene_named(&scene.scene)?.id)?;
            if own.session == me || view.is_draining(own.session) {
                return None;
            }
            let taken = u32::try_from(scene.entities + scene.arriving).unwrap_or(u32::MAX);
            let room = Some(scene.capacity.saturating_sub(taken));
            (scene.state == "open").then_some(Target { own, capacity: scene.capacity, room })
        };
        scenes.into_iter().filter_map(target).collect()
    }

    /// Nothing more begins; what is under way ends, and what was accepted here is answered.
    async fn settle(&self) {
        tracing::info!(event = "node.stopping", "node {} stops", self.name);
        self.stage.send_replace(Stage::Stopping);
        self.wired.wind_down(SETTLE.min(self.left())).await;
        let mut waited = Duration::ZERO;
        while self.wired.backlog().await > 0 && self.left() > Duration::ZERO {
            // Where everybody stops there is nobody who could answer.
            if waited >= SETTLE && !self.is_somebody_there() {
                return;
            }
            tokio::time::sleep(LOOK).await;
            waited += LOOK;
        }
    }

    fn is_somebody_there(&self) -> bool {
        let post = &self.wired.joined.post;
        let view = post.view();
        let others = view.members.values().map(|member| member.session).filter(|session| *session != post.me());
        others.into_iter().any(|session| view.is_live(session) && !view.is_draining(session) && !post.is_gone(session))
    }

    async fn remaining(&self, limit: usize) -> Remaining {
        let mut all = Remaining::default();
        for Remaining { count, first, pauses_us } in self.wired.remaining(limit).await {
            all.count += count;
            all.first.extend(first);
            all.pauses_us.extend(pauses_us);
        }
        all.first.truncate(limit);
        all
    }

    fn tell_progress(&self, far: &[HowFar]) {
        let sum = |part: fn(&HowFar) -> u64| far.iter().map(part).sum::<u64>();
        let (moved, kept) = (sum(|scene| scene.progress.moved), sum(|scene| scene.progress.kept));
        let open = sum(|scene| scene.progress.under_way + scene.progress.waiting);
        self.teller.tell(|report| {
            report.moved = moved;
            report.kept = kept;
            report.entities = moved + kept + open;
            report.took_ms = self.took_ms();
        });
    }

    fn tell_of(&self, left: &Remaining) {
        self.teller.tell(|report| {
            report.kept = left.count;
            report.kept_first.clone_from(&left.first);
            report.entities = report.moved + left.count;
            report.pause_us = PauseReport::of(left.pauses_us.clone());
            report.took_ms = self.took_ms();
        });
    }

    fn step(&self, step: &str) {
        self.teller.tell(|report| {
            report.step = Some(step.to_owned());
            report.took_ms = self.took_ms();
        });
    }

    /// One line for each that could not move, the first ones.
    fn list(&self, left: &Remaining, what_follows: &str) {
        for KeptRow { entity, label, scene, reason, text } in &left.first {
            tracing::info!(
                event = "drain.kept", entity = %entity, label = label.as_deref(), scene = %scene, reason = %reason,
                "{entity} could not move: {text}; {what_follows}"
            );
        }
        let more = left.count.saturating_sub(left.first.len() as u64);
        if more > 0 {
            tracing::info!(event = "drain.kept", left_out = more, "{more} more could not move; {what_follows}");
        }
    }

    fn tell_the_end(&self, event: &'static str, words: &str) {
        self.teller.tell(|report| report.took_ms = self.took_ms());
        let DrainReport { moved, kept, homes, took_ms, pause_us, .. } = self.teller.told();
        tracing::info!(
            event,
            moved,
            kept,
            homes,
            took_ms,
            pause_p50_us = pause_us.p50,
            pause_p99_us = pause_us.p99,
            "node {} {words}: {moved} entities moved, {kept} could not, {homes} homes were handed over",
            self.name
        );
        self.chronicle(event, &json!({ "moved": moved, "kept": kept, "homes": homes, "took_ms": took_ms }));
    }

    fn chronicle(&self, event: &str, fields: &serde_json::Value) {
        take_down(&self.wired.chronicle, Happening::now(event, fields, self.clock));
    }

    fn took_ms(&self) -> u64 {
        self.clock.now().since(self.began.get()) / 1000
    }

    fn left(&self) -> Duration {
        Duration::from_micros(self.until.get().since(self.clock.now()))
    }

    /// A part of the time is for what comes after.
    fn moving_until(&self) -> Now {
        let (began, until) = (self.began.get(), self.until.get());
        began + Duration::from_micros(until.since(began) / 5 * 4)
    }

    fn does_not_drain(&self) -> Problem {
        Problem {
            kind: ProblemKind::Refused,
            reason: "not_draining".to_owned(),
            text: format!("node {} does not drain", self.name),
            state: Some("it takes newcomers in, as before".to_owned()),
            hint: Some("slipgate nodes".to_owned()),
        }
    }

    fn stops_for_good(&self) -> Problem {
        Problem {
            kind: ProblemKind::Refused,
            reason: "stopping".to_owned(),
            text: format!("node {} was told to stop by a signal, and that is for good", self.name),
            state: Some("whoever sent the signal waits for its end".to_owned()),
            hint: Some(format!("start it again after that; slipgate drain {} --wait", self.name)),
        }
    }
}

/// Between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(20);
/// How long moves under way may take to settle at the end.
const SETTLE: Duration = Duration::from_secs(1);
/// Between two counts of the room that others have.
const COUNT_EVERY: Duration = Duration::from_secs(2);
/// Entities named one by one that could not move: more are a page that nobody reads.
const KEPT_TOLD: usize = 100;
/// Whoever has looked within this time follows the drain.
const FOLLOWED: Duration = Duration::from_secs(1);
/// How long the last report may take to whoever follows.
const LAST_WORDS: Duration = Duration::from_millis(250);
