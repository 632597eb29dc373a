//! A cluster of five nodes on which cells are played, one after the other.
//!
//! ```text
//!   a walker is born at the home (n4) and moved to the source (n2); two write to it through n5,
//!   and it and a walker that lives on n5 speak to each other
//!   slipgate migrate WALKER --to keep@n3      asked of a node that nothing happens to
//!   the step is reached: its node is held
//!   the fault happens; the node is let go
//!   the fault is over; the cluster is well; accounts, places, logs and tables are looked at
//! ```
//!
//! Keeps: a fault happens when the step is reached, and neither before nor after.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use slipgate::admin::body::{MoveBody, SpawnBody};
use slipgate::client::CallError;
use slipgate_proto::admin::{EntityReport, EntityRow, MoveReport};

use crate::command::run;
use crate::fire::field::Site;
use crate::fire::{Evidence, Field, Plan, plan, under_fire_from};
use crate::logs::missing;
use crate::matrix::{Cell, Fault, Party};
use crate::move_lines::object;
use crate::outcome::{Answer, MOVE, Outcome};
use crate::patience::{until, within};
use crate::proxy::{BOTH, Direction};
use crate::strings::Strings;
use crate::talk::Talk;

/// Each party's scene.
const SCENES: [(&str, &str); 5] = [("lodge", "n1"), ("harbor", "n2"), ("keep", "n3"), ("cradle", "n4"), ("camp", "n5")];

const SETTINGS: [(&str, &str); 4] =
    [("manager.lease", "1s"), ("manager.margin", "1s"), ("limits.silence", "1s"), ("node.arbiters", "1")];

/// The cluster.
pub(crate) struct Stage {
    field: Field,
    strings: Strings,
}

impl Stage {
    /// Starts it.
    pub(crate) fn set(program: &Path) -> Self {
        let strings = Strings::hold();
        let field = Field::on(Site {
            manager: Party::Manager.node(),
            scenes: &SCENES,
            settings: &SETTINGS,
            is_behind_proxies: true,
            program: Some(program.to_owned()),
            environment: vec![("SLIPGATE_FAIL_POINTS", strings.address().to_string())],
        });
        Self { field, strings }
    }

