//! The shell around a scene: it keeps the bodies and does what the machine orders, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_cluster::claim::{Claim, Stake};
use slipgate_cluster::message::{Control, Identity, Message, Nonce, Parked, Prepare, Sender};
use slipgate_cluster::moves::MoveId;
use slipgate_cluster::scene::{Answer, Companion, Destination, Input, MoveRequest, Output, Scene, Settings, Ticket};
use slipgate_cluster::stream::SendStream;
use slipgate_cluster::{Envelope, Epoch, Now, Own, Place, Record, View};
use slipgate_entity::{OnlineId, PersistId, PlayerId, TypeName};
use uuid::Uuid;

use super::body::Body;
use super::canon::{FORGET_US, LATE_US, TICK_US};
use super::cue::{Cue, Effects};
use super::plan::Plan;

/// A scene with its bodies.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    /// Where a question to a home may come.
    ears: Vec<Place>,
    may_reset: bool,
    pub(crate) now: Now,
    pub(crate) bodies: BTreeMap<OnlineId, Body>,
    /// Those that are parked.
    pub(crate) parked: BTreeSet<OnlineId>,
    /// The message at which a handler panics.
    stumbles_at: Option<u8>,
    /// Copies decoded and not installed, with their labels.
    pub(crate) aside: BTreeMap<OnlineId, (Epoch, Body)>,
    /// Per entity the latest nonce of a staged copy, and the how-many-eth it was.
    pub(crate) nonces: BTreeMap<OnlineId, (Nonce, u64)>,
    /// Requests that have had their answer.
    pub(crate) answers: BTreeMap<Ticket, &'static str>,
}

