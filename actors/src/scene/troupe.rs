//! The machine of a scene together with the bodies that it speaks of: all of a scene but its mailbox and its timers.
//!
//! ```text
//!   outlook, inputs, questions --> machine --> apply, encode, decode: on the bodies here
//!                                          --> envelopes  \
//!                                          --> orders      > taken by whoever gave the turn
//! ```
//!
//! It is called and returns: the scene's actor calls it, and so does a simulation, which plays the same game on a clock
//! and a network of its own.
//!
//! Keeps: a turn's outputs are done in their order; what a handler sends is handed in before the next
//! output is done; a panic in game code ends what was called of it, and nothing else. Nothing here reads a clock, and what
//! is random comes from [`Fresh`].
//! Leaves out: decisions; whom orders are for.

use std::collections::BTreeMap;

use slipgate_cluster::message::Message as Said;
use slipgate_cluster::scene::{
    Answer, Departure, Destination, Event, Input, OnPanic, Orphan, Output, Scene, Settings, Ticket,
};
use slipgate_cluster::{Envelope, Now, Own, evacuation};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{SceneInfo, Types};

use super::bodies::Bodies;
use super::closing::Told;
use super::episode::{Episode, What};
use super::evacuating::{Evacuating, Watch};
use super::fresh::Fresh;
use super::outlook::Outlook;
use super::question::{Asker, SpawnError};
use super::returns::Returns;
use super::room::Room;
use super::story::{Names, Story};
use super::turns::{Delivery, Wishes};
use crate::budget::NodeBudget;
use crate::chronicle::Happening;
use crate::scenes::keeper::SceneNews;
use crate::voices::Voices;

/// What a scene has of its node for as long as it is open.
#[derive(Clone, Debug)]
pub struct Means {
    /// The types that it can host.
    pub types: Types,
    /// What of what entities say goes into the log.
    pub voices: Voices,
    /// What may wait on the node.
    pub budget: NodeBudget,
    /// Where its fresh numbers come from.
    pub fresh: Fresh,
    /// The first tenant of a slot has this generation.
    pub first_generation: u32,
}

/// What a turn wants done by the node.
#[derive(Debug)]
pub enum Order {
    /// Give an entity an id: [`Input::Registered`], or [`Input::NotRegistered`], is to follow.
    Register {
        /// The spawn.
        ticket: Ticket,
        /// The entity's label.
        label: Option<String>,
    },
    /// Go on with streams that their senders leave behind.
    Adopt(Vec<Orphan>),
    /// Take this down for watchers.
    TakeDown(Happening),
    /// These are the global entities here.
    Globals(BTreeMap<OnlineId, String>),
    /// The end of the scene is so far.
    Tell(SceneNews),
}

/// A scene's machine and bodies.
#[derive(Debug)]
pub struct Troupe {
    pub(super) machine: Scene,
    pub(super) me: Own,
    pub(super) on_panic: OnPanic,
    room: Room,
    pub(super) bodies: Bodies,
    pub(super) wishes: Wishes,
    pub(super) returns: Returns,
    /// Spawns whose entities could not live, and why.
    pub(super) unfit: BTreeMap<Ticket, SpawnError>,
    pub(super) voices: Voices,
    pub(super) fresh: Fresh,
    pub(super) outlook: Outlook,
    pub(super) asked: BTreeMap<Ticket, Asker>,
    pub(super) last_ticket: u64,
    pub(super) letters: Vec<Envelope>,
    pub(super) orders: Vec<Order>,
    names: Names,
    /// Kept between steps for its room: a step of its own for each message, an allocation for none.
    outputs: Vec<Output>,
    pub(super) applied: u64,
    view_version: u64,
    /// What this node itself told while there was no lease: nobody says it again.
    deferred: Vec<Input>,
    /// While everybody is to leave, and after that until the scene is asked again.
    pub(super) evacuating: Option<Evacuating>,
    /// Who waits for news of that.
    pub(super) watches: Vec<Watch>,
    /// What the keeper was told.
    pub(super) told: Told,
}

impl Troupe {
    /// The scene that `settings` describe, without entities.
    #[must_use]
    pub fn new(settings: Settings, means: Means, outlook: Outlook) -> Self {
        let (me, on_panic, capacity) = (settings.me, settings.on_panic, settings.capacity);
        let Means { types, voices, budget, fresh, first_generation } = means;
        let view = &outlook.view;
        let scene = SceneInfo { id: me.scene, name: view.scene_text(me.scene), node: view.node_text(me.session.node) };
        Self {
            machine: Scene::new(settings),
            me,
            on_panic,
            room: Room::new(&budget),
            bodies: Bodies::new(scene, outlook.now, capacity, first_generation, types),
            wishes: Wishes::default(),
            returns: Returns::default(),
            unfit: BTreeMap::new(),
            voices,
            fresh,
            outlook,
            asked: BTreeMap::new(),
            last_ticket: 0,
            letters: Vec::new(),
            orders: Vec::new(),
            names: Names::default(),
            outputs: Vec::new(),
            applied: 0,
            view_version: 0,
            deferred: Vec::new(),
            evacuating: None,
            watches: Vec::new(),
            told: Told::default(),
        }
    }

