//! An entity in a simulated cluster, and moves of it.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde_json::Value;
use slipgate_actors::router::{Sent, Waiting};
use slipgate_actors::scene::{self, DespawnAnswer, MoveAnswer, MoveOrder, Question, UnparkAnswer};
use slipgate_cluster::{Own, moves};
use slipgate_entity::game::{Entity, Message, Part, Reply, reply};
use slipgate_entity::{OnlineId, codec};
use slipgate_proto::admin::{Problem, ProblemKind};
use slipgate_sim::games::{Pending, Unanswered};

use super::world::World;
use crate::cluster::Untyped;
use crate::cluster::outcome::{self, MoveError, Moved, SendError, Shown};

/// An entity, wherever it is: as good after a move as before. Two are equal if they name the same entity.
pub struct Ref<'w, T = Untyped> {
    world: &'w World,
    id: OnlineId,
    /// Name of its type, where that is known.
    kind: Option<&'static str>,
    of: PhantomData<fn() -> T>,
}

/// A move that was ordered: [`wait`](Self::wait) waits for its end.
#[derive(Debug)]
#[must_use = "it goes on whether or not its end is waited for"]
pub struct Move<'w> {
    world: &'w World,
    ordered: Result<Ordered, MoveError>,
}

#[derive(Debug)]
struct Ordered {
    from: Own,
    label: Option<String>,
    answer: Pending<MoveAnswer>,
}

impl<'w, T> Ref<'w, T> {
    pub(super) fn new(world: &'w World, id: OnlineId, kind: Option<&'static str>) -> Self {
        Self { world, id, kind, of: PhantomData }
    }

    /// The entity's id, which it keeps over all its moves.
    #[must_use]
    pub fn id(&self) -> OnlineId {
        self.id
    }

    /// Sends a message and waits until it is applied, up to ten seconds.
    ///
    /// # Errors
    ///
    /// If it was not applied, or nobody knows whether it was; says which.
    pub fn send<M: Message>(&self, message: M) -> Result<(), SendError> {
        let Sent { report, .. } = self.say(&message, Waiting::Outcome(WAIT))?;
        outcome::applied(&report)
    }

    /// The same, but waits only until the node has accepted it: then it is applied once, after all that was said before. No
    /// time passes.
    ///
    /// # Errors
    ///
    /// If it was not accepted.
    pub fn tell<M: Message>(&self, message: M) -> Result<(), SendError> {
        let Sent { report, .. } = self.say(&message, Waiting::No)?;
        outcome::accepted(&report)
    }

    /// Sends a message and waits for what its handler answers, up to ten seconds.
    ///
    /// # Errors
    ///
    /// If it was not applied, nobody knows whether it was, or there is no answer; says which.
    pub fn ask<M: Message>(&self, message: M) -> Result<M::Answer, SendError> {
        let Sent { report, replies } = self.say(&message, Waiting::Answer(WAIT))?;
        outcome::applied(&report)?;
        let unreadable = |why: String| SendError::Unreadable { why };
        match replies.get(&0).and_then(|payload| reply(payload)) {
            Some((_, Reply::Answer { bytes, .. })) => {
                codec::decode_part(bytes).map_err(|error| unreadable(error.to_string()))
            }
            Some((_, Reply::Done)) => Err(unreadable("it is too large".to_owned())),
            Some((_, Reply::Refused(_) | Reply::Panicked { .. })) | None => Err(unreadable("there is none".to_owned())),
        }
    }

    fn say<M: Message>(&self, message: &M, waiting: Waiting) -> Result<Sent, SendError> {
        let arguments = serde_json::to_value(message);
        let arguments = arguments.map_err(|error| SendError::NotJson { message: M::NAME, why: error.to_string() })?;
        let payload = self.payload(M::NAME, &arguments)?;
        let mut inside = self.world.inside();
        let Some(pending) = inside.send(self.id, payload.into(), waiting) else {
            return Err(unavailable("no node that is up has a lease, and can send").into());
        };
        match inside.wait(pending, WAIT + MORE) {
            Ok(sent) => Ok(sent),
            Err(Unanswered::Late) => Err(SendError::Late),
            Err(Unanswered::Gone) => Err(unavailable("the node that was to send it has crashed").into()),
        }
    }

