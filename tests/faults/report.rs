//! Writes `docs/faults.md`: what was measured in every cell.
//!
//! The document is a frame, `tests/faults/frame.md`, in which `{MEASURED}`, `{SAID}` and `{LOGS}` are filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::matrix::{FAULTS, Fault, PARTIES, Party, STEPS};
use crate::outcome::Outcome;

/// Writes the document.
pub(crate) fn write(outcomes: &[Outcome]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let frame = fs::read_to_string(root.join("tests/faults/frame.md")).expect("the frame");
    let text = frame
        .replace("{MEASURED}", &measured(outcomes))
        .replace("{SAID}", &said(outcomes))
        .replace("{LOGS}", &logs(outcomes));
    fs::write(root.join("docs/faults.md"), text).expect("written");
}

/// For each party a table: its steps and faults.
fn measured(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for party in PARTIES {
        let of_party = || outcomes.iter().filter(move |outcome| outcome.cell.party == party);
        let heads: String = FAULTS.iter().map(|fault| format!(" {fault} |")).collect();
        let lines: String = FAULTS.iter().map(|_| "---|").collect();
        write!(text, "\n### {} ({})\n\n| step |{heads}\n|---|{lines}\n", named(party), party.node()).expect("text");
        for step in STEPS {
            let told = |fault: Fault| {
                let found = of_party().find(|outcome| outcome.cell.step == step && outcome.cell.fault == fault);
                format!(" {} |", found.map_or("not played".to_owned(), ToString::to_string))
            };
            let row: String = FAULTS.into_iter().map(told).collect();
            writeln!(text, "| `{}` |{row}", step.name).expect("text");
        }
        let answers = of_party().map(|outcome| outcome.answer.after).max().unwrap_or_default();
        let waits = of_party().map(|outcome| outcome.sender_waited).max().unwrap_or_default();
        writeln!(
            text,
            "\nLongest until the answer to the move {:.1} s, until that to a request with messages {:.1} s.",
            answers.as_secs_f64(),
            waits.as_secs_f64()
        )
        .expect("text");
    }
    text.trim().to_owned()
}

fn named(party: Party) -> &'static str {
    match party {
        Party::Source => "Source",
        Party::Target => "Target",
        Party::Home => "Home",
        Party::Sender => "Sender's node",
        Party::Manager => "Manager",
    }
}

/// What the command said, how often, and where the entity was then.
fn said(outcomes: &[Outcome]) -> String {
    let mut rows: BTreeMap<[&str; 3], Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let answer = &outcome.answer;
        rows.entry([&answer.word, &answer.text, &answer.state]).or_default().push(outcome);
    }
    let mut text = "| word | exit | cells | the entity is then at | text |\n|---|---|---|---|---|\n".to_owned();
    for ([word, said, state], outcomes) in rows {
        let cells = outcomes.len();
        let places: BTreeSet<&str> = outcomes.iter().map(|outcome| outcome.place.as_str()).collect();
        let exits: BTreeSet<String> =
            outcomes.iter().filter_map(|outcome| outcome.answer.exit).map(|exit| exit.to_string()).collect();
        let [places, exits] =
            [places.into_iter().collect::<Vec<_>>().join(", "), exits.into_iter().collect::<Vec<_>>().join(", ")];
        let said = [said, state].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
        writeln!(text, "| `{word}` | {exits} | {cells} | {places} | {said} |").expect("text");
    }
    text.trim().to_owned()
}

/// Which events were told, and in how many cells of each fault; but for those that every cell has.
fn logs(outcomes: &[Outcome]) -> String {
    let mut rows: BTreeMap<(&str, &str), BTreeMap<Fault, usize>> = BTreeMap::new();
    for outcome in outcomes {
        for (level, event) in &outcome.told {
            *rows.entry((event, level)).or_default().entry(outcome.cell.fault).or_default() += 1;
        }
    }
    rows.retain(|_, cells| cells.values().sum::<usize>() < outcomes.len());
    let heads: String = FAULTS.iter().map(|fault| format!(" {fault} |")).collect();
    let lines: String = FAULTS.iter().map(|_| "---|").collect();
    let mut text = format!("| event | level |{heads}\n|---|---|{lines}\n");
    for ((event, level), cells) in rows {
        let row: String = FAULTS
            .iter()
            .map(|fault| cells.get(fault).map_or(" |".to_owned(), |cells| format!(" {cells} |")))
            .collect();
        writeln!(text, "| `{event}` | {level} |{row}").expect("text");
    }
    text.trim().to_owned()
}