    /// Plays one cell, and looks at what came of it.
    pub(crate) fn play(&mut self, cell: Cell) -> Outcome {
        let mut marks = self.field.marks();
        let ended = self.field.ended.len();
        let walker = self.walker();
        let other = self.spawn(Party::Sender, "camp");
        let board = self.field.board.clone();
        let plan = Plan { through: &[Party::Sender.node()], movers: 0, ..plan(0, &[], 0) };
        let born = [(&walker, Party::Home), (&other, Party::Sender)];
        let homes = born.map(|(walker, party)| (walker.clone(), party.node().to_owned())).into();
        let mut answer = Answer::default();
        let mut talk = Talk::of(&walker, &other);
        let safe = self.field.nodes[cell.bystander().node()].client();
        let evidence = under_fire_from(&board, plan, homes, || {
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| talk.go_on(&safe, &is_over));
                // The talk must not go on for ever if the cell cannot be played.
                let performed = catch_unwind(AssertUnwindSafe(|| self.perform(cell, &walker, &other)));
                is_over.store(true, Ordering::Relaxed);
                answer = performed.unwrap_or_else(|panicked| resume_unwind(panicked));
            });
        });
        let killed: &[&str] = if cell.fault == Fault::Kill { &[cell.party.node()] } else { &[] };
        let killed_at = killed.iter().filter_map(|name| marks.remove(*name)).next().unwrap_or(0);
        self.field.board.put(&self.field.nodes[cell.party.node()]);
        let mut judgement = self.field.examine(&evidence, &marks, killed);
        judgement.wrong.extend(talk.faults(&safe, SETTLED));
        let place = self.place(&walker);
        judgement.wrong.extend(self.field.clear(&evidence));
        judgement.wrong.extend(answer.faults());
        let told = || self.lines(&marks, &self.field.ended[ended..], killed_at);
        let mut silent: Vec<String> = killed.iter().map(|name| (*name).to_owned()).collect();
        silent.extend(self.field.verdicts(&marks));
        let silent: Vec<&str> = silent.iter().map(String::as_str).collect();
        let complete = within(SETTLED, || match missing(&told(), [&walker, &other], &silent, &answer) {
            wrong if wrong.is_empty() => Ok(()),
            wrong => Err(wrong),
        });
        judgement.wrong.extend(complete.err().unwrap_or_default());
        Self::outcome(cell, answer, place, &evidence, judgement.wrong, &told())
    }

    fn outcome(
        cell: Cell,
        answer: Answer,
        place: String,
        evidence: &Evidence,
        wrong: Vec<String>,
        lines: &[String],
    ) -> Outcome {
        let event = |line: &String| {
            let line = object(line)?;
            Some((line.get("level")?.as_str()?.to_owned(), line.get("event")?.as_str()?.to_owned()))
        };
        let told: BTreeSet<_> = lines.iter().filter_map(event).collect();
        Outcome { cell, answer, place, sender_waited: evidence.longest, told, wrong }
    }

    /// A walker whose home is n4 and who lives on n2.
    fn walker(&self) -> String {
        let client = self.field.nodes[Party::Home.node()].client();
        let walker = self.spawn(Party::Home, "cradle");
        let body = MoveBody { to: "harbor".to_owned(), timeout_ms: 5_000 };
        let report: MoveReport = client.post(&format!("/api/v1/entities/{walker}/moves"), &body).expect("an answer");
        assert_eq!(report.result, "ok", "{report:?}");
        walker
    }

    fn spawn(&self, party: Party, scene: &str) -> String {
        let client = self.field.nodes[party.node()].client();
        let rows: Vec<EntityRow> =
            client.post("/api/v1/entities", &SpawnBody::of("walker", scene)).expect("a walker is spawned");
        rows[0].entity.clone()
    }

    /// Has the move begun, and lets the fault happen at its step; gives the answer to whoever asked for the move.
    fn perform(&mut self, cell: Cell, walker: &str, other: &str) -> Answer {
        self.await_writers(walker, other);
        let held = cell.step.reached_by.node();
        self.strings.arm(held, cell.step.name, walker);
        let mut migrate = Command::new(env!("CARGO_BIN_EXE_slipgate"));
        migrate.args(["migrate", walker, "--to", "keep", "--at", &self.field.nodes[cell.bystander().node()].admin()]);
        migrate.args(["--timeout", &format!("{}s", MOVE.as_secs()), "-o", "json"]);
        let asker = thread::spawn(move || (run(&mut migrate, MOVE * 5), Instant::now()));
        self.strings.await_reached(held, cell.step.name);
        let begun = Instant::now();
        self.strike(cell, || asker.is_finished());
        let (output, answered) = asker.join().expect("a command is run to its end");
        thread::sleep(AFTER);
        Answer::read(&output, answered.duration_since(begun), walker)
    }

    /// Both who write, and the other walker, have been heard once.
    fn await_writers(&self, walker: &str, other: &str) {
        let client = self.field.nodes[Party::Source.node()].client();
        until(SETTLED, "all who write", || match client.get::<EntityReport>(&format!("/api/v1/entities/{walker}")) {
            Ok(report) if report.body.matches("@n5").count() >= 2 && report.body.contains(other) => Ok(()),
            Ok(report) => Err(report.body),
            Err(error) => Err(error.to_string()),
        });
    }

    /// Lets the fault happen, lets go of the node that is held, and ends the fault.
    fn strike(&mut self, cell: Cell, is_answered: impl Fn() -> bool) {
        let (name, held) = (cell.party.node(), cell.step.reached_by.node());
        match cell.fault {
            Fault::Kill => {
                self.field.kill(name);
                self.strings.release(held);
                thread::sleep(if cell.party == Party::Manager { NAP } else { SLEEP });
                self.field.restart(name);
            }
            Fault::Nap | Fault::Sleep => {
                self.field.board.excuse(name);
                self.field.nodes[name].signal(Signal::STOP);
                self.strings.release(held);
                thread::sleep(if cell.fault == Fault::Nap { NAP } else { SLEEP });
                self.field.nodes[name].signal(Signal::CONT);
            }
            Fault::Cut | Fault::Mute | Fault::Slow => self.hinder(cell, is_answered),
        }
    }

    /// Lets a link be cut or slow for a while.
    fn hinder(&self, cell: Cell, is_answered: impl Fn() -> bool) {
        let (name, peer) = (cell.party.node(), cell.peer().node());
        // Whoever has the higher number has dialled.
        let (caller, dialled, says) =
            if name > peer { (name, peer, Direction::In) } else { (peer, name, Direction::Back) };
        let proxy = &self.field.proxies[dialled];
        let release = || self.strings.release(cell.step.reached_by.node());
        if cell.fault == Fault::Slow {
            proxy.slow(caller, DELAY);
            release();
            // If there is no answer, that is told where the answer is looked at.
            let _ = within(MOVE * 2, || if is_answered() { Ok(()) } else { Err(()) });
        } else {
            proxy.cut(caller, if cell.fault == Fault::Cut { BOTH } else { slice::from_ref(&says) });
            release();
            thread::sleep(CUT);
        }
        proxy.mend(caller);
    }

    /// The party where the walker lives.
    fn place(&self, walker: &str) -> String {
        let asked = self.field.nodes[Party::Manager.node()].client();
        match asked.get::<EntityReport>(&format!("/api/v1/entities/{walker}")) {
            Ok(report) => Party::of(&report.node).map_or(report.node, |party| party.to_string()),
            Err(CallError::Problem(problem)) if problem.reason == "dead" => "lost".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// What all nodes have written since the marks, also those that were killed since.
    fn lines(&self, marks: &BTreeMap<String, usize>, ended: &[(String, Vec<String>)], killed_at: usize) -> Vec<String> {
        let after = |name: &String| marks.get(name).copied().unwrap_or(0);
        let running = self.field.nodes.iter().flat_map(|(name, node)| node.lines().into_iter().skip(after(name)));
        running.chain(ended.iter().flat_map(|(_, lines)| lines.iter().skip(killed_at).cloned())).collect()
    }

    /// Stops all nodes.
    pub(crate) fn strike_down(self) {
        // Lines of moves are looked at after each cell: whoever was killed once would excuse all of them here.
        let all: Vec<&str> = SCENES.iter().map(|(_, node)| *node).collect();
        self.field.stop(&all);
    }
}

/// Past the lease, and before the verdict.
const NAP: Duration = Duration::from_millis(1500);
/// Past the verdict.
const SLEEP: Duration = Duration::from_millis(2600);
/// Past the silence after which a link is given up, and past the verdict.
const CUT: Duration = Duration::from_secs(3);
/// Each way.
const DELAY: Duration = Duration::from_millis(200);
/// The fire afterwards: that there is some is all that is wanted of it.
const AFTER: Duration = Duration::from_millis(300);
const SETTLED: Duration = Duration::from_secs(10);
