//! Who writes to the walkers: some without waiting for an answer, some one request after the other.

use std::time::{Duration, Instant};

use slipgate::admin::body::{BatchBody, BatchMessage};
use slipgate::client::{CallError, Client};
use slipgate_proto::admin::SendReport;

use super::accounts::{Account, Told};
use super::board::Board;
use super::{Complaints, Ground};

/// One sender's numbers to one walker.
#[derive(Debug)]
struct Line {
    name: String,
    life: u32,
    /// The life of the node that accepted what is in the open account; 0 for none yet.
    incarnation: u32,
    open: Account,
    closed: Vec<Account>,
}

impl Line {
    fn new(name: String, walker: &str, via: &str, told: Option<Told>) -> Self {
        let open = Account {
            walker: walker.to_owned(),
            via: via.to_owned(),
            sender: name.clone(),
            told,
            ..Account::default()
        };
        Self { name, life: 1, incarnation: 0, open, closed: Vec::new() }
    }

    /// The next notes.
    fn notes(&self, count: u64) -> impl Iterator<Item = BatchMessage> + '_ {
        (self.open.accepted + 1..).take(usize::try_from(count).expect("few")).map(|number| BatchMessage {
            entity: self.open.walker.clone(),
            name: "note".to_owned(),
            arguments: serde_json::json!({ "sender": self.open.sender, "number": number }).to_string(),
        })
    }

    /// Books notes that were accepted by a life of the node.
    fn accept(&mut self, notes: u64, incarnation: u32) {
        if self.incarnation == 0 || self.incarnation == incarnation {
            self.incarnation = incarnation;
            self.open.accepted += notes;
        } else {
            self.open.later = notes;
            self.cut(0);
        }
    }

    /// A request with so many notes failed, and may have been carried out: from here on another name is used.
    fn cut(&mut self, unsure: u64) {
        self.life += 1;
        self.incarnation = 0;
        let next = Account {
            sender: format!("{}.{}", self.name, self.life),
            told: self.open.told.map(|_| Told::default()),
            accepted: 0,
            unsure: 0,
            later: 0,
            ..self.open.clone()
        };
        let ended = Account { unsure, is_cut_off: true, ..std::mem::replace(&mut self.open, next) };
        if ended.accepted + ended.unsure + ended.later > 0 {
            self.closed.push(ended);
        } else {
            // Nobody has heard the name yet.
            self.life -= 1;
            self.open.sender = ended.sender;
        }
    }

    fn accounts(self) -> Vec<Account> {
        let mut accounts = self.closed;
        accounts.push(self.open);
        accounts
    }
}

/// Writes to one walker through one node, and waits for every answer.
pub(super) fn converse(ground: &Ground<'_>, name: String, via: &str, walker: &str) -> Vec<Account> {
    let mut line = Line::new(name, walker, via, Some(Told::default()));
    while !ground.is_over() {
        let Some(client) = ground.board.client(via) else {
            line.cut(0);
            std::thread::sleep(PAUSE);
            continue;
        };
        let messages: Vec<_> = line.notes(RUN).collect();
        let wait_ms = u64::try_from(ground.answers_within.as_millis()).expect("seconds");
        let Ok(report) = post(ground, via, &client, messages, Some(wait_ms)) else {
            line.cut(RUN);
            std::thread::sleep(PAUSE);
            continue;
        };
        line.open.told.get_or_insert_default().add(&report);
        line.accept(u64::from(report.accepted), report.incarnation);
        if report.unknown + report.lost + report.dead + report.open > 0 {
            // The walker is gone; the accounts say whether that may be.
            break;
        }
        std::thread::sleep(if report.busy > 0 { PAUSE } else { BREATH });
    }
    line.accounts()
}

