//! Every item of `slipgate::prelude` has an example in its own docs, which `cargo test --doc` compiles.
//!
//! | exported from | looked for in |
//! |---|---|
//! | `slipgate_entity::game` | `entity/src/game` |
//! | `slipgate_entity` | the rest of `entity/src`, too |
//! | `slipgate_macros` | `macros/src` |
//! | `crate::game` | `src/game.rs` |
//! | `crate` | `src/cluster`, and what that hands on from `proto` |
//!
//! Leaves out: whether it is a good example. It reads source as text: an item that a macro declares is not found.

use std::fs;
use std::path::Path;

#[test]
fn every_item_of_the_prelude_has_an_example() {
    let prelude = fs::read_to_string(root().join("src/prelude.rs")).expect("the prelude");
    let exported = exported(&prelude);
    assert!(exported.len() > 60, "found only {exported:?}");
    let mut faults = Vec::new();
    for (origin, places) in ORIGINS {
        let code = places.iter().map(|place| code(&root().join(place))).collect::<String>();
        let names = exported.iter().filter(|(from, _)| *from == origin);
        faults.extend(names.filter_map(|(_, name)| fault(&code, name)));
    }
    assert_eq!(faults, [""; 0]);
    let known = |from: &str| ORIGINS.iter().any(|(origin, _)| *origin == from);
    assert!(exported.iter().all(|(from, _)| known(from)), "{exported:?}");
}

#[test]
fn an_item_without_an_example_that_compiles_is_caught() {
    let code = "/// A.\n///\n/// ```\n/// a();\n/// ```\n#[derive(Debug)]\npub struct Good<T> {\n    /// A.\n    a: T,\n}\n\
                /// A picture.\n///\n/// ```text\n/// a -> b\n/// ```\n#[on(\n    note = \"a\"\n)]\npub trait Drawn {}\n\n\
                /// A fault.\n///\n/// ```compile_fail\n/// a(1);\n/// ```\npub enum Wrong {}\n\n\
                pub struct Bare;\n\n\
                /// ```no_run\n/// #[derive(Derived)]\n/// struct A;\n/// ```\n#[proc_macro_derive(Derived, attributes(a))]\n\
                pub fn derive() {}\n\n/// ```\n/// register!(A);\n/// ```\n#[macro_export]\nmacro_rules! register {\n}\n\
                /// ```\n/// a();\n/// ```\npub struct Twice;\npub trait Twice {}\n";
    let names = exported(
        "pub use a::b::{Good, Drawn,\n    Wrong};\npub use a::Bare;\npub use c::{Derived, register, Twice, Gone};\n",
    );
    assert_eq!((names[0], names[4]), (("a::b", "Good"), ("c", "Derived")));
    let faults: Vec<_> = names.iter().filter_map(|(_, name)| fault(code, name)).collect();
    let wanted =
        ["Drawn has none", "Wrong has none", "Bare has none", "Twice is declared 2 times", "Gone is declared 0 times"];
    assert_eq!(faults, wanted);
}

/// What a prelude exports: the path of the module that it is from, and its name.
fn exported(prelude: &str) -> Vec<(&str, &str)> {
    let mut exported = Vec::new();
    for path in prelude.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(path, _)| path) {
        let (origin, names) = path.rsplit_once("::").expect("a path begins with a crate");
        let names = names.trim_matches(['{', '}']).split(',').map(str::trim).filter(|name| !name.is_empty());
        exported.extend(names.map(|name| (origin, name)));
    }
    exported
}

/// What is wrong with the declaration of an item.
fn fault(code: &str, name: &str) -> Option<String> {
    let lines: Vec<_> = code.lines().collect();
    let declared: Vec<_> = (0..lines.len()).filter(|at| declares(lines[*at], name)).collect();
    let [at] = declared.as_slice() else { return Some(format!("{name} is declared {} times", declared.len())) };
    // Docs and attributes, of one line or several.
    let is_above = |line: &&&str| ["///", "#[", "    ", ")]"].iter().any(|start| line.starts_with(start));
    let above = lines[..*at].iter().rev().take_while(is_above);
    let mut fences = above.filter_map(|line| line.strip_prefix("/// ```"));
    let compiles = |fence: &str| ["no_run", "should_panic"].contains(&fence);
    // From below, the end of each block comes first; of a block without a word both look the same.
    let mut has_example = false;
    while let Some(_end) = fences.next() {
        let start = fences.next().expect("a block has two ends");
        has_example |= start.is_empty() || compiles(start);
    }
    (!has_example).then(|| format!("{name} has none"))
}

/// Whether a line declares an item of that name.
fn declares(line: &str, name: &str) -> bool {
    let rest = DECLARATIONS.iter().find_map(|start| line.strip_prefix(start)?.strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// All Rust code of a file or a folder.
fn code(path: &Path) -> String {
    if path.is_file() {
        return fs::read_to_string(path).expect("a text file");
    }
    let entries = fs::read_dir(path).expect("a folder of the repository");
    entries.map(|entry| code(&entry.expect("an entry of the repository").path())).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where what the prelude exports is declared, by the path from which it does.
const ORIGINS: [(&str, &[&str]); 5] = [
    ("slipgate_entity::game", &["entity/src/game"]),
    ("slipgate_entity", &["entity/src"]),
    ("slipgate_macros", &["macros/src"]),
    ("crate::game", &["src/game.rs"]),
    ("crate", &["src/cluster.rs", "src/cluster", "proto/src/admin.rs"]),
];

/// How the declaration of an item begins, up to its name.
const DECLARATIONS: [&str; 6] =
    ["pub struct ", "pub enum ", "pub trait ", "pub fn ", "macro_rules! ", "#[proc_macro_derive("];
