//! Tells how to repeat a seed that failed, whatever failed.

/// A seed that is run; `test` is the name of its file, and in capitals of its variable.
pub(crate) struct Repeat {
    pub(crate) seed: u64,
    pub(crate) test: &'static str,
}

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, test } = *self;
            let variable = test.to_uppercase();
            eprintln!(
                "seed {seed} failed; repeat it with {variable}_SEED={seed} cargo test -p slipgate-cluster --test {test}"
            );
        }
    }
}
