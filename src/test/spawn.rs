//! An entity to be, in a simulated cluster.

use std::marker::PhantomData;
use std::time::Duration;

use slipgate_actors::scene::{self, Question, SpawnOrder};
use slipgate_cluster::Own;
use slipgate_cluster::scene::SpawnRefusal;
use slipgate_entity::game::{Data, Entity, Part};
use slipgate_entity::{PersistId, PlayerId};
use slipgate_proto::admin::{Problem, ProblemKind};
use slipgate_sim::games::Unanswered;

use super::reference::Ref;
use super::world::World;
use crate::cluster::SpawnError;
use crate::cluster::beginning::Beginning;

/// An entity to be: [`make`](Self::make) makes it.
#[derive(Debug)]
#[must_use = "nothing is spawned before it is made"]
pub struct Spawn<'w, T> {
    world: &'w World,
    scene: String,
    type_name: &'static str,
    begins: Beginning,
    of: PhantomData<fn() -> T>,
}

impl<'w, T: Entity> Spawn<'w, T> {
    pub(super) fn new(world: &'w World, scene: &str, own: T) -> Self {
        let spawn =
            Self { world, scene: scene.to_owned(), type_name: T::NAME, begins: Beginning::default(), of: PhantomData };
        spawn.with(own)
    }

    /// A name for people.
    pub fn label(mut self, label: &str) -> Self {
        self.begins.label = Some(label.to_owned());
        self
    }

    /// With the number that it has over restarts; a fresh one, if it is not said.
    pub fn persist(mut self, persist: PersistId) -> Self {
        self.begins.persist = Some(persist);
        self
    }

    /// With the player that it belongs to.
    pub fn player(mut self, player: PlayerId) -> Self {
        self.begins.player = player;
        self
    }

    /// With one of its parts beginning as that one is: a component that its type lists, or one more.
    pub fn with<P: Part>(mut self, part: P) -> Self {
        self.begins.put(&part);
        self
    }

    /// Makes it, and waits until it lives.
    ///
    /// # Errors
    ///
    /// If it cannot be, or its scene is not there; says why.
    pub fn make(self) -> Result<Ref<'w, T>, SpawnError> {
        let Self { world, scene, type_name, begins, .. } = self;
        let Beginning { label, persist, player, data } = begins;
        let text = serde_json::Value::Object(data?).to_string();
        let data = Data::from_json(&text).map_err(|error| refused("unfit", error.to_string()))?;
        let end = world.now() + WAIT;
        loop {
            let own = host(world, &scene)?;
            let (label, data) = (label.clone(), data.clone());
            let order = |reply| {
                let type_name = type_name.to_owned();
                Question::Spawn(SpawnOrder { type_name, data, label, persist, player, reply })
            };
            let mut inside = world.inside();
            let asked = inside.ask(own, order).ok_or_else(|| gone(&scene))?;
            match inside.wait(asked, WAIT) {
                Ok(Ok(entity)) => return Ok(Ref::new(world, entity, Some(type_name))),
                // One that has just joined is given its ids in a moment.
                Ok(Err(scene::SpawnError::Refused(SpawnRefusal::NoRange))) if inside.now() < end => inside.tick(),
                Ok(Err(error)) => return Err(refused(word(&error), error.to_string())),
                Err(Unanswered::Gone) => return Err(gone(&scene)),
                Err(Unanswered::Late) => return Err(refused("timeout", format!("{scene} does not answer"))),
            }
        }
    }
}

/// The scene of that name, in the life of its node that has it now.
fn host(world: &World, scene: &str) -> Result<Own, SpawnError> {
    let inside = world.inside();
    let view = inside.view();
    let known = || view.present_scenes().map(|scene| scene.name.to_string()).collect::<Vec<_>>().join(", ");
    let placed = view.scene_named(scene);
    let placed = placed
        .ok_or_else(|| refused("unknown_scene", format!("there is no scene {scene:?}; there are {}", known())))?;
    view.host_of(placed.id).ok_or_else(|| gone(scene))
}

fn word(error: &scene::SpawnError) -> &'static str {
    match error {
        scene::SpawnError::Refused(SpawnRefusal::Full { .. }) => "full",
        scene::SpawnError::Refused(SpawnRefusal::Draining) => "draining",
        scene::SpawnError::Refused(SpawnRefusal::Closing) => "closing",
        scene::SpawnError::Refused(SpawnRefusal::NoRange) => "no_range",
        scene::SpawnError::Taken { .. } => "persist_taken",
        scene::SpawnError::Unfit { .. } => "unfit",
    }
}

fn refused(reason: &str, text: String) -> SpawnError {
    let (kind, reason) = (ProblemKind::Refused, reason.to_owned());
    Problem { kind, reason, text, state: Some("nothing was spawned".to_owned()), hint: None }.into()
}

fn gone(scene: &str) -> SpawnError {
    refused("node_gone", format!("the node of {scene} has crashed or stands still"))
}

/// How long a newcomer is waited for.
const WAIT: Duration = Duration::from_secs(10);
