//! Two walkers that speak to each other while one of them moves: streams of entities, whose sender or receiver moves.
//!
//! ```text
//!   greet 1, 2, .. --> other --- note 1, 2, .. --> mover       asked of a node that nothing happens to,
//!   greet 1, 2, .. --> mover --- note 1, 2, .. --> other       one greet after the other
//! ```
//!
//! | the listener | the speaker | must be |
//! |---|---|---|
//! | lives | lives | a note for each greet that was applied, once and in order |
//! | lives | is lost | no gap but for greets that were not surely applied, and nothing twice |
//! | any | was reset | nothing twice |
//! | was reset | any | nothing twice |

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use slipgate::admin::body::{BatchBody, BatchMessage};
use slipgate::client::{CallError, Client};
use slipgate::tour::account::Ledger;
use slipgate_proto::admin::{EntityReport, SendReport};

use crate::patience::within;

/// What one of them was made to say.
#[derive(Debug)]
struct Speech {
    speaker: String,
    listener: String,
    /// Greets so far.
    said: u64,
    /// Those that may not have been applied.
    unsure: u64,
}

/// Both ways.
#[derive(Debug)]
pub(crate) struct Talk([Speech; 2]);

/// A walker as it is afterwards.
struct Shown {
    ledger: Ledger,
    is_reset: bool,
}

impl Talk {
    /// Nothing is said yet.
    pub(crate) fn of(mover: &str, other: &str) -> Self {
        let speech = |speaker: &str, listener: &str| Speech {
            speaker: speaker.to_owned(),
            listener: listener.to_owned(),
            said: 0,
            unsure: 0,
        };
        Self([speech(other, mover), speech(mover, other)])
    }

    /// Has them speak until it is over.
    pub(crate) fn go_on(&mut self, client: &Client, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            for speech in &mut self.0 {
                speech.say(client);
            }
            std::thread::sleep(BREATH);
        }
    }

    /// What may not be, once everything has had its time.
    pub(crate) fn faults(&self, client: &Client, limit: Duration) -> Vec<String> {
        let looked = within(limit, || {
            let wrong: Vec<String> = self.0.iter().flat_map(|speech| speech.faults(client)).collect();
            if wrong.is_empty() { Ok(()) } else { Err(wrong) }
        });
        looked.err().unwrap_or_default()
    }
}

impl Speech {
    fn say(&mut self, client: &Client) {
        self.said += 1;
        let arguments = serde_json::json!({ "to": self.listener, "number": self.said }).to_string();
        let message = BatchMessage { entity: self.speaker.clone(), name: "greet".to_owned(), arguments };
        let body = BatchBody { via: None, messages: vec![message], wait: true, timeout_ms: WAIT_MS };
        let wait = Duration::from_millis(WAIT_MS) * 2;
        let report = client.within(wait).post::<SendReport>("/api/v1/messages", &body);
        if !report.is_ok_and(|report| report.applied == 1) {
            self.unsure += 1;
        }
    }

    fn faults(&self, client: &Client) -> Vec<String> {
        let [speaker, listener] = [&self.speaker, &self.listener].map(|walker| shown(client, walker));
        match (speaker, listener) {
            (Err(wrong), _) | (_, Err(wrong)) => vec![wrong],
            (Ok(speaker), Ok(Some(listener))) => self.compare(speaker.as_ref(), &listener),
            (Ok(_), Ok(None)) => Vec::new(),
        }
    }

    fn compare(&self, speaker: Option<&Shown>, listener: &Shown) -> Vec<String> {
        let entry = listener.ledger.entry(&self.speaker);
        let is_reset = listener.is_reset || speaker.is_some_and(|speaker| speaker.is_reset);
        let mut wrong = Vec::new();
        if entry.repeats > 0 || entry.last > self.said {
            wrong.push("repeated, or never said");
        }
        if !is_reset && entry.gaps > self.unsure {
            wrong.push("missing in the midst");
        }
        if !is_reset && speaker.is_some() && entry.count + self.unsure < self.said {
            wrong.push("missing");
        }
        wrong.into_iter().map(|wrong| format!("{wrong}: {self:?}, {entry:?}")).collect()
    }
}

/// A walker, or none if it is lost.
fn shown(client: &Client, walker: &str) -> Result<Option<Shown>, String> {
    match client.get::<EntityReport>(&format!("/api/v1/entities/{walker}")) {
        Ok(report) => {
            let ledger = Ledger::read(&report.body).map_err(|fault| format!("{walker}: {fault}"))?;
            Ok(Some(Shown { ledger, is_reset: report.reset > 0 }))
        }
        Err(CallError::Problem(problem)) if problem.reason == "dead" => Ok(None),
        Err(error) => Err(format!("{walker}: {error}")),
    }
}

/// How long a greet is waited for.
const WAIT_MS: u64 = 10_000;
/// Between greets, so that two cores can do everything else as well.
const BREATH: Duration = Duration::from_millis(2);

#[cfg(test)]
mod forged {
    use slipgate_walker as walker;

    use super::*;

    fn shown(numbers: &[u64], is_reset: bool) -> Shown {
        let mut ledger = walker::Ledger::default();
        for &number in numbers {
            ledger.note("s".to_owned(), number).expect("a good name");
        }
        let walker::Entry { count, last, gaps, repeats } = ledger.entry("s").copied().unwrap_or_default();
        let body = serde_json::json!({ "own": { "ledger": { "senders": {
            "s": { "count": count, "last": last, "gaps": gaps, "repeats": repeats }
        } } } });
        Shown { ledger: Ledger::read(&body.to_string()).expect("a ledger"), is_reset }
    }

    /// How much is wrong if both live, if the speaker is lost, and if it was reset.
    fn faults(unsure: u64, numbers: &[u64]) -> [usize; 3] {
        let speech = Speech { speaker: "s".to_owned(), listener: "l".to_owned(), said: 4, unsure };
        let listener = shown(numbers, false);
        [Some(shown(&[], false)), None, Some(shown(&[], true))]
            .map(|speaker| speech.compare(speaker.as_ref(), &listener).len())
    }

    #[test]
    fn what_entities_say_is_heard_once_and_in_order_and_all_of_it_if_both_live() {
        assert_eq!(faults(0, &[1, 2, 3, 4]), [0, 0, 0]);
        assert_eq!(faults(1, &[1, 2, 4]), [0, 0, 0]);
        assert_eq!(faults(0, &[1, 2, 3]), [1, 0, 0]);
        assert_eq!(faults(0, &[1, 2, 4]), [2, 1, 0]);
        assert_eq!(faults(1, &[1, 4]), [2, 1, 0]);
        assert_eq!(faults(0, &[1, 2, 2, 3, 4]), [1, 1, 1]);
        assert_eq!(faults(0, &[1, 2, 3, 4, 5]), [1, 1, 1]);
    }
}
