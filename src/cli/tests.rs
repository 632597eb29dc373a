//! Commands as users type them, against a canned oracle behind a real admin interface.

use std::collections::BTreeMap;
use std::net::TcpListener;

use serde_json::Value;
use slipgate_entity::PlayerId;
use slipgate_entity::game::Fate;
use slipgate_proto::admin::{
    Answer, AskReport, MoveReport, NotTaken, Panicked, PartialList, Problem, ProblemKind, Question, Rows, SendReport,
    SomeSpawned,
};

use super::*;
use crate::admin::canned::{self, Canned};
use crate::admin::live::Live;

/// What a command did.
#[derive(Debug)]
struct Done {
    code: ExitCode,
    out: String,
    err: String,
}

fn slipgate_in(env: &BTreeMap<&str, String>, line: &[&str]) -> Done {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("slipgate").chain(line.iter().copied()).map(OsString::from);
    let code = run(args, &|name| env.get(name).cloned(), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Done { code, out: text(out), err: text(err) }
}

fn slipgate(oracle: Canned, line: &[&str]) -> Done {
    let live = Live::start(oracle);
    slipgate_in(&BTreeMap::from([("SLIPGATE_AT", live.at.to_string())]), line)
}

fn refusing(problem: Problem) -> Canned {
    Canned::by(move |_| Err(problem.clone()))
}

fn moving(change: impl FnOnce(&mut MoveReport)) -> Canned {
    let mut report = canned::moved();
    change(&mut report);
    Canned::by(move |_| Ok(Answer::Move(report.clone())))
}

fn sending(report: SendReport) -> Canned {
    Canned::by(move |_| Ok(Answer::Sent(report.clone())))
}

fn check_code(oracle: Canned, line: &[&str], code: u8) -> Done {
    let done = slipgate(oracle, line);
    assert_eq!(done.code, ExitCode::from(code), "{line:?}: {done:?}");
    done
}

const READS: [&[&str]; 6] = [&["status"], &["nodes"], &["scenes"], &["entities"], &["show", "ann"], &["moves"]];

const WRITES: [&[&str]; 4] = [
    &["spawn", "walker", "--scene", "forest"],
    &["send", "ann", "greet"],
    &["migrate", "ann", "--to", "harbor"],
    &["despawn", "ann"],
];

#[test]
fn every_command_writes_data_and_nothing_else() {
    for line in READS.iter().chain(&WRITES) {
        let done = check_code(Canned::friendly(), line, 0);
        assert!(!done.out.is_empty() && done.err.is_empty(), "{line:?}: {done:?}");
    }
}

#[test]
fn json_is_one_object_per_line() {
    for line in READS.iter().chain(&WRITES) {
        let line: Vec<_> = line.iter().copied().chain(["-o", "json"]).collect();
        let done = check_code(Canned::friendly(), &line, 0);
        for text in done.out.lines() {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert!(value.is_object(), "{line:?}: {text}");
        }
    }
}

#[test]
fn a_list_is_a_table_for_people() {
    let done = check_code(Canned::friendly(), &["entities"], 0);
    let expected = "ENTITY  TYPE    LABEL  SCENE   NODE  STATE   EPOCH\n\
                    1.4     walker  ann    forest  n1    active      7\n";
    assert_eq!(done.out, expected);
}

#[test]
fn options_become_questions() {
    let ask = |line: &[&str]| {
        let oracle = Canned::friendly();
        check_code(oracle.clone(), line, 0);
        oracle.asked()
    };
    let entities = Question::Entities { scene: Some("the keep".into()), type_name: Some("orc".into()), limit: 3 };
    assert_eq!(ask(&["entities", "--scene", "the keep", "--type", "orc", "--limit", "3"]), [entities]);
    let spawn = Question::Spawn {
        type_name: "walker".into(),
        scene: "forest".into(),
        label: Some("w".into()),
        count: 3,
        data: Some(r#"{"walker":{"hp":5}}"#.into()),
        persist: None,
        player: PlayerId(9),
    };
    let data = r#"{"walker": {"hp": 5}}"#;
    assert_eq!(
        ask(&["spawn", "walker", "--scene", "forest", "--count", "3", "--label", "w", "--data", data, "--player", "9"]),
        [spawn]
    );
    let migrate = |entity: &str| Question::Migrate { entity: entity.into(), to: "harbor@n2".into(), timeout_ms: 500 };
    let line = ["migrate", "ann", "bob", "--to", "harbor@n2", "--timeout", "500ms"];
    assert_eq!(ask(&line), [migrate("ann"), migrate("bob")]);
}

#[test]
fn the_schema_is_that_of_the_node_where_one_is_named() {
    let live = Live::start(Canned::friendly());
    let at = live.at.to_string();
    let by_option = slipgate_in(&BTreeMap::new(), &["schema", "export", "--at", &at]);
    let by_environment = slipgate_in(&BTreeMap::from([("SLIPGATE_AT", at)]), &["schema", "export"]);
    for done in [by_option, by_environment] {
        assert_eq!((done.out.as_str(), done.code), ("component leaf  version 1\n", ExitCode::SUCCESS));
    }
    let of_this_program = slipgate_in(&BTreeMap::from([("SLIPGATE_AT", String::new())]), &["schema", "export"]);
    assert_eq!((of_this_program.out.contains("leaf"), of_this_program.code), (false, ExitCode::SUCCESS));
}

#[test]
fn many_messages_go_in_batches() {
    let oracle = Canned::friendly();
    let done = check_code(oracle.clone(), &["send", "ann", "step", "{\"x\":1}", "--count", "2500", "-o", "json"], 0);
    let questions = oracle.asked();
    let sizes = questions.iter().map(|question| {
        let Question::Send { messages, .. } = question else { panic!("{question:?}") };
        messages.len()
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [1024, 1024, 452]);
    let total: SendReport = serde_json::from_str(&done.out).expect("a report");
    assert_eq!(total.accepted, 2500);
}

#[test]
fn a_problem_says_what_happened_what_is_left_and_what_to_do() {
    let done = check_code(refusing(canned::refused()), &["show", "ann"], 4);
    assert_eq!(done.out, "");
    assert_eq!(done.err, "error: keep takes nobody\n  ann is still in forest on n1\n  try:  slipgate show ann\n");
}

#[test]
fn what_is_advised_names_the_program_that_was_run() {
    let live = Live::start(refusing(canned::refused()));
    let at = live.at.to_string();
    let arena = |line: &[&str]| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = std::iter::once("/opt/games/arena").chain(line.iter().copied()).map(OsString::from);
        let _ = run(args, &|name| (name == "SLIPGATE_AT").then(|| at.clone()), &mut out, &mut err);
        String::from_utf8([out, err].concat()).expect("text")
    };
    assert!(arena(&["show", "ann"]).ends_with("  try:  arena show ann\n"));
    let error: Value = serde_json::from_str(&arena(&["show", "ann", "-o", "json"])).expect("one object");
    assert_eq!(error["error"]["hint"], "arena show ann");
    assert!(arena(&["show"]).contains("Usage: arena show <ENTITY>"));
    let help = arena(&["send", "--help"]);
    assert!(help.contains("`arena schema export`") && !help.contains("slipgate schema"), "{help}");
    assert!(arena(&["completions", "bash"]).contains("_arena()"));
}

#[test]
fn each_kind_of_problem_ends_with_its_code() {
    let kinds = [
        (ProblemKind::Usage, 2),
        (ProblemKind::NotFound, 3),
        (ProblemKind::Refused, 4),
        (ProblemKind::Timeout, 5),
        (ProblemKind::Unavailable, 1),
        (ProblemKind::Unauthorized, 4),
    ];
    for (kind, code) in kinds {
        let done = check_code(refusing(Problem { kind, ..canned::refused() }), &["nodes", "-o", "json"], code);
        let value: Value = serde_json::from_str(&done.err).expect("one JSON object on stderr");
        assert_eq!((done.out.as_str(), &value["exit"]), ("", &code.into()));
    }
}

#[test]
fn a_move_ends_with_a_code_that_says_how() {
    let end = |result: &str, reason: Option<&str>, code| {
        let oracle = moving(|report| {
            report.result = result.into();
            report.reason = reason.map(Into::into);
            report.text = Some("the scene is full (3 of 3)".into());
            report.at = Some("forest@n1".into());
        });
        check_code(oracle, &["migrate", "ann", "--to", "harbor"], code)
    };
    assert!(end("ok", None, 0).out.starts_with("ann  forest@n1 -> harbor@n2  ok in 6.8 ms  paused 1.9 ms  412 B"));
    let refused = end("refused", Some("full"), 4);
    let expected = "error: ann may not move from forest@n1 to harbor@n2: the scene is full (3 of 3) (move 9f31)\n  \
                    ann is in forest@n1\n  try:  slipgate show 1.4      slipgate scenes\n";
    assert_eq!((refused.out.as_str(), refused.err.as_str()), ("", expected));
    end("failed", Some("timeout"), 5);
    assert!(end("failed", Some("undecided"), 5).err.starts_with("error: ann is still on its way from "));
    end("open", Some("undecided"), 5);
    end("failed", Some("node_lost"), 1);
}

#[test]
fn moves_that_fail_are_told_in_the_order_of_their_entities() {
    let oracle = Canned::by(|question| {
        let Question::Migrate { entity, .. } = question else { panic!("{question:?}") };
        let kind = if entity == "bob" { ProblemKind::NotFound } else { ProblemKind::Refused };
        match entity.as_str() {
            "ann" => Ok(Answer::Move(canned::moved())),
            _ => Err(Problem { kind, text: format!("no {entity}"), ..canned::refused() }),
        }
    });
    let done = check_code(oracle, &["migrate", "bob", "ann", "eve", "dan", "--to", "harbor"], 3);
    let errors: Vec<_> = done.err.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(errors, ["error: no bob", "error: no eve", "error: no dan"]);
    assert_eq!(done.out.lines().count(), 1);
}

#[test]
fn a_refused_move_is_still_data_in_json() {
    let oracle = moving(|report| report.result = "refused".into());
    let done = check_code(oracle, &["migrate", "ann", "--to", "harbor", "-o", "json"], 4);
    assert_eq!(serde_json::from_str::<Value>(&done.out).expect("a report")["result"], "refused");
    assert_eq!(serde_json::from_str::<Value>(&done.err).expect("an error")["exit"], 4);
}

#[test]
fn messages_that_did_not_all_go_end_with_a_code_that_says_why() {
    let busy = SendReport { accepted: 1, busy: 2, busy_at: vec![1, 2], ..SendReport::default() };
    check_code(sending(busy), &["send", "ann", "greet", "--count", "3"], 4);
    let dead = SendReport { accepted: 1, dead: 1, ..SendReport::default() };
    check_code(sending(dead), &["send", "ann", "greet"], 3);
    let failures = vec![Panicked { at: 0, why: "the handler of stumble panicked: ow".to_owned(), fate: Fate::Parked }];
    let failed = SendReport { accepted: 2, failed: 1, parked: 1, failures, ..SendReport::default() };
    let done = check_code(sending(failed), &["send", "ann", "stumble", "--count", "2"], 1);
    assert!(done.out.ends_with("dead 0  failed 1  parked 1\n"), "{}", done.out);
    assert_eq!(
        done.err,
        "error: 1 message to ann failed: the handler of stumble panicked: ow\n  what the handler had done \
         by then is done; ann is parked and takes no messages until it is unparked; 1 message behind that came to nothing\n  \
         try:  slipgate show ann      slipgate unpark ann\n"
    );
    let failures = vec![Panicked { at: 0, why: "ow".to_owned(), fate: Fate::Despawned }];
    let failed = SendReport { accepted: 1, failed: 1, failures, ..SendReport::default() };
    let done = check_code(sending(failed), &["send", "ann", "stumble", "--wait"], 1);
    assert!(done.err.contains("is done; ann is despawned, as [entities] on_panic of its node says\n"), "{}", done.err);
    let parked = SendReport { accepted: 1, parked: 1, ..SendReport::default() };
    assert!(check_code(sending(parked), &["send", "ann", "greet"], 4).err.contains("slipgate unpark ann"));
    let refusals = vec![NotTaken { at: 1, why: "it has none".to_owned() }];
    let refused = SendReport { accepted: 2, applied: 1, refused: 1, refusals, ..SendReport::default() };
    let done = check_code(sending(refused), &["send", "ann", "greet", "--count", "2", "--wait"], 4);
    assert!(done.err.contains("ann did not take 1 message: it has none\n  1 message was applied"), "{done:?}");
    let passed = SendReport { accepted: 1, passed: 1, ..SendReport::default() };
    let done = check_code(sending(passed), &["send", "ann", "greet", "--wait"], 1);
    assert!(done.err.contains("lost on the way"), "{done:?}");
    let lost = SendReport { accepted: 1, lost: 1, ..SendReport::default() };
    let done = check_code(sending(lost), &["send", "ann", "greet", "--wait"], 3);
    assert!(done.out.ends_with("dead 0  lost 1\n") && done.err.contains("lost with its node before\n"), "{done:?}");
    let open = SendReport { accepted: 1, open: 1, ..SendReport::default() };
    check_code(sending(open.clone()), &["send", "ann", "greet"], 0);
    check_code(sending(open), &["send", "ann", "greet", "--wait"], 5);
}

#[test]
fn of_several_spawns_those_that_were_made_are_listed_and_why_the_others_were_not_is_told() {
    let some = SomeSpawned { rows: vec![canned::row()], problem: canned::refused() };
    let oracle = || {
        Canned::by({
            let some = some.clone();
            move |_| Ok(Answer::SomeSpawned(some.clone()))
        })
    };
    let line = ["spawn", "walker", "--scene", "forest", "--count", "3"];
    let done = check_code(oracle(), &line, 4);
    assert_eq!((done.out.lines().count(), done.err.starts_with("error: keep takes nobody\n")), (2, true), "{done:?}");
    let done = check_code(oracle(), &[&line[..], &["-o", "json"]].concat(), 4);
    let row: Value = serde_json::from_str(&done.out).expect("one row");
    let error: Value = serde_json::from_str(&done.err).expect("one error");
    assert_eq!((&row["entity"], &error["error"]["reason"]), (&"1.4".into(), &"full".into()));
}

#[test]
fn an_answer_is_told_alone_and_its_absence_is_an_error() {
    assert_eq!(check_code(Canned::friendly(), &["ask", "ann", "hit"], 0).out, "7\n");
    let asked = |sent: SendReport| {
        let (entity, message, answer) = ("1.4".to_owned(), "hit".to_owned(), "null".to_owned());
        let why = Some("it is too large".to_owned());
        let report = AskReport { entity, message, sent, answered: false, answer, why };
        Canned::by(move |_| Ok(Answer::Asked(report.clone())))
    };
    let applied = SendReport { accepted: 1, applied: 1, ..SendReport::default() };
    let done = check_code(asked(applied), &["ask", "ann", "hit"], 1);
    let text = "error: ann has answered, and its answer cannot be had: it is too large\n  hit was applied\n";
    assert!(done.err.starts_with(text), "{done:?}");
    check_code(asked(SendReport { busy: 1, busy_at: vec![0], ..SendReport::default() }), &["ask", "ann", "hit"], 4);
    check_code(asked(SendReport { accepted: 1, open: 1, ..SendReport::default() }), &["ask", "ann", "hit"], 5);
}

#[test]
fn watch_tells_events_as_they_come() {
    let done = check_code(Canned::friendly(), &["watch", "moves", "--limit", "2"], 0);
    assert_eq!(done.out, "2026-01-01T12:00:05.111Z n1  move.ok          entity=1.4\n".repeat(2));
    check_code(Canned::friendly(), &["watch", "entity", "ann", "--limit", "1", "-o", "json"], 0);
}

#[test]
fn an_entity_is_watched_by_its_name_alone_unless_that_is_a_familys() {
    let asked = |line: &[&str]| {
        let oracle = Canned::friendly();
        check_code(oracle.clone(), &[line, &["--limit", "1"]].concat(), 0);
        oracle.asked().into_iter().find(|question| matches!(question, Question::Show { .. }))
    };
    let show = |entity: &str| Some(Question::Show { entity: entity.into() });
    assert_eq!(asked(&["watch", "ann"]), show("ann"));
    assert_eq!(asked(&["watch", "entity", "moves"]), show("moves"));
    assert_eq!(asked(&["watch", "moves"]), None);
    let gone = || refusing(Problem { kind: ProblemKind::NotFound, ..canned::refused() });
    assert!(check_code(gone(), &["watch", "mvoes"], 3).err.contains("slipgate watch --help"));
    for line in [&["watch", "entity"][..], &["watch", "moves", "ann"]] {
        let done = slipgate_in(&BTreeMap::new(), line);
        assert_eq!((done.code, done.err.contains("nothing was asked")), (ExitCode::from(2), true), "{done:?}");
    }
}

#[test]
fn health_is_0_or_10() {
    assert_eq!(check_code(Canned::friendly(), &["health"], 0).out, "n1 is ready\n");
    check_code(Canned::friendly(), &["health", "--live"], 0);
    check_code(refusing(canned::refused()), &["health", "--live"], 0);
    let done = check_code(refusing(canned::refused()), &["health", "--ready"], 10);
    assert_eq!(done.err, "error: n1 is not ready: keep takes nobody\n");
    let gone = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let done = slipgate_in(&BTreeMap::new(), &["health", "--at", &gone.to_string()]);
    assert_eq!(done.code, ExitCode::from(10), "{done:?}");
}

#[test]
fn where_nothing_answers_the_address_and_a_hint_are_told() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let done = slipgate_in(&BTreeMap::new(), &["status", "--at", &gone.to_string()]);
    assert_eq!(done.code, ExitCode::from(6));
    let expected = format!(
        "error: nothing answers at {gone} (connection refused)\n  is a node running there?\n  \
         try:  slipgate dev   or   docker-compose up\n"
    );
    assert_eq!(done.err, expected);
}

#[test]
fn an_option_wins_over_the_environment() {
    let live = Live::start(Canned::friendly());
    let env = BTreeMap::from([("SLIPGATE_AT", "127.0.0.1:1".to_owned())]);
    assert_eq!(slipgate_in(&env, &["nodes", "--at", &live.at.to_string()]).code, ExitCode::from(0));
}

#[test]
fn beyond_loopback_writes_need_the_token_and_reads_do_not() {
    let live = Live::start_wide(Some("secret"), Canned::friendly());
    let env =
        |token: &str| BTreeMap::from([("SLIPGATE_AT", live.at.to_string()), ("SLIPGATE_ADMIN_TOKEN", token.into())]);
    for write in WRITES {
        assert_eq!(slipgate_in(&env(""), write).code, ExitCode::from(4), "{write:?}");
        assert_eq!(slipgate_in(&env("wrong"), write).code, ExitCode::from(4), "{write:?}");
        assert_eq!(slipgate_in(&env("secret"), write).code, ExitCode::from(0), "{write:?}");
    }
    assert_eq!(slipgate_in(&env("wrong"), &["despawn", "ann", "--token", "secret"]).code, ExitCode::from(0));
    for read in READS {
        assert_eq!(slipgate_in(&env(""), read).code, ExitCode::from(0), "{read:?}");
    }
}

#[test]
fn without_a_configured_token_the_refusal_names_the_key() {
    let live = Live::start_wide(None, Canned::friendly());
    let env = BTreeMap::from([("SLIPGATE_AT", live.at.to_string()), ("SLIPGATE_ADMIN_TOKEN", "any".into())]);
    let done = slipgate_in(&env, &["despawn", "ann"]);
    assert!(done.err.contains("SLIPGATE__ADMIN__TOKEN") && done.err.contains("nothing was changed"), "{done:?}");
}

#[test]
fn a_stream_that_the_node_closes_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("an address").to_string();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a connection");
        assert!(io::Read::read(&mut socket, &mut [0; 1024]).expect("a request") > 0);
        socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").expect("an answer");
    });
    let done = slipgate_in(&BTreeMap::new(), &["watch", "--at", &at]);
    server.join().expect("served");
    assert_eq!((done.code, done.out.as_str()), (ExitCode::from(1), ""), "{done:?}");
}

