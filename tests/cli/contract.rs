//! `-o json`: one object a line and nothing else on stdout, with exactly the fields of `docs/json.md`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::dev_cluster::{DevCluster, Done, repository};

const NODE: &[&str] = &[
    "node",
    "state",
    "id",
    "incarnation",
    "address",
    "admin",
    "scenes",
    "entities",
    "moves",
    "moves_ok",
    "moves_refused",
    "moves_failed",
    "applied",
    "waiting",
    "ranges",
    "lease_left_ms",
    "uptime_s",
    "version",
    "links",
    "not_ready",
    "drain_percent",
    "lost",
];
const LINK: &[&str] = &["peer", "state", "reason", "bytes_out", "bytes_in", "waiting"];
const SCENE: &[&str] =
    &["id", "scene", "node", "state", "entities", "capacity", "arriving", "leaving", "generation", "made"];
const CLOSED: &[&str] = &["scene", "node", "state", "moved", "gone", "left", "kept_first"];
const ENTITY: &[&str] = &["entity", "type", "label", "scene", "node", "state", "epoch"];
const REPORT: &[&str] = &[
    "entity",
    "type",
    "label",
    "scene",
    "node",
    "state",
    "epoch",
    "handle",
    "persist",
    "home",
    "data",
    "senders",
    "applied",
    "unacknowledged",
    "body",
    "reset",
    "parked",
];
const PARKED: &[&str] = &["why", "since_ms"];
const SENT: &[&str] = &[
    "accepted",
    "busy",
    "applied",
    "dead",
    "open",
    "busy_at",
    "unknown",
    "incarnation",
    "failed",
    "parked",
    "refused",
    "refusals",
    "passed",
    "failures",
    "lost",
];
const ASKED: &[&str] = &["entity", "message", "sent", "answered", "answer", "why"];
const MOVE: &[&str] = &[
    "move",
    "entity",
    "label",
    "from",
    "to",
    "result",
    "reason",
    "text",
    "at",
    "epoch",
    "cost",
    "began_ms",
    "companions",
];
const COST: &[&str] = &["total_us", "pause_us", "held", "delivered", "bytes"];
const DRAIN: &[&str] = &[
    "node",
    "state",
    "step",
    "entities",
    "moved",
    "kept",
    "kept_first",
    "homes",
    "unanswered",
    "unanswered_first",
    "took_ms",
    "pause_us",
];
const KEPT: &[&str] = &["entity", "label", "scene", "reason", "text"];
const EVENT: &[&str] = &["node", "number", "ts", "event", "fields"];

#[track_caller]
fn check(object: &Value, fields: &[&str]) {
    let found: BTreeSet<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(found, fields.iter().copied().collect(), "{object}");
}

#[track_caller]
fn check_all(done: &Done, count: usize, fields: &[&str]) -> Vec<Value> {
    let objects = done.objects();
    assert_eq!((objects.len(), done.err.as_str()), (count, ""), "{done:?}");
    objects.iter().for_each(|object| check(object, fields));
    objects
}

#[track_caller]
fn is_id(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("an id is a string: {value}"));
    let (range, counter) = text.split_once('.').expect("range.counter");
    assert!(range.parse::<u32>().is_ok() && counter.parse::<u32>().is_ok(), "{text}");
}

#[test]
fn status_is_one_object_and_nodes_are_one_each() {
    let cluster = DevCluster::shared();
    let status = cluster.json(&["status"]).ends(0).object();
    check(&status, &["cluster", "view", "manager", "nodes"]);
    let nodes = check_all(&cluster.json(&["nodes"]).ends(0), 3, NODE);
    let names: Vec<_> = nodes.iter().map(|node| node["node"].as_str()).collect();
    assert_eq!(names, ["n1", "n2", "n3"].map(Some));
    for node in nodes.iter().chain(status["nodes"].as_array().expect("a list")) {
        assert_eq!((&node["state"], &node["not_ready"]), (&"ready".into(), &Value::Array(Vec::new())));
        let links = node["links"].as_array().expect("a list");
        links.iter().for_each(|link| check(link, LINK));
        assert_eq!(links.len(), 2, "{node}");
    }
}

#[test]
fn scenes_are_one_object_each_by_number() {
    let scenes = check_all(&DevCluster::shared().json(&["scenes"]).ends(0), 6, SCENE);
    let places = scenes.iter().map(|scene| [&scene["scene"], &scene["node"], &scene["state"]].map(Value::as_str));
    let expected =
        [("forest", "n1"), ("harbor", "n1"), ("keep", "n2"), ("market", "n2"), ("mine", "n3"), ("tower", "n3")];
    assert_eq!(places.collect::<Vec<_>>(), expected.map(|(scene, node)| [Some(scene), Some(node), Some("open")]));
    assert_eq!(scenes.iter().map(|scene| scene["id"].as_u64()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6].map(Some));
}

