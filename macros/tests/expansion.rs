//! What the derives make is what one would write by hand: the same bytes, the same tables, the same behaviour.

extern crate slipgate_entity as slipgate;

#[path = "expansion/by_hand.rs"]
mod by_hand;
#[path = "expansion/derived.rs"]
mod derived;
#[path = "expansion/handling.rs"]
mod handling;
#[path = "expansion/state.rs"]
mod state;
