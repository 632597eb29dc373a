//! `send`: messages to one entity.

pub(super) mod verdict;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;
use slipgate_proto::admin::SendReport;

use super::console::Console;
use super::failure::Failure;
use crate::admin::body::{MESSAGES_MAX, MessageBody};
use crate::client::{Client, segment};

use verdict::Outcome;

/// Options of `send`.
#[derive(Args, Clone, Debug)]
pub struct SendArgs {
    /// An id, a unique prefix of one, or a unique label
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub entity: String,
    /// Name of the message, as the type declares it; `slipgate schema export` has them
    pub name: String,
    /// Its arguments as JSON
    #[arg(value_name = "JSON", default_value = "{}", value_parser = json)]
    pub arguments: Value,
    /// Wait until every message is applied or answered, as long as --timeout says
    #[arg(long)]
    pub wait: bool,
    /// How many times
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
}

/// Sends messages and tells how that went.
///
/// # Errors
///
/// If there is no answer, no such entity, or not all messages went.
pub fn run(args: &SendArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let mut total = SendReport::default();
    let mut left = args.count;
    while left > 0 && total.busy == 0 {
        let count = left.min(MESSAGES_MAX);
        let report: SendReport = client.post(&path(args), &body(args, count, client))?;
        total.add(report, args.count - left);
        left -= count;
    }
    console.object(&total, || line(&total))?;
    Outcome { name: &args.entity, total: &total, unsent: left, waited: args.wait }.verdict(client)
}

fn path(args: &SendArgs) -> String {
    format!("/api/v1/entities/{}/messages", segment(&args.entity))
}

fn body(args: &SendArgs, count: u32, client: &Client) -> MessageBody {
    let timeout_ms = u64::try_from(client.timeout().as_millis()).unwrap_or(u64::MAX);
    let (name, arguments) = (args.name.clone(), args.arguments.clone());
    MessageBody { name, arguments, count, via: None, wait: args.wait, timeout_ms }
}

fn line(total: &SendReport) -> String {
    let SendReport { accepted, busy, applied, dead, open, unknown, failed, parked, refused, passed, lost, .. } = total;
    let rare = [
        ("unknown", unknown),
        ("lost", lost),
        ("failed", failed),
        ("parked", parked),
        ("refused", refused),
        ("passed", passed),
    ];
    let rare = rare.into_iter().filter(|(_, count)| **count > 0).map(|(word, count)| format!("  {word} {count}"));
    let rare = rare.collect::<String>();
    format!("accepted {accepted}  applied {applied}  open {open}  busy {busy}  dead {dead}{rare}")
}

pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|fault| format!("it is no JSON: {fault}"))
}
