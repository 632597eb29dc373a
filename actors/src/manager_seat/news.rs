//! What is told of what happens at the manager: a line of the log, and what watchers should hear of it.
//!
//! Watchers hear what only the manager knows: leases that are late, verdicts, and scenes that end. What a node can tell of
//! itself, as that it drains, it tells itself, and its peers tell of links.

use serde_json::{Value, json};
use slipgate_cluster::manager::{ManagerEvent, SceneEnd};
use slipgate_cluster::view::ScenePlacement;
use slipgate_cluster::{NodeId, Session};

use crate::words::counted;

/// What a node can cause as often as it likes, and which node it is.
pub(super) fn repeated(event: &ManagerEvent) -> Option<(&'static str, NodeId)> {
    match event {
        ManagerEvent::NotMember { session } => Some(("node.superseded", session.node)),
        ManagerEvent::SpokeForAnother { from, .. } => Some(("node.mistaken", from.node)),
        ManagerEvent::StoreIsOld { session, .. } => Some(("manager.store_is_old", session.node)),
        ManagerEvent::CounterExhausted { session, .. } => Some(("range.exhausted", session.node)),
        // Whoever asks to join is no node yet.
        ManagerEvent::JoinRefused { .. } => Some(("node.refused", NodeId(0))),
        ManagerEvent::Asking { .. } => Some(("node.asking", NodeId(0))),
        ManagerEvent::Joined { .. }
        | ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::SceneOver { .. }
        | ManagerEvent::Left { .. }
        | ManagerEvent::Drains { .. }
        | ManagerEvent::Resumed { .. }
        | ManagerEvent::Granted { .. }
        | ManagerEvent::HomesPassed { .. }
        | ManagerEvent::LeaseEnded { .. }
        | ManagerEvent::Dead { .. } => None,
    }
}

/// A line of the log.
pub(super) fn log(event: &ManagerEvent, name: impl Fn(NodeId) -> String) {
    log_node(event, |session| name(session.node));
    log_scene(event, name);
}

fn log_node(event: &ManagerEvent, name: impl Fn(Session) -> String) {
    match event {
        ManagerEvent::Joined { session, name, address, .. } => tracing::info!(
            event = "node.joined", peer = %name, address = %address, incarnation = session.incarnation.0,
            "node {name} has joined"
        ),
        ManagerEvent::Asking { name, holder } => tracing::info!(
            event = "node.asking", peer = %name, incarnation = holder.incarnation.0,
            "somebody wants to join as {name}; the manager asks whoever has that name"
        ),
        ManagerEvent::JoinRefused { name, address, refusal } => tracing::warn!(
            event = "node.refused", peer = %name, address = %address, "a node named {name} may not join: {refusal}"
        ),
        ManagerEvent::Drains { session } => tracing::info!(
            event = "node.drains", peer = %name(*session), incarnation = session.incarnation.0,
            "{} is about to stop and takes nobody in", name(*session)
        ),
        ManagerEvent::Resumed { session } => tracing::info!(
            event = "node.resumed", peer = %name(*session), incarnation = session.incarnation.0,
            "{} goes on after all", name(*session)
        ),
        ManagerEvent::Left { session } => tracing::info!(
            event = "node.left", peer = %name(*session), incarnation = session.incarnation.0, "{} has said goodbye", name(*session)
        ),
        ManagerEvent::Granted { session, range, .. } => {
            tracing::info!(event = "range.granted", peer = %name(*session), range = range.0, "a range of ids is granted")
        }
        ManagerEvent::HomesPassed { from, to, ranges } => tracing::info!(
            event = "homes.passed", peer = %name(*to), former = %name(*from), incarnation = from.incarnation.0, ranges,
            "{} is the home of {} of life {} of {} from now on",
            name(*to), counted(*ranges, "range", "ranges"), from.incarnation.0, name(*from)
        ),
        ManagerEvent::CounterExhausted { session, .. } => tracing::error!(
            event = "range.exhausted", peer = %name(*session),
            "no range of ids is left, the cluster has as many as its view has room for, or this node has had as many as a life \
             may; it asked in vain and will not be able to spawn"
        ),
        ManagerEvent::NotMember { session } => tracing::warn!(
            event = "node.superseded", peer = %name(*session),
            incarnation = session.incarnation.0,
            "an old life of a node asked for something, and was told to stop"
        ),
        ManagerEvent::SpokeForAnother { from, session } => tracing::warn!(
            event = "node.mistaken", peer = %name(*from), other = %name(*session),
            "a node asked on behalf of another one; the request was dropped"
        ),
        ManagerEvent::Dead { session } => tracing::info!(
            event = "node.dead",
            peer = %name(*session),
            incarnation = session.incarnation.0,
            "life {} of {} is over for good; whatever it still held is lost",
            session.incarnation.0,
            name(*session)
        ),
        ManagerEvent::LeaseEnded { session } => tracing::warn!(
            event = "lease.late",
            peer = %name(*session),
            incarnation = session.incarnation.0,
            "{} has not renewed its lease; unless it does so within the margin it is declared dead",
            name(*session)
        ),
        ManagerEvent::StoreIsOld { session, theirs, ours } => tracing::error!(
            event = "manager.store_is_old", peer = %name(*session),
            theirs,
            ours,
            "a node has a newer view than the manager's store: stop this node and bring its latest store back"
        ),
        ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::SceneOver { .. } => {}
    }
}