    /// The scene and the session that it is of.
    #[must_use]
    pub fn me(&self) -> Own {
        self.me
    }

    /// The machine, to look at.
    #[must_use]
    pub fn machine(&self) -> &Scene {
        &self.machine
    }

    /// Inputs that wait for a lease.
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.deferred.len()
    }

    /// Takes what is known from here on: before each turn, and before a question.
    pub fn see(&mut self, outlook: Outlook) {
        self.outlook = outlook;
    }

    /// What the turns so far want done, in order.
    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// What the turns so far want sent, in order.
    pub fn take_letters(&mut self) -> Vec<Envelope> {
        // The next turn has about as many, mostly.
        let room = Vec::with_capacity(self.letters.len());
        std::mem::replace(&mut self.letters, room)
    }

    /// Hands in what other nodes say, or time. Without a lease it is left: whoever keeps it says it again.
    pub fn turn(&mut self, inputs: impl IntoIterator<Item = Input>) {
        if self.outlook.may_act {
            self.give(inputs);
        }
    }

    /// Hands in what this node itself says; without a lease it waits for one.
    pub fn turn_or_defer(&mut self, inputs: impl IntoIterator<Item = Input>) {
        if self.outlook.may_act {
            self.give(inputs);
        } else {
            self.deferred.extend(inputs);
        }
    }

    /// Hands in inputs, then acknowledges and sends what came of them.
    fn give(&mut self, inputs: impl IntoIterator<Item = Input>) {
        let now = self.outlook.now;
        // First of all: what comes was said by whoever has at least as new a view.
        if self.outlook.view.version > self.view_version {
            self.view_version = self.outlook.view.version;
            self.step(Input::View(self.outlook.view.clone()), now);
        }
        self.bodies.know(self.outlook.globals.clone());
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
            self.orders.push(Order::Globals(entities));
        }
        self.room.settle(self.machine.waits());
    }

    pub(super) fn step(&mut self, mut input: Input, now: Now) {
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
        #[cfg(feature = "fail-points")]
        crate::fail_point::scene_performs(&output, self.me);
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
            Output::Register { ticket, label } => self.orders.push(Order::Register { ticket, label }),
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
            Output::Adopt(orphans) => self.orders.push(Order::Adopt(orphans)),
            Output::Bounced { entity, to, payload, why } => self.bounced(entity, to, payload, why, now),
            Output::Send { to, message } => self.write(to, message),
            Output::Answer { ticket, answer } => self.answer(ticket, answer, now),
            Output::Event(event) => self.report(event, now),
        }
    }

    fn write(&mut self, to: Destination, message: Said) {
        let to = match to {
            Destination::Place(place) => Some(place),
            Destination::Home(entity) => self.outlook.view.home_of(entity.range()),
        };
        // A home that nobody has told us of yet is asked again by the repeat.
        if let Some(to) = to {
            self.letters.push(Envelope { from: self.me.into(), to, message });
        }
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer, now: Now) {
        drop(self.wishes.not_born(ticket));
        let unfit = self.unfit.remove(&ticket);
        match self.asked.remove(&ticket) {
            Some(Asker::Evacuation { entity, .. }) => self.leave_ended(entity, answer),
            Some(Asker::Spawn(reply)) if let Some(reason) = unfit => {
                drop(reply.send(Err(reason)));
            }
            Some(Asker::Mover(entity)) => {
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
        self.names.look_at(self.outlook.view.clone());
        let story = Story::new(event, self.me, self.outlook.unix_ms, &mut self.names);
        story.log();
        self.orders.push(Order::TakeDown(Happening::Move(story)));
    }

    /// Tells watchers what becomes of an entity that is here.
    pub(super) fn tell_life(&mut self, entity: OnlineId, what: What) {
        let Some(who) = self.bodies.who(entity).cloned() else { return };
        self.names.look_at(self.outlook.view.clone());
        let (scene, unix_ms) = (self.names.of(self.me), self.outlook.unix_ms);
        self.orders.push(Order::TakeDown(Happening::Life(Episode { who, what, scene, unix_ms })));
    }
}

/// How often entities of the scene answer each other within one turn: then others have theirs.
const ANSWERS: usize = 16;
