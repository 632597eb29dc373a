//! The node's stock of id ranges: the one it hands ids out of, and the next.
//!
//! ```text
//!   used 0 ------------------------- 3/4 ---------- capacity
//!        | take, take, take ...       | asks for     | goes on with the next, or
//!        |                            | the next     | NoRange until the reply comes
//! ```
//!
//! A request is repeated, with the same number, until its reply comes; the waits double from 100 ms
//! to 5 s, each 25 % longer or shorter by chance, so that nodes that lost the manager together do
//! not all return at once.
//!
//! Keeps: no id twice. Only the reply to the open request of this session is installed, and only if
//! its range is above every range installed before; so a late duplicate is harmless, and so is a
//! manager that runs on an old copy of its store. A stock begins empty: what an earlier life of the
//! node had is never resumed.
//! Leaves out: which session the node is (`member`), and other uses of a counter than online ids.
//!
//! Counter 0 of a range is used like any other: ranges start at 1, so no id is the number 0.

use std::time::Duration;

use slipgate_entity::{OnlineId, RangeId};
use thiserror::Error;

use crate::manager::{Counter, ManagerRequest};
use crate::{Now, Rule, Rules, Session};

/// Ids in a range: all values of the counter.
pub const CAPACITY: u64 = 1 << 32;

/// What happens to the stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time passed. The first one makes the first request.
    Tick,
    /// The manager granted a range.
    Reply {
        /// To whom.
        session: Session,
        /// The number of the request it answers.
        request: u64,
        /// The counter it was cut from.
        counter: Counter,
        /// The range.
        range: RangeId,
    },
}

/// What the stock orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Asks the manager.
    Ask(ManagerRequest),
    /// Reports for logs: the range is in stock.
    Installed {
        /// The range.
        range: RangeId,
    },
    /// Reports for logs: the manager granted a range that is not above those it granted before. It
    /// runs on an old copy of its store; the range was refused, and spawning ends with the stock.
    Refused {
        /// The range.
        range: RangeId,
        /// The highest one installed.
        highest: RangeId,
    },
}

/// No id is left. Nothing was taken; the stock goes on asking the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "no id range is in stock ({attempts} requests to the manager unanswered): try again once the manager can be reached"
)]
pub struct NoRange {
    /// How often the open request went out.
    pub attempts: u32,
}

/// The stock of online ids of one session.
#[derive(Debug)]
pub struct RangeStock {
    session: Session,
    seed: u64,
    capacity: u64,
    current: Option<Part>,
    next: Option<RangeId>,
    highest: Option<RangeId>,
    /// Number of the last request; it is open if `open` is set.
    request: u64,
    open: Option<Open>,
    rules: Rules,
}

/// The range that ids are taken from.
#[derive(Clone, Copy, Debug)]
struct Part {
    range: RangeId,
    used: u64,
}

/// A request without a reply.
#[derive(Clone, Copy, Debug)]
struct Open {
    attempts: u32,
    repeat_at: Now,
}

impl RangeStock {
    /// An empty stock of `session`; `seed` decides the jitter of its repeats.
    #[must_use]
    pub fn new(session: Session, seed: u64) -> Self {
        Self::with_capacity(session, seed, CAPACITY)
    }

