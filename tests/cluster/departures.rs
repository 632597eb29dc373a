//! Two of three nodes leave at once under fire: both as planned, or one as planned while the other dies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use slipgate::client::Client;
use slipgate::tour::account::{Account, Ledger, Tally};
use slipgate::tour::sending::Sender;
use slipgate_proto::admin::{EntityReport, EntityRow};

use crate::drains::{SCENES, by_walker, fire, migrate, ready, spawn};
use crate::nodes::{Cluster, Line, Node};
use crate::patience::within;
use crate::stop_all;

/// For all that is under way to be told: seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn two_nodes_that_drain_at_once_empty_themselves_into_the_third() {
    let (_cluster, mut nodes) = three();
    let walkers = populate(&nodes);
    let accounts = under_fire(&nodes, &walkers, |nodes| nodes[1..].iter().for_each(Node::terminate));
    for node in &mut nodes[1..] {
        assert_eq!(node.end(), Some(0), "{}", node.lines().join("\n"));
        let drained = node.told("node.drained");
        assert_eq!(
            (drained.len(), &drained[0]["kept"], &drained[0]["homes_left"]),
            (1, &0.into(), &0.into()),
            "{drained:?}"
        );
    }
    let asked = nodes[0].client();
    let living = living(&asked);
    assert_eq!(living, walkers.iter().cloned().collect());
    let tally = tally(&asked, &accounts, &living);
    let Tally { sent, applied, lost, unknown, duplicated, reordered } = tally;
    assert!(sent > 1_000 && applied == sent, "{tally:?}");
    assert_eq!((lost, unknown, duplicated, reordered), (0, 0, 0, 0), "{tally:?}");
    stop_all(&mut nodes[..1]);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "planned stops are nothing to warn about: {loud:#?}");
}

#[test]
fn a_node_that_drains_while_another_dies_loses_nobody_of_its_own() {
    let (_cluster, mut nodes) = three();
    let walkers = populate(&nodes);
    let mut victim = nodes.pop().expect("three nodes");
    let before = rows(&nodes[0].client());
    let accounts = under_fire(&nodes, &walkers, |nodes| {
        nodes[1].terminate();
        nodes[1].await_event("node.draining");
        victim.kill();
    });
    assert_eq!(nodes[1].end(), Some(0), "{}", nodes[1].lines().join("\n"));
    let drained = nodes[1].told("node.drained");
    assert_eq!((drained.len(), &drained[0]["kept"]), (1, &0.into()), "{drained:?}");

    let asked = nodes[0].client();
    nodes[0].await_event("node.dead");
    let after = living(&asked);
    let were_there: BTreeSet<&String> =
        before.iter().filter(|(_, node)| *node == "n1").map(|(entity, _)| entity).collect();
    assert!(were_there.iter().all(|entity| after.contains(*entity)), "who was on the node that stays is there");
    let to_the_dead = |line: &&Line| line["to"].as_str().is_some_and(|to| to.starts_with("keep"));
    let went_to_the_dead = nodes[1].told("move.ok").iter().filter(to_the_dead).count();
    let were_on_the_dead = before.values().filter(|node| *node == "n3").count();
    assert!(
        after.len() + were_on_the_dead + went_to_the_dead >= walkers.len(),
        "only who was on the dead node is lost: {} live, {were_on_the_dead} were there, {went_to_the_dead} went there",
        after.len()
    );
    let tally = tally(&asked, &accounts, &after);
    let Tally { sent, lost, duplicated, reordered, .. } = tally;
    assert!(sent > 1_000, "{tally:?}");
    assert_eq!((lost, duplicated, reordered), (0, 0, 0), "{tally:?}");
    stop_all(&mut nodes[..1]);
}

/// Three nodes of short leases, the manager on the first.
fn three() -> (Cluster, Vec<Node>) {
    let cluster = Cluster::new("n1", &SCENES);
    let start = |name| cluster.launch(name).set("manager.lease", "2s").set("manager.margin", "500ms").start();
    let nodes = ready(["n1", "n2", "n3"].map(start).into());
    (cluster, nodes)
}

/// Walkers whose home is the second node, a third of them on each.
fn populate(nodes: &[Node]) -> Vec<String> {
    let walkers: Vec<String> = spawn(&nodes[0], "harbor", 60).into_iter().map(|row| row.entity).collect();
    for (scene, ids) in [("forest", &walkers[..20]), ("keep", &walkers[20..40])] {
        ids.iter().for_each(|id| migrate(&nodes[0], id, scene));
    }
    walkers
}

/// What each sender got accepted, one through each node, while they leave and for a while after it.
fn under_fire(nodes: &[Node], walkers: &[String], leave: impl FnOnce(&[Node])) -> Vec<Account> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let is_over = &is_over;
        let fire = |node: &Node| {
            let (client, name) = (node.client(), node.name.clone());
            scope.spawn(move || fire(&client, Sender::new(name, walkers), is_over))
        };
        let senders: Vec<_> = nodes.iter().map(fire).collect();
        // Long enough that every stream is in full use.
        thread::sleep(Duration::from_millis(300));
        leave(nodes);
        // And that what comes too late is sent, too.
        thread::sleep(Duration::from_secs(1));
        is_over.store(true, Ordering::Relaxed);
        senders.into_iter().flat_map(|sender| sender.join().expect("a sender does not panic")).collect()
    })
}

/// Where everybody is.
fn rows(asked: &Client) -> BTreeMap<String, String> {
    let rows: Vec<EntityRow> = asked.get("/api/v1/entities?limit=1000").expect("a list");
    let count = rows.len();
    let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.entity, row.node)).collect();
    assert_eq!(rows.len(), count, "nobody is there twice");
    rows
}

fn living(asked: &Client) -> BTreeSet<String> {
    rows(asked).into_keys().collect()
}

/// What the ledgers of the living say, once they have all that was accepted.
fn tally(asked: &Client, accounts: &[Account], living: &BTreeSet<String>) -> Tally {
    let deadline = Instant::now() + LIMIT;
    let mut tally = Tally::default();
    for (walker, accounts) in by_walker(accounts).into_iter().filter(|(walker, _)| living.contains(*walker)) {
        let left = deadline.saturating_duration_since(Instant::now());
        let (Ok(ledger) | Err(ledger)) = within(left, || {
            let shown: EntityReport = asked.get(&format!("/api/v1/entities/{walker}")).expect("it lives");
            let ledger = Ledger::read(&shown.body).expect("a walker has a ledger");
            if accounts.iter().all(|account| ledger.has_all_of(account)) { Ok(ledger) } else { Err(ledger) }
        });
        accounts.iter().for_each(|account| tally.add(account, ledger.entry(&account.sender)));
    }
    tally
}
