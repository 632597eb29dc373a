//! Numbers that are out of range.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity};

#[derive(Entity, Default, Debug)]
#[entity(version = 0)]
struct Player {}

#[derive(Component, Default, Debug)]
#[component(version = 65536)]
struct Health {}

#[derive(Component, Default, Debug)]
#[component(version = "2")]
struct Bag {}

#[derive(Entity, Default, Debug)]
#[entity(kind = 256)]
struct Monster {}

fn main() {}
