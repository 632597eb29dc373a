//! What is wrong with a configuration: where it stands, the line with a caret, and what to write.
//!
//! ```text
//! cluster.toml:12:9: limits.reserve: "2x" is not a duration
//!    |
//! 12 | reserve = "2x"
//!    |           ^^^^
//!    = write a number and one of ms, s, m, h: "100ms", "2s", "1m 30s"
//! ```
//!
//! Keeps: no line shows what may be a secret, nor a character that a terminal would obey.

use std::fmt;
use std::io;
use std::ops::Range;

use super::{FileText, Secret};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    place: Place,
    text: String,
    hint: Option<String>,
}

/// Where a fault stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a line of the file.
    Line(Excerpt),
    /// In the file as a whole.
    File(String),
    /// In a variable of the environment.
    Variable(String),
    /// In an override of this key.
    Override(String),
    /// Nowhere in particular.
    Nowhere,
}

/// A line of the file, and the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    file: String,
    line: usize,
    column: usize,
    shown: String,
    indent: usize,
    carets: usize,
}

impl Fault {
    pub(super) fn new(place: Place, text: String) -> Self {
        Self { place, text, hint: None }
    }

    pub(super) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    pub(super) fn unreadable(name: &str, error: &io::Error) -> Self {
        Self::new(Place::File(name.to_owned()), format!("the file cannot be read ({error})"))
            .hint(Some("name another with --config FILE".to_owned()))
    }

    /// The line of the file where it stands, where it stands in one; counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match &self.place {
            Place::Line(excerpt) => Some(excerpt.line),
            Place::File(_) | Place::Variable(_) | Place::Override(_) | Place::Nowhere => None,
        }
    }

    /// Where it stands, for people: `cluster.toml:12:9`, a variable, an option.
    #[must_use]
    pub fn place(&self) -> String {
        self.place.to_string()
    }

    /// What is wrong, without its place.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What to write, where that is known.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl Excerpt {
    /// The part `span` of a file, in bytes, reduced to its first line.
    pub(super) fn of(file: FileText<'_>, span: &Range<usize>) -> Self {
        let start = floor(file.text, span.start);
        let before = &file.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = file.text[line_start..].lines().next().unwrap_or_default();
        let end = floor(file.text, span.end.max(start)).min(line_start + line.len());
        let (shown, masked_from) = masked(line);
        let column = file.text[line_start..start].chars().count();
        let width = file.text[start..end.max(start)].chars().count().max(1);
        let indent = masked_from.map_or(column, |from| column.min(from));
        let carets = if indent == column && masked_from.is_none_or(|from| column < from) {
            width.min(shown.chars().count().saturating_sub(column).max(1))
        } else {
            Secret::MASK.len()
        };
        Self {
            file: file.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
            shown,
            indent,
            carets,
        }
    }

    /// The part `span`, and nothing of what follows it: the value of an unknown key may be a secret.
    pub(super) fn of_key(file: FileText<'_>, span: &Range<usize>) -> Self {
        let mut excerpt = Self::of(file, span);
        let end = excerpt.indent + excerpt.carets;
        if excerpt.shown.chars().skip(end).any(|c| c == '=') {
            excerpt.shown = excerpt.shown.chars().take(end).chain(" = ...".chars()).collect();
        }
        excerpt
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }
}

/// The line as it may be shown, and the column at which its secret was, if it has one.
fn masked(line: &str) -> (String, Option<usize>) {
    let plain: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let secret = plain.match_indices("token").find_map(|(at, word)| {
        let rest = &plain[at + word.len()..];
        let value = rest.trim_start_matches(['"', '\'', ' ']);
        value.starts_with('=').then_some(at + word.len() + (rest.len() - value.len()))
    });
    match secret {
        None => (plain, None),
        Some(equals) => {
            let head = &plain[..equals];
            (format!("{head}= {}", Secret::MASK), Some(head.chars().count() + 2))
        }
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(excerpt) => write!(f, "{}:{}:{}", excerpt.file, excerpt.line, excerpt.column),
            Self::File(name) | Self::Variable(name) => f.write_str(name),
            Self::Override(key) => write!(f, "--set {key}"),
            Self::Nowhere => f.write_str("configuration"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)?;
        let mut margin = 1;
        if let Place::Line(excerpt) = &self.place {
            let number = excerpt.line.to_string();
            margin = number.len();
            write!(f, "\n{:margin$} |\n{number} | {}", "", excerpt.shown.trim_end())?;
            write!(f, "\n{:margin$} | {:indent$}{}", "", "", "^".repeat(excerpt.carets), indent = excerpt.indent)?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n{:margin$} = {hint}", ""),
            None => Ok(()),
        }
    }
}

/// All faults of a configuration, at least one. Nothing of it was put to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors {
    faults: Vec<Fault>,
}

impl ConfigErrors {
    pub(super) fn new(mut faults: Vec<Fault>) -> Self {
        assert!(!faults.is_empty(), "an error without a fault");
        faults.sort_by_key(|fault| fault.line().unwrap_or(usize::MAX));
        Self { faults }
    }

    /// The faults: those of the file by line, then those of variables and overrides, then the rest.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.faults.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
