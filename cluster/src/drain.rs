//! A planned stop of a node: everybody moves out, homes are handed over, what was accepted is answered.
//!
//! ```text
//!   working -- signal, order --> counting -> targets -> moving -> ebbing -> listing -> handing over -> settling -> over
//!      ^                                                                        |
//!      +---- cancelled ------------ from any of these, after an order ----------+--> kept
//! ```
//!
//! A signal is for good: whoever cannot move is listed, and ends with the node. An order ends the node only once it is
//! empty, because whoever gave it waits to be told what could not move: until then it is *kept*, and takes nobody in. A
//! second signal gives what is under way a moment, and ends it.
//!
//! | step | ends | at the latest |
//! |---|---|---|
//! | counting | with the answer | [`ANSWER`] |
//! | targets, moving | everybody has left or cannot | four fifths of the time, counted from when it was given; or after [`SETTLE`] in which nothing can get on |
//! | ebbing | no move is under way | [`SETTLE`] |
//! | listing | with the answer | [`ANSWER`]; then an order keeps the node, because it is not known to be empty |
//! | handing over | others have all homes | half of what is left, or all but [`SETTLE`] of it; or as moving |
//! | settling | moves are told, then messages answered | the time given; the moves [`SETTLE`] |
//!
//! Keeps: the time given bounds all of it, but for the last listing; who is kept is counted only when no move is under
//! way; each order is answered; [`Output::End`] comes once, and nothing after it.
//! Leaves out: who goes where (`evacuation`), how homes are handed over (`directory`), the goodbye.

mod port;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::port::{Event, Far, Homes, Input, Left, Output, Refusal, Report, Step};
use crate::Now;
use crate::evacuation::Target;

/// A planned stop.
#[derive(Clone, Debug)]
pub struct Drain {
    /// How long it may take unless an order says otherwise.
    timeout: Duration,
    phase: Phase,
    /// Whether the node stops whatever it keeps.
    stops: bool,
    began: Now,
    /// When it should be over.
    until: Now,
    /// When the last one begins to move.
    moving_until: Now,
    far: Far,
    report: Report,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Working,
    Counting {
        until: Now,
    },
    Targets {
        hopeful: Now,
    },
    Moving {
        hopeful: Now,
        counted: Now,
    },
    Ebbing {
        until: Now,
    },
    Listing {
        until: Now,
    },
    HandingOver {
        hopeful: Now,
        until: Now,
    },
    /// Nothing more begins; moves end, at last by force.
    Settling {
        until: Now,
        by_force: bool,
    },
    /// Nor is any move under way; messages are answered.
    Answering {
        hopeful: Now,
    },
    /// All is done but to say who is left.
    Closing {
        until: Now,
    },
    Kept,
    Over,
}

