//! `drain`: moves everybody out of a node and stops it; or tells how that goes, or calls it off.

use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use indicatif::{ProgressBar, ProgressStyle};
use slipgate_actors::words::counted;
use slipgate_proto::admin::DrainReport;

use super::console::{Console, micros, printable};
use super::failure::{Exit, Failure};
use super::globals::Format;
use super::kept::{entity_count, with_kept};
use crate::admin::body::DrainBody;
use crate::client::{CallError, Client, segment};

/// Options of `drain`.
#[derive(Args, Clone, Debug)]
pub struct DrainArgs {
    /// Name of the node
    #[arg(value_name = "NODE", value_parser = NonEmptyStringValueParser::new())]
    pub node: String,
    /// Follow it until the node has stopped, or says who could not move
    #[arg(long, conflicts_with = "cancel")]
    pub wait: bool,
    /// Call it off: the node goes on, and who has moved stays where it is
    #[arg(long)]
    pub cancel: bool,
}

/// Drains a node, within `timeout` if one is given.
///
/// # Errors
///
/// If there is no answer, or somebody could not move.
pub fn run(
    args: &DrainArgs,
    timeout: Option<Duration>,
    client: &Client,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let path = format!("/api/v1/nodes/{}/drain", segment(&args.node));
    if args.cancel {
        let report: DrainReport = client.delete(&path)?;
        return Ok(console.object(&report, || cancelled(&report))?);
    }
    let timeout_ms = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let client = &client.within(STEP);
    let begun: DrainReport = client.post(&path, &DrainBody { timeout_ms })?;
    if !args.wait {
        return Ok(console.object(&begun, || told(&begun))?);
    }
    let ended = follow(&path, begun, client, console)?;
    if ended.state == DrainReport::DRAINED {
        await_end(&path, client);
    }
    conclude(&ended, console)
}

/// Tells how it goes until it is over.
fn follow(path: &str, begun: DrainReport, client: &Client, console: &mut Console<'_>) -> Result<DrainReport, Failure> {
    let mut progress = Progress::new(console.format());
    let mut report = begun;
    let mut heard = Instant::now();
    while report.state == DrainReport::DRAINING {
        progress.show(&report, console);
        match client.get::<DrainReport>(path) {
            Ok(next) => {
                heard = Instant::now();
                report = next;
            }
            // A node under load answers late; one that is gone does not answer at all.
            Err(error) if is_gone(&error) || heard.elapsed() > PATIENCE => {
                progress.clear();
                return Err(unheard(&report, &error));
            }
            Err(_) => thread::sleep(POLL_EVERY),
        }
    }
    progress.clear();
    Ok(report)
}

/// Waits until the life that has drained does not answer any more: only then it has stopped. Whoever answers otherwise
/// has been started since.
fn await_end(path: &str, client: &Client) {
    let deadline = Instant::now() + PATIENCE;
    let is_there = || client.get::<DrainReport>(path).is_ok_and(|report| report.state == DrainReport::DRAINED);
    while is_there() && Instant::now() < deadline {
        thread::sleep(POLL_EVERY);
    }
}

fn is_gone(error: &CallError) -> bool {
    match error {
        CallError::Problem(problem) => matches!(problem.reason.as_str(), "node_gone" | "unknown_node" | "stopping"),
        CallError::Unreachable { .. } => true,
        CallError::Broken { .. } | CallError::Late { .. } | CallError::Garbled { .. } => false,
    }
}

fn conclude(report: &DrainReport, console: &mut Console<'_>) -> Result<(), Failure> {
    console.object(report, || told(report))?;
    let node = &report.node;
    match (report.state.as_str(), report.kept) {
        (DrainReport::DRAINED, 0) => Ok(()),
        (DrainReport::DRAINED, kept) => {
            Err(Failure::new(Exit::Refused, "kept", format!("{} of {node} could not move", entity_count(kept)))
                .with_state("what could not move has ended with the node")
                .with_hint("slipgate entities --lost"))
        }
        (DrainReport::KEPT, kept) => {
            Err(Failure::new(Exit::Refused, "kept", format!("{} of {node} could not move", entity_count(kept)))
                .with_state(format!("{node} goes on with them, and takes nobody in"))
                .with_hint(format!("slipgate drain {node}   once there is room      slipgate drain {node} --cancel")))
        }
        (_, _) => Err(Failure::new(Exit::Failed, "cancelled", format!("somebody called the drain of {node} off"))
            .with_state(format!("{node} goes on; who has moved stays where it is"))
            .with_hint("slipgate nodes")),
    }
}

fn unheard(report: &DrainReport, error: &CallError) -> Failure {
    let DrainReport { node, moved, entities, .. } = report;
    Failure::new(
        Exit::Timeout,
        "unheard",
        format!("{node} does not answer any more, and its end was not heard: {error}"),
    )
    .with_state(format!("the last that was heard: {moved} of {} had moved", entity_count(*entities)))
    .with_hint("slipgate nodes      slipgate entities --lost")
}

