//! Opens and ends the scenes of this node that are made at run time, as the view says.
//!
//! Keeps: a scene that closes by moving everybody out learns of the room that others have while it does; whoever waits
//! for its end is told when an attempt is over.
//! Leaves out: decisions (`slipgate_cluster::hosting`, `slipgate_cluster::evacuation`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, WrapFuture};
use serde_json::json;
use slipgate_cluster::bounds::SCENES;
use slipgate_cluster::evacuation::Target;
use slipgate_cluster::hosting::{Hosting, Input, Output};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::view::{Clearing, ScenePlacement};
use slipgate_cluster::{Port, View};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{Answer, Event, Question};
use tokio::sync::oneshot;

use super::Scenes;
use super::workshop::{Plan, Workshop};
use crate::chronicle::{Happening, take_down};
use crate::clock::NodeClock;
use crate::desk::Desk;
use crate::mailbox::{Halt, Mailbox};
use crate::post::Post;
use crate::scene::{CloseScene, Evacuate};

/// The cluster has changed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Seen(pub Arc<View>);

/// The node's desk: it knows how much room others have.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Meet(pub Desk);

/// A scene tells how far it is.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct SceneTells {
    /// Which one.
    pub scene: SceneId,
    /// What.
    pub news: SceneNews,
}

/// What a scene that is being closed has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneNews {
    /// The evacuation is over, and somebody is left.
    Evacuated,
    /// Nobody is left, and no handle has a higher generation than this.
    Cleared {
        /// The highest generation of a slot.
        highest_generation: u32,
    },
    /// Nor does it know any more where everybody went.
    Forgotten,
}

/// Somebody waits for a scene that closes: for its end, or for the end of an attempt to clear it. Where none is under
/// way, another one begins.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Await {
    /// Which one.
    pub scene: SceneId,
    /// Told then.
    pub reply: oneshot::Sender<()>,
}

/// The keeper's actor.
#[derive(Debug)]
pub struct SceneKeeper {
    machine: Hosting,
    workshop: Workshop,
    post: Post,
    clock: NodeClock,
    /// Name of the manager's node.
    manager: String,
    desk: Option<Desk>,
    mailbox: Option<Mailbox<SceneKeeper>>,
    clearings: BTreeMap<SceneId, Attempt>,
    waiting: BTreeMap<SceneId, Vec<oneshot::Sender<()>>>,
    /// By number: the highest generation that a handle of an ended scene has.
    generations: BTreeMap<u16, u32>,
}

/// How a scene is being cleared.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    clearing: Clearing,
    under_way: bool,
}

impl SceneKeeper {
    /// A keeper that makes scenes in `workshop`; `manager` is the name of the manager's node.
    #[must_use]
    pub fn new(workshop: Workshop, post: Post, clock: NodeClock, manager: String) -> Self {
        Self {
            machine: Hosting::new(post.me()),
            workshop,
            post,
            clock,
            manager,
            desk: None,
            mailbox: None,
            clearings: BTreeMap::new(),
            waiting: BTreeMap::new(),
            generations: BTreeMap::new(),
        }
    }

    fn scenes(&self) -> &Scenes {
        self.workshop.scenes()
    }

    fn give(&mut self, input: Input, ctx: &mut Context<Self>) {
        let mut out = Vec::new();
        self.machine.handle(input, self.clock.now(), &mut out);
        for output in out {
            match output {
                Output::Open(placement) => {
                    let answer = self.open(&placement);
                    self.give(answer, ctx);
                }
                Output::Close { scene, clearing } => self.close(scene, clearing, ctx),
                Output::End(scene) => {
                    if let Some(mailbox) = self.workshop.close(scene) {
                        mailbox.tell(Halt);
                    }
                }
                Output::Ask(request) => {
                    if let Some(manager) = self.post.manager(&self.manager) {
                        self.post.send_one(Port::Member, manager, Said::Manager(ManagerMessage::Request(request)));
                    }
                }
            }
        }
    }