impl Drain {
    /// Of a node that works.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            phase: Phase::Working,
            stops: false,
            began: Now(0),
            until: Now(0),
            moving_until: Now(0),
            far: Far::default(),
            report: Report::default(),
        }
    }

    /// Whether the node stops, whatever comes: a signal was heard, or the end has come.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.stops || self.phase == Phase::Over
    }

    /// Whether time matters to it: it neither rests nor is over.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        !matches!(self.phase, Phase::Working | Phase::Kept | Phase::Over)
    }

    /// How it goes.
    #[must_use]
    pub fn report(&self, now: Now) -> Report {
        let took_us = if self.is_under_way() { now.since(self.began) } else { self.report.took_us };
        Report { step: self.phase.step(), took_us, ..self.report }
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Signal => self.signal(now, out),
            Input::Begin { timeout } => self.order(timeout, now, out),
            Input::Cancel => self.cancel(now, out),
            Input::Counted(entities) => self.counted(entities, now, out),
            Input::Targets(targets) => self.take_targets(targets, now, out),
            Input::Far(far) => {
                self.far = far;
                self.look(now, out);
            }
            Input::Left(left) => self.left(left, now, out),
            Input::Homes(homes) => self.given_away(homes, now, out),
            Input::Shut { unsettled } => {
                if let Phase::Settling { by_force, .. } = self.phase
                    && (by_force || unsettled == 0)
                {
                    self.answer(now, out);
                }
            }
            Input::Answered => {
                if matches!(self.phase, Phase::Answering { .. }) {
                    self.close(now, out);
                }
            }
            Input::Tick { may_get_on } => self.tick(may_get_on, now, out),
        }
    }

    fn signal(&mut self, now: Now, out: &mut Vec<Output>) {
        if matches!(self.phase, Phase::Working | Phase::Kept) {
            self.begin(self.timeout, true, now, out);
        } else if std::mem::replace(&mut self.stops, true) {
            self.cut_short(now, out);
        } else if now + self.timeout < self.until {
            self.give_time(now + self.timeout, now);
            let given = self.handing_over_until(now);
            if let Phase::HandingOver { until, .. } = &mut self.phase {
                *until = given;
            }
        }
    }

    fn order(&mut self, timeout: Option<Duration>, now: Now, out: &mut Vec<Output>) {
        if matches!(self.phase, Phase::Working | Phase::Kept) {
            self.begin(timeout.unwrap_or(self.timeout), false, now, out);
        } else if !matches!(self.phase, Phase::Counting { .. }) {
            // Before the count it is answered with that.
            out.push(Output::TakenUp);
        }
    }

    fn begin(&mut self, timeout: Duration, stops: bool, now: Now, out: &mut Vec<Output>) {
        self.stops = stops;
        self.began = now;
        self.give_time(now + timeout, now);
        self.report = Report { timeout, ..Report::default() };
        self.far = Far::default();
        self.phase = Phase::Counting { until: now + ANSWER };
        out.push(Output::CloseDoors);
    }

    /// A part of the time is for what comes after the moves.
    fn give_time(&mut self, until: Now, now: Now) {
        self.until = until;
        self.moving_until = now + Duration::from_micros(until.since(now) / 5 * 4);
    }

    fn cancel(&mut self, now: Now, out: &mut Vec<Output>) {
        if self.phase == Phase::Working {
            return out.push(Output::Refused(Refusal::DoesNotDrain));
        }
        if self.stops() {
            return out.push(Output::Refused(Refusal::StopsForGood));
        }
        self.report.took_us = self.report(now).took_us;
        self.phase = Phase::Working;
        // Whoever waits to hear that it has begun hears how it is now.
        out.extend([Output::Resume, Output::Event(Event::Resumed), Output::TakenUp]);
    }

    fn counted(&mut self, entities: u64, now: Now, out: &mut Vec<Output>) {
        let Phase::Counting { .. } = self.phase else { return };
        self.report.entities = entities;
        self.phase = Phase::Targets { hopeful: now };
        out.extend([Output::Event(Event::Begun), Output::TakenUp, Output::FindTargets]);
    }

    fn take_targets(&mut self, targets: Vec<Target>, now: Now, out: &mut Vec<Output>) {
        match self.phase {
            Phase::Targets { .. } => {
                self.phase = Phase::Moving { hopeful: now, counted: now };
                out.push(Output::MoveOut { targets, deadline: self.moving_until });
            }
            Phase::Moving { .. } => out.push(Output::Retarget(targets)),
            Phase::Working
            | Phase::Counting { .. }
            | Phase::Ebbing { .. }
            | Phase::Listing { .. }
            | Phase::HandingOver { .. }
            | Phase::Settling { .. }
            | Phase::Answering { .. }
            | Phase::Closing { .. }
            | Phase::Kept
            | Phase::Over => {}
        }
    }

    /// Goes on as far as what is known of the scenes allows.
    fn look(&mut self, now: Now, out: &mut Vec<Output>) {
        let Far { moved, kept, open, unsettled, is_over } = self.far;
        if matches!(self.phase, Phase::Moving { .. }) {
            (self.report.moved, self.report.kept) = (moved, kept);
            self.report.entities = moved + kept + open;
            if is_over {
                self.ebb(now, out);
            }
        } else if matches!(self.phase, Phase::Ebbing { .. }) && is_over && unsettled == 0 {
            self.list(now, out);
        } else if matches!(self.phase, Phase::Settling { by_force: false, .. }) && is_over && unsettled == 0 {
            self.answer(now, out);
        }
    }

    fn tick(&mut self, may_get_on: bool, now: Now, out: &mut Vec<Output>) {
        // Where everybody has left or cannot, only copies may still come that their homes have not decided.
        let gets_on = may_get_on && (self.far.open > 0 || !matches!(self.phase, Phase::Moving { .. }));
        let has_stalled = self.phase.hopeful().is_some_and(|hopeful| {
            *hopeful = if gets_on { now } else { *hopeful };
            *hopeful + SETTLE < now
        });
        let is_late = now >= self.until;
        let moves_are_late = now >= self.moving_until;
        match &mut self.phase {
            Phase::Targets { .. } if has_stalled || moves_are_late => self.ebb(now, out),
            Phase::Moving { .. } if has_stalled || moves_are_late => {
                out.push(Output::StopMoving);
                self.ebb(now, out);
            }
            Phase::Moving { counted, .. } if now >= *counted + COUNT_EVERY => {
                *counted = now;
                out.push(Output::FindTargets);
            }
            Phase::Counting { until } if now >= *until => self.counted(0, now, out),
            Phase::Ebbing { until } if now >= *until => self.list(now, out),
            Phase::Listing { until } | Phase::Closing { until } if now >= *until => self.left(self.unknown(), now, out),
            Phase::HandingOver { until, .. } if has_stalled || now >= *until => self.settle(now, out),
            Phase::Settling { until, by_force: true } if now >= *until => self.answer(now, out),
            Phase::Settling { until, by_force } if now >= *until => {
                (*by_force, *until) = (true, now + ANSWER);
                out.push(Output::EndMoves);
            }
            Phase::Answering { .. } if has_stalled || is_late => self.close(now, out),
            Phase::Working
            | Phase::Counting { .. }
            | Phase::Targets { .. }
            | Phase::Moving { .. }
            | Phase::Ebbing { .. }
            | Phase::Listing { .. }
            | Phase::HandingOver { .. }
            | Phase::Settling { .. }
            | Phase::Answering { .. }
            | Phase::Closing { .. }
            | Phase::Kept
            | Phase::Over => {}
        }
    }

    /// Nobody else begins to leave; those on the move arrive.
    fn ebb(&mut self, now: Now, out: &mut Vec<Output>) {
        self.phase = Phase::Ebbing { until: self.until.min(now + SETTLE) };
        self.look(now, out);
    }

    fn list(&mut self, now: Now, out: &mut Vec<Output>) {
        self.phase = Phase::Listing { until: now + ANSWER };
        out.push(Output::AskLeft);
    }

    fn left(&mut self, left: Left, now: Now, out: &mut Vec<Output>) {
        if !matches!(self.phase, Phase::Listing { .. } | Phase::Closing { .. }) {
            return;
        }
        (self.report.moved, self.report.kept) = (left.moved, left.count);
        self.report.entities = left.moved + left.count;
        if matches!(self.phase, Phase::Closing { .. }) {
            self.rest_at(Phase::Over, now);
            out.extend([Output::Event(Event::Drained), Output::End]);
        } else if !self.stops && (left.count > 0 || !left.is_sure) {
            self.rest_at(Phase::Kept, now);
            out.push(Output::Event(Event::Kept));
        } else {
            self.phase = Phase::HandingOver { hopeful: now, until: self.handing_over_until(now) };
            out.push(Output::GiveHomesAway);
        }
    }

    fn handing_over_until(&self, now: Now) -> Now {
        let left = Duration::from_micros(self.until.since(now));
        now + (left / 2).max(left.saturating_sub(SETTLE))
    }

    /// What is known of those who are left, where nobody answers.
    fn unknown(&self) -> Left {
        let Report { entities, moved, .. } = self.report;
        Left { moved, count: entities.saturating_sub(moved), is_sure: false }
    }

    fn given_away(&mut self, homes: Homes, now: Now, out: &mut Vec<Output>) {
        if !matches!(self.phase, Phase::HandingOver { .. }) {
            return;
        }
        (self.report.homes, self.report.homes_left) = (homes.given, homes.left);
        if homes.is_done {
            self.settle(now, out);
        }
    }

    fn settle(&mut self, now: Now, out: &mut Vec<Output>) {
        self.phase = Phase::Settling { until: self.until.min(now + SETTLE), by_force: false };
        out.extend([Output::Event(Event::Stopping), Output::Shut]);
    }

    fn answer(&mut self, now: Now, out: &mut Vec<Output>) {
        self.phase = Phase::Answering { hopeful: now };
        out.push(Output::AwaitAnswers);
    }

    fn close(&mut self, now: Now, out: &mut Vec<Output>) {
        self.phase = Phase::Closing { until: now + ANSWER };
        out.push(Output::AskLeft);
    }

    fn rest_at(&mut self, phase: Phase, now: Now) {
        self.report.took_us = now.since(self.began);
        self.phase = phase;
    }

    /// What is under way gets a moment, and nothing else is done.
    fn cut_short(&mut self, now: Now, out: &mut Vec<Output>) {
        self.until = self.until.min(now + SETTLE);
        if self.phase.step() != Step::Settling && self.phase != Phase::Over {
            out.push(Output::StopMoving);
            self.settle(now, out);
        }
    }
}

