//! A part without `Default`.

extern crate slipgate_entity as slipgate;

use slipgate::__private::Behaviour;
use slipgate_macros::Component;

#[derive(Component, Debug)]
struct Health {
    hp: u32,
}

impl Behaviour for Health {}

fn main() {}
