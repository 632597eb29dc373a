//! A crate outside the workspace that depends on `slipgate` alone builds, has its types, and runs its game: tea is
//! ordered, boils by a timer, and comes to a guest on another node. Its own tests run in simulated clusters.
//!
//! It is copied out of the repository and built with the workspace's lock file and into its target folder: what is built
//! there already is not built again, and nothing is downloaded.

#[path = "support/command.rs"]
mod command;
#[path = "support/patience.rs"]
mod patience;
#[expect(dead_code, reason = "this test needs one that runs and ends")]
#[path = "support/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::process::Process;

#[test]
fn a_game_of_its_own_builds_and_runs_with_slipgate_as_its_only_dependency() {
    let program = build();
    let json = |arguments: &[&str]| -> Value {
        let told = command::run_well(Command::new(&program).args(arguments).args(["-o", "json"]), RUN);
        serde_json::from_str(&told).expect("one object")
    };

    let schema = json(&["schema", "export"]);
    let types = schema["types"].as_array().expect("a list").iter().map(|kind| kind["name"].as_str());
    let types: Vec<_> = types.collect();
    assert!(types.contains(&Some("kettle")) && types.contains(&Some("guest")), "{types:?}");

    let mut dev = Command::new(&program);
    let mut dev = Process::start(dev.args(["dev", "--game", "teahouse", "--nodes", "2", "--base-port", "0"]));
    dev.await_line(RUN, |line| line.starts_with("teahouse: "));
    let first = dev.await_line(RUN, |line| line.starts_with(ADMIN));
    let admin = first[ADMIN.len()..].split(' ').next().expect("an address");
    let body = |who: &str| json(&["show", who, "--at", admin])["body"].clone();

    let guest = json(&["show", "guest", "--at", admin])["entity"].clone();
    let order = json!({ "cups": 2, "guest": guest }).to_string();
    let sent = json(&["send", "kettle", "order", &order, "--wait", "--at", admin]);
    assert_eq!(sent["applied"], 1, "{sent}");
    let served = || if body("guest")["own"]["cups"] == 2 { Ok(()) } else { Err(body("guest")) };
    patience::until(RUN, "the tea", served);
    let kettle = body("kettle");
    assert_eq!((&kettle["own"]["poured"], &kettle["components"]["warmth"]["degrees"]), (&json!(2), &json!(90)));

    dev.signal(Signal::TERM);
    assert_eq!(dev.wait(RUN).code(), Some(0), "{}", dev.lines().join("\n"));
}

#[test]
fn its_own_tests_run_in_simulated_clusters_with_no_other_dependency() {
    let told = command::run_well(cargo("test").arg("--quiet"), BUILD);
    assert!(told.contains("1 passed; 0 failed"), "{told}");
}

/// Builds it and gives its program.
fn build() -> PathBuf {
    command::run_well(&mut cargo("build"), BUILD);
    target().join("debug/teahouse")
}

/// Cargo, asked to do something with the copy.
fn cargo(what: &str) -> Command {
    let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    command.args([what, "--offline", "--manifest-path"]).arg(COPY.join("Cargo.toml"));
    command.arg("--target-dir").arg(target());
    command
}

static COPY: LazyLock<PathBuf> = LazyLock::new(copy);

/// Copies it out of the repository.
fn copy() -> PathBuf {
    let (root, target) = (Path::new(env!("CARGO_MANIFEST_DIR")), target());
    let (here, copy) = (root.join("tests/outside"), target.join("outside"));
    fs::create_dir_all(copy.join("src")).expect("a folder");
    let manifest = fs::read_to_string(here.join("Cargo.toml")).expect("its manifest");
    let manifest = manifest.replace("path = \"../..\"", &format!("path = {:?}", root.display().to_string()));
    fs::write(copy.join("Cargo.toml"), manifest).expect("written");
    fs::copy(here.join("src/main.rs"), copy.join("src/main.rs")).expect("copied");
    // Without the packages that it does not need, the lock file is good as it is.
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).expect("copied");
    copy
}

/// The folder that this test was built into.
fn target() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    test.ancestors().nth(3).expect("target/debug/deps").to_owned()
}

/// Long enough for a machine that has to build all of it, and does other things.
const BUILD: Duration = Duration::from_mins(20);
const RUN: Duration = Duration::from_mins(1);
/// What stands before the address of the first node.
const ADMIN: &str = "n1  admin http://";
