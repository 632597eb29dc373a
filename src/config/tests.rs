//! Configuration as users write it: keys and sources, faults and their words, the sample, `config show`.

mod faults;
mod keys;
mod sample;
mod show;

use super::{Config, ConfigErrors, FileText, Loaded};

/// The least that loads.
const LEAST: &str = "[node]\nname = \"n1\"\n[cluster]\nname = \"demo\"\n[manager]\nnode = \"n1\"\n";

fn load(text: &str, env: &[(&str, &str)], overrides: &[(&str, &str)]) -> Result<Loaded, ConfigErrors> {
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    Config::from_text(Some(FileText { name: "cluster.toml", text }), own(env).into_iter(), &own(overrides))
}

fn loaded(text: &str) -> Loaded {
    load(text, &[], &[]).expect("the configuration holds together")
}

/// What `config check` prints.
fn told(text: &str, env: &[(&str, &str)], overrides: &[(&str, &str)]) -> String {
    load(text, env, overrides).expect_err("the configuration is wrong").to_string()
}
