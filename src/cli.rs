//! The command line: one binary is node, tool and health check.
//!
//! Keeps: stdout is data, everything else goes to stderr; exit codes are those of [`failure`]; a pipe
//! that is closed early is no failure.

pub mod ask;
pub mod config;
pub mod console;
pub mod dev;
pub mod drain;
pub mod failure;
pub mod globals;
pub mod health;
mod kept;
pub mod lists;
pub mod migrate;
pub mod node;
pub mod program;
pub mod scenes;
pub mod schema;
pub mod send;
pub mod show;
pub mod spawn;
pub mod status;
pub mod tour;
pub mod unpark;
mod usage;
pub mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use console::Console;
use failure::{Exit, Failure};
use globals::Globals;
use program::Program;

/// Entities that walk between scene servers without their players noticing.
#[derive(Parser, Clone, Debug)]
#[command(name = "slipgate", version, about, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Run one node
    Node(node::NodeArgs),
    /// Run a whole cluster on this machine
    Dev(dev::DevArgs),
    /// Move walkers around under fire, and count what came of it
    ///
    /// It ends early where the node that it asks is gone, or no move has ended for as long as --timeout says.
    Tour(tour::TourArgs),
    /// Tell how the cluster is
    Status(status::StatusArgs),
    /// List the nodes
    Nodes,
    /// List the scenes; make one, close one
    Scenes(scenes::ScenesArgs),
    /// List entities
    Entities(lists::EntitiesArgs),
    /// Tell everything about one entity
    Show(show::ShowArgs),
    /// Create entities
    Spawn(spawn::SpawnArgs),
    /// Send messages to an entity
    Send(send::SendArgs),
    /// Send a message to an entity, and tell what it answers
    Ask(ask::AskArgs),
    /// Move entities to another scene
    Migrate(migrate::MigrateArgs),
    /// Remove an entity for good
    Despawn(spawn::DespawnArgs),
    /// Let an entity go on that was parked since its handler panicked
    Unpark(unpark::UnparkArgs),
    /// Move everybody out of a node, and stop it
    Drain(drain::DrainArgs),
    /// List moves under way and the latest ended ones
    Moves(lists::MovesArgs),
    /// Tell events as they happen
    Watch(watch::WatchArgs),
    /// Check a node; ends with 0 or 10
    Health(health::HealthArgs),
    /// Check or show a configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print which entity types, components and messages there are
    #[command(subcommand)]
    Schema(schema::SchemaCommand),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Parses the arguments, does what they say, and returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let env = |name: &str| std::env::var(name).ok();
    run(args, &env, &mut io::stdout(), &mut io::stderr())
}

/// As [`main`], with its surroundings given.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    env: &dyn Fn(&str) -> Option<String>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = Program::of(&args);
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(stop) => return usage::explain(&stop, &args, &mut Console::new(&program, usage::wanted(&args), out, err)),
    };
    let mut console = Console::new(&program, cli.globals.output, out, err);
    let ended = dispatch(&cli, env, &mut console);
    ended.unwrap_or_else(|failure| {
        console.tell(&failure);
        failure.exit().into()
    })
}

fn dispatch(cli: &Cli, env: &dyn Fn(&str) -> Option<String>, console: &mut Console<'_>) -> Result<ExitCode, Failure> {
    let client = &cli.globals.client(env)?;
    match &cli.command {
        Command::Node(args) => return node::run(args),
        Command::Dev(args) => return dev::run(args, cli.globals.timeout, console),
        Command::Tour(args) => return tour::run(args, cli.globals.timeout, client, console),
        Command::Status(args) => status::run(args, client, console)?,
        Command::Nodes => lists::nodes(client, console)?,
        Command::Scenes(args) => scenes::run(args, client, console)?,
        Command::Entities(args) => lists::entities(args, client, console)?,
        Command::Show(args) => show::run(args, client, console)?,
        Command::Spawn(args) => spawn::spawn(args, client, console)?,
        Command::Send(args) => send::run(args, client, console)?,
        Command::Ask(args) => ask::run(args, client, console)?,
        Command::Migrate(args) => migrate::run(args, client, console)?,
        Command::Despawn(args) => spawn::despawn(args, client, console)?,
        Command::Unpark(args) => unpark::run(args, client, console)?,
        Command::Drain(args) => drain::run(args, cli.globals.timeout, client, console)?,
        Command::Moves(args) => lists::moves(args, client, console)?,
        Command::Watch(args) => watch::run(args, client, console)?,
        Command::Health(args) => health::run(*args, client, console)?,
        Command::Config(command) => config::run(command, console)?,
        Command::Schema(command) => schema::run(command, cli.globals.names_a_node(env).then_some(client), console)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), console.program().name(), &mut script);
            console.raw(&script)?;
        }
    }
    Ok(Exit::Done.into())
}

#[cfg(test)]
mod tests;
