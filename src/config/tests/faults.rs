//! Each kind of fault in its exact words.

use std::path::Path;

use super::super::Config;
use super::{LEAST, load, told};

/// The least that loads, with one more line below `[limits]`, which is line 8.
fn limits(line: &str) -> String {
    format!("{LEAST}[limits]\n{line}\n")
}

#[test]
fn a_misspelt_key_names_its_line_and_the_word_that_was_meant() {
    let text = LEAST.replace("[cluster]", "listn = \"127.0.0.1:1\"\n[cluster]");
    let expected = "\
cluster.toml:3:1: node.listn: there is no such key
  |
3 | listn = ...
  | ^^^^^
  = did you mean listen?";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn a_key_like_no_other_is_answered_with_those_there_are() {
    let text = LEAST.replace("[manager]", "colour = 1\n[manager]");
    let expected = "\
cluster.toml:5:1: cluster.colour: there is no such key
  |
5 | colour = ...
  | ^^^^^^
  = its section knows name";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn a_misspelt_section_and_a_key_outside_of_any_are_faults() {
    let text = format!("lease = \"3s\"\n{LEAST}[limit]\nhops = 3\n[[scene]]\nid = 1\n");
    let expected = "\
cluster.toml:1:1: lease: there is no such key outside the sections
  |
1 | lease = ...
  | ^^^^^
  = did you mean it to stand below [manager]?
cluster.toml:8:2: [limit]: there is no such section
  |
8 | [limit]
  |  ^^^^^
  = did you mean [limits]?
cluster.toml:10:3: [scene]: there is no such section
   |
10 | [[scene]]
   |   ^^^^^
   = did you mean [[scenes]]?";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn a_number_where_a_duration_belongs_is_told_how_to_be_one() {
    let expected = "\
cluster.toml:8:11: limits.reserve: expected a duration in quotes, found the number 2
  |
8 | reserve = 2
  |           ^
  = write \"2s\" or \"2ms\"";
    assert_eq!(told(&limits("reserve = 2"), &[], &[]), expected);
}

#[test]
fn a_wrong_unit_of_time_is_pointed_at() {
    let expected = "\
cluster.toml:8:11: limits.reserve: \"2 parsecs\" is not a duration
  |
8 | reserve = \"2 parsecs\"
  |           ^^^^^^^^^^^
  = write a number and one of ms, s, m, h: \"100ms\", \"2s\", \"1m 30s\"";
    assert_eq!(told(&limits("reserve = \"2 parsecs\""), &[], &[]), expected);
}

#[test]
fn a_size_needs_a_unit_and_room() {
    let check = |line: &str, expected: &str| {
        let told = told(&limits(line), &[], &[]);
        let (first, hint) = (told.lines().next().expect("a line"), told.lines().last().expect("a line"));
        assert_eq!(format!("{first} / {}", hint.trim()), expected);
    };
    check(
        "state_bytes = 1048576",
        "cluster.toml:8:15: limits.state_bytes: expected a size in quotes, found the number 1048576 / = write \"1MiB\"",
    );
    check("state_bytes = \"2048\"", "cluster.toml:8:15: limits.state_bytes: \"2048\" is not a size / = write \"2KiB\"");
    check(
        "state_bytes = \"1MeB\"",
        "cluster.toml:8:15: limits.state_bytes: \"1MeB\" is not a size / \
         = write a number and one of B, KiB, MiB, GiB: \"16KiB\", \"1MiB\"",
    );
    check(
        "state_bytes = \"9MiB\"",
        "cluster.toml:8:15: limits.state_bytes: \"9MiB\" is outside 1B to 8MiB / = write \"8MiB\"",
    );
    check("settle = \"2h\"", "cluster.toml:8:10: limits.settle: \"2h\" is outside 1ms to 1h / = write \"1h\"");
    check(
        "settle = \"20\"",
        "cluster.toml:8:10: limits.settle: \"20\" is not a duration / = write \"20s\" or \"20ms\"",
    );
    check("hops = 65", "cluster.toml:8:8: limits.hops: 65 is outside 1 to 64 / = write 64");
    check(
        "hops = \"8\"",
        "cluster.toml:8:8: limits.hops: expected a whole number, found the text \"8\" / = write 8 without quotes",
    );
}

