//! Scenes that are made and closed while the cluster runs: under fire, again and again, while nodes come and go.

use std::fs;
use std::time::Duration;

use slipgate::admin::body::{CloseBody, MoveBody, OpenBody, SpawnBody};
use slipgate::client::{CallError, Client};
use slipgate_proto::admin::{Clearing, CloseReport, EntityRow, LostRow, MoveReport, Problem, SceneReport};

use crate::command::run;
use crate::fire::{Field, Plan, plan, under_fire};
use crate::nodes::{Cluster, Line, Node};
use crate::patience::until;
use crate::{slipgate, status, stop_all};

/// What a scene that is over remembers is old soon, so that everything of it is gone within a test.
const TOMBSTONE: (&str, &str) = ("limits.tombstone", "2s");

/// The scenes of a field, and two that come and go.
const PLACES: [&str; 6] = ["forest", "tower", "harbor", "keep", "dungeon", "arena"];

/// How often the two come and go.
const ROUNDS: usize = 8;

/// A command: less than a second on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn scenes_that_come_and_go_under_fire_lose_nobody_and_nothing() {
    let field = Field::start("n1", &[TOMBSTONE]);
    let marks = field.marks();
    let births = Field::births(&[]);
    let plan = Plan { scenes: &PLACES, ..plan(1, &births, 3) };
    let (asked, host) = (field.nodes["n1"].client(), field.nodes["n3"].client());
    let mut moved_out = 0;
    let evidence = under_fire(&field.board, plan, || {
        for round in 0..ROUNDS {
            open(&asked, "dungeon", Some("n2"));
            open(&host, "arena", Some(if round % 2 == 0 { "n3" } else { "n1" }));
            for scene in ["dungeon", "arena"] {
                await_that("somebody has come", || inhabitants(&asked, scene) > 0);
            }
            for (client, scene) in [(&asked, "arena"), (&host, "dungeon")] {
                let report = close(client, scene, Clearing::Move);
                assert_eq!((report.state.as_str(), report.left), (CloseReport::CLOSED, 0), "{report:?}");
                moved_out += report.moved;
            }
        }
    });
    field.settle(&evidence, &marks, &[]);
    let comings = field.told(&marks, "move.arrived");
    let into = |scene: &str| {
        let is_there = |line: &&Line| line["to"].as_str().is_some_and(|to| to.starts_with(scene));
        comings.iter().filter(is_there).count()
    };
    assert!(into("dungeon@") >= ROUNDS && into("arena@") >= ROUNDS, "hardly anybody was there");
    // Who was there a moment ago may have left by itself.
    assert!(moved_out >= ROUNDS as u64 / 2, "only {moved_out} were there when a scene was closed");
    eprintln!("  {moved_out} were moved out of scenes that were closed");
    assert_eq!(names(&asked), ["forest", "tower", "harbor", "keep"]);
    field.stop(&[]);
}

