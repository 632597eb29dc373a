//! Tests of games in simulated clusters: every seed is a run of its own, with a clock and a network that are simulated, and
//! every run can be had again.
//!
//! ```text
//!   cluster() ──> one World a seed ──> the test: spawns, sends, moves; cuts, crashes, delays; asserts
//!                       │
//!                       └─> at the end: all is made whole and comes to rest; no game code may have panicked
//! ```
//!
//! What runs is what ships: the machines of scenes, homes, routers, members and the manager, and the game's own types in the bodies
//! that nodes have. Only sockets, files, threads and time are not there: an hour takes as long as its messages. The words are
//! those of [`Cluster`](crate::Cluster) and [`Ref`](crate::Ref), and nothing is awaited: time passes while a call waits.
//!
//! At each step of a run no entity may take turns in two scenes, or in one that its home does not name.
//!
//! ```
//! use slipgate::prelude::*;
//! use slipgate::test;
//!
//! #[derive(Entity, Default, Debug)]
//! struct Pirate {
//!     gold: u32,
//! }
//!
//! #[derive(Message, Debug)]
//! struct Loot {
//!     gold: u32,
//! }
//!
//! #[handlers]
//! impl Pirate {
//!     #[from(cluster)]
//!     fn loot(&mut self, loot: Loot) {
//!         self.gold += loot.gold;
//!     }
//! }
//!
//! # fn main() {
//! test::cluster().node("n1", ["meadow"]).node("n2", ["castle"]).seeds(0..5).run(|world| {
//!     let ann = world.spawn("meadow", Pirate { gold: 7 });
//!     world.lose(0.1);
//!     let going = ann.set_out("castle");
//!     ann.tell(Loot { gold: 5 }).unwrap();
//!     // She may stay, where too much is lost; she is there once, all the same.
//!     let _ = going.wait();
//!     world.settle();
//!     world.assert_exactly_one(&ann);
//!     assert_eq!(ann.own().gold, 12);
//! });
//! # }
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `run` | seeds, and what is told of one that fails |
//! | `world` | a cluster: time, faults, what must be so |
//! | `reference` | an entity in it, and moves of it |
//! | `spawn` | an entity to be |
//!
//! Keeps: one seed is one run, as far as the game is: one that reads the system's clock, draws random numbers of its own or walks
//! over a `HashMap` is another each time. [`Cluster::replay`] shows it.
//! Leaves out: what machines and networks cost; scenes that are made at run time, drains, the log.

mod reference;
mod run;
mod spawn;
mod world;

use std::ops::Range;

use slipgate_cluster::manager::Waits;
use slipgate_cluster::{Limits, NodeName};
use slipgate_entity::game::Types;
use slipgate_sim::games::Shape;
use toml_edit::Value;

pub use reference::{Move, Ref};
pub use spawn::Spawn;
pub use world::World;

use crate::config::{Config, FileText};

/// A simulated cluster to be: its nodes with their scenes, and what is not as usual.
///
/// It says what is wrong with it by a panic when it is run.
#[derive(Clone, Debug)]
#[must_use = "nothing is tested before it is run"]
pub struct Cluster {
    nodes: Vec<(String, Vec<String>)>,
    settings: Vec<(String, String)>,
    types: Option<Types>,
    seeds: Range<u64>,
}

/// A simulated cluster to be.
pub fn cluster() -> Cluster {
    Cluster { nodes: Vec::new(), settings: Vec::new(), types: None, seeds: SEEDS }
}

impl Cluster {
    /// A node and the scenes that it opens. The first one runs the manager.
    pub fn node<S: Into<String>>(mut self, name: &str, scenes: impl IntoIterator<Item = S>) -> Self {
        self.nodes.push((name.to_owned(), scenes.into_iter().map(Into::into).collect()));
        self
    }

    /// A key of `cluster.toml` for every node, as with `--set`: `.set("entities.on_panic", "despawn")`. Of use are those of
    /// `[entities]`, `[limits]` and `[manager]`.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The types that its nodes can host, in place of those that are linked into this program.
    pub fn types(mut self, types: Types) -> Self {
        self.types = Some(types);
        self
    }

    /// The seeds, one after the other; 0 to 15, if it is not said. The environment goes before: `SLIPGATE_TEST_SEED=17` runs that
    /// one alone, `SLIPGATE_TEST_SEEDS=1000` so many from 0.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Runs the test once for each seed, each time in a cluster of its own all of whose nodes have joined.
    ///
    /// When the test has returned, everything is made whole and comes to rest, and any panic of game code that the test has not
    /// [taken](World::take_panics) fails it.
    ///
    /// # Panics
    ///
    /// If it fails for a seed: with the seed, what was last heard of in the run, and how to run that one alone.
    #[track_caller]
    pub fn run(self, test: impl Fn(&World)) {
        let shape = self.shape();
        for seed in run::seeds(self.seeds) {
            if let Err(failure) = run::attempt(&shape, seed, false, &test) {
                panic!("{failure}");
            }
        }
    }

    /// Runs the test for one seed, and returns every message and everything that happened, line by line: the same lines
    /// each time.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    #[track_caller]
    #[must_use]
    pub fn replay(self, seed: u64, test: impl Fn(&World)) -> Vec<String> {
        run::attempt(&self.shape(), seed, true, &test).unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn shape(&self) -> Shape {
        assert!(!self.nodes.is_empty(), "a cluster needs a node: .node(\"n1\", [\"forest\"])");
        let config = self.config();
        let types = self.types.clone().map_or_else(Types::linked, Ok);
        let name = |text: &String| NodeName::new(text.clone()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let (lease, margin) = (config.manager.lease, config.manager.margin);
        Shape {
            nodes: self.nodes.iter().map(|(node, scenes)| (name(node), scenes.iter().map(name).collect())).collect(),
            types: types.unwrap_or_else(|faults| panic!("{faults}")),
            on_panic: config.entities.on_panic.into(),
            limits: Limits::from(&config.limits),
            waits: Waits { lease, margin, ..Waits::default() },
        }
    }

    fn config(&self) -> Config {
        let text = |text: &str| Value::from(text).to_string();
        let manager = &self.nodes[0].0;
        let mut toml = format!("[cluster]\nname = \"test\"\n[manager]\nnode = {}\n", text(manager));
        let placed = self.nodes.iter().flat_map(|(node, scenes)| scenes.iter().map(move |scene| (scene, node)));
        for (id, (scene, node)) in (1..).zip(placed) {
            toml += &format!("[[scenes]]\nid = {id}\nname = {}\nnode = {}\n", text(scene), text(node));
        }
        let own = [("node.name".to_owned(), manager.clone())];
        let overrides: Vec<_> = own.into_iter().chain(self.settings.iter().cloned()).collect();
        let file = FileText { name: "the simulated cluster", text: &toml };
        let loaded = Config::from_text(Some(file), std::iter::empty(), &overrides);
        loaded.unwrap_or_else(|faults| panic!("{faults}")).config
    }
}

/// Enough that a few orders of messages come up, and a test takes no time.
const SEEDS: Range<u64> = 0..16;