#[test]
fn spawned_listed_shown_and_despawned_entities_agree() {
    let cluster = DevCluster::shared();
    let line = ["spawn", "walker", "--scene", "market", "--count", "2", "--label", "pact"];
    let spawned = check_all(&cluster.json(&line).ends(0), 2, ENTITY);
    let labels: Vec<_> = spawned.iter().map(|row| row["label"].as_str()).collect();
    assert_eq!(labels, [Some("pact1"), Some("pact2")]);
    spawned.iter().for_each(|row| is_id(&row["entity"]));
    let listed = cluster.json(&["entities", "--scene", "market", "--limit", "10000"]).ends(0).objects();
    listed.iter().for_each(|row| check(row, ENTITY));
    assert!(spawned.iter().all(|row| listed.contains(row)), "{listed:?}");

    let shown = cluster.json(&["show", "pact1"]).ends(0).object();
    check(&shown, REPORT);
    ENTITY.iter().for_each(|field| assert_eq!(shown[field], spawned[0][field]));
    check(&shown["body"], &["asks", "components", "flags", "own", "timers", "type"]);
    assert!(shown["persist"].as_str().is_some_and(|text| text.len() == 36), "{shown}");

    let gone = cluster.json(&["despawn", "pact2"]).ends(0);
    let row = check_all(&gone, 1, ENTITY).remove(0);
    assert_eq!((&row["entity"], &row["state"]), (&spawned[1]["entity"], &"despawned".into()));
}

#[test]
fn a_list_of_nothing_is_nothing() {
    let cluster = DevCluster::shared();
    let done = cluster.json(&["entities", "--scene", "tower", "--limit", "1"]).ends(0);
    assert!(done.objects().len() <= 1);
    let label = cluster.spawn("harbor", "void");
    cluster.ask(&["despawn", &label]).ends(0);
    assert_eq!(cluster.json(&["show", "void"]).ends(3).out, "");
}

