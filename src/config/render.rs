//! `config show`: the values in force, as TOML or as JSON lines, secrets masked.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Origins;
use super::origin::{Origin, OriginValue};

/// Whether the source of each value is told beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Values alone.
    Hidden,
    /// `# cluster.toml:12` behind each value.
    Shown,
}

/// The values as a file that could be read again, except for the secrets.
#[must_use]
pub fn toml(origins: &Origins, sources: Sources) -> String {
    let mut text = String::new();
    let mut open = String::new();
    for origin in origins {
        let (table, name) = origin.key.rsplit_once('.').unwrap_or(("", &origin.key));
        if open != table {
            let gap = if open.is_empty() { "" } else { "\n" };
            let header = table.split_once('[').map_or_else(|| format!("[{table}]"), |(list, _)| format!("[[{list}]]"));
            let _ = writeln!(text, "{gap}{header}");
            table.clone_into(&mut open);
        }
        let line = format!("{name} = {}", literal(&origin.value));
        let _ = match sources {
            Sources::Hidden => writeln!(text, "{line}"),
            Sources::Shown => writeln!(text, "{line:<38} # {}", origin.source),
        };
    }
    text
}

fn literal(value: &OriginValue) -> String {
    match value {
        OriginValue::Text(text) => toml_edit::Value::from(text.as_str()).to_string(),
        OriginValue::Whole(number) => number.to_string(),
    }
}

/// One object a line: `{"key":"node.name","value":"n1","source":"cluster.toml:3"}`.
#[must_use]
pub fn json_lines(origins: &Origins) -> String {
    origins.iter().map(|origin| format!("{}\n", json_object(origin))).collect()
}

fn json_object(Origin { key, value, source }: &Origin) -> String {
    let value = match value {
        OriginValue::Text(text) => Value::from(text.as_str()),
        OriginValue::Whole(number) => Value::from(*number),
    };
    format!("{{\"key\":{},\"value\":{value},\"source\":{}}}", json!(key), json!(source))
}
