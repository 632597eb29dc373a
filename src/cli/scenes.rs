//! `scenes`: lists them; makes one, closes one, while the cluster runs.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use slipgate_proto::admin::{Clearing, CloseReport, SceneReport};

use super::console::{Column, Console, number, printable, text};
use super::failure::{Exit, Failure};
use super::kept::{entity_count, with_kept};
use crate::admin::body::{CAPACITY_DEFAULT, CloseBody, OpenBody};
use crate::client::{Client, segment};

/// Options of `scenes`.
#[derive(Args, Clone, Debug)]
pub struct ScenesArgs {
    /// What to do with one; without it they are listed
    #[command(subcommand)]
    pub command: Option<ScenesCommand>,
}

/// What to do with a scene.
#[derive(Subcommand, Clone, Debug)]
pub enum ScenesCommand {
    /// Make a scene: a dungeon, an arena. It ends when it is closed, or with that life of its node
    Create(CreateArgs),
    /// Close a scene that was made at run time
    Close(CloseArgs),
}

/// Options of `scenes create`.
#[derive(Args, Clone, Debug)]
pub struct CreateArgs {
    /// Its name, unique in the cluster
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
    /// The node that is to have it [default: one that has scenes, and the fewest]
    #[arg(long, value_name = "NODE", value_parser = NonEmptyStringValueParser::new())]
    pub node: Option<String>,
    /// Entities it may hold
    #[arg(long, value_name = "COUNT", default_value_t = CAPACITY_DEFAULT, value_parser = clap::value_parser!(u32).range(1..))]
    pub capacity: u32,
}

/// Options of `scenes close`.
#[derive(Args, Clone, Debug)]
pub struct CloseArgs {
    /// Its name or number
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub scene: String,
    /// Move whoever is in it to other scenes; the default
    #[arg(long, conflicts_with = "despawn")]
    pub r#move: bool,
    /// Despawn whoever is in it
    #[arg(long)]
    pub despawn: bool,
    /// Wait until it is closed, or somebody could not move, as long as --timeout says
    #[arg(long)]
    pub wait: bool,
}

/// Does what is wanted.
///
/// # Errors
///
/// If there is no answer, or it is no.
pub fn run(args: &ScenesArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    match &args.command {
        None => {
            let scenes: Vec<SceneReport> = client.get("/api/v1/scenes")?;
            Ok(console.list(&scenes, &columns())?)
        }
        Some(ScenesCommand::Create(args)) => create(args, client, console),
        Some(ScenesCommand::Close(args)) => close(args, client, console),
    }
}

fn create(args: &CreateArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let CreateArgs { name, node, capacity } = args.clone();
    let body = OpenBody { name, node, capacity, timeout_ms: timeout_ms(client) };
    let scene: SceneReport = client.post("/api/v1/scenes", &body)?;
    Ok(console.list(&[scene], &columns())?)
}

fn close(args: &CloseArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let clearing = if args.despawn { Clearing::Despawn } else { Clearing::Move };
    let body = CloseBody { clearing, wait: args.wait, timeout_ms: timeout_ms(client) };
    let report: CloseReport = client.post(&format!("/api/v1/scenes/{}/close", segment(&args.scene)), &body)?;
    console.object(&report, || told(&report))?;
    let CloseReport { scene, state, left, .. } = &report;
    if !args.wait || state == CloseReport::CLOSED {
        return Ok(());
    }
    Err(Failure::new(Exit::Refused, "kept", printable(&format!("{} of {scene} could not move", entity_count(*left))))
        .with_state(printable(&format!("{scene} takes nobody in, and ends as soon as nobody is left in it")))
        .with_hint(printable(&format!(
            "slipgate scenes close {scene} --wait   once there is room      slipgate scenes close {scene} --despawn"
        ))))
}

fn timeout_ms(client: &Client) -> u64 {
    u64::try_from(client.timeout().as_millis()).unwrap_or(u64::MAX)
}

fn told(report: &CloseReport) -> String {
    let CloseReport { scene, node, state, moved, gone, left, kept_first } = report;
    let line = if state == CloseReport::CLOSED {
        format!("{scene}@{node} is closed: {moved} moved, {gone} gone otherwise")
    } else {
        format!("{scene}@{node} is closing: {moved} moved, {gone} gone otherwise, {left} left")
    };
    with_kept(&line, kept_first, *left)
}

fn columns() -> [Column<SceneReport>; 8] {
    [
        number("ID", |scene: &SceneReport| scene.id.to_string()),
        text("SCENE", |scene| scene.scene.clone()),
        text("NODE", |scene| scene.node.clone()),
        text("STATE", |scene| scene.state.clone()),
        number("ENTITIES", |scene| scene.entities.to_string()),
        number("CAPACITY", |scene| scene.capacity.to_string()),
        number("ARRIVING", |scene| scene.arriving.to_string()),
        number("LEAVING", |scene| scene.leaving.to_string()),
    ]
}
