//! Each key by file, by variable, by override; who has the last word.

use slipgate_cluster::Limits;

use super::super::schema::KEYS;
use super::super::{Colour, Config, Format, Loaded, OnPanic};
use super::{LEAST, load, loaded};

/// A value for each key, in its canonical form, that differs from the default and fits the defaults of all others.
const OTHERS: [(&str, &str); 43] = [
    ("node.name", "n1"),
    ("node.listen", "127.0.0.1:0"),
    ("node.advertise", "n1:7700"),
    ("node.arbiters", "3"),
    ("node.data", "/data"),
    ("cluster.name", "other"),
    ("manager.node", "n1"),
    ("manager.address", "127.0.0.1:7700"),
    ("manager.lease", "1m 30s"),
    ("manager.margin", "750ms"),
    ("entities.types", "walker,player"),
    ("entities.on_panic", "despawn"),
    ("admin.listen", "[::1]:7780"),
    ("admin.advertise", "n1:7780"),
    ("admin.token", "s3cret"),
    ("admin.token_file", "/run/token"),
    ("drain.timeout", "8s"),
    ("log.format", "json"),
    ("log.level", "info,slipgate=debug"),
    ("log.entities", "warn,player=debug"),
    ("log.colour", "never"),
    ("limits.stream_window", "32"),
    ("limits.stream_queue", "512"),
    ("limits.stream_bytes", "2MiB"),
    ("limits.router_queue", "100000"),
    ("limits.router_bytes", "32MiB"),
    ("limits.node_bytes", "128MiB"),
    ("limits.held_messages", "100"),
    ("limits.held_bytes", "512KiB"),
    ("limits.message_bytes", "1500B"),
    ("limits.state_bytes", "8MiB"),
    ("limits.moves_per_scene", "7"),
    ("limits.hops", "4"),
    ("limits.reserve", "1s"),
    ("limits.transfer", "2s"),
    ("limits.decide", "4s"),
    ("limits.settle", "500ms"),
    ("limits.reservation", "20s"),
    ("limits.stream_idle", "8s"),
    ("limits.resend_first", "50ms"),
    ("limits.resend_max", "3s"),
    ("limits.tombstone", "1m"),
    ("limits.silence", "3s"),
];

/// Value and source of a key.
fn origin(loaded: &Loaded, key: &str) -> (String, String) {
    let shown = super::super::render::toml(&loaded.origins, super::super::render::Sources::Hidden);
    assert!(!shown.contains("s3cret"), "a secret is shown");
    let origin = loaded.origins.get(key).expect("the key has a value");
    let value = match &origin.value {
        super::super::origin::OriginValue::Text(text) => text.clone(),
        super::super::origin::OriginValue::Whole(number) => number.to_string(),
    };
    (value, origin.source.clone())
}

fn shown(key: &str, value: &str) -> String {
    if key == "admin.token" { "***".to_owned() } else { value.to_owned() }
}

fn variable(key: &str) -> String {
    format!("SLIPGATE__{}", key.replace('.', "__").to_uppercase())
}

#[test]
fn the_list_above_names_every_key_once() {
    assert_eq!(OTHERS.map(|(key, _)| key), std::array::from_fn(|at| KEYS[at].path));
}

#[test]
fn every_key_can_be_set_by_file() {
    for (key, value) in OTHERS {
        let (section, name) = key.split_once('.').expect("a dot");
        let number = value.bytes().all(|b| b.is_ascii_digit());
        let literal = if number { value.to_owned() } else { format!("{value:?}") };
        let required: String = [("node", "n1"), ("cluster", "demo"), ("manager", "n1")].iter().fold(
            String::new(),
            |text, (table, preset)| {
                let required = if *table == "manager" { "node" } else { "name" };
                let own = if *table == section { format!("{name} = {literal}\n") } else { String::new() };
                let rest = if format!("{table}.{required}") == key {
                    String::new()
                } else {
                    format!("{required} = \"{preset}\"\n")
                };
                format!("{text}[{table}]\n{own}{rest}")
            },
        );
        let text = if matches!(section, "node" | "cluster" | "manager") {
            required
        } else {
            format!("{required}[{section}]\n{name} = {literal}\n")
        };
        let line = text.lines().position(|line| line == format!("{name} = {literal}")).expect("the line") + 1;
        let found = origin(&loaded(&text), key);
        assert_eq!(found, (shown(key, value), format!("cluster.toml:{line}")), "{key}");
    }
}

#[test]
fn every_key_can_be_set_by_a_variable() {
    for (key, value) in OTHERS {
        let variable = variable(key);
        let loaded = load(LEAST, &[(&variable, value)], &[]).expect("it loads");
        assert_eq!(origin(&loaded, key), (shown(key, value), format!("env {variable}")), "{key}");
    }
}

