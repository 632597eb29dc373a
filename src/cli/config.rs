//! `config`: checks a configuration, or shows where its values come from.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::console::Console;
use super::failure::{Exit, Failure};
use super::globals::Format;
use super::node::{Override, overrides};
use crate::config::render::{self, Sources};
use crate::config::{self, Config, Fault};

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

/// What `config check` finds, as JSON.
#[derive(Debug, Serialize)]
struct Verdict {
    ok: bool,
    faults: Vec<Found>,
}

/// One fault.
#[derive(Debug, Serialize)]
struct Found {
    place: String,
    line: Option<usize>,
    text: String,
    hint: Option<String>,
}

impl Verdict {
    fn on(faults: &[Fault]) -> Self {
        let found = |fault: &Fault| Found {
            place: fault.place(),
            line: fault.line(),
            text: fault.text().to_owned(),
            hint: fault.suggestion().map(ToOwned::to_owned),
        };
        Self { ok: faults.is_empty(), faults: faults.iter().map(found).collect() }
    }
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
    let loaded = Config::load(source.config.as_deref(), config::process_env(), &overrides(&source.set));
    if let ConfigCommand::Check(_) = command {
        let verdict = Verdict::on(loaded.as_ref().err().map_or(&[], |errors| errors.faults()));
        if verdict.ok || console.format() == Format::Json {
            console.object(&verdict, || "the configuration is in order".to_owned())?;
        }
    }
    let loaded = loaded.map_err(|errors| Failure::new(Exit::Usage, "config", errors.to_string()))?;
    match command {
        ConfigCommand::Check(_) => {}
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
