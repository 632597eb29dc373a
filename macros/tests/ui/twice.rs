//! What is said twice.

extern crate slipgate_entity as slipgate;

use slipgate_macros::Entity;

#[derive(Entity, Default, Debug)]
#[entity(name = "player", version = 2)]
#[entity(name = "actor")]
struct Player {}

#[derive(Entity, Default, Debug)]
#[entity(components(Health, Bag, Health))]
struct Monster {}

#[derive(Entity, Default, Debug)]
#[entity(flags(is_trap, is_dead, !is_trap))]
struct Trap {}

fn main() {}
