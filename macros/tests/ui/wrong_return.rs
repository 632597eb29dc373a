//! Handlers, hooks and migrations that return something else than what is due.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Component, Message, handlers};

#[derive(Message, Debug)]
#[message(answer = u32)]
struct Hit {}

#[derive(Message, Debug)]
struct Heal {}

#[derive(Component, Default, Debug)]
#[component(version = 2)]
struct Health {}

#[handlers]
impl Health {
    #[from(client)]
    fn hit(&mut self, _hit: Hit) {}

    #[from(client)]
    fn heal(&mut self, _heal: Heal) -> Option<u32> {
        None
    }

    #[hook]
    fn leaving(&mut self, _to: &slipgate::__private::Destination) -> bool {
        true
    }

    #[migrate_from(1)]
    fn from_1(_old: Hit) -> u32 {
        1
    }
}

fn main() {}
