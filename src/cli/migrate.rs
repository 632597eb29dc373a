//! `migrate`: moves entities, one after the other.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use slipgate_proto::admin::{CompanionRow, MoveReport};

use super::console::{Console, micros, printable};
use super::failure::{Exit, Failure};
use super::globals::Format;
use crate::admin::body::MoveBody;
use crate::client::{Client, segment};

/// Options of `migrate`.
#[derive(Args, Clone, Debug)]
pub struct MigrateArgs {
    /// Ids, unique prefixes of ids, or unique labels
    #[arg(required = true, value_name = "ENTITY", value_parser = NonEmptyStringValueParser::new())]
    pub entities: Vec<String>,
    /// Name or number of the scene, optionally with its node
    #[arg(long, value_name = "SCENE[@NODE]", value_parser = NonEmptyStringValueParser::new())]
    pub to: String,
}

/// Moves each entity and tells how that went, in the order in which they were named; ends as the first one that failed,
/// after all were tried.
///
/// # Errors
///
/// If there is no answer, or a move did not end well.
pub fn run(args: &MigrateArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let mut first = None;
    for entity in &args.entities {
        let Err(failure) = migrate(entity, &args.to, client, console) else { continue };
        if let Failure::PipeClosed = failure {
            return Err(failure);
        }
        console.tell(&failure);
        first.get_or_insert(failure.exit());
    }
    first.map_or(Ok(()), |exit| Err(Failure::Logged(exit)))
}

fn migrate(entity: &str, to: &str, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let timeout_ms = u64::try_from(client.timeout().as_millis()).unwrap_or(u64::MAX);
    let body = MoveBody { to: to.into(), timeout_ms };
    let report: MoveReport = client.post(&format!("/api/v1/entities/{}/moves", segment(entity)), &body)?;
    let exit = exit_of(&report);
    if exit == Exit::Done {
        return Ok(console.object(&report, || lines(&report))?);
    }
    if console.format() == Format::Json {
        console.object(&report, String::new)?;
    }
    Err(failure(exit, &report))
}

/// What the exit code says about a move.
pub(super) fn exit_of(report: &MoveReport) -> Exit {
    match (report.result.as_str(), report.reason.as_deref()) {
        ("ok", _) => Exit::Done,
        ("refused", _) => Exit::Refused,
        ("open", _) | ("failed", Some("timeout" | "undecided")) => Exit::Timeout,
        (_, _) => Exit::Failed,
    }
}

fn lines(report: &MoveReport) -> String {
    let along = report.companions.iter().map(|row| {
        let CompanionRow { id, entity, result, text, at, .. } = row;
        let why = text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let at = at.as_deref().unwrap_or("on its way");
        format!("\n  with {entity}  {result}{}  {at}  move {id}", printable(&why))
    });
    line(report) + &along.collect::<String>()
}

fn line(report: &MoveReport) -> String {
    let cost = report.cost;
    printable(&format!(
        "{}  {} -> {}  ok in {}  paused {}  {} B  {} held, {} delivered  move {}",
        name(report),
        report.from,
        report.to,
        micros(cost.total_us),
        micros(cost.pause_us),
        cost.bytes,
        cost.held,
        cost.delivered,
        report.id,
    ))
}

fn failure(exit: Exit, report: &MoveReport) -> Failure {
    let name = name(report);
    let why = report.text.as_deref().or(report.reason.as_deref()).unwrap_or("no reason was given");
    let reason = report.reason.as_deref().unwrap_or(&report.result);
    let (what, hint) = match (report.result.as_str(), reason) {
        ("refused", _) => ("may not move", "slipgate scenes"),
        ("open", _) | (_, "undecided") => ("is still on its way", "slipgate moves"),
        _ => ("did not move", "slipgate status"),
    };
    let text = printable(&format!("{name} {what} from {} to {}: {why} (move {})", report.from, report.to, report.id));
    let state = match &report.at {
        Some(at) => format!("{name} is in {at}"),
        None => format!("where {name} is, is decided as soon as its home answers"),
    };
    Failure::new(exit, reason, text)
        .with_state(printable(&state))
        .with_hint(printable(&format!("slipgate show {}      {hint}", report.entity)))
}

fn name(report: &MoveReport) -> &str {
    report.label.as_ref().unwrap_or(&report.entity)
}
