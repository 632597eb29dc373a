//! The `slipgate` program: runs a node, or asks one.

use std::process::ExitCode;

fn main() -> ExitCode {
    slipgate::main()
}
