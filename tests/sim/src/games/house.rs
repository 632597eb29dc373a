//! A scene of a game: its troupe, and the life that it is of.

use std::collections::BTreeMap;

use slipgate_actors::scene::Troupe;
use slipgate_cluster::scene::Scene;
use slipgate_entity::OnlineId;

use crate::cast::Staged;
use crate::life::LifeIndex;
use crate::stage;

#[derive(Debug)]
pub(crate) struct House {
    pub(super) troupe: Troupe,
    /// Those here that are found from everywhere, by name.
    pub(super) globals: BTreeMap<OnlineId, String>,
    life: LifeIndex,
    active: Vec<OnlineId>,
}

impl House {
    pub(super) fn new(life: LifeIndex, troupe: Troupe) -> Self {
        Self { troupe, globals: BTreeMap::new(), life, active: Vec::new() }
    }

    pub(super) fn life_index(&self) -> LifeIndex {
        self.life
    }
}

impl Staged for House {
    fn life(&self) -> LifeIndex {
        self.life
    }

    fn machine(&self) -> &Scene {
        self.troupe.machine()
    }

    fn active(&self) -> &[OnlineId] {
        &self.active
    }

    fn look(&mut self) -> bool {
        stage::look(self.troupe.machine(), &mut self.active)
    }

    fn strays(&self) -> (usize, usize) {
        (0, self.troupe.deferred())
    }
}
