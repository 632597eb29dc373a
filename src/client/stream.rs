//! The stream of events, as its reader sees it.

use std::fmt;
use std::io::{BufRead, BufReader};

use slipgate_proto::admin::{Event, Problem};
use ureq::{Body, BodyReader};

use super::CallError;

/// Events as they happen. Ends when the node stops or the connection breaks.
pub struct Events {
    lines: BufReader<BodyReader<'static>>,
    at: String,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Events {
    /// Waits for the first line, which says that the node has taken up its position.
    pub(super) fn open(body: Body, at: String) -> Result<Self, CallError> {
        let mut events = Self { lines: BufReader::new(body.into_reader()), at };
        events.line()?;
        Ok(events)
    }

    /// The next line of the stream, or `None` at its end.
    fn line(&mut self) -> Result<Option<String>, CallError> {
        let mut line = String::new();
        let broken = |why: std::io::Error| CallError::Broken { at: self.at.clone(), why: why.to_string() };
        let read = self.lines.read_line(&mut line).map_err(broken)?;
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn parse(&self, name: &str, data: &str) -> Result<Event, CallError> {
        let garbled = |why: serde_json::Error| CallError::Garbled { at: self.at.clone(), why: why.to_string() };
        if name == "problem" {
            return Err(CallError::Problem(serde_json::from_str::<Problem>(data).map_err(garbled)?));
        }
        serde_json::from_str(data).map_err(garbled)
    }
}

impl Iterator for Events {
    type Item = Result<Event, CallError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut name = String::new();
        loop {
            let line = match self.line() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            if let Some(value) = line.strip_prefix("event: ") {
                value.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some(self.parse(&name, data));
            }
        }
    }
}
