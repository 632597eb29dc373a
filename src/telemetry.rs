//! Log lines: one a happening, in columns for people or as flat JSON for machines.
//!
//! ```text
//! 12:00:05.111 INFO  n1  move ok        entity=3.1204 from=forest@n1 to=harbor@n2 move=9f31.. total_us=6800
//! {"ts":"2026-01-01T12:00:05.111Z","level":"INFO","node":"n1","event":"move.ok","entity":"3.1204",..}
//! ```
//!
//! A happening is told as `tracing::info!(event = "move.ok", r#move = %id, total_us, "text for people")`.
//! Its fields keep their order and stand at the root, never in spans: what one searches for is in the
//! line that one finds.
//!
//! Keeps: one line a happening, panics included, no key twice, no character that a terminal would obey.
//! Leaves out: what happens; that is told where it happens. What entities may say, which is decided before it comes here.

pub mod escape;
mod fields;
mod json;
mod panics;
mod pretty;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use slipgate_actors::voices;
use slipgate_cluster::NodeName;
use thiserror::Error;
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

use crate::config::{Colour, Format, Log};
use fields::Fields;
use pretty::Paint;

/// Name under which this process writes its lines, but for threads that have a name of their own; `-` until it is
/// known. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct NodeLabel {
    name: Arc<OnceLock<NodeName>>,
}

impl NodeLabel {
    /// Sets the name. The first one stays: a process is one node.
    pub fn set(&self, name: NodeName) {
        let _ = self.name.set(name);
    }

    fn as_str(&self) -> &str {
        self.name.get().map_or("-", NodeName::as_str)
    }
}

impl From<NodeName> for NodeLabel {
    fn from(name: NodeName) -> Self {
        let label = Self::default();
        label.set(name);
        label
    }
}

pub(crate) use panics::watch as watch_panics;

/// Sets the name under which lines of this thread stand, where a process runs several nodes.
pub(crate) fn name_thread(node: NodeName) {
    THREAD_NODE.set(Some(node));
}

thread_local! {
    static THREAD_NODE: RefCell<Option<NodeName>> = const { RefCell::new(None) };
}

/// What the lines are written to, as far as their form depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether somebody looks at them on a terminal.
    pub terminal: bool,
    /// Whether `NO_COLOR` is set to anything.
    pub no_color: bool,
}

impl Surroundings {
    /// Those of this process's standard error.
    #[must_use]
    pub fn of_stderr() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        }
    }
}

/// Why logs cannot be told. Nothing was set up.
#[derive(Debug, Error)]
pub enum TelemetryError {
    /// `[log] level` is no filter; a checked configuration never holds such a one.
    #[error("the log level {level:?} is not a filter")]
    Filter {
        /// The text.
        level: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Somebody in this process set up logs before; theirs stay.
    #[error("logs are set up already")]
    Already(#[source] tracing::subscriber::SetGlobalDefaultError),
}

/// Writes what happens in this process to standard error, from here on; a panic is a line as any other.
///
/// # Errors
///
/// If the level is no filter, or logs are set up already.
pub fn init(log: &Log, node: NodeLabel) -> Result<(), TelemetryError> {
    let subscriber = subscriber(log, Surroundings::of_stderr(), node, std::io::stderr)?;
    tracing::subscriber::set_global_default(subscriber).map_err(TelemetryError::Already)?;
    panics::tell();
    Ok(())
}

/// As [`init`], to a writer of the caller's and for whoever it hands the result to.
///
/// # Errors
///
/// If the level is no filter.
pub fn subscriber<W>(
    log: &Log,
    surroundings: Surroundings,
    node: NodeLabel,
    writer: W,
) -> Result<impl Subscriber + Send + Sync, TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder()
        .parse(format!("{SILENT},{}=error,{}=trace,{}", panics::TARGET, voices::TARGET, log.level))
        .map_err(|source| TelemetryError::Filter { level: log.level.clone(), source })?;
    let lines = tracing_subscriber::fmt::layer()
        .event_format(Lines { node, shape: Shape::of(log, surroundings) })
        // What is wrong with the log cannot be told in it, and a panic for it would end the node.
        .log_internal_errors(false)
        .with_writer(writer);
    Ok(tracing_subscriber::registry().with(filter).with(lines))
}

/// A request that is none is answered to whoever sent it. The server would write an error for each, and with that
/// anybody could fill the log.
const SILENT: &str = "actix_http::h1=off";

/// The form of lines, once `auto` is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Pretty(Paint),
    Json,
}

impl Shape {
    fn of(log: &Log, surroundings: Surroundings) -> Self {
        let paint = match log.colour {
            Colour::Always => Paint::Coloured,
            Colour::Auto if surroundings.terminal && !surroundings.no_color => Paint::Coloured,
            Colour::Auto | Colour::Never => Paint::Plain,
        };
        match log.format {
            Format::Pretty => Self::Pretty(paint),
            Format::Auto if surroundings.terminal => Self::Pretty(paint),
            Format::Auto | Format::Json => Self::Json,
        }
    }
}

struct Lines {
    node: NodeLabel,
    shape: Shape,
}

/// What a line starts with.
struct Head<'a> {
    /// RFC 3339, UTC, with milliseconds: `2026-01-01T12:00:05.111Z`.
    ts: &'a str,
    level: tracing::Level,
    node: &'a str,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let ts = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let fields = Fields::of(event);
        let line = THREAD_NODE.with_borrow(|own| {
            let node = own.as_ref().map_or_else(|| self.node.as_str(), NodeName::as_str);
            let head = Head { ts: &ts, level: *event.metadata().level(), node };
            match self.shape {
                Shape::Pretty(paint) => pretty::line(&head, &fields, paint),
                Shape::Json => json::line(&head, &fields),
            }
        });
        writer.write_str(&line)?;
        writer.write_char('\n')
    }
}
