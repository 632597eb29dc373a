//! Lines as they come out.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use slipgate_actors::voices;
use slipgate_cluster::NodeName;

use super::{NodeLabel, Paint, Shape, Surroundings, subscriber};
use crate::config::{Colour, Format, Log};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log(format: Format, colour: Colour) -> Log {
    Log { format, level: "info".to_owned(), entities: "info".to_owned(), colour }
}

fn n1() -> NodeLabel {
    NodeName::new("n1").expect("a name").into()
}

const ELSEWHERE: Surroundings = Surroundings { terminal: false, no_color: false };

/// What `tell` writes as node n1.
fn lines(log: &Log, tell: impl FnOnce()) -> Vec<String> {
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = subscriber(log, ELSEWHERE, n1(), move || writer.clone()).expect("a filter");
    tracing::subscriber::with_default(subscriber, tell);
    let bytes = captured.0.lock().expect("nobody panicked").clone();
    String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
}

fn json(tell: impl FnOnce()) -> Vec<String> {
    lines(&log(Format::Json, Colour::Always), tell)
}

/// The one line that `tell` writes for people, without its time.
fn pretty(tell: impl FnOnce()) -> String {
    let lines = lines(&log(Format::Pretty, Colour::Never), tell);
    let [line] = lines.as_slice() else { panic!("one line, not {lines:?}") };
    let (time, rest) = line.split_at(13);
    let digits = time.chars().filter(char::is_ascii_digit).count();
    assert_eq!((digits, time.matches(':').count(), &time[8..9]), (9, 2, "."), "{time:?} is no time");
    rest.to_owned()
}

fn move_ok() {
    let id = "9f31b6a2-0000-4000-8000-000000000000";
    tracing::info!(event = "move.ok", r#move = %id, entity = %"3.1204", from = "forest@n1", to = "harbor@n2",
        epoch = 13_u64, total_us = 6800_u64, pause_us = 1900_u64, held = 3_u32, why = "in combat", "it went well");
}

