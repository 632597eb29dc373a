//! The shell around a scene: it keeps the bodies and does what the machine orders, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_cluster::message::{Control, Message, Payload, Prepare, Sender};
use slipgate_cluster::moves::{MoveError, Outcome, Refusal};
use slipgate_cluster::router;
use slipgate_cluster::scene::{Answer, Destination, Event, Input, MoveDone, Output, Route, Scene, Settings, Ticket};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Own, Place};
use slipgate_entity::{OnlineId, Returned};

use super::history::MoveStory;
use super::invariants::{answered, in_order, moves_end};
use super::walker::{Speech, Walker};
use super::world::{World, home};

/// A scene with its bodies.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) bodies: BTreeMap<OnlineId, Walker>,
    /// Copies decoded and not installed.
    pub(crate) aside: BTreeMap<OnlineId, Walker>,
    /// Entities that this scene has asked the home to name it for again.
    giving_up: BTreeSet<OnlineId>,
    /// Messages applied as soon as they came in.
    applied: BTreeSet<(OnlineId, StreamId, u64)>,
}

impl Stage {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            scene: Scene::new(settings),
            bodies: BTreeMap::new(),
            aside: BTreeMap::new(),
            giving_up: BTreeSet::new(),
            applied: BTreeSet::new(),
        }
    }

    pub(crate) fn me(&self) -> Own {
        self.scene.me()
    }
}

