//! What the code declares stands in the documents, under the same names: nothing is added or renamed on one side alone.
//!
//! | declared | stands in |
//! |---|---|
//! | each metric, and where messages are dropped | the README's table of metrics, and the other way round |
//! | each variant of a type on the wire, with its number | `docs/wire.md`, and the other way round where it is a row there |
//! | each field of a report, in its order | `docs/wire.md` |
//!
//! Leaves out: what the documents say about them. It reads source as text: a name that a macro puts together is not seen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Types whose variants are numbered on the wire, and where they are declared.
const VARIANTS: [(&str, &str); 25] = [
    ("cluster/src/message.rs", "Message"),
    ("cluster/src/message.rs", "Control"),
    ("cluster/src/message.rs", "Sender"),
    ("cluster/src/message.rs", "ManagerMessage"),
    ("cluster/src/message.rs", "ToolMessage"),
    ("cluster/src/moves.rs", "Refusal"),
    ("cluster/src/manager/message.rs", "ManagerRequest"),
    ("cluster/src/manager/message.rs", "ManagerReply"),
    ("cluster/src/manager/message.rs", "SceneNews"),
    ("cluster/src/manager/message.rs", "Counter"),
    ("cluster/src/manager/message.rs", "SceneRefusal"),
    ("cluster/src/manager/message.rs", "JoinReply"),
    ("cluster/src/manager/message.rs", "JoinRefusal"),
    ("cluster/src/view.rs", "SceneStage"),
    ("cluster/src/view.rs", "Clearing"),
    ("cluster/src/place.rs", "Port"),
    ("cluster/src/claim.rs", "Stake"),
    ("cluster/src/legacy.rs", "Legacy"),
    ("proto/src/handshake.rs", "Purpose"),
    ("proto/src/handshake.rs", "Reply"),
    ("proto/src/handshake.rs", "Refusal"),
    ("proto/src/admin.rs", "Question"),
    ("proto/src/admin.rs", "Answer"),
    ("proto/src/admin/drain.rs", "DrainOrder"),
    ("proto/src/admin/partial.rs", "Rows"),
];

/// Reports that desks give each other, and where they are declared.
const REPORTS: [(&str, &str); 12] = [
    ("proto/src/admin.rs", "ClusterReport"),
    ("proto/src/admin.rs", "NodeReport"),
    ("proto/src/admin.rs", "LinkReport"),
    ("proto/src/admin.rs", "SceneReport"),
    ("proto/src/admin.rs", "EntityRow"),
    ("proto/src/admin/sending.rs", "SendReport"),
    ("proto/src/admin/sending.rs", "AskReport"),
    ("proto/src/admin/moves.rs", "MoveReport"),
    ("proto/src/admin.rs", "Event"),
    ("proto/src/admin.rs", "Problem"),
    ("proto/src/admin/drain.rs", "DrainReport"),
    ("proto/src/admin/scenes.rs", "CloseReport"),
];

#[test]
fn every_metric_stands_in_the_readme_and_every_metric_there_is_one() {
    let (code, readme) = (code(), read("README.md"));
    let is_name = |literal: &&str| {
        literal.strip_prefix("slipgate_").is_some_and(|rest| !rest.is_empty()) && literal.bytes().all(is_of_a_name)
    };
    let registered: BTreeSet<&str> = literals(&code).filter(is_name).collect();
    assert!(registered.len() > 15, "found only {registered:?}");
    let told: BTreeSet<&str> = metric_rows(&readme).flat_map(backticked).filter(is_name).collect();
    assert_eq!(told, registered, "left: in the README; right: in the code");
}

