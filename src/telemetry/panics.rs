//! Panics as log lines, in place of the lines that Rust writes, which have a form of their own and show the panic's
//! text as it is.
//!
//! Keeps: a panic that nobody guards is one line, `process.panicked`, at whatever level; its text cannot look like
//! another line. One in game code is told where it is caught, as `entity.panicked`.
//! Leaves out: what becomes of the thread, and backtraces.

use std::panic::PanicHookInfo;

use slipgate_actors::panic::{is_guarded, text_of};

/// Target of these lines, which the filter lets through.
pub(super) const TARGET: &str = "process";

/// Tells panics from here on.
pub(super) fn tell() {
    std::panic::set_hook(Box::new(|panic| {
        if !is_guarded(panic) {
            tell_one(panic);
        }
    }));
}

fn tell_one(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let thread = std::thread::current();
    tracing::error!(
        target: TARGET, event = "process.panicked", r#where = place, what = text_of(panic.payload()), thread = thread.name(),
        "a fault of this program: the part of the node that met it has ended, and the node may have; restart the node, \
         and report this line"
    );
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::Value;

    use super::super::{NodeLabel, init};
    use crate::config::{Colour, Format, Log};

    const FORGED: &str =
        "x\n{\"ts\":\"2026-01-01T12:00:05.111Z\",\"level\":\"INFO\",\"node\":\"n1\",\"event\":\"move.ok\"}";

    /// Not a test by itself: the hook is the whole process's, so [`what_a_process_writes`] runs this in one of its own.
    #[test]
    #[ignore = "it is the process of another test"]
    fn a_process_that_panics() {
        let log =
            Log { format: Format::Json, level: "off".to_owned(), entities: "info".to_owned(), colour: Colour::Never };
        init(&log, NodeLabel::default()).expect("nobody has set up logs");
        let thread = std::thread::Builder::new().name("scenes".to_owned());
        let ended = thread.spawn(|| panic!("{FORGED}")).expect("a thread").join();
        assert!(ended.is_err());
    }

    fn what_a_process_writes(backtrace: &str) -> String {
        let mut process = Command::new(std::env::current_exe().expect("this program"));
        process.args(["--exact", "--ignored", "--nocapture", "telemetry::panics::tests::a_process_that_panics"]);
        let ended = process.env("RUST_BACKTRACE", backtrace).output().expect("it runs");
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stderr).expect("text")
    }

    #[test]
    fn a_panic_is_one_line_whatever_it_says_and_at_whatever_level() {
        for backtrace in ["0", "1"] {
            let written = what_a_process_writes(backtrace);
            assert_eq!(written.lines().count(), 1, "{written}");
            let line: Value = serde_json::from_str(&written).expect("an object");
            let told = ["level", "node", "event", "what", "thread"].map(|key| line[key].as_str().unwrap_or_default());
            assert_eq!(told, ["ERROR", "-", "process.panicked", FORGED, "scenes"]);
            assert!(line["where"].as_str().is_some_and(|place| place.contains("src/telemetry/panics.rs:")), "{line}");
        }
    }
}
