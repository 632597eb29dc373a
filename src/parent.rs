//! A parent that wants this process to end with it.
//!
//! It sets [`PARENT_PIPE`] and holds the other end of our standard input: the end of that input is the
//! parent's end, however it came.

use std::io::{self, Read};

/// Calls `gone` once the parent is gone, if there is one that wants that. Says whether there is.
pub(crate) fn watch(gone: impl FnOnce() + Send + 'static) -> bool {
    let watched = std::env::var_os(PARENT_PIPE).is_some();
    if watched {
        std::thread::spawn(move || {
            wait();
            gone();
        });
    }
    watched
}

fn wait() {
    let mut buffer = [0; 64];
    while io::stdin().read(&mut buffer).is_ok_and(|read| read > 0) {}
}

/// Set by such a parent.
pub(crate) const PARENT_PIPE: &str = "SLIPGATE_PARENT_PIPE";
