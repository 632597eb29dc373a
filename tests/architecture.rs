//! The layers: a crate imports what stands below it, nothing above or beside.
//!
//! ```text
//! slipgate
//!   actors
//!     proto
//!       cluster | sync     ---- no I/O, clock or randomness from here down ----
//!         entity             macros: on its own; its tests are on entity. sim: on actors, below slipgate: for tests
//! ```
//!
//! Cargo already refuses a circle of imports. This test also refuses the first step of one, and keeps
//! the three pure crates pure: what they may import is a short list.
//!
//! Keeps: every crate of the workspace has a layer; dev-dependencies keep the layers too, but for what a crate of macros
//! expands to.
//! Leaves out: what is used inside a crate; the `clippy.toml` of each crate bans that.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item, TableLike};

/// A crate of the workspace and what it may import of the others.
struct Layer {
    name: &'static str,
    below: &'static [&'static str],
    /// What its tests alone may import as well.
    tested_on: &'static [&'static str],
    pure: bool,
}

const LAYERS: [Layer; 9] = [
    Layer { name: "slipgate-macros", below: &[], tested_on: &["slipgate-entity"], pure: false },
    Layer { name: "slipgate-entity", below: &[], tested_on: &[], pure: true },
    // Its own tests switch rules off.
    Layer { name: "slipgate-cluster", below: &["slipgate-entity"], tested_on: &["slipgate-cluster"], pure: true },
    Layer { name: "slipgate-sync", below: &["slipgate-entity"], tested_on: &[], pure: true },
    Layer {
        name: "slipgate-proto",
        below: &["slipgate-entity", "slipgate-cluster", "slipgate-sync"],
        tested_on: &[],
        pure: false,
    },
    Layer {
        name: "slipgate-sim",
        below: &["slipgate-entity", "slipgate-cluster", "slipgate-proto", "slipgate-actors"],
        tested_on: &[],
        pure: false,
    },
    Layer { name: "slipgate-walker", below: &["slipgate-entity", "slipgate-macros"], tested_on: &[], pure: false },
    Layer {
        name: "slipgate-actors",
        below: &["slipgate-entity", "slipgate-cluster", "slipgate-sync", "slipgate-proto"],
        tested_on: &["slipgate-macros", "slipgate-walker"],
        pure: false,
    },
    Layer {
        name: "slipgate",
        below: &[
            "slipgate-macros",
            "slipgate-entity",
            "slipgate-cluster",
            "slipgate-sync",
            "slipgate-proto",
            "slipgate-walker",
            "slipgate-actors",
            "slipgate-sim",
        ],
        tested_on: &[],
        pure: false,
    },
];

/// What a pure crate may import from outside, and with which features; none of it does I/O, reads a
/// clock or draws a random number.
const PURE_IMPORTS: [(&str, &[&str]); 5] = [
    ("fixedbitset", &["std"]),
    ("rustc-hash", &["std"]),
    ("serde", &["alloc", "derive", "rc", "std"]),
    ("thiserror", &["std"]),
    ("uuid", &["serde", "std"]),
];

/// The same for `entity` alone, which turns the types of games into bytes and text: `docs/adr/0018`.
const ENTITY_IMPORTS: [(&str, &[&str]); 5] = [
    ("bincode", &["serde", "std"]),
    ("inventory", &[]),
    ("serde_json", &["std"]),
    ("strsim", &[]),
    ("toml", &["parse", "serde", "std"]),
];

/// With it the rules of the protocol can be switched off (`cluster::rule`): for tests alone.
const RULE_SWITCHES: &str = "rule-switches";

/// What the check needs to know of a `Cargo.toml`.
#[derive(Debug)]
struct Manifest {
    name: String,
    imports: Vec<Import>,
}

#[derive(Debug)]
struct Import {
    package: String,
    features: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shipped,
    Dev,
}

#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// The crate is in the workspace, but not in the table of layers.
    NoLayer { name: String },
    /// The import stands above or beside the crate.
    NotBelow { name: String, import: String },
    /// The import, or a feature of it, does not belong into a pure crate.
    NotPure { name: String, import: String },
    /// The rules of the protocol could be switched off in what is shipped.
    Switches { name: String },
}

#[test]
fn every_crate_of_the_workspace_imports_only_what_stands_below_it() {
    let manifests = workspace(Path::new(env!("CARGO_MANIFEST_DIR")));
    for layer in &LAYERS {
        assert!(manifests.iter().any(|manifest| manifest.name == layer.name), "{} was not looked at", layer.name);
    }
    assert_eq!(check(&manifests), []);
}

#[test]
fn an_import_from_above_is_caught() {
    for forged in ["[dependencies]\nslipgate-proto.workspace = true", "[dev-dependencies]\nslipgate-proto = '1'"] {
        assert_eq!(check(&[forge("slipgate-entity", forged)]), [not_below("slipgate-entity", "slipgate-proto")]);
    }
}

