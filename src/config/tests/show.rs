//! `config show`.

use super::super::render::{Sources, json_lines, toml};
use super::{LEAST, load, loaded};

const SCENE: &str = "[[scenes]]\nid = 1\nname = \"forest\"\nnode = \"n1\"\n";

#[test]
fn what_is_shown_can_be_read_again_and_means_the_same() {
    let first = loaded(&format!("{LEAST}{SCENE}{}", SCENE.replace('1', "2").replace("forest", "harbor")));
    let second = loaded(&toml(&first.origins, Sources::Hidden));
    assert_eq!(first.config, second.config);
    assert_eq!(second.config.scenes.len(), 2);
    assert_eq!(second.config, loaded(&toml(&first.origins, Sources::Shown)).config);
}

#[test]
fn each_value_is_shown_beside_its_source() {
    let env = [("SLIPGATE__ADMIN__TOKEN", "s3cret"), ("SLIPGATE__NODE__ADVERTISE", "n1:7700")];
    let loaded = load(&format!("{LEAST}{SCENE}"), &env, &[("log.level", "debug")]).expect("it loads");
    let shown = toml(&loaded.origins, Sources::Shown);
    let expected = [
        "[node]",
        "name = \"n1\"                            # cluster.toml:2",
        "listen = \"127.0.0.1:7700\"              # default",
        "advertise = \"n1:7700\"                  # env SLIPGATE__NODE__ADVERTISE",
        "arbiters = 0                           # default",
        "[admin]",
        "token = \"***\"                          # env SLIPGATE__ADMIN__TOKEN",
        "level = \"debug\"                        # flag --set log.level",
        "router_bytes = \"64MiB\"                 # default",
        "node_bytes = \"256MiB\"                  # default",
        "resend_first = \"100ms\"                 # default",
        "[[scenes]]",
        "id = 1                                 # cluster.toml:8",
        "capacity = 100000                      # default",
    ];
    for line in expected {
        assert!(shown.lines().any(|shown| shown == line), "{line}\nis not in\n{shown}");
    }
}

#[test]
fn as_json_each_key_is_an_object_on_a_line_of_its_own() {
    let loaded = load(&format!("{LEAST}{SCENE}"), &[("SLIPGATE__ADMIN__TOKEN", "s3cret")], &[]).expect("it loads");
    let lines = json_lines(&loaded.origins);
    let has = |line: &str| assert!(lines.lines().any(|shown| shown == line), "{line}\nis not in\n{lines}");
    has(r#"{"key":"node.name","value":"n1","source":"cluster.toml:2"}"#);
    has(r#"{"key":"limits.hops","value":8,"source":"default"}"#);
    has(r#"{"key":"admin.token","value":"***","source":"env SLIPGATE__ADMIN__TOKEN"}"#);
    has(r#"{"key":"scenes[0].name","value":"forest","source":"cluster.toml:9"}"#);
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("an object");
    }
}