#[test]
fn values_of_another_type_are_named_for_what_they_are() {
    let check = |value: &str, found: &str| {
        let told = told(&limits(&format!("hops = {value}")), &[], &[]);
        assert_eq!(
            told.lines().next(),
            Some(format!("cluster.toml:8:8: limits.hops: expected a whole number, found {found}").as_str())
        );
    };
    check("1.5", "a number with a point");
    check("true", "true or false");
    check("[1]", "a list");
    check("{ a = 1 }", "a table");
    check("1979-05-27", "a date");
}

#[test]
fn addresses_say_what_is_wrong_with_them() {
    let check = |key: &str, value: &str, expected: &str| {
        let variable = format!("SLIPGATE__{}", key.replace('.', "__").to_uppercase());
        assert_eq!(told(LEAST, &[(&variable, value)], &[]), format!("{variable}: {key}: {expected}"));
    };
    let listen = "write ip:port, such as \"127.0.0.1:7700\"; port 0 lets the system choose";
    let dial = "write what others dial to reach it, such as \"n1:7700\"";
    let not_listen = format!("\"localhost:7700\" is not an address to listen on\n  = {listen}");
    check("node.listen", "localhost:7700", &not_listen);
    check(
        "node.advertise",
        "0.0.0.0:7700",
        &format!("\"0.0.0.0:7700\" is no address that others can dial\n  = {dial}"),
    );
    check("admin.advertise", "[::]:1", &format!("\"[::]:1\" is no address that others can dial\n  = {dial}"));
    check("node.advertise", "n1:0", &format!("\"n1:0\" names no port that others can dial\n  = {dial}"));
    check("manager.address", "n1", &format!("\"n1\" is not host:port\n  = {dial}"));
}

#[test]
fn listening_everywhere_needs_a_name_that_others_can_dial() {
    let expected = "\
SLIPGATE__NODE__LISTEN: node.advertise: missing: 0.0.0.0:7700, where it listens, is nothing that peers can dial
  = write [node] advertise = \"n1:7700\", or set SLIPGATE__NODE__ADVERTISE";
    assert_eq!(told(LEAST, &[("SLIPGATE__NODE__LISTEN", "0.0.0.0:7700")], &[]), expected);
    let expected = "\
cluster.toml:8:10: admin.advertise: missing: [::]:0, where it listens, is nothing that people can dial
  |
8 | listen = \"[::]:0\"
  |          ^^^^^^^^
  = write [admin] advertise = \"n1:PORT\", or set SLIPGATE__ADMIN__ADVERTISE";
    assert_eq!(told(&format!("{LEAST}[admin]\nlisten = \"[::]:0\"\n"), &[], &[]), expected);
}

#[test]
fn a_scene_cannot_be_named_like_a_number() {
    let expected = "cluster.toml:9:8: scenes[0].name: a scene that is named \"7\" could be taken for one with that number; a name has more \
                    than digits and dots";
    let file = format!("{LEAST}[[scenes]]\nid = 1\nname = \"7\"\nnode = \"n1\"\n");
    let faults = told(&file, &[], &[]);
    assert!(faults.starts_with(expected) && faults.ends_with("= write \"scene7\", or what it is"), "{faults}");
}