#[test]
fn a_tour_prints_one_object_and_ends_with_what_it_found() {
    let done = check_code(crate::tour::world::oracle(4, crate::tour::world::Fault::None), &TOUR, 0);
    let object: Value = serde_json::from_str(&done.out).expect("one object");
    assert_eq!((&object["moves_ok"], &object["lost"]), (&20.into(), &0.into()));
    let done = check_code(crate::tour::world::oracle(4, crate::tour::world::Fault::Doubles), &TOUR, 1);
    assert_eq!(serde_json::from_str::<Value>(&done.out).expect("one object")["duplicated"], 1);
    assert!(done.err.contains("1 duplicated"), "{done:?}");
    check_code(crate::tour::world::oracle(1, crate::tour::world::Fault::None), &TOUR, 4);
}

const TOUR: [&str; 5] = ["tour", "--moves", "20", "-o", "json"];

#[test]
fn waiting_for_nodes_ends_when_they_are_ready_or_time_is_up() {
    check_code(Canned::friendly(), &["status", "--wait-nodes", "1"], 0);
    let done = check_code(Canned::friendly(), &["status", "--wait-nodes", "2", "--timeout", "1ms"], 5);
    assert!(done.err.starts_with("error: 1 of 2 nodes are ready after 1ms\n"), "{done:?}");
}