#[test]
fn what_the_tests_of_the_macros_may_import_the_macros_may_not() {
    let forged = |table: &str| format!("[{table}]\nslipgate-entity.workspace = true");
    assert_eq!(check(&[forge("slipgate-macros", &forged("dev-dependencies"))]), []);
    let expected = [not_below("slipgate-macros", "slipgate-entity")];
    assert_eq!(check(&[forge("slipgate-macros", &forged("dependencies"))]), expected);
}

#[test]
fn an_import_from_beside_is_caught_under_another_name_too() {
    let forged = "[dependencies]\nfriend = { package = 'slipgate-sync', path = '../sync' }";
    assert_eq!(check(&[forge("slipgate-cluster", forged)]), [not_below("slipgate-cluster", "slipgate-sync")]);
}

#[test]
fn a_crate_without_a_layer_is_caught_and_so_is_an_import_of_it() {
    let extra = forge("slipgate-extra", "");
    let importer = forge("slipgate", "[dependencies]\nslipgate-extra.workspace = true");
    let expected = [Violation::NoLayer { name: "slipgate-extra".to_owned() }, not_below("slipgate", "slipgate-extra")];
    assert_eq!(check(&[extra, importer]), expected);
}

#[test]
fn a_runtime_a_store_or_a_source_of_randomness_in_a_pure_crate_is_caught() {
    for name in ["slipgate-entity", "slipgate-cluster", "slipgate-sync"] {
        for import in ["tokio", "actix", "fastrand", "redb", "rand"] {
            let forged = format!("[dependencies]\n{import} = '1'");
            assert_eq!(check(&[forge(name, &forged)]), [not_pure(name, import)]);
        }
    }
}

#[test]
fn a_codec_belongs_into_entity_alone() {
    for import in ["bincode", "serde_json", "toml"] {
        let forged = format!("[dependencies]\n{import} = '1'");
        assert_eq!(check(&[forge("slipgate-entity", &forged)]), []);
        assert_eq!(check(&[forge("slipgate-cluster", &forged)]), [not_pure("slipgate-cluster", import)]);
    }
}

#[test]
fn an_impure_import_is_caught_in_every_kind_of_table() {
    for table in ["dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"] {
        let forged = format!("[{table}]\ntokio.workspace = true");
        assert_eq!(check(&[forge("slipgate-sync", &forged)]), [not_pure("slipgate-sync", "tokio")], "{table}");
    }
}

#[test]
fn random_and_timed_ids_in_a_pure_crate_are_caught() {
    for forged in [
        "[dependencies]\nuuid = { workspace = true, features = ['v4'] }",
        "[dependencies]\nuuid.workspace = true\n[features]\nfresh = ['uuid/v4']",
        "[dependencies]\nuuid.workspace = true\n[features]\nfresh = ['uuid?/v4']",
        "[dependencies]\nrandom = { workspace = true }",
    ] {
        assert_eq!(check(&[forge("slipgate-cluster", forged)]), [not_pure("slipgate-cluster", "uuid/v4")], "{forged}");
    }
}

#[test]
fn switches_of_rules_in_what_is_shipped_are_caught() {
    let asks =
        |table: &str| format!("[{table}]\nslipgate-cluster = {{ path = 'cluster', features = ['rule-switches'] }}");
    let caught = [Violation::Switches { name: "slipgate-actors".to_owned() }];
    assert_eq!(check(&[forge("slipgate-actors", &asks("dependencies"))]), caught);
    let passed_on = "[features]\nbreak = ['slipgate-cluster/rule-switches']";
    assert_eq!(check(&[forge("slipgate-actors", passed_on)]), caught);
    assert_eq!(check(&[forge("slipgate-actors", &asks("dev-dependencies"))]), []);
}

#[test]
fn tests_of_a_pure_crate_may_import_what_the_crate_may_not() {
    assert_eq!(check(&[forge("slipgate-entity", "[dev-dependencies]\nserde_json = '1'")]), []);
}

/// What is wrong with the manifests, in their order.
fn check(manifests: &[Manifest]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for manifest in manifests {
        let name = || manifest.name.clone();
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == manifest.name) else {
            violations.push(Violation::NoLayer { name: name() });
            continue;
        };
        for import in &manifest.imports {
            let has_switches = import.features.iter().any(|feature| feature == RULE_SWITCHES);
            if has_switches && import.kind == Kind::Shipped {
                violations.push(Violation::Switches { name: name() });
            }
            if is_ours(&import.package) {
                let tested_on = if import.kind == Kind::Dev { layer.tested_on } else { &[] };
                if !layer.below.iter().chain(tested_on).any(|below| *below == import.package) {
                    violations.push(Violation::NotBelow { name: name(), import: import.package.clone() });
                }
            } else if layer.pure && import.kind == Kind::Shipped {
                let impure = impure_parts(import, layer.name == "slipgate-entity");
                violations.extend(impure.into_iter().map(|import| Violation::NotPure { name: name(), import }));
            }
        }
    }
    violations
}

