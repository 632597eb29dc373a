//! What the logs of a cell must say.
//!
//! | of | must be |
//! |---|---|
//! | each move of the walkers | told in full and once (`tests/support/move_lines.rs`) |
//! | a move that was answered as undecided | followed by `move.decided`, where the life of its source goes on |
//! | each range that lost its home | complete again, in the last term that anybody began |

use std::collections::BTreeMap;

use crate::move_lines::{check, object};
use crate::nodes::Line;
use crate::outcome::Answer;

/// What is missing in the lines of all nodes. Those in `ended` have lost a life.
pub(crate) fn missing(lines: &[String], walkers: [&str; 2], ended: &[&str], answer: &Answer) -> Vec<String> {
    let objects: Vec<Line> = lines.iter().filter_map(|line| object(line)).collect();
    let mut wrong: Vec<String> = incomplete(&objects)
        .into_iter()
        .map(|(range, term)| format!("range {range} was to be rebuilt in term {term}, and is not told to be"))
        .collect();
    let [walker, _] = walkers;
    let is_decided = || objects.iter().any(|line| line["event"] == "move.decided" && line["entity"] == *walker);
    if answer.word == "undecided" && !ended.contains(&crate::matrix::Party::Source.node()) && !is_decided() {
        wrong.push("the move was undecided, and never decided".to_owned());
    }
    let of_walkers = |line: &&String| {
        let line = object(line).unwrap_or_default();
        walkers.iter().any(|walker| line.get("entity").is_some_and(|entity| entity == walker))
    };
    let moves = check(lines.iter().filter(of_walkers).map(String::as_str), ended);
    wrong.extend(moves.err().unwrap_or_default());
    wrong
}

/// Ranges whose last rebuilding has no end, with its term.
fn incomplete(lines: &[Line]) -> BTreeMap<u64, u64> {
    let mut open = BTreeMap::new();
    let number = |line: &Line, key: &str| line.get(key).and_then(serde_json::Value::as_u64).unwrap_or_default();
    for line in lines.iter().filter(|line| line["event"] == "home.rebuilding") {
        let term = open.entry(number(line, "range")).or_default();
        *term = number(line, "term").max(*term);
    }
    for line in lines.iter().filter(|line| line["event"] == "home.rebuilt") {
        open.retain(|range, term| (*range, *term) != (number(line, "range"), number(line, "term")));
    }
    open
}

#[cfg(test)]
mod forged {
    use super::*;

    fn told(event: &str, range: u64, term: u64) -> String {
        format!(r#"{{"level":"INFO","event":"{event}","range":{range},"term":{term}}}"#)
    }

    fn wrong(lines: &[String], word: &str, ended: &[&str]) -> usize {
        let answer = Answer { word: word.to_owned(), ..Answer::default() };
        missing(lines, ["1.2", "1.3"], ended, &answer).len()
    }

    #[test]
    fn a_range_that_is_not_told_to_be_complete_is_caught() {
        let mut lines = vec![told("home.rebuilding", 4, 1), told("home.rebuilt", 4, 1), told("home.rebuilding", 5, 1)];
        assert_eq!(wrong(&lines, "ok", &[]), 1);
        lines.push(told("home.rebuilding", 5, 2));
        lines.push(told("home.rebuilt", 5, 1));
        assert_eq!(wrong(&lines, "ok", &[]), 1);
        lines.push(told("home.rebuilt", 5, 2));
        assert_eq!(wrong(&lines, "ok", &[]), 0);
    }

    #[test]
    fn an_undecided_move_that_is_never_decided_is_caught_unless_its_source_has_ended() {
        let decided = r#"{"level":"INFO","event":"move.decided","entity":"1.2"}"#.to_owned();
        assert_eq!([wrong(&[], "undecided", &[]), wrong(&[], "undecided", &["n2"])], [1, 0]);
        assert_eq!([wrong(&[], "timeout", &[]), wrong(&[decided], "undecided", &[])], [0, 0]);
    }
}