#[test]
fn json_is_flat_in_order_and_keeps_ids_as_given() {
    let lines = json(move_ok);
    let (head, rest) = lines[0].split_at(r#"{"ts":"2026-01-01T12:00:05.111Z","#.len());
    assert!(head.starts_with(r#"{"ts":"20"#) && head.ends_with(r#"Z","#), "{head}");
    let expected = concat!(
        r#""level":"INFO","node":"n1","event":"move.ok","move":"9f31b6a2-0000-4000-8000-000000000000","#,
        r#""entity":"3.1204","from":"forest@n1","to":"harbor@n2","epoch":13,"total_us":6800,"pause_us":1900,"#,
        r#""held":3,"why":"in combat","message":"it went well"}"#,
    );
    assert_eq!(rest, expected);
}

#[test]
fn each_happening_is_one_object_on_one_line() {
    let lines = json(|| {
        move_ok();
        tracing::warn!(event = "peer.lost", peer = "n2\n{}", "two\nlines");
        tracing::error!(rate = 0.5, nan = f64::NAN, ok = false, id = u64::MAX, "of a library");
    });
    let objects: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), 3);
    assert_eq!(objects[1]["peer"], "n2\n{}");
    assert_eq!((&objects[1]["level"], &objects[1]["message"]), (&Value::from("WARN"), &Value::from("two\nlines")));
    assert_eq!((&objects[2]["event"], &objects[2]["target"]), (&"log".into(), &"slipgate::telemetry::tests".into()));
    assert_eq!((&objects[2]["rate"], &objects[2]["nan"]), (&0.5.into(), &"NaN".into()));
    assert_eq!((&objects[2]["ok"], &objects[2]["id"]), (&false.into(), &u64::MAX.into()));
}

#[test]
fn a_field_cannot_take_the_place_of_what_every_line_has() {
    let lines = json(|| tracing::info!(event = "node.joined", node = "n9", ts = 1, "text"));
    let object: Value = serde_json::from_str(&lines[0]).expect("an object");
    assert_eq!((&object["node"], &object["node_"], &object["ts_"]), (&"n1".into(), &"n9".into(), &1.into()));
    assert_eq!(lines[0].matches("\"node\":").count(), 1);
}

#[test]
fn people_read_columns_then_text_then_fields() {
    assert_eq!(
        pretty(move_ok),
        "INFO  n1  move ok        it went well move=9f31b6a2-0000-4000-8000-000000000000 entity=3.1204 \
         from=forest@n1 to=harbor@n2 epoch=13 total_us=6800 pause_us=1900 held=3 why=\"in combat\""
    );
    assert_eq!(pretty(|| tracing::warn!(event = "suspect", peer = "n3")), "WARN  n1  suspect        peer=n3");
    assert_eq!(pretty(|| tracing::info!(event = "stopped")), "INFO  n1  stopped");
}

#[test]
fn what_a_terminal_would_obey_is_spelt_out_in_both_forms() {
    let tell = || tracing::info!(event = "x", label = "a\u{1b}[2J\u{9b}\"\u{202e}", "\u{1b}]0;title\u{7}");
    assert_eq!(
        pretty(tell),
        "INFO  n1  x              \\u{1b}]0;title\\u{7} label=\"a\\u{1b}[2J\\u{9b}\\\"\\u{202e}\""
    );
    let line = json(tell).remove(0);
    assert!(!line.contains(super::escape::is_obeyed), "{line:?}");
    let object: Value = serde_json::from_str(&line).expect("an object");
    assert_eq!(object["label"], "a\u{1b}[2J\u{9b}\"\u{202e}");
}

#[test]
fn a_text_without_end_is_cut_in_both_forms() {
    let long = "x".repeat(1000);
    let tell = || tracing::info!(event = "x", label = long, "text");
    let cut = format!("{}...", "x".repeat(256));
    assert_eq!(pretty(tell), format!("INFO  n1  x              text label={cut}"));
    assert_eq!(serde_json::from_str::<Value>(&json(tell)[0]).expect("an object")["label"], cut);
}

#[test]
fn colours_mark_the_level_only_where_they_are_wanted() {
    let coloured = lines(&log(Format::Pretty, Colour::Always), move_ok).remove(0);
    assert!(coloured.contains("\u{1b}[32mINFO \u{1b}[0m"), "{coloured:?}");
    assert!(!lines(&log(Format::Pretty, Colour::Auto), move_ok)[0].contains('\u{1b}'));
    assert!(!json(move_ok)[0].contains('\u{1b}'));
}

#[test]
fn auto_means_columns_on_a_terminal_and_json_elsewhere() {
    let shape =
        |format, colour, terminal, no_color| Shape::of(&log(format, colour), Surroundings { terminal, no_color });
    assert_eq!(shape(Format::Auto, Colour::Auto, true, false), Shape::Pretty(Paint::Coloured));
    assert_eq!(shape(Format::Auto, Colour::Auto, true, true), Shape::Pretty(Paint::Plain));
    assert_eq!(shape(Format::Auto, Colour::Always, true, true), Shape::Pretty(Paint::Coloured));
    assert_eq!(shape(Format::Auto, Colour::Never, true, false), Shape::Pretty(Paint::Plain));
    assert_eq!(shape(Format::Auto, Colour::Always, false, false), Shape::Json);
    assert_eq!(shape(Format::Pretty, Colour::Auto, false, false), Shape::Pretty(Paint::Plain));
    assert_eq!(shape(Format::Json, Colour::Auto, true, false), Shape::Json);
}

#[test]
fn the_level_is_a_filter() {
    let tell = || {
        tracing::info!(event = "a");
        tracing::warn!(event = "b");
        tracing::debug!(target: "slipgate_actors", event = "c");
    };
    let told = |level: &str| lines(&Log { level: level.to_owned(), ..log(Format::Json, Colour::Auto) }, tell).len();
    assert_eq!([told("warn"), told("info"), told("warn,slipgate_actors=debug"), told("off")], [1, 2, 2, 0]);
}

#[test]
fn what_entities_say_has_a_level_of_its_own_and_that_of_the_log_may_name_it() {
    let tell = || {
        tracing::info!(event = "a");
        tracing::debug!(target: voices::TARGET, event = "entity.says", "hm");
    };
    let told = |level: &str| lines(&Log { level: level.to_owned(), ..log(Format::Json, Colour::Auto) }, tell);
    for level in ["off", "warn"] {
        let [line] = &told(level)[..] else { panic!("one line at {level}") };
        assert!(line.contains(r#""level":"DEBUG""#) && line.contains(r#""event":"entity.says""#), "{line}");
    }
    assert_eq!(told("info,entity-says=off").len(), 1);
}

#[test]
fn a_node_without_a_name_yet_writes_a_dash_and_keeps_its_first_name() {
    let label = NodeLabel::default();
    assert_eq!(label.as_str(), "-");
    label.clone().set(NodeName::new("n1").expect("a name"));
    label.set(NodeName::new("n2").expect("a name"));
    assert_eq!(label.as_str(), "n1");
}