/// How it stands, in one line, and a line for each that could not move.
fn told(report: &DrainReport) -> String {
    let DrainReport { node, state, entities, moved, kept, homes, took_ms, pause_us, .. } = report;
    let numbers = format!(
        "{moved} moved, {kept} kept, {} handed over, in {}; paused p50 {} p99 {}",
        counted(*homes, "home", "homes"),
        micros(took_ms.saturating_mul(1000)),
        micros(pause_us.p50),
        micros(pause_us.p99)
    );
    let numbers = match unanswered(report) {
        Some(unanswered) => format!("{numbers}; no answer to {unanswered}"),
        None => numbers,
    };
    let line = match state.as_str() {
        DrainReport::DRAINING => format!("{node} is draining: {moved} of {} have moved", entity_count(*entities)),
        DrainReport::DRAINED => format!("{node} drained: {numbers}"),
        DrainReport::KEPT => format!("{node} is not empty: {numbers}"),
        _ => format!("{node} does not drain"),
    };
    with_kept(&line, &report.kept_first, *kept)
}

/// How many messages nobody has answered, and to whom they are.
fn unanswered(report: &DrainReport) -> Option<String> {
    let DrainReport { unanswered, unanswered_first, .. } = report;
    let messages = if *unanswered == 1 { "message" } else { "messages" };
    (*unanswered > 0).then(|| format!("{unanswered} {messages} to {}", unanswered_first.join(", ")))
}

fn cancelled(report: &DrainReport) -> String {
    let DrainReport { node, moved, entities, .. } = report;
    printable(&format!("{node} goes on; {moved} of {} have moved and stay where they are", entity_count(*entities)))
}

/// How far it is: one line that changes on a terminal, lines elsewhere, nothing beside JSON.
struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
    told: Option<(u8, Option<String>)>,
    told_at: Option<Instant>,
}

impl Progress {
    fn new(format: Format) -> Self {
        let is_table = format == Format::Table;
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (is_table && is_terminal).then(|| {
            let style = ProgressStyle::with_template("{prefix} [{bar:16}] {percent}%  {msg}  eta {eta}");
            let style = style.expect("the template is well formed").progress_chars("#>-");
            ProgressBar::new(0).with_style(style)
        });
        Self { bar, lines: is_table && !is_terminal, told: None, told_at: None }
    }

    fn show(&mut self, report: &DrainReport, console: &mut Console<'_>) {
        let DrainReport { node, step, entities, moved, kept, .. } = report;
        let done = moved + kept;
        let step = step.as_deref().unwrap_or("moving").replace('_', " ");
        let kept = if *kept > 0 { format!("  kept {kept}") } else { String::new() };
        let waits = unanswered(report).map(|unanswered| format!("  no answer yet to {unanswered}")).unwrap_or_default();
        let message = printable(&format!("entities {done}/{entities}{kept}  {step}{waits}"));
        if let Some(bar) = &self.bar {
            bar.set_prefix(printable(node));
            bar.set_length(*entities);
            bar.set_position(done);
            bar.set_message(message);
            return;
        }
        let now = (report.percent(), Some(format!("{step}{waits}")));
        let is_due = self.told_at.is_none_or(|told| told.elapsed() >= LINE_EVERY);
        let is_news = self.told.as_ref().is_none_or(|told| told.1 != now.1 || (is_due && told.0 != now.0));
        if self.lines && is_news {
            console.note(&format!("{} {}%  {message}", printable(node), now.0));
            self.told = Some(now);
            self.told_at = Some(Instant::now());
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How long one answer may take.
const STEP: Duration = Duration::from_secs(10);
/// How long a node that is not known to be gone may be silent.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions where an answer comes at once: a node that has stopped tells nobody.
const POLL_EVERY: Duration = Duration::from_millis(50);
/// Between two lines about the same step.
const LINE_EVERY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_told_in_its_number() {
        let mut report = crate::admin::canned::drained("n2");
        (report.homes, report.entities) = (1, 1);
        assert!(told(&report).contains(", 1 home handed over, "), "{}", told(&report));
        DrainReport::DRAINING.clone_into(&mut report.state);
        assert!(told(&report).contains(" of 1 entity have moved"), "{}", told(&report));
    }

    #[test]
    fn what_nobody_has_answered_is_told_with_how_many_messages_and_to_whom() {
        let mut report = crate::admin::canned::drained("n2");
        assert!(!told(&report).contains("no answer"), "{}", told(&report));
        (report.unanswered, report.unanswered_first) = (3, vec!["1.4".to_owned(), "2.7".to_owned()]);
        assert!(told(&report).ends_with("; no answer to 3 messages to 1.4, 2.7"), "{}", told(&report));
    }
}