impl Phase {
    /// When something could get on last, where that matters.
    fn hopeful(&mut self) -> Option<&mut Now> {
        match self {
            Self::Targets { hopeful }
            | Self::Moving { hopeful, .. }
            | Self::HandingOver { hopeful, .. }
            | Self::Answering { hopeful } => Some(hopeful),
            Self::Working
            | Self::Counting { .. }
            | Self::Ebbing { .. }
            | Self::Listing { .. }
            | Self::Settling { .. }
            | Self::Closing { .. }
            | Self::Kept
            | Self::Over => None,
        }
    }

    fn step(self) -> Step {
        match self {
            Self::Working => Step::Working,
            Self::Counting { .. }
            | Self::Targets { .. }
            | Self::Moving { .. }
            | Self::Ebbing { .. }
            | Self::Listing { .. } => Step::Moving,
            Self::HandingOver { .. } => Step::HandingOver,
            Self::Settling { .. } | Self::Answering { .. } | Self::Closing { .. } => Step::Settling,
            Self::Kept => Step::Kept,
            Self::Over => Step::Drained,
        }
    }
}

/// How long what is under way may take to settle, and how long nothing gets on before it is given up: some round trips,
/// and a short loss of a link.
pub const SETTLE: Duration = Duration::from_secs(1);
/// How long this node's own actors may take to answer.
pub const ANSWER: Duration = Duration::from_secs(1);
/// Between two counts of the room that others have.
const COUNT_EVERY: Duration = Duration::from_secs(2);