#[test]
fn what_was_sent_is_counted() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("keep", "post");
    let done = cluster.json(&["send", &entity, "hit", r#"{"hp":3}"#, "--count", "4", "--wait"]).ends(0);
    let sent = check_all(&done, 1, SENT).remove(0);
    assert_eq!((&sent["accepted"], &sent["applied"], &sent["open"]), (&4.into(), &4.into(), &0.into()));
    let shown = cluster.json(&["show", &entity]).ends(0).object();
    assert_eq!((&shown["body"]["own"]["hp"], &shown["applied"]), (&88.into(), &4.into()));
}

#[test]
fn what_was_answered_is_json_too() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("keep", "oracle");
    let done = cluster.json(&["ask", &entity, "hit", r#"{"hp":3}"#]).ends(0);
    let asked = check_all(&done, 1, ASKED).remove(0);
    check(&asked["sent"], SENT);
    let expected = (&entity.as_str().into(), &"hit".into(), &97.into());
    assert_eq!((&asked["entity"], &asked["message"], &asked["answer"]), expected);
}

#[test]
fn what_a_parked_entity_is_sent_comes_to_nothing_until_it_is_unparked() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("keep", "dizzy");
    let done = cluster.json(&["send", &entity, "stumble", "--wait"]);
    let sent = done.objects().remove(0);
    assert_eq!((done.code, &sent["failed"], &sent["applied"]), (1, &1.into(), &0.into()), "{done:?}");
    check(&sent["failures"][0], &["at", "why", "fate"]);
    assert_eq!((&sent["failures"][0]["at"], &sent["failures"][0]["fate"]), (&0.into(), &"parked".into()));
    let done = cluster.json(&["send", &entity, "hit", r#"{"hp":3}"#, "--count", "2", "--wait"]);
    let sent = done.objects().remove(0);
    assert_eq!((done.code, &sent["parked"], &sent["applied"]), (4, &2.into(), &0.into()), "{done:?}");
    let shown = cluster.json(&["show", &entity]).ends(0).object();
    check(&shown["parked"], PARKED);
    assert_eq!((&shown["state"], &shown["body"]["own"]["hp"]), (&"parked".into(), &100.into()));
    let row = check_all(&cluster.json(&["unpark", &entity]).ends(0), 1, ENTITY).remove(0);
    assert_eq!((&row["entity"], &row["state"]), (&entity.as_str().into(), &"active".into()));
    cluster.json(&["send", &entity, "hit", r#"{"hp":3}"#, "--wait"]).ends(0);
    assert_eq!(cluster.json(&["show", &entity]).ends(0).object()["parked"], Value::Null);
}

#[test]
fn a_move_is_one_object_whether_it_is_ok_or_refused_and_is_listed_so() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "deed");
    let moved = check_all(&cluster.json(&["migrate", "deed", "--to", "mine"]).ends(0), 1, MOVE).remove(0);
    check(&moved["cost"], COST);
    let told = [&moved["entity"], &moved["from"], &moved["to"], &moved["at"], &moved["result"]].map(Value::as_str);
    assert_eq!(told, [&entity, "forest@n1", "mine@n3", "mine@n3", "ok"].map(Some));
    assert_eq!((&moved["reason"], &moved["text"]), (&Value::Null, &Value::Null));
    assert!(moved["move"].as_str().is_some_and(|id| id.len() == 36), "{moved}");

    let refused = cluster.json(&["migrate", &entity, "--to", "mine"]).ends(4);
    let told = refused.object();
    check(&told, MOVE);
    assert_eq!((&told["result"], &told["reason"]), (&"refused".into(), &"already_there".into()));
    let error = error(&refused);
    assert_eq!((&error["kind"], &error["reason"]), (&"refused".into(), &told["reason"]));

    let listed = cluster.json(&["moves", "--limit", "1000"]).ends(0).objects();
    listed.iter().for_each(|one| check(one, MOVE));
    let of_it: Vec<_> = listed.iter().filter(|one| one["entity"] == entity.as_str()).map(|one| &one["move"]).collect();
    assert_eq!(of_it, [&told["move"], &moved["move"]], "newest first");
}

#[test]
fn several_moves_are_one_object_each() {
    let cluster = DevCluster::shared();
    let ids = [cluster.spawn("harbor", "trio1"), cluster.spawn("keep", "trio2"), cluster.spawn("tower", "trio3")];
    let done = cluster.json(&["migrate", &ids[0], &ids[1], &ids[2], "--to", "market"]).ends(0);
    let moves = check_all(&done, 3, MOVE);
    assert_eq!(
        moves.iter().map(|one| one["entity"].as_str()).collect::<Vec<_>>(),
        ids.each_ref().map(|id| Some(id.as_str()))
    );
}

#[test]
fn a_drain_is_one_object_when_it_begins_when_it_is_called_off_and_at_its_end() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let entity = cluster.spawn("forest", "last");
    check_all(&cluster.json(&["drain", "n2", "--wait"]).ends(0), 1, DRAIN);
    let done = cluster.json(&["drain", "n1", "--wait"]).ends(4);
    let kept = done.object();
    check(&kept, DRAIN);
    check(&kept["pause_us"], &["max", "p50", "p99"]);
    let rows = kept["kept_first"].as_array().expect("a list");
    rows.iter().for_each(|row| check(row, KEPT));
    assert_eq!((rows.len(), &rows[0]["entity"], &rows[0]["label"]), (1, &entity.as_str().into(), &"last".into()));
    assert_eq!((&kept["state"], &rows[0]["reason"]), (&"kept".into(), &"no_place".into()));
    assert_eq!((&error(&done)["kind"], &error(&done)["reason"]), (&"refused".into(), &"kept".into()));
    let status = cluster.ask(&["status"]).ends(0).out;
    assert!(status.contains("n1    drain kept  "), "{status}");
    let working = check_all(&cluster.json(&["drain", "n1", "--cancel"]).ends(0), 1, DRAIN).remove(0);
    assert_eq!((&working["state"], &working["step"]), (&"working".into(), &Value::Null));
    let begun = check_all(&cluster.json(&["drain", "n1"]).ends(0), 1, DRAIN).remove(0);
    assert_eq!((&begun["state"], &begun["step"]), (&"draining".into(), &"moving".into()));
    let unknown = cluster.json(&["drain", "n9"]).ends(3);
    assert_eq!(error(&unknown)["reason"], "unknown_node");
}

#[test]
fn a_scene_that_is_named_like_a_number_is_refused() {
    let done = DevCluster::shared().json(&["scenes", "create", "7"]).ends(2);
    let told = ["kind", "reason", "state"].map(|field| error(&done)[field].as_str().map(str::to_owned));
    assert_eq!(told, ["usage", "not_a_name", "nothing was opened"].map(|word| Some(word.to_owned())));
}

#[test]
fn a_scene_that_is_made_is_one_object_and_so_is_one_that_is_closed() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let create = ["scenes", "create", "dungeon", "--node", "n2", "--capacity", "5"];
    let made = check_all(&cluster.json(&create).ends(0), 1, SCENE).remove(0);
    let told = [&made["scene"], &made["node"], &made["state"]].map(Value::as_str);
    assert_eq!(told, ["dungeon", "n2", "open"].map(Some));
    let numbers = (&made["id"], &made["generation"], &made["capacity"], &made["made"]);
    assert_eq!(numbers, (&32_768.into(), &1.into(), &5.into(), &true.into()));
    let listed = cluster.json(&["scenes"]).ends(0).objects();
    listed.iter().for_each(|scene| check(scene, SCENE));
    assert_eq!(listed.iter().filter(|scene| scene["made"] == true).collect::<Vec<_>>(), [&made]);

    let again = cluster.json(&create).ends(4);
    assert_eq!((&error(&again)["kind"], &error(&again)["reason"]), (&"refused".into(), &"name_taken".into()));
    cluster.spawn("dungeon", "orc");
    let closed = check_all(&cluster.json(&["scenes", "close", "dungeon", "--wait"]).ends(0), 1, CLOSED).remove(0);
    let numbers = (&closed["state"], &closed["moved"], &closed["gone"], &closed["left"], &closed["kept_first"]);
    assert_eq!(numbers, (&"closed".into(), &1.into(), &0.into(), &0.into(), &Value::Array(Vec::new())));

    cluster.json(&["scenes", "create", "crypt", "--node", "n1"]).ends(0);
    cluster.spawn("crypt", "rat");
    let closing = check_all(&cluster.json(&["scenes", "close", "crypt", "--despawn"]).ends(0), 1, CLOSED).remove(0);
    assert!(closing["state"] == "closing" || closing["state"] == "closed", "{closing}");
    let gone = cluster.json(&["scenes", "close", "forest"]).ends(4);
    assert_eq!((&error(&gone)["kind"], &error(&gone)["reason"]), (&"refused".into(), &"declared".into()));
    let unknown = cluster.json(&["scenes", "close", "moon"]).ends(3);
    assert_eq!(error(&unknown)["reason"], "unknown_scene");
}

#[test]
fn health_is_one_object() {
    let cluster = DevCluster::shared();
    let live = cluster.json(&["health", "--live"]).ends(0).object();
    check(&live, &["live", "node"]);
    let ready = cluster.json(&["health", "--ready"]).ends(0).object();
    check(&ready, &["ready", "node", "state", "not_ready"]);
    assert_eq!((&ready["node"], &ready["state"]), (&"n1".into(), &"ready".into()));
}

#[test]
fn events_are_one_object_each_and_their_fields_are_those_of_the_log_line() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "news");
    let events = crate::reads::watch(&["watch", "entity", "news", "--limit", "3", "-o", "json"], || {
        cluster.ask(&["migrate", "news", "--to", "keep"]).ends(0);
    });
    let events = events.objects();
    let mut names: Vec<_> = events.iter().map(|event| event["event"].as_str().expect("a name")).collect();
    names.sort_unstable();
    assert_eq!(names, ["move.arrived", "move.begin", "move.ok"]);
    for event in &events {
        check(event, EVENT);
        let fields = &event["fields"];
        assert_eq!((&fields["entity"], &fields["label"]), (&entity.as_str().into(), &"news".into()), "{event}");
        assert_eq!(fields["move"], events[0]["fields"]["move"]);
    }
}

