//! A migration from a version that is not earlier.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Message, handlers};

#[derive(Message, Debug)]
struct Old {}

#[derive(Component, Default, Debug)]
#[component(version = 2)]
struct Health {}

#[handlers]
impl Health {
    #[migrate_from(2)]
    fn from_2(_old: Old) -> Self {
        Self {}
    }
}

fn main() {}
