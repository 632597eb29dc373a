//! A field whose type has no bytes.

extern crate slipgate_entity as slipgate;

use slipgate_macros::State;

#[derive(Debug)]
struct Gem;

#[derive(State, Debug)]
struct Bag {
    gem: Gem,
}

fn main() {}