#[test]
fn wrong_usage_ends_with_2_and_reaches_nobody() {
    let lines: [&[&str]; 11] = [
        &["statsu"],
        &["status", "--wathc"],
        &["spawn", "walker"],
        &["spawn", "walker", "--scene", "forest", "--count", "0"],
        &["entities", "--limit", "10001"],
        &["send", "ann", "step", "{x:1}"],
        &["migrate", "--to", "harbor"],
        &["nodes", "-o", "yaml"],
        &["nodes", "--timeout", "10"],
        &["health", "--live", "--ready"],
        &["node", "--set", "name"],
    ];
    for line in lines {
        let done = slipgate_in(&BTreeMap::new(), line);
        assert_eq!(done.code, ExitCode::from(2), "{line:?}: {done:?}");
        assert!(done.out.is_empty() && !done.err.is_empty(), "{line:?}: {done:?}");
    }
}

#[test]
fn help_version_and_completions_are_data() {
    for line in [&["--help"][..], &["--version"], &["tour", "--help"], &["completions", "bash"]] {
        let done = slipgate_in(&BTreeMap::new(), line);
        assert_eq!(done.code, ExitCode::from(0), "{line:?}: {done:?}");
        assert!(!done.out.is_empty() && done.err.is_empty(), "{line:?}: {done:?}");
    }
}

#[test]
fn a_pipe_that_closes_early_is_no_failure() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let live = Live::start(Canned::friendly());
    let mut err = Vec::new();
    let args = ["slipgate", "entities", "--at", &live.at.to_string()].map(OsString::from);
    assert_eq!(run(args, &|_| None, &mut Closed, &mut err), ExitCode::from(0));
    assert!(err.is_empty());
}

#[test]
fn the_command_line_holds_together() {
    Cli::command().debug_assert();
}

#[test]
fn a_list_that_lacks_what_a_silent_node_has_is_told_and_is_no_success() {
    let rows = [
        (&["entities"][..], Rows::Entities(vec![canned::row()])),
        (&["moves"], Rows::Moves(vec![canned::moved()])),
        (&["entities", "--lost"], Rows::Lost(Vec::new())),
    ];
    for (line, rows) in rows {
        let partial = PartialList { rows, silent: vec!["n2".into(), "n3".into()] };
        let done = check_code(Canned::by(move |_| Ok(Answer::Partial(partial.clone()))), line, 5);
        assert!(done.out.lines().count() > usize::from(line.len() == 1), "{line:?}: {done:?}");
        assert!(done.err.starts_with("error: no answer from n2, n3\n  what is there is missing"), "{done:?}");
    }
}
