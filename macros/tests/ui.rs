//! Programs that must not compile, and what the compiler says of them.
//!
//! The texts beside them hold for the compiler of `rust-version` in `Cargo.toml`; `TRYBUILD=overwrite` writes them
//! anew, to be read before they are kept.

#[test]
fn what_is_wrong_is_said_where_it_is_wrong() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
