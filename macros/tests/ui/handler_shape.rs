//! Handlers that no message can come to. That is all that is said: the part is still one.

extern crate slipgate_entity as slipgate;

use slipgate::__private::{Answered, Context};
use slipgate_macros::{Component, Message, handlers};

#[derive(Message, Debug)]
struct Hit {}

#[derive(Component, Default, Debug)]
struct Health {}

#[handlers]
impl Health {
    #[from(client)]
    async fn asynchronous(&mut self, _hit: Hit) {}

    #[from(client)]
    fn without_message(&mut self) {}

    #[from(client)]
    fn context_alone(&mut self, _cx: &mut Context<'_>) {}

    #[from(client)]
    fn borrowed(&mut self, _hit: &Hit) {}

    #[from(client)]
    fn two_messages(&mut self, _hit: Hit, _other: Hit) {}

    #[from(client)]
    fn without_self(_hit: Hit) {}

    #[from(client)]
    fn takes_self(self, _hit: Hit) {}

    #[from(cluster)]
    fn answer_from_somewhere(&mut self, _answer: Answered<Hit>) {}

    async fn asynchronous_answer(&mut self, _answer: Answered<Hit>) {}
}

fn main() {}
