//! Entities that were lost with their nodes, by name: also by the name of a scene that ended with its node.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use slipgate_cluster::directory::Lost;
use slipgate_cluster::{Session, View};
use slipgate_entity::SceneId;

/// An entity that was lost, and the name of the scene where it was.
#[derive(Clone, Debug)]
pub struct LostEntity {
    /// The entity.
    pub lost: Lost,
    /// The scene's name; its number where that is not known; a dash where nobody knows the scene.
    pub scene: Arc<str>,
}

#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Latest first.
    lost: VecDeque<LostEntity>,
    /// How many there were ever.
    count: u64,
    view: Arc<View>,
    /// Names of scenes that the view does not have any more, the latest ones.
    former: BTreeMap<SceneId, Arc<str>>,
    order: VecDeque<SceneId>,
}

impl Losses {
    /// What the view no longer names may still be found to have been lost.
    pub(super) fn see(&mut self, view: &Arc<View>) {
        let before = std::mem::replace(&mut self.view, view.clone());
        for (id, scene) in before.scenes.iter().filter(|(id, _)| !view.scenes.contains_key(id)) {
            if self.former.insert(*id, Arc::from(scene.name.as_str())).is_none() {
                self.order.push_back(*id);
            }
        }
        while self.order.len() > FORMER_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            self.former.remove(&oldest);
        }
    }

    pub(super) fn add(&mut self, lost: Lost) {
        let scene = lost.scene.map_or_else(|| Arc::from("-"), |scene| self.name_of(scene));
        self.count += 1;
        self.lost.push_front(LostEntity { lost, scene });
        self.lost.truncate(LOST_MAX);
    }

    /// How many there were, those that are forgotten included.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The latest ones.
    pub(super) fn latest(&self, limit: usize) -> Vec<LostEntity> {
        self.lost.iter().take(limit).cloned().collect()
    }

    /// A place for people: `dungeon@n2`.
    pub(super) fn place_text(&self, session: Session, scene: SceneId) -> String {
        format!("{}@{}", self.name_of(scene), self.view.node_text(session.node))
    }

    fn name_of(&self, scene: SceneId) -> Arc<str> {
        let known = self.view.scenes.get(&scene).map(|known| Arc::from(known.name.as_str()));
        known.or_else(|| self.former.get(&scene).cloned()).unwrap_or_else(|| Arc::from(scene.to_string()))
    }
}

/// Lost entities that are remembered by name.
const LOST_MAX: usize = 100_000;
/// Scenes that are remembered by name: as many as a cluster may have.
const FORMER_MAX: usize = slipgate_cluster::bounds::SCENES;

#[cfg(test)]
mod tests {
    use slipgate_cluster::view::ScenePlacement;
    use slipgate_cluster::{NodeId, NodeName};
    use slipgate_entity::{OnlineId, RangeId};

    use super::*;

    fn view(scenes: &[u16]) -> Arc<View> {
        let placement = |&number: &u16| {
            let name = NodeName::new(format!("s{number}")).expect("a name");
            (SceneId::from(number), ScenePlacement::declared(SceneId::from(number), name, NodeId(1), 9))
        };
        Arc::new(View { scenes: scenes.iter().map(placement).collect(), ..View::default() })
    }

    fn lost(number: u16) -> Lost {
        let (session, scene) = (Session::new(1, 1), Some(SceneId::from(number)));
        Lost { entity: OnlineId::new(RangeId(1), 1), label: None, session, scene }
    }

    #[test]
    fn what_was_lost_in_a_scene_that_ended_with_its_node_is_told_by_the_scenes_name() {
        let mut losses = Losses::default();
        losses.see(&view(&[1, 2]));
        losses.see(&view(&[1]));
        [1, 2, 3].into_iter().for_each(|number| losses.add(lost(number)));
        let names: Vec<_> = losses.latest(9).into_iter().map(|lost| lost.scene.to_string()).collect();
        assert_eq!(names, ["3", "s2", "s1"], "the latest first");
        assert_eq!(losses.place_text(Session::new(1, 1), SceneId::from(2)), "s2@node1");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut losses = Losses::default();
        for number in 0..u16::try_from(FORMER_MAX + 50).expect("few") {
            losses.see(&view(&[number]));
        }
        assert!(losses.former.len() <= FORMER_MAX && losses.order.len() <= FORMER_MAX);
    }
}
