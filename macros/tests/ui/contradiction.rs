//! What does not go together.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity};

#[derive(Component, Default, Debug)]
struct Health {
    #[component(transient, persistent)]
    hp: u32,
}

#[derive(Entity, Default, Debug)]
#[entity(position = place)]
struct Player {
    plaice: u32,
}

#[derive(Entity, Default, Debug)]
#[entity(position = at(1))]
struct Monster {}

#[derive(Entity, Default, Debug)]
#[entity(parent = Actor, flags(!support_migrate))]
struct Door {}

#[derive(Entity, Default, Debug)]
#[entity(abstract, kind = 3)]
struct Actor {}

fn main() {}
