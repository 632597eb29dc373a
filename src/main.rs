//! The `slipgate` program: runs a node, or asks one. Its types are the walker of the tour, and the arena for
//! `slipgate dev --game arena`.

#[path = "../examples/arena/game.rs"]
mod arena;

use std::hint::black_box;
use std::process::ExitCode;

use slipgate::prelude::*;
use slipgate_walker::Walker;

fn main() -> ExitCode {
    // A linker leaves out what nothing names, and its registration with it.
    black_box(Walker::number());
    slipgate::main()
}