#[test]
fn two_hundred_scenes_one_after_the_other_leave_nothing_behind() {
    let cluster = Cluster::new("n1", &[("forest", "n1"), ("harbor", "n2")]);
    let launch = |name: &str| {
        let steps = ["reserve", "transfer", "decide"].map(|step| format!("limits.{step}"));
        let launch = steps.iter().fold(cluster.launch(name), |launch, step| launch.set(step, "1s"));
        launch.set(TOMBSTONE.0, TOMBSTONE.1).start()
    };
    let mut nodes: Vec<Node> = ["n1", "n2"].map(launch).into();
    status(&nodes[0], 2);
    nodes.iter().for_each(Node::await_range);
    let clients: Vec<Client> = nodes.iter().map(Node::client).collect();
    let cycle = |number: usize| {
        let name = format!("dungeon-{number}");
        let (asked, node) = (&clients[number % 2], ["n1", "n2"][(number / 2) % 2]);
        let made = open(asked, &name, Some(node));
        assert_eq!((made.node.as_str(), made.generation), (node, 1), "{made:?}");
        let measured = value(&metrics(&nodes[(number / 2) % 2]), MADE);
        assert!(measured >= 0.0, "a scene is measured from its first moment on, so that a short life is, too");
        spawn(&clients[0], &name, 3);
        let clearing = if number.is_multiple_of(3) { Clearing::Despawn } else { Clearing::Move };
        let report = close(asked, &name, clearing);
        let away = if clearing == Clearing::Move { report.moved } else { report.gone };
        assert_eq!((report.state.as_str(), away), (CloseReport::CLOSED, 3), "{report:?}");
        let rows: Vec<EntityRow> = clients[0].get("/api/v1/entities").expect("a list");
        for row in rows {
            clients[0].delete::<EntityRow>(&format!("/api/v1/entities/{}", row.entity)).expect("it is removed");
        }
    };
    // What is allocated once and for all is there after these.
    (0..40).for_each(cycle);
    nodes.iter().for_each(await_base);
    let before: Vec<(usize, u64)> = nodes.iter().map(|node| (series(node), memory_kib(node))).collect();
    (40..240).for_each(cycle);
    nodes.iter().for_each(await_base);
    for (node, (series_before, memory_before)) in nodes.iter().zip(before) {
        let (series, memory) = (series(node), memory_kib(node));
        eprintln!("  {}: {series_before} to {series} series, {memory_before} to {memory} KiB", node.name);
        assert_eq!(series, series_before, "nothing is measured under the names of scenes that are gone");
        assert!(memory < memory_before + 6 * 1024, "{}: {memory_before} KiB have become {memory}", node.name);
    }
    assert_eq!(names(&clients[1]), ["forest", "harbor"]);
    let over = |node: &Node| node.told("scene.opened").len();
    assert_eq!(over(&nodes[0]) + over(&nodes[1]), 240);
    stop_all(&mut nodes);
    let loud: Vec<String> = nodes.iter().flat_map(|node| node.loud(0)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

/// Waits until a node has nothing of scenes that are over.
fn await_base(node: &Node) {
    until(LIMIT, "nothing of scenes that are over", || {
        let text = metrics(node);
        let value = |series: &str| value(&text, series);
        let is_base = value("slipgate_scenes{state=\"over\"}") + value(MADE) == 0.0
            && (value("slipgate_scenes{state=\"open\"}") - 1.0).abs() < 0.1;
        if is_base { Ok(()) } else { Err(text) }
    });
}

/// The entities of all scenes that were made at run time.
const MADE: &str = "slipgate_entities{scene=\"*\"}";

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("no {series}\n{text}"));
    line.rsplit_once(' ').expect("a value").1.parse().expect("a number")
}

fn metrics(node: &Node) -> String {
    node.client().get_raw("/metrics").expect("metrics").text
}

fn inhabitants(client: &Client, scene: &str) -> u64 {
    let scenes: Vec<SceneReport> = client.get("/api/v1/scenes").expect("a list");
    scenes.iter().find(|known| known.scene == scene).map_or(0, |known| known.entities)
}

fn series(node: &Node) -> usize {
    metrics(node).lines().filter(|line| line.contains("scene=")).count()
}

fn memory_kib(node: &Node) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", node.pid().as_raw_nonzero())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}

