//! Two methods of a block for one thing.

extern crate slipgate_entity as slipgate;

use slipgate::__private::Answered;
use slipgate_macros::{Message, handlers};

#[derive(Message, Debug)]
struct Hit {}

struct Health;

#[handlers]
impl Health {
    #[from(client)]
    fn by_client(&mut self, _hit: Hit) {}

    #[from(cluster)]
    fn by_cluster(&mut self, _hit: Hit) {}

    fn answered(&mut self, _answer: Answered<Hit>) {}

    fn answered_again(&mut self, _answer: Answered<Hit>) {}

    #[hook]
    fn arrived(&mut self) {}

    #[hook(arrived)]
    fn came(&mut self) {}

    #[migrate_from(1)]
    fn from_1(_old: Hit) -> Self {
        Self
    }

    #[migrate_from(1)]
    fn from_first(_old: Hit) -> Self {
        Self
    }
}

#[handlers]
impl Clone for Health {
    fn clone(&self) -> Self {
        Self
    }
}

fn main() {}
