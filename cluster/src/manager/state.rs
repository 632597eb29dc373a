//! What the manager keeps on disk, and the writes that change it.
//!
//! The machine changes its state through the very writes that it orders onto the disk, so what is
//! loaded after a crash is what the machine was when those writes were ordered.
//!
//! Keeps: a node's number and its highest incarnation are never removed; counters, and the generations of scene
//! numbers, only rise.
//! Leaves out: links, leases and waiting joins. They end with the manager's process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slipgate_entity::{RangeId, SceneId};

use super::Counter;
use crate::view::{Home, Member, ScenePlacement};
use crate::{NodeId, Session, View};

/// The durable state of the manager.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Members in their latest life, scenes, homes, and the version of all that.
    pub view: View,
    /// The next range of each counter that was ever asked for.
    pub counters: BTreeMap<Counter, RangeId>,
    /// The last range that each node was granted.
    pub grants: BTreeMap<(NodeId, Counter), Grant>,
    /// Numbers of scenes made at run time, with the generation given last.
    pub scene_numbers: BTreeMap<u16, u16>,
}

/// The last range that a session was granted, kept to answer a repeated request alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Which session asked.
    pub session: Session,
    /// The number of its request.
    pub request: u64,
    /// What it was granted.
    pub range: RangeId,
}

/// One change of the durable state. A list of them is applied whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Write {
    /// A node in its latest life.
    Member(Member),
    /// A scene, and where it is placed.
    Scene(ScenePlacement),
    /// A scene is no longer placed anywhere.
    SceneGone(SceneId),
    /// Which session keeps the records of a range.
    Home(Home),
    /// The next range of a counter.
    Counter {
        /// The counter.
        counter: Counter,
        /// Its next range; every lower one is spent.
        next: RangeId,
    },
    /// The last range that a session was granted.
    Grant {
        /// The counter it was cut from.
        counter: Counter,
        /// The grant; it replaces the node's earlier one.
        grant: Grant,
    },
    /// The version of the view.
    Version(u64),
    /// A verdict: this life of its node and all before it are over.
    Dead(Session),
    /// This life of its node is about to stop.
    Draining(Session),
    /// It goes on after all.
    Working(Session),
    /// A number was given to a scene at run time, and how often that is by now.
    SceneNumber {
        /// The number.
        number: u16,
        /// The generation of the scene that has or had it last.
        generation: u16,
    },
}

impl Stored {
    /// Makes one change.
    pub fn apply(&mut self, write: &Write) {
        match write {
            Write::Member(member) => {
                self.view.members.insert(member.session.node, member.clone());
            }
            Write::Scene(scene) => {
                self.view.scenes.insert(scene.id, scene.clone());
            }
            Write::SceneGone(scene) => {
                self.view.scenes.remove(scene);
            }
            Write::Home(home) => {
                self.view.homes.insert(home.range, *home);
            }
            Write::Counter { counter, next } => {
                self.counters.insert(*counter, *next);
            }
            Write::Grant { counter, grant } => {
                self.grants.insert((grant.session.node, *counter), *grant);
            }
            Write::Version(version) => self.view.version = *version,
            Write::Dead(Session { node, incarnation }) => {
                let upto = self.view.dead.entry(*node).or_insert(*incarnation);
                *upto = (*upto).max(*incarnation);
            }
            Write::Draining(Session { node, incarnation }) => {
                self.view.draining.insert(*node, *incarnation);
            }
            Write::Working(Session { node, .. }) => {
                self.view.draining.remove(node);
            }
            Write::SceneNumber { number, generation } => {
                self.scene_numbers.insert(*number, *generation);
            }
        }
    }
}