impl Stage {
    pub(crate) fn new(plan: &Plan, me: Own, view: Arc<View>) -> Self {
        let schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        let mut scene = Scene::new(Settings {
            me,
            capacity: plan.capacity,
            schema,
            limits: plan.limits(),
            on_panic: plan.on_panic,
        })
        .under(plan.rules);
        scene.handle(Input::View(view), Now(1), &mut Vec::new());
        Self {
            scene,
            ears: plan.ears(),
            may_reset: plan.may_reset(),
            now: Now(1),
            bodies: BTreeMap::new(),
            parked: BTreeSet::new(),
            stumbles_at: plan.stumbles_at,
            aside: BTreeMap::new(),
            nonces: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }

    /// An entity begins here.
    pub(crate) fn spawn(&mut self, entity: OnlineId) {
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::from_u128(u128::from(entity.as_u64()))),
            player: PlayerId::NONE,
        };
        let mut effects = Effects::default();
        self.step(Input::Spawn { ticket: Ticket(0), identity }, &mut effects);
        self.step(Input::Registered { ticket: Ticket(0), entity }, &mut effects);
        self.answers.clear();
    }

    pub(crate) fn play(&mut self, cue: &Cue) -> Effects {
        let mut effects = Effects::default();
        let input = match cue.clone() {
            Cue::Hear(Envelope { from, message, .. }) => {
                let message = self.with_own_nonce(message);
                Input::Heard { from, message }
            }
            Cue::Tick => self.wait(TICK_US),
            Cue::Late => self.wait(LATE_US),
            Cue::Forget => self.wait(FORGET_US),
            Cue::PeerLost(session) => Input::PeerLost(session),
            Cue::View(view) => Input::View(view),
            Cue::Migrate { number, entity, to, with } => {
                let id = |member: usize| MoveId(Uuid::from_u128((member << 8) as u128 | u128::from(number)));
                let companion = |(entity, member)| Companion {
                    entity,
                    id: id(member),
                    body_bytes: 0,
                    components: Vec::new(),
                    objection: None,
                };
                Input::Migrate(Box::new(MoveRequest {
                    companions: with.into_iter().zip(1..).map(companion).collect(),
                    ..MoveRequest::new(Some(Ticket(u64::from(number))), id(0), entity, Ok(to))
                }))
            }
            Cue::Unpark { number, entity } => Input::Unpark { ticket: Ticket(200 + u64::from(number)), entity },
            Cue::Despawn { number, entity } => Input::Despawn { ticket: Some(Ticket(100 + u64::from(number))), entity },
            Cue::Say { .. } | Cue::Adopt(_) => panic!("expected a scene's cue, got {cue:?}"),
        };
        self.step(input, &mut effects);
        self.step(Input::Flush, &mut effects);
        self.scene.take_left_out();
        effects
    }

    fn wait(&mut self, span: u64) -> Input {
        self.now.0 += span;
        Input::Tick
    }

    pub(crate) fn step(&mut self, input: Input, effects: &mut Effects) {
        let mut out = Vec::new();
        self.scene.handle(input, self.now, &mut out);
        for output in out {
            self.perform(output, effects);
        }
    }

    fn perform(&mut self, output: Output, effects: &mut Effects) {
        match output {
            Output::Apply { entity, sender, message, payload } if self.parked.contains(&entity) => {
                self.step(Input::NotApplied { entity, sender, message, payload, panic: None }, effects);
            }
            Output::Park { entity } => drop(self.parked.insert(entity)),
            Output::Unpark { entity } => drop(self.parked.remove(&entity)),
            Output::Apply { entity, sender, message, payload } => {
                let body = self.bodies.get_mut(&entity).expect("what applies a message has a body");
                let heard = body.hear(sender, &payload);
                if matches!(sender, Sender::Tool(_)) && Some(payload[0]) == self.stumbles_at {
                    let panic = Some(Parked { why: String::new(), since_ms: 0 });
                    let payload = payload.clone();
                    self.step(Input::NotApplied { entity, sender, message, payload, panic }, effects);
                }
                match heard {
                    Ok(None) => {}
                    Ok(Some((to, payload))) => self.step(Input::Sends { entity, to, payload }, effects),
                    // A sender that was revived says its numbers anew.
                    Err(_) if self.may_reset && matches!(sender, Sender::Entity(_)) => {}
                    Err(fault) => effects.faults.push(format!("{entity} at {:?}: {fault}", self.scene.me())),
                }
            }
            Output::Register { .. } => {}
            Output::Create { entity, .. } => drop(self.bodies.insert(entity, Body::default())),
            Output::Encode { entity } => {
                let body = self.bodies[&entity].encode();
                self.step(Input::Encoded { entity, body }, effects);
            }
            Output::Decode { entity, prepare } => {
                self.aside.insert(entity, (prepare.label, Body::decode(&prepare.image.body)));
                self.step(Input::Decoded { entity, label: prepare.label, result: Ok(()) }, effects);
            }
            Output::Install { entity } => {
                let (_, body) = self.aside.remove(&entity).expect("a copy was decoded before it is installed");
                assert!(self.bodies.insert(entity, body).is_none(), "{entity} is installed over a body");
            }
            Output::DropStaged { entity } => drop(self.aside.remove(&entity)),
            Output::Remove { entity, .. } => {
                self.parked.remove(&entity);
                self.bodies.remove(&entity).expect("what is removed was here");
            }
            Output::Adopt(orphans) => effects.adopt.extend(orphans),
            Output::Bounced { .. } | Output::Event(_) => {}
            Output::Send { to, message } => self.say(to, message, effects),
            Output::Answer { ticket, answer } => self.answered(ticket, &answer, effects),
        }
    }

    fn answered(&mut self, ticket: Ticket, answer: &Answer, effects: &mut Effects) {
        let word = match answer {
            Answer::Spawned(_) => "spawned",
            Answer::NotSpawned(_) => "not spawned",
            Answer::Despawned => "despawned",
            Answer::Undecided => "undecided",
            Answer::Moved(_) => "move ended",
            Answer::Cancelled => "cancelled",
            Answer::Unparked => "unparked",
            Answer::NotParked => "not parked",
            Answer::Rejected(_) => "rejected",
        };
        if let Some(before) = self.answers.insert(ticket, word) {
            effects.faults.push(format!("request {} was answered twice: {before}, {word}", ticket.0));
        }
    }

    fn say(&mut self, to: Destination, message: Message, effects: &mut Effects) {
        let me = self.scene.me();
        let to = match to {
            Destination::Place(place) => vec![place],
            Destination::Home(_) => self.ears.clone(),
        };
        let message = match message {
            Message::Control(control) => Message::Control(self.with_told_nonce(control)),
            Message::Prepare(prepare) => {
                // As on the wire: the source's clock stays behind.
                let mut prepare = Prepare::clone(&prepare);
                prepare.image.sending.iter_mut().for_each(SendStream::settle_in);
                Message::Prepare(prepare.into())
            }
            message @ (Message::Data(_) | Message::Manager(_) | Message::Tool(_)) => message,
        };
        effects.says.extend(to.into_iter().map(|to| Envelope { from: me.into(), to, message: message.clone() }));
    }

    /// A nonce matters where a staged copy asks; elsewhere the machine never looks at it again.
    fn with_told_nonce(&mut self, mut control: Control) -> Control {
        let me = self.scene.me();
        if let Control::Cas { entity, new, nonce, .. } = &mut control
            && *new == Record::handed_to(me, new.epoch, new.base)
        {
            let latest = self.nonces.entry(*entity).or_insert((Nonce(0), 0));
            if latest.0 != *nonce {
                *latest = (*nonce, latest.1 + 1);
            }
            *nonce = Nonce(latest.1);
        } else if let Control::Reclaim { entity, nonce, .. } = &mut control {
            *nonce = Nonce(self.nonces.get(entity).map_or(0, |last| last.1));
        } else if let Control::Cas { nonce, .. } | Control::Query { nonce, .. } = &mut control {
            *nonce = Nonce(0);
        } else if let Control::Claims { claims, .. } = &mut control {
            for Claim { entity, stake, .. } in claims {
                if let Stake::Staged { nonce, .. } = stake {
                    *nonce = Nonce(self.nonces.get(entity).map_or(0, |last| last.1));
                }
            }
        }
        control
    }

    /// The latest copy's nonce as the machine gave it out; any other is none that it waits for.
    fn with_own_nonce(&self, mut message: Message) -> Message {
        if let Message::Control(Control::RecordIs { entity, nonce: Some(nonce), .. }) = &mut message {
            let latest = self.nonces.get(entity).filter(|latest| nonce.0 > 0 && latest.1 == nonce.0);
            *nonce = latest.map_or(Nonce(0), |latest| latest.0);
        }
        message
    }

    /// Nonces that count, as given out and as told.
    pub(crate) fn told_nonces(&self) -> Vec<(u64, u64)> {
        self.nonces.values().map(|(real, told)| (real.0, *told)).collect()
    }
}
