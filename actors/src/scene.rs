//! A scene on its arbiter: its entities' bodies, and the machine that says what becomes of them.
//!
//! ```text
//!   mail, questions --> machine --> apply, encode, decode: on the bodies here
//!                               --> envelopes: one batch a turn, to the post
//!                               --> events: a log line, the chronicle
//! ```
//!
//! Keeps: a turn's outputs are done in their order; what a handler sends is handed in before the next
//! output is done; a panic in game code ends what was called of it, and nothing else.
//! Leaves out: decisions.

mod bodies;
mod closing;
mod episode;
mod evacuating;
mod meters;
mod question;
mod returns;
mod room;
mod story;
mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message};
use slipgate_cluster::message::Message as Said;
use slipgate_cluster::scene::{Answer, Departure, Destination, Event, Input, OnPanic, Output, Scene, Settings, Ticket};
use slipgate_cluster::{Envelope, Now, Own, Session, evacuation};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{SceneInfo, Types};

use self::bodies::Bodies;
pub use self::closing::CloseScene;
use self::closing::Told;
pub use self::episode::Episode;
use self::episode::What;
pub use self::evacuating::{Cause, Evacuate, HowFar, Remaining};
use self::evacuating::{Evacuating, Watch};
use self::meters::Meters;
pub use self::question::{
    AskScene, Despawn, DespawnAnswer, MoveAnswer, MoveOrder, Question, SceneCensus, SceneEntity, SpawnError,
    SpawnOrder, Spawned, UnparkAnswer, Which,
};
use self::returns::Returns;
use self::room::Room;
use self::story::Names;
pub use self::story::{Story, explain, outcome_word, place_after, scene_text};
use self::turns::{Delivery, Wishes};
use crate::chronicle::{Chronicle, Happening, take_down};
use crate::clock::NodeClock;
use crate::directory::{DirectoryActor, GlobalsHere, Register};
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::post::Post;
use crate::router::{Adopt, RouterActor};
use crate::rows::{self, Rows};
use crate::scenes::keeper::SceneKeeper;
use crate::voices::Voices;

/// The directory's answer to a registration.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Registered {
    /// The spawn.
    pub ticket: Ticket,
    /// The id; none while the node has no range.
    pub entity: Option<OnlineId>,
}

/// The link to a session is lost, or the session is over.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct PeerLost(pub Session);

/// The node drains, goes on or stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub enum Wind {
    /// Take nobody in any more; who lives here may leave.
    Drain,
    /// The drain is called off.
    Reopen,
    /// Begin nothing more.
    Down,
    /// Answer every move that is still under way.
    Up,
}

/// What a scene's actor needs of its node.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where envelopes go.
    pub post: Post,
    /// The node's clock.
    pub clock: NodeClock,
    /// The types that it can host.
    pub types: Types,
    /// What of what entities say goes into the log.
    pub voices: Voices,
    /// The node's directory.
    pub directory: Mailbox<DirectoryActor>,
    /// The router of the same arbiter.
    pub router: Mailbox<RouterActor>,
    /// The node's chronicle.
    pub chronicle: Mailbox<Chronicle>,
    /// Hears how far a scene is that can be closed while the node goes on.
    pub keeper: Option<Mailbox<SceneKeeper>>,
}

/// A scene's actor.
#[derive(Debug)]
pub struct SceneActor {
    machine: Scene,
    me: Own,
    on_panic: OnPanic,
    room: Room,
    bodies: Bodies,
    wishes: Wishes,
    returns: Returns,
    /// Spawns whose entities could not live, and why.
    unfit: BTreeMap<Ticket, SpawnError>,
    voices: Voices,
    around: Surroundings,
    mailbox: Option<Mailbox<SceneActor>>,
    asked: BTreeMap<Ticket, question::Asker>,
    last_ticket: u64,
    letters: Vec<Envelope>,
    names: Names,
    /// Kept between steps for its room: a step of its own for each message, an allocation for none.
    outputs: Vec<Output>,
    applied: u64,
    view_version: u64,
    /// What this node itself told while there was no lease: nobody says it again.
    deferred: Vec<Input>,
    /// While everybody is to leave, and after that until the scene is asked again.
    evacuating: Option<Evacuating>,
    /// Who waits for news of that.
    watches: Vec<Watch>,
    /// What the keeper was told.
    told: Told,
    meters: Meters,
    rows: Rows,
}

