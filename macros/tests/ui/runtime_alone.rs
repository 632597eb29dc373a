//! A game makes and ends no entity by itself: it asks, and the runtime does it.

extern crate slipgate_entity as slipgate;

use slipgate::OnlineId;
use slipgate::__private::{Body, Context, Description};

fn makes() -> Body {
    Body::default()
}

fn makes_of_parts() -> Body {
    Body {}
}

fn copies(body: &Body) -> Body {
    Body::clone(body)
}

fn takes_its_own(cx: Context<'_>) -> Body {
    *cx.body
}

fn puts_another_in_its_place(cx: &mut Context<'_>, other: Body) {
    *cx.body = other;
}

fn ends_at_once(cx: &mut Context<'_>) {
    cx.body.parts.pop();
}

fn makes_in_the_scene(cx: &mut Context<'_>) {
    cx.world.types.create();
}

fn renames(description: &mut Description, online: OnlineId) {
    description.identity.online = online;
}

fn main() {}
