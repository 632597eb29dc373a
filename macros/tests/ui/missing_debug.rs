//! A part and a message without `Debug`.

extern crate slipgate_entity as slipgate;

use slipgate::__private::Behaviour;
use slipgate_macros::{Component, Message};

#[derive(Component, Default)]
struct Health {
    hp: u32,
}

impl Behaviour for Health {}

#[derive(Message)]
struct Hit {
    damage: u32,
}

fn main() {}
