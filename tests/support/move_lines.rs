//! What log lines must say about moves: each told in full, once, by those who did it.
//!
//! ```text
//! move.begin    source   exactly one for each id
//! move.arrived  target   at most one; exactly one if the move is ok
//! move.ok | move.refused | move.failed   source   exactly one, unless the source's process died
//! ```
//!
//! Lines may come from any number of nodes in any order, and with the prefix that compose puts before
//! them; what is no JSON object is passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

/// What the lines told, once they are found to be in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Moves that ended well.
    pub(crate) ok: usize,
    /// Moves that somebody refused.
    pub(crate) refused: usize,
    /// Moves that failed.
    pub(crate) failed: usize,
    /// Moves whose source died before it could tell their end.
    pub(crate) unended: usize,
    /// Node pairs, from and to, between which a move ended well.
    pub(crate) pairs: BTreeSet<(String, String)>,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ok, refused, failed, unended, pairs } = self;
        write!(f, "{ok} ok, {refused} refused, {failed} failed, {unended} without an end, between {pairs:?}")
    }
}

type Object = Map<String, Value>;

/// Reads the moves out of log lines. `crashed` names the nodes whose process was killed: moves from
/// there may lack their end.
///
/// # Errors
///
/// Everything that is not in order, one text each.
pub(crate) fn check<'a>(lines: impl IntoIterator<Item = &'a str>, crashed: &[&str]) -> Result<Told, Vec<String>> {
    let mut moves: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines {
        let Some(object) = object(line).filter(|object| text(object, "event").starts_with("move.")) else { continue };
        if !matches!(text(&object, "event"), "move.begin" | "move.arrived" | "move.ok" | "move.refused" | "move.failed")
        {
            continue;
        }
        wrong.extend(missing(&object).into_iter().map(|key| format!("{line}: no {key}")));
        moves.entry(text(&object, "move").to_owned()).or_default().push(object);
    }
    let mut told = Told::default();
    for (id, lines) in &moves {
        let faults = one_move(lines, crashed, &mut told);
        wrong.extend(faults.into_iter().map(|fault| format!("move {id}: {fault}")));
    }
    if wrong.is_empty() { Ok(told) } else { Err(wrong) }
}

/// The object in a log line, behind whatever prefix.
pub(crate) fn object(line: &str) -> Option<Object> {
    let start = line.find('{')?;
    match serde_json::from_str(line.get(start..)?) {
        Ok(Value::Object(object)) => Some(object),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | Err(_) => None,
    }
}

/// Keys that a line of this kind must have at its root and has not.
fn missing(object: &Object) -> Vec<&'static str> {
    const TEXTS: [&str; 8] = ["ts", "level", "node", "event", "move", "entity", "from", "to"];
    const NUMBERS: [&str; 5] = ["total_us", "pause_us", "held", "delivered", "bytes"];
    let is_end = matches!(text(object, "event"), "move.ok" | "move.refused" | "move.failed");
    let texts = TEXTS.into_iter().filter(|key| text(object, key).is_empty());
    let numbers = NUMBERS.into_iter().filter(|key| is_end && !object.get(*key).is_some_and(Value::is_u64));
    let epoch = (!object.contains_key("epoch")).then_some("epoch");
    texts.chain(numbers).chain(epoch).collect()
}

fn one_move(lines: &[Object], crashed: &[&str], told: &mut Told) -> Vec<String> {
    let mut faults = Vec::new();
    let of = |events: &[&str]| -> Vec<&Object> {
        lines.iter().filter(|line| events.contains(&text(line, "event"))).collect()
    };
    let (begins, arrivals) = (of(&["move.begin"]), of(&["move.arrived"]));
    let ends = of(&["move.ok", "move.refused", "move.failed"]);
    for key in ["entity", "from", "to"] {
        let values: BTreeSet<&str> = lines.iter().map(|line| text(line, key)).collect();
        if values.len() > 1 {
            faults.push(format!("its lines disagree about {key}: {values:?}"));
        }
    }
    let (source, target) = (node_of(lines, "from"), node_of(lines, "to"));
    if begins.len() != 1 {
        faults.push(format!("{} lines move.begin", begins.len()));
    }
    for (lines, node) in [(&begins, source), (&arrivals, target), (&ends, source)] {
        for line in lines.iter().filter(|line| text(line, "node") != node) {
            faults.push(format!("{} is told by {}, not by {node}", text(line, "event"), text(line, "node")));
        }
    }
    match ends.as_slice() {
        [] if crashed.contains(&source) => told.unended += 1,
        [end] => match text(end, "event") {
            "move.ok" => {
                told.ok += 1;
                told.pairs.insert((source.to_owned(), target.to_owned()));
                if arrivals.is_empty() && !crashed.contains(&target) {
                    faults.push("it is ok and never arrived".to_owned());
                }
            }
            "move.refused" => told.refused += 1,
            _ => told.failed += 1,
        },
        ends => faults.push(format!("{} lines of its end", ends.len())),
    }
    if arrivals.len() > 1 {
        faults.push(format!("{} lines move.arrived", arrivals.len()));
    }
    faults
}

