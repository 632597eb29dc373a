//! The built-in type's messages and state: what `payload` and `body` hold for a walker.

use slipgate_entity::walker::{Walker, WalkerMessage};

use super::{check, check_variants, sample, vector};

#[test]
fn every_message_to_a_walker_has_its_bytes_and_so_has_its_state() {
    let note = WalkerMessage::Note { sender: "ann".to_owned(), number: 2 };
    let messages = [
        vector("walker.step", &WalkerMessage::Step { dx: 1.5, dy: -2.0 }),
        vector("walker.hit", &WalkerMessage::Hit { hp: 5 }),
        vector("walker.note", &note),
        vector("walker.greet", &WalkerMessage::Greet { to: sample::entity(), number: 1 }),
        vector("walker.stumble", &WalkerMessage::Stumble {}),
    ];
    check_variants::<WalkerMessage>(&messages);
    let mut walker = Walker::new(sample::entity());
    walker.take(note, &mut Vec::new()).expect("a good note");
    check("walker", &messages.into_iter().chain([vector("walker.state", &walker)]).collect::<Vec<_>>());
}
