//! The `slipgate` program with fail points: the node that `tests/faults.rs` holds at a step of a move.
//!
//! Without `SLIPGATE_FAIL_POINTS`, the address at which the strings are held, it is the program as it is shipped, but for
//! the games.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use slipgate::prelude::*;
use slipgate_actors::fail_point;
use slipgate_walker::Walker;

fn main() -> ExitCode {
    // A linker leaves out what nothing names, and its registration with it.
    black_box(Walker::number());
    if let Ok(address) = env::var("SLIPGATE_FAIL_POINTS") {
        let name = env::args().find_map(|argument| argument.strip_prefix("node.name=").map(str::to_owned));
        let name = name.expect("a node that is held is told its name by its command line");
        fail_point::hang_on(&address, &name).expect("somebody holds the strings");
    }
    slipgate::main()
}
