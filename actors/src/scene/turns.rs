//! The turns of entities: messages, timers, hooks; and what game code wants done.
//!
//! ```text
//!   machine: apply, create, encode, install, remove
//!   time:    timers, asks                            --> bodies: game code --> effects
//!
//!   effects  send, send to many, log     at once, in their order
//!            move, spawn, despawn        wishes: once the machine's step is over
//! ```
//!
//! Keeps: whoever takes no turns, or is between two scenes, runs no game code; an entity that its move has brought back
//! comes into the scene before it hears anything else. A panic of a handler or hook parks its entity, or despawns it.
//! Leaves out: catching panics (`bodies`).

use std::collections::{BTreeMap, VecDeque};

use slipgate_cluster::bounds::clipped;
use slipgate_cluster::message::{Identity, Parked, Payload, Sender};
use slipgate_cluster::moves::{MoveError, Outcome, Refusal};
use slipgate_cluster::scene::{Companion, Input, MoveDone, OnPanic, Route, Ticket};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Now, Own};
use slipgate_entity::game::{Caller, Data, Destination, Effect, Incoming, Leave, Level, MoveFailed, SceneRef, Spawn};
use slipgate_entity::{OnlineId, PersistId, PlayerId, TypeName};

use super::bodies::{Apart, NotApplied, Panicked, Turned};
use super::episode::What;
use super::question::Asker;
use super::story::{explain, outcome_word};
use super::troupe::Troupe;

/// A message on its way into a body.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) entity: OnlineId,
    pub(super) sender: Sender,
    /// Its stream and its number there; none if it came directly.
    pub(super) message: Option<(StreamId, u64)>,
    pub(super) payload: Payload,
}

/// An entity that is wanted.
#[derive(Debug)]
pub(super) struct Newcomer<'n> {
    pub(super) type_name: &'n str,
    pub(super) label: Option<String>,
    pub(super) player: PlayerId,
    /// Its number over restarts; none: a fresh one.
    pub(super) persist: Option<PersistId>,
    /// What its parts begin with.
    pub(super) data: Data,
    /// What it brings along.
    pub(super) brings: Option<serde_json::Value>,
}

/// An entity that was made and has no number yet.
#[derive(Debug)]
pub(super) struct Made {
    identity: Identity,
    body: Apart,
}

/// What game code has asked for, and what belongs to entities that do not exist yet or are about to move.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    waiting: VecDeque<(OnlineId, Effect)>,
    /// Entities that have no number yet.
    newborn: BTreeMap<Ticket, Apart>,
    /// What entities that are to move bring along.
    luggage: BTreeMap<OnlineId, serde_json::Value>,
}

impl Wishes {
    pub(super) fn not_born(&mut self, ticket: Ticket) -> Option<Apart> {
        self.newborn.remove(&ticket)
    }
}

impl Troupe {
    /// Runs a handler; the machine hears what it sends, or that it did not come to its end.
    pub(super) fn apply(&mut self, Delivery { entity, sender, message, payload }: Delivery, now: Now) {
        self.come_in(entity, now);
        let incoming = Incoming { caller: caller(sender), payload: &payload };
        let why = match self.bodies.apply(entity, incoming, now) {
            Ok(mut effects) => {
                self.applied += 1;
                if let (Sender::Tool(_), Some((stream, _))) = (sender, message) {
                    self.reply(entity, stream.opened_at, &mut effects);
                }
                return self.carry_out(entity, effects, now);
            }
            Err(why) => why,
        };
        let panic = match why {
            NotApplied::Parked => None,
            NotApplied::Panicked(panicked) => Some(self.note_panic(entity, &panicked)),
        };
        if let (Some(panic), Sender::Tool(_), Some((stream, _))) = (&panic, sender, message) {
            self.reply_panicked(entity, stream.opened_at, (&payload, &panic.why));
        }
        self.step(Input::NotApplied { entity, sender, message, payload, panic }, now);
    }

    /// Runs what is due; as much as a turn may take.
    pub(super) fn fire_due(&mut self, now: Now) {
        for _ in 0..DUE_A_TURN {
            let Some(entity) = self.bodies.first_due(now) else { return };
            let result = self.bodies.fire(entity, now);
            self.ran(entity, result, now);
        }
    }

    pub(super) fn ran(&mut self, entity: OnlineId, result: Result<Vec<Effect>, NotApplied>, now: Now) {
        match result {
            Ok(effects) => self.carry_out(entity, effects, now),
            Err(NotApplied::Parked) => {}
            Err(NotApplied::Panicked(panicked)) => self.stumbled(entity, &panicked, now),
        }
    }

    /// An entity that its move has brought back, or that was unparked, is in the scene again.
    pub(super) fn come_in(&mut self, entity: OnlineId, now: Now) {
        if self.bodies.is_away(entity) && !self.bodies.is_parked(entity) {
            let turned = self.bodies.come_in(entity, now);
            self.turned(entity, turned, now);
        }
    }

