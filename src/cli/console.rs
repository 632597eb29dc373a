//! Where a command writes: data to stdout, everything else to stderr.
//!
//! Keeps: what is said beside data names the commands of the program that was run; with `-o json` stdout holds one object per line and nothing else; text that came from users
//! reaches a terminal with its control characters escaped.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use super::failure::Failure;
use super::globals::Format;
use super::program::Program;

/// The two outputs of a command.
pub struct Console<'a> {
    program: &'a Program,
    format: Format,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

impl fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("format", &self.format).finish_non_exhaustive()
    }
}

impl<'a> Console<'a> {
    /// A console on two writers.
    pub fn new(program: &'a Program, format: Format, out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { program, format, out, err }
    }

    /// The program that was run.
    #[must_use]
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The form of what goes to stdout.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where everything but data goes.
    pub fn err(&mut self) -> &mut dyn Write {
        self.err
    }

    /// Writes bytes of data as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    /// Writes one object, as a line of JSON or as `line` for people.
    pub fn object(&mut self, object: &impl Serialize, line: impl FnOnce() -> String) -> io::Result<()> {
        match self.format {
            Format::Json => writeln!(self.out, "{}", json(object))?,
            Format::Table => writeln!(self.out, "{}", line())?,
        }
        self.out.flush()
    }

    /// Writes a list, as a line of JSON for each or as a table with these columns.
    pub fn list<T: Serialize>(&mut self, list: &[T], columns: &[Column<T>]) -> io::Result<()> {
        match self.format {
            Format::Json => {
                for object in list {
                    writeln!(self.out, "{}", json(object))?;
                }
            }
            Format::Table => write!(self.out, "{}", table(list, columns))?,
        }
        self.out.flush()
    }

    /// Says something beside the data.
    pub fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{}", self.program.in_words(text));
    }

    /// Says why a command, or a part of it, did not end well.
    pub fn tell(&mut self, failure: &Failure) {
        failure.tell(self.program, self.format, self.err);
    }
}

fn json(object: &impl Serialize) -> String {
    serde_json::to_string(object).expect("reports are plain data")
}

/// A column of a table: its heading, which side it is flush with, and how a cell is made.
#[derive(Clone, Copy)]
pub struct Column<T> {
    heading: &'static str,
    side: Side,
    cell: fn(&T) -> String,
}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("heading", &self.heading).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// A column of text.
pub fn text<T>(heading: &'static str, cell: fn(&T) -> String) -> Column<T> {
    Column { heading, side: Side::Left, cell }
}

/// A column of numbers.
pub fn number<T>(heading: &'static str, cell: fn(&T) -> String) -> Column<T> {
    Column { heading, side: Side::Right, cell }
}

/// Lays out a table: a line of headings, then one line for each row.
pub fn table<T>(rows: &[T], columns: &[Column<T>]) -> String {
    let heading = columns.iter().map(|column| column.heading.to_owned()).collect();
    let cells = rows.iter().map(|row| columns.iter().map(|column| printable(&(column.cell)(row))).collect());
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(cells).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut laid = String::new();
    for line in &lines {
        let padded = line.iter().zip(columns).zip(&widths).map(|((cell, column), width)| match column.side {
            Side::Left => format!("{cell:<width$}"),
            Side::Right => format!("{cell:>width$}"),
        });
        laid.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        laid.push('\n');
    }
    laid
}

/// Text without control characters: those that came from users would reach the terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// A text, or a dash where there is none.
#[must_use]
pub fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

/// Microseconds in the unit that people read best.
#[must_use]
pub fn micros(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        _ => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column<(&str, u64)>; 2] = [
        Column { heading: "NODE", side: Side::Left, cell: |row| row.0.to_owned() },
        Column { heading: "N", side: Side::Right, cell: |row| row.1.to_string() },
    ];

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(table(&[("n1", 7), ("harbor", 1200)], &COLUMNS), "NODE       N\nn1         7\nharbor  1200\n");
    }

    #[test]
    fn a_list_is_a_line_of_json_for_each() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let program = Program::of(&[]);
        Console::new(&program, Format::Json, &mut out, &mut err)
            .list(&[("n1", 7), ("n2", 8)], &COLUMNS)
            .expect("written");
        assert_eq!((out.as_slice(), err.as_slice()), (&b"[\"n1\",7]\n[\"n2\",8]\n"[..], &b""[..]));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc é"), "a\\u{1b}[31mb\\nc é");
    }

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        assert_eq!([0, 999, 1_900, 68_412, 2_345_678].map(micros), ["0 us", "999 us", "1.9 ms", "68.4 ms", "2.3 s"]);
    }
}