    fn payload(&self, name: &str, arguments: &Value) -> Result<Vec<u8>, SendError> {
        let inside = self.world.inside();
        let text = arguments.to_string();
        let payload = match self.kind {
            Some(kind) => inside.types().parse(kind, name, &text),
            None => inside.types().parse_any(name, &text),
        };
        let payload = payload.map_err(|error| SendError::NotTaken { why: error.to_string() })?;
        let (bytes, most) = (payload.len(), inside.message_bytes());
        if bytes > most {
            let why = format!("a message of {bytes} bytes is above the limit of {most} ([limits] message_bytes)");
            return Err(SendError::NotTaken { why });
        }
        Ok(payload)
    }

    /// Moves the entity to the scene of that name. Ends when it lives there.
    ///
    /// # Errors
    ///
    /// If it does not; says why, and where the entity is, as far as that is known.
    pub fn move_to(&self, scene: &str) -> Result<Moved, MoveError> {
        self.set_out(scene).wait()
    }

    /// Orders such a move, and no time passes: what comes next may come in the middle of it.
    pub fn set_out(&self, scene: &str) -> Move<'w> {
        Move { world: self.world, ordered: self.order(scene).map_err(MoveError::from) }
    }

    fn order(&self, scene: &str) -> Result<Ordered, Problem> {
        let (from, entity) = (self.find()?, self.id);
        let label = self.show()?.label;
        let mut inside = self.world.inside();
        let view = inside.view();
        let Some(target) = view.scene_named(scene) else {
            let known: Vec<_> = view.present_scenes().map(|scene| scene.name.as_str()).collect();
            let text = format!("there is no scene {scene:?}; there are {}", known.join(", "));
            return Err(Problem { reason: "unknown_scene".to_owned(), ..not_found(text) });
        };
        let to = view.own_of(target.id).ok_or(target.id);
        let asked = inside.ask(from, |reply| Question::Migrate(MoveOrder { entity, to, reply }));
        Ok(Ordered { from, label, answer: asked.ok_or_else(stands_still)? })
    }

    /// Ends the entity for good.
    ///
    /// # Errors
    ///
    /// If it could not be ended, is gone already, or nobody knows yet.
    pub fn despawn(&self) -> Result<(), Problem> {
        let entity = self.id;
        let told: DespawnAnswer = self.question(|reply| Question::Despawn { entity, reply })?;
        match told {
            Ok(scene::Despawn::Done) => Ok(()),
            Ok(scene::Despawn::Undecided) => {
                let text = format!("the home of {entity} has not answered yet, and only it can end an entity");
                Err(Problem { kind: ProblemKind::Timeout, reason: "undecided".to_owned(), ..not_found(text) })
            }
            Err(error) => Err(rejected(&error)),
        }
    }

    /// Lets it take messages again after one of its handlers has panicked.
    ///
    /// # Errors
    ///
    /// If it is not parked, or not found.
    pub fn unpark(&self) -> Result<(), Problem> {
        let entity = self.id;
        let told: UnparkAnswer = self.question(|reply| Question::Unpark { entity, reply })?;
        match told {
            Ok(true) => Ok(()),
            Ok(false) => {
                let text = format!("{entity} is not parked");
                Err(Problem { kind: ProblemKind::Refused, reason: "not_parked".to_owned(), ..not_found(text) })
            }
            Err(error) => Err(rejected(&error)),
        }
    }

    /// Where it is, how it is, and its state. No time passes.
    ///
    /// # Errors
    ///
    /// If it is not found.
    pub fn show(&self) -> Result<Shown, Problem> {
        let (own, entity) = (self.find()?, self.id);
        let mut inside = self.world.inside();
        let asked = inside.ask(own, |reply| Question::Show { entity, reply }).ok_or_else(stands_still)?;
        let told = inside.wait(asked, Duration::ZERO).ok().flatten();
        let (found, body) = told.ok_or_else(|| not_found(format!("{entity} is on the way")))?;
        Ok(outcome::shown(scene::entity_report(own, &found, body, inside.view())))
    }

    /// Lets time pass until it is as wanted: for what comes about by itself, such as a move that its own handlers ask for.
    ///
    /// # Errors
    ///
    /// If it is not as wanted for ten seconds.
    pub fn until(&self, is_so: impl Fn(&Shown) -> bool) -> Result<Shown, Problem> {
        let end = self.world.now() + WAIT;
        loop {
            match self.show() {
                Ok(shown) if is_so(&shown) => return Ok(shown),
                Ok(_) | Err(_) if self.world.now() < end => self.world.inside().tick(),
                Ok(_) => return Err(outcome::not_so(self.id, WAIT)),
                Err(problem) => return Err(problem),
            }
        }
    }

    /// One of its parts as it is now. Fields that do not travel are as in the part's `Default`.
    ///
    /// # Panics
    ///
    /// If it is not found, or has no such part.
    #[track_caller]
    #[must_use]
    pub fn part<P: Part>(&self) -> P {
        let part = self.show().map(|shown| shown.part());
        match part {
            Ok(Ok(part)) => part,
            Ok(Err(error)) => panic!("{}: {error}", self.id),
            Err(problem) => panic!("{}", problem.text),
        }
    }

    fn find(&self) -> Result<Own, Problem> {
        let inside = self.world.inside();
        inside.whereabouts(self.id).ok_or_else(|| {
            let fate = if inside.is_lost(self.id) { "was lost with its node" } else { "is in no scene" };
            not_found(format!("{} {fate}", self.id))
        })
    }

    fn question<A>(&self, question: impl FnOnce(tokio::sync::oneshot::Sender<A>) -> Question) -> Result<A, Problem> {
        let own = self.find()?;
        let mut inside = self.world.inside();
        let asked = inside.ask(own, question).ok_or_else(stands_still)?;
        inside.wait(asked, WAIT).map_err(|why| match why {
            Unanswered::Gone => unavailable("its node has crashed meanwhile"),
            Unanswered::Late => Problem { kind: ProblemKind::Timeout, ..unavailable("no answer came in time") },
        })
    }
}

