//! Asks in flight at a planned stop: each ends as done, as refused or as open, and says which.
//!
//! | ended | says |
//! |---|---|
//! | done | the answer; or that it was applied, and the answer is lost |
//! | refused | it was not applied: busy, or a problem of which the client knows that |
//! | open | nobody has answered; or a problem, or a broken connection, that leaves it open |

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use slipgate::admin::body::{AskBody, BatchBody, BatchMessage};
use slipgate::client::{CallError, Client};
use slipgate_proto::admin::{AskReport, EntityReport, NodeReport, SendReport};

use crate::drains::{migrate, ready, spawn};
use crate::nodes::{Cluster, Node};
use crate::patience::until;
use crate::stop_all;

/// Hp of a walker that nobody has hit.
const UNHURT: i64 = 100;

/// For whatever is waited for: seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(30);

/// How an ask ended.
#[derive(Debug, PartialEq)]
enum End {
    Done(Option<i64>),
    Refused,
    Open,
}

/// Hits a walker once, and waits for what is left of it.
fn hit(client: &Client, via: Option<&str>, walker: &str) -> Result<AskReport, CallError> {
    let (arguments, via) = (serde_json::json!({ "hp": 1 }), via.map(str::to_owned));
    let body = AskBody { name: "hit".into(), arguments, via, timeout_ms: 8_000 };
    client.post(&format!("/api/v1/entities/{walker}/ask"), &body)
}

/// What an ask says of itself.
fn end(asked: Result<AskReport, CallError>) -> End {
    let AskReport { sent, answered, answer, .. } = match asked {
        Ok(report) => report,
        Err(error) if error.is_certain() => return End::Refused,
        Err(_) => return End::Open,
    };
    let SendReport { accepted, busy, applied, passed, open, unknown, .. } = sent;
    assert_eq!((accepted + busy, applied + passed + open + unknown), (1, accepted), "{sent:?}");
    if answered {
        return End::Done(Some(answer.parse().expect("a number")));
    }
    match (applied + passed, busy) {
        (1, _) => End::Done(None),
        (_, 1) => End::Refused,
        _ => End::Open,
    }
}

/// Asks one walker again and again, one ask after the other, until it is over or the node is gone.
fn ask_on(client: &Client, walker: &str, is_over: &AtomicBool) -> Vec<End> {
    let mut ends = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let asked = hit(client, None, walker);
        let is_gone = asked.is_err();
        ends.push(end(asked));
        if is_gone {
            break;
        }
    }
    ends
}

#[test]
fn every_ask_in_flight_while_its_node_or_its_receivers_drains_says_how_it_ended_and_is_right() {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2"), ("keep", "n3")]);
    let mut nodes = ready(["n1", "n2", "n3"].map(|name| cluster.start(name)).into());
    let walkers: Vec<String> = spawn(&nodes[0], "harbor", 6).into_iter().map(|row| row.entity).collect();
    // Through the node that drains, some who move out of it are asked, and some who live elsewhere.
    migrate(&nodes[0], &walkers[5], "keep");
    let is_over = AtomicBool::new(false);
    let ends: Vec<(String, usize, Vec<End>)> = thread::scope(|scope| {
        let is_over = &is_over;
        let asker = |(node, at): (&Node, usize)| {
            let (client, name, walker) = (node.client(), node.name.clone(), walkers[at].clone());
            scope.spawn(move || (name, at, ask_on(&client, &walker, is_over)))
        };
        let pairs = nodes.iter().flat_map(|node| (0..walkers.len()).map(move |at| (node, at)));
        let askers: Vec<_> = pairs.map(asker).collect();
        let is_asked = |report: &EntityReport| report.applied >= 3;
        until(LIMIT, "everybody is asked", || {
            let shown = walkers.iter().map(|walker| show(&nodes[0], walker));
            if shown.into_iter().all(|shown| is_asked(&shown)) { Ok(()) } else { Err("not yet") }
        });
        nodes[1].terminate();
        assert_eq!(nodes[1].end(), Some(0), "{}", nodes[1].lines().join("\n"));
        is_over.store(true, Ordering::Relaxed);
        askers.into_iter().map(|asker| asker.join().expect("an asker does not panic")).collect()
    });
    for (at, walker) in walkers.iter().enumerate() {
        let of_walker = || ends.iter().filter(|(_, of, _)| *of == at).flat_map(|(_, _, ends)| ends);
        let left: Vec<i64> =
            of_walker().filter_map(|end| if let End::Done(left) = end { *left } else { None }).collect();
        let distinct: BTreeSet<i64> = left.iter().copied().collect();
        assert_eq!(distinct.len(), left.len(), "each answer is of a blow of its own");
        let done = count(of_walker(), |end| matches!(end, End::Done(_)));
        let open = count(of_walker(), |end| *end == End::Open);
        let taken = UNHURT - hp(&nodes[0], walker);
        assert!(done >= 3 && (done..=done + open).contains(&taken), "{taken} of {done} and {open}, {walker}");
    }
    for (node, _, ends) in &ends {
        let are_done = ends.iter().all(|end| matches!(end, End::Done(Some(_))));
        assert!(are_done || node == "n2", "whoever asks a node that stays has every answer: {node}, {ends:?}");
        let done = ends.iter().take_while(|end| matches!(end, End::Done(Some(_)))).count();
        assert!(done + 1 >= ends.len(), "only the last one has none: {node}, {ends:?}");
    }
    let drained = nodes[1].told("node.drained");
    assert_eq!((drained.len(), &drained[0]["kept"]), (1, &0.into()), "{drained:?}");
    nodes.remove(1);
    stop_all(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "a planned stop is nothing to warn about: {loud:#?}");
}

