//! What the admin desk asks a scene of its own node.

use actix::{Context, Handler, Message};
use slipgate_cluster::Own;
use slipgate_cluster::moves::MoveError;
use slipgate_cluster::scene::{Answer, Input, MoveDone, MoveRequest, SpawnRefusal, Stand, Ticket};
use slipgate_entity::game::{Data, Lookup, TypeInfo};
use slipgate_entity::{OnlineId, PersistId, PlayerId, SceneId};
use thiserror::Error;
use tokio::sync::oneshot;

use super::evacuating::Watch;
use super::troupe::Troupe;
use super::turns::Newcomer;
use super::{HowFar, Remaining, SceneActor};
use crate::labels::Labels;

/// A question to a scene.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct AskScene(pub Question);

/// What can be asked. Each question carries where its answer goes.
#[derive(Debug)]
pub enum Question {
    /// A new entity.
    Spawn(SpawnOrder),
    /// An entity is to be removed.
    Despawn {
        /// The entity.
        entity: OnlineId,
        /// Takes the answer.
        reply: oneshot::Sender<DespawnAnswer>,
    },
    /// A parked entity is to take turns again.
    Unpark {
        /// The entity.
        entity: OnlineId,
        /// Takes the answer.
        reply: oneshot::Sender<UnparkAnswer>,
    },
    /// An entity is to move.
    Migrate(MoveOrder),
    /// How far the evacuation is.
    HowFar(oneshot::Sender<HowFar>),
    /// The same, answered once it is not as it was.
    HowFarThen {
        /// How far it was.
        unlike: HowFar,
        /// Takes the answer.
        reply: oneshot::Sender<HowFar>,
    },
    /// Who still lives here, and why.
    Remaining {
        /// At most so many by name.
        limit: usize,
        /// Takes the answer.
        reply: oneshot::Sender<Remaining>,
    },
    /// How the scene is.
    Census(oneshot::Sender<SceneCensus>),
    /// Entities, by id.
    List {
        /// Which of them.
        which: Which,
        /// At most so many.
        limit: usize,
        /// Takes the rows.
        reply: oneshot::Sender<Vec<SceneEntity>>,
    },
    /// Whether an entity lives here.
    Has {
        /// The entity.
        entity: OnlineId,
        /// Takes the answer.
        reply: oneshot::Sender<bool>,
    },
    /// One entity.
    Show {
        /// The entity.
        entity: OnlineId,
        /// Takes the row and the body's own words, if it lives here.
        reply: oneshot::Sender<Option<(SceneEntity, String)>>,
    },
}

/// A new entity is wanted.
#[derive(Debug)]
pub struct SpawnOrder {
    /// Stable name of its type.
    pub type_name: String,
    /// What its parts begin with.
    pub data: Data,
    /// A name for people.
    pub label: Option<String>,
    /// Its number over restarts; none: a fresh one.
    pub persist: Option<PersistId>,
    /// The player that it belongs to.
    pub player: PlayerId,
    /// Takes the answer.
    pub reply: oneshot::Sender<Spawned>,
}

impl SpawnOrder {
    /// One entity, as its type has it.
    #[must_use]
    pub fn of(type_name: &str, reply: oneshot::Sender<Spawned>) -> Self {
        let (data, label, persist, player) = (Data::default(), None, None, PlayerId::NONE);
        Self { type_name: type_name.to_owned(), data, label, persist, player, reply }
    }
}

/// The answer to a spawn.
pub type Spawned = Result<OnlineId, SpawnError>;

/// Why there is no new entity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpawnError {
    /// The scene takes nobody in.
    #[error(transparent)]
    Refused(#[from] SpawnRefusal),
    /// Somebody in the scene has its number over restarts, or is about to.
    #[error("its persist id {persist} is that of {by} here")]
    Taken {
        /// The number.
        persist: PersistId,
        /// Who has it.
        by: OnlineId,
    },
    /// Such an entity cannot be: its type, its data or its game code say so.
    #[error("{reason}")]
    Unfit {
        /// What is wrong.
        reason: String,
    },
}

/// An entity is to move.
#[derive(Debug)]
pub struct MoveOrder {
    /// The entity.
    pub entity: OnlineId,
    /// The target, or the number that no open scene has.
    pub to: Result<Own, SceneId>,
    /// Takes the answer.
    pub reply: oneshot::Sender<MoveAnswer>,
}

/// The answer to a move.
pub type MoveAnswer = Result<MoveDone, MoveError>;

/// The answer to [`Question::Unpark`]: whether it was parked.
pub type UnparkAnswer = Result<bool, MoveError>;