impl<T: Entity> Ref<'_, T> {
    /// Its own part as it is now.
    ///
    /// # Panics
    ///
    /// If it is not found.
    #[track_caller]
    #[must_use]
    pub fn own(&self) -> T {
        self.part()
    }
}

impl Move<'_> {
    /// Waits for the end of the move, up to ten seconds.
    ///
    /// # Errors
    ///
    /// If the entity does not live there then; says why, and where it is, as far as that is known.
    pub fn wait(self) -> Result<Moved, MoveError> {
        let Ordered { from, label, answer } = self.ordered?;
        let mut inside = self.world.inside();
        match inside.wait(answer, WAIT) {
            Ok(Ok(done)) => outcome::moved(scene::move_report((from, label), &done, inside.unix_ms(), inside.view())),
            Ok(Err(error)) => Err(rejected(&error).into()),
            Err(Unanswered::Gone) => Err(unavailable("the node that it was to leave has crashed").into()),
            Err(Unanswered::Late) => {
                let problem = unavailable("it has not ended in time, and may still");
                Err(Problem { kind: ProblemKind::Timeout, reason: "timeout".to_owned(), ..problem }.into())
            }
        }
    }
}

fn rejected(error: &moves::MoveError) -> Problem {
    let reason = match error {
        moves::MoveError::NotOwner { .. } => "not_here",
        moves::MoveError::Migrating { .. } => "migrating",
        moves::MoveError::NoCompany { .. } | moves::MoveError::TooManyCompanions { .. } => "no_company",
        moves::MoveError::NoMigration { .. } => "no_migration",
    };
    Problem { kind: ProblemKind::Refused, reason: reason.to_owned(), ..not_found(error.to_string()) }
}

fn not_found(text: String) -> Problem {
    Problem { kind: ProblemKind::NotFound, reason: "not_found".to_owned(), text, state: None, hint: None }
}

fn unavailable(text: &str) -> Problem {
    let (kind, reason) = (ProblemKind::Unavailable, "node_gone".to_owned());
    Problem { kind, reason, ..not_found(text.to_owned()) }
}

fn stands_still() -> Problem {
    unavailable("the process of its node stands still")
}

impl<T> From<&Ref<'_, T>> for OnlineId {
    fn from(reference: &Ref<'_, T>) -> Self {
        reference.id
    }
}

impl<T> Clone for Ref<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<'_, T> {}

impl<T> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.id).finish()
    }
}

impl<T> fmt::Display for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl<T> PartialEq for Ref<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Ref<'_, T> {}

/// How long an outcome is waited for: as long as a cluster that is not simulated waits.
const WAIT: Duration = Duration::from_secs(10);
/// A batch says itself that its time is over, before it is not waited for any more.
const MORE: Duration = Duration::from_secs(2);
