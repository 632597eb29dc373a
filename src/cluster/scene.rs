//! A scene of a cluster, and spawning into it.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;

use serde_json::Value;
use slipgate_entity::game::{Entity, Part};
use slipgate_entity::{PersistId, PlayerId};
use slipgate_proto::admin::{Answer, Question};

use super::beginning::Beginning;
use super::outcome::{self, SpawnError};
use super::reference::{Ref, Untyped};
use crate::admin::Oracle;
use crate::game::Newcomer;
use crate::node::SharedDesk;

/// A scene, by its name or number; cheap to clone.
///
/// ```
/// # use slipgate::doc::{Health, Player};
/// # slipgate::doc::run(async |cluster| {
/// let harbor = cluster.scene("harbor");
/// let bob = harbor.spawn(Player::default()).with(Health { hp: 5 }).label("bob").await?;
/// assert_eq!(bob.show().await?.at.scene, harbor.name());
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    desk: SharedDesk,
    name: String,
}

impl Scene {
    pub(super) fn new(desk: SharedDesk, name: &str) -> Self {
        Self { desk, name: name.to_owned() }
    }

    /// Its name, as it was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A new entity that begins as `own`, with the components that its type lists; `.await` makes it.
    pub fn spawn<T: Entity>(&self, own: T) -> Spawn<T> {
        Spawn { kind: Some(T::NAME), ..self.spawning(T::NAME) }.with(own)
    }

    /// A new entity of the type of that stable name; `.await` makes it.
    pub fn spawn_named(&self, type_name: &str) -> Spawn<Untyped> {
        self.spawning(type_name)
    }

    pub(super) fn spawn_newcomer(&self, newcomer: Newcomer) -> Spawn<Untyped> {
        let Newcomer { type_name, label, data, .. } = newcomer;
        let begins = Beginning { label, data: Ok(data), ..Beginning::default() };
        Spawn { begins, ..self.spawning(type_name) }
    }

    fn spawning<T>(&self, type_name: &str) -> Spawn<T> {
        let scene = self.clone();
        Spawn { scene, type_name: type_name.to_owned(), kind: None, begins: Beginning::default(), of: PhantomData }
    }
}

/// An entity to be: `.await` makes it.
#[derive(Debug)]
#[must_use = "nothing is spawned before it is awaited"]
pub struct Spawn<T> {
    scene: Scene,
    type_name: String,
    kind: Option<&'static str>,
    begins: Beginning,
    of: PhantomData<fn() -> T>,
}

impl<T> Spawn<T> {
    /// A name for people, 1 to 64 bytes; commands take it in place of the id where only one has it.
    pub fn label(mut self, label: &str) -> Self {
        self.begins.label = Some(label.to_owned());
        self
    }

    /// With the number that it has over restarts, as a database knows it; a fresh one, if it is not said. A scene has one
    /// entity of a number at most: [`SpawnError`] tells of another.
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

    /// With fields of one of its parts, by names: what the part has is checked when it is spawned.
    pub fn with_fields(mut self, part: &str, fields: Value) -> Self {
        self.begins.put_fields(part, fields);
        self
    }

    async fn make(self) -> Result<Ref<T>, SpawnError> {
        let Self { scene: Scene { desk, name }, type_name, kind, begins, .. } = self;
        let Beginning { label, persist, player, data } = begins;
        let data = data?;
        let data = (!data.is_empty()).then(|| Value::Object(data).to_string());
        let question = Question::Spawn { type_name, scene: name, label, count: 1, data, persist, player };
        let Answer::Spawned(rows) = desk.ask(question).await? else { outcome::not_an_answer() };
        let [row] = rows.as_slice() else { outcome::not_an_answer() };
        Ok(Ref::attached(outcome::id(&row.entity), kind, desk))
    }
}

impl<T: 'static> IntoFuture for Spawn<T> {
    type Output = Result<Ref<T>, SpawnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}