    fn open(&mut self, placement: &ScenePlacement) -> Input {
        let ScenePlacement { id: scene, name, capacity, .. } = placement;
        let highest = self.generations.get(&scene.number()).copied().unwrap_or(0);
        let first_generation = highest.checked_add(1).filter(|_| self.machine.len() <= SCENES);
        let Some(first_generation) = first_generation else {
            tracing::warn!(
                event = "scene.not_opened", scene = %name, number = %scene,
                "this node cannot open scene {name}: it has {SCENES} already, or its number is used up here"
            );
            return Input::NotOpened(*scene);
        };
        let keeper = self.mailbox.clone();
        self.workshop.open(Plan { scene: *scene, capacity: *capacity, first_generation, keeper });
        tracing::info!(event = "scene.opened", scene = %name, number = %scene, capacity, "scene {name} is open");
        self.chronicle("scene.opened", *scene);
        Input::Opened(*scene)
    }

    /// Tells watchers about a scene, in the words of the log.
    fn chronicle(&self, event: &str, scene: SceneId) {
        let view = self.post.view();
        let name = view.scenes.get(&scene).map_or_else(|| scene.to_string(), |known| known.name.to_string());
        let event = Event {
            node: String::new(),
            number: 0,
            ts: self.clock.rfc3339(),
            event: event.to_owned(),
            fields: json!({ "scene": name, "number": scene.to_string() }).to_string(),
        };
        take_down(self.workshop.chronicle(), Happening::Else(event));
    }

    fn tell_gauges(&self) {
        let (open, over) = self.scenes().count();
        for (state, count) in [("open", open), ("over", over)] {
            #[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
            metrics::gauge!("slipgate_scenes", "state" => state).set(count as f64);
        }
    }

    fn close(&mut self, scene: SceneId, clearing: Clearing, ctx: &mut Context<Self>) {
        let Some(mailbox) = self.scenes().get(scene) else { return };
        mailbox.tell(CloseScene);
        self.chronicle("scene.closing", scene);
        self.clearings.insert(scene, Attempt { clearing, under_way: true });
        self.begin(scene, ctx);
    }

    /// Begins an attempt to clear a scene.
    fn begin(&mut self, scene: SceneId, ctx: &mut Context<Self>) {
        let Some(attempt) = self.clearings.get_mut(&scene) else { return };
        attempt.under_way = true;
        match attempt.clearing {
            Clearing::Move => self.with_targets(ctx, move |actor, targets| {
                let still = actor.clearings.get(&scene).is_some_and(|attempt| attempt.clearing == Clearing::Move);
                if let Some(mailbox) = actor.scenes().get(scene).filter(|_| still) {
                    mailbox.tell(Evacuate::Begin { targets, deadline: actor.clock.now() + ATTEMPT });
                }
            }),
            Clearing::Despawn => {
                if let Some(mailbox) = self.scenes().get(scene) {
                    mailbox.tell(Evacuate::Despawn { deadline: self.clock.now() + ATTEMPT });
                }
            }
        }
    }

    /// Finds out which scenes take newcomers, and how much room they have.
    fn with_targets(&self, ctx: &mut Context<Self>, then: impl FnOnce(&mut Self, Vec<Target>) + 'static) {
        let (post, desk) = (self.post.clone(), self.desk.clone());
        let targets = async move {
            let told = match desk {
                Some(desk) => desk.ask(Question::Scenes).await.ok(),
                None => None,
            };
            let reports = if let Some(Answer::Scenes(reports)) = told { reports } else { Vec::new() };
            let view = post.view();
            let target = |placement: &ScenePlacement| {
                let own = view.own_of(placement.id).filter(|own| !post.is_gone(own.session))?;
                let report = reports.iter().find(|report| report.scene == placement.name.as_str());
                let taken = |taken: u64| u32::try_from(taken).unwrap_or(u32::MAX);
                let room =
                    report.map(|report| report.capacity.saturating_sub(taken(report.entities + report.arriving)));
                let takes = report.is_none_or(|report| report.state == "open") && !view.is_draining(own.session);
                takes.then_some(Target { own, capacity: placement.capacity, room })
            };
            view.scenes.values().filter_map(target).collect()
        };
        ctx.spawn(actix::fut::ActorFutureExt::map(
            targets.into_actor(self),
            |targets: Vec<Target>, actor: &mut Self, _| {
                then(actor, targets);
            },
        ));
    }