#[test]
fn what_nobody_has_answered_when_a_drain_is_over_ends_as_open_never_as_refused() {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2"), ("keep", "n3")]);
    let start = |name: &str| cluster.launch(name).set("drain.timeout", "2s").start();
    let mut nodes = ready(["n1", "n2", "n3"].map(start).into());
    let walker = spawn(&nodes[0], "keep", 1)[0].entity.clone();
    // Its node does not answer before the other one is gone.
    nodes[2].signal(rustix::process::Signal::STOP);
    let message = BatchMessage { entity: walker.clone(), name: "hit".into(), arguments: r#"{"hp":1}"#.into() };
    let body = BatchBody { via: None, messages: vec![message], wait: true, timeout_ms: 8_000 };
    let client = nodes[1].client();
    let near = nodes[0].client();
    let (asked, sent) = thread::scope(|scope| {
        // Of the node itself, and of another one that has it ask.
        let asking = [(&client, None), (&near, Some("n2"))];
        let asking = asking.map(|(client, via)| {
            scope.spawn({
                let walker = &walker;
                move || hit(client, via, walker)
            })
        });
        let sending = scope.spawn(|| client.post::<SendReport>("/api/v1/messages", &body));
        until(LIMIT, "all three wait", || {
            let told: Vec<NodeReport> = nodes[1].client().get("/api/v1/nodes").expect("a list");
            let waiting = told.iter().find(|node| node.node == "n2").map_or(0, |node| node.waiting);
            if waiting == 3 { Ok(()) } else { Err(format!("{waiting} do")) }
        });
        nodes[1].terminate();
        assert_eq!(nodes[1].end(), Some(0), "{}", nodes[1].lines().join("\n"));
        (asking.map(|asking| asking.join().expect("no panic")), sending.join().expect("no panic"))
    });
    let told = nodes[1].told("drain.unanswered");
    assert_eq!((told.len(), &told[0]["unanswered"]), (1, &3.into()), "{told:?}");
    let said = format!("{asked:?}, {sent:?}");
    let is_open = sent.map_or_else(|error| !error.is_certain(), |report| report.open == 1);
    assert!(is_open, "{said}");
    assert_eq!(asked.map(end), [End::Open, End::Open], "{said}");
    nodes[2].signal(rustix::process::Signal::CONT);
    nodes.remove(1);
    stop_all(&mut nodes);
}

fn show(asked: &Node, walker: &str) -> EntityReport {
    asked.client().get(&format!("/api/v1/entities/{walker}")).expect("it lives")
}

fn hp(asked: &Node, walker: &str) -> i64 {
    let body: serde_json::Value = serde_json::from_str(&show(asked, walker).body).expect("JSON");
    body.pointer("/own/hp").and_then(serde_json::Value::as_i64).expect("a walker has hp")
}

fn count<'a>(ends: impl Iterator<Item = &'a End>, fits: impl Fn(&End) -> bool) -> i64 {
    i64::try_from(ends.filter(|end| fits(end)).count()).expect("few")
}
