//! A key that does not exist: the nearest is named, or all.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity, Message, State, handlers};

#[derive(Entity, Default, Debug)]
#[entity(verison = 2)]
struct Player {}

#[derive(Component, Default, Debug)]
#[component(colour = "red")]
struct Health {}

#[derive(Component, Default, Debug)]
struct Bag {
    #[component(persistant)]
    gold: u32,
}

#[derive(Message, Debug)]
#[message(anwser = u32)]
struct Hit {}

#[derive(Message, Debug)]
struct Heal {
    #[message(transient)]
    amount: u32,
}

#[derive(State, Debug)]
#[state(name = "stance")]
struct Stance {}

struct Door;

#[handlers(carte = "slipgate_entity")]
impl Door {}

fn main() {}
