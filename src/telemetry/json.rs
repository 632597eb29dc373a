//! The line for machines: one flat object, keys in a fixed order, ids at the root.

use std::fmt::Write as _;

use super::Head;
use super::escape::is_obeyed;
use super::fields::{Fields, Value};

/// `ts`, `level`, `node`, `event`, the fields as given, `message` if there is one.
pub(super) fn line(head: &Head<'_>, fields: &Fields) -> String {
    let mut line = String::with_capacity(256);
    let _ = write!(line, "{{\"ts\":\"{}\",\"level\":\"{}\",\"node\":", head.ts, head.level);
    push_text(&mut line, head.node);
    line.push_str(",\"event\":");
    push_text(&mut line, &fields.event);
    for (name, value) in &fields.list {
        line.push(',');
        push_text(&mut line, name);
        line.push(':');
        match value {
            Value::Text(text) => push_text(&mut line, text),
            Value::Literal(text) => line.push_str(text),
        }
    }
    if !fields.message.is_empty() {
        line.push_str(",\"message\":");
        push_text(&mut line, &fields.message);
    }
    line.push('}');
    line
}

/// JSON leaves the upper controls and the direction marks as they are; a terminal that shows the
/// line would obey them.
fn push_text(line: &mut String, text: &str) {
    let quoted = serde_json::Value::from(text).to_string();
    for c in quoted.chars() {
        if is_obeyed(c) {
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
}
