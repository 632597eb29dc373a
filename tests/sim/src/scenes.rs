//! The shell of a scene: what the machine orders is done at once.

use std::sync::Arc;

use slipgate_cluster::message::{Control, Message, Payload, Prepare, Sender};
use slipgate_cluster::moves::{MoveError, Outcome, Refusal};
use slipgate_cluster::scene::{Answer, Departure, Destination, Event, Input, MoveDone, Output};
use slipgate_cluster::{Own, Place, Port, router};
use slipgate_entity::{OnlineId, Returned};

use crate::cluster::Cluster;
use crate::history::MoveStory;
use crate::invariants::progress_after_faults;
use crate::mutant::Mutant;
use crate::walker::{Speech, Walker};

impl Cluster {
    /// A message for a scene; its turn may end with it.
    pub(crate) fn tell_scene_of(&mut self, stage: usize, from: Place, message: Message) {
        let heard = match &message {
            Message::Data(data) if self.runs(stage, data.entity) => Some((data.entity, data.stream, data.seq)),
            Message::Data(_) | Message::Control(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => {
                None
            }
        };
        let before = heard.map_or(0, |(_, stream, _)| self.history.applied_of(stream));
        self.tell_scene(stage, Input::Heard { from, message });
        if let Some((_, stream, seq)) = heard
            && seq <= before
            && self.history.applied_of(stream) == before
        {
            self.history.count("duplicates dropped");
        }
        if self.plan.faults.is_steady || self.dice.chance(500) {
            self.tell_scene(stage, Input::Flush);
        }
    }

    /// What the node itself says; without a lease it waits for one.
    pub(crate) fn tell_scene_or_defer(&mut self, stage: usize, input: Input) {
        if self.may_act(self.stages[stage].life) {
            self.tell_scene(stage, input);
        } else {
            self.stages[stage].deferred.push(input);
        }
    }

    /// Hands in what others say, or time. Without a lease it is left: whoever keeps it says it again.
    pub(crate) fn tell_scene(&mut self, stage: usize, input: Input) {
        let life = self.stages[stage].life;
        if !self.may_act(life) {
            return;
        }
        let view = self.lives[life].member.view();
        let at = &mut self.stages[stage];
        if view.version > at.view_version {
            at.view_version = view.version;
            let view = view.clone();
            self.step(stage, Input::View(view));
        }
        for input in std::mem::take(&mut self.stages[stage].deferred) {
            self.step(stage, input);
        }
        self.step(stage, input);
    }

    fn step(&mut self, stage: usize, input: Input) {
        let mut out = Vec::new();
        let now = self.clock(self.lives[self.stages[stage].life].node);
        let ends_turn = matches!(input, Input::Flush);
        let is_time = ends_turn || matches!(input, Input::Tick);
        let scene = &mut self.stages[stage].scene;
        let had_said = scene.has_said();
        scene.handle(input, now, &mut out);
        self.events += 1;
        match (had_said, scene.has_said()) {
            (false, true) => self.history.count("said directly"),
            (true, false) if !ends_turn => self.history.count("said directly, then numbered"),
            (..) => {}
        }
        // Time alone changes nobody's standing without a word.
        let may_change = !is_time || !out.is_empty();
        for output in out {
            self.perform(stage, output);
        }
        if may_change {
            self.look_at_stage(stage);
        }
    }

    fn perform(&mut self, stage: usize, output: Output) {
        let at = &mut self.stages[stage];
        match output {
            Output::Apply { entity, sender, payload, .. } => self.apply(stage, entity, sender, &payload),
            Output::Park { .. } | Output::Unpark { .. } => panic!("no handler panics here"),
            Output::Register { ticket, .. } => {
                let input = match self.register(stage, None) {
                    Some(entity) => Input::Registered { ticket, entity },
                    None => Input::NotRegistered { ticket },
                };
                self.step(stage, input);
            }
            Output::Create { entity, .. } => {
                at.bodies.insert(entity, Walker::default());
            }
            Output::Encode { entity } => {
                let body = at.bodies[&entity].encode();
                self.step(stage, Input::Encoded { entity, body });
            }
            Output::Decode { entity, prepare } => self.decode(stage, entity, &prepare),
            Output::Install { entity } => {
                let (body, _) = at.aside.remove(&entity).expect("a copy was decoded before it is installed");
                assert!(at.bodies.insert(entity, body).is_none(), "{entity} is installed over a body");
            }
            Output::DropStaged { entity } => {
                at.aside.remove(&entity);
            }
            Output::Remove { entity, why } => {
                at.bodies.remove(&entity).expect("what is removed was here");
                at.leaving.remove(&entity);
                if why == Departure::Despawned {
                    self.history.despawned.insert(entity);
                }
            }
            Output::Adopt(streams) => {
                let life = at.life;
                self.history.count("adopted streams");
                let more = streams.iter().map(|orphan| orphan.stream.load().messages);
                self.lives[life].adopted += more.sum::<usize>();
                self.tell_router(life, router::Input::Adopt(streams));
            }
            Output::Bounced { entity, to, payload, why } => self.bounced(entity, to, &payload, why),
            Output::Send { to, message } => self.send_from(stage, to, message),
            Output::Answer { ticket, answer } => {
                self.count_answer(&answer);
                self.play_answer(stage, ticket, &answer);
                let verdict = self.history.answered(ticket);
                self.demand("progress_after_faults", verdict);
            }
            Output::Event(event) => self.event(stage, event),
        }
    }

    fn count_answer(&mut self, answer: &Answer) {
        self.history.count(match answer {
            Answer::Despawned => "despawned",
            Answer::Undecided => "despawn undecided",
            Answer::NotSpawned(_) => "spawn refused",
            Answer::Spawned(_) => "spawned",
            Answer::Moved(done) if done.companions.is_empty() => return,
            Answer::Moved(done) => {
                let moved = done.companions.iter().filter(|done| matches!(done.outcome, Outcome::Moved { .. })).count();
                match moved {
                    0 => "stayed together",
                    moved if moved == done.companions.len() => "moved together",
                    _ => "parted",
                }
            }
            Answer::Cancelled => "cancel heard",
            Answer::Rejected(MoveError::NoCompany { .. }) => "no company",
            Answer::Unparked | Answer::NotParked | Answer::Rejected(_) => return,
        });
    }

    fn send_from(&mut self, stage: usize, to: Destination, message: Message) {
        let (me, life) = (self.stages[stage].me(), self.stages[stage].life);
        if let Message::Prepare(prepare) = &message {
            let Destination::Place(Place { session, port: Port::Scene(scene) }) = to else {
                panic!("a copy goes to a scene, not to {to:?}")
            };
            self.stages[stage].leaving.insert(prepare.entity, Own::new(session, scene));
            if self.lives.iter().any(|life| life.session == session && life.is_mourned) {
                self.history.touched.insert(prepare.entity);
            }
        }
        let to = match to {
            Destination::Place(place) => Some(place),
            Destination::Home(entity) => self.lives[life].member.view().home_of(entity.range()),
        };
        if let Message::Control(Control::Cas { entity, owner, new, .. }) = &message
            && *owner == me
            && new.names(me)
        {
            self.stages[stage].giving_up.insert(*entity);
        }
        if let Message::Control(Control::Redirect { .. }) = message {
            self.history.count("redirects");
        }
        if let Some(to) = to {
            self.send_noted(me.into(), to, message);
        }
    }

    fn apply(&mut self, stage: usize, entity: OnlineId, sender: Sender, payload: &Payload) {
        let speech = Speech::read(payload);
        let body = self.stages[stage].bodies.get_mut(&entity).expect("what applies a message has a body");
        let list = body.applied.entry(sender).or_default();
        list.push(speech.number);
        let verdict = self.history.apply(sender, entity, list);
        self.play_apply(stage, entity, speech.number);
        self.demand("streams_in_order", verdict.map_err(|what| format!("{sender:?} to {entity}: {what}")));
        if let Some(to) = speech.tell {
            let number = self.history.number();
            self.history.line(Sender::Entity(entity), to).accepted.push(number);
            self.play_tell_on(speech.number, number);
            let payload = Speech { number, tell: None }.payload();
            self.step(stage, Input::Sends { entity, to, payload });
        }
    }

    fn bounced(&mut self, entity: OnlineId, to: OnlineId, payload: &Payload, why: Returned) {
        let number = Speech::read(payload).number;
        self.play_bounce(entity, number, why);
        let line = self.history.line(Sender::Entity(entity), to);
        match why {
            Returned::Dead => {
                line.dead.insert(number);
                self.check_dead(number, to);
            }
            Returned::Unknown => {
                line.unknown.insert(number);
            }
            Returned::Busy | Returned::TooLarge => {
                assert_eq!(line.accepted.pop(), Some(number), "only what was just sent is refused");
            }
            Returned::Failed | Returned::Parked | Returned::Refused => panic!("no handler panics or refuses here"),
        }
        self.history.count("bounced");
    }

    fn decode(&mut self, stage: usize, entity: OnlineId, prepare: &Arc<Prepare>) {
        let is_readable = self.is_calm || !self.dice.chance(20);
        let forgets = self.is(Mutant::ForgetsOnTheMove);
        let aside = &mut self.stages[stage].aside;
        let result = if is_readable {
            let body = if forgets { Walker::default() } else { Walker::decode(&prepare.image.body) };
            aside.insert(entity, (body, prepare.from));
            Ok(())
        } else {
            aside.remove(&entity);
            Err("not today".to_owned())
        };
        self.step(stage, Input::Decoded { entity, label: prepare.label, result });
    }

    fn event(&mut self, stage: usize, event: Event) {
        let me = self.stages[stage].me();
        self.note(|| format!("{me:?}: {event:?}"));
        self.play_event(stage, &event);
        match event {
            Event::MoveBegan { id, entity, .. } => {
                let ended = Vec::new();
                let story = MoveStory { entity, source: me, began: 0, ended, arrived: 0, decided: 0 };
                self.history.moves.entry(id).or_insert(story).began += 1;
            }
            Event::MoveArrived { id, entity, from, .. } => {
                let story = self.history.story(id);
                story.arrived += 1;
                assert_eq!((story.entity, story.source), (entity, from), "the arrival names the move it ends");
                if self.history.came_from.insert(entity, from) == Some(me) {
                    self.history.count("straight back");
                }
                if self.dice.chance(300) {
                    self.provoked.push((stage, entity, from));
                }
            }
            Event::MoveEnded { done, .. } => self.move_ended(stage, *done),
            Event::MoveDecided { id, owner, .. } => {
                if owner.is_some_and(|owner| owner != me) {
                    self.history.count("undecided, then moved");
                }
                self.history.count("undecided, then decided");
                self.history.story(id).decided += 1;
            }
        }
    }

    fn move_ended(&mut self, stage: usize, done: MoveDone) {
        let verdict = progress_after_faults::check_told(&done.outcome, self.runs(stage, done.entity));
        self.demand("progress_after_faults", verdict.map_err(|what| format!("{}: {what}", done.entity)));
        let gave_up = self.stages[stage].giving_up.remove(&done.entity);
        match done.outcome {
            Outcome::Moved { .. } => {
                if gave_up {
                    self.history.count("give-ups lost");
                }
                let is_there = |to| self.record(done.entity).is_none_or(|record| record.names(to));
                if !done.to.is_ok_and(is_there) {
                    self.history.count("moved on before the source knew");
                }
            }
            Outcome::Refused(_) | Outcome::Timeout { .. } | Outcome::NodeLost | Outcome::Cancelled if gave_up => {
                self.history.count("give-ups won");
            }
            Outcome::Refused(_)
            | Outcome::Timeout { .. }
            | Outcome::NodeLost
            | Outcome::Cancelled
            | Outcome::Undecided
            | Outcome::SceneStopped
            | Outcome::HomeUnreachable
            | Outcome::Lost => {}
        }
        assert!(done.cost.delivered <= done.cost.held, "more is delivered than was held: {:?}", done.cost);
        self.history.count(match &done.outcome {
            Outcome::Moved { .. } => "moved",
            Outcome::Refused(refusal) => word(refusal),
            Outcome::Timeout { .. } => "timed out",
            Outcome::NodeLost => "node lost",
            Outcome::Cancelled => "cancelled",
            Outcome::Undecided => "undecided",
            Outcome::SceneStopped => "scene stopped",
            Outcome::HomeUnreachable => "home unreachable",
            Outcome::Lost => "lost",
        });
        self.history.story(done.id).ended.push(done.outcome);
    }
}

fn word(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoScene { .. } => "refused: no scene",
        Refusal::NoType { .. } | Refusal::NoComponent { .. } | Refusal::SchemaDiffers { .. } => "refused: schema",
        Refusal::TooLarge { .. } => "refused: too large",
        Refusal::Full { .. } => "refused: full",
        Refusal::Draining | Refusal::Closing => "refused: closing",
        Refusal::AlreadyThere => "refused: already there",
        Refusal::Busy { .. } => "refused: busy",
        Refusal::Unreadable { .. } => "refused: unreadable",
        Refusal::Companion { .. } => "refused: companion",
        Refusal::NotMovable | Refusal::Vetoed { .. } => "refused: by itself",
    }
}