#[test]
fn names_words_and_levels_are_checked() {
    let check = |variable: &str, value: &str, expected: &str| {
        assert_eq!(told(LEAST, &[(variable, value)], &[]), format!("{variable}: {expected}"));
    };
    check(
        "SLIPGATE__NODE__NAME",
        "n 1",
        "node.name: \"n 1\" is not a name: 1 to 32 of a-z A-Z 0-9 - _ . and first a letter or digit",
    );
    check(
        "SLIPGATE__LOG__FORMAT",
        "jsn",
        "log.format: \"jsn\" is none of auto, pretty, json\n  = did you mean \"json\"?",
    );
    check(
        "SLIPGATE__LOG__COLOUR",
        "x",
        "log.colour: \"x\" is none of auto, always, never\n  = write one of auto, always, never",
    );
    check("SLIPGATE__LOG__LEVEL", "inof", "log.level: \"inof\" is not a log level\n  = did you mean \"info\"?");
    check("SLIPGATE__NODE__ARBITERS", "two", "node.arbiters: \"two\" is not a whole number\n  = write 0 to 256");
    check("SLIPGATE__NODE__DATA", "", "node.data: the value is empty\n  = give it a value, or take it away");
}

#[test]
fn unknown_variables_and_overrides_are_faults_with_a_suggestion() {
    let env = [("SLIPGATE__NODE_NAME", "n1"), ("SLIPGATE__ZZZ", "n1"), ("SLIPGATE__SCENES__0__ID", "1")];
    let expected = "\
SLIPGATE__NODE_NAME: there is no such key
  = did you mean SLIPGATE__NODE__NAME?
SLIPGATE__SCENES__0__ID: scenes cannot be set by the environment
  = write [[scenes]] into the file
SLIPGATE__ZZZ: there is no such key
  = names are SLIPGATE__SECTION__KEY, such as SLIPGATE__NODE__NAME
--set node.nmae: there is no such key
  = did you mean node.name?";
    assert_eq!(told(LEAST, &env, &[("node.nmae", "n1")]), expected);
}

#[test]
fn required_keys_that_nobody_sets_are_missing_all_at_once() {
    let expected = "\
cluster.toml: node.name is missing
  = write [node] name = \"n1\", or set SLIPGATE__NODE__NAME
cluster.toml: cluster.name is missing
  = write [cluster] name = \"demo\", or set SLIPGATE__CLUSTER__NAME
cluster.toml: manager.node is missing
  = write [manager] node = \"n1\", or set SLIPGATE__MANAGER__NODE";
    assert_eq!(told("", &[], &[]), expected);
}

#[test]
fn a_node_that_is_not_the_managers_must_know_where_to_join() {
    let expected = "\
SLIPGATE__MANAGER__NODE: manager.address: missing: n2 joins the manager on n1
  = write [manager] address = \"host:port\", or set SLIPGATE__MANAGER__ADDRESS";
    let text = LEAST.replace("[node]\nname = \"n1\"\n", "");
    assert_eq!(told(&text, &[("SLIPGATE__MANAGER__NODE", "n1")], &[("node.name", "n2")]), expected);
}

#[test]
fn a_node_that_takes_itself_for_the_managers_must_be_where_the_others_join() {
    let expected = "\
SLIPGATE__MANAGER__ADDRESS: manager.address: n1:7700 is not this node's own address, 127.0.0.1:7711, but [manager] node \
        is n1, this node
  = if the manager runs at n1:7700, give this node a name of its own: [node] name, or SLIPGATE__NODE__NAME; if it is to \
        run here, leave [manager] address out, or write what others dial";
    let env = [("SLIPGATE__MANAGER__ADDRESS", "n1:7700")];
    assert_eq!(told(LEAST, &env, &[("node.listen", "127.0.0.1:7711")]), expected);
    for (own, address) in [
        (("node.advertise", "N1:7700"), "n1:7700"),
        (("node.listen", "127.0.0.1:7711"), "127.0.0.1:7711"),
        (("node.listen", "[::1]:7711"), "localhost:7711"),
        (("node.name", "n2"), "n1:7700"),
    ] {
        let loaded = load(LEAST, &[("SLIPGATE__MANAGER__ADDRESS", address)], &[own]);
        assert!(loaded.is_ok(), "{own:?} {address}: {}", loaded.expect_err("just said"));
    }
    for (own, address) in
        [(("node.listen", "127.0.0.1:0"), "127.0.0.1:7700"), (("node.listen", "10.0.0.8:7700"), "localhost:7700")]
    {
        assert!(load(LEAST, &[("SLIPGATE__MANAGER__ADDRESS", address)], &[own]).is_err(), "{own:?} {address}");
    }
}

