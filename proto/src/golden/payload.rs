//! What game code says: what `payload` holds for a message, and for what comes back.

use serde::{Deserialize, Serialize};
use slipgate_entity::OnlineId;
use slipgate_entity::game::{AskId, Fate, Message, asking, panicked, payload};

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
fn a_message_to_an_entity_and_what_its_panic_says_have_their_bytes() {
    let greet = Greet { to: sample::entity(), number: 1 };
    let message = payload(&greet);
    let ask = asking(&message, AskId(7)).expect("a message");
    let replied = panicked(&ask, "ow", Fate::Despawned).expect("an ask");
    check("payload", &[vector_of("payload.greet", message), vector_of("payload.panicked", replied)]);
}
