//! The `slipgate` program: runs a node, or asks one.

fn main() {}
