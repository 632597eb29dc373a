//! The `slipgate` program: runs a node, or asks one. It links in the arena, for `slipgate dev --game arena`.

#[path = "../examples/arena/game.rs"]
mod arena;

use std::process::ExitCode;

fn main() -> ExitCode {
    slipgate::main()
}