/// Writes to all walkers through one node, without waiting for what becomes of it.
pub(super) fn pour(ground: &Ground<'_>, name: &str, via: &str, walkers: &[String]) -> Vec<Account> {
    let line = |walker: &String| Line::new(name.to_owned(), walker, via, None);
    let mut lines: Vec<Line> = walkers.iter().map(line).collect();
    while !ground.is_over() {
        for some in lines.chunks_mut(WALKERS_PER_REQUEST) {
            let Some(client) = ground.board.client(via) else {
                some.iter_mut().for_each(|line| line.cut(0));
                std::thread::sleep(PAUSE);
                continue;
            };
            let messages: Vec<_> = some.iter().flat_map(|line| line.notes(RUN)).collect();
            let Ok(report) = post(ground, via, &client, messages, None) else {
                some.iter_mut().for_each(|line| line.cut(RUN));
                std::thread::sleep(PAUSE);
                continue;
            };
            for (at, line) in some.iter_mut().enumerate() {
                let positions = at as u64 * RUN..(at as u64 + 1) * RUN;
                let busy = report.busy_at.iter().filter(|at| positions.contains(&u64::from(**at))).count() as u64;
                // After the first that is busy, the others to that walker are busy too.
                line.accept(RUN - busy, report.incarnation);
            }
            std::thread::sleep(BREATH);
        }
    }
    lines.into_iter().flat_map(Line::accounts).collect()
}

/// Sends a batch. A failure is one that may be; whatever may not be is complained about.
fn post(
    ground: &Ground<'_>,
    via: &str,
    client: &Client,
    messages: Vec<BatchMessage>,
    wait_ms: Option<u64>,
) -> Result<SendReport, ()> {
    let count = messages.len();
    let body = BatchBody { via: None, messages, wait: wait_ms.is_some(), timeout_ms: wait_ms.unwrap_or(1) };
    let wait = Duration::from_millis(wait_ms.unwrap_or(0)) + SLACK;
    let began = Instant::now();
    let answer = client.within(wait).post::<SendReport>("/api/v1/messages", &body);
    let what = format!("{count} messages through {via}");
    complain_of_delay(&ground.complaints, ground.board, via, &what, began.elapsed(), wait);
    let report = answer.map_err(|error| complain_of_failure(&ground.complaints, ground.board, via, &what, &error))?;
    let SendReport { accepted, busy, applied, passed, dead, open, unknown, lost, .. } = &report;
    let ended = applied + passed + dead + open + unknown + lost;
    let sums = [accepted + busy == u32::try_from(count).expect("few"), ended == *accepted];
    if sums != [true, true] || report.busy_at.len() != *busy as usize {
        ground.complaints.add(format!("{what}: the report does not add up: {report:?}"));
    }
    Ok(report)
}

/// A request that took longer than it may, though nothing had happened to the node that was asked.
pub(super) fn complain_of_delay(
    complaints: &Complaints,
    board: &Board,
    via: &str,
    what: &str,
    took: Duration,
    most: Duration,
) {
    complaints.note_duration(took);
    if took > most && !board.is_excused(via) {
        complaints.add(format!("{what}: took {took:?}, above {most:?}"));
    }
}

/// A failure that nothing explains.
pub(super) fn complain_of_failure(complaints: &Complaints, board: &Board, via: &str, what: &str, error: &CallError) {
    let explained = match error {
        CallError::Problem(problem) => {
            ["paused", "joining", "stopping", "silent", "node_lost"].contains(&problem.reason.as_str())
                || board.is_excused(via)
        }
        CallError::Unreachable { .. } | CallError::Broken { .. } | CallError::Late { .. } => board.is_excused(via),
        CallError::Garbled { .. } => false,
    };
    if !explained {
        complaints.add(format!("{what}: {error:?}"));
    }
}

/// Notes to one walker in a request.
const RUN: u64 = 8;
/// Walkers in a request that nobody waits for.
const WALKERS_PER_REQUEST: usize = 8;
/// Between requests, so that two cores can do everything else as well.
const BREATH: Duration = Duration::from_millis(2);
/// After a request that came to nothing: whoever was asked is away, or full, for a while.
const PAUSE: Duration = Duration::from_millis(20);
/// What an answer may take beyond the wait that was asked for: a desk's wait for another, and a busy machine.
pub(super) const SLACK: Duration = Duration::from_secs(4);
