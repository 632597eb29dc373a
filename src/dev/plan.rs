//! What a development cluster is made of: names, scenes, the configuration, the arguments.

use std::fmt::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use thiserror::Error;

/// Nodes and their admin ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    nodes: Vec<Planned>,
}

/// One node of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its name: `n1`, `n2`, ...
    pub name: String,
    /// Port of its admin interface; 0 is chosen by the system.
    pub admin_port: u16,
    /// Its scenes.
    pub scenes: Vec<PlannedScene>,
}

/// One scene of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedScene {
    /// Its number.
    pub id: u16,
    /// Its name.
    pub name: String,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The last node's port would be above 65,535; begin lower.
    #[error("{nodes} nodes from port {base} on go beyond port 65535")]
    Ports {
        /// The first port.
        base: u16,
        /// How many nodes.
        nodes: u16,
    },
}

impl Plan {
    /// A plan of so many nodes with two scenes each. The admin interfaces get the ports from `base_port` on; 0 lets the
    /// system choose all of them, and without one the first gets [`PORT_FIRST`] if that is free.
    ///
    /// # Errors
    ///
    /// If there are not enough ports.
    pub fn new(nodes: u16, base_port: Option<u16>) -> Result<Self, PlanError> {
        let first = base_port.unwrap_or_else(|| if is_free(PORT_FIRST) { PORT_FIRST } else { 0 });
        let port = |at: u16| match (base_port, at) {
            (_, 0) => Ok(first),
            (None | Some(0), _) => Ok(0),
            (Some(base), _) => base.checked_add(at).ok_or(PlanError::Ports { base, nodes }),
        };
        let planned = |at: u16| {
            let scene = |id: u16| PlannedScene { id, name: scene_name(id) };
            let scenes = vec![scene(2 * at + 1), scene(2 * at + 2)];
            Ok(Planned { name: format!("n{}", at + 1), admin_port: port(at)?, scenes })
        };
        Ok(Self { nodes: (0..nodes).map(planned).collect::<Result<_, _>>()? })
    }

    /// The same nodes, with these scenes in place of theirs: the first has the first one, and so on, in turn.
    #[must_use]
    pub fn with_scenes(mut self, names: &[&str]) -> Self {
        self.nodes.iter_mut().for_each(|node| node.scenes.clear());
        let nodes = self.nodes.len();
        for ((id, name), at) in (1..).zip(names).zip((0..nodes).cycle()) {
            self.nodes[at].scenes.push(PlannedScene { id, name: (*name).to_owned() });
        }
        self
    }

    /// The nodes; the first runs the manager.
    #[must_use]
    pub fn nodes(&self) -> &[Planned] {
        &self.nodes
    }

    /// The configuration that all nodes share.
    #[must_use]
    pub fn cluster_toml(&self) -> String {
        let mut toml = String::from("[cluster]\nname = \"dev\"\n\n[manager]\nnode = \"n1\"\n");
        for node in &self.nodes {
            for PlannedScene { id, name } in &node.scenes {
                let scene = format!("\n[[scenes]]\nid = {id}\nname = \"{name}\"\nnode = \"{}\"\n", node.name);
                toml.write_str(&scene).expect("writing to text does not fail");
            }
        }
        toml
    }
}

impl Planned {
    /// Arguments of its process: the shared configuration in `folder`, and what is its own.
    #[must_use]
    pub fn arguments(&self, folder: &Path, manager: Option<&str>) -> Vec<String> {
        let own = [
            format!("node.name={}", self.name),
            "node.listen=127.0.0.1:0".into(),
            format!("node.data={}", folder.display()),
            format!("admin.listen=127.0.0.1:{}", self.admin_port),
        ];
        let manager = manager.map(|address| format!("manager.address={address}"));
        let mut arguments = vec!["node".into(), "--config".into(), folder.join("cluster.toml").display().to_string()];
        for set in own.into_iter().chain(manager) {
            arguments.extend(["--set".into(), set]);
        }
        arguments
    }
}

fn scene_name(id: u16) -> String {
    match SCENES.get(usize::from(id) - 1) {
        Some(name) => (*name).into(),
        None => format!("scene{id}"),
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Where tools look first.
pub const PORT_FIRST: u16 = 7780;

const SCENES: [&str; 8] = ["forest", "harbor", "keep", "market", "mine", "tower", "meadow", "crypt"];

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(nodes: u16, base_port: Option<u16>) -> Vec<u16> {
        let plan = Plan::new(nodes, base_port).expect("enough ports");
        plan.nodes().iter().map(|node| node.admin_port).collect()
    }

    #[test]
    fn ports_follow_the_first_and_0_leaves_them_to_the_system() {
        assert_eq!(ports(3, Some(9000)), [9000, 9001, 9002]);
        assert_eq!(ports(3, Some(0)), [0, 0, 0]);
        assert_eq!(ports(3, None)[1..], [0, 0]);
        assert_eq!(Plan::new(2, Some(65_535)), Err(PlanError::Ports { base: 65_535, nodes: 2 }));
    }

    #[test]
    fn every_node_has_two_scenes_and_all_names_differ() {
        let plan = Plan::new(16, Some(0)).expect("a plan");
        let scenes: Vec<_> = plan.nodes().iter().flat_map(|node| &node.scenes).collect();
        let names: std::collections::BTreeSet<_> = scenes.iter().map(|scene| &scene.name).collect();
        assert_eq!((scenes.len(), names.len()), (32, 32));
        assert_eq!((scenes[0].name.as_str(), scenes[31].name.as_str()), ("forest", "scene32"));
    }

    #[test]
    fn scenes_of_a_game_are_spread_over_the_nodes_in_turn() {
        let plan = Plan::new(2, Some(0)).expect("a plan").with_scenes(&["pit", "gallery", "crypt"]);
        let scenes = plan.nodes().iter().flat_map(|node| node.scenes.iter().map(move |scene| (node, scene)));
        let placed: Vec<_> = scenes.map(|(node, scene)| (node.name.as_str(), scene.id, scene.name.as_str())).collect();
        assert_eq!(placed, [("n1", 1, "pit"), ("n1", 3, "crypt"), ("n2", 2, "gallery")]);
    }

    #[test]
    fn the_configuration_is_toml_with_every_scene() {
        let toml = Plan::new(2, Some(0)).expect("a plan").cluster_toml();
        let document: toml_edit::DocumentMut = toml.parse().expect("TOML");
        let scenes = document["scenes"].as_array_of_tables().expect("tables");
        let places = scenes.iter().map(|scene| (scene["name"].as_str(), scene["node"].as_str()));
        let expected = [("forest", "n1"), ("harbor", "n1"), ("keep", "n2"), ("market", "n2")];
        assert_eq!(places.collect::<Vec<_>>(), expected.map(|(scene, node)| (Some(scene), Some(node))));
        assert_eq!(document["manager"]["node"].as_str(), Some("n1"));
    }

    #[test]
    fn a_node_gets_the_shared_configuration_and_its_own_keys() {
        let plan = Plan::new(2, Some(9000)).expect("a plan");
        let arguments = plan.nodes()[1].arguments(Path::new("/d"), Some("127.0.0.1:5"));
        let expected = "node --config /d/cluster.toml --set node.name=n2 --set node.listen=127.0.0.1:0 \
                        --set node.data=/d --set admin.listen=127.0.0.1:9001 --set manager.address=127.0.0.1:5";
        assert_eq!(arguments.join(" "), expected);
    }
}