    /// The same with ranges of `capacity` ids, for tests and simulations that use ranges up.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0 or above [`CAPACITY`].
    #[must_use]
    pub fn with_capacity(session: Session, seed: u64, capacity: u64) -> Self {
        assert!((1..=CAPACITY).contains(&capacity), "a range of {capacity} ids is not within 1 to {CAPACITY}");
        Self {
            session,
            seed,
            capacity,
            current: None,
            next: None,
            highest: None,
            request: 0,
            open: None,
            rules: Rules::default(),
        }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// Takes one input and appends what is to be done.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Tick => self.ask(now, out),
            Input::Reply { session, request, counter: Counter::Online, range } => {
                let awaited = self.open.is_some() && session == self.session && request == self.request;
                if awaited || !self.rules.keep(Rule::RepliesMatchRequests) {
                    self.install(range, out);
                }
            }
        }
    }

    /// Takes an id that was never taken before.
    ///
    /// # Errors
    ///
    /// If every range in stock is used up, or none came yet.
    pub fn take(&mut self) -> Result<OnlineId, NoRange> {
        if self.current.is_none_or(|part| part.used == self.capacity) {
            let Some(range) = self.next.take() else {
                return Err(NoRange { attempts: self.open.map_or(0, |open| open.attempts) });
            };
            self.current = Some(Part { range, used: 0 });
        }
        let part = self.current.as_mut().expect("a range was installed just above");
        let counter = u32::try_from(part.used).expect("a counter below the capacity has 32 bits");
        part.used += 1;
        Ok(OnlineId::new(part.range, counter))
    }

    /// Gives everything in stock away, and waits for no reply: others are the home of these ranges from now on.
    /// The next tick asks for another range.
    pub fn surrender(&mut self) {
        (self.current, self.next, self.open) = (None, None, None);
    }

    /// How many ids can be taken before the next reply.
    #[must_use]
    pub fn left(&self) -> u64 {
        let current = self.current.map_or(0, |part| self.capacity - part.used);
        current + self.next.map_or(0, |_| self.capacity)
    }

    fn ask(&mut self, now: Now, out: &mut Vec<Output>) {
        let attempts = match self.open {
            Some(open) if now < open.repeat_at => return,
            Some(open) => open.attempts,
            None if self.is_low() => {
                self.request += 1;
                0
            }
            None => return,
        };
        let wait = repeat_after(self.seed, self.request, attempts);
        self.open = Some(Open { attempts: attempts.saturating_add(1), repeat_at: now + wait });
        let Self { session, request, .. } = *self;
        out.push(Output::Ask(ManagerRequest::Range { session, request, counter: Counter::Online }));
    }

    fn is_low(&self) -> bool {
        let low_water = self.capacity / 4 * 3;
        self.next.is_none() && self.current.is_none_or(|part| part.used >= low_water)
    }

    fn install(&mut self, range: RangeId, out: &mut Vec<Output>) {
        if let Some(highest) = self.highest
            && range <= highest
            && self.rules.keep(Rule::RangesRise)
        {
            out.push(Output::Refused { range, highest });
            return;
        }
        self.open = None;
        self.highest = Some(range);
        self.next = Some(range);
        out.push(Output::Installed { range });
    }
}

/// How long to wait for a reply before attempt `attempt + 1` of a request: 100 ms doubled per
/// attempt, at most 5 s, then 75 % to 125 % of it. The same arguments give the same wait.
#[must_use]
pub fn repeat_after(seed: u64, request: u64, attempt: u32) -> Duration {
    let doubled = REPEAT_FIRST_US << attempt.min(REPEAT_DOUBLINGS);
    let base = doubled.min(REPEAT_MAX_US);
    let drawn = mix(seed ^ mix(request) ^ u64::from(attempt));
    Duration::from_micros(base / 4 * 3 + drawn % (base / 2 + 1))
}

/// The output function of splitmix64 (Steele, Lea, Flood 2014): every bit of the result depends on
/// every bit of the number.
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const REPEAT_FIRST_US: u64 = 100_000;
const REPEAT_MAX_US: u64 = 5_000_000;
/// Enough to reach the longest wait; more would only overflow.
const REPEAT_DOUBLINGS: u32 = 6;

