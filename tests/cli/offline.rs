//! What needs no node: usage, configuration, completions, pipes that close.

use std::fs;
use std::io::pipe;
use std::process::Stdio;

use crate::dev_cluster::{DevCluster, Done, program, repository, run};

fn offline(line: &[&str]) -> Done {
    run(program().args(line).current_dir(repository()))
}

#[test]
fn help_lists_every_command_and_is_data() {
    let done = offline(&["--help"]).ends(0);
    let commands = [
        "node",
        "dev",
        "tour",
        "status",
        "nodes",
        "scenes",
        "entities",
        "show",
        "spawn",
        "send",
        "migrate",
        "despawn",
        "unpark",
        "moves",
        "watch",
        "health",
        "config",
        "schema",
        "completions",
    ];
    for command in commands {
        assert!(done.out.contains(&format!("\n  {command} ")), "{command}: {done:?}");
        let help = offline(&[command, "--help"]).ends(0);
        assert!(help.out.contains("Usage: slipgate ") && help.err.is_empty(), "{help:?}");
    }
    assert_eq!(offline(&["--version"]).ends(0).out, concat!("slipgate ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(offline(&[]).ends(2).err.contains("Usage: slipgate "));
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_is_wrong() {
    let check = |line: &[&str], words: &str| {
        let done = offline(line).ends(2);
        assert!(done.out.is_empty() && done.err.contains(words), "{line:?}: {done:?}");
    };
    check(&["statsu"], "unrecognized subcommand 'statsu'");
    check(&["statsu"], "a similar subcommand exists: 'status'");
    check(&["status", "--wathc"], "a similar argument exists: '--watch'");
    check(&["nodes", "-o", "yaml"], "[possible values: table, json]");
    check(&["nodes", "--timeout", "10"], "write it as 10s or 500ms");
    check(&["nodes", "--timeout", "11m"], "it must be 1ms to 10m");
    check(&["spawn", "walker"], "--scene <SCENE>");
    check(&["spawn", "walker", "--scene", "forest", "--count", "0"], "0 is not in 1..=10000");
    check(&["spawn", "walker", "--scene", "forest", "--data", "[]"], "it is no JSON object");
    check(&["spawn", "walker", "--scene", ""], "a value is required for '--scene <SCENE>'");
    check(&["show", ""], "a value is required for '<ENTITY>'");
    check(&["send", "ann"], "<NAME>");
    check(&["send", "ann", "step", "{x"], "it is no JSON");
    check(&["migrate", "--to", "keep"], "<ENTITY>...");
    check(&["migrate", "ann"], "--to <SCENE[@NODE]>");
    check(&["entities", "--limit", "0"], "0 is not in 1..=10000");
    check(&["moves", "--limit", "1001"], "1001 is not in 1..=1000");
    check(&["health", "--live", "--ready"], "cannot be used with");
    check(&["dev", "--nodes", "0"], "0 is not in 1..=16");
    check(&["dev", "--nodes", "3", "--base-port", "65535"], "3 nodes from port 65535 on go beyond port 65535");
    check(&["status", "--at", "127.0.0.1:http"], "write it as HOST:PORT, such as 127.0.0.1:7780");
    check(&["status", "--at", "https://127.0.0.1:7780"], "write it as HOST:PORT, such as 127.0.0.1:7780");
}

#[test]
fn an_address_of_the_environment_is_checked_too() {
    run(program().arg("status").env("SLIPGATE_AT", "n1:x")).fails(
        2,
        "error: SLIPGATE_AT is \"n1:x\": write it as HOST:PORT, such as 127.0.0.1:7780\n  \
         try:  SLIPGATE_AT=127.0.0.1:7780\n",
    );
}

#[test]
fn wrong_usage_is_an_object_where_json_is_asked_for() {
    for line in [&["status", "--wathc", "-o", "json"][..], &["--output=json", "status", "--wathc"]] {
        let done = offline(line).ends(2);
        let told: serde_json::Value = serde_json::from_str(&done.err).expect("one object");
        let field = |name: &str| told["error"][name].as_str().expect("text");
        assert_eq!(field("text"), "unexpected argument '--wathc' found; tip: a similar argument exists: '--watch'");
        assert_eq!([field("kind"), field("reason"), field("state")], ["usage", "command_line", "nothing was asked"]);
        let hint = field("hint");
        assert!(hint.starts_with("Usage: slipgate ") && hint.ends_with("      slipgate help status"), "{hint}");
    }
}

#[test]
fn the_sample_configuration_is_in_order() {
    let done = offline(&["config", "check", "--config", "cluster.toml"]).ends(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("the configuration is in order\n", ""));
    let done = offline(&["config", "check", "--config", "cluster.toml", "-o", "json"]).ends(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("{\"ok\":true,\"faults\":[]}\n", ""));
}

#[test]
fn every_fault_of_a_configuration_is_told_with_line_and_caret() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.toml");
    let text = "[node]\nname = \"n1\"\nlisten = \"7700\"\n[cluster]\nname = \"demo\"\n[manager]\nnode = \"n1\"\n\
                [limits]\nreserv = \"2s\"\ntransfer = 5\n";
    fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("text");
    offline(&["config", "check", "--config", path]).fails(
        2,
        &format!(
            "error: {path}:3:10: node.listen: \"7700\" is not an address to listen on\n  |\n3 | listen = \"7700\"\n  \
             |          ^^^^^^\n  = write ip:port, such as \"127.0.0.1:7700\"; port 0 lets the system choose\n\
             {path}:9:1: limits.reserv: there is no such key\n  |\n9 | reserv = ...\n  | ^^^^^^\n  \
             = did you mean reserve?\n\
             {path}:10:12: limits.transfer: expected a duration in quotes, found the number 5\n   |\n\
             10 | transfer = 5\n   |            ^\n   = write \"5s\" or \"5ms\"\n"
        ),
    );
    let done = offline(&["config", "check", "--config", path, "-o", "json"]).ends(2);
    let verdict = done.object();
    let faults = verdict["faults"].as_array().expect("a list");
    assert_eq!((&verdict["ok"], faults.len()), (&false.into(), 3));
    let hint = "did you mean reserve?";
    let expected = serde_json::json!({
        "place": format!("{path}:9:1"), "line": 9, "text": "limits.reserv: there is no such key", "hint": hint,
    });
    assert_eq!(faults[1], expected);
    offline(&["node", "--config", path]).ends(2);
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let done = offline(&["config", "check", "--config", "nowhere.toml"]).ends(2);
    assert!(done.err.starts_with("error: nowhere.toml: the file cannot be read (No such file"), "{done:?}");
    assert!(done.err.contains("name another with --config FILE"), "{done:?}");
}

#[test]
fn an_unknown_variable_is_a_fault_with_a_suggestion() {
    let mut command = program();
    command.args(["config", "check", "--config", "cluster.toml"]).current_dir(repository());
    let done = run(command.env("SLIPGATE__NODE__NAEM", "n7")).ends(2);
    assert!(done.err.starts_with("error: SLIPGATE__NODE__NAEM: "), "{done:?}");
    assert!(done.err.contains("did you mean SLIPGATE__NODE__NAME?"), "{done:?}");
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let mut command = program();
    command.args(["config", "show", "--origin", "--config", "cluster.toml", "--set", "node.arbiters=2"]);
    let done = run(command.current_dir(repository()).env("SLIPGATE__NODE__NAME", "n2")).ends(0);
    let value = |key: &str| done.out.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    assert!(value("name = \"n2\"").ends_with("# env SLIPGATE__NODE__NAME"), "{}", value("name"));
    assert!(value("arbiters = 2").ends_with("# flag --set node.arbiters"), "{}", value("arbiters"));
    assert!(value("lease = \"10s\"").contains("# cluster.toml:"), "{}", value("lease"));
    let plain = offline(&["config", "show", "--config", "cluster.toml"]).ends(0);
    assert!(plain.out.starts_with("[node]\nname = \"n1\"\n") && !plain.out.contains('#'), "{plain:?}");
}

#[test]
fn values_are_one_object_each_in_json() {
    let done = offline(&["config", "show", "--config", "cluster.toml", "-o", "json"]).ends(0);
    for object in done.objects() {
        let keys: Vec<_> = object.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["key", "source", "value"], "{object}");
    }
    let first = serde_json::json!({"key": "node.name", "value": "n1", "source": "cluster.toml:16"});
    assert_eq!(done.objects()[0]["key"], first["key"]);
}

#[test]
fn completions_know_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = offline(&["completions", shell]).ends(0);
        assert!(done.out.contains("slipgate") && done.out.contains("migrate") && done.err.is_empty(), "{shell}");
    }
    assert!(offline(&["completions", "cmd"]).ends(2).err.contains("[possible values: bash, elvish, fish"));
}

