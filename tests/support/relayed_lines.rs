//! The lines that another process writes, and waiting for more of them.
//!
//! Keeps: a wait has a deadline, looks again at every line, and never just lets time pass.

use std::io::{BufRead, BufReader};
use std::process::ChildStderr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait for a line or an end; on an idle machine most take milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines told when a wait was in vain.
const LINES_TOLD: usize = 40;

/// What a process has written, and who waits for more.
#[derive(Debug, Default)]
pub(crate) struct RelayedLines {
    state: Mutex<State>,
    more: Condvar,
}

/// The lines so far.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Every whole line.
    pub(crate) lines: Vec<String>,
    /// Whether no more can come.
    pub(crate) has_ended: bool,
}

impl RelayedLines {
    /// Takes lines until their end.
    pub(crate) fn collect(&self, stderr: ChildStderr) {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            hold(&self.state).lines.push(line);
            self.more.notify_all();
        }
        hold(&self.state).has_ended = true;
        self.more.notify_all();
    }

    /// Looks at every change until there is an answer; none if time is up.
    pub(crate) fn wait<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = hold(&self.state);
        loop {
            if let Some(answer) = look(&state) {
                return Some(answer);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.more.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Looks once.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&hold(&self.state))
    }

    /// The latest lines, for people.
    pub(crate) fn latest(&self) -> String {
        let state = hold(&self.state);
        state.lines[state.lines.len().saturating_sub(LINES_TOLD)..].join("\n")
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
