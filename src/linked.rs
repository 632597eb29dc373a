//! The types that are linked into this program: its own, and the walker of the tour.

use slipgate_entity::game::{Part, TypeFaults, Types};
use slipgate_walker::Walker;

/// All of them.
///
/// # Errors
///
/// If they do not go together; says all that is wrong.
pub(crate) fn types() -> Result<Types, TypeFaults> {
    // A linker leaves out what nothing names, and its registration with it.
    std::hint::black_box(Walker::number());
    Types::linked()
}