    pub(super) fn turned(&mut self, entity: OnlineId, Turned { effects, panics }: Turned, now: Now) {
        self.carry_out(entity, effects, now);
        if let Some(first) = panics.first() {
            self.stumbled(entity, first, now);
        }
    }

    /// Game code of an entity panicked, over something else than a message to it.
    fn stumbled(&mut self, entity: OnlineId, panicked: &Panicked, now: Now) {
        let panic = self.note_panic(entity, panicked);
        self.step(Input::Panicked { entity, panic }, now);
    }

    pub(super) fn takes_turns(&self, entity: OnlineId) -> bool {
        matches!(self.machine.route(entity), Route::Owner(own) if own == self.me)
    }

    /// Does what game code of an entity wants; what may change who lives here, later.
    pub(super) fn carry_out(&mut self, entity: OnlineId, effects: Vec<Effect>, now: Now) {
        for effect in effects {
            match effect {
                Effect::Send { to, payload } => {
                    self.step(Input::Sends { entity, to, payload: payload.into() }, now);
                }
                Effect::SendTo { audience, payload } => {
                    let payload: Payload = payload.into();
                    for to in self.bodies.audience(entity, &audience) {
                        self.step(Input::Sends { entity, to, payload: payload.clone() }, now);
                    }
                }
                Effect::Log { level, text } => self.say(entity, level, &text),
                Effect::Reply { .. } => panic!("expected nothing but a tool's message to be replied to"),
                Effect::Move { .. } | Effect::Spawn(_) | Effect::Despawn(_) => {
                    self.wishes.waiting.push_back((entity, effect));
                }
            }
        }
    }

    /// Grants what game code has asked for so far. Whether there was anything.
    pub(super) fn grant_wishes(&mut self, now: Now) -> bool {
        let returned = self.returns.take();
        let wishes = std::mem::take(&mut self.wishes.waiting);
        let any = !wishes.is_empty() || !returned.is_empty();
        for (entity, to, payload, why) in returned {
            self.bounced(entity, to, payload, why, now);
        }
        let moves = wishes.iter().enumerate().filter(|(_, (_, wish))| matches!(wish, Effect::Move { .. }));
        let last: BTreeMap<OnlineId, usize> = moves.map(|(at, (entity, _))| (*entity, at)).collect();
        for (at, (entity, wish)) in wishes.into_iter().enumerate() {
            match wish {
                // The last one counts.
                Effect::Move { .. } if last.get(&entity) != Some(&at) => {}
                Effect::Move { to, brings } => self.wish_to_move(entity, &to, brings, now),
                Effect::Spawn(spawn) => self.wish_to_spawn(entity, spawn, now),
                Effect::Despawn(other) => {
                    if self.bodies.handle(other).is_some() {
                        self.step(Input::Despawn { ticket: None, entity: other }, now);
                    }
                }
                Effect::Send { .. } | Effect::Reply { .. } | Effect::SendTo { .. } | Effect::Log { .. } => {
                    panic!("expected a wish, found {wish:?}")
                }
            }
        }
        any
    }

    fn wish_to_move(&mut self, entity: OnlineId, to: &SceneRef, brings: Option<serde_json::Value>, now: Now) {
        // One that is on the move already has its luggage with it, and one that is gone wants nothing more.
        if !self.machine.is_still(entity) {
            return;
        }
        let view = self.outlook.view.clone();
        let target = match to {
            SceneRef::Id(scene) => view.own_of(*scene).ok_or(*scene),
            SceneRef::Name(name) => match view.scene_named(name).filter(|scene| scene.is_open()) {
                Some(scene) => view.own_of(scene.id).ok_or(scene.id),
                None => {
                    let text = format!("there is no open scene named {name}");
                    return self.tell_failure(entity, &MoveFailed { word: "refused", text }, now);
                }
            },
        };
        match brings {
            Some(brings) => self.wishes.luggage.insert(entity, brings),
            None => self.wishes.luggage.remove(&entity),
        };
        for input in self.order_move(entity, target, Asker::Mover(entity)) {
            self.step(input, now);
        }
    }

    fn wish_to_spawn(&mut self, parent: OnlineId, spawn: Spawn, now: Now) {
        let Spawn { type_name, label, player, persist, data, brings } = spawn;
        match self.make(Newcomer { type_name, label, player, persist, data, brings }) {
            Ok(made) => {
                let input = self.order_spawn(made, Asker::Game { parent, type_name });
                self.step(input, now);
            }
            Err(reason) => self.say(parent, Level::Error, &format!("it cannot spawn a {type_name}: {reason}")),
        }
    }

