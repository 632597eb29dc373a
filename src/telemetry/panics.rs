//! Panics as log lines, in place of the lines that Rust writes, which have a form of their own and show the panic's
//! text as it is.
//!
//! Keeps: a panic that nobody guards is one line, `process.panicked`, at whatever level; its text cannot look like
//! another line; the line is written before its node ends. One in game code is told where it is caught, as `entity.panicked`.
//! In a program whose log is its own, what told panics before goes on to do so.
//! Leaves out: what becomes of the node (`fault`), and backtraces.

use std::panic::PanicHookInfo;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use slipgate_actors::panic::{is_guarded, text_of};

use crate::fault::{self, Concern};

/// Target of these lines, which the filter lets through.
pub(super) const TARGET: &str = "process";

/// Tells panics from here on.
pub(super) fn tell() {
    TELLS.store(true, Ordering::Relaxed);
    watch();
}

/// From here on a panic that nobody guards ends the node whose thread it is on.
pub(crate) fn watch() {
    WATCHED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_guarded = is_guarded(panic);
            if !TELLS.load(Ordering::Relaxed) {
                before(panic);
            } else if !is_guarded {
                tell_one(panic);
            }
            if !is_guarded {
                fault::met(panic);
            }
        }));
    });
}

fn tell_one(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let thread = std::thread::current();
    let outcome = match fault::concern() {
        Concern::Process => {
            "this node ends here, without a goodbye: its lease runs out, and what its scenes held is lost; \
             start it again, and report this line"
        }
        Concern::Node => {
            "the node of this thread ends here, without a goodbye: what its scenes held is lost, and its program hears of \
             it; report this line"
        }
        Concern::Nobody => "this thread of the program has ended; restart the program, and report this line",
    };
    tracing::error!(
        target: TARGET, event = "process.panicked", r#where = place, what = text_of(panic.payload()), thread = thread.name(),
        "a fault of this program: {outcome}"
    );
}

/// The hook is the process's, and set once.
static WATCHED: Once = Once::new();
/// Whether panics are lines of the log.
static TELLS: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use serde_json::Value;
    use slipgate_actors::panic::guarded;

    use super::super::{NodeLabel, init};
    use crate::config::{Colour, Format, Log};
    use crate::fault::Alarm;

    const FORGED: &str =
        "x\n{\"ts\":\"2026-01-01T12:00:05.111Z\",\"level\":\"INFO\",\"node\":\"n1\",\"event\":\"move.ok\"}";

    fn log_as_json() {
        let log =
            Log { format: Format::Json, level: "off".to_owned(), entities: "info".to_owned(), colour: Colour::Never };
        init(&log, NodeLabel::default()).expect("nobody has set up logs");
    }

    /// Not a test by itself: the hook is the whole process's, so [`what_a_process_writes`] runs this in one of its own.
    #[test]
    #[ignore = "it is the process of another test"]
    fn a_process_that_panics() {
        log_as_json();
        let thread = std::thread::Builder::new().name("scenes".to_owned());
        let ended = thread.spawn(|| panic!("{FORGED}")).expect("a thread").join();
        assert!(ended.is_err());
    }

    /// As the one before, where the thread is a node's.
    #[test]
    #[ignore = "it is the process of another test"]
    fn a_node_process_that_panics() {
        log_as_json();
        actix_rt::System::new().block_on(async {
            let _set = Alarm::of_the_process().set();
            let arbiter = actix_rt::Arbiter::new();
            // Guarded first: that ends nobody.
            arbiter.spawn_fn(|| drop(guarded(|| panic!("game code"))));
            arbiter.spawn_fn(|| panic!("{FORGED}"));
            std::future::pending::<()>().await;
        });
    }

    fn process(test: &str, backtrace: &str) -> Output {
        let mut process = Command::new(std::env::current_exe().expect("this program"));
        process.args(["--exact", "--ignored", "--nocapture", &format!("telemetry::panics::tests::{test}")]);
        process.env("RUST_BACKTRACE", backtrace).output().expect("it runs")
    }

    fn what_a_process_writes(backtrace: &str) -> String {
        let ended = process("a_process_that_panics", backtrace);
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stderr).expect("text")
    }

    #[test]
    fn a_node_process_ends_at_once_with_the_code_of_a_fault_and_the_panic_is_its_last_line() {
        let ended = process("a_node_process_that_panics", "1");
        assert_eq!(ended.status.code(), Some(101), "{ended:?}");
        let written = String::from_utf8(ended.stderr).expect("text");
        assert_eq!(written.lines().count(), 1, "{written}");
        let line: Value = serde_json::from_str(&written).expect("an object");
        assert_eq!((&line["event"], &line["what"]), (&"process.panicked".into(), &FORGED.into()), "{line}");
        assert!(line["message"].as_str().is_some_and(|text| text.contains("this node ends here")), "{line}");
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