#[test]
fn an_error_is_one_object_on_stderr_with_what_happened_what_is_left_and_what_to_do() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "oops");
    let done = cluster.json(&["migrate", "oops", "--to", "nowhere"]).ends(3);
    assert_eq!(done.out, "");
    let error = error(&done);
    let text = "there is no scene \"nowhere\"; there are forest, harbor, keep, market, mine, tower";
    let state = format!("oops ({entity}) is still in forest@n1 and takes messages");
    let told = ["kind", "reason", "text", "state", "hint"].map(|field| error[field].as_str());
    assert_eq!(told, ["not_found", "unknown_scene", text, &state, "slipgate scenes"].map(Some));
}

#[test]
fn every_field_is_documented() {
    let text = std::fs::read_to_string(repository().join("docs/json.md")).expect("the contract");
    let fields = [NODE, LINK, SCENE, CLOSED, ENTITY, REPORT, PARKED, SENT, MOVE, COST, DRAIN, KEPT, EVENT].concat();
    let missing: Vec<_> = fields.iter().filter(|field| !text.contains(&format!("`{field}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The error on stderr, its envelope checked.
#[track_caller]
fn error(done: &Done) -> Value {
    let line: Value = serde_json::from_str(&done.err).unwrap_or_else(|_| panic!("one object: {done:?}"));
    check(&line, &["error", "exit"]);
    check(&line["error"], &["kind", "reason", "text", "state", "hint"]);
    assert_eq!(line["exit"], done.code);
    line["error"].clone()
}