const _: () = assert!(REPEAT_FIRST_US << REPEAT_DOUBLINGS >= REPEAT_MAX_US);

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Session = Session { node: crate::NodeId(2), incarnation: crate::Incarnation(5) };

    fn stock(capacity: u64) -> RangeStock {
        RangeStock::with_capacity(ME, 7, capacity)
    }

    fn ms(ms: u64) -> Now {
        Now(ms * 1000)
    }

    fn tick(stock: &mut RangeStock, now: Now) -> Vec<Output> {
        let mut out = Vec::new();
        stock.handle(Input::Tick, now, &mut out);
        out
    }

    fn reply(stock: &mut RangeStock, session: Session, request: u64, range: u32) -> Vec<Output> {
        let mut out = Vec::new();
        let range = RangeId(range);
        stock.handle(Input::Reply { session, request, counter: Counter::Online, range }, Now(0), &mut out);
        out
    }

    fn ask(request: u64) -> Vec<Output> {
        vec![Output::Ask(ManagerRequest::Range { session: ME, request, counter: Counter::Online })]
    }

    fn installed(range: u32) -> Vec<Output> {
        vec![Output::Installed { range: RangeId(range) }]
    }

    fn take_all(stock: &mut RangeStock) -> Vec<String> {
        std::iter::from_fn(|| stock.take().ok()).map(|id| id.to_string()).collect()
    }

    #[test]
    fn a_stock_begins_empty_and_asks_at_its_first_tick() {
        let mut stock = stock(4);
        assert_eq!(stock.take(), Err(NoRange { attempts: 0 }));
        assert_eq!(tick(&mut stock, ms(0)), ask(1));
        assert_eq!(stock.take(), Err(NoRange { attempts: 1 }));
    }

    #[test]
    fn ids_come_from_counter_0_to_the_last_of_a_range() {
        let mut stock = stock(3);
        tick(&mut stock, ms(0));
        assert_eq!(reply(&mut stock, ME, 1, 9), installed(9));
        assert_eq!(take_all(&mut stock), ["9.0", "9.1", "9.2"]);
    }

    #[test]
    fn the_last_counter_of_a_whole_range_has_all_32_bits_set() {
        let mut stock = RangeStock::new(ME, 7);
        tick(&mut stock, ms(0));
        reply(&mut stock, ME, 1, 9);
        stock.current = Some(Part { range: RangeId(9), used: CAPACITY - 1 });
        stock.next = None;
        assert_eq!(stock.take(), Ok(OnlineId::new(RangeId(9), u32::MAX)));
        assert!(stock.take().is_err());
    }

    #[test]
    fn the_next_range_is_asked_for_once_three_quarters_are_used() {
        let mut stock = stock(8);
        tick(&mut stock, ms(0));
        reply(&mut stock, ME, 1, 9);
        for _ in 0..5 {
            stock.take().expect("there are ids");
        }
        assert_eq!(tick(&mut stock, ms(10)), []);
        stock.take().expect("there are ids");
        assert_eq!(tick(&mut stock, ms(20)), ask(2));
        assert_eq!(reply(&mut stock, ME, 2, 12), installed(12));
        assert_eq!(stock.left(), 2 + 8);
        assert_eq!(take_all(&mut stock).last().map(String::as_str), Some("12.7"));
    }

    #[test]
    fn a_late_duplicate_reply_is_not_installed_twice() {
        let mut stock = stock(2);
        tick(&mut stock, ms(0));
        reply(&mut stock, ME, 1, 9);
        assert_eq!(reply(&mut stock, ME, 1, 9), []);
        assert_eq!(take_all(&mut stock).len(), 2);
        tick(&mut stock, ms(10));
        assert_eq!(reply(&mut stock, ME, 1, 9), [], "request 2 is open, this answers request 1");
        assert!(stock.take().is_err());
    }

    #[test]
    fn a_reply_to_another_session_is_not_installed() {
        let mut stock = stock(2);
        tick(&mut stock, ms(0));
        assert_eq!(reply(&mut stock, Session::new(2, 4), 1, 9), []);
        assert_eq!(reply(&mut stock, Session::new(3, 5), 1, 9), []);
        assert!(stock.take().is_err());
    }

    #[test]
    fn a_reply_that_nobody_awaits_is_not_installed() {
        let mut stock = stock(2);
        assert_eq!(reply(&mut stock, ME, 0, 9), []);
        assert!(stock.take().is_err());
    }

    #[test]
    fn a_range_that_is_not_above_the_earlier_ones_is_refused() {
        let mut stock = stock(1);
        tick(&mut stock, ms(0));
        reply(&mut stock, ME, 1, 9);
        take_all(&mut stock);
        tick(&mut stock, ms(10));
        assert_eq!(reply(&mut stock, ME, 2, 9), [Output::Refused { range: RangeId(9), highest: RangeId(9) }]);
        assert!(stock.take().is_err());
        assert_eq!(reply(&mut stock, ME, 2, 10), installed(10), "the request is still open");
    }

    #[test]
    fn an_unanswered_request_is_repeated_under_the_same_number() {
        let mut stock = stock(2);
        tick(&mut stock, ms(0));
        assert_eq!(tick(&mut stock, ms(74)), []);
        assert_eq!(tick(&mut stock, ms(126)), ask(1));
        assert_eq!(stock.take(), Err(NoRange { attempts: 2 }));
        assert_eq!(tick(&mut stock, ms(127)), []);
    }

    #[test]
    fn waits_double_up_to_five_seconds_and_vary_by_a_quarter() {
        for seed in 0..200 {
            for attempt in 0..40 {
                let base = (100.0 * 2f64.powi(attempt)).min(5000.0);
                let attempt = u32::try_from(attempt).expect("small");
                let wait = repeat_after(seed, 1, attempt).as_secs_f64() * 1000.0;
                assert!((0.75 * base..=1.25 * base).contains(&wait), "attempt {attempt} waits {wait} ms");
            }
        }
    }

    #[test]
    fn nodes_with_other_seeds_wait_differently() {
        let waits: std::collections::BTreeSet<_> = (0..50).map(|seed| repeat_after(seed, 1, 3)).collect();
        assert!(waits.len() > 45, "{} different waits", waits.len());
        assert_eq!(repeat_after(3, 1, 3), repeat_after(3, 1, 3));
    }

    #[test]
    #[should_panic(expected = "is not within")]
    fn a_range_without_ids_is_refused() {
        let _ = stock(0);
    }
}
