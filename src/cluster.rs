//! A cluster inside this process: real nodes, on loopback, with ports that the system chooses and a folder that goes
//! with them.
//!
//! ```text
//!   program --> Cluster --+--> Node n1 (manager)   thread, desk, scenes      the nodes talk over TCP,
//!                         +--> Node n2             thread, desk, scenes      as those of processes do
//!      Ref, Scene --> desk of the node they came from --> whichever node has the entity
//! ```
//!
//! For games that are tried, taught and tested. What it runs is the code of `slipgate node`; there is no second way to an
//! entity either: all goes through a node's desk, as what tools ask does. The futures run on any runtime.
//!
//! | module | holds |
//! |---|---|
//! | `node` | one node: of such a cluster, or of a real one that this process takes part in |
//! | `scene` | a scene, and spawning into it |
//! | `reference` | [`Ref`]: an entity, wherever it is |
//! | `outcome` | what moves, looks and sends come to |
//!
//! Keeps: a fault of a node ends that node and no other; no signal is caught, no exit taken, no log written and no metric counted unless asked for; when
//! [`Cluster::stop`] has returned, threads, ports and folder are gone.
//! Leaves out: processes of their own (`slipgate dev`), simulated time.

pub(crate) mod beginning;
mod node;
pub(crate) mod outcome;
mod reference;
mod scene;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};
use slipgate_cluster::NodeName;
use slipgate_entity::OnlineId;
use slipgate_entity::game::{Entity, TypeFaults, Types};
use tempfile::TempDir;
use thiserror::Error;
use toml_edit::Value;

pub use node::{Node, NodeBuilder};
pub use outcome::{Companion, MoveError, Moved, PartError, Place, Problem, ProblemKind, SendError, Shown, SpawnError};
pub use reference::{Ref, Untyped};
pub use scene::{Scene, Spawn};

use crate::config::{Colour, Config, ConfigErrors, FileText, Format, Log};
use crate::game::Crowd;
use crate::node::NodeError;
use crate::node::embedded::Bound;
use crate::telemetry::{self, NodeLabel, TelemetryError};

/// A running cluster. Dropped, its nodes stop by themselves, and nobody waits for them; [`Cluster::stop`] does.
///
/// ```
/// # use slipgate::prelude::*;
/// # slipgate::block_on(async {
/// let cluster = Cluster::builder().node("n1", ["forest", "mine"]).node("n2", ["harbor"]).start().await?;
/// let names: Vec<_> = cluster.nodes().iter().map(Node::name).collect();
/// assert_eq!(names, ["n1", "n2"]);
/// cluster.stop().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
}

impl Cluster {
    /// A cluster to be.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The scene of that name or number. Whether there is one is told by what is asked of it.
    #[must_use]
    pub fn scene(&self, name: &str) -> Scene {
        self.first().scene(name)
    }

    /// The entity that a text names: its id, a label that only one has, or a prefix that only one has.
    ///
    /// # Errors
    ///
    /// If none or several are named so, or not everybody who could know answers.
    pub async fn find(&self, text: &str) -> Result<Ref, Problem> {
        self.first().find(text).await
    }

    /// The entity of that id, for one whose type is known.
    #[must_use]
    pub fn entity<T: Entity>(&self, id: OnlineId) -> Ref<T> {
        self.first().entity(id)
    }

    /// A reference that was read from data, with this cluster behind it.
    #[must_use]
    pub fn attach<T>(&self, reference: &Ref<T>) -> Ref<T> {
        self.first().attach(reference)
    }

    /// Spawns all of a crowd, in order.
    ///
    /// # Errors
    ///
    /// At the first one that is not spawned; those before it are.
    pub async fn populate(&self, crowd: &Crowd) -> Result<Vec<Ref>, SpawnError> {
        let mut spawned = Vec::new();
        for newcomer in crowd.newcomers() {
            spawned.push(self.scene(&newcomer.scene).spawn_newcomer(newcomer.clone()).await?);
        }
        Ok(spawned)
    }

    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name() == name)
    }

    /// The nodes, in the order in which they were declared. The first one runs the manager.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Stops all nodes at once, each as a signal would stop a process: no more is accepted, what was is answered. State
    /// lives in memory and ends here.
    ///
    /// # Errors
    ///
    /// The first node that did not end as it should; all have ended.
    pub async fn stop(self) -> Result<(), NodeError> {
        join_all(self.nodes.into_iter().map(Node::stop)).await.into_iter().collect()
    }

    /// A started cluster has a node: [`Builder::start`] sees to it.
    fn first(&self) -> &Node {
        &self.nodes[0]
    }
}

/// A cluster to be: its nodes with their scenes, and what is not as usual.
///
/// ```
/// use slipgate::prelude::*;
///
/// #[derive(Entity, Default, Debug)]
/// struct Pilgrim {
///     gold: u32,
/// }
/// impl Behaviour for Pilgrim {}
///
/// # fn main() {
/// # slipgate::block_on(async {
/// let cluster = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).start().await?;
/// let ann = cluster.scene("forest").spawn(Pilgrim { gold: 5 }).label("ann").await?;
/// let moved = ann.move_to("harbor").await?;
/// assert_eq!(moved.to.to_string(), "harbor@n2");
/// cluster.stop().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    nodes: Vec<(String, Vec<String>)>,
    settings: Vec<(String, String)>,
    types: Option<Types>,
    log: Option<String>,
}