/// The answer to a despawn.
pub type DespawnAnswer = Result<Despawn, MoveError>;

/// How far a despawn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Despawn {
    /// The entity is gone for good.
    Done,
    /// The entity's home has not answered: it takes no turns, and is gone once the home does.
    Undecided,
}

/// How a scene is.
#[derive(Clone, Copy, Debug, Default)]
pub struct SceneCensus {
    /// Live entities.
    pub entities: u64,
    /// Copies staged, and room reserved.
    pub arriving: u64,
    /// Moves under way from here.
    pub leaving: u64,
    /// Whether it refuses newcomers.
    pub draining: bool,
    /// Messages applied since it opened.
    pub applied: u64,
}

/// An entity in its scene.
#[derive(Clone, Debug)]
pub struct SceneEntity {
    /// The entity.
    pub entity: OnlineId,
    /// Its handle here, as text.
    pub handle: String,
    /// How it stands.
    pub stand: Stand,
}

/// Who waits for a machine's answer.
#[derive(Debug)]
pub(super) enum Asker {
    Spawn(oneshot::Sender<Spawned>),
    Despawn(oneshot::Sender<DespawnAnswer>),
    Unpark(oneshot::Sender<UnparkAnswer>),
    Move(oneshot::Sender<MoveAnswer>),
    /// Game code, which wants another entity.
    Game {
        parent: OnlineId,
        type_name: &'static str,
    },
    /// Game code, which wants the entity to move.
    Mover(OnlineId),
    /// The scene itself, which is to be empty: by a move, or, where there is no target, by a despawn.
    Evacuation {
        entity: OnlineId,
        to: Option<Own>,
    },
}

impl Asker {
    /// Whom an evacuation has told to leave, and where to.
    pub(super) fn leaver(&self) -> Option<(OnlineId, Option<Own>)> {
        match self {
            Self::Evacuation { entity, to } => Some((*entity, *to)),
            Self::Spawn(_)
            | Self::Despawn(_)
            | Self::Unpark(_)
            | Self::Move(_)
            | Self::Game { .. }
            | Self::Mover(_) => None,
        }
    }

    /// Hands the answer on. Whoever has given up waiting misses nothing that the log does not say.
    pub(super) fn answer(self, answer: Answer) {
        match (self, answer) {
            (Self::Spawn(reply), Answer::Spawned(entity)) => drop(reply.send(Ok(entity))),
            (Self::Spawn(reply), Answer::NotSpawned(refusal)) => drop(reply.send(Err(refusal.into()))),
            (Self::Game { parent, type_name }, Answer::NotSpawned(refusal)) => {
                tracing::warn!(
                    event = "spawn.refused", entity = %parent, r#type = type_name,
                    "the {type_name} that {parent} wanted is not spawned: {refusal}"
                );
            }
            (Self::Game { .. } | Self::Mover(_), _) => {}
            (Self::Despawn(reply), Answer::Despawned) => drop(reply.send(Ok(Despawn::Done))),
            (Self::Despawn(reply), Answer::Undecided) => drop(reply.send(Ok(Despawn::Undecided))),
            (Self::Despawn(reply), Answer::Rejected(error)) => drop(reply.send(Err(error))),
            (Self::Unpark(reply), Answer::Unparked) => drop(reply.send(Ok(true))),
            (Self::Unpark(reply), Answer::NotParked) => drop(reply.send(Ok(false))),
            (Self::Unpark(reply), Answer::Rejected(error)) => drop(reply.send(Err(error))),
            (Self::Move(reply), Answer::Moved(done)) => drop(reply.send(Ok(*done))),
            (Self::Move(reply), Answer::Rejected(error)) => drop(reply.send(Err(error))),
            (asker, answer) => panic!("expected an answer to {asker:?}, found {answer:?}"),
        }
    }
}

impl Handler<AskScene> for SceneActor {
    type Result = ();

    fn handle(&mut self, AskScene(question): AskScene, _: &mut Context<Self>) {
        self.act(|troupe| troupe.ask(question));
    }
}

