//! The fields of one happening, in the order in which they were given.

use std::fmt;

use tracing::Event;
use tracing::field::{Field, Visit};

use super::escape::capped;

/// Keys that every line has; a field of that name gets `_` behind it.
const HEAD: [&str; 4] = ["ts", "level", "node", "event"];

/// The fields, with what every line needs taken out.
#[derive(Debug)]
pub(super) struct Fields {
    /// Field `event`; `log` for lines of libraries, which name none.
    pub(super) event: String,
    /// All others.
    pub(super) list: Vec<(String, Value)>,
    /// The text for people; may be empty.
    pub(super) message: String,
}

/// A value of a field.
#[derive(Debug)]
pub(super) enum Value {
    /// Text, capped.
    Text(String),
    /// A number or a truth value, as JSON writes it.
    Literal(String),
}

impl Fields {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let mut visitor = Visitor::default();
        event.record(&mut visitor);
        let Visitor { event: name, mut list, message } = visitor;
        let event = name.unwrap_or_else(|| {
            list.push(("target".to_owned(), Value::Text(event.metadata().target().to_owned())));
            "log".to_owned()
        });
        Self { event, list, message }
    }
}

#[derive(Default)]
struct Visitor {
    event: Option<String>,
    list: Vec<(String, Value)>,
    message: String,
}

impl Visitor {
    fn text(&mut self, field: &Field, text: String) {
        match field.name() {
            "event" => self.event = Some(capped(&text)),
            "message" => self.message = capped(&text),
            _ => self.push(field, Value::Text(capped(&text))),
        }
    }

    fn push(&mut self, field: &Field, value: Value) {
        let name = field.name().strip_prefix("r#").unwrap_or(field.name());
        let mut name = name.to_owned();
        while HEAD.contains(&name.as_str()) || name == "message" || self.list.iter().any(|(known, _)| *known == name) {
            name.push('_');
        }
        self.list.push((name, value));
    }
}

impl Visit for Visitor {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, Value::Literal(value.to_string()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, Value::Literal(value.to_string()));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.push(field, Value::Literal(value.to_string()));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.push(field, Value::Literal(value.to_string()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, Value::Literal(value.to_string()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        let text = value.to_string();
        self.push(field, if value.is_finite() { Value::Literal(text) } else { Value::Text(text) });
    }
}
