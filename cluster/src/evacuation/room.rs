//! Which scenes may take those who leave, and how much room they have.
//!
//! The view says which scenes are open; what they have said of themselves says how full they are. A scene that has said
//! nothing yet is a target all the same: it may have been opened just now.

use std::collections::BTreeMap;

use slipgate_entity::SceneId;

use super::Target;
use crate::{Own, Session, View};

/// What a scene has said of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Whether it takes anybody.
    pub is_open: bool,
    /// How many it has room for.
    pub room: u32,
}

/// The scenes that may take somebody, by number. `is_out` says which sessions are out of the question: the one that
/// everybody leaves, and those for which nobody answers.
#[must_use]
pub fn targets(view: &View, offers: &BTreeMap<SceneId, Offer>, is_out: impl Fn(Session) -> bool) -> Vec<Target> {
    let takes = |own: &Own| !is_out(own.session) && !view.is_draining(own.session);
    let target = |(scene, capacity): (SceneId, u32)| {
        let own = view.own_of(scene).filter(takes)?;
        let offer = offers.get(&scene);
        let is_open = offer.is_none_or(|offer| offer.is_open);
        is_open.then_some(Target { own, capacity, room: offer.map(|offer| offer.room) })
    };
    view.scenes.values().map(|placement| (placement.id, placement.capacity)).filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeName;
    use crate::view::{Clearing, Member, ScenePlacement, SceneStage};

    const FOREST: SceneId = SceneId(1);
    const HARBOR: SceneId = SceneId(2);
    const KEEP: SceneId = SceneId(3);

    fn session(node: u16) -> Session {
        Session::new(node, 1)
    }

    /// Three nodes with a scene each.
    fn view() -> View {
        let name = |text: &str| NodeName::new(text).expect("a name");
        let member = |node: u16| {
            let name = name(&format!("n{node}"));
            (session(node).node, Member { session: session(node), name, address: String::new(), admin: String::new() })
        };
        let scene = |(scene, node): (SceneId, u16)| {
            (scene, ScenePlacement::declared(scene, name(&format!("s{node}")), session(node).node, 10))
        };
        let scenes = [(FOREST, 1), (HARBOR, 2), (KEEP, 3)].map(scene).into();
        View { version: 1, members: [1, 2, 3].map(member).into(), scenes, ..View::default() }
    }

    /// For those who leave node 1.
    fn found(view: &View, offers: &[(SceneId, bool, u32)]) -> Vec<(SceneId, Option<u32>)> {
        let offers = offers.iter().map(|&(scene, is_open, room)| (scene, Offer { is_open, room })).collect();
        let targets = targets(view, &offers, |out| out == session(1));
        targets.into_iter().map(|target| (target.own.scene, target.room)).collect()
    }

    #[test]
    fn every_open_scene_is_a_target_and_its_room_is_known_once_it_was_told() {
        let offers = [(FOREST, true, 4), (HARBOR, true, 0)];
        assert_eq!(found(&view(), &offers), [(HARBOR, Some(0)), (KEEP, None)]);
    }

    #[test]
    fn a_scene_that_says_no_or_closes_or_whose_node_drains_is_no_target() {
        assert_eq!(found(&view(), &[(HARBOR, false, 4), (KEEP, true, 4)]), [(KEEP, Some(4))]);
        let mut closing = view();
        closing.scenes.get_mut(&HARBOR).expect("a scene").stage = SceneStage::Closing(Clearing::Move);
        assert_eq!(found(&closing, &[]), [(KEEP, None)]);
        let mut draining = view();
        draining.draining.insert(session(2).node, session(2).incarnation);
        assert_eq!(found(&draining, &[]), [(KEEP, None)]);
    }
}
