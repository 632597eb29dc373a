//! Commands that end in time, or are ended.

use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Runs a command to its end.
///
/// # Panics
///
/// If it cannot be started, or has not ended after `limit`; then it is killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Output {
    let told = format!("{command:?}");
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.spawn().unwrap_or_else(|error| panic!("{told} does not start: {error}"));
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
    let (ended, end) = mpsc::channel();
    let waiter = thread::spawn(move || ended.send(child.wait_with_output()));
    let output = end.recv_timeout(limit).unwrap_or_else(|_| {
        let _ = kill_process(pid, Signal::KILL);
        panic!("{told} has not ended after {limit:?}")
    });
    let _ = waiter.join();
    output.unwrap_or_else(|error| panic!("{told}: {error}"))
}

/// Runs a command to its good end, and gives what it printed.
///
/// # Panics
///
/// As [`run`], and if it fails; with all that it printed.
pub(crate) fn run_well(command: &mut Command, limit: Duration) -> String {
    let output = run(command, limit);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{command:?} failed, {}\n{stdout}\n{stderr}", output.status);
    stdout
}
