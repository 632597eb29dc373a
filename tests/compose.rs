//! Three containers that move entities between them, as `docker-compose up` starts them.
//!
//! The program is built as one static binary and put into an image without anything else, so neither
//! a registry nor a base image is needed; the compose file is used as it stands. Without a Docker
//! engine the test says so and is skipped; with `SLIPGATE_REQUIRE_DOCKER=1` that is a failure.

#[path = "support/command.rs"]
mod command;
#[path = "support/engine.rs"]
mod engine;
#[path = "support/move_lines.rs"]
mod move_lines;
#[path = "support/patience.rs"]
mod patience;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use command::run_well;
use engine::{Image, Project, compose_program};
use move_lines::{check, object};
use patience::until;

const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// From nothing to three healthy nodes: the promise is 15 s on an idle machine.
const UP: Duration = Duration::from_secs(90);

/// For the tour of 60 moves: seconds on an idle machine.
const TOUR: Duration = Duration::from_secs(120);

/// Compose promises that all is gone within this time.
const DOWN: Duration = Duration::from_secs(10);

/// The times above are for one set of containers on the machine.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn three_containers_tell_every_move_between_them_and_stop_cleanly() {
    let _alone = ONE_AT_A_TIME.lock();
    let Some((_image, project)) = project("all") else { return };
    project.compose(&["up", "-d", "--no-build"], UP);
    for node in NODES {
        assert_eq!(project.inspect(node, "{{.State.Health.Status}}"), "healthy", "{node}\n{}", project.logs());
    }
    assert_eq!(project.exit_code("tour", TOUR), "0", "the tour failed\n{}", project.logs());

    let began = Instant::now();
    project.compose(&["stop"], UP);
    let stopped = began.elapsed();
    let logs = project.logs();
    for node in NODES {
        assert_eq!(project.inspect(node, "{{.State.ExitCode}}"), "0", "{node} did not stop cleanly\n{logs}");
    }
    let began = Instant::now();
    project.compose(&["down", "-v"], UP);
    let down = stopped + began.elapsed();
    assert!(down < DOWN, "to stop and to remove all took {down:?}");
    check_logs(&logs);
}

#[test]
fn a_container_that_is_stopped_during_a_tour_is_emptied_first_and_nothing_is_lost() {
    let _alone = ONE_AT_A_TIME.lock();
    let Some((_image, project)) = project("one") else { return };
    project.compose(&["up", "-d", "--no-build", "n1", "n2", "n3"], UP);
    // It waits for all nodes to be healthy, and takes the place of the shorter tour of that service.
    let tour = project.run("tour", &["tour", "--at", "n1:7780", "--moves", "1500", "-o", "json"], UP);
    let has_left = |line: &str| line.starts_with("n2") && line.contains("\"move.ok\"");
    until(TOUR, "a walker has left n2", || {
        let logs = project.logs();
        if logs.lines().any(has_left) { Ok(()) } else { Err(logs) }
    });
    project.compose(&["stop", "n2"], UP);
    assert_eq!(project.inspect("n2", "{{.State.ExitCode}}"), "0", "n2 did not stop cleanly\n{}", project.logs());

    let (exit, told) = tour.end(TOUR);
    assert_eq!(exit, "0", "{told}\n{}", project.logs());
    let summary = told.lines().find_map(object).expect("the summary is an object");
    for nothing in ["lost", "unknown", "duplicated", "reordered", "twins", "walkers_lost", "moves_unanswered"] {
        assert_eq!(summary[nothing], 0, "{nothing}: {told}");
    }
    assert_ne!(summary["moves_refused"], 0, "the tour was over before n2 was: {told}");
    project.compose(&["stop"], UP);
    let logs = project.logs();
    check_lines(&logs);
    let drained = logs.lines().filter(|line| line.starts_with("n2")).find(|line| line.contains("\"node.drained\""));
    let drained = drained.and_then(object).expect("n2 says that it has drained");
    assert_eq!((&drained["kept"], &drained["homes_left"]), (&0.into(), &0.into()), "{drained:?}");
    check(logs.lines(), &[]).unwrap_or_else(|wrong| panic!("moves are not told in full: {wrong:#?}"));
}

/// An image, and a project of its own that runs it; none where there is no engine.
fn project(name: &str) -> Option<(Image, Project)> {
    let Some(program) = compose_program() else {
        eprintln!("skipped: no Docker engine with compose answers (SLIPGATE_REQUIRE_DOCKER=1 makes this a failure)");
        return None;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = format!("slipgate-test-{name}-{}", process::id());
    let image = image(root, format!("{name}:latest"));
    let project = Project::new(program, name, root, &image);
    Some((image, project))
}

/// Every line of a node is an object, none is above INFO, every move is told, and moves went from
/// each node to each other.
fn check_logs(logs: &str) {
    check_lines(logs);
    let told = check(logs.lines(), &[]).unwrap_or_else(|wrong| panic!("moves are not told in full: {wrong:#?}"));
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let all = NODES.iter().flat_map(|from| NODES.iter().filter(move |to| *to != from).map(move |to| pair(from, to)));
    let unseen: BTreeSet<_> = all.filter(|pair| !told.pairs.contains(pair)).collect();
    assert!(unseen.is_empty(), "no move went between {unseen:?}: {told}");
}

/// Every line of a node is an object, and none is above INFO.
fn check_lines(logs: &str) {
    let of_nodes = || logs.lines().filter(|line| NODES.iter().any(|node| line.starts_with(node)));
    let prose: Vec<&str> = of_nodes().filter(|line| object(line).is_none()).collect();
    assert!(prose.is_empty(), "nodes wrote lines that are no JSON objects: {prose:#?}");
    let is_loud =
        |line: &&str| object(line).is_some_and(|object| object["level"] == "WARN" || object["level"] == "ERROR");
    let loud: Vec<&str> = of_nodes().filter(is_loud).collect();
    assert!(loud.is_empty(), "an undisturbed cluster has nothing to warn about: {loud:#?}");
}

/// The image that compose would build, from a static binary and nothing else.
fn image(root: &Path, tag: String) -> Image {
    let context = tempfile::tempdir().expect("a folder for the context");
    fs::copy(static_binary(root), context.path().join("slipgate")).expect("the binary can be copied");
    fs::create_dir(context.path().join("data")).expect("a folder for data");
    Image::build(tag, &root.join("deploy/Dockerfile.prebuilt"), context.path())
}

/// Builds the program so that it runs where there is no other file.
fn static_binary(root: &Path) -> PathBuf {
    const BUILD: Duration = Duration::from_secs(1500);
    let rustc = run_well(Command::new("rustc").arg("-vV").current_dir(root), BUILD);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("static");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--locked", "--bin", "slipgate", "--target", host]).current_dir(root);
    build.arg("--target-dir").arg(&folder);
    build.env("RUSTFLAGS", "-C target-feature=+crt-static").env_remove("CARGO_ENCODED_RUSTFLAGS");
    build.env("CARGO_PROFILE_DEV_DEBUG", "none").env("CARGO_PROFILE_DEV_STRIP", "symbols");
    run_well(&mut build, BUILD);
    folder.join(host).join("debug").join("slipgate")
}
