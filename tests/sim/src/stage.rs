//! The shell around a scene: it keeps the bodies.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::scene::{Input, Route, Scene, Settings};
use slipgate_cluster::{Own, Rules};
use slipgate_entity::OnlineId;

use crate::cast::Staged;
use crate::life::LifeIndex;
use crate::walker::Walker;

/// A scene with its bodies.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) life: LifeIndex,
    pub(crate) bodies: BTreeMap<OnlineId, Walker>,
    /// Copies decoded and not installed, and where they came from.
    pub(crate) aside: BTreeMap<OnlineId, (Walker, Own)>,
    /// Where entities that are frozen here are to go.
    pub(crate) leaving: BTreeMap<OnlineId, Own>,
    /// Entities that this scene has asked the home to name it for again.
    pub(crate) giving_up: BTreeSet<OnlineId>,
    /// Entities that take turns here, as of the last step.
    pub(crate) active: Vec<OnlineId>,
    /// What the node itself said while it had no lease.
    pub(crate) deferred: Vec<Input>,
    /// Of the view that the machine has.
    pub(crate) view_version: u64,
}

impl Stage {
    pub(crate) fn new(life: LifeIndex, settings: Settings, rules: Rules) -> Self {
        Self {
            scene: Scene::new(settings).under(rules),
            life,
            bodies: BTreeMap::new(),
            aside: BTreeMap::new(),
            leaving: BTreeMap::new(),
            giving_up: BTreeSet::new(),
            active: Vec::new(),
            deferred: Vec::new(),
            view_version: 0,
        }
    }

    pub(crate) fn me(&self) -> Own {
        self.scene.me()
    }
}

impl Staged for Stage {
    fn life(&self) -> LifeIndex {
        self.life
    }

    fn machine(&self) -> &Scene {
        &self.scene
    }

    fn active(&self) -> &[OnlineId] {
        &self.active
    }

    fn strays(&self) -> (usize, usize) {
        (self.aside.len() + self.bodies.len().abs_diff(self.scene.len()), self.deferred.len())
    }

    fn look(&mut self) -> bool {
        look(&self.scene, &mut self.active)
    }
}

/// Looks who takes turns in a scene; tells whether that has changed.
pub(crate) fn look(scene: &Scene, active: &mut Vec<OnlineId>) -> bool {
    let here = Route::Owner(scene.me());
    let is_active = |entity: &OnlineId| scene.route(*entity) == here;
    let mut same = 0;
    let is_same = scene.entities().filter(is_active).all(|entity| {
        same += 1;
        active.get(same - 1) == Some(&entity)
    });
    if is_same && same == active.len() {
        return false;
    }
    *active = scene.entities().filter(is_active).collect();
    true
}
