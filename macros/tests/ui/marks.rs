//! Marks that say nothing, too much, or what does not exist.

extern crate slipgate_entity as slipgate;

use slipgate_macros::{Message, handlers};

#[derive(Message, Debug)]
struct Hit {}

struct Health;

#[handlers]
impl Health {
    #[from]
    fn nobody(&mut self, _hit: Hit) {}

    #[from()]
    fn nobody_listed(&mut self, _hit: Hit) {}

    #[from(clients)]
    fn misspelt(&mut self, _hit: Hit) {}

    #[from(client)]
    #[hook(arrived)]
    fn both(&mut self, _hit: Hit) {}

    #[migrate_from(0)]
    fn from_0(_old: Hit) -> Self {
        Self
    }

    #[migrate_from]
    fn from_nothing(_old: Hit) -> Self {
        Self
    }

    #[migrate_from(1)]
    fn with_self(&self, _old: Hit) -> Self {
        Self
    }
}

fn main() {}
