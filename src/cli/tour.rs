//! `tour`: walks walkers around, and says whether anything was lost, doubled or out of order.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::console::{Console, micros};
use super::failure::{Exit, Failure};
use crate::client::Client;
use crate::signals::Signals;
use crate::tour::{self, Afterwards, Ended, Fate, Options, Summary, Surroundings, TourError};

/// Options of `tour`.
#[derive(Args, Clone, Debug)]
pub struct TourArgs {
    /// Attempts to move, in all
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub moves: u64,
    /// How the tour is made
    #[command(flatten)]
    pub style: Style,
}

/// How a tour is made.
#[derive(Args, Clone, Debug)]
pub struct Style {
    /// Walkers spawned in every scene
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub walkers_per_scene: u32,
    /// Moves under way at once, at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub movers: u16,
    /// Decides who moves where; printed, so that it can be given again
    #[arg(long)]
    pub seed: Option<u64>,
    /// Leave the walkers where they are
    #[arg(long)]
    pub keep: bool,
}

impl Style {
    /// Options of a tour in this style.
    #[must_use]
    pub fn options(&self, moves: u64, timeout: Option<Duration>) -> Options {
        Options {
            moves,
            walkers_per_scene: self.walkers_per_scene,
            movers: usize::from(self.movers),
            seed: self.seed.unwrap_or_else(|| fastrand::u64(..)),
            timeout: timeout.unwrap_or(TIMEOUT_DEFAULT),
            afterwards: if self.keep { Afterwards::Keep } else { Afterwards::Despawn },
        }
    }
}

/// Makes a tour until its end or Ctrl-C.
///
/// # Errors
///
/// If it has no result.
pub fn run(
    args: &TourArgs,
    timeout: Option<Duration>,
    client: &Client,
    console: &mut Console<'_>,
) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|error| Failure::new(Exit::Failed, "signals", error.to_string()))?;
    let options = args.style.options(args.moves, timeout);
    console.note(&format!("seed {}", options.seed));
    let bar = progress_bar(args.moves);
    let ended = make(&options, client, signals.flag(), &|ended| bar.set_position(ended));
    bar.finish_and_clear();
    report(&ended?, console)
}

/// Makes a tour.
pub(super) fn make(
    options: &Options,
    client: &Client,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Ended, Failure> {
    Ok(tour::run(options, &Surroundings { client, stop, progress })?)
}

/// Prints the result; the exit code says whether all was well.
pub(super) fn report(ended: &Ended, console: &mut Console<'_>) -> Result<ExitCode, Failure> {
    console.object(&ended.summary, || screen(&ended.summary))?;
    if ended.is_clean() {
        return Ok(Exit::Done.into());
    }
    if let Some(why) = &ended.gone {
        let text = format!("the node that the tour asks is gone: {why}");
        let failure = Failure::new(Exit::NothingAnswers, "nothing_answers", text);
        return Err(failure.with_state(fate(ended.fate)).with_hint(TRY_ELSEWHERE));
    }
    let faults = [fault(&ended.summary), some(&ended.notes)].into_iter().filter(|text| !text.is_empty());
    let notes = faults.collect::<Vec<_>>().join("; ");
    Err(Failure::new(Exit::Failed, "tour", format!("the tour was not clean: {notes}"))
        .with_hint(format!("slipgate moves      slipgate tour --seed {}", ended.summary.seed)))
}

/// The first notes, and how many more there are: a tour in trouble has one for each walker.
fn some(notes: &[String]) -> String {
    let told = notes.iter().take(NOTES_TOLD).cloned();
    let more = notes.len().checked_sub(NOTES_TOLD).filter(|more| *more > 0);
    told.chain(more.map(|more| format!("and {more} more like these"))).collect::<Vec<_>>().join("; ")
}

fn fault(summary: &Summary) -> String {
    let counts = [
        (summary.moves_unanswered, "moves without an answer"),
        (summary.lost, "messages lost"),
        (summary.walkers_lost, "walkers lost with their node"),
        (summary.unknown, "messages unknown"),
        (summary.duplicated, "duplicated"),
        (summary.reordered, "reordered"),
        (summary.twins, "twins"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    told.collect::<Vec<_>>().join(", ")
}

fn fate(fate: Fate) -> String {
    match fate {
        Fate::Removed => "its walkers were removed".into(),
        Fate::Kept(0) => "it had no walkers yet".into(),
        Fate::Kept(count) => format!("its {count} walkers stay"),
        Fate::Left { left, of } => {
            format!("{left} of its {of} walkers could not be removed: they are still there, unless lost with a node")
        }
    }
}

fn screen(summary: &Summary) -> String {
    let Summary { moves_ok, moves_refused, moves_failed, sent, applied, messages_per_s, pause_us, .. } = summary;
    let Summary { lost, duplicated, reordered, twins, unknown, walkers_lost, .. } = summary;
    let gone = if unknown + walkers_lost > 0 {
        format!("gone     {walkers_lost} walkers with their node   {unknown} messages unknown\n")
    } else {
        String::new()
    };
    format!(
        "moves    {moves_ok} ok   {moves_refused} refused   {moves_failed} failed   in {}\n\
         messages {sent} sent   {applied} applied   {messages_per_s}/s\n         \
         lost {lost}   duplicated {duplicated}   reordered {reordered}   twins {twins}\n{gone}\
         paused   p50 {}   p99 {}   max {}",
        micros(summary.elapsed_ms.saturating_mul(1000)),
        micros(pause_us.p50),
        micros(pause_us.p99),
        micros(pause_us.max),
    )
}

fn progress_bar(moves: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} moves  {per_sec}  eta {eta}");
    ProgressBar::new(moves).with_style(style.expect("the template is well formed"))
}

impl From<TourError> for Failure {
    fn from(error: TourError) -> Self {
        let text = error.to_string();
        match error {
            TourError::Call { source, what } => match Self::from(source) {
                Self::Told(told) => Self::Told(super::failure::Told { text: format!("{what}: {}", told.text), ..told }),
                unheard @ (Self::PipeClosed | Self::Logged(_)) => unheard,
            },
            TourError::TooFewScenes { .. } => {
                Self::new(Exit::Refused, "too_few_scenes", text).with_hint("slipgate scenes")
            }
            TourError::Stopped { fate: left } => {
                let failure = Self::new(Exit::Failed, "stopped", text).with_state(fate(left));
                if matches!(left, Fate::Left { .. }) { failure.with_hint(TRY_ELSEWHERE) } else { failure }
            }
        }
    }
}

/// What to do about walkers that are left: any node that answers can remove them.
const TRY_ELSEWHERE: &str = "slipgate entities --at OTHER_NODE      slipgate entities --lost --at OTHER_NODE      slipgate despawn ENTITY --at OTHER_NODE";

/// Notes that an error tells one by one.
const NOTES_TOLD: usize = 3;

/// How long the next move may take to end, and after the last one messages to be applied.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_notes_three_are_told_and_the_rest_counted() {
        let notes: Vec<String> = (1..=5).map(|number| format!("note {number}")).collect();
        assert_eq!(some(&notes), "note 1; note 2; note 3; and 2 more like these");
        assert_eq!(some(&notes[..3]), "note 1; note 2; note 3");
    }
}
