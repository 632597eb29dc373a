//! Homes of nodes that die or stop: every entity of the others goes on, and is found, moved and spoken to.

use std::thread;
use std::time::{Duration, Instant};

use slipgate::admin::body::{BatchBody, BatchMessage, SpawnBody};
use slipgate::client::Client;
use slipgate_proto::admin::{EntityReport, EntityRow, LostRow, SendReport};

use crate::nodes::{Cluster, Node};
use crate::{status, stop_all};

const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// One on each node, in this order; and a second one on each.
const SCENES: [(&str, &str); 6] =
    [("forest", "n1"), ("harbor", "n2"), ("keep", "n3"), ("desert", "n1"), ("market", "n2"), ("tower", "n3")];
const LEASE: Duration = Duration::from_secs(1);
const MARGIN: Duration = Duration::from_millis(500);
/// Longer than what was just born waits to be told to the witness.
const TOLD: Duration = Duration::from_secs(1);
/// From the death of a node until everything of the others works: the verdict, and two seconds. Tests let just that pass,
/// for then everything has to work at the first attempt.
const WITHIN: Duration = LEASE.saturating_add(MARGIN).saturating_add(Duration::from_secs(2));

/// An entity, and where it lives.
#[derive(Clone, Debug)]
struct Walker {
    id: String,

    at: usize,
}

#[test]
fn whichever_node_of_three_is_killed_every_entity_of_the_others_answers_moves_and_is_found_soon_after() {
    for victim in 0..3 {
        let (cluster, mut nodes) = three();
        let walkers = populate(&nodes);
        thread::sleep(TOLD);
        nodes[victim].kill();
        let killed = Instant::now();
        if victim == 0 {
            // Only the manager can name another home: it goes on from its store.
            nodes[victim] = launch(&cluster, NODES[victim]);
        }
        let killed = if victim == 0 { Instant::now() } else { killed };
        thread::sleep(WITHIN.saturating_sub(killed.elapsed()));
        let living: Vec<_> = walkers.iter().filter(|walker| walker.at != victim).cloned().collect();
        let asked: Vec<_> = (0..3).filter(|node| victim == 0 || *node != victim).collect();
        check(&nodes, &living, &asked);
        let lost: Vec<LostRow> = nodes[(victim + 1) % 3].client().get("/api/v1/lost").expect("a list");
        let mut lost: Vec<_> = lost.into_iter().map(|row| row.entity).collect();
        lost.sort();
        // Those that were spawned elsewhere by their homes, its own by its witness.
        let mut expected: Vec<_> =
            walkers.iter().filter(|walker| walker.at == victim).map(|walker| walker.id.clone()).collect();
        expected.sort();
        assert_eq!(lost, expected);
        nodes.retain(|node| victim == 0 || node.name != NODES[victim]);
        stop_all(&mut nodes);
    }
}

#[test]
fn a_node_that_stops_as_planned_hands_its_homes_over_and_nobody_waits_for_a_verdict() {
    let (_cluster, mut nodes) = three();
    let walkers = populate(&nodes);
    let marks: Vec<_> = nodes.iter().map(Node::count).collect();
    assert_eq!(nodes[2].stop(), Some(0));
    let living: Vec<_> = walkers.iter().filter(|walker| walker.at != 2).cloned().collect();
    check(&nodes, &living, &[0, 1]);
    assert_eq!(nodes[2].told("home.handed_over").len(), 1);
    let drained = nodes[2].told("node.drained");
    assert_eq!((&drained[0]["homes"], &drained[0]["homes_left"]), (&1.into(), &0.into()), "{drained:?}");
    assert_eq!(nodes[0].told("home.inherited").len() + nodes[1].told("home.inherited").len(), 1);
    for (node, mark) in nodes[..2].iter().zip(marks) {
        assert_eq!(node.told("home.rebuilding"), [], "what is handed over is not rebuilt");
        assert_eq!(node.loud(mark), [""; 0], "a planned stop is no news above INFO");
    }
    nodes.truncate(2);
    stop_all(&mut nodes);
}

