//! A name stands for one type, and state owns its data.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Entity, Message, State, handlers};

#[derive(Entity, Default, Debug)]
struct Player<T> {
    class: T,
}

#[derive(Component, Default, Debug)]
struct Health<const MOST: u32> {}

#[derive(Message, Debug)]
struct Say<'a> {
    text: &'a str,
}

#[derive(State, Debug)]
struct Line<'a> {
    text: &'a str,
}

#[handlers]
impl<T> Player<T> {}

fn main() {}