/// The node in `scene@node`.
fn node_of<'a>(lines: &'a [Object], key: &str) -> &'a str {
    lines.first().and_then(|line| text(line, key).rsplit_once('@')).map_or("", |(_, node)| node)
}

fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

mod forged {
    use super::{Told, check};

    /// A line as a node writes it.
    fn line(event: &str, id: &str, node: &str) -> String {
        let end = r#","total_us":6800,"pause_us":1900,"held":3,"delivered":3,"bytes":412"#;
        let end = if matches!(event, "begin" | "arrived") { "" } else { end };
        format!(
            r#"{{"ts":"2026-01-01T12:00:05.111Z","level":"INFO","node":"{node}","event":"move.{event}","move":"{id}","#
        ) + &format!(r#""entity":"3.1204","from":"forest@n1","to":"harbor@n2","epoch":13{end}}}"#)
    }

    fn verdict(lines: &[String], crashed: &[&str]) -> Result<Told, Vec<String>> {
        check(lines.iter().map(String::as_str), crashed)
    }

    fn wrong(lines: &[String]) -> String {
        verdict(lines, &[]).expect_err("the lines are not in order").join("; ")
    }

    #[test]
    fn moves_that_are_told_in_full_are_counted_in_any_order_and_behind_any_prefix() {
        let mut lines = vec![
            format!("n1_1    | {}", line("ok", "a", "n1")),
            line("arrived", "a", "n2"),
            line("begin", "a", "n1"),
            line("begin", "b", "n1"),
            line("refused", "b", "n1"),
            line("begin", "c", "n1"),
            line("failed", "c", "n1"),
            "Attaching to n1_1, n2_1".to_owned(),
            r#"{"ts":"x","level":"INFO","node":"n1","event":"node.joined"}"#.to_owned(),
        ];
        let pairs = [("n1".to_owned(), "n2".to_owned())].into();
        let told = Told { ok: 1, refused: 1, failed: 1, unended: 0, pairs };
        assert_eq!(verdict(&lines, &[]), Ok(told));
        lines.push(line("failed", "c", "n1"));
        assert_eq!(wrong(&lines), "move c: 2 lines of its end");
    }

    #[test]
    fn a_move_that_is_told_twice_is_caught() {
        let twice = |event: &str, node: &str| {
            let mut lines = vec![line("begin", "a", "n1"), line("arrived", "a", "n2"), line("ok", "a", "n1")];
            lines.push(line(event, "a", node));
            wrong(&lines)
        };
        assert_eq!(twice("begin", "n1"), "move a: 2 lines move.begin");
        assert_eq!(twice("arrived", "n2"), "move a: 2 lines move.arrived");
        assert_eq!(twice("refused", "n1"), "move a: 2 lines of its end");
    }

    #[test]
    fn a_move_that_is_not_told_in_full_is_caught_unless_its_source_died() {
        let begun = [line("begin", "a", "n1"), line("arrived", "a", "n2")];
        assert_eq!(wrong(&begun), "move a: 0 lines of its end");
        let unended = Told { unended: 1, ..Told::default() };
        assert_eq!(verdict(&begun, &["n1"]), Ok(unended));
        assert_eq!(wrong(&[line("begin", "a", "n1"), line("ok", "a", "n1")]), "move a: it is ok and never arrived");
        assert_eq!(wrong(&[line("arrived", "a", "n2"), line("ok", "a", "n1")]), "move a: 0 lines move.begin");
    }

    #[test]
    fn a_move_that_is_told_by_somebody_else_or_of_somebody_else_is_caught() {
        let whole = |arrived: String| [line("begin", "a", "n1"), arrived, line("ok", "a", "n1")];
        let stranger = whole(line("arrived", "a", "n3"));
        assert_eq!(wrong(&stranger), "move a: move.arrived is told by n3, not by n2");
        let other = whole(line("arrived", "a", "n2").replace("3.1204", "3.7"));
        assert_eq!(wrong(&other), r#"move a: its lines disagree about entity: {"3.1204", "3.7"}"#);
    }

    #[test]
    fn a_line_that_lacks_a_key_is_caught() {
        let begin = line("begin", "a", "n1");
        let end = line("refused", "a", "n1").replace(r#""held":3"#, r#""held":"3""#).replace(r#","epoch":13"#, "");
        let told = wrong(&[begin, end.clone()]);
        assert_eq!(told, format!("{end}: no held; {end}: no epoch"));
    }

    #[test]
    fn what_a_test_prints_about_moves_names_every_count() {
        let told = Told { ok: 1, refused: 2, failed: 3, unended: 4, ..Told::default() };
        assert_eq!(told.to_string(), "1 ok, 2 refused, 3 failed, 4 without an end, between {}");
    }
}
