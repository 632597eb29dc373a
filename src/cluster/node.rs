//! One node in this process.

use std::path::PathBuf;

use slipgate_entity::OnlineId;
use slipgate_entity::game::{Entity, Types};
use slipgate_proto::admin::{Answer, Question};

use super::outcome::{self, Problem};
use super::{Ref, Scene};
use crate::admin::Oracle;
use crate::config::{self, Config};
use crate::fault::Fault;
use crate::node::NodeError;
use crate::node::embedded::{Bound, Embedded};

/// A running node: one of a [`Cluster`](super::Cluster), or one of a real cluster that this process takes part in.
///
/// It takes no signals and writes no log; the program that it is part of says when it stops. Dropped, it stops by
/// itself, and nobody waits for that.
///
/// ```
/// # use slipgate::doc::Player;
/// # slipgate::doc::run(async |cluster| {
/// let [n1, n2] = cluster.nodes() else { panic!("two were declared") };
/// let ann = n1.scene("forest").spawn(Player::default()).label("ann").await?;
/// assert_eq!(n2.find("ann").await?.id(), ann.id());
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Node {
    running: Embedded,
}

impl Node {
    /// A node as a `cluster.toml` and the environment describe it.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), slipgate::node::NodeError> {
    /// let node = slipgate::Node::builder().config("cluster.toml").set("node.name", "n2").start().await?;
    /// // ... the program's own work, with node.scene(..) and node.find(..)
    /// node.stop().await
    /// # }
    /// ```
    #[must_use]
    pub fn builder() -> NodeBuilder {
        NodeBuilder::default()
    }

    pub(super) async fn ready(running: Embedded) -> Result<Self, NodeError> {
        Ok(Self { running: running.ready().await? })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.running.name()
    }

    /// Where its admin interface listens: `slipgate status --at ...`.
    #[must_use]
    pub fn admin(&self) -> &str {
        self.running.admin()
    }

    /// The scene of that name or number, on whichever node. Whether there is one is told by what is asked of it.
    #[must_use]
    pub fn scene(&self, name: &str) -> Scene {
        Scene::new(self.running.desk().clone(), name)
    }

    /// The entity that a text names: its id, a label that only one has, or a prefix that only one has.
    ///
    /// # Errors
    ///
    /// If none or several are named so, or not everybody who could know answers.
    pub async fn find(&self, text: &str) -> Result<Ref, Problem> {
        let question = Question::Show { entity: text.to_owned() };
        let Answer::Entity(report) = self.running.desk().ask(question).await? else { outcome::not_an_answer() };
        Ok(Ref::attached(outcome::id(&report.entity), None, self.running.desk().clone()))
    }

    /// The entity of that id, for one whose type is known.
    #[must_use]
    pub fn entity<T: Entity>(&self, id: OnlineId) -> Ref<T> {
        Ref::attached(id, Some(T::NAME), self.running.desk().clone())
    }

    /// A reference that was read from data, with this node behind it.
    #[must_use]
    pub fn attach<T>(&self, reference: &Ref<T>) -> Ref<T> {
        Ref::attached(reference.id(), reference.kind(), self.running.desk().clone())
    }

    /// Waits until it meets a fault of Slipgate's own, for as long as it meets none. Such a fault ends the node at once and
    /// without a goodbye, and the rest of the program goes on: what is asked of the node from then on is answered as
    /// `unavailable`, and [`Node::stop`] says the fault, too. What its scenes held is lost once its lease is over.
    pub async fn fault(&self) -> Fault {
        self.running.alarm().raised().await
    }

    /// Stops it as a signal would stop a process: everybody moves to other nodes who can, what is accepted is answered.
    ///
    /// # Errors
    ///
    /// If it did not end as it should, or had ended by a fault ([`Node::fault`]); it has ended.
    pub async fn stop(self) -> Result<(), NodeError> {
        self.running.stop().await
    }
}

/// A node to be.
#[derive(Clone, Debug, Default)]
pub struct NodeBuilder {
    config: Option<PathBuf>,
    settings: Vec<(String, String)>,
    types: Option<Types>,
}

impl NodeBuilder {
    /// The configuration file; without one, environment and settings alone.
    #[must_use]
    pub fn config(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Some(path.into());
        self
    }

    /// A configuration key and its value, over file and environment: `.set("node.name", "n2")`.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The types that it can host, in place of those that are linked into this program.
    #[must_use]
    pub fn types(mut self, types: Types) -> Self {
        self.types = Some(types);
        self
    }

    /// Starts the node, and waits until the manager has answered and it works; that may be forever, and whoever waits no
    /// longer drops the future, which stops the node.
    ///
    /// # Errors
    ///
    /// If the configuration is faulty, or the node cannot start or may not join.
    pub async fn start(self) -> Result<Node, NodeError> {
        let loaded = Config::load(self.config.as_deref(), config::process_env(), &self.settings);
        let types = self.types.map_or_else(Types::linked, Ok)?;
        let bound = Bound::open(loaded.map_err(NodeError::Config)?.config)?;
        Node::ready(bound.run(types, 1, None)?).await
    }
}
