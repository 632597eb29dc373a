//! The documents, as far as a machine can check them: commands parse, links lead somewhere.
//!
//! | checked | in |
//! |---|---|
//! | each `slipgate ...` and `cargo run ... -- ...` of a console block, each `slipgate ...` in backticks | README.md |
//! | the program, which is an example | README.md |
//! | that each program is compiled: `src/lib.rs` takes the document into its documentation | all |
//! | each source file in backticks | ARCHITECTURE.md |
//! | each relative link, with its heading if it names one | README.md, ARCHITECTURE.md, CHANGELOG.md, docs |
//!
//! Leaves out: whether output that is shown still looks like that.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;
use slipgate::cli::Cli;

/// Words behind the fence of a block that `cargo test --doc` compiles.
const COMPILED: [&str; 2] = ["rust", "rust,no_run"];

#[test]
fn every_command_of_the_readme_parses() {
    let commands = commands(&read("README.md"));
    assert!(commands.len() > 20, "found only {commands:?}");
    for wanted in
        ["slipgate dev", "slipgate migrate ann --to tower", "slipgate dev --nodes 3 --tour 2000 --exit -o json"]
    {
        assert!(commands.iter().any(|command| command == wanted), "{wanted} was not found in {commands:#?}");
    }
    let wrong: Vec<_> = commands.iter().filter_map(|command| fault(command)).collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_command_that_does_not_parse_is_caught() {
    let text =
        "```console\n$ slipgate migrat ann\nslipgate is output here\n$ cargo run --release -- dev --nods 3\n```\n";
    let text = format!("{text}Say `slipgate nodes --fast`, not `slipgates`.\n");
    let commands = commands(&text);
    assert_eq!(commands, ["slipgate migrat ann", "slipgate dev --nods 3", "slipgate nodes --fast"]);
    assert!(commands.iter().all(|command| fault(command).is_some()));
}

#[test]
fn words_are_split_as_a_shell_does() {
    let split = words(r#"slipgate send ann hit '{"hp": 5}' --count 3"#);
    assert_eq!(split, ["slipgate", "send", "ann", "hit", r#"{"hp": 5}"#, "--count", "3"]);
}

#[test]
fn the_program_of_the_readme_is_the_example() {
    let (readme, example) = (read("README.md"), read("examples/hello.rs"));
    let lines = example.lines().skip_while(|line| !line.starts_with("#![")).skip(2);
    let head = example.lines().take_while(|line| !line.starts_with("#!["));
    let program: Vec<_> = head.chain(lines).collect();
    assert!(readme.contains(&format!("```rust\n{}\n```\n", program.join("\n"))), "{}", program.join("\n"));
    assert!(program.len() <= 45, "{} lines are more than a reader takes in at once", program.len());
}

#[test]
fn every_program_of_the_documents_is_compiled() {
    let library = read("src/lib.rs");
    for document in documents() {
        let programs = programs(&read(&document));
        let included = format!("#[cfg(doctest)]\n#[doc = include_str!(\"../{}\")]\n", document.display());
        let is_compiled = |words: &String| library.contains(&included) && COMPILED.contains(&words.as_str());
        assert!(programs.iter().all(is_compiled), "{}: {programs:?}", document.display());
    }
    let forged = programs("```rust\n```\n- so\n  ```rust,ignore\n  ```\n");
    assert_eq!((forged.len(), COMPILED.contains(&forged[1].as_str())), (2, false));
}

#[test]
fn every_relative_link_of_the_documents_leads_somewhere() {
    let documents = documents();
    for path in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/wire.md"] {
        assert!(documents.iter().any(|document| document == Path::new(path)), "{path} was not looked at");
    }
    let broken: Vec<_> = documents.iter().flat_map(|document| broken_links(document, &read(document))).collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn a_link_that_leads_nowhere_is_caught() {
    let text =
        "[a](Cargo.toml) [b](gone.md) [c](README.md#no-such-heading) [d](#here) [e](https://example.org)\n# Here\n";
    let broken = broken_links(Path::new("README.md"), text);
    assert_eq!(broken, ["README.md: gone.md", "README.md: README.md#no-such-heading"]);
}

#[test]
fn every_source_file_that_the_architecture_names_is_there() {
    let named = source_files(&read("ARCHITECTURE.md"));
    assert!(named.len() > 20, "found only {named:?}");
    let mut files = Vec::new();
    collect(root(), &mut files);
    let missing: Vec<_> = named.into_iter().filter(|name| !files.iter().any(|file| file.ends_with(name))).collect();
    assert_eq!(missing, [""; 0]);
}

/// What stands behind the fence of each block of Rust.
fn programs(text: &str) -> Vec<String> {
    let fences = text.lines().filter_map(|line| line.trim_start().strip_prefix("```"));
    fences.filter(|words| words.starts_with("rust")).map(str::to_owned).collect()
}

/// Names in backticks that end as a Rust file does; a part of a path from its end is enough.
fn source_files(text: &str) -> Vec<String> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| span.ends_with(".rs")).map(str::to_owned).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry of the repository").path();
        if path.is_file() {
            files.push(path);
        } else if !path.ends_with("target") && !path.ends_with(".git") {
            collect(&path, files);
        }
    }
}

/// Commands in console blocks and in backticks, in the order in which they are written.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut block: Option<&str> = None;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```").filter(|rest| !rest.contains('`')) {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        match block {
            Some("console") => commands.extend(line.strip_prefix("$ ").and_then(command)),
            Some(_) => {}
            None => commands.extend(line.split('`').skip(1).step_by(2).filter_map(command)),
        }
    }
    commands
}

/// The line without what runs the program from source; none if it runs another one.
fn command(line: &str) -> Option<String> {
    if line.starts_with("slipgate ") {
        return Some(line.to_owned());
    }
    let (_, arguments) = line.strip_prefix("cargo run ")?.split_once("-- ")?;
    Some(format!("slipgate {arguments}"))
}

fn fault(command: &str) -> Option<String> {
    match Cli::try_parse_from(words(command)) {
        Ok(_) => None,
        Err(stop) if matches!(stop.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => None,
        Err(stop) => Some(format!("{command}: {stop}")),
    }
}

/// Words between spaces; single quotes keep theirs together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The documents at the top and below `docs`, by their paths from the root.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("docs"), PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the repository") {
            let path = folder.join(entry.expect("an entry of the repository").file_name());
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            } else if path.starts_with("docs") && path != Path::new("docs") && root().join(&path).is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

/// Relative links of a document to files or headings that are not there.
fn broken_links(document: &Path, text: &str) -> Vec<String> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    let relative = links.filter(|link| !link.contains("://"));
    let broken = relative.filter(|link| {
        let (file, heading) = link.split_once('#').map_or((*link, None), |(file, heading)| (file, Some(heading)));
        let target = document.with_file_name("").join(file);
        let target = if file.is_empty() { document } else { target.as_path() };
        if !root().join(target).exists() {
            return true;
        }
        let Some(heading) = heading else { return false };
        let linked = if file.is_empty() { text.to_owned() } else { read(target) };
        !headings(&linked).any(|known| known == heading)
    });
    broken.map(|link| format!("{}: {link}", document.display())).collect()
}

/// Headings in the form in which links name them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