#[test]
fn every_place_where_messages_are_dropped_stands_in_the_readme() {
    let (code, readme) = (code(), read("README.md"));
    let row = metric_rows(&readme).find(|row| row.contains("`slipgate_messages_dropped_total`")).expect("its row");
    let told = row.split_once("`at` (").expect("its label").1;
    let after = |start: &'static str| {
        let rest = code.split(start).skip(1);
        rest.filter_map(|rest| rest.split_once('"')).map(|(place, _)| place).collect::<Vec<_>>()
    };
    let places = [after("\"at\" => \""), after("count_dropped(\"")].concat();
    assert!(places.len() > 5, "found only {places:?}");
    let missing: Vec<_> = places.into_iter().filter(|place| !words(told).any(|word| word == *place)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_variant_on_the_wire_stands_in_its_description_with_its_number() {
    let text = read("docs/wire.md");
    let mut declared = BTreeSet::new();
    let mut missing = Vec::new();
    for (path, name) in VARIANTS {
        let variants = variants(&read(path), name);
        assert!(!variants.is_empty(), "{path} has no {name}");
        for (number, variant) in variants.into_iter().enumerate() {
            let forms = [format!("| {number} | `{variant}` |"), format!("{number} `{variant}`")];
            if !forms.iter().any(|form| text.contains(form)) {
                missing.push(format!("{name}: {}", forms[1]));
            }
            declared.insert(forms[0].clone());
        }
    }
    assert_eq!(missing, [""; 0], "not in docs/wire.md");
    let rows = text.lines().filter_map(variant_row);
    let unknown: Vec<_> = rows.filter(|row| !declared.contains(row)).collect();
    assert_eq!(unknown, [""; 0], "not in the code");
}

#[test]
fn every_field_of_a_report_stands_in_the_description_of_the_wire_in_its_order() {
    let text = read("docs/wire.md");
    for (path, name) in REPORTS {
        let fields = fields(&read(path), name);
        assert!(fields.len() > 3, "{path}: {name} has only {fields:?}");
        let start = format!("| {name} | ");
        let row = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row of {name}"));
        let mut told = backticked(row);
        let missing: Vec<_> = fields.iter().filter(|field| !told.any(|word| word == field.as_str())).collect();
        assert_eq!(missing, [""; 0], "of {name}, or out of order");
    }
}

#[test]
fn declarations_are_read_as_they_are_written() {
    let text = "pub enum Other {\n    No,\n}\npub enum Kind {\n    /// One.\n    One(u8),\n    #[serde(default)]\n    \
                Two {\n        /// Deep.\n        Field: u8,\n    },\n    Three,\n}\n    Not,\n";
    assert_eq!(variants(text, "Kind"), ["One", "Two", "Three"]);
    let text =
        "pub struct Row {\n    /// A.\n    pub a: u8,\n    #[serde(rename = \"type\")]\n    pub type_name: T,\n}\n";
    assert_eq!(fields(text, "Row"), ["a", "type"]);
    assert_eq!(variant_row("| 3 | `Three` | x |").as_deref(), Some("| 3 | `Three` |"));
    assert_eq!((variant_row("| 3 | `three` | x |"), variant_row("| a | `Three` |")), (None, None));
}

/// Names of an enum's variants, in the order in which they are declared.
fn variants(text: &str, name: &str) -> Vec<String> {
    let lines = body(text, &format!("pub enum {name} {{"));
    let variant = |line: &str| {
        let line = line.strip_prefix("    ").filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))?;
        Some(words(line).next()?.to_owned())
    };
    lines.into_iter().filter_map(variant).collect()
}

/// Names of a structure's fields as they are in JSON, in the order in which they are declared.
fn fields(text: &str, name: &str) -> Vec<String> {
    let mut renamed: Option<String> = None;
    let mut fields = Vec::new();
    for line in body(text, &format!("pub struct {name} {{")) {
        if let Some((_, rest)) = line.split_once("#[serde(rename = \"") {
            renamed = rest.split_once('"').map(|(name, _)| name.to_owned());
        } else if let Some((field, _)) = line.strip_prefix("    pub ").and_then(|line| line.split_once(':')) {
            fields.push(renamed.take().unwrap_or_else(|| field.to_owned()));
        }
    }
    fields
}

/// Lines between that one and the brace that closes it.
fn body<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| *line != start).skip(1).take_while(|line| *line != "}").collect()
}

/// Number and name at the beginning of a row that describes a variant.
fn variant_row(line: &str) -> Option<String> {
    let (number, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
    let (name, _) = rest.split_once("` |")?;
    let is_one = number.bytes().all(|byte| byte.is_ascii_digit()) && name.starts_with(|c: char| c.is_ascii_uppercase());
    is_one.then(|| format!("| {number} | `{name}` |"))
}

fn metric_rows(readme: &str) -> impl Iterator<Item = &str> {
    let table = readme.lines().skip_while(|line| !line.starts_with("| metric |"));
    table.take_while(|line| line.starts_with('|'))
}

fn backticked(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn literals(code: &str) -> impl Iterator<Item = &str> {
    code.split('"')
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'_'
}

/// All that runs in a node and can measure: the actors and the program, without their tests.
fn code() -> String {
    let mut files = Vec::new();
    for folder in ["actors/src", "src"] {
        collect(&root().join(folder), &mut files);
    }
    files.concat()
}

fn collect(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry of the repository").path();
        if path.is_dir() && !path.ends_with("tests") {
            collect(&path, files);
        } else if path.is_file() && !path.ends_with("tests.rs") {
            files.push(fs::read_to_string(&path).expect("a text file"));
        }
    }
}

fn read(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
