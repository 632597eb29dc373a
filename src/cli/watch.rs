//! `watch`: events as they happen.

use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;
use slipgate_proto::admin::{EntityReport, Event};

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use crate::admin::body::Family;
use crate::client::{Client, segment};

/// Options of `watch`.
#[derive(clap::Args, Clone, Debug)]
pub struct WatchArgs {
    /// What to watch; everything if left out
    ///
    /// `moves`; `entities`: spawns, despawns, panics, who was unparked after one, who was lost; `nodes`: nodes, links, leases,
    /// verdicts, homes and who was lost with a node; `scenes`; or one entity, by id, unique prefix or unique label.
    #[arg(value_name = "moves|entities|nodes|scenes|ENTITY", value_parser = NonEmptyStringValueParser::new())]
    pub what: Option<String>,
    /// After the word `entity`: one that is called as something else that can be watched
    #[arg(value_name = "ENTITY", value_parser = NonEmptyStringValueParser::new())]
    pub entity: Option<String>,
    /// End after so many events
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched<'a> {
    All,
    Family(Family),
    Entity(&'a str),
}

impl WatchArgs {
    fn watched(&self) -> Result<Watched<'_>, Failure> {
        let wrong = |text: String| {
            Failure::new(Exit::Usage, "command_line", text)
                .with_state("nothing was asked")
                .with_hint("slipgate watch --help")
        };
        match (self.what.as_deref(), self.entity.as_deref()) {
            (None, _) => Ok(Watched::All),
            (Some("entity"), Some(entity)) => Ok(Watched::Entity(entity)),
            (Some("entity"), None) => Err(wrong("which entity is to be watched?".to_owned())),
            (Some(what), Some(more)) => Err(wrong(format!("one thing is watched at a time, not {what} and {more}"))),
            (Some(what), None) => Ok(family(what).map_or(Watched::Entity(what), Watched::Family)),
        }
    }
}

fn family(what: &str) -> Option<Family> {
    match what {
        "moves" => Some(Family::Moves),
        "entities" => Some(Family::Entities),
        "nodes" => Some(Family::Nodes),
        "scenes" => Some(Family::Scenes),
        _ => None,
    }
}

/// Tells events until the node stops, or the limit is reached.
///
/// # Errors
///
/// If there is no answer, or the stream breaks.
pub fn run(args: &WatchArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let path = match args.watched()? {
        Watched::All => "/api/v1/events".into(),
        Watched::Family(Family::Moves) => "/api/v1/events?what=moves".into(),
        Watched::Family(Family::Entities) => "/api/v1/events?what=entities".into(),
        Watched::Family(Family::Nodes) => "/api/v1/events?what=nodes".into(),
        Watched::Family(Family::Scenes) => "/api/v1/events?what=scenes".into(),
        Watched::Entity(entity) => {
            let found = client.get::<EntityReport>(&format!("/api/v1/entities/{}", segment(entity)));
            let report = found.map_err(|error| match Failure::from(error) {
                // A family that is misspelt is taken for an entity.
                failure if failure.exit() == Exit::NotFound => {
                    failure.with_hint("slipgate entities      slipgate watch --help")
                }
                failure => failure,
            })?;
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
