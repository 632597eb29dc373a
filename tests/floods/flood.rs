//! Numbered notes to many walkers through one node, more than it lets wait; what comes back is said again later.

use std::time::Instant;

use slipgate::admin::body::{BatchBody, BatchMessage};
use slipgate_proto::admin::SendReport;

use crate::PATIENCE;
use crate::field::{Field, NODE_BYTES};
use crate::patience::until;

/// A flood and what came of it.
pub(crate) struct Flood<'a> {
    field: &'a Field,
    via: &'static str,
    /// Each walker, and how many notes to it were accepted.
    lines: Vec<(String, u64)>,
    /// What a note is sent as. The name is as long as it may be.
    sender: String,
    busy: usize,
    resident: usize,
}

impl<'a> Flood<'a> {
    pub(crate) fn new(field: &'a Field, via: &'static str, walkers: &[String]) -> Self {
        let lines = walkers.iter().map(|walker| (walker.clone(), 0)).collect();
        Self { field, via, lines, sender: "s".repeat(64), busy: 0, resident: 0 }
    }

    /// A note to each walker, which is applied: the sender knows from now on where they live.
    pub(crate) fn say_something(&mut self) {
        let report = self.send(1, true);
        assert_eq!((report.busy, report.applied as usize), (0, self.lines.len()), "{report:?}");
    }

    /// Pours ten times the bound in. Meanwhile and afterwards the first of `others` moves between its scene and `to`,
    /// the second is written to; and all stays within bounds.
    pub(crate) fn pour(&mut self, others: &[String; 2], to: &str) {
        // What requests of this kind take for themselves is not the flood's.
        let warm =
            Self { lines: vec![(others[0].clone(), 0); self.lines.len()], ..Self::new(self.field, self.via, &[]) };
        (0..10).for_each(|_| drop(warm.request(&warm.messages(1), false)));
        self.resident = self.field.resident(self.via);
        let requests = 10 * NODE_BYTES / (NOTE_WEIGHT * RUN * self.lines.len());
        let mut targets = [to, "forest"].into_iter().cycle();
        for request in 0..=requests {
            self.send(RUN, false);
            if request % (requests / 4) == 0 {
                self.field.migrate(&others[0], targets.next().expect("it goes round"));
                self.greet(&others[1]);
                self.check_bounds();
            }
        }
        let accepted: u64 = self.lines.iter().map(|(_, accepted)| accepted).sum();
        let accepted = usize::try_from(accepted).expect("few notes");
        assert!(self.busy > 8 * accepted, "{accepted} were accepted, and {} came back", self.busy);
        assert!(accepted * NOTE_WEIGHT > NODE_BYTES / 8, "only {accepted} were accepted");
        self.field.check_leases();
    }

    /// What was accepted is applied, nothing waits any more, and the walkers hear what is said next.
    pub(crate) fn settle(&mut self) {
        let began = Instant::now();
        let lines = self.lines.clone();
        for (walker, accepted) in &lines {
            let heard = format!(r#""count":{accepted},"gaps":0,"last":{accepted},"repeats":0"#);
            until(PATIENCE.saturating_sub(began.elapsed()), &heard, || {
                let shown = self.field.show(self.via, walker);
                let is_done = shown.as_ref().is_some_and(|shown| shown.body.contains(&heard));
                if is_done { Ok(()) } else { Err(format!("{shown:?}")) }
            });
        }
        for node in ["n1", "n2", "n3"] {
            until(PATIENCE.saturating_sub(began.elapsed()), &format!("nothing waits on {node}"), || {
                let waits = self.field.waits(node);
                if waits > 0.0 { Err(format!("{waits} bytes")) } else { Ok(()) }
            });
        }
        self.say_something();
        self.field.check_leases();
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes are exact up to 2^53")]
    fn check_bounds(&self) {
        let waits = self.field.waits(self.via);
        assert!(waits <= NODE_BYTES as f64, "{waits} bytes wait");
        let more = self.field.resident(self.via).saturating_sub(self.resident);
        assert!(more < NODE_BYTES + SLACK, "{more} bytes more, with {waits} that wait");
    }

    /// A message to somebody else, with its answer.
    fn greet(&self, other: &str) {
        let message =
            BatchMessage { entity: other.to_owned(), name: "hit".to_owned(), arguments: r#"{"hp":1}"#.to_owned() };
        let report = self.request(&[message], true);
        assert_eq!((report.accepted, report.applied), (1, 1), "{report:?}");
    }

    /// Sends each walker so many notes, from the first one on that was not accepted.
    fn send(&mut self, run: usize, wait: bool) -> SendReport {
        let messages = self.messages(run);
        let report = self.request(&messages, wait);
        let (accepted, busy) = (report.accepted as usize, report.busy as usize);
        assert_eq!((accepted + busy, report.busy_at.len()), (messages.len(), busy), "each comes back or is accepted");
        for (at, (_, count)) in self.lines.iter_mut().enumerate() {
            let first = report.busy_at.iter().map(|at| *at as usize).find(|busy| busy / run == at);
            let accepted = first.map_or(run, |first| first % run);
            let busy = report.busy_at.iter().filter(|busy| **busy as usize / run == at).count();
            assert_eq!(accepted + busy, run, "after the first that comes back, all to that walker do");
            *count += accepted as u64;
        }
        self.busy += busy;
        report
    }

    fn messages(&self, run: usize) -> Vec<BatchMessage> {
        let notes = |(walker, accepted): &(String, u64)| {
            let note = |number| BatchMessage {
                entity: walker.clone(),
                name: "note".to_owned(),
                arguments: format!(r#"{{"sender":"{}","number":{number}}}"#, self.sender),
            };
            (accepted + 1..).take(run).map(note).collect::<Vec<_>>()
        };
        self.lines.iter().flat_map(notes).collect()
    }

    fn request(&self, messages: &[BatchMessage], wait: bool) -> SendReport {
        let body = BatchBody { via: None, messages: messages.to_vec(), wait, timeout_ms: 10_000 };
        self.field.client(self.via).post("/api/v1/messages", &body).expect("a report")
    }
}

/// Notes to one walker in a request, of which one may have 1,024 messages.
const RUN: usize = 32;

/// What a note counts, at least: 66 bytes, and 192.
const NOTE_WEIGHT: usize = 258;

/// Memory beyond the bound: what an allocator does not give back of requests, answers and the buffers of links.
const SLACK: usize = 16 << 20;
