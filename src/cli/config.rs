//! `config`: checks a configuration, or shows where its values come from.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::console::Console;
use super::failure::{Exit, Failure};
use super::globals::Format;
use super::node::{Override, overrides};
use crate::config::render::{self, Sources};
use crate::config::{self, Config};

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
pub fn run(command: &ConfigCommand, console: &mut Console<'_>) -> Result<(), Failure> {
    let source = match command {
        ConfigCommand::Check(source) | ConfigCommand::Show { source, .. } => source,
    };
    let loaded = Config::load(source.config.as_deref(), config::process_env(), &overrides(&source.set))
        .map_err(|errors| Failure::new(Exit::Usage, "config", errors.to_string()))?;
    match command {
        ConfigCommand::Check(_) => console.note("the configuration is in order"),
        ConfigCommand::Show { origin, .. } => {
            let sources = if *origin { Sources::Shown } else { Sources::Hidden };
            let text = match console.format() {
                Format::Json => render::json_lines(&loaded.origins),
                Format::Table => render::toml(&loaded.origins, sources),
            };
            console.raw(text.as_bytes())?;
        }
    }
    Ok(())
}
