//! The line for people: fixed columns, then the text, then the fields.
//!
//! | column | width | content |
//! |---|---|---|
//! | time | 12 | UTC, `12:00:05.104` |
//! | level | 5 | `INFO` |
//! | node | 2 and up | `n1` |
//! | event | 14 and up | `move ok` |

use std::fmt::Write as _;

use tracing::Level;

use super::Head;
use super::escape::{harmless, is_obeyed};
use super::fields::{Fields, Value};

/// Whether the line is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Coloured,
}

pub(super) fn line(head: &Head<'_>, fields: &Fields, paint: Paint) -> String {
    let mut line = String::with_capacity(160);
    let time = head.ts.get(11..23).unwrap_or(head.ts);
    let event = harmless(&fields.event).replacen('.', " ", 1);
    paint.push(&mut line, DIM, time);
    line.push(' ');
    paint.push(&mut line, colour(head.level), &format!("{:<5}", head.level.as_str()));
    let _ = write!(line, " {:<2}  ", head.node);
    paint.push(&mut line, BOLD, &format!("{event:<14}"));
    if !fields.message.is_empty() {
        let _ = write!(line, " {}", harmless(&fields.message));
    }
    for (name, value) in &fields.list {
        paint.push(&mut line, DIM, &format!(" {name}="));
        match value {
            Value::Text(text) => line.push_str(&word(text)),
            Value::Literal(text) => line.push_str(text),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// A value of one word stands bare; others are quoted, so that one sees where they end.
fn word(text: &str) -> String {
    let bare = |c: char| !c.is_whitespace() && !is_obeyed(c) && !matches!(c, '"' | '=' | '\\');
    if !text.is_empty() && text.chars().all(bare) {
        return text.to_owned();
    }
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", harmless(&quoted))
}

impl Paint {
    fn push(self, line: &mut String, code: &str, text: &str) {
        let _ = match self {
            Self::Plain => line.write_str(text),
            Self::Coloured => write!(line, "\u{1b}[{code}m{text}\u{1b}[0m"),
        };
    }
}

const BOLD: &str = "1";
const DIM: &str = "2";

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "31",
        Level::WARN => "33",
        Level::INFO => "32",
        Level::DEBUG => "34",
        Level::TRACE => "35",
    }
}