#[test]
fn who_finds_no_room_keeps_a_scene_closing_until_there_is_some_or_an_end_is_made() {
    let cluster = Cluster::with_room("n1", &[("forest", "n1"), ("harbor", "n2")], 2);
    let mut nodes: Vec<Node> = ["n1", "n2"].map(|name| cluster.start(name)).into();
    status(&nodes[0], 2);
    nodes.iter().for_each(Node::await_range);
    let asked = nodes[0].client();
    let tenants = spawn(&asked, "harbor", 2);
    spawn(&asked, "forest", 1);
    open(&asked, "dungeon", Some("n2"));
    let orcs = spawn(&asked, "dungeon", 3);

    let output = run(&mut slipgate(&nodes[0], &["scenes", "close", "dungeon", "--wait", "-o", "json"]), LIMIT);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let report: CloseReport = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((report.state.as_str(), report.moved, report.left), (CloseReport::CLOSING, 1, 2), "{report:?}");
    let named: Vec<_> = report.kept_first.iter().map(|row| (row.scene.as_str(), row.reason.as_str())).collect();
    assert_eq!(named, [("dungeon", "no_place"); 2], "{report:?}");
    assert!(report.kept_first[0].text.ends_with("the scene is full (2 of 2)"), "{report:?}");

    let state = |scene: &str| {
        let scenes: Vec<SceneReport> = asked.get("/api/v1/scenes").expect("a list");
        scenes.into_iter().find(|known| known.scene == scene).map(|known| known.state)
    };
    assert_eq!(state("dungeon").as_deref(), Some("closing"));
    assert_eq!(refusal(try_spawn(&asked, "dungeon", 1)).reason, "closing");
    assert_eq!(refusal(migrate(&asked, &tenants[0].entity, "dungeon")).reason, "closing");
    let taken = refusal(try_open(&asked, "dungeon", None));
    assert_eq!(
        (taken.reason.as_str(), taken.text.as_str()),
        ("name_taken", "there is a scene dungeon already, on node n2")
    );
    let rows: Vec<EntityRow> = asked.get("/api/v1/entities?scene=dungeon").expect("a list");
    assert_eq!(rows.len(), 2, "those who are in it are still told of");

    // One finds room; the other is moved by hand, and with that the scene is over.
    asked.delete::<EntityRow>(&format!("/api/v1/entities/{}", tenants[0].entity)).expect("it is removed");
    assert_eq!(close(&asked, "dungeon", Clearing::Move).left, 1);
    asked.delete::<EntityRow>(&format!("/api/v1/entities/{}", tenants[1].entity)).expect("it is removed");
    let last = rows.iter().rev().find(|row| migrate(&asked, &row.entity, "harbor").is_ok()).expect("there is room");
    assert!(orcs.iter().any(|orc| orc.entity == last.entity));
    await_that("dungeon is over", || state("dungeon").is_none());

    open(&asked, "dungeon", Some("n1"));
    spawn(&asked, "dungeon", 2);
    assert_eq!(close(&asked, "dungeon", Clearing::Move).left, 2);
    let report = close(&asked, "dungeon", Clearing::Despawn);
    assert_eq!((report.state.as_str(), report.gone), (CloseReport::CLOSED, 2), "{report:?}");
    stop_all(&mut nodes);
}

#[test]
fn scenes_made_at_run_time_end_with_the_life_of_their_node() {
    let mut field = Field::start("m", &[TOMBSTONE, ("manager.lease", "1s"), ("manager.margin", "500ms")]);
    let asked = field.nodes["n1"].client();
    open(&asked, "dungeon", Some("n2"));
    open(&asked, "arena", Some("n3"));
    // Their records are with n1, which lives.
    let orcs = spawn(&asked, "forest", 2);
    orcs.iter().for_each(|orc| drop(migrate(&asked, &orc.entity, "dungeon").expect("they move")));

    field.kill("n2");
    await_that("dungeon is gone", || !names(&asked).contains(&"dungeon".to_owned()));
    assert!(names(&asked).contains(&"arena".to_owned()));
    await_that("who was in it is lost by name", || {
        let lost: Vec<LostRow> = asked.get("/api/v1/lost").expect("a list");
        let is_it = |row: &LostRow, orc: &EntityRow| row.entity == orc.entity && row.scene == "dungeon";
        orcs.iter().all(|orc| lost.iter().any(|row| is_it(row, orc)))
    });
    assert_eq!(refusal(try_open(&asked, "crypt", Some("n2"))).reason, "node_gone");
    field.restart("n2");
    assert_eq!(field.await_health(), Vec::<String>::new());
    assert_eq!(names(&asked), ["forest", "tower", "harbor", "keep", "arena"]);
    assert_eq!(open(&asked, "dungeon", Some("n2")).generation, 1);

    // A planned stop moves everybody out, and the scene ends with the life all the same.
    spawn(&asked, "arena", 2);
    let stopped = field.nodes.get_mut("n3").expect("a node of the field");
    assert_eq!(stopped.stop(), Some(0));
    assert_eq!(refusal(try_open(&asked, "crypt", Some("n3"))).reason, "node_gone");
    await_that("arena is gone", || !names(&asked).contains(&"arena".to_owned()));
    let rows: Vec<EntityRow> = asked.get("/api/v1/entities").expect("a list");
    assert_eq!(rows.len(), 2, "{rows:?}");
    let mut running: Vec<Node> = std::mem::take(&mut field.nodes).into_values().collect();
    running.retain(|node| node.name != "n3");
    stop_all(&mut running);
}

