//! How a command ends when it does not end well: exit codes, and what stderr says.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed |
//! | 2 | the command line or the question is wrong |
//! | 3 | not found |
//! | 4 | refused |
//! | 5 | no answer in time |
//! | 6 | nothing answers |
//! | 10 | unhealthy |
//! | 101 | a fault of Slipgate's own: it panicked |

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use slipgate_proto::admin::{Problem, ProblemKind};

use super::globals::Format;
use super::program::Program;
use crate::client::CallError;

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// The command line or the question is wrong.
    Usage,
    /// What was asked for does not exist.
    NotFound,
    /// It exists and says no.
    Refused,
    /// No answer came in time.
    Timeout,
    /// Nothing answers at the address.
    NothingAnswers,
    /// A health check was not passed.
    Unhealthy,
    /// A fault of our own: what Rust itself ends a program with whose main thread panics.
    Fault,
}

impl Exit {
    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Timeout => 5,
            Self::NothingAnswers => 6,
            Self::Unhealthy => 10,
            Self::Fault => 101,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<ProblemKind> for Exit {
    fn from(kind: ProblemKind) -> Self {
        match kind {
            ProblemKind::Usage => Self::Usage,
            ProblemKind::NotFound => Self::NotFound,
            ProblemKind::Refused | ProblemKind::Unauthorized => Self::Refused,
            ProblemKind::Timeout => Self::Timeout,
            ProblemKind::Unavailable => Self::Failed,
        }
    }
}

/// Why a command did not end well.
#[derive(Debug)]
pub enum Failure {
    /// There is something to say about it.
    Told(Told),
    /// Whoever read stdout has had enough; that is no failure of ours.
    PipeClosed,
    /// The command has told it already, or its log.
    Logged(Exit),
}

/// What stderr says.
#[derive(Debug, Serialize)]
pub struct Told {
    /// What the exit code says.
    #[serde(rename = "kind")]
    pub exit: Exit,
    /// Stable word for why.
    pub reason: String,
    /// What happened.
    pub text: String,
    /// What state is left.
    pub state: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with a reason and a sentence.
    pub fn new(exit: Exit, reason: &str, text: impl Into<String>) -> Self {
        Self::Told(Told { exit, reason: reason.into(), text: text.into(), state: None, hint: None })
    }

    /// Adds what state is left.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.state = Some(state.into());
        }
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.hint = Some(hint.into());
        }
        self
    }

    /// The exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Told(told) => told.exit,
            Self::Logged(exit) => *exit,
            Self::PipeClosed => Exit::Done,
        }
    }

    /// Says it on stderr, in the form asked for. Where stderr is closed there is nobody to tell.
    pub(super) fn tell(&self, program: &Program, format: Format, err: &mut dyn Write) {
        let Self::Told(Told { exit, reason, text, state, hint }) = self else { return };
        let in_words = |text: &String| program.in_words(text);
        // The text may quote what game code says, whose words are its own.
        let (state, hint) = (state.as_ref().map(in_words), hint.as_ref().map(in_words));
        let told = Told { exit: *exit, reason: reason.clone(), text: text.clone(), state, hint };
        let _ = match format {
            Format::Json => tell_json(&told, err),
            Format::Table => tell_text(&told, err),
        };
    }
}

fn tell_json(told: &Told, err: &mut dyn Write) -> io::Result<()> {
    let line = serde_json::json!({ "error": told, "exit": told.exit.code() });
    writeln!(err, "{line}")
}

fn tell_text(told: &Told, err: &mut dyn Write) -> io::Result<()> {
    writeln!(err, "error: {}", told.text)?;
    if let Some(state) = &told.state {
        writeln!(err, "  {state}")?;
    }
    if let Some(hint) = &told.hint {
        writeln!(err, "  try:  {hint}")?;
    }
    Ok(())
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let Problem { kind, reason, text, state, hint } = problem;
        Self::Told(Told { exit: kind.into(), reason, text, state, hint })
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        match error {
            CallError::Problem(problem) => problem.into(),
            CallError::Unreachable { .. } => Self::new(Exit::NothingAnswers, "nothing_answers", text)
                .with_state("is a node running there?")
                .with_hint("slipgate dev   or   docker-compose up"),
            CallError::Late { .. } => Self::new(Exit::Timeout, "late", text)
                .with_state("it may still happen")
                .with_hint("look first, or wait longer with --timeout 60s"),
            CallError::Broken { .. } => Self::new(Exit::Failed, "broken", text)
                .with_state("whether it was done is not known")
                .with_hint("slipgate status"),
            CallError::Garbled { .. } => Self::new(Exit::Failed, "garbled", text)
                .with_hint("--at must name a node's admin address, by default port 7780"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::PipeClosed;
        }
        Self::new(Exit::Failed, "output", format!("cannot write the output: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(failure: &Failure, format: Format) -> String {
        let mut err = Vec::new();
        failure.tell(&Program::of(&[]), format, &mut err);
        String::from_utf8(err).expect("text")
    }

    fn refused() -> Failure {
        Failure::new(Exit::Refused, "full", "keep is full").with_state("ann is in forest").with_hint("slipgate scenes")
    }

    #[test]
    fn exit_codes_are_those_of_the_table() {
        use Exit::{Done, Failed, Fault, NotFound, NothingAnswers, Refused, Timeout, Unhealthy, Usage};
        let all = [Done, Failed, Usage, NotFound, Refused, Timeout, NothingAnswers, Unhealthy, Fault];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 10, 101]);
    }

    #[test]
    fn each_kind_of_problem_has_its_exit_code() {
        use ProblemKind::{NotFound, Refused, Timeout, Unauthorized, Unavailable, Usage};
        let kinds = [Usage, NotFound, Refused, Timeout, Unavailable, Unauthorized];
        assert_eq!(kinds.map(|kind| Exit::from(kind).code()), [2, 3, 4, 5, 1, 4]);
    }

    #[test]
    fn people_read_what_happened_what_is_left_and_what_to_do() {
        assert_eq!(
            told(&refused(), Format::Table),
            "error: keep is full\n  ann is in forest\n  try:  slipgate scenes\n"
        );
    }

    #[test]
    fn programs_read_one_object() {
        let line = told(&refused(), Format::Json);
        let value: serde_json::Value = serde_json::from_str(&line).expect("one object");
        assert_eq!((&value["error"]["kind"], &value["exit"]), (&"refused".into(), &4.into()));
        assert_eq!(value["error"]["hint"], "slipgate scenes");
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), told(&failure, Format::Table)), (Exit::Done, String::new()));
    }
}