#[test]
fn scenes_are_told_apart_by_number_and_name() {
    let scene = |id: u16, name: &str| format!("[[scenes]]\nid = {id}\nname = \"{name}\"\nnode = \"n1\"\n");
    let text = format!("{LEAST}{}{}", scene(1, "forest"), scene(1, "forest"));
    let expected = "\
cluster.toml:12:6: scenes[1].id: 1 is taken by the scene at cluster.toml:8
   |
12 | id = 1
   |      ^
   = give each scene a number of its own
cluster.toml:13:8: scenes[1].name: \"forest\" is taken by the scene at cluster.toml:9
   |
13 | name = \"forest\"
   |        ^^^^^^^^
   = give each scene a name of its own";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn a_scene_says_what_it_lacks_and_what_it_has_too_much() {
    let text = format!("{LEAST}[[scenes]]\nid = 70000\nname = \"forest\"\ncapcity = 5\n");
    let expected = "\
cluster.toml:7:1: scenes[0].node is missing
  |
7 | [[scenes]]
  | ^^^^^^^^^^
  = write node = \"n1\" below it
cluster.toml:8:6: scenes[0].id: 70000 is outside 0 to 32767
  |
8 | id = 70000
  |      ^^^^^
  = write 32767
cluster.toml:10:1: scenes[0].capcity: there is no such key
   |
10 | capcity = ...
   | ^^^^^^^
   = did you mean capacity?";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn values_that_contradict_each_other_are_told_at_the_one_that_was_set() {
    let check = |line: &str, expected: &str| {
        let told = told(&limits(line), &[], &[]);
        let (first, hint) = (told.lines().next().expect("a line"), told.lines().last().expect("a line"));
        assert_eq!(format!("{first} / {}", hint.trim()), expected);
    };
    check(
        "reserve = \"7s\"",
        "cluster.toml:8:11: limits.reservation: 10s is not above reserve + transfer (10s) / \
         = raise it: the room would be given away before the state arrives",
    );
    check(
        "tombstone = \"5s\"",
        "cluster.toml:8:13: limits.tombstone: 5s is below transfer + decide (6s) / \
         = raise it: late messages would find nobody who knows the way",
    );
    check(
        "message_bytes = \"64KiB\"\nstream_bytes = \"32KiB\"",
        "cluster.toml:8:17: limits.message_bytes: 64KiB is above stream_bytes (32KiB) / = lower it to 32KiB, or raise stream_bytes",
    );
    check(
        "message_bytes = \"64KiB\"\nheld_bytes = \"32KiB\"",
        "cluster.toml:8:17: limits.message_bytes: 64KiB is above held_bytes (32KiB) / = lower it to 32KiB, or raise held_bytes",
    );
    check(
        "stream_window = 2000",
        "cluster.toml:8:17: limits.stream_window: 2000 is above stream_queue (1024) / = lower it to 1024, or raise stream_queue",
    );
    check(
        "router_queue = 1000",
        "cluster.toml:8:16: limits.stream_queue: 1024 is above router_queue (1000) / = lower it to 1000, or raise router_queue",
    );
    check(
        "router_bytes = \"64KiB\"",
        "cluster.toml:8:16: limits.stream_bytes: 1MiB is above router_bytes (64KiB) / = lower it to 64KiB, or raise router_bytes",
    );
    check(
        "node_bytes = \"32MiB\"",
        "cluster.toml:8:14: limits.router_bytes: 64MiB is above node_bytes (32MiB) / = lower it to 32MiB, or raise node_bytes",
    );
    check(
        "router_bytes = \"8MiB\"\nnode_bytes = \"8MiB\"\nheld_bytes = \"9MiB\"",
        "cluster.toml:10:14: limits.held_bytes: 9MiB is above node_bytes (8MiB) / = lower it to 8MiB, or raise node_bytes",
    );
    check(
        "resend_max = \"50ms\"",
        "cluster.toml:8:14: limits.resend_first: 100ms is above resend_max (50ms) / = lower it to 50ms, or raise resend_max",
    );
    check(
        "reserve = \"100ms\"",
        "cluster.toml:8:11: limits.resend_first: 100ms is not below reserve (100ms) / \
         = lower it: a lost request would never be repeated",
    );
}

