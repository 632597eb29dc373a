//! `send`: messages to one entity.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::Value;
use slipgate_proto::admin::SendReport;

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use crate::admin::body::{MESSAGES_MAX, MessageBody};
use crate::client::{Client, segment};

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
    verdict(&args.entity, &total, left, args.wait)
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
    let SendReport { accepted, busy, applied, dead, open, unknown, failed, parked, refused, passed, .. } = total;
    let rare = [("unknown", unknown), ("failed", failed), ("parked", parked), ("refused", refused), ("passed", passed)];
    let rare = rare.into_iter().filter(|(_, count)| **count > 0).map(|(word, count)| format!("  {word} {count}"));
    let rare = rare.collect::<String>();
    format!("accepted {accepted}  applied {applied}  open {open}  busy {busy}  dead {dead}{rare}")
}

/// What went wrong first, if anything; `unsent` were not even tried, and `waited` says whether the outcome was waited for.
pub(super) fn verdict(name: &str, total: &SendReport, unsent: u32, waited: bool) -> Result<(), Failure> {
    if total.busy > 0 {
        let rest = messages(total.busy + unsent);
        let text = format!("{rest} did not go: too many wait for {name} already");
        let state = format!("{} went before, and will be applied in order", messages(total.accepted));
        return Err(Failure::new(Exit::Refused, "busy", text)
            .with_state(state)
            .with_hint("send the rest a little later"));
    }
    if total.dead > 0 {
        let text =
            format!("{} to {name} found nobody: it is gone, or nobody has had that id yet", messages(total.dead));
        return Err(Failure::new(Exit::NotFound, "dead", text)
            .with_state("nothing was applied; the id of an entity that is gone is never given out again")
            .with_hint("slipgate entities"));
    }
    if total.refused > 0 {
        let why = total.refusals.first().map(|refusal| format!(": {}", printable(&refusal.why))).unwrap_or_default();
        let text = format!("{name} did not take {}{why}", messages(total.refused));
        let state = format!("{} applied; those are not", messages_were(total.applied));
        return Err(Failure::new(Exit::Refused, "not_taken", text)
            .with_state(state)
            .with_hint(format!("slipgate show {name}      slipgate schema export")));
    }
    if total.failed > 0 {
        let text = format!("the handler of {name} panicked at {}", messages(total.failed));
        let state = match total.parked {
            0 => {
                format!("what the handler had done by then is done; {name} is parked, or gone, as its node's policy is")
            }
            parked => format!("{name} is parked; {} behind that came to nothing", messages(parked)),
        };
        return Err(Failure::new(Exit::Failed, "failed", text)
            .with_state(state)
            .with_hint(format!("slipgate show {name}")));
    }
    if total.parked > 0 {
        let text = format!(
            "{} to {name} came to nothing: it is parked since a handler of it panicked",
            messages(total.parked)
        );
        return Err(Failure::new(Exit::Refused, "parked", text)
            .with_state(format!("they are not applied later either; {name} takes no messages until it is unparked"))
            .with_hint(format!("slipgate show {name}      slipgate unpark {name}")));
    }
    if total.unknown > 0 {
        let text =
            format!("{name} was lost with its node, and whether {} reached it is unknown", messages(total.unknown));
        return Err(Failure::new(Exit::Failed, "unknown", text)
            .with_state("it was applied before that, or never will be")
            .with_hint("slipgate entities --lost"));
    }
    if total.passed > 0 {
        let text =
            format!("{} came to {name}, and what became of it there was lost on the way", messages(total.passed));
        return Err(Failure::new(Exit::Failed, "passed", text)
            .with_state("it was applied, unless the entity takes no such message; it is not sent again")
            .with_hint(format!("slipgate show {name}")));
    }
    if waited && total.open > 0 {
        let text = format!("{} to {name} had no answer in time", messages(total.open));
        let state = "what was accepted is delivered once, in order, as soon as its way is free";
        return Err(Failure::new(Exit::Timeout, "open", text)
            .with_state(state)
            .with_hint(format!("slipgate show {name}")));
    }
    Ok(())
}

fn messages(count: u32) -> String {
    if count == 1 { "1 message".into() } else { format!("{count} messages") }
}

fn messages_were(count: u32) -> String {
    if count == 1 { "1 message was".into() } else { format!("{count} messages were") }
}

pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|fault| format!("it is no JSON: {fault}"))
}
