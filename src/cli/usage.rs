//! What a command line that does not parse is answered: help and version are data, everything else is a fault of usage.
//!
//! People read it as the parser says it. In JSON its paragraphs are sentences of one text, and the usage is the hint.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::globals::Format;

/// Tells what the parser says, and how the command ends.
pub(super) fn explain(stop: &clap::Error, args: &[OsString], console: &mut Console<'_>) -> ExitCode {
    let text = console.program().in_words(&stop.render().to_string());
    match (stop.use_stderr(), console.format()) {
        (false, _) => {
            // Whoever closes the pipe has read enough of it.
            let _ = console.raw(text.as_bytes());
            return Exit::Done.into();
        }
        (true, Format::Table) => {
            let _ = write!(console.err(), "{text}");
        }
        (true, Format::Json) => {
            let Parsed { sentence, usage } = parse(&text, stop.kind());
            let help =
                command_in(args).map_or_else(|| "slipgate --help".to_owned(), |name| format!("slipgate help {name}"));
            let hint = usage.map_or_else(|| help.clone(), |usage| format!("{usage}      {help}"));
            let failure = Failure::new(Exit::Usage, "command_line", sentence).with_state("nothing was asked");
            console.tell(&failure.with_hint(hint));
        }
    }
    Exit::Usage.into()
}

/// What the parser says, in parts.
#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    sentence: String,
    usage: Option<String>,
}

fn parse(text: &str, kind: ErrorKind) -> Parsed {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    });
    let paragraphs: Vec<String> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    let is_usage = |paragraph: &&String| paragraph.starts_with(USAGE);
    let usage = paragraphs.iter().find(is_usage).cloned();
    // Where there is no command at all, the parser says the whole help.
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Parsed { sentence: "a command is missing".to_owned(), usage };
    }
    let said = paragraphs.iter().take_while(|paragraph| !is_usage(paragraph) && !paragraph.starts_with(MORE));
    let sentence = said.map(|paragraph| paragraph.trim_start_matches("error: ")).collect::<Vec<_>>().join("; ");
    Parsed { sentence, usage }
}

/// The command that was meant, if one can be seen.
fn command_in(args: &[OsString]) -> Option<&str> {
    let commands = Cli::command();
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    words.find(|word| commands.get_subcommands().any(|command| command.get_name() == *word))
}

/// The format that a command line asks for which does not parse.
pub(super) fn wanted(args: &[OsString]) -> Format {
    let joined = |text: &str| matches!(text, "-ojson" | "-o=json" | "--output=json");
    let texts: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let apart = texts.windows(2).any(|pair| matches!(pair, ["-o" | "--output", "json"]));
    if apart || texts.iter().any(|text| joined(text)) { Format::Json } else { Format::Table }
}

/// How the parser begins the paragraph of the usage.
const USAGE: &str = "Usage: ";
/// How it begins the one that names the help.
const MORE: &str = "For more information";

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::Value;

    use super::*;
    use crate::cli::program::Program;

    fn error_of(line: &[&str]) -> (String, String) {
        let args: Vec<OsString> =
            ["slipgate"].iter().chain(line).chain(&["-o", "json"]).map(|arg| OsString::from(*arg)).collect();
        let stop = Cli::try_parse_from(&args).expect_err("it does not parse");
        let (mut out, mut err, program) = (Vec::new(), Vec::new(), Program::of(&args));
        let code = explain(&stop, &args, &mut Console::new(&program, wanted(&args), &mut out, &mut err));
        assert_eq!((code, out.as_slice()), (ExitCode::from(2), &b""[..]));
        let object: Value = serde_json::from_slice(&err).expect("one object");
        let text = |key: &str| object["error"][key].as_str().expect("text").to_owned();
        (text("text"), text("hint"))
    }

    #[test]
    fn what_is_missing_is_told_whole_with_the_usage() {
        let (text, hint) = error_of(&["spawn"]);
        assert_eq!(text, "the following required arguments were not provided: --scene <SCENE> <TYPE>");
        assert!(hint.starts_with("Usage: slipgate spawn --scene <SCENE>"), "{hint}");
        assert!(hint.ends_with("      slipgate help spawn"), "{hint}");
    }

    #[test]
    fn what_was_perhaps_meant_is_told_too() {
        let (text, hint) = error_of(&["statsu"]);
        assert_eq!(text, "unrecognized subcommand 'statsu'; tip: a similar subcommand exists: 'status'");
        assert_eq!(hint, "Usage: slipgate [OPTIONS] <COMMAND>      slipgate --help");
    }

    #[test]
    fn a_value_that_does_not_fit_is_told_with_what_would() {
        let (text, hint) = error_of(&["nodes", "--timeout", "10"]);
        let expected = "invalid value '10' for '--timeout <TIME>': time unit needed, for example 10sec or 10ms; write it as \
                        10s or 500ms";
        assert_eq!((text.as_str(), hint.as_str()), (expected, "slipgate help nodes"));
        let (text, _) = error_of(&["health", "--live", "--ready"]);
        assert_eq!(text, "the argument '--live' cannot be used with '--ready'");
    }

    #[test]
    fn without_a_command_that_is_what_is_said() {
        let stop = Cli::try_parse_from(["slipgate"]).expect_err("there is no command");
        let Parsed { sentence, usage } = parse(&stop.render().to_string(), stop.kind());
        assert_eq!(
            (sentence.as_str(), usage.as_deref()),
            ("a command is missing", Some("Usage: slipgate [OPTIONS] <COMMAND>"))
        );
    }
}
