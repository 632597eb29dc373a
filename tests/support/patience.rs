//! Asking real processes again and again: they are waited for by time only where nothing tells of the change.
//!
//! Keeps: a pause between two questions, and a deadline for all of them.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

/// Asks until the answer is good. Whoever is asked for the last time after `limit` may say what is still wrong.
pub(crate) fn within<T, E>(limit: Duration, mut ask: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let began = Instant::now();
    loop {
        let is_last = began.elapsed() > limit;
        match ask() {
            Err(_) if !is_last => thread::sleep(BETWEEN_QUESTIONS),
            answer => return answer,
        }
    }
}

/// The same, where the test cannot go on without a good answer.
#[track_caller]
pub(crate) fn until<T, E: Display>(limit: Duration, what: &str, ask: impl FnMut() -> Result<T, E>) -> T {
    within(limit, ask).unwrap_or_else(|wrong| panic!("{what}: not within {limit:?}, but {wrong}"))
}

/// Short beside what is waited for, and long beside an answer: the processes have the machine to themselves meanwhile.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20);
