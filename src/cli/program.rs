//! What the program is called: a game's binary has these commands under a name of its own.
//!
//! What nodes and commands advise is written with the name of the program that this repository builds. Whoever runs a
//! command reads it with the name that it was run by; a node cannot know that.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;

use super::Cli;

/// The name that a program was run by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
}

impl Program {
    /// The program of a command line: the file name of its first argument.
    #[must_use]
    pub fn of(args: &[OsString]) -> Self {
        let file = args.first().and_then(|first| Path::new(first).file_name());
        Self { name: file.map_or_else(|| OURS.to_owned(), |name| name.to_string_lossy().into_owned()) }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A text whose commands are those of this program. A command is our name with a command's behind it: whatever else
    /// is called so stays.
    #[must_use]
    pub fn in_words(&self, text: &str) -> String {
        if self.name == OURS || !text.contains(OURS) {
            return text.to_owned();
        }
        let commands = Cli::command();
        let is_command = |rest: &str| {
            let rest = rest.strip_prefix(' ').unwrap_or_default();
            let word = rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default();
            word.starts_with("--") || word == "help" || commands.get_subcommands().any(|known| known.get_name() == word)
        };
        let is_apart = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "-_./".contains(c));
        let mut told = String::with_capacity(text.len());
        let mut left = text;
        while let Some((before, rest)) = left.split_once(OURS) {
            told.push_str(before);
            told.push_str(if is_apart(before) && is_command(rest) { &self.name } else { OURS });
            left = rest;
        }
        told + left
    }
}

/// What the binary of this repository is called.
const OURS: &str = "slipgate";

#[cfg(test)]
mod tests {
    use super::*;

    fn program(first: &str) -> Program {
        Program::of(&[first.into(), "status".into()])
    }

    #[test]
    fn a_program_is_called_as_the_file_that_was_run() {
        let names = ["/opt/games/arena", "arena", "./arena"].map(|first| program(first).name().to_owned());
        assert_eq!(names, ["arena"; 3]);
        assert_eq!(Program::of(&[]).name(), "slipgate");
    }

    #[test]
    fn commands_are_told_with_the_name_of_the_program_and_everything_else_stays() {
        let arena = program("/opt/games/arena");
        let told = "slipgate show 1.4      slipgate entities --lost   or   slipgate --help; until: slipgate unpark 1.4";
        let expected = "arena show 1.4      arena entities --lost   or   arena --help; until: arena unpark 1.4";
        assert_eq!(arena.in_words(told), expected);
        for text in ["slipgate", "slipgate is a cluster", "a slipgate.toml", "/opt/slipgate show", "slipgate_entities"]
        {
            assert_eq!(arena.in_words(text), text);
        }
        assert_eq!(program("slipgate").in_words(told), told);
    }
}
