//! A part that nothing says the behaviour of.

extern crate slipgate_entity as slipgate;

use slipgate_macros::Component;

#[derive(Component, Default, Debug)]
struct Health {
    hp: u32,
}

fn main() {}