#[test]
fn every_key_can_be_set_by_an_override() {
    for (key, value) in OTHERS {
        let loaded = load(LEAST, &[], &[(key, value)]).expect("it loads");
        assert_eq!(origin(&loaded, key), (shown(key, value), format!("flag --set {key}")), "{key}");
    }
}

#[test]
fn an_override_beats_a_variable_beats_the_file_beats_what_is_built_in() {
    let source = |text: &str, env: &[(&str, &str)], overrides: &[(&str, &str)]| {
        origin(&load(text, env, overrides).expect("it loads"), "manager.lease")
    };
    let file = format!("{LEAST}lease = \"20s\"\n");
    let env = [("SLIPGATE__MANAGER__LEASE", "30s")];
    let overrides = [("manager.lease", "40s")];
    let told = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(source(LEAST, &[], &[]), told("10s", "default"));
    assert_eq!(source(&file, &[], &[]), told("20s", "cluster.toml:7"));
    assert_eq!(source(&file, &env, &[]), told("30s", "env SLIPGATE__MANAGER__LEASE"));
    assert_eq!(source(&file, &env, &overrides), told("40s", "flag --set manager.lease"));
}

#[test]
fn variables_alone_are_enough() {
    let env = [("SLIPGATE__NODE__NAME", "n2"), ("SLIPGATE__CLUSTER__NAME", "demo"), ("SLIPGATE__MANAGER__NODE", "n2")];
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::from_text(None, env, &[]).expect("it loads").config;
    assert_eq!(config.node.name.as_str(), "n2");
    assert_eq!(config.scenes, []);
}

#[test]
fn variables_of_other_programs_and_of_the_command_line_do_not_count() {
    let env = [("SLIPGATE_AT", "x"), ("SLIPGATE_LOG_FORMAT", "pretty"), ("PATH", "/bin"), ("XSLIPGATE__NODE", "y")];
    assert!(load(LEAST, &env, &[]).is_ok());
}

#[test]
fn what_is_left_out_has_the_values_that_the_docs_promise() {
    let config = loaded(LEAST).config;
    assert_eq!(config.node.listen.to_string(), "127.0.0.1:7700");
    assert_eq!(config.admin.listen.to_string(), "127.0.0.1:7780");
    assert_eq!((config.node.arbiters, config.manager.lease.as_secs()), (0, 10));
    assert_eq!(
        (config.log.format, config.log.colour, config.log.level.as_str()),
        (Format::Auto, Colour::Auto, "info,actix_server=warn")
    );
    assert_eq!((config.admin.token, config.admin.token_file), (None, None));
    assert_eq!(config.drain.timeout.as_secs(), 25);
    assert_eq!(config.entities.on_panic, OnPanic::Park);
    assert_eq!(Limits::from(&config.limits), Limits::default());
}

#[test]
fn a_scene_needs_a_place_and_has_room_for_a_hundred_thousand() {
    let text = format!("{LEAST}[[scenes]]\nid = 7\nname = \"forest\"\nnode = \"n9\"\n");
    let scene = loaded(&text).config.scenes.pop().expect("a scene");
    assert_eq!((scene.id, scene.name.as_str(), scene.node.as_str(), scene.capacity), (7, "forest", "n9", 100_000));
    let inline = format!("scenes = [{{ id = 7, name = \"forest\", node = \"n9\" }}]\n{LEAST}");
    assert_eq!(loaded(&inline).config.scenes, [scene]);
}

#[test]
fn what_peers_dial_is_where_the_node_listens_unless_it_is_told() {
    let bound = "127.0.0.1:4242".parse().expect("an address");
    assert_eq!(loaded(LEAST).config.node.dial(bound), "127.0.0.1:4242");
    let told = load(LEAST, &[("SLIPGATE__NODE__ADVERTISE", "n1:7700")], &[]).expect("it loads");
    assert_eq!(told.config.node.dial(bound), "n1:7700");
}

#[test]
fn zero_arbiters_leave_one_core_to_the_rest_of_the_node() {
    let node = loaded(LEAST).config.node;
    let cores = |number| std::num::NonZeroUsize::new(number).expect("not zero");
    assert_eq!([1, 2, 8].map(|number| node.arbiter_count(cores(number))), [1, 1, 7]);
}

#[test]
fn a_token_comes_from_its_file_without_the_line_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    std::fs::write(&path, "s3cret\n").expect("a file");
    let path = path.display().to_string();
    let admin = load(LEAST, &[("SLIPGATE__ADMIN__TOKEN_FILE", &path)], &[]).expect("it loads").config.admin;
    let token = admin.read_token().expect("a readable file").expect("a token");
    assert_eq!(token.reveal(), "s3cret");
    std::fs::write(folder.path().join("token"), "two words\n").expect("a file");
    assert!(admin.read_token().is_err());
}
