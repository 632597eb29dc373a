//! A field whose type has no bytes: one mistake, said once.

extern crate slipgate_entity as slipgate;

use slipgate::__private::Behaviour;
use slipgate_macros::{Entity, Message, State};

#[derive(Default, Debug)]
struct Gem;

#[derive(State, Debug)]
struct Bag {
    gem: Gem,
}

#[derive(State, Debug)]
enum Wish {
    Nothing,
    Jewel { carats: u32, gem: Vec<Gem> },
}

#[derive(Message, Debug)]
struct Give {
    gem: Gem,
}

#[derive(Entity, Default, Debug)]
struct Thief {
    name: String,
    #[entity(transient)]
    seen: Gem,
    loot: Option<Gem>,
}

impl Behaviour for Thief {}

fn main() {}