impl World {
    /// A message for a scene; its turn may end with it.
    pub(crate) fn tell_scene_of(&mut self, stage: usize, from: Place, message: Message) {
        let heard = match &message {
            Message::Data(data) if self.stages[stage].scene.route(data.entity) == Route::Owner(self.me(stage)) => {
                Some((data.entity, data.stream, data.seq))
            }
            Message::Data(_) | Message::Control(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => {
                None
            }
        };
        let before = heard.map_or(0, |(_, stream, _)| self.history.applied_of(stream));
        self.tell_scene(stage, Input::Heard { from, message });
        if let Some(heard) = heard {
            if self.history.applied_of(heard.1) > before {
                self.stages[stage].applied.insert(heard);
            } else if self.stages[stage].applied.contains(&heard) {
                self.tally.count("duplicates dropped");
            }
        }
        if self.dice.chance(500) {
            self.tell_scene(stage, Input::Flush);
        }
    }

    pub(crate) fn tell_scene(&mut self, stage: usize, input: Input) {
        let ends_turn = input == Input::Flush;
        let mut out = Vec::new();
        let scene = &mut self.stages[stage].scene;
        let had_said = scene.has_said();
        scene.handle(input, self.now, &mut out);
        match (had_said, scene.has_said()) {
            (false, true) => self.tally.count("said directly"),
            (true, false) if !ends_turn => self.tally.count("said directly, then numbered"),
            (..) => {}
        }
        for output in out {
            self.perform(stage, output);
        }
        self.check_owners();
    }

    fn perform(&mut self, stage: usize, output: Output) {
        let at = &mut self.stages[stage];
        match output {
            Output::Apply { entity, sender, payload, .. } => self.apply(stage, entity, sender, &payload),
            Output::Park { .. } | Output::Unpark { .. } => panic!("no handler panics here"),
            Output::Register { ticket, .. } => {
                if self.dice.chance(50) {
                    return self.tell_scene(stage, Input::NotRegistered { ticket });
                }
                let entity = self.register(self.me(stage));
                self.tell_scene(stage, Input::Registered { ticket, entity });
            }
            Output::Create { entity, .. } => {
                at.bodies.insert(entity, Walker::default());
            }
            Output::Encode { entity } => {
                let body = at.bodies[&entity].encode();
                self.tell_scene(stage, Input::Encoded { entity, body });
            }
            Output::Decode { entity, prepare } => self.decode(stage, entity, &prepare),
            Output::Install { entity } => {
                let body = at.aside.remove(&entity).expect("a copy was decoded before it is installed");
                assert!(at.bodies.insert(entity, body).is_none(), "{entity} is installed over a body");
            }
            Output::DropStaged { entity } => {
                at.aside.remove(&entity);
            }
            Output::Remove { entity, .. } => {
                at.bodies.remove(&entity).expect("what is removed was here");
            }
            Output::Adopt(streams) => {
                self.tally.count("adopted streams");
                let node = self.node_of(self.me(stage).session);
                self.tell_router(node, router::Input::Adopt(streams));
            }
            Output::Bounced { entity, to, payload, why } => self.bounced(entity, to, &payload, why == Returned::Dead),
            Output::Send { to, message } => self.send_from(stage, to, message),
            Output::Answer { ticket, answer } => self.answered(ticket, &answer),
            Output::Event(event) => {
                self.note(|| format!("{:?}: {event:?}", self.me(stage)));
                self.event(stage, event);
            }
        }
    }

    fn answered(&mut self, ticket: Ticket, answer: &Answer) {
        match answer {
            Answer::Despawned => self.tally.count("despawned"),
            Answer::Undecided => self.tally.count("despawn undecided"),
            Answer::NotSpawned(_) => self.tally.count("spawn refused"),
            Answer::Moved(done) => {
                let moved = done.companions.iter().filter(|done| matches!(done.outcome, Outcome::Moved { .. }));
                match (moved.count(), done.companions.len()) {
                    (_, 0) => {}
                    (moved, count) if moved == count => self.tally.count("moved together"),
                    (0, _) => self.tally.count("stayed together"),
                    (_, _) => self.tally.count("parted"),
                }
            }
            Answer::Rejected(MoveError::NoCompany { .. }) => self.tally.count("no company"),
            Answer::Spawned(_) | Answer::Cancelled | Answer::Unparked | Answer::NotParked | Answer::Rejected(_) => {}
        }
        self.history.answered(ticket);
    }

    fn send_from(&mut self, stage: usize, to: Destination, message: Message) {
        let me = self.me(stage);
        if let Message::Control(Control::Cas { entity, owner, new, .. }) = &message
            && *owner == me
            && new.names(me)
        {
            self.stages[stage].giving_up.insert(*entity);
        }
        let to = match to {
            Destination::Place(place) => place,
            Destination::Home(entity) => home(entity),
        };
        self.send(me.into(), to, message);
    }

    fn apply(&mut self, stage: usize, entity: OnlineId, sender: Sender, payload: &Payload) {
        let speech = Speech::read(payload);
        let body = self.stages[stage].bodies.get_mut(&entity).expect("what applies a message has a body");
        let applied = body.applied.entry(sender).or_default();
        applied.push(speech.number);
        let line = self.history.line(sender, entity);
        let verdict = in_order::check(&line.accepted, applied, line.applied);
        line.applied += 1;
        self.demand(verdict.map_err(|what| format!("{entity}, told by {sender:?}: {what}")));
        self.tally.count("messages applied");
        if let Some(to) = speech.tell {
            let number = self.history.number();
            self.history.line(Sender::Entity(entity), to).accepted.push(number);
            let payload = Speech { number, tell: None }.payload();
            self.tell_scene(stage, Input::Sends { entity, to, payload });
        }
    }

    fn bounced(&mut self, entity: OnlineId, to: OnlineId, payload: &Payload, dead: bool) {
        let number = Speech::read(payload).number;
        let line = self.history.line(Sender::Entity(entity), to);
        if dead {
            line.dead.insert(number);
            self.tally.count("dead answers");
            self.demand(answered::check_dead(number, &self.record(to)));
        } else {
            assert_eq!(line.accepted.pop(), Some(number), "only what was just sent is refused");
        }
    }

    fn decode(&mut self, stage: usize, entity: OnlineId, prepare: &Arc<Prepare>) {
        let readable = !self.dice.chance(20);
        let result = if readable { Ok(()) } else { Err("not today".into()) };
        if readable {
            self.stages[stage].aside.insert(entity, Walker::decode(&prepare.image.body));
        } else {
            self.stages[stage].aside.remove(&entity);
        }
        self.tell_scene(stage, Input::Decoded { entity, label: prepare.label, result });
    }

    fn event(&mut self, stage: usize, event: Event) {
        let me = self.me(stage);
        match event {
            Event::MoveBegan { id, entity, .. } => {
                let story = MoveStory { entity, source: me, began: 0, ended: Vec::new(), arrived: 0, decided: 0 };
                self.history.moves.entry(id).or_insert(story).began += 1;
            }
            Event::MoveArrived { id, entity, from, .. } => {
                let story = self.history.story(id);
                story.arrived += 1;
                assert_eq!((story.entity, story.source), (entity, from), "the arrival names the move it ends");
                if self.history.came_from.insert(entity, from) == Some(me) {
                    self.tally.count("straight back");
                }
                if self.dice.chance(300) {
                    self.provoked.push((stage, entity, from));
                }
            }
            Event::MoveEnded { done, .. } => self.ended(stage, *done),
            Event::MoveDecided { id, owner, .. } => {
                self.history.story(id).decided += 1;
                if owner.is_some_and(|owner| owner != me) {
                    self.tally.count("undecided, then moved");
                }
            }
        }
    }

    fn ended(&mut self, stage: usize, done: MoveDone) {
        let MoveDone { id, entity, to, outcome, cost, .. } = done;
        let here = self.stages[stage].scene.route(entity) == Route::Owner(self.me(stage));
        let gave_up = self.stages[stage].giving_up.remove(&entity);
        self.demand(moves_end::check_told(&outcome, here).map_err(|what| format!("{entity}: {what}")));
        assert!(cost.delivered <= cost.held, "more is delivered than was held: {cost:?}");
        self.tally.count(word(&outcome));
        match outcome {
            Outcome::Moved { .. } => {
                if gave_up {
                    self.tally.count("give-ups lost");
                }
                if to.is_ok_and(|to| !self.record(entity).names(to)) {
                    self.tally.count("moved on before the source knew");
                }
            }
            Outcome::Refused(_) | Outcome::Timeout { .. } | Outcome::NodeLost | Outcome::Cancelled if gave_up => {
                self.tally.count("give-ups won");
            }
            Outcome::Refused(_) | Outcome::Timeout { .. } | Outcome::NodeLost | Outcome::Cancelled => {}
            Outcome::Undecided | Outcome::SceneStopped | Outcome::HomeUnreachable | Outcome::Lost => {}
        }
        self.history.story(id).ended.push(outcome);
    }

    pub(crate) fn me(&self, stage: usize) -> Own {
        self.stages[stage].me()
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Moved { .. } => "moved",
        Outcome::Refused(Refusal::NoScene { .. }) => "refused: no scene",
        Outcome::Refused(Refusal::NoType { .. } | Refusal::NoComponent { .. } | Refusal::SchemaDiffers { .. }) => {
            "refused: schema"
        }
        Outcome::Refused(Refusal::TooLarge { .. }) => "refused: too large",
        Outcome::Refused(Refusal::Full { .. }) => "refused: full",
        Outcome::Refused(Refusal::Draining) => "refused: draining",
        Outcome::Refused(Refusal::Closing) => "refused: closing",
        Outcome::Refused(Refusal::AlreadyThere) => "refused: already there",
        Outcome::Refused(Refusal::Busy { .. }) => "refused: busy",
        Outcome::Refused(Refusal::Unreadable { .. }) => "refused: unreadable",
        Outcome::Refused(Refusal::Companion { .. }) => "refused: companion",
        Outcome::Refused(Refusal::NotMovable | Refusal::Vetoed { .. }) => "refused: by itself",
        Outcome::Timeout { .. } => "timed out",
        Outcome::NodeLost => "node lost",
        Outcome::Cancelled => "cancelled",
        Outcome::Undecided => "undecided",
        Outcome::SceneStopped => "scene stopped",
        Outcome::HomeUnreachable => "home unreachable",
        Outcome::Lost => "lost",
    }
}
