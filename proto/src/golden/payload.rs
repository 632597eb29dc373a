//! What game code says: what `payload` holds for a message.

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{Message, payload};

use super::{check, sample, vector_of};

#[derive(Debug, Serialize, Deserialize)]
struct Greet {
    to: OnlineId,
    number: u64,
}

impl Message for Greet {
    const NAME: &'static str = "greet";
    type Answer = ();
}

#[test]
fn a_message_to_an_entity_has_its_bytes() {
    let greet = Greet { to: sample::entity(), number: 1 };
    check("payload", &[vector_of("payload.greet", payload(&greet))]);
}
