//! JSON inside of JSON: text for the codec, which knows no values without a type, and the value itself for
//! readers of JSON, who would have to parse twice.
//!
//! Text that is no JSON is passed on as a string.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if !serializer.is_human_readable() {
        return serializer.serialize_str(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) => value.serialize(serializer),
        Err(_) => serializer.serialize_str(text),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    if !deserializer.is_human_readable() {
        return String::deserialize(deserializer);
    }
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            value.to_string()
        }
    })
}

/// The same for text that is always JSON: a string stays one, quotes and all.
pub(super) mod whole {
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    pub(in super::super) use super::serialize;

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        if !deserializer.is_human_readable() {
            return String::deserialize(deserializer);
        }
        Value::deserialize(deserializer).map(|value| value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AskReport, Event, SendReport};
    use crate::codec;

    fn event(fields: &str) -> Event {
        let text = String::new;
        Event { node: text(), number: 1, ts: text(), event: text(), fields: fields.to_owned() }
    }

    #[test]
    fn readers_of_json_get_an_object_and_give_it_back() {
        let told = event(r#"{"epoch":3,"move":"9f31"}"#);
        let json = serde_json::to_value(&told).expect("plain data");
        assert_eq!(json["fields"]["move"], "9f31");
        assert_eq!(serde_json::from_value::<Event>(json).expect("an event"), told);
    }

    #[test]
    fn nodes_pass_the_text_on_as_it_is() {
        let told = event(r#"{ "move" : "9f31" }"#);
        let bytes = codec::encode(&told).expect("small");
        assert_eq!(codec::decode::<Event>(&bytes).expect("an event"), told);
    }

    #[test]
    fn an_answer_that_is_a_string_or_nothing_comes_through_as_it_is() {
        for answer in ["null", "\"hi\"", "7", "{\"hp\":3}"] {
            let sent = SendReport::default();
            let (entity, message, answer) = ("1.0".to_owned(), "greet".to_owned(), answer.to_owned());
            let report = AskReport { entity, message, sent, answered: true, answer, why: None };
            let json = serde_json::to_string(&report).expect("plain data");
            assert_eq!(serde_json::from_str::<AskReport>(&json).expect("a report"), report);
            let bytes = codec::encode(&report).expect("small");
            assert_eq!(codec::decode::<AskReport>(&bytes).expect("a report"), report);
        }
    }

    #[test]
    fn text_that_is_no_json_stays_a_string() {
        let json = serde_json::to_value(event("{oops")).expect("plain data");
        assert_eq!(json["fields"], "{oops");
        assert_eq!(serde_json::from_value::<Event>(json).expect("an event").fields, "{oops");
    }
}
