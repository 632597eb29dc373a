//! Types that have no named fields.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity, Message, State};

#[derive(Entity, Default, Debug)]
struct Player(u32, u32);

#[derive(Component, Default, Debug)]
struct Health(u32);

#[derive(Component, Default, Debug)]
enum Stance {
    #[default]
    Standing,
}

#[derive(Message, Debug)]
enum Order {
    Attack,
}

#[derive(State)]
union Bits {
    float: f32,
    int: u32,
}

#[derive(State, Debug)]
#[state(default)]
enum Mood {
    Calm,
}

fn main() {}