#[test]
fn a_pipe_that_is_closed_early_is_no_failure() {
    let at = &DevCluster::shared().admin[0];
    let lines: [&[&str]; 5] = [
        &["completions", "bash"],
        &["--help"],
        &["nodes"],
        &["scenes", "-o", "json"],
        &["config", "show", "--config", "cluster.toml"],
    ];
    for line in lines {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let mut command = program();
        command.args(line).current_dir(repository()).env("SLIPGATE_AT", at).stdin(Stdio::null()).stdout(writer);
        let output = command.output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.is_empty(), "{line:?}: {} {err}", output.status);
    }
}

#[test]
fn a_game_that_is_not_linked_in_is_told_with_those_that_are() {
    let expected = "error: there is no game \"arean\" in this program; did you mean arena?\n  there is arena\n  \
                    try:  slipgate dev --help\n";
    offline(&["dev", "--game", "arean"]).fails(3, expected);
}

#[test]
fn the_schema_of_a_program_tells_what_is_linked_in() {
    let schema = offline(&["schema", "export", "-o", "json"]).ends(0).object();
    let names = |list: &str| schema[list].as_array().expect("a list").iter().map(|part| part["name"].clone()).collect();
    let (types, components): (Vec<_>, Vec<_>) = (names("types"), names("components"));
    assert!(types.contains(&"fighter".into()) && components.contains(&"health".into()), "{types:?} {components:?}");
    let text = offline(&["schema", "export"]).ends(0).out;
    assert!(text.contains("\n  takes strike { damage: u32, by: OnlineId }  from the cluster\n"), "{text}");
}
