//! One node process: its pipes, its end.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child as Process, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};

use crate::parent::PARENT_PIPE;

/// Where the lines of all processes go.
pub(super) type Sink = fn(&[u8]);

/// A running or ended node process.
#[derive(Debug)]
pub(super) struct Child {
    name: String,
    process: Process,
    /// The node ends when this pipe is closed, by us or by our death.
    lifeline: Option<ChildStdin>,
    relay: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts a process in a group of its own, so that Ctrl-C reaches us alone.
    pub(super) fn start(
        name: &str,
        program: &Path,
        arguments: &[String],
        format: Option<&OsStr>,
        sink: Sink,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env(PARENT_PIPE, "1").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(format) = format {
            command.env(FORMAT_ENV, format);
        }
        let mut process = command.spawn()?;
        let lifeline = process.stdin.take();
        let stderr = process.stderr.take();
        let relay = stderr.map(|stderr| std::thread::spawn(move || relay(stderr, sink)));
        Ok(Self { name: name.into(), process, lifeline, relay })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How it ended; none while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.try_wait().ok().flatten()?;
        self.join_relay();
        Some(status)
    }

    /// Asks it to end.
    pub(super) fn terminate(&mut self) {
        if self.ended().is_none() {
            // It may have ended in between; it is not reaped yet, so the number is still its own.
            let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        }
    }

    /// Closes the pipe that it hangs on.
    #[cfg(test)]
    pub(super) fn cut_lifeline(&mut self) {
        self.lifeline = None;
    }

    /// Ends it.
    pub(super) fn kill(&mut self) {
        self.lifeline = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.join_relay();
    }

    fn join_relay(&mut self) {
        if let Some(relay) = self.relay.take() {
            relay.join().expect("a relay does not panic");
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.kill();
        }
    }
}

/// Passes whole lines on.
fn relay(stderr: ChildStderr, sink: Sink) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        sink(&line);
        line.clear();
    }
}

/// Writes a line to stderr. Where stderr is closed there is nobody to tell.
pub(super) fn to_stderr(line: &[u8]) {
    let _ = io::stderr().lock().write_all(line);
}

/// Form of the nodes' log lines.
pub(super) const FORMAT_ENV: &str = "SLIPGATE__LOG__FORMAT";
