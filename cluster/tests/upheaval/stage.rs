//! The shell around a scene: it keeps the bodies and does what the machine orders, at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::message::{Control, Message, Payload, Sender};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::scene::{Answer, Departure, Destination, Event, Input, Output, Scene, Settings};
use slipgate_cluster::{Epoch, Own, Place, router};
use slipgate_entity::{OnlineId, Returned};

use super::history::MoveStory;
use super::walker::{Speech, Walker};
use super::world::World;

/// A scene with its bodies.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    /// Index of its node.
    pub(crate) node: usize,
    pub(crate) bodies: BTreeMap<OnlineId, Walker>,
    /// Copies decoded and not installed, and where they came from.
    pub(crate) aside: BTreeMap<OnlineId, (Walker, Own)>,
    /// Where entities that are frozen here are to go.
    pub(crate) leaving: BTreeMap<OnlineId, Own>,
}

impl Stage {
    pub(crate) fn new(node: usize, settings: Settings) -> Self {
        let (bodies, aside, leaving) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { scene: Scene::new(settings), node, bodies, aside, leaving }
    }

    pub(crate) fn me(&self) -> Own {
        self.scene.me()
    }
}

impl World {
    pub(crate) fn tell_scene(&mut self, stage: usize, input: Input) {
        if self.nodes[self.stages[stage].node].has_crashed {
            return;
        }
        let mut out = Vec::new();
        self.stages[stage].scene.handle(input, self.now, &mut out);
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
                let entity = self.register(stage);
                self.tell_scene(stage, Input::Registered { ticket, entity });
            }
            Output::Create { entity, .. } => {
                at.bodies.insert(entity, Walker::default());
            }
            Output::Encode { entity } => {
                let body = at.bodies[&entity].encode();
                self.tell_scene(stage, Input::Encoded { entity, body });
            }
            Output::Decode { entity, prepare } => {
                at.aside.insert(entity, (Walker::decode(&prepare.image.body), prepare.from));
                let (label, result) = (prepare.label, Ok(()));
                self.tell_scene(stage, Input::Decoded { entity, label, result });
            }
            Output::Install { entity } => {
                let (body, _) = at.aside.remove(&entity).expect("a copy was decoded before it is installed");
                assert!(at.bodies.insert(entity, body).is_none(), "{entity} is installed over a body");
            }
            Output::DropStaged { entity } => {
                at.aside.remove(&entity);
            }
            Output::Remove { entity, why } => {
                if why == Departure::Despawned {
                    self.history.despawned.insert(entity);
                }
                let at = &mut self.stages[stage];
                at.bodies.remove(&entity).expect("what is removed was here");
                at.leaving.remove(&entity);
            }
            Output::Adopt(streams) => {
                let node = at.node;
                self.tell_router(node, router::Input::Adopt(streams));
            }
            Output::Bounced { entity, to, payload, why } => self.bounced(entity, to, &payload, why),
            Output::Send { to, message } => self.send_from(stage, to, message),
            Output::Answer { ticket, answer } => {
                match answer {
                    Answer::Undecided => self.history.count("despawn undecided"),
                    Answer::Despawned
                    | Answer::Spawned(_)
                    | Answer::NotSpawned(_)
                    | Answer::Moved(_)
                    | Answer::Cancelled
                    | Answer::Unparked
                    | Answer::NotParked
                    | Answer::Rejected(_) => {}
                }
                self.history.answered(ticket);
            }
            Output::Event(event) => self.event(stage, event),
        }
    }

    fn send_from(&mut self, stage: usize, to: Destination, message: Message) {
        let me = self.me(stage);
        if let Message::Prepare(prepare) = &message {
            let Destination::Place(Place { session, port: slipgate_cluster::Port::Scene(scene) }) = to else {
                panic!("a copy goes to a scene, not to {to:?}")
            };
            self.stages[stage].leaving.insert(prepare.entity, Own::new(session, scene));
            if self.nodes.iter().any(|node| node.session == session && node.has_crashed) {
                self.history.touched.insert(prepare.entity);
            }
        }
        let to = match to {
            Destination::Place(place) => Some(place),
            Destination::Home(entity) => self.nodes[self.stages[stage].node].view.home_of(entity.range()),
        };
        if let Some(to) = to {
            self.send(me.into(), to, message);
        }
    }

    fn apply(&mut self, stage: usize, entity: OnlineId, sender: Sender, payload: &Payload) {
        let speech = Speech::read(payload);
        let body = self.stages[stage].bodies.get_mut(&entity).expect("what applies a message has a body");
        let list = body.applied.entry(sender).or_default();
        list.push(speech.number);
        self.history.apply(sender, entity, list);
        if let Some(to) = speech.tell {
            let number = self.history.number();
            self.history.line(Sender::Entity(entity), to).accepted.push(number);
            let payload = Speech { number, tell: None }.payload();
            self.tell_scene(stage, Input::Sends { entity, to, payload });
        }
    }

    fn bounced(&mut self, entity: OnlineId, to: OnlineId, payload: &Payload, why: Returned) {
        let number = Speech::read(payload).number;
        let line = self.history.line(Sender::Entity(entity), to);
        match why {
            Returned::Dead => {
                line.dead.insert(number);
            }
            Returned::Unknown => {
                line.unknown.insert(number);
                self.history.count("unknown");
            }
            Returned::Failed | Returned::Parked | Returned::Refused => panic!("no handler panics or refuses here"),
            Returned::Busy | Returned::TooLarge => {
                assert_eq!(line.accepted.pop(), Some(number), "only what was just sent is refused");
            }
        }
    }

    fn event(&mut self, stage: usize, event: Event) {
        let me = self.me(stage);
        self.note(|| format!("{me:?}: {event:?}"));
        match event {
            Event::MoveBegan { id, .. } => {
                let story = MoveStory { source: me, began: 0, ended: Vec::new(), decided: 0 };
                self.history.moves.entry(id).or_insert(story).began += 1;
            }
            Event::MoveArrived { .. } => {}
            Event::MoveEnded { done, .. } => {
                match done.outcome {
                    Outcome::Moved { .. } => self.history.count("moved"),
                    Outcome::Undecided => self.history.count("undecided"),
                    Outcome::HomeUnreachable => self.history.count("home unreachable"),
                    Outcome::Refused(_)
                    | Outcome::Timeout { .. }
                    | Outcome::NodeLost
                    | Outcome::Cancelled
                    | Outcome::SceneStopped
                    | Outcome::Lost => {}
                }
                self.history.moves.get_mut(&done.id).expect("the move has begun").ended.push(done.outcome);
            }
            Event::MoveDecided { id, .. } => {
                self.history.count("undecided, then decided");
                self.history.moves.get_mut(&id).expect("the move has begun").decided += 1;
            }
        }
    }

    pub(crate) fn me(&self, stage: usize) -> Own {
        self.stages[stage].me()
    }

    /// A message for a scene; its turn may end with it.
    pub(crate) fn tell_scene_of(&mut self, stage: usize, from: Place, message: Message) {
        self.tell_scene(stage, Input::Heard { from, message });
        if self.dice.chance(500) {
            self.tell_scene(stage, Input::Flush);
        }
    }

    /// A node takes a view: its scenes and its home do so before they hear anything else.
    pub(crate) fn take_view(&mut self, node: usize, view: Arc<slipgate_cluster::View>) {
        if self.nodes[node].has_crashed || view.version <= self.nodes[node].view.version {
            return;
        }
        self.note(|| format!("node {node} takes view {}: {:?}", view.version, view.homes));
        self.nodes[node].view = view.clone();
        for stage in 0..self.stages.len() {
            if self.stages[stage].node == node {
                self.tell_scene(stage, Input::View(view.clone()));
            }
        }
        self.tell_directory(node, slipgate_cluster::directory::Input::View(view));
    }

    /// What a home says of an entity: that its streams begin anew, or that it has been despawned.
    pub(crate) fn note_word(&mut self, message: &Message) {
        let Message::Control(Control::RecordIs { entity, record, .. }) = message else { return };
        if record.base > Epoch::ZERO && self.history.reset.insert(*entity) {
            // One that was despawned may come back, where all who knew are dead and a late copy is not.
            assert!(self.history.may_be_lost(*entity), "{entity} is reset, though no death has touched it");
        }
        // An id without a record has none of a term's later epochs.
        if record.owner.is_none() && !record.lost && record.epoch.previous().is_some() {
            self.history.despawned.insert(*entity);
        }
    }
}
