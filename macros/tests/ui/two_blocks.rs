//! A part with two blocks, and one whose serde impls are written twice.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, handlers};

#[derive(Component, Default, Debug)]
struct Health {}

#[handlers]
impl Health {}

#[handlers]
impl Health {}

fn main() {}