impl Builder {
    /// A node and the scenes that it opens. The first one runs the manager.
    #[must_use]
    pub fn node<S: Into<String>>(mut self, name: &str, scenes: impl IntoIterator<Item = S>) -> Self {
        self.nodes.push((name.to_owned(), scenes.into_iter().map(Into::into).collect()));
        self
    }

    /// A key of `cluster.toml` for every node, as with `--set`: `.set("entities.on_panic", "despawn")`.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The types that its nodes can host, in place of those that are linked into this program.
    #[must_use]
    pub fn types(mut self, types: Types) -> Self {
        self.types = Some(types);
        self
    }

    /// Tells what happens on standard error: `info`, or a list such as `info,slipgate=debug`; what entities say, as the key
    /// `log.entities` says. Where this process has a
    /// log already, that one stays.
    #[must_use]
    pub fn log(mut self, level: &str) -> Self {
        self.log = Some(level.to_owned());
        self
    }

    /// Starts the nodes and waits until all of them work and see each other.
    ///
    /// # Errors
    ///
    /// If a name or setting is wrong, or a node does not start. Those that were started stop by themselves.
    pub async fn start(self) -> Result<Cluster, StartError> {
        let (manager, _) = self.nodes.first().ok_or(StartError::Empty)?;
        let mut names = BTreeSet::new();
        if let Some((twice, _)) = self.nodes.iter().find(|(name, _)| !names.insert(name)) {
            return Err(StartError::Twice { node: twice.clone() });
        }
        if let Some(level) = &self.log {
            log(level, manager)?;
        }
        let types = self.types.clone().map_or_else(Types::linked, Ok)?;
        let folder = tempfile::Builder::new().prefix("slipgate-").tempdir().map_err(StartError::Folder)?;
        let folder = Arc::new(folder);
        let mut bound: Vec<Bound> = Vec::new();
        for (name, _) in &self.nodes {
            let failed = |source| StartError::Node { node: name.clone(), source };
            let config = self.config(name, &folder, bound.first().map(Bound::peer))?;
            bound.push(Bound::open(config).map_err(failed)?);
        }
        let members = bound.len();
        let starting = bound.into_iter().zip(&self.nodes).map(|(bound, (name, _))| {
            let running = bound.run(types.clone(), members, Some(folder.clone()));
            let failed = |source| StartError::Node { node: name.clone(), source };
            async move { Node::ready(running.map_err(failed)?).await.map_err(failed) }
        });
        // The others would wait for one that does not come.
        Ok(Cluster { nodes: try_join_all(starting).await? })
    }

    fn config(&self, name: &str, folder: &TempDir, manager: Option<&str>) -> Result<Config, ConfigErrors> {
        let text = self.cluster_toml(folder);
        let own = [("node.name", Some(name)), ("manager.address", manager)];
        let own = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
        let overrides: Vec<_> = own.chain(self.settings.iter().cloned()).collect();
        let file = FileText { name: "the cluster", text: &text };
        Ok(Config::from_text(Some(file), std::iter::empty(), &overrides)?.config)
    }

    /// What all nodes share. One thread for scenes each: they share the machine.
    fn cluster_toml(&self, folder: &TempDir) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let (manager, data) = (text(&self.nodes[0].0), text(&folder.path().display().to_string()));
        let mut toml = format!(
            "[cluster]\nname = \"local\"\n[manager]\nnode = {manager}\n[admin]\nlisten = \"127.0.0.1:0\"\n\
             [node]\nlisten = \"127.0.0.1:0\"\narbiters = 1\ndata = {data}\n"
        );
        let placed = self.nodes.iter().flat_map(|(node, scenes)| scenes.iter().map(move |scene| (scene, node)));
        for (id, (scene, node)) in (1..).zip(placed) {
            toml += &format!("[[scenes]]\nid = {id}\nname = {}\nnode = {}\n", text(scene), text(node));
        }
        toml
    }
}

fn log(level: &str, manager: &str) -> Result<(), StartError> {
    // What entities write is filtered by each node, as `[log] entities` says.
    let (level, entities) = (level.to_owned(), String::new());
    let log = Log { format: Format::Auto, level, entities, colour: Colour::Auto };
    // Lines of a thread that belongs to no node are the manager's.
    let label = NodeName::new(manager).map(NodeLabel::from).unwrap_or_default();
    match telemetry::init(&log, label) {
        Ok(()) | Err(TelemetryError::Already(_)) => Ok(()),
        Err(error @ TelemetryError::Filter { .. }) => Err(error.into()),
    }
}

/// Why a cluster did not start. Nodes that ran already stop by themselves.
///
/// Its `Debug` is what it says, so that a `main` that returns it can be read.
#[derive(Error)]
pub enum StartError {
    /// No node was declared: `.node("n1", ["forest"])`.
    #[error("a cluster needs a node")]
    Empty,
    /// Two nodes have one name. Give a node all of its scenes at once: `.node("n1", ["forest", "mine"])`.
    #[error("the node {node} is declared twice; give it all of its scenes at once")]
    Twice {
        /// The name.
        node: String,
    },
    /// The types that are linked into this program do not go together.
    #[error("{0}")]
    Types(#[from] TypeFaults),
    /// A name or a setting is wrong.
    #[error("{0}")]
    Config(#[from] ConfigErrors),
    /// There is no folder for the nodes' data.
    #[error("the data folder cannot be made: {0}")]
    Folder(#[source] io::Error),
    /// The level of the log is none.
    #[error(transparent)]
    Log(#[from] TelemetryError),
    /// A node did not start.
    #[error("node {node}: {source}")]
    Node {
        /// Its name.
        node: String,
        /// Why not.
        source: NodeError,
    },
}

impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
