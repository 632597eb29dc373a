//! Processes that cannot outlive the test: whatever they say is kept, and they end with us.
//!
//! Each hangs on a pipe at its standard input, which the system closes when this process ends, however it
//! ends, also where a `static` holds it. `slipgate dev` and `slipgate node` stop themselves then.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::patience::{until, within};

/// A running `slipgate dev` or `slipgate node`.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    lifeline: Option<ChildStdin>,
    said: Arc<Said>,
    out: Option<JoinHandle<String>>,
}

/// What it wrote to stderr.
#[derive(Debug, Default)]
struct Said {
    lines: Mutex<Vec<String>>,
    more: Condvar,
}

impl Process {
    /// Starts it in a process group of its own.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.env("SLIPGATE_PARENT_PIPE", "1").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let said = Arc::<Said>::default();
        let taker = said.clone();
        thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).for_each(|line| taker.take(line)));
        let out = thread::spawn(move || {
            let mut text = String::new();
            BufReader::new(stdout).read_to_string(&mut text).expect("text");
            text
        });
        Self { lifeline: child.stdin.take(), child, said, out: Some(out) }
    }

    /// Waits for a line on stderr.
    pub(crate) fn await_line(&self, limit: Duration, wanted: impl Fn(&str) -> bool) -> String {
        self.said.wait(limit, |lines| lines.iter().find(|line| wanted(line)).cloned())
    }

    /// Every line on stderr so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.said.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        send_signal(self.id(), signal);
    }

    /// Lets go of the pipe that it hangs on, as our death would.
    pub(crate) fn let_go(&mut self) {
        self.lifeline = None;
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, limit: Duration) -> ExitStatus {
        let ended = || self.child.try_wait().expect("it can be waited for").ok_or("it runs");
        until(limit, "the end of a process", ended)
    }

    /// What it wrote to stdout, once it has ended.
    pub(crate) fn out(&mut self) -> String {
        self.out.take().expect("asked once").join().expect("read")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.let_go();
        let _ = within(END, || if matches!(self.child.try_wait(), Ok(None)) { Err(()) } else { Ok(()) });
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Said {
    fn take(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        self.more.notify_all();
    }

    fn wait<T>(&self, limit: Duration, find: impl Fn(&[String]) -> Option<T>) -> T {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_timeout_while(lines, limit, |lines| find(lines).is_none());
        let (lines, _) = waited.unwrap_or_else(PoisonError::into_inner);
        find(&lines).unwrap_or_else(|| panic!("no such line within {limit:?}:\n{}", lines.join("\n")))
    }
}

/// Sends a signal to a process by its number.
pub(crate) fn send_signal(process: u32, signal: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process has a number");
    kill_process(pid, signal).expect("it runs, or is not waited for yet");
}

/// Numbers of the children of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| stat(*number).is_some_and(|(_, of)| of == parent)).collect()
}

/// Whether a process runs; one that has ended and was not waited for does not.
pub(crate) fn is_running(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// The command line of a process.
pub(crate) fn command_line(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default().replace('\0', " ")
}

/// State and parent of a process.
fn stat(process: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// A process that we hang on to is given this long to end by itself.
const END: Duration = Duration::from_secs(20);
