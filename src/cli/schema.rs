//! `schema`: which entity types, components and messages there are, with their versions.

use clap::Subcommand;
use serde::Deserialize;
use serde_json::Value;
use slipgate_entity::game::Types;

use super::console::{Console, printable};
use super::failure::{Exit, Failure};
use crate::client::Client;

/// What to do with the schema.
#[derive(Subcommand, Clone, Debug)]
pub enum SchemaCommand {
    /// Print types, components, messages and versions: those of this program or, with --at or SLIPGATE_AT, those of a node
    Export,
}

/// Prints the schema, of this program where no node is given.
///
/// # Errors
///
/// If the types of this program do not go together, or the node does not answer.
pub fn run(command: &SchemaCommand, node: Option<&Client>, console: &mut Console<'_>) -> Result<(), Failure> {
    let SchemaCommand::Export = command;
    let schema: Value = match node {
        Some(client) => client.get("/api/v1/schema")?,
        None => {
            let types = Types::linked();
            let types = types.map_err(|faults| Failure::new(Exit::Failed, "types", faults.to_string()))?;
            serde_json::to_value(types.schema()).expect("a schema is plain data")
        }
    };
    let told: Schema = serde_json::from_value(schema.clone())
        .map_err(|fault| Failure::new(Exit::Failed, "garbled", format!("the schema cannot be read: {fault}")))?;
    Ok(console.object(&schema, || printable_lines(&told.lines()))?)
}

/// As much of it as people are shown.
#[derive(Debug, Deserialize)]
struct Schema {
    types: Vec<Part>,
    components: Vec<Part>,
}

#[derive(Debug, Deserialize)]
struct Part {
    name: String,
    version: u16,
    oldest: u16,
    parent: Option<String>,
    #[serde(default)]
    is_abstract: bool,
    fields: Vec<Field>,
    #[serde(default)]
    components: Vec<String>,
    handlers: Vec<Handler>,
}

#[derive(Debug, Deserialize)]
struct Field {
    name: String,
    #[serde(rename = "type")]
    rust_type: String,
    travels: bool,
    persistent: bool,
}

#[derive(Debug, Deserialize)]
struct Handler {
    message: String,
    from: Callers,
    fields: Vec<Field>,
    answer: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Callers {
    client: bool,
    cluster: bool,
}

impl Schema {
    fn lines(&self) -> Vec<String> {
        let of = |kind: &str, parts: &[Part]| parts.iter().flat_map(|part| part.lines(kind)).collect::<Vec<_>>();
        [of("type", &self.types), of("component", &self.components)].concat()
    }
}

impl Part {
    fn lines(&self, kind: &str) -> Vec<String> {
        let mut head = format!("{kind} {}  version {}", self.name, self.version);
        if self.oldest < self.version {
            head += &format!(" (reads from {})", self.oldest);
        }
        if let Some(parent) = &self.parent {
            head += &format!("  below {parent}");
        }
        if self.is_abstract {
            head += "  abstract";
        }
        if !self.components.is_empty() {
            head += &format!("  has {}", self.components.join(", "));
        }
        let fields = self.fields.iter().map(|field| format!("  {}{}", field.text(), field.fate()));
        let handlers = self.handlers.iter().map(|handler| format!("  takes {}", handler.text()));
        std::iter::once(head).chain(fields).chain(handlers).collect()
    }
}

impl Field {
    fn text(&self) -> String {
        format!("{}: {}", self.name, self.rust_type)
    }

    fn fate(&self) -> &'static str {
        match (self.travels, self.persistent) {
            (true, true) => "  saved",
            (true, false) => "",
            (false, true) => "  saved, stays behind",
            (false, false) => "  stays behind",
        }
    }
}

impl Handler {
    fn text(&self) -> String {
        let fields: Vec<_> = self.fields.iter().map(Field::text).collect();
        let fields = if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
        let answer = if self.answer == "()" { String::new() } else { format!(" -> {}", self.answer) };
        let from = match self.from {
            Callers { client: true, cluster: true } => "anybody",
            Callers { client: true, cluster: false } => "clients",
            Callers { client: false, cluster: true } => "the cluster",
            Callers { client: false, cluster: false } => "nobody",
        };
        format!("{}{fields}{answer}  from {from}", self.message)
    }
}

fn printable_lines(lines: &[String]) -> String {
    lines.iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_are_shown_parts_with_their_fields_and_what_they_take() {
        let field = |name: &str, travels: bool, persistent: bool| json!({ "name": name, "type": "u32", "travels": travels, "persistent": persistent });
        let hit = json!({ "message": "hit", "tag": "x", "from": { "client": true, "cluster": true },
            "fields": [field("damage", true, false)], "answer": "u32" });
        let rest = json!({ "message": "rest", "tag": "x", "from": { "client": false, "cluster": true },
            "fields": [], "answer": "()" });
        let schema: Schema = serde_json::from_value(json!({
            "types": [{ "name": "player", "version": 2, "oldest": 1, "parent": "actor", "is_abstract": false,
                "flags": [], "client_kind": 1, "fields": [field("gold", true, true), field("combo", false, false)],
                "components": ["health"], "handlers": [rest] }],
            "components": [{ "name": "health", "version": 1, "oldest": 1, "fields": [], "handlers": [hit] }],
        }))
        .expect("a schema");
        let expected = [
            "type player  version 2 (reads from 1)  below actor  has health",
            "  gold: u32  saved",
            "  combo: u32  stays behind",
            "  takes rest  from the cluster",
            "component health  version 1",
            "  takes hit { damage: u32 } -> u32  from anybody",
        ];
        assert_eq!(schema.lines(), expected);
    }
}