    /// Makes the body of an entity that is wanted; says why there can be none.
    pub(super) fn make(&mut self, newcomer: Newcomer<'_>) -> Result<Made, String> {
        let Newcomer { type_name, label, player, persist, data, brings } = newcomer;
        let type_version = self.bodies.types().entity(type_name).map_or(0, |info| info.version());
        let persist = persist.unwrap_or_else(|| self.fresh.persist(self.outlook.unix_ms));
        let type_name = TypeName(type_name.to_owned());
        let identity = Identity { type_name, type_version, label, persist, player };
        let mut body = self.bodies.make(&identity, &data)?;
        if let Some(brings) = brings {
            body.bring(brings);
        }
        Ok(Made { identity, body })
    }

    /// What the machine is to be told, so that an entity that was made gets a number.
    pub(super) fn order_spawn(&mut self, Made { identity, body }: Made, asker: Asker) -> Input {
        let ticket = self.ticket(asker);
        self.wishes.newborn.insert(ticket, body);
        Input::Spawn { ticket, identity }
    }

    /// Before the machine hears of it: asks an entity what it says to a move, and lets one that is to be despawned leave.
    pub(super) fn prepare(&mut self, input: &mut Input, now: Now) {
        if let Input::Migrate(request) = input {
            request.body_bytes = self.bodies.size(request.entity, now);
            request.components = self.bodies.components(request.entity);
            if let Ok(to) = request.to
                && to != self.me
            {
                let (objection, company) = self.ask_to_leave(request.entity, to, now);
                request.objection = objection;
                request.companions = company.into_iter().map(|entity| self.companion(entity, to, now)).collect();
            }
        } else if let Input::Despawn { entity, ticket } = *input
            && (self.machine.is_still(entity) || ticket.is_none() && self.takes_turns(entity))
        {
            let turned = self.bodies.leave(entity, now);
            self.turned(entity, turned, now);
        }
    }

    /// Whoever comes along says for itself whether it may; whom it would bring along is left out.
    fn companion(&mut self, entity: OnlineId, to: Own, now: Now) -> Companion {
        let (objection, _) = self.ask_to_leave(entity, to, now);
        let (body_bytes, components) = (self.bodies.size(entity, now), self.bodies.components(entity));
        Companion { entity, id: self.fresh.move_id(), body_bytes, components, objection }
    }

    /// What an entity has against a move, and who comes along. One with which something is under way is not asked: the
    /// machine refuses for it.
    fn ask_to_leave(&mut self, entity: OnlineId, to: Own, now: Now) -> (Option<Refusal>, Vec<OnlineId>) {
        if !self.machine.is_still(entity) {
            return (None, Vec::new());
        }
        if !self.bodies.is_movable(entity) {
            return (Some(Refusal::NotMovable), Vec::new());
        }
        if self.bodies.is_parked(entity) {
            return (None, Vec::new());
        }
        self.come_in(entity, now);
        let view = self.outlook.view.clone();
        let node = view.node_text(to.session.node);
        let destination = Destination { scene: to.scene, name: view.scene_text(to.scene), node };
        match self.bodies.leaving(entity, &destination, now) {
            Ok((leave, effects)) => {
                self.carry_out(entity, effects, now);
                match leave {
                    Leave::Allowed { companions } => (None, companions),
                    Leave::Refused { reason } => (Some(Refusal::Vetoed { reason }), Vec::new()),
                }
            }
            Err(panicked) => {
                self.stumbled(entity, &panicked, now);
                let reason = format!("its leaving hook panicked: {}", panicked.panic.text);
                (Some(Refusal::Vetoed { reason }), Vec::new())
            }
        }
    }

    /// Encodes a body that is frozen, once it has left the scene.
    pub(super) fn encode(&mut self, entity: OnlineId, now: Now) {
        let Turned { effects, panics } = self.bodies.leave(entity, now);
        self.carry_out(entity, effects, now);
        let brings = self.wishes.luggage.get(&entity);
        let encoded = match panics.first() {
            Some(Panicked { what, panic, .. }) => Err(format!("{what} panicked: {}", panic.text)),
            None => self.bodies.encode(entity, brings, now),
        };
        let input = match encoded {
            Ok(body) => Input::Encoded { entity, body },
            Err(reason) => Input::NotEncoded { entity, reason },
        };
        self.step(input, now);
        if let Some(first) = panics.first() {
            self.stumbled(entity, first, now);
        }
    }

