//! `nodes`, `entities`, `moves`: one line for each.

use clap::Args;
use slipgate_proto::admin::{EntityRow, LostRow, MoveReport, NodeReport};

use super::console::{Column, Console, micros, number, or_dash, printable, text};
use super::failure::{Exit, Failure};
use crate::admin::body::{ENTITIES_MAX, MOVES_MAX};
use crate::client::{Client, segment};

/// Options of `entities`.
#[derive(Args, Clone, Debug)]
pub struct EntitiesArgs {
    /// Only those of the scene with this name or number
    #[arg(long, value_name = "SCENE")]
    pub scene: Option<String>,
    /// Only those of the type with this name, or of one below it
    #[arg(long = "type", value_name = "TYPE")]
    pub type_name: Option<String>,
    /// Those that were lost with their nodes, latest first, in place of those that live
    #[arg(long, conflicts_with_all = ["scene", "type_name"])]
    pub lost: bool,
    /// At most so many
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=i64::from(ENTITIES_MAX)))]
    pub limit: u32,
}

/// Options of `moves`.
#[derive(Args, Clone, Debug)]
pub struct MovesArgs {
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOVES_MAX)))]
    pub limit: u32,
}

/// Lists the nodes.
///
/// # Errors
///
/// If there is no answer.
pub fn nodes(client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let nodes: Vec<NodeReport> = client.get("/api/v1/nodes")?;
    Ok(console.list(&nodes, &node_columns())?)
}

/// Lists entities.
///
/// # Errors
///
/// If there is no answer.
pub fn entities(args: &EntitiesArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    if args.lost {
        return lost(args, client, console);
    }
    let scene = args.scene.as_ref().map(|scene| format!("&scene={}", segment(scene))).unwrap_or_default();
    let kind = args.type_name.as_ref().map(|name| format!("&type={}", segment(name))).unwrap_or_default();
    let (rows, silent) = client.list::<EntityRow>(&format!("/api/v1/entities?limit={}{scene}{kind}", args.limit))?;
    console.list(&rows, &entity_columns())?;
    if rows.len() == args.limit as usize {
        console.note(&format!("there may be more than these {}; see --limit, --scene and --type", args.limit));
    }
    whole(&silent)
}

/// A list is told as far as it goes; that it lacks something is told after it.
fn whole(silent: &[String]) -> Result<(), Failure> {
    if silent.is_empty() {
        return Ok(());
    }
    let who = printable(&silent.join(", "));
    Err(Failure::new(Exit::Timeout, "silent", format!("no answer from {who}"))
        .with_state("what is there is missing from the list")
        .with_hint("slipgate nodes"))
}

fn lost(args: &EntitiesArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let (rows, silent) = client.list::<LostRow>(&format!("/api/v1/lost?limit={}", args.limit))?;
    let columns = [
        text("ENTITY", |row: &LostRow| row.entity.clone()),
        text("LABEL", |row| or_dash(row.label.as_deref())),
        text("SCENE", |row| row.scene.clone()),
        text("NODE", |row| row.node.clone()),
        number("LIFE", |row| row.incarnation.to_string()),
    ];
    console.list(&rows, &columns)?;
    whole(&silent)
}

/// Lists moves, newest first.
///
/// # Errors
///
/// If there is no answer.
pub fn moves(args: &MovesArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let (moves, silent) = client.list::<MoveReport>(&format!("/api/v1/moves?limit={}", args.limit))?;
    let columns = [
        text("MOVE", |one: &MoveReport| one.id.clone()),
        text("ENTITY", |one| one.label.as_ref().unwrap_or(&one.entity).clone()),
        text("FROM", |one| one.from.clone()),
        text("TO", |one| one.to.clone()),
        text("RESULT", |one| one.result.clone()),
        text("REASON", |one| or_dash(one.reason.as_deref())),
        number("TOTAL", |one| micros(one.cost.total_us)),
        number("PAUSED", |one| micros(one.cost.pause_us)),
        number("HELD", |one| one.cost.held.to_string()),
        number("EPOCH", |one| one.epoch.to_string()),
    ];
    console.list(&moves, &columns)?;
    whole(&silent)
}

/// Columns of a list of nodes.
pub(super) fn node_columns() -> [Column<NodeReport>; 10] {
    [
        text("NODE", |node: &NodeReport| node.node.clone()),
        text("STATE", state_of),
        number("SCENES", |node| node.scenes.to_string()),
        number("ENTITIES", |node| node.entities.to_string()),
        number("MOVES OK", |node| node.moves_ok.to_string()),
        number("REFUSED", |node| node.moves_refused.to_string()),
        number("FAILED", |node| node.moves_failed.to_string()),
        number("WAITING", |node| node.waiting.to_string()),
        number("UPTIME", |node| format!("{} s", node.uptime_s)),
        text("ADMIN", |node| node.admin.clone()),
    ]
}

/// Its state; of one that drains, how far it is, or that somebody is left who could not move.
fn state_of(node: &NodeReport) -> String {
    match node.drain_percent {
        Some(100) if node.entities > 0 => "drain kept".to_owned(),
        Some(percent) => format!("drain {percent}%"),
        None => node.state.clone(),
    }
}

/// Columns of a list of entities.
pub(super) fn entity_columns() -> [Column<EntityRow>; 7] {
    [
        text("ENTITY", |row: &EntityRow| row.entity.clone()),
        text("TYPE", |row| row.type_name.clone()),
        text("LABEL", |row| or_dash(row.label.as_deref())),
        text("SCENE", |row| row.scene.clone()),
        text("NODE", |row| row.node.clone()),
        text("STATE", |row| row.state.clone()),
        number("EPOCH", |row| row.epoch.to_string()),
    ]
}
