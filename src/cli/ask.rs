//! `ask`: a message to an entity, and what its handler answers.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;
use slipgate_proto::admin::AskReport;

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use super::send::json;
use super::send::verdict::Outcome;
use crate::admin::body::AskBody;
use crate::client::{Client, segment};

/// Options of `ask`.
#[derive(Args, Clone, Debug)]
pub struct AskArgs {
    /// An id, a unique prefix of one, or a unique label
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub entity: String,
    /// Name of the message, as the type declares it; `slipgate schema export` has them
    pub name: String,
    /// Its arguments as JSON
    #[arg(value_name = "JSON", default_value = "{}", value_parser = json)]
    pub arguments: Value,
}

/// Sends a message and tells the answer.
///
/// # Errors
///
/// If there is none.
pub fn run(args: &AskArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let AskArgs { entity, name, arguments } = args;
    let timeout_ms = u64::try_from(client.timeout().as_millis()).unwrap_or(u64::MAX);
    let body = AskBody { name: name.clone(), arguments: arguments.clone(), via: None, timeout_ms };
    let report: AskReport = client.post(&format!("/api/v1/entities/{}/ask", segment(entity)), &body)?;
    Outcome { name: entity, total: &report.sent, unsent: 0, waited: true }.verdict(client)?;
    if !report.answered {
        let why = report.why.as_deref().map(|why| format!(": {}", printable(why))).unwrap_or_default();
        let text = format!("{entity} has answered, and its answer cannot be had{why}");
        return Err(Failure::new(Exit::Failed, "no_answer", text)
            .with_state(format!("{name} was applied"))
            .with_hint(format!("slipgate show {entity}")));
    }
    Ok(console.object(&report, || printable(&report.answer))?)
}
