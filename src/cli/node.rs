//! `node`: runs one node in this process.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use slipgate_entity::game::Types;

use super::failure::{Exit, Failure};
use crate::node::{self, NodeError};

/// Options of `node`.
#[derive(Args, Clone, Debug)]
pub struct NodeArgs {
    /// The configuration; without it, the environment and --set alone
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A key and its value, over file and environment: --set node.name=n2
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
}

/// A configuration key with a value from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The key, with dots between its parts.
    pub key: String,
    /// The value as text.
    pub value: String,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self { key: key.into(), value: value.into() }),
            Some(_) | None => Err("write it as KEY=VALUE, such as node.name=n2".into()),
        }
    }
}

/// Overrides as pairs of key and value.
pub(super) fn overrides(set: &[Override]) -> Vec<(String, String)> {
    set.iter().map(|one| (one.key.clone(), one.value.clone())).collect()
}

/// Runs a node until it is told to stop.
///
/// # Errors
///
/// If it cannot start.
pub fn run(args: &NodeArgs) -> Result<ExitCode, Failure> {
    let types = Types::linked();
    let types = types.map_err(|faults| Failure::new(Exit::Failed, "types", faults.to_string()))?;
    node::run(args.config.clone(), &overrides(&args.set), types).map_err(|error| match error {
        NodeError::Config(_) => Failure::new(error.exit(), "config", error.to_string()),
        NodeError::Telemetry(_) => Failure::new(error.exit(), "node", error.to_string()),
        NodeError::NotJoined(_)
        | NodeError::Types(_)
        | NodeError::MissingTypes(_)
        | NodeError::Port { .. }
        | NodeError::Disk { .. }
        | NodeError::Store(_)
        | NodeError::Admin(_)
        | NodeError::Fault(_) => Failure::Logged(error.exit()),
    })
}
