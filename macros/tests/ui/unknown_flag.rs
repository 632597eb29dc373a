//! A flag that does not exist.

extern crate slipgate_entity as slipgate;

use slipgate_macros::Entity;

#[derive(Entity, Default, Debug)]
#[entity(flags(is_monster, is_playr))]
struct Player {}

#[derive(Entity, Default, Debug)]
#[entity(flags(burning))]
struct Torch {}

fn main() {}
