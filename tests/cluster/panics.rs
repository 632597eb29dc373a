//! Handlers that panic in real nodes: who hears of it, and what becomes of the entity.

use slipgate::admin::body::{BatchBody, BatchMessage, SpawnBody, UnparkBody};
use slipgate::client::{CallError, Client};
use slipgate_entity::game::Fate;
use slipgate_proto::admin::{EntityReport, EntityRow, MoveReport, Panicked, ProblemKind, SendReport};

use crate::nodes::Cluster;
use crate::{status, stop_all};

#[test]
fn an_entity_whose_handler_panics_is_parked_moves_as_such_and_goes_on_once_it_is_unparked() {
    let cluster = Cluster::new("n1", &[("wood", "n1"), ("harbor", "n2")]);
    let mut nodes = [cluster.start("n1"), cluster.start("n2")];
    status(&nodes[0], 2);
    let (near, far) = (nodes[0].client(), nodes[1].client());
    let ann = spawn(&near, "wood");
    spawn(&near, "wood");

    let mark = nodes[0].count();
    let report = send(&far, &ann, &["hit", "stumble", "hit", "hit"]);
    assert_eq!((report.applied, report.failed, report.parked, report.open), (1, 1, 2, 0), "{report:?}");
    let [panicked] = <[Panicked; 1]>::try_from(report.failures).expect("one of them failed");
    let expected = (1, "the handler of stumble panicked: the walker stumbled", Fate::Parked);
    assert_eq!((panicked.at, panicked.why.as_str(), panicked.fate), expected);
    let line = nodes[0].await_line(mark, "the panic", |line| line["event"] == "entity.panicked");
    let told = ["level", "entity", "type", "message_kind"].map(|key| line[key].as_str().unwrap_or_default());
    assert_eq!(told, ["ERROR", ann.as_str(), "walker", "stumble"]);
    let shown = show(&near, &ann);
    assert_eq!((shown.state.as_str(), shown.applied), ("parked", 2));
    let why = shown.parked.expect("it says why");
    assert_eq!(why.why, "the handler of stumble panicked: the walker stumbled");
    assert!(why.since_ms > 0);

    let moved: MoveReport =
        near.post(&format!("/api/v1/entities/{ann}/moves"), &serde_json::json!({ "to": "harbor" })).expect("an answer");
    assert_eq!(moved.result, "ok", "{moved:?}");
    assert_eq!(send(&near, &ann, &["hit"]).parked, 1);
    assert_eq!(show(&near, &ann).node, "n2");
    let unpark = || far.post::<EntityRow>(&format!("/api/v1/entities/{ann}/unpark"), &UnparkBody { timeout_ms: 5_000 });
    assert_eq!(unpark().expect("it was parked").state, "active");
    let Err(CallError::Problem(problem)) = unpark() else { panic!("expected it to be parked no more") };
    assert_eq!((problem.kind, problem.reason.as_str()), (ProblemKind::Refused, "not_parked"));
    assert_eq!(send(&far, &ann, &["hit"]).applied, 1);
    assert_eq!(send(&near, &ann, &["hit"]).applied, 1);
    let shown = show(&near, &ann);
    assert_eq!((shown.state.as_str(), shown.applied, shown.parked), ("active", 4, None));
    stop_all(&mut nodes);
}

#[test]
fn a_panic_in_a_handler_is_one_line_of_the_log_and_says_where() {
    let cluster = Cluster::new("n1", &[("wood", "n1")]);
    let mut nodes = [cluster.start("n1")];
    status(&nodes[0], 1);
    let client = nodes[0].client();
    let ann = spawn(&client, "wood");
    assert_eq!(send(&client, &ann, &["stumble"]).failed, 1);
    stop_all(&mut nodes);
    let [line] = <[String; 1]>::try_from(nodes[0].loud(0)).expect("one line above INFO, and none that is no object");
    let line: serde_json::Value = serde_json::from_str(&line).expect("an object");
    assert_eq!((&line["level"], &line["event"]), (&"ERROR".into(), &"entity.panicked".into()), "{line}");
    assert!(line["where"].as_str().is_some_and(|place| place.contains("walker")), "{line}");
}

#[test]
fn by_policy_an_entity_whose_handler_panics_is_despawned_and_its_scene_goes_on() {
    let cluster = Cluster::new("n1", &[("wood", "n1")]);
    let mut nodes = [cluster.launch("n1").set("entities.on_panic", "despawn").start()];
    status(&nodes[0], 1);
    let client = nodes[0].client();
    let (ann, bob) = (spawn(&client, "wood"), spawn(&client, "wood"));
    let report = send(&client, &ann, &["stumble", "hit"]);
    assert_eq!((report.failed, report.parked, report.open), (1, 1, 0), "{report:?}");
    assert_eq!(report.failures.first().map(|panicked| panicked.fate), Some(Fate::Despawned), "{report:?}");
    assert_eq!(send(&client, &ann, &["hit"]).dead, 1);
    assert_eq!(send(&client, &bob, &["hit"]).applied, 1);
    stop_all(&mut nodes);
}

fn spawn(client: &Client, scene: &str) -> String {
    let body = SpawnBody::of("walker", scene);
    let rows: Vec<EntityRow> = client.post("/api/v1/entities", &body).expect("an entity");
    rows[0].entity.clone()
}

fn show(client: &Client, entity: &str) -> EntityReport {
    client.get(&format!("/api/v1/entities/{entity}")).expect("it is found")
}

/// Sends messages in one request, and waits for the answers to all of them.
fn send(client: &Client, entity: &str, names: &[&str]) -> SendReport {
    let message = |name: &&str| {
        let arguments = if *name == "hit" { r#"{"hp":1}"# } else { "{}" };
        BatchMessage { entity: entity.into(), name: (*name).into(), arguments: arguments.into() }
    };
    let body = BatchBody { via: None, messages: names.iter().map(message).collect(), wait: true, timeout_ms: 15_000 };
    client.post("/api/v1/messages", &body).expect("a report")
}