impl SceneActor {
    /// The scene that `settings` describe, without entities; the first tenant of a slot has `first_generation`.
    #[must_use]
    pub fn new(settings: Settings, around: Surroundings, first_generation: u32) -> Self {
        let (me, on_panic, capacity) = (settings.me, settings.on_panic, settings.capacity);
        let view = around.post.view();
        let scene = SceneInfo { id: me.scene, name: view.scene_text(me.scene), node: view.node_text(me.session.node) };
        Self {
            machine: Scene::new(settings),
            me,
            on_panic,
            room: Room::new(around.post.budget()),
            bodies: Bodies::new(scene, around.clock.now(), capacity, first_generation, around.types.clone()),
            wishes: Wishes::default(),
            returns: Returns::default(),
            unfit: BTreeMap::new(),
            voices: around.voices.clone(),
            around,
            mailbox: None,
            asked: BTreeMap::new(),
            last_ticket: 0,
            letters: Vec::new(),
            names: Names::default(),
            outputs: Vec::new(),
            applied: 0,
            view_version: 0,
            deferred: Vec::new(),
            evacuating: None,
            watches: Vec::new(),
            told: Told::default(),
            meters: Meters::default(),
            rows: Rows::new("slipgate_scene_rows"),
        }
    }

    /// Hands in what other nodes say, or time. Without a lease it is left: whoever keeps it says it again.
    fn turn(&mut self, inputs: impl IntoIterator<Item = Input>) {
        if self.around.post.lease().is_held() {
            self.give(inputs);
        }
    }

    /// Hands in what this node itself says; without a lease it waits for one.
    fn turn_or_defer(&mut self, inputs: impl IntoIterator<Item = Input>) {
        if self.around.post.lease().is_held() {
            self.give(inputs);
        } else {
            self.deferred.extend(inputs);
        }
    }

    /// Hands in inputs, then acknowledges and sends what came of them.
    fn give(&mut self, inputs: impl IntoIterator<Item = Input>) {
        let now = self.around.clock.now();
        // First of all: what comes was said by whoever has at least as new a view.
        if self.around.post.view_version() > self.view_version {
            let view = self.around.post.view();
            self.view_version = view.version;
            self.step(Input::View(view), now);
        }
        self.bodies.know(self.around.post.globals());
        for input in std::mem::take(&mut self.deferred).into_iter().chain(inputs) {
            self.step(input, now);
        }
        self.fire_due(now);
        self.evacuate(now);
        self.tell_keeper();
        self.answer_watches();
        // What entities of the scene said to each other has been applied then, and may have been answered.
        for _ in 0..ANSWERS {
            let granted = self.grant_wishes(now);
            self.step(Input::Flush, now);
            if !granted && !self.machine.has_said() {
                break;
            }
        }
        if let Some(entities) = self.bodies.global_news() {
            self.around.directory.tell(GlobalsHere { scene: self.me.scene, entities });
        }
        self.room.settle(self.machine.waits());
        // The next turn has about as many, mostly.
        let room = Vec::with_capacity(self.letters.len());
        self.around.post.send(std::mem::replace(&mut self.letters, room));
    }

    fn step(&mut self, mut input: Input, now: Now) {
        self.prepare(&mut input, now);
        // A step within a step, for what a handler sends, finds no room kept and makes its own.
        let mut out = std::mem::take(&mut self.outputs);
        if let Some(allowed) = self.room.make(self.machine.waits()) {
            self.machine.handle(Input::Allow(allowed), now, &mut out);
        }
        self.machine.handle(input, now, &mut out);
        for output in out.drain(..) {
            self.perform(output, now);
        }
        self.outputs = out;
    }

    fn perform(&mut self, output: Output, now: Now) {
        match output {
            Output::Apply { entity, sender, message, payload } => {
                self.apply(Delivery { entity, sender, message, payload }, now);
            }
            Output::Park { entity } => self.bodies.park(entity),
            Output::Unpark { entity } => {
                self.bodies.unpark(entity);
                self.tell_life(entity, What::Unparked);
                self.come_in(entity, now);
            }
            Output::Register { ticket, label } => {
                let scene = self.mailbox.clone().expect("the mailbox is made when the actor starts");
                self.around.directory.tell(Register { ticket, owner: self.me, label, scene });
            }
            Output::Create { ticket, entity, .. } => self.create(ticket, entity, now),
            Output::Encode { entity } => self.encode(entity, now),
            Output::Decode { entity, prepare } => {
                let result = self.bodies.stage(entity, &prepare.image, prepare.from.scene, now);
                self.step(Input::Decoded { entity, label: prepare.label, result }, now);
            }
            Output::Install { entity } => {
                let turned = self.bodies.install(entity, now);
                self.turned(entity, turned, now);
                self.news_of(entity);
            }
            Output::DropStaged { entity } => self.bodies.drop_staged(entity),
            Output::Remove { entity, why } => {
                if why == Departure::Despawned {
                    self.tell_life(entity, What::Despawned);
                }
                self.remove(entity, matches!(why, Departure::Moved(_)), now);
                self.news(evacuation::Input::Gone(entity));
            }
            Output::Adopt(orphans) => self.around.router.tell(Adopt(orphans)),
            Output::Bounced { entity, to, payload, why } => self.bounced(entity, to, payload, why, now),
            Output::Send { to, message } => self.write(to, message),
            Output::Answer { ticket, answer } => self.answer(ticket, answer, now),
            Output::Event(event) => self.report(event, now),
        }
    }

