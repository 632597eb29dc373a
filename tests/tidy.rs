//! The style that a machine can hold: headers, lengths, names, notes to ourselves, machine paths.
//!
//! | rule | of which files |
//! |---|---|
//! | opens with `//!`, so that it says what it is | Rust |
//! | at most 500 lines | Rust |
//! | is not named after nothing (`utils`, `common`, ...) | Rust, folders of Rust |
//! | a note of work to do names its issue | Rust |
//! | names no folder of the machine it was written on | all text |
//!
//! Leaves out: what rustfmt and clippy check. The words that are searched for are put together here
//! from two halves, so that this file passes its own test.

use std::fs;
use std::path::Path;

/// A text file of the repository.
struct TextFile {
    /// From the root, with `/`.
    path: String,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Header,
    Length,
    Name,
    Todo,
    MachinePath,
}

/// A rule that is broken, and where.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    rule: Rule,
    path: String,
    line: usize,
}

const LINES_MAX: usize = 500;

const NAMES_BANNED: [&str; 9] = ["common", "handler", "handlers", "helper", "helpers", "misc", "mod", "util", "utils"];

const WORK_MARK: &str = concat!("TO", "DO");

const MACHINE_FOLDERS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Folders that hold nothing of ours.
const FOLDERS_SKIPPED: [&str; 1] = ["target"];

/// Hidden folders that are ours; others are caches and the like.
const FOLDERS_HIDDEN: [&str; 2] = [".ci", ".github"];

#[test]
fn the_repository_is_tidy() {
    let mut files = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut files);
    for path in ["Cargo.toml", "src/lib.rs", "entity/src/lib.rs", "tests/tidy.rs"] {
        assert!(files.iter().any(|file| file.path == path), "{path} was not looked at");
    }
    let violations: Vec<_> = files.iter().flat_map(check).collect();
    assert_eq!(violations, []);
}

#[test]
fn a_file_without_a_header_is_caught() {
    assert_eq!(forged("src/a.rs", "use std::fs;\n"), [(Rule::Header, 1)]);
    assert_eq!(forged("src/a.rs", "\n//! Late.\n"), [(Rule::Header, 1)]);
    assert_eq!(forged("src/a.rs", ""), [(Rule::Header, 1)]);
}

#[test]
fn a_file_of_more_than_500_lines_is_caught() {
    let lines = |count: usize| "//! Long.\n".repeat(count);
    assert_eq!(forged("src/a.rs", &lines(LINES_MAX)), []);
    assert_eq!(forged("src/a.rs", &lines(LINES_MAX + 1)), [(Rule::Length, LINES_MAX + 1)]);
}

#[test]
fn a_name_that_says_nothing_is_caught_in_files_and_folders() {
    for path in ["src/utils.rs", "tests/common/node.rs", "proto/src/frame/mod.rs", "actors/src/handler.rs"] {
        assert_eq!(forged(path, "//! A file.\n"), [(Rule::Name, 1)], "{path}");
    }
    assert_eq!(forged("src/commons.rs", "//! A file.\n"), []);
}

#[test]
fn a_note_of_work_to_do_without_an_issue_is_caught() {
    for note in ["", ": later", "(me): later", "(#): later", "(#12) later", "(12): later"] {
        let text = format!("//! A file.\n\n// {WORK_MARK}{note}\n");
        assert_eq!(forged("src/a.rs", &text), [(Rule::Todo, 3)], "{note}");
    }
    assert_eq!(forged("src/a.rs", &format!("//! A file.\n// {WORK_MARK}(#12): later\n")), []);
}

#[test]
fn a_folder_of_the_writers_machine_is_caught_in_every_text_file() {
    for folder in MACHINE_FOLDERS {
        for text in [format!("see {folder}notes"), format!("path = \"{folder}x\""), format!("{folder}x")] {
            assert_eq!(forged("README.md", &format!("# Title\n{text}\n")), [(Rule::MachinePath, 2)], "{text}");
        }
        assert_eq!(forged("README.md", &format!("https://example.org{folder}x")), []);
    }
}

/// What is wrong with a file.
fn check(file: &TextFile) -> Vec<Violation> {
    let mut found = Vec::new();
    if file.path.ends_with(".rs") {
        found.extend(header(&file.text));
        found.extend(length(&file.text));
        found.extend(name(&file.path));
        found.extend(todos(&file.text));
    }
    found.extend(machine_paths(&file.text));
    found.into_iter().map(|(rule, line)| Violation { rule, path: file.path.clone(), line }).collect()
}

fn header(text: &str) -> Option<(Rule, usize)> {
    (!text.starts_with("//!")).then_some((Rule::Header, 1))
}

fn length(text: &str) -> Option<(Rule, usize)> {
    let lines = text.lines().count();
    (lines > LINES_MAX).then_some((Rule::Length, lines))
}

fn name(path: &str) -> Option<(Rule, usize)> {
    let mut names = path.trim_end_matches(".rs").split('/');
    names.any(|name| NAMES_BANNED.contains(&name)).then_some((Rule::Name, 1))
}

fn todos(text: &str) -> Vec<(Rule, usize)> {
    let names_issue = |note: &str| {
        let number = note.strip_prefix("(#").and_then(|rest| rest.split_once("):")).map(|(number, _)| number);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let notes = text.match_indices(WORK_MARK).filter(|(at, _)| !names_issue(&text[at + WORK_MARK.len()..]));
    notes.map(|(at, _)| (Rule::Todo, line_of(text, at))).collect()
}

/// Only a path that begins there counts: not the middle of an address or of a longer path.
fn machine_paths(text: &str) -> Vec<(Rule, usize)> {
    let begins = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|before| !before.is_alphanumeric() && !"_-./}".contains(before))
    };
    let hits = MACHINE_FOLDERS.iter().flat_map(|folder| text.match_indices(folder));
    hits.filter(|(at, _)| begins(*at)).map(|(at, _)| (Rule::MachinePath, line_of(text, at))).collect()
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Rules and lines that a forged file breaks.
fn forged(path: &str, text: &str) -> Vec<(Rule, usize)> {
    let file = TextFile { path: path.to_owned(), text: text.to_owned() };
    check(&file).into_iter().map(|violation| (violation.rule, violation.line)).collect()
}

/// Adds the text files in `folder` and below; `prefix` is its path from the root.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository can be read") {
        let entry = entry.expect("an entry of the repository can be read");
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type().expect("an entry has a type");
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            let hidden = name.starts_with('.') && !FOLDERS_HIDDEN.contains(&name.as_str());
            if !hidden && !FOLDERS_SKIPPED.contains(&name.as_str()) {
                collect(&entry.path(), &format!("{path}/"), files);
            }
        } else if kind.is_file() && name != ".git" {
            let bytes = fs::read(entry.path()).expect("a file of the repository can be read");
            files.extend(String::from_utf8(bytes).ok().map(|text| TextFile { path, text }));
        }
    }
}