#[test]
fn homes_that_were_taken_over_are_taken_over_again() {
    let (cluster, mut nodes) = three();
    let walkers = populate(&nodes);
    assert_eq!(nodes[1].stop(), Some(0));
    nodes[1] = launch(&cluster, "n2");
    nodes[1].await_range();
    nodes[1].await_link(0, "n1");
    nodes[1].await_link(0, "n3");
    nodes[2].kill();
    thread::sleep(WITHIN);
    let living: Vec<_> = walkers.iter().filter(|walker| walker.at == 0).cloned().collect();
    check(&nodes, &living, &[0, 1]);
    nodes.truncate(2);
    stop_all(&mut nodes);
}

/// Everybody is found from every node, has a message applied, and goes to a scene of the other node and back, all
/// at the first attempt.
fn check(nodes: &[Node], walkers: &[Walker], asked: &[usize]) {
    for walker in walkers {
        let id = &walker.id;
        for &node in asked {
            let client = nodes[node].client();
            let shown: EntityReport = client.get(&format!("/api/v1/entities/{id}")).unwrap_or_else(|problem| {
                panic!("{walker:?} is not found from {}: {problem}", NODES[node]);
            });
            assert_eq!((shown.node.as_str(), shown.state.as_str()), (NODES[walker.at], "active"), "{walker:?}");
            let report = send(&client, id);
            assert_eq!((report.accepted, report.applied), (1, 1), "{walker:?} from {}: {report:?}", NODES[node]);
        }
        let other = asked.iter().find(|node| **node != walker.at).expect("two nodes are asked");
        migrate(&nodes[asked[0]].client(), id, SCENES[*other].0);
        migrate(&nodes[asked[0]].client(), id, SCENES[walker.at].0);
    }
}

/// For each pair of nodes an entity that was spawned on the one and lives on the other.
fn populate(nodes: &[Node]) -> Vec<Walker> {
    let mut walkers = Vec::new();
    for (home, node) in nodes.iter().enumerate() {
        for (at, (scene, _)) in SCENES.iter().take(3).enumerate() {
            let id = spawn(&node.client(), SCENES[home].0);
            if at != home {
                migrate(&node.client(), &id, scene);
            }
            walkers.push(Walker { id, at });
        }
    }
    walkers
}

fn three() -> (Cluster, Vec<Node>) {
    let cluster = Cluster::new("n1", &SCENES);
    let nodes: Vec<_> = NODES.iter().map(|name| launch(&cluster, name)).collect();
    nodes.iter().for_each(Node::await_range);
    nodes[2].await_link(0, "n2");
    status(&nodes[0], 3);
    (cluster, nodes)
}

fn launch(cluster: &Cluster, name: &str) -> Node {
    let time = |span: Duration| format!("{}ms", span.as_millis());
    cluster.launch(name).set("manager.lease", &time(LEASE)).set("manager.margin", &time(MARGIN)).start()
}

fn spawn(client: &Client, scene: &str) -> String {
    let body = SpawnBody::of("walker", scene);
    let rows: Vec<EntityRow> = client.post("/api/v1/entities", &body).expect("an entity");
    rows[0].entity.clone()
}

fn migrate(client: &Client, entity: &str, to: &str) {
    let body = serde_json::json!({ "to": to });
    let report: serde_json::Value = client.post(&format!("/api/v1/entities/{entity}/moves"), &body).expect("an answer");
    assert_eq!(report["result"], "ok", "{report}");
}

fn send(client: &Client, entity: &str) -> SendReport {
    let message = BatchMessage { entity: entity.into(), name: "hit".into(), arguments: r#"{"hp":1}"#.into() };
    let body = BatchBody { via: None, messages: vec![message], wait: true, timeout_ms: 5_000 };
    client.post("/api/v1/messages", &body).expect("a report")
}
