//! Names that are none on the wire.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity, Message};

#[derive(Entity, Default, Debug)]
#[entity(name = "Player")]
struct Player {}

#[derive(Component, Default, Debug)]
#[component(name = "")]
struct Health {}

#[derive(Message, Debug)]
#[message(name = "a_name_that_has_more_letters_than_anybody_would_read")]
struct Hit {}

#[derive(Message, Debug)]
struct Épée {}

fn main() {}
