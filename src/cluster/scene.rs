//! A scene of a cluster, and spawning into it.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;

use slipgate_proto::admin::{Answer, Question};

use super::outcome::{self, SpawnError};
use super::{Ref, Untyped};
use crate::admin::Oracle;
use crate::node::SharedDesk;

/// A scene, by its name or number; cheap to clone.
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

    /// A new entity of the type of that stable name; `.await` makes it.
    #[must_use]
    pub fn spawn_named(&self, type_name: &str) -> Spawn<Untyped> {
        Spawn { scene: self.clone(), type_name: type_name.to_owned(), label: None, data: None, of: PhantomData }
    }
}

/// An entity to be: `.await` makes it.
#[derive(Debug)]
#[must_use = "nothing is spawned before it is awaited"]
pub struct Spawn<T> {
    scene: Scene,
    type_name: String,
    label: Option<String>,
    data: Option<String>,
    of: PhantomData<fn() -> T>,
}

impl<T> Spawn<T> {
    /// A name for people, 1 to 64 bytes; commands take it in place of the id where only one has it.
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }

    async fn make(self) -> Result<Ref<T>, SpawnError> {
        let Self { scene: Scene { desk, name }, type_name, label, data, .. } = self;
        let question = Question::Spawn { type_name, scene: name, label, count: 1, data };
        let Answer::Spawned(rows) = desk.ask(question).await? else { outcome::not_an_answer() };
        let [row] = rows.as_slice() else { outcome::not_an_answer() };
        Ok(Ref::attached(outcome::id(&row.entity), desk))
    }
}

impl<T: 'static> IntoFuture for Spawn<T> {
    type Output = Result<Ref<T>, SpawnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}