/// That a scene is open its node tells.
fn log_scene(event: &ManagerEvent, name: impl Fn(NodeId) -> String) {
    let tell = |event, ScenePlacement { id, name: scene, node, .. }: &ScenePlacement, text: &str| {
        tracing::info!(event, scene = %scene, number = %id, peer = %name(*node), "scene {scene} on {} {text}", name(*node));
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "everything else is told by `log_node`")]
    match event {
        ManagerEvent::SceneOpening { scene } => tell("scene.opening", scene, "is to be opened"),
        ManagerEvent::SceneClosing { scene } => tell("scene.closing", scene, "takes nobody in any more, and ends"),
        ManagerEvent::SceneOver { scene, why } => {
            let text = match why {
                SceneEnd::Closed => "is over: it was closed, and nobody is left in it",
                SceneEnd::NotOpened => "could not be opened; its log says why",
                SceneEnd::NodeGone => "is over with that life of its node",
            };
            tell("scene.over", scene, text);
        }
        _ => {}
    }
}

/// The event for watchers, if it is one, in the words of the log.
pub(super) fn for_watchers(event: &ManagerEvent, name: impl Fn(NodeId) -> String) -> Option<(&'static str, Value)> {
    let of_node = |session: &Session| json!({ "peer": name(session.node), "incarnation": session.incarnation.0 });
    let of_scene = |ScenePlacement { id, name: scene, node, .. }: &ScenePlacement| json!({ "scene": scene.as_str(), "number": id.to_string(), "peer": name(*node) });
    match event {
        ManagerEvent::LeaseEnded { session } => Some(("lease.late", of_node(session))),
        ManagerEvent::Dead { session } => Some(("node.dead", of_node(session))),
        ManagerEvent::Left { session } => Some(("node.left", of_node(session))),
        ManagerEvent::SceneOver { scene, why } => {
            let mut fields = of_scene(scene);
            fields["why"] = json!(match why {
                SceneEnd::Closed => "closed",
                SceneEnd::NotOpened => "not_opened",
                SceneEnd::NodeGone => "node_gone",
            });
            Some(("scene.over", fields))
        }
        ManagerEvent::Joined { .. }
        | ManagerEvent::Asking { .. }
        | ManagerEvent::JoinRefused { .. }
        | ManagerEvent::Drains { .. }
        | ManagerEvent::Resumed { .. }
        | ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::Granted { .. }
        | ManagerEvent::HomesPassed { .. }
        | ManagerEvent::CounterExhausted { .. }
        | ManagerEvent::NotMember { .. }
        | ManagerEvent::SpokeForAnother { .. }
        | ManagerEvent::StoreIsOld { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use slipgate_cluster::NodeName;
    use slipgate_entity::SceneId;

    use super::*;

    fn told(event: &ManagerEvent) -> Option<(&'static str, Value)> {
        for_watchers(event, |node| format!("n{}", node.0))
    }

    #[test]
    fn watchers_hear_of_leases_and_verdicts_whose_they_are() {
        let session = Session::new(3, 2);
        let fields = json!({ "peer": "n3", "incarnation": 2 });
        assert_eq!(told(&ManagerEvent::LeaseEnded { session }), Some(("lease.late", fields.clone())));
        assert_eq!(told(&ManagerEvent::Dead { session }), Some(("node.dead", fields.clone())));
        assert_eq!(told(&ManagerEvent::Left { session }), Some(("node.left", fields)));
        assert_eq!(told(&ManagerEvent::Drains { session }), None);
    }

    #[test]
    fn watchers_hear_why_a_scene_is_over() {
        let id = SceneId::of(32_768, 2);
        let name = NodeName::new("dungeon").expect("a name");
        let scene = ScenePlacement::declared(id, name, NodeId(2), 9);
        let told = told(&ManagerEvent::SceneOver { scene, why: SceneEnd::NodeGone });
        let fields = json!({ "scene": "dungeon", "number": "32768.2", "peer": "n2", "why": "node_gone" });
        assert_eq!(told, Some(("scene.over", fields)));
    }
}
