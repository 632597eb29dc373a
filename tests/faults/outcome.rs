//! What came of a cell: the answer to whoever asked for the move, where the entity is, what was told.

use std::collections::BTreeSet;
use std::fmt;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use crate::matrix::Cell;

/// What came of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) cell: Cell,
    pub(crate) answer: Answer,
    /// The party where the entity lives afterwards, or `lost`.
    pub(crate) place: String,
    /// The longest wait for the answer to a request with messages.
    pub(crate) sender_waited: Duration,
    /// Events in the logs of all nodes, each with its level.
    pub(crate) told: BTreeSet<(String, String)>,
    /// What may not be.
    pub(crate) wrong: Vec<String>,
}

/// What `slipgate migrate` said, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) exit: Option<i32>,
    /// `ok`, or the word for why not.
    pub(crate) word: String,
    /// For people.
    pub(crate) text: String,
    /// What it says of the entity.
    pub(crate) state: String,
    /// From the fault on.
    pub(crate) after: Duration,
}

impl Answer {
    /// Reads what the command printed with `-o json` about an entity.
    pub(crate) fn read(output: &Output, after: Duration, entity: &str) -> Self {
        let exit = output.status.code();
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let object = |text: &str| text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
        if exit == Some(0) {
            let report = object(&out).unwrap_or_default();
            let word = report["result"].as_str().unwrap_or_default().to_owned();
            return Self { exit, word, after, ..Self::default() };
        }
        let error = object(&err).map(|line| line["error"].clone()).unwrap_or_default();
        let of = |key: &str| impersonal(error[key].as_str().unwrap_or_default(), entity);
        let word = if error["reason"].is_string() { of("reason") } else { err };
        Self { exit, word, text: of("text"), state: of("state"), after }
    }

    /// What may not be said, or not so late.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.exit.is_none() || self.word.is_empty() || ["late", "broken", "garbled"].contains(&self.word.as_str()) {
            wrong.push(format!("whoever asked for the move got no answer: {self:?}"));
        }
        if self.after > ANSWERED {
            wrong.push(format!("whoever asked for the move waited too long: {self:?}"));
        }
        wrong
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { word, after, .. } = &self.answer;
        let faults = if self.wrong.is_empty() { "" } else { " WRONG" };
        write!(f, "{word} {:.1} s, {}{faults}", after.as_secs_f64(), self.place)
    }
}

/// The same for every run: without the numbers that are its own.
fn impersonal(text: &str, entity: &str) -> String {
    let is_of_a_run = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.len() == 36 && bare.matches('-').count() == 4 || bare.starts_with("127.0.0.1:")
    };
    let words = text.split(' ').map(|word| if is_of_a_run(word) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ").replace(" (move …", "").replace(entity, "ENTITY")
}

/// How long the command lets the move take, and what a busy machine may add.
pub(crate) const MOVE: Duration = Duration::from_secs(6);
const ANSWERED: Duration = Duration::from_secs(8);
