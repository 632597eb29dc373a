//! `show`: everything about one entity.

use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use slipgate_proto::admin::EntityReport;

use super::console::{Console, or_dash, printable};
use super::failure::Failure;
use crate::client::{Client, segment};

/// Options of `show`.
#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// An id, a unique prefix of one, or a unique label
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub entity: String,
}

/// Tells everything about an entity.
///
/// # Errors
///
/// If there is no answer, or no such entity.
pub fn run(args: &ShowArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let report: EntityReport = client.get(&format!("/api/v1/entities/{}", segment(&args.entity)))?;
    Ok(console.object(&report, || screen(&report))?)
}

fn screen(report: &EntityReport) -> String {
    let parked = report.parked.as_ref().map(|parked| {
        let since = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(parked.since_ms));
        ("parked", format!("since {since}: {}", parked.why))
    });
    let fields = [
        ("entity", report.entity.clone()),
        ("type", report.type_name.clone()),
        ("label", or_dash(report.label.as_deref())),
        ("place", format!("{}@{}", report.scene, report.node)),
        ("state", report.state.clone()),
        ("epoch", format!("{} (made at {})", report.epoch, report.data)),
        ("handle", report.handle.clone()),
        ("persist", report.persist.clone()),
        ("home", report.home.clone()),
        ("applied", format!("{} messages", report.applied)),
        ("streams", format!("{} open to it", report.senders)),
        ("waiting", format!("{} of its own messages", report.unacknowledged)),
        ("body", report.body.clone()),
    ];
    let lines = fields.into_iter().chain(parked).map(|(name, value)| format!("{name:<8} {}", printable(&value)));
    lines.collect::<Vec<_>>().join("\n")
}
