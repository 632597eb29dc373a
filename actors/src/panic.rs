//! Panics of game code: caught, with what they say and where they are.
//!
//! [`guarded`] marks its thread while it calls game code. Whoever sets the process's panic hook asks [`is_guarded`]
//! first, and keeps silent if so: such a panic is told by who has caught it, who knows whose it is.
//!
//! Keeps: a thread is marked during the call only. Only the first panic of a call is silent: one that comes before it
//! was caught, as from a destructor, ends the process, and somebody must tell.
//! Leaves out: the hook itself, which is the program's. Without one that asks, no panic has a place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What it says.
    pub text: String,
    /// File, line and column, if the hook has asked.
    pub place: Option<String>,
}

#[derive(Debug)]
enum Mark {
    Unguarded,
    Guarded,
    Panicked { place: Option<String> },
}

thread_local! {
    static MARK: RefCell<Mark> = const { RefCell::new(Mark::Unguarded) };
}

/// Calls game code, which must not call this again.
///
/// # Errors
///
/// If it panics.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    MARK.set(Mark::Guarded);
    let result = catch_unwind(AssertUnwindSafe(call));
    let mark = MARK.replace(Mark::Unguarded);
    result.map_err(|panic| {
        let place = if let Mark::Panicked { place } = mark { place } else { None };
        Panic { text: text_of(&*panic).to_owned(), place }
    })
}

/// For the panic hook: whether [`guarded`] will catch this panic and hand on what there is to tell.
#[must_use]
pub fn is_guarded(panic: &PanicHookInfo<'_>) -> bool {
    MARK.with_borrow_mut(|mark| {
        let silent = matches!(mark, Mark::Guarded);
        if silent {
            *mark = Mark::Panicked { place: panic.location().map(ToString::to_string) };
        }
        silent
    })
}

/// What a panic says, from its payload.
#[must_use]
pub fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it says nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_panic_comes_back() {
        assert_eq!(guarded(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_comes_back_as_what_it_says() {
        let text = |call: fn()| guarded(call).expect_err("it panics").text;
        assert_eq!(text(|| panic!("plain")), "plain");
        assert_eq!(text(|| panic!("with {}", "a value")), "with a value");
        assert_eq!(text(|| std::panic::panic_any(7)), "it says nothing");
    }

    #[test]
    fn a_thread_is_marked_during_the_call_only() {
        let is_marked = || MARK.with_borrow(|mark| matches!(mark, Mark::Guarded));
        assert!(!is_marked());
        assert_eq!(guarded(is_marked), Ok(true));
        assert!(!is_marked());
        guarded(|| panic!("x")).expect_err("it panics");
        assert!(!is_marked());
    }
}