    /// Those that move everybody out hear how much room there is now.
    fn retarget(&mut self, ctx: &mut Context<Self>) {
        let moves = |attempt: &Attempt| attempt.under_way && attempt.clearing == Clearing::Move;
        if !self.clearings.values().any(moves) {
            return;
        }
        self.with_targets(ctx, move |actor, targets| {
            for (scene, _) in actor.clearings.iter().filter(|(_, attempt)| moves(attempt)) {
                if let Some(mailbox) = actor.scenes().get(*scene) {
                    mailbox.tell(Evacuate::Retarget(targets.clone()));
                }
            }
        });
    }

    fn attempt_ended(&mut self, scene: SceneId, ctx: &mut Context<Self>) {
        if let Some(attempt) = self.clearings.get_mut(&scene) {
            attempt.under_way = false;
            if attempt.clearing == Clearing::Despawn {
                // A home did not answer in time. What was despawned once is not asked for its wish again.
                ctx.run_later(AGAIN, move |actor, ctx| {
                    if actor.clearings.get(&scene).is_some_and(|attempt| !attempt.under_way) {
                        actor.begin(scene, ctx);
                    }
                });
            }
        }
        self.wake(scene);
    }

    fn wake(&mut self, scene: SceneId) {
        for reply in self.waiting.remove(&scene).unwrap_or_default() {
            // Whoever has given up waiting misses nothing that the lists do not say.
            let _ = reply.send(());
        }
    }
}

impl Actor for SceneKeeper {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.mailbox = Some(Mailbox::new(ctx.address(), MAILBOX));
        ctx.run_interval(TICK, |actor, ctx| {
            actor.give(Input::Tick, ctx);
            actor.tell_gauges();
        });
        ctx.run_interval(RETARGET, Self::retarget);
    }
}

impl Handler<Seen> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, Seen(view): Seen, ctx: &mut Context<Self>) {
        self.give(Input::View(view), ctx);
    }
}

impl Handler<Meet> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, Meet(desk): Meet, _: &mut Context<Self>) {
        self.desk = Some(desk);
    }
}

impl Handler<SceneTells> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, SceneTells { scene, news }: SceneTells, ctx: &mut Context<Self>) {
        match news {
            SceneNews::Evacuated => self.attempt_ended(scene, ctx),
            SceneNews::Cleared { highest_generation } => {
                self.clearings.remove(&scene);
                self.generations.insert(scene.number(), highest_generation);
                self.scenes().set_over(scene);
                self.chronicle("scene.closed", scene);
                self.give(Input::Cleared(scene), ctx);
                self.wake(scene);
            }
            SceneNews::Forgotten => self.give(Input::Forgotten(scene), ctx),
        }
    }
}

impl Handler<Await> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, Await { scene, reply }: Await, ctx: &mut Context<Self>) {
        if self.scenes().get(scene).is_none() {
            let _ = reply.send(());
            return;
        }
        let waiting = self.waiting.entry(scene).or_default();
        waiting.retain(|reply| !reply.is_closed());
        waiting.push(reply);
        if self.clearings.get(&scene).is_some_and(|attempt| !attempt.under_way) {
            self.begin(scene, ctx);
        }
    }
}

impl Handler<Halt> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

/// News of scenes that may wait; each scene has a few in its life.
const MAILBOX: usize = 1 << 16;
/// How often it is looked whether the manager knows.
const TICK: Duration = Duration::from_millis(250);
/// Between two counts of the room that others have.
const RETARGET: Duration = Duration::from_secs(2);
/// How long one attempt to clear a scene may take: a scene of 100,000 takes some seconds, if others have room.
const ATTEMPT: Duration = Duration::from_secs(60);
/// How long a despawn waits that had no answer in time.
const AGAIN: Duration = Duration::from_secs(1);