impl Troupe {
    /// Takes a question up; its answer goes where it says, now or later.
    pub fn ask(&mut self, question: Question) {
        match question {
            Question::Spawn(order) => self.spawn(order),
            Question::Despawn { entity, reply } => {
                let ticket = self.ticket(Asker::Despawn(reply));
                self.turn_or_defer([Input::Despawn { ticket: Some(ticket), entity }]);
            }
            Question::Unpark { entity, reply } => {
                let ticket = self.ticket(Asker::Unpark(reply));
                self.turn_or_defer([Input::Unpark { ticket, entity }]);
            }
            Question::Migrate(MoveOrder { entity, to, reply }) => {
                let inputs = self.order_move(entity, to, Asker::Move(reply));
                self.turn_or_defer(inputs);
            }
            Question::HowFar(reply) => drop(reply.send(self.how_far())),
            Question::HowFarThen { unlike, reply } => {
                self.watches.push(Watch { unlike, reply });
                self.answer_watches();
            }
            Question::Remaining { limit, reply } => drop(reply.send(self.remaining(limit))),
            Question::Census(reply) => drop(reply.send(self.census())),
            Question::List { which, limit, reply } => drop(reply.send(self.list(&which, limit))),
            Question::Has { entity, reply } => drop(reply.send(self.bodies.handle(entity).is_some())),
            Question::Show { entity, reply } => {
                let shown = self.row(entity).map(|row| (row, self.bodies.describe(entity)));
                drop(reply.send(shown));
            }
        }
    }

    pub(super) fn ticket(&mut self, asker: Asker) -> Ticket {
        self.last_ticket += 1;
        let ticket = Ticket(self.last_ticket);
        self.asked.insert(ticket, asker);
        ticket
    }

    /// What the machine is to be told, so that an entity moves: the request, and that nobody is at its end, if so.
    pub(super) fn order_move(&mut self, entity: OnlineId, to: Result<Own, SceneId>, asker: Asker) -> Vec<Input> {
        let ticket = Some(self.ticket(asker));
        let id = self.fresh.move_id();
        // What is to be known of the entity itself is looked at when the machine hears of it.
        let request = Input::Migrate(Box::new(MoveRequest::new(ticket, id, entity, to)));
        let gone = to.ok().map(|own| own.session).filter(|session| self.outlook.is_gone(*session));
        [request].into_iter().chain(gone.map(Input::PeerLost)).collect()
    }

    fn spawn(&mut self, SpawnOrder { type_name, data, label, persist, player, reply }: SpawnOrder) {
        let newcomer = Newcomer { type_name: &type_name, label, player, persist, data, brings: None };
        match self.make(newcomer) {
            Ok(made) => {
                let input = self.order_spawn(made, Asker::Spawn(reply));
                self.turn_or_defer([input]);
            }
            Err(reason) => drop(reply.send(Err(SpawnError::Unfit { reason }))),
        }
    }

    fn census(&self) -> SceneCensus {
        SceneCensus {
            entities: self.machine.len() as u64,
            arriving: self.machine.arriving() as u64,
            leaving: self.machine.moves_under_way() as u64,
            draining: self.machine.is_draining(),
            applied: self.applied,
        }
    }

    fn list(&self, which: &Which, limit: usize) -> Vec<SceneEntity> {
        let rows = self.machine.entities().filter_map(|entity| self.row(entity));
        match which {
            Which::All => rows.take(limit).collect(),
            Which::OfType(name) => {
                let kind = self.bodies.types().entity(name).map(TypeInfo::number);
                let all = kind.map(|kind| Lookup::of_type(&self.bodies, kind)).unwrap_or_default();
                all.into_iter().filter_map(|entity| self.row(entity)).take(limit).collect()
            }
            Which::Matching(text) => {
                if let Ok(persist) = text.parse() {
                    let found = self.bodies.by_persist(PersistId(persist));
                    return found.and_then(|entity| self.row(entity)).into_iter().take(limit).collect();
                }
                rows.filter(|row| matches(row, text)).take(limit).collect()
            }
            // Each labelled spawn asks for it: nobody's row is made to see that it wears another label.
            Which::Labelled(labels) => {
                self.bodies.labelled(labels).filter_map(|entity| self.row(entity)).take(limit).collect()
            }
        }
    }

    fn row(&self, entity: OnlineId) -> Option<SceneEntity> {
        let mut stand = self.machine.stand(entity)?;
        // Whoever has another copy may be the owner by now.
        if !self.outlook.may_act {
            stand.phase = PAUSED;
        }
        let handle = self.bodies.handle(entity)?.to_string();
        Some(SceneEntity { entity, handle, stand })
    }
}

/// Which entities are listed.
#[derive(Clone, Debug)]
pub enum Which {
    /// All.
    All,
    /// Those of a type, or of one below it.
    OfType(String),
    /// Those whose id or label the text begins or is.
    Matching(String),
    /// Those that wear one of these labels, in no order.
    Labelled(Labels),
}

/// How an entity stands whose node has no lease: it takes no turns, and its state is as of before.
const PAUSED: &str = "paused";

fn matches(row: &SceneEntity, text: &str) -> bool {
    row.stand.identity.label.as_deref() == Some(text) || row.entity.to_string().starts_with(text)
}
