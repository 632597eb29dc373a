//! `spawn` and `despawn`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value};
use slipgate_entity::{PersistId, PlayerId};
use slipgate_proto::admin::EntityRow;

use super::console::{Console, printable};
use super::failure::Failure;
use super::lists::entity_columns;
use crate::admin::body::{SPAWN_MAX, SpawnBody};
use crate::client::{Client, segment};

/// Options of `spawn`.
#[derive(Args, Clone, Debug)]
pub struct SpawnArgs {
    /// Type of the entity, as it was registered; `slipgate schema export` has them
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// Name or number of the scene
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub scene: String,
    /// How many
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(SPAWN_MAX)))]
    pub count: u32,
    /// A name for people, which nobody else wears; with --count a number is appended
    #[arg(long)]
    pub label: Option<String>,
    /// What they begin with, as JSON: fields of parts, by the names of the parts
    #[arg(long, value_name = "JSON", value_parser = parts)]
    pub data: Option<Map<String, Value>>,
    /// Its number over restarts, a UUID, as a database knows it; a fresh one if left out
    #[arg(long, value_name = "UUID", value_parser = persist, conflicts_with = "count")]
    pub persist: Option<PersistId>,
    /// Number of the player that they belong to; 0 for none
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    pub player: u64,
}

/// Options of `despawn`.
#[derive(Args, Clone, Debug)]
pub struct DespawnArgs {
    /// An id, a unique prefix of one, or a unique label
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub entity: String,
}

/// Creates entities and lists them, also where not all came into being.
///
/// # Errors
///
/// If there is no answer, or the node does not spawn all of them.
pub fn spawn(args: &SpawnArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let SpawnArgs { type_name, scene, count, label, data, persist, player } = args.clone();
    let body = SpawnBody { type_name, scene, label, count, data, persist, player: PlayerId(player) };
    let (rows, problem) = client.spawn(&body)?;
    console.list(&rows, &entity_columns())?;
    problem.map_or(Ok(()), |problem| Err(problem.into()))
}

fn persist(text: &str) -> Result<PersistId, String> {
    text.parse().map(PersistId).map_err(|fault| format!("it is no UUID: {fault}"))
}

fn parts(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|fault| format!("it is no JSON object: {fault}"))
}

/// Removes an entity for good.
///
/// # Errors
///
/// If there is no answer, or no such entity.
pub fn despawn(args: &DespawnArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let timeout_ms = client.timeout().as_millis();
    let path = format!("/api/v1/entities/{}?timeout_ms={timeout_ms}", segment(&args.entity));
    let row: EntityRow = client.delete(&path)?;
    let name = row.label.as_ref().unwrap_or(&row.entity);
    Ok(console.object(&row, || printable(&format!("{name} is gone from {}@{}", row.scene, row.node)))?)
}