fn is_ours(package: &str) -> bool {
    package == "slipgate" || package.starts_with("slipgate-")
}

/// The import if it is not on the list, or those of its features that are not.
fn impure_parts(import: &Import, is_entity: bool) -> Vec<String> {
    let own = ENTITY_IMPORTS.iter().filter(|_| is_entity);
    let Some((_, features)) = PURE_IMPORTS.iter().chain(own).find(|(package, _)| *package == import.package) else {
        return vec![import.package.clone()];
    };
    let strange = import.features.iter().filter(|feature| !features.contains(&feature.as_str()));
    strange.map(|feature| format!("{}/{feature}", import.package)).collect()
}

/// The manifests of the workspace at `root`: its own package and every member.
fn workspace(root: &Path) -> Vec<Manifest> {
    let read = |folder: &Path| {
        let path = folder.join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.parse::<DocumentMut>().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let own = read(root);
    let workspace = own["workspace"].as_table_like().expect("the root has [workspace]");
    let shared = table(workspace, "dependencies").expect("the root has [workspace.dependencies]");
    let members = workspace.get("members").and_then(Item::as_array).expect("the root lists its members");
    let members = members.iter().map(|member| root.join(member.as_str().expect("a member is a path")));
    let documents = members.map(|member| read(&member));
    let mut manifests: Vec<_> = documents.map(|document| manifest(&document, shared)).collect();
    manifests.push(manifest(&own, shared));
    manifests
}

/// A manifest of the package `name`, in a workspace that shares a few dependencies.
fn forge(name: &str, tables: &str) -> Manifest {
    let shared = "
        slipgate-entity = { path = 'entity' }
        slipgate-extra = { path = 'extra' }
        slipgate-proto = { path = 'proto' }
        random = { package = 'uuid', version = '1', features = ['v4'] }
        tokio = '1'
        uuid = { version = '1', features = ['serde'] }";
    let shared = shared.parse::<DocumentMut>().expect("it is TOML");
    let text = format!("[package]\nname = '{name}'\n{tables}");
    manifest(&text.parse().expect("it is TOML"), shared.as_table())
}

fn manifest(document: &DocumentMut, shared: &dyn TableLike) -> Manifest {
    let root = document.as_table();
    let name = document["package"]["name"].as_str().expect("a package has a name").to_owned();
    let targets = table(root, "target").into_iter().flat_map(TableLike::iter);
    let tables = targets.filter_map(|(_, target)| target.as_table_like()).chain([root as &dyn TableLike]);
    let mut imports = Vec::new();
    for tables in tables {
        for (key, kind) in
            [("dependencies", Kind::Shipped), ("build-dependencies", Kind::Shipped), ("dev-dependencies", Kind::Dev)]
        {
            let entries = table(tables, key).into_iter().flat_map(TableLike::iter);
            imports.extend(entries.map(|(alias, entry)| import(alias, entry, kind, shared)));
        }
    }
    let features = table(root, "features").into_iter().flat_map(TableLike::iter);
    let switched = features.flat_map(|(_, feature)| strings(Some(feature)));
    imports.extend(switched.filter_map(|switch| feature_of_import(&switch)));
    Manifest { name, imports }
}

/// One line of a table of dependencies, together with what the workspace says of it.
fn import(alias: &str, entry: &Item, kind: Kind, shared: &dyn TableLike) -> Import {
    let own = entry.as_table_like();
    let inherits = own.and_then(|own| own.get("workspace")).and_then(Item::as_bool) == Some(true);
    let inherited = shared.get(alias).filter(|_| inherits).and_then(Item::as_table_like);
    let renamed = [own, inherited].into_iter().flatten().find_map(|entry| entry.get("package")?.as_str());
    let features = [own, inherited].into_iter().flatten().flat_map(|entry| strings(entry.get("features")));
    Import { package: renamed.unwrap_or(alias).to_owned(), features: features.collect(), kind }
}

/// A feature of our own that switches on one of an import: `uuid/v4`, `uuid?/v4`.
fn feature_of_import(switch: &str) -> Option<Import> {
    let (package, feature) = switch.split_once('/')?;
    let package = package.trim_end_matches('?').to_owned();
    Some(Import { package, features: vec![feature.to_owned()], kind: Kind::Shipped })
}

fn table<'a>(parent: &'a dyn TableLike, key: &str) -> Option<&'a dyn TableLike> {
    parent.get(key).and_then(Item::as_table_like)
}

fn strings(list: Option<&Item>) -> Vec<String> {
    let values = list.and_then(Item::as_array).into_iter().flatten();
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

fn not_below(name: &str, import: &str) -> Violation {
    Violation::NotBelow { name: name.to_owned(), import: import.to_owned() }
}

fn not_pure(name: &str, import: &str) -> Violation {
    Violation::NotPure { name: name.to_owned(), import: import.to_owned() }
}