#[test]
fn a_token_and_a_file_for_it_exclude_each_other_and_no_token_is_shown() {
    let text = format!("{LEAST}[admin]\ntoken_file = \"t\"\ntoken = \"s3cret\"\n");
    let expected = "\
cluster.toml:9:9: admin.token: token and token_file are both set
  |
9 | token = ***
  |         ^^^
  = keep one of the two";
    assert_eq!(told(&text, &[], &[]), expected);
}

#[test]
fn no_fault_repeats_a_secret_wherever_it_went_wrong() {
    let wrong = [
        "token = \"s3cret word\"",
        "token = s3cret",
        "token = \"s3cret",
        "tokn = \"s3cret\"",
        "'token' = \"s3cret\" s3cret",
        "token = [\"s3cret\"]",
    ];
    for line in wrong {
        let told = told(&format!("{LEAST}[admin]\n{line}\n"), &[], &[]);
        assert!(told.starts_with("cluster.toml:8:") && !told.contains("s3cret"), "{told}");
    }
    let told = told(
        &format!("admin = {{ token = \"s3cret word\" }}\n{LEAST}"),
        &[("SLIPGATE__ADMIN__TOKEN", "s3cret b")],
        &[],
    );
    assert!(told.contains("SLIPGATE__ADMIN__TOKEN: admin.token: not a token") && !told.contains("s3cret"), "{told}");
}

#[test]
fn text_that_is_not_toml_is_told_with_line_and_caret() {
    let expected = "\
cluster.toml:2:8: not TOML: the value is neither a number nor a text in quotes
  |
2 | name = forest
  |        ^^^^^^
  = texts stand in quotes";
    assert_eq!(told("[node]\nname = forest\n", &[], &[]), expected);
}

#[test]
fn a_line_that_toml_cannot_read_is_told_in_its_words() {
    let expected = "\
cluster.toml:1:6: not TOML: unclosed table, expected `]`
  |
1 | [node
  |      ^";
    assert_eq!(told("[node\n", &[], &[]), expected);
}

#[test]
fn a_key_given_twice_is_told_at_the_second() {
    let text = LEAST.replace("[cluster]", "name = \"n2\"\n[cluster]");
    assert!(
        told(&text, &[], &[]).starts_with("cluster.toml:3:1: not TOML: duplicate key"),
        "{}",
        told(&text, &[], &[])
    );
}

#[test]
fn all_faults_of_all_sources_are_told_at_once() {
    let text = limits("reserve = 2\ntombstone = \"1s\"\nhop = 2");
    let errors = load(&text, &[("SLIPGATE__LOG__FORMAT", "jsn")], &[("node.nme", "x")]).expect_err("wrong");
    let lines: Vec<Option<usize>> = errors.faults().iter().map(super::super::Fault::line).collect();
    assert_eq!(lines, [Some(8), Some(9), Some(10), None, None]);
    assert_eq!(errors.faults()[1].text(), "limits.tombstone: 1s is below transfer + decide (6s)");
    assert_eq!(errors.faults()[2].suggestion(), Some("did you mean hops?"));
}

#[test]
fn what_a_terminal_would_obey_is_not_shown() {
    let told = told("[node]\nname = \"n1\" # \u{1b}[2J\u{9b}\n", &[], &[]);
    assert!(!told.contains(['\u{1b}', '\u{9b}']), "{told:?}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let errors = Config::load(Some(Path::new("no/such.toml")), std::iter::empty(), &[]).expect_err("no file");
    let expected = "no/such.toml: the file cannot be read (No such file or directory (os error 2))\n  \
                    = name another with --config FILE";
    assert_eq!(errors.to_string(), expected);
}
