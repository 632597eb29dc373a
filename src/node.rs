//! One node of a cluster: configuration, sockets, actors, and a clean end.

use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a node until it is told to stop.
///
/// `overrides` are configuration keys and values from the command line; they win over the file and
/// the environment.
///
/// # Errors
///
/// If the configuration is faulty, or the node cannot start.
pub fn run(config_path: Option<PathBuf>, overrides: Vec<(String, String)>) -> anyhow::Result<ExitCode> {
    let _ = (config_path, overrides);
    anyhow::bail!("this build has no node yet")
}
