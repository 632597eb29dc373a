//! The node program with fail points: built for this test, beside the one that is shipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::run_well;

/// Builds it and gives its path. What this test was built from is not built again, but for what has fail points in it.
pub(crate) fn build() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let target = test.ancestors().nth(3).expect("target/debug/deps");
    let mut build = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    build.args(["build", "--offline", "--locked", "--features", "fail-points", "--bin", "slipgate-fail-points"]);
    build.arg("--manifest-path").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    build.arg("--target-dir").arg(target);
    run_well(&mut build, BUILD);
    target.join("debug/slipgate-fail-points")
}

/// Whether somebody who has this program could hold it at a step.
pub(crate) fn has_fail_points(program: &Path) -> bool {
    let bytes = std::fs::read(program).expect("a program");
    // A name of a step that is found nowhere else, and the first word of the strings.
    [&b"reserved.arrived"[..], b"SLIPGATE_FAIL_POINTS"]
        .iter()
        .any(|trace| bytes.windows(trace.len()).any(|window| window == *trace))
}

/// Long enough for a machine that has to build all of it, and does other things.
const BUILD: Duration = Duration::from_mins(20);
