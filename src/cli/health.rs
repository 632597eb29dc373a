//! `health`: a check for supervisors and containers. Ends with 0 or 10 and nothing else.

use clap::Args;

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use crate::client::Client;

/// Options of `health`.
#[derive(Args, Clone, Copy, Debug)]
pub struct HealthArgs {
    /// Whether the process answers at all
    #[arg(long, conflicts_with = "ready")]
    pub live: bool,
    /// Whether it has joined and takes work; this is the default
    #[arg(long)]
    pub ready: bool,
}

/// Checks one node.
///
/// # Errors
///
/// If it does not answer, or is not ready.
pub fn run(args: HealthArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let (path, good, bad) = match args.live {
        true => ("/health/live", "live", "not live"),
        false => ("/health/ready", "ready", "not ready"),
    };
    // A supervisor has a time of its own, and ends a check that takes longer.
    let raw = client.without_slack().get_raw(path).map_err(|error| {
        Failure::new(Exit::Unhealthy, "no_answer", error.to_string()).with_hint("is the node running?  slipgate status")
    })?;
    let body: serde_json::Value = serde_json::from_str(&raw.text).unwrap_or_default();
    if !body.is_object() {
        let text =
            format!("{} answers, but not as Slipgate's admin interface does (status {})", client.at(), raw.status);
        return Err(Failure::new(Exit::Unhealthy, "garbled", text)
            .with_hint("--at must name a node's admin address, by default port 7780"));
    }
    let node = printable(body["node"].as_str().unwrap_or("the node"));
    console
        .object(&body, || if raw.status == 200 { format!("{node} is {good}") } else { format!("{node} is {bad}") })?;
    if raw.status == 200 {
        return Ok(());
    }
    let reasons = body["not_ready"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reasons: Vec<_> = reasons.iter().filter_map(|why| why.as_str()).collect();
    let why = if reasons.is_empty() { format!("status {}", raw.status) } else { reasons.join("; ") };
    Err(Failure::new(Exit::Unhealthy, "unhealthy", printable(&format!("{node} is {bad}: {why}"))))
}
