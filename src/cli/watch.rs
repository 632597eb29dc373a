//! `watch`: events as they happen.

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;
use slipgate_proto::admin::{EntityReport, Event};

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use crate::client::{Client, segment};

/// What to watch; everything if left out.
#[derive(Subcommand, Clone, Debug)]
pub enum Watched {
    /// Moves alone
    Moves,
    /// Spawns, despawns, panics, and who was unparked after one, alone
    Entities,
    /// Nodes and links alone
    Nodes,
    /// What happens to one entity
    Entity {
        /// An id, a unique prefix of one, or a unique label
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        entity: String,
    },
}

/// Options of `watch`.
#[derive(clap::Args, Clone, Debug)]
pub struct WatchArgs {
    /// End after so many events
    #[arg(long, global = true, value_name = "N")]
    pub limit: Option<usize>,
    /// What to watch; everything if left out
    #[command(subcommand)]
    pub what: Option<Watched>,
}

/// Tells events until the node stops, or the limit is reached.
///
/// # Errors
///
/// If there is no answer, or the stream breaks.
pub fn run(args: &WatchArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let path = match &args.what {
        None => "/api/v1/events".into(),
        Some(Watched::Moves) => "/api/v1/events?what=moves".into(),
        Some(Watched::Entities) => "/api/v1/events?what=entities".into(),
        Some(Watched::Nodes) => "/api/v1/events?what=nodes".into(),
        Some(Watched::Entity { entity }) => {
            let report: EntityReport = client.get(&format!("/api/v1/entities/{}", segment(entity)))?;
            format!("/api/v1/events?entity={}", segment(&report.entity))
        }
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let mut told = 0;
    let events = client.events(&path)?;
    console.note(&format!("watching {}; stop with Ctrl-C", client.at()));
    for event in events.take(limit) {
        let event = event?;
        console.object(&event, || line(&event))?;
        told += 1;
    }
    if told == limit {
        return Ok(());
    }
    let text = format!("{} closed the stream of events", client.at());
    Err(Failure::new(Exit::Failed, "stream_ended", text).with_state("the node is stopping").with_hint("slipgate nodes"))
}

fn line(event: &Event) -> String {
    let fields = match serde_json::from_str(&event.fields) {
        Ok(Value::Object(fields)) => {
            let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            fields.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect::<Vec<_>>().join(" ")
        }
        Ok(_) | Err(_) => event.fields.clone(),
    };
    printable(&format!("{} {:<3} {:<16} {fields}", event.ts, event.node, event.event))
}
