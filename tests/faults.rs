//! The fault matrix: whoever takes part in a move is hit at each step of it, in real processes.
//!
//! ```text
//!   parties   source, target, home, sender's node, manager: five nodes
//!   steps     the eleven fail points of a move
//!   faults    killed; stopped past the lease, or past the verdict; a link cut, cut one way, slow
//! ```
//!
//! In every cell: one owner at most; what was accepted is applied once and in order, or answered; the entity lives whole, or
//! is lost by name with its node; whoever asked for the move is answered in time; the logs tell the move in full; tables
//! are empty afterwards. What is measured stands in `docs/faults.md`.
//!
//! ```text
//! cargo test --test faults                                    25 cells
//! FAULTS=all cargo test --test faults -- --nocapture          all 330, and writes docs/faults.md
//! FAULTS="home decided" cargo test --test faults -- --nocapture    those with this in their name
//! ```
//!
//! `LANES=4` plays so many cells at a time, each on a cluster of its own; two otherwise.

#[path = "support/command.rs"]
mod command;
#[path = "cluster/fire.rs"]
#[expect(dead_code, unused_imports, reason = "this test chooses who moves, and where")]
mod fire;
#[path = "support/move_lines.rs"]
mod move_lines;
#[path = "support/nodes.rs"]
#[expect(dead_code, reason = "this test uses a part of it")]
mod nodes;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/proxy.rs"]
#[expect(dead_code, reason = "this test severs no link")]
mod proxy;
#[path = "support/relayed_lines.rs"]
mod relayed_lines;

#[path = "faults/logs.rs"]
mod logs;
#[path = "faults/matrix.rs"]
mod matrix;
#[path = "faults/outcome.rs"]
mod outcome;
#[path = "faults/program.rs"]
mod program;
#[path = "faults/report.rs"]
mod report;
#[path = "faults/stage.rs"]
mod stage;
#[path = "faults/strings.rs"]
mod strings;
#[path = "faults/talk.rs"]
mod talk;

use std::collections::VecDeque;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use matrix::Cell;
use nodes::Node;
use outcome::{Answer, Outcome};
use stage::Stage;

/// Cells of an ordinary run.
const ORDINARY: usize = 25;

#[test]
fn whoever_is_hit_at_whatever_step_of_a_move_nothing_is_lost_doubled_or_left_unanswered() {
    let wanted = env::var("FAULTS").ok();
    let cells = match wanted.as_deref() {
        None => matrix::diagonal(ORDINARY),
        Some("all") => matrix::all(),
        Some(part) => matrix::all().into_iter().filter(|cell| cell.to_string().contains(part)).collect(),
    };
    assert!(!cells.is_empty(), "no cell has {wanted:?} in its name");
    let program = program::build();
    let lanes = env::var("LANES").map_or(2, |lanes| lanes.parse().expect("LANES is a number"));
    let waiting = Mutex::new(VecDeque::from(cells));
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| play_all(&program, &waiting, &outcomes));
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let order = matrix::all();
    outcomes.sort_by_key(|outcome: &Outcome| order.iter().position(|cell| *cell == outcome.cell));
    if wanted.as_deref() == Some("all") {
        report::write(&outcomes);
    }
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.wrong.is_empty())
        .map(|Outcome { cell, wrong, .. }| format!("FAULTS=\"{cell}\": {wrong:#?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} cells: {}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

#[test]
fn the_program_that_is_shipped_has_no_trace_of_fail_points() {
    let shipped = program::has_fail_points(Path::new(env!("CARGO_BIN_EXE_slipgate")));
    assert_eq!(shipped, cfg!(feature = "fail-points"), "only the feature brings them in");
    assert!(program::has_fail_points(&program::build()), "what is looked for is found where it is");
}

/// Plays one cell after the other on a cluster, and on a new one after a cell that went wrong.
fn play_all(program: &Path, waiting: &Mutex<VecDeque<Cell>>, outcomes: &Mutex<Vec<Outcome>>) {
    let mut set: Option<Stage> = None;
    while let Some(cell) = { waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front() } {
        let mut stage = set.take().unwrap_or_else(|| Stage::set(program));
        let played = catch_unwind(AssertUnwindSafe(|| stage.play(cell)));
        let outcome = played.unwrap_or_else(|panicked| failed(cell, &*panicked));
        eprintln!("{cell}: {outcome}: {} {}", outcome.answer.text, outcome.answer.state);
        if outcome.wrong.is_empty() {
            set = Some(stage);
        }
        outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
    }
    if let Some(stage) = set {
        stage.strike_down();
    }
}

/// A cell that could not be played.
fn failed(cell: Cell, panicked: &(dyn std::any::Any + Send)) -> Outcome {
    let text = panicked.downcast_ref::<String>().map_or("it panicked", String::as_str).to_owned();
    Outcome {
        cell,
        answer: Answer::default(),
        place: "unknown".to_owned(),
        sender_waited: std::time::Duration::ZERO,
        told: std::collections::BTreeSet::new(),
        wrong: vec![text],
    }
}

/// Stops nodes all at once, as planned.
///
/// # Panics
///
/// If one does not end well.
fn stop_all(nodes: &mut [Node]) {
    nodes.iter().for_each(Node::terminate);
    for node in nodes {
        let code = node.end();
        assert_eq!(code, Some(0), "{} did not stop cleanly\n{}", node.name, node.lines().join("\n"));
    }
}
