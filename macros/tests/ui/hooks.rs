//! Hooks that do not exist, look otherwise, or are not marked.

extern crate slipgate_entity as slipgate;

use slipgate::__private::{Context, Leave};
use slipgate_macros::handlers;

struct Health;

#[handlers]
impl Health {
    #[hook]
    fn arived(&mut self) {}

    #[hook(on_leave)]
    fn gone(&mut self) {}

    #[hook]
    fn leaving(&mut self) -> Leave {
        Leave::allow()
    }

    #[hook]
    fn activate(&mut self, _scene: u32, _cx: &mut Context<'_>) {}

    fn left(&mut self, _cx: &mut Context<'_>) {}
}

fn main() {}
