//! A parent, a component, a message and a flag that are none.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Entity, handlers};

#[derive(Default, Debug)]
struct Bag;

#[derive(Entity, Default, Debug)]
#[entity(parent = Bag, components(Bag), flags(GOLDEN))]
struct Player {}

const GOLDEN: u64 = 1;

#[handlers]
impl Player {
    #[from(client)]
    fn carry(&mut self, _bag: Bag) {}
}

fn main() {}