    /// Begins the life of a new entity, or ends it at once if its game code says that it cannot be.
    pub(super) fn create(&mut self, ticket: Ticket, entity: OnlineId, now: Now) {
        let body = self.wishes.not_born(ticket).expect("who is created was made before it was registered");
        let fresh = || self.fresh.persist(self.outlook.unix_ms);
        match self.bodies.create(entity, body, fresh, now) {
            Ok(turned) => {
                self.tell_life(entity, What::Spawned);
                self.turned(entity, turned, now);
                self.news_of(entity);
            }
            Err(reason) => {
                self.tell_life(entity, What::Unfit(clipped(reason.to_string())));
                let label = self.machine.stand(entity).and_then(|stand| stand.identity.label);
                tracing::warn!(
                    event = "entity.unfit", entity = %entity, label, r#type = self.bodies.type_name(entity),
                    "{reason}; it is despawned"
                );
                self.unfit.insert(ticket, reason);
                self.bodies.bear_still(entity);
                self.step(Input::Despawn { ticket: None, entity }, now);
            }
        }
    }

    /// An attempt to move has ended: one that is still here hears why.
    pub(super) fn move_ended(&mut self, done: &MoveDone, now: Now) {
        self.wishes.luggage.remove(&done.entity);
        let (_, word, why) = outcome_word(&done.outcome);
        if let Outcome::Moved { .. } | Outcome::Undecided | Outcome::Lost = done.outcome {
            return;
        }
        let to = match done.to {
            Ok(own) => self.outlook.view.clone().own_text(own),
            Err(scene) => scene.to_string(),
        };
        let text = explain(&done.outcome, &to).unwrap_or_default();
        self.tell_failure(done.entity, &MoveFailed { word: why.unwrap_or(word), text }, now);
    }

    /// An attempt that was undecided is decided: one that is still here goes on.
    pub(super) fn move_decided(&mut self, entity: OnlineId, now: Now) {
        let text = "its home has decided that it stays".to_owned();
        self.tell_failure(entity, &MoveFailed { word: "undecided", text }, now);
    }

    /// A move that game code wanted was not taken up.
    pub(super) fn move_rejected(&mut self, entity: OnlineId, error: &MoveError, now: Now) {
        self.wishes.luggage.remove(&entity);
        self.tell_failure(entity, &MoveFailed { word: "refused", text: error.to_string() }, now);
    }

    fn tell_failure(&mut self, entity: OnlineId, why: &MoveFailed, now: Now) {
        if !self.takes_turns(entity) || self.bodies.handle(entity).is_none() {
            return;
        }
        self.come_in(entity, now);
        // It may have panicked over that.
        if self.bodies.is_parked(entity) {
            return;
        }
        let turned = self.bodies.move_failed(entity, why, now);
        self.turned(entity, turned, now);
    }

    /// The body is no longer here.
    pub(super) fn remove(&mut self, entity: OnlineId, has_moved: bool, now: Now) {
        self.wishes.luggage.remove(&entity);
        let type_name = self.bodies.type_name(entity);
        let Turned { effects, panics } = self.bodies.remove(entity, has_moved, now);
        for effect in effects {
            match effect {
                Effect::Log { level, text } => self.voices.say((entity, type_name), level, &text),
                Effect::Spawn(_) => self.wishes.waiting.push_back((entity, effect)),
                // Whoever is gone says and moves nothing more.
                Effect::Send { .. }
                | Effect::Reply { .. }
                | Effect::SendTo { .. }
                | Effect::Move { .. }
                | Effect::Despawn(_) => {}
            }
        }
        for Panicked { what, kind, panic } in &panics {
            tracing::error!(
                event = "entity.panicked", entity = %entity, r#type = type_name, message_kind = kind,
                r#where = panic.place,
                "{what} panicked: {}; the entity was gone by then", panic.text
            );
        }
    }

    fn say(&self, entity: OnlineId, level: Level, text: &str) {
        self.voices.say((entity, self.bodies.type_name(entity)), level, text);
    }

    fn note_panic(&mut self, entity: OnlineId, Panicked { what, kind, panic }: &Panicked) -> Parked {
        let why = format!("{what} panicked: {}", panic.text);
        let label = self.machine.stand(entity).and_then(|stand| stand.identity.label);
        let next = match self.on_panic {
            OnPanic::Park => format!("it is parked and takes no messages until: slipgate unpark {entity}"),
            OnPanic::Despawn => "it is despawned, as [entities] on_panic says".to_owned(),
        };
        tracing::error!(
            event = "entity.panicked", entity = %entity, label, r#type = self.bodies.type_name(entity),
            message_kind = kind, r#where = panic.place,
            "{why}; {next}"
        );
        self.tell_life(entity, What::Panicked(clipped(why.clone())));
        Parked { why, since_ms: self.outlook.unix_ms }
    }
}

fn caller(sender: Sender) -> Caller {
    match sender {
        Sender::Entity(entity) => Caller::Entity(entity),
        Sender::Tool(_) => Caller::Tool,
    }
}

/// Timers and asks that run in one turn of a scene at most; the others wait for the next.
const DUE_A_TURN: usize = 4096;
