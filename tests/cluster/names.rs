//! Two nodes with one name, and lives that follow each other.

use slipgate::admin::body::SpawnBody;
use slipgate_proto::admin::{ClusterReport, EntityRow};

use crate::nodes::{Cluster, Node};
use crate::{status, stop_all};

#[test]
fn of_two_nodes_with_one_name_the_second_is_refused_and_the_first_goes_on() {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2")]);
    let mut nodes = ["n1", "n2"].map(|name| cluster.start(name));
    nodes.iter().for_each(Node::await_range);
    nodes[0].await_link(0, "n2");

    let mut second = cluster.launch("n2").at("elsewhere").start();
    assert_eq!(second.end(), Some(4), "{}", second.lines().join("\n"));
    let refusal = format!("the cluster already has a live node named n2 at {}", cluster.address("n2"));
    let said = second.lines().pop().expect("a last word");
    assert!(said.contains("\"node.failed\"") && said.contains(&refusal) && said.contains("[node] name"), "{said}");
    let told = nodes[0].await_event("node.refused");
    let text = told["message"].as_str().unwrap_or_default();
    assert!(text.contains(&refusal), "{told:?}");
    assert_eq!(told["level"], "WARN");

    assert_eq!(nodes[1].life(), 1);
    let body = SpawnBody::of("walker", "harbor");
    let walkers: Vec<EntityRow> = nodes[0].client().post("/api/v1/entities", &body).expect("the first still works");
    assert_eq!(walkers[0].node, "n2");
    stop_all(&mut nodes);
    let loud: Vec<String> = nodes[1].loud(0);
    assert!(loud.is_empty(), "the first has nothing to warn about: {loud:#?}");
}

#[test]
fn a_node_that_crashed_comes_back_under_its_name_at_once_whoever_dials_whom() {
    let cluster = Cluster::new("n1", &[("harbor", "n2"), ("keep", "n3"), ("tower", "n4")]);
    let mut nodes = Vec::new();
    for (number, name) in (1..).zip(["n1", "n2", "n3", "n4"]) {
        let node = cluster.start(name);
        assert_eq!(node.number(), number);
        nodes.push(node);
    }
    nodes.iter().for_each(Node::await_range);
    links_are_up(&nodes);

    // n3 and n4 dial n2; n4 dials all others. One keeps its port, one does not.
    for at in [1, 3] {
        let marks: Vec<usize> = nodes.iter().map(Node::count).collect();
        nodes[at].kill();
        let name = nodes[at].name.clone();
        if at == 3 {
            cluster.change_port(&name);
        }
        nodes[at] = cluster.start(&name);
        assert_eq!((nodes[at].number(), nodes[at].life()), (at as u64 + 1, 2), "{name} has begun its second life");
        nodes[at].await_range();
        for (peer, mark) in nodes.iter().zip(marks).filter(|(peer, _)| peer.name != name) {
            peer.await_link(mark, &name);
            nodes[at].await_link(0, &peer.name);
        }
        assert_eq!(nodes[0].told("node.refused"), []);
        links_are_up(&nodes);
    }
    stop_all(&mut nodes);
}

/// Checks that every node finds every other one ready, in its latest life, and all links up.
fn links_are_up(nodes: &[Node]) {
    for asked in nodes {
        for other in nodes.iter().filter(|other| other.name != asked.name) {
            asked.await_link(0, &other.name);
        }
    }
    for asked in nodes {
        let ClusterReport { nodes: reports, .. } = status(asked, nodes.len());
        for (node, report) in nodes.iter().zip(&reports) {
            assert_eq!((&node.name, node.life()), (&report.node, u64::from(report.incarnation)));
            let states: Vec<_> = report.links.iter().map(|link| link.state.as_str()).collect();
            assert_eq!(states, vec!["up"; nodes.len() - 1], "{report:?}");
        }
    }
}

#[test]
fn a_node_whose_program_lacks_a_type_that_it_must_have_says_which_and_does_not_start() {
    let cluster = Cluster::new("n1", &[("forest", "n1")]);
    let mut node = cluster.launch("n1").set("entities.types", "walker, walkr").start();
    assert_eq!(node.end(), Some(1), "{}", node.lines().join("\n"));
    let said = node.lines().pop().expect("a last word");
    let text = "no type of this program is named \\\"walkr\\\", did you mean \\\"walker\\\"?";
    assert!(said.contains("\"node.failed\"") && said.contains(text) && said.contains("[entities] types"), "{said}");
}

#[test]
fn a_node_warns_of_types_that_its_log_is_to_hear_and_its_program_lacks() {
    let cluster = Cluster::new("n1", &[("forest", "n1")]);
    let node = cluster.launch("n1").set("log.entities", "walker=debug,wlaker=trace").start();
    node.life();
    let told = node.told("log.no_type");
    let [line] = &told[..] else { panic!("one line, not {told:?}") };
    let text = "[log] entities names \"wlaker\", and no type of this program; did you mean \"walker\"?";
    assert_eq!((&line["level"], &line["message"]), (&"WARN".into(), &text.into()));
    stop_all(&mut [node]);
}
