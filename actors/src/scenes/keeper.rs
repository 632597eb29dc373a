//! Opens and ends the scenes of this node that are made at run time, as the view says.
//!
//! Keeps: whoever waits for the end of a scene is told when an attempt to clear it is over.
//! Leaves out: decisions (`slipgate_cluster::hosting`, `slipgate_cluster::evacuation`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, WrapFuture};
use serde_json::json;
use slipgate_cluster::bounds::SCENES;
use slipgate_cluster::hosting::{Hosting, Input, Output};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::view::ScenePlacement;
use slipgate_cluster::{Port, View};
use slipgate_entity::SceneId;
use tokio::sync::oneshot;

use super::Scenes;
use super::room::find_targets;
use super::workshop::{Plan, Workshop};
use crate::chronicle::{Happening, take_down};
use crate::clock::NodeClock;
use crate::desk::Desk;
use crate::mailbox::{Halt, Mailbox};
use crate::post::Post;
use crate::scene::{Cause, CloseScene, Evacuate, SceneActor, Wind};

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

/// The node drains, goes on or stops: every scene is told, those included that are made meanwhile.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct WindAll {
    /// What they are told.
    pub wind: Wind,
    /// Told once they all have it in their mailboxes.
    pub told: oneshot::Sender<()>,
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
    waiting: BTreeMap<SceneId, Vec<oneshot::Sender<()>>>,
}

impl SceneKeeper {
    /// A keeper that makes scenes in `workshop`; `manager` is the name of the manager's node.
    #[must_use]
    pub fn new(workshop: Workshop, post: Post, clock: NodeClock, manager: String) -> Self {
        let machine = Hosting::new(post.me());
        Self { machine, workshop, post, clock, manager, desk: None, mailbox: None, waiting: BTreeMap::new() }
    }

    fn scenes(&self) -> &Scenes {
        self.workshop.scenes()
    }

    fn give(&mut self, input: Input, ctx: &mut Context<Self>) {
        let mut out = Vec::new();
        self.machine.handle(input, self.clock.now(), &mut out);
        for output in out {
            match output {
                Output::Open { placement, first_generation } => self.open(&placement, first_generation),
                Output::CannotOpen(ScenePlacement { id, name, .. }) => tracing::warn!(
                    event = "scene.not_opened", scene = %name, number = %id,
                    "this node cannot open scene {name}: it has {SCENES} already, or its number is used up here"
                ),
                Output::Close(scene) => {
                    self.tell_scene(scene, CloseScene);
                    self.chronicle("scene.closing", scene);
                }
                Output::CountRoom => self.count_room(ctx),
                Output::Evacuate { scene, targets, deadline } => {
                    self.tell_scene(scene, Evacuate::Begin { cause: Cause::Close, targets, deadline });
                }
                Output::Retarget { scene, targets } => {
                    self.tell_scene(scene, Evacuate::Retarget { cause: Cause::Close, targets });
                }
                Output::Despawn { scene, deadline } => self.tell_scene(scene, Evacuate::Despawn { deadline }),
                Output::Wake(scene) => self.wake(scene),
                Output::Over(scene) => {
                    self.scenes().set_over(scene);
                    self.chronicle("scene.closed", scene);
                    self.wake(scene);
                }
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

    fn tell_scene<M>(&self, scene: SceneId, message: M)
    where
        M: Message<Result = ()> + Send + 'static,
        SceneActor: Handler<M>,
    {
        if let Some(mailbox) = self.scenes().get(scene) {
            mailbox.tell(message);
        }
    }

    fn open(&mut self, placement: &ScenePlacement, first_generation: u32) {
        let ScenePlacement { id: scene, name, capacity, .. } = placement;
        let keeper = self.mailbox.clone();
        self.workshop.open(Plan { scene: *scene, capacity: *capacity, first_generation, keeper });
        tracing::info!(event = "scene.opened", scene = %name, number = %scene, capacity, "scene {name} is open");
        self.chronicle("scene.opened", *scene);
    }

    /// Tells watchers about a scene, in the words of the log.
    fn chronicle(&self, event: &str, scene: SceneId) {
        let fields = json!({ "scene": self.post.view().scene_text(scene), "number": scene.to_string() });
        take_down(self.workshop.chronicle(), Happening::now(event, &fields, self.clock));
    }

    fn tell_gauges(&self) {
        let (open, over) = self.scenes().count();
        for (state, count) in [("open", open), ("over", over)] {
            #[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
            metrics::gauge!("slipgate_scenes", "state" => state).set(count as f64);
        }
        self.post.budget().tell_gauges();
    }

    /// Finds out which scenes take newcomers, and how much room they have.
    fn count_room(&self, ctx: &mut Context<Self>) {
        let targets = find_targets(self.post.clone(), self.desk.clone(), None);
        ctx.spawn(actix::fut::ActorFutureExt::map(targets.into_actor(self), |targets, actor: &mut Self, ctx| {
            actor.give(Input::Room(targets), ctx);
        }));
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
            SceneNews::Evacuated => self.give(Input::AttemptEnded(scene), ctx),
            SceneNews::Cleared { highest_generation } => self.give(Input::Cleared { scene, highest_generation }, ctx),
            SceneNews::Forgotten => self.give(Input::Forgotten(scene), ctx),
        }
    }
}

impl Handler<WindAll> for SceneKeeper {
    type Result = ();

    fn handle(&mut self, WindAll { wind, told }: WindAll, ctx: &mut Context<Self>) {
        self.give(if wind == Wind::Reopen { Input::Resume } else { Input::Drain }, ctx);
        self.scenes().all().iter().for_each(|scene| scene.tell(wind));
        // Whoever has given up waiting has no use for it.
        let _ = told.send(());
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
        self.give(Input::Awaited(scene), ctx);
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
