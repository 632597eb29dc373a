//! `config`: checks a configuration, or shows where its values come from.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::console::Console;
use super::failure::{Exit, Failure};
use super::node::{Override, overrides};

/// What to do with a configuration.
#[derive(Subcommand, Clone, Debug)]
pub enum ConfigCommand {
    /// Tells every fault, or that there is none
    Check(SourceArgs),
    /// Prints the values that a node would use
    Show {
        /// The file and its overlays
        #[command(flatten)]
        source: SourceArgs,
        /// Also tell where each value comes from
        #[arg(long)]
        origin: bool,
    },
}

/// Where a configuration comes from.
#[derive(Args, Clone, Debug)]
pub struct SourceArgs {
    /// The file; without one, the environment and --set alone
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A key and its value, over file and environment
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
}

/// Checks or shows.
///
/// # Errors
///
/// If the configuration is faulty.
pub fn run(command: &ConfigCommand, _console: &mut Console<'_>) -> Result<(), Failure> {
    let source = match command {
        ConfigCommand::Check(source) | ConfigCommand::Show { source, .. } => source,
    };
    let _ = (&source.config, overrides(&source.set));
    Err(Failure::new(Exit::Failed, "no_config", "this build cannot read configurations yet"))
}
