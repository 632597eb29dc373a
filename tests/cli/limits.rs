//! One node of a configuration of its own: reachable beyond loopback, with a token, and with a tiny scene.

use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::dev_cluster::{Done, program, run};
use crate::process::Process;
use crate::reads::LIMIT;

const CONFIG: &str = r#"
[node]
name = "solo"
listen = "127.0.0.1:0"

[cluster]
name = "limits"

[manager]
node = "solo"

[[scenes]]
id = 1
name = "hall"
node = "solo"

[[scenes]]
id = 2
name = "cell"
node = "solo"
capacity = 1

[admin]
token = "open-sesame"
"#;

/// A node that listens on every address of this machine.
struct Solo {
    at: String,
    _process: Process,
    _folder: TempDir,
}

impl Solo {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<Solo> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("solo.toml");
        fs::write(&config, CONFIG).expect("a file");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a free port").port();
        let set = [
            format!("node.data={}", folder.path().display()),
            format!("admin.listen=0.0.0.0:{port}"),
            format!("admin.advertise=127.0.0.1:{port}"),
        ];
        let mut command = program();
        command.arg("node").arg("--config").arg(&config);
        command.args(set.iter().flat_map(|set| ["--set", set]));
        let process = Process::start(&mut command);
        let at = format!("127.0.0.1:{port}");
        process.await_line(LIMIT, |line| line.contains("\"event\":\"node.working\""));
        run(program().args(["status", "--wait-nodes", "1", "--at", &at])).ends(0);
        Self { at, _process: process, _folder: folder }
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = program();
        command.args(line).env("SLIPGATE_AT", &self.at);
        command
    }

    #[track_caller]
    fn without_token(&self, line: &[&str]) -> Done {
        run(&mut self.command(line))
    }

    #[track_caller]
    fn with_token(&self, line: &[&str]) -> Done {
        run(self.command(line).env("SLIPGATE_ADMIN_TOKEN", "open-sesame"))
    }
}

#[test]
fn beyond_loopback_writes_need_the_token_and_reads_stay_open() {
    let solo = Solo::shared();
    let refused = |text: &str| {
        format!(
            "error: {text}\n  nothing was changed\n  try:  pass --token or set SLIPGATE_ADMIN_TOKEN; over HTTP send \
             `Authorization: Bearer TOKEN`\n"
        )
    };
    let writes: [&[&str]; 4] = [
        &["spawn", "walker", "--scene", "hall"],
        &["send", "x", "hit", r#"{"hp":1}"#],
        &["migrate", "x", "--to", "cell"],
        &["despawn", "x"],
    ];
    for write in writes {
        solo.without_token(write).fails(4, &refused("writes need a token here, and none was given"));
        let wrong = run(solo.command(write).args(["--token", "guess"]));
        wrong.fails(4, &refused("the token is wrong"));
    }
    let reads: [&[&str]; 6] = [&["status"], &["nodes"], &["scenes"], &["entities"], &["moves"], &["health"]];
    reads.iter().for_each(|read| drop(solo.without_token(read).ends(0)));

    solo.with_token(&["spawn", "walker", "--scene", "hall", "--label", "by-env"]).ends(0);
    let flag = ["despawn", "by-env", "--token", "open-sesame"];
    assert_eq!(solo.without_token(&flag).ends(0).out, "by-env is gone from hall@solo\n");
}

#[test]
fn the_token_is_in_no_dump() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("solo.toml");
    fs::write(&config, CONFIG).expect("a file");
    for format in ["table", "json"] {
        let done = run(program().args(["config", "show", "--origin", "-o", format, "--config"]).arg(&config)).ends(0);
        assert!(done.out.contains("token") && !done.out.contains("open-sesame"), "{done:?}");
    }
}

#[test]
fn a_full_scene_refuses_and_the_entity_stays() {
    let solo = Solo::start();
    solo.with_token(&["spawn", "walker", "--scene", "cell", "--label", "inmate"]).ends(0);
    solo.with_token(&["spawn", "walker", "--scene", "cell"])
        .fails(4, "error: cell: the scene is full (1 of 1)\n  nothing was spawned\n  try:  slipgate scenes\n");
    solo.with_token(&["despawn", "inmate"]).ends(0);
    let some = solo.with_token(&["spawn", "walker", "--scene", "cell", "--label", "mate", "--count", "3"]).ends(4);
    let row = some.out.lines().nth(1).unwrap_or_default();
    let (id, _) = row.split_once(' ').expect("an id");
    assert!(row.contains("  mate1  ") && some.out.lines().count() == 2, "{some:?}");
    let error = "error: cell: the scene is full (1 of 1)\n  1 of 3 were spawned: ";
    assert_eq!(some.err, format!("{error}{id}\n  try:  slipgate scenes\n"));
    solo.with_token(&["spawn", "walker", "--scene", "hall", "--label", "visitor"]).ends(0);
    let done = solo.with_token(&["migrate", "visitor", "--to", "cell"]).ends(4);
    let start = "error: visitor may not move from hall@solo to cell@solo: the scene is full (1 of 1) (move ";
    assert!(done.err.starts_with(start), "{done:?}");
    assert!(done.err.contains(")\n  visitor is in hall@solo\n  try:  slipgate show "), "{done:?}");
    let told = solo.with_token(&["migrate", "visitor", "--to", "cell", "-o", "json"]).ends(4).object();
    assert_eq!((&told["reason"], &told["at"]), (&"full".into(), &"hall@solo".into()));
    solo.with_token(&["send", "visitor", "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
}

#[test]
fn a_prefix_that_only_one_has_names_it() {
    let solo = Solo::start();
    solo.with_token(&["spawn", "walker", "--scene", "hall", "--label", "only"]).ends(0);
    for prefix in ["1", "1."] {
        let sent = solo.with_token(&["send", prefix, "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
        assert_eq!(sent.out, "accepted 1  applied 1  open 0  busy 0  dead 0\n");
    }
    assert!(solo.without_token(&["show", "1."]).ends(0).out.contains("\nlabel    only\n"));
}

#[test]
fn the_id_of_a_dead_entity_is_no_prefix_of_the_living() {
    let solo = Solo::start();
    let spawn = ["spawn", "walker", "--scene", "hall", "--count", "11", "-o", "json"];
    let spawned = solo.with_token(&spawn).ends(0).objects();
    assert_eq!([&spawned[1]["entity"], &spawned[10]["entity"]], ["1.1", "1.10"]);
    solo.with_token(&["despawn", "1.1"]).ends(0);
    for line in [&["despawn", "1.1"][..], &["show", "1.1"], &["migrate", "1.1", "--to", "cell"]] {
        assert!(solo.with_token(line).ends(3).err.starts_with("error: 1.1 is gone: "), "{line:?}");
    }
    assert!(solo.without_token(&["show", "1.10"]).ends(0).out.contains("\nstate    active\n"));
}

#[test]
fn a_second_node_at_the_same_port_says_which_key_to_change() {
    let solo = Solo::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("solo.toml");
    fs::write(&config, CONFIG).expect("a file");
    let set = [format!("node.data={}", folder.path().display()), format!("admin.listen={}", solo.at)];
    let mut command = program();
    command.arg("node").arg("--config").arg(&config);
    command.args(set.iter().flat_map(|set| ["--set", set]));
    let done = run(&mut command).ends(1);
    let text = format!("the admin interface cannot listen at {}: ", solo.at);
    assert!(done.err.contains(&text) && done.err.contains("set [admin] listen"), "{done:?}");
}