    fn write(&mut self, to: Destination, message: Said) {
        let to = match to {
            Destination::Place(place) => Some(place),
            Destination::Home(entity) => self.around.post.home_of(entity),
        };
        // A home that nobody has told us of yet is asked again by the repeat.
        if let Some(to) = to {
            self.letters.push(Envelope { from: self.me.into(), to, message });
        }
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer, now: Now) {
        if let Some(body) = self.wishes.not_born(ticket) {
            Bodies::discard(*body);
        }
        let unfit = self.unfit.remove(&ticket);
        match self.asked.remove(&ticket) {
            Some(question::Asker::Evacuation { entity, .. }) => self.leave_ended(entity, answer),
            Some(question::Asker::Spawn(reply)) if let Some(reason) = unfit => {
                drop(reply.send(Err(reason)));
            }
            Some(question::Asker::Mover(entity)) => {
                if let Answer::Rejected(error) = answer {
                    self.move_rejected(entity, &error, now);
                }
            }
            Some(asker) => asker.answer(answer),
            None => {}
        }
    }

    fn report(&mut self, event: Event, now: Now) {
        Self::measure(&event);
        if let Event::MoveEnded { done, .. } = &event {
            self.move_ended(done, now);
        } else if let Event::MoveDecided { entity, .. } = event {
            self.move_decided(entity, now);
        }
        self.names.look_at(self.around.post.view());
        let story = Story::new(event, self.me, self.around.clock.unix_ms(), &mut self.names);
        story.log();
        take_down(&self.around.chronicle, Happening::Move(story));
    }

    /// Tells watchers what becomes of an entity that is here.
    fn tell_life(&mut self, entity: OnlineId, what: What) {
        let Some(who) = self.bodies.who(entity).cloned() else { return };
        self.names.look_at(self.around.post.view());
        let (scene, unix_ms) = (self.names.of(self.me), self.around.clock.unix_ms());
        take_down(&self.around.chronicle, Happening::Life(Episode { who, what, scene, unix_ms }));
    }
}

impl Actor for SceneActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.mailbox = Some(Mailbox::new(ctx.address(), MAILBOX));
        ctx.run_interval(TICK, |actor, _| actor.turn([Input::Tick]));
        // Whoever scrapes finds the scene however short its life is.
        self.tell_gauges();
        ctx.run_interval(GAUGES, |actor, _| actor.tell_gauges());
        ctx.run_interval(ROWS, |actor, _| actor.rows.tell(rows::of_scene(&actor.machine.tables())));
    }
}

impl Handler<Halt> for SceneActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        self.take_share_back();
        self.rows.take_back();
        self.around.directory.tell(GlobalsHere { scene: self.me.scene, entities: BTreeMap::new() });
        ctx.stop();
    }
}

impl Handler<Mail> for SceneActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        self.turn(mail.envelopes.into_iter().map(|Envelope { from, message, .. }| Input::Heard { from, message }));
    }
}

impl Handler<Registered> for SceneActor {
    type Result = ();

    fn handle(&mut self, Registered { ticket, entity }: Registered, _: &mut Context<Self>) {
        self.turn_or_defer([match entity {
            Some(entity) => Input::Registered { ticket, entity },
            None => Input::NotRegistered { ticket },
        }]);
    }
}

impl Handler<PeerLost> for SceneActor {
    type Result = ();

    fn handle(&mut self, PeerLost(session): PeerLost, _: &mut Context<Self>) {
        self.turn_or_defer([Input::PeerLost(session)]);
    }
}

impl Handler<Wind> for SceneActor {
    type Result = ();

    fn handle(&mut self, wind: Wind, _: &mut Context<Self>) {
        self.turn_or_defer([match wind {
            Wind::Drain => Input::Drain,
            Wind::Reopen => Input::Reopen,
            Wind::Down => Input::Shut,
            Wind::Up => Input::Stop,
        }]);
    }
}

/// Messages to entities that may wait for a scene. Some turns of a busy one.
const MAILBOX: usize = 1 << 16;
/// How often entities of the scene answer each other within one turn: then others have theirs.
const ANSWERS: usize = 16;
/// How often waits are looked at: a scene's turn at 20 Hz would be too coarse for the first repeats.
const TICK: Duration = Duration::from_millis(20);
/// How often gauges are told.
const GAUGES: Duration = Duration::from_secs(1);
/// How often rows of tables are counted, which walks over all entities: some milliseconds for 100,000.
const ROWS: Duration = Duration::from_secs(5);