#[test]
fn a_manager_that_comes_back_knows_every_scene_and_one_that_is_away_makes_none() {
    let mut field = Field::start("m", &[TOMBSTONE, ("manager.lease", "5s")]);
    let asked = field.nodes["n1"].client();
    let made = open(&asked, "dungeon", Some("n2"));
    spawn(&asked, "dungeon", 2);
    field.kill("m");
    let body = OpenBody { name: "arena".into(), node: None, capacity: 9, timeout_ms: 700 };
    let silent = refusal(asked.post::<SceneReport>("/api/v1/scenes", &body));
    assert_eq!(silent.reason, "manager_silent");
    spawn(&asked, "dungeon", 1);
    field.restart("m");
    assert_eq!(field.await_health(), Vec::<String>::new());
    assert!(names(&asked).contains(&"dungeon".to_owned()));
    let report = close(&asked, "dungeon", Clearing::Move);
    assert_eq!((report.state.as_str(), report.moved), (CloseReport::CLOSED, 3), "{report:?}");
    let again = open(&asked, "dungeon", Some("n2"));
    assert_ne!((again.id, again.generation), (made.id, made.generation));
    field.stop(&["m"]);
}

fn open(asked: &Client, name: &str, node: Option<&str>) -> SceneReport {
    let made = try_open(asked, name, node).expect("a scene is made");
    assert_eq!((made.scene.as_str(), made.state.as_str(), made.made), (name, "open", true), "{made:?}");
    made
}

fn try_open(asked: &Client, name: &str, node: Option<&str>) -> Result<SceneReport, CallError> {
    let node = node.map(str::to_owned);
    asked.post("/api/v1/scenes", &OpenBody { name: name.into(), node, capacity: 1_000, timeout_ms: 10_000 })
}

fn close(asked: &Client, scene: &str, clearing: Clearing) -> CloseReport {
    let body = CloseBody { clearing, wait: true, timeout_ms: 20_000 };
    let asked = asked.within(Duration::from_secs(30));
    asked.post(&format!("/api/v1/scenes/{scene}/close"), &body).expect("a scene is closed")
}

fn spawn(asked: &Client, scene: &str, count: u32) -> Vec<EntityRow> {
    try_spawn(asked, scene, count).expect("walkers are spawned")
}

fn try_spawn(asked: &Client, scene: &str, count: u32) -> Result<Vec<EntityRow>, CallError> {
    let body = SpawnBody { count, ..SpawnBody::of("walker", scene) };
    asked.post("/api/v1/entities", &body)
}

/// Moves an entity; a move that was refused is a problem, too.
fn migrate(asked: &Client, entity: &str, to: &str) -> Result<MoveReport, CallError> {
    let body = MoveBody { to: to.into(), timeout_ms: 10_000 };
    let report: MoveReport = asked.post(&format!("/api/v1/entities/{entity}/moves"), &body)?;
    assert_eq!(report.result, "ok", "{report:?}");
    Ok(report)
}

fn names(asked: &Client) -> Vec<String> {
    let scenes: Vec<SceneReport> = asked.get("/api/v1/scenes").expect("a list");
    scenes.into_iter().map(|scene| scene.scene).collect()
}

#[track_caller]
fn refusal<T: std::fmt::Debug>(answer: Result<T, CallError>) -> Problem {
    match answer {
        Err(CallError::Problem(problem)) => problem,
        other => panic!("expected a problem, found {other:?}"),
    }
}

#[track_caller]
fn await_that(what: &str, holds: impl Fn() -> bool) {
    until(Duration::from_secs(20), what, || holds().then_some(()).ok_or("it is not so"));
}
