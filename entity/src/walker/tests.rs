//! What a walker does with each message, and with state from outside.

use super::*;
use crate::RangeId;

/// The walker 3.7 after `messages`, all of which it takes, and what should follow.
fn walker_after(messages: impl IntoIterator<Item = WalkerMessage>) -> (Walker, Vec<WalkerEffect>) {
    let mut walker = Walker::new(OnlineId::new(RangeId(3), 7));
    let mut effects = Vec::new();
    for message in messages {
        walker.take(message, &mut effects).expect("a good message");
    }
    (walker, effects)
}

#[test]
fn steps_add_up() {
    let step = WalkerMessage::Step { dx: 1.5, dy: -2.0 };
    let (walker, effects) = walker_after([step.clone(), step]);
    assert_eq!(walker.position(), (3.0, -4.0));
    assert_eq!(effects, []);
}

#[test]
fn a_step_to_nowhere_is_refused_and_leaves_the_walker_where_it_is() {
    let (mut walker, mut effects) = walker_after([WalkerMessage::Step { dx: f32::MAX, dy: 1.0 }]);
    let before = walker.clone();
    for (dx, dy) in [(f32::NAN, 0.0), (0.0, f32::INFINITY), (f32::NEG_INFINITY, 0.0), (f32::MAX, 0.0)] {
        let refusal = walker.take(WalkerMessage::Step { dx, dy }, &mut effects);
        assert!(matches!(refusal, Err(WalkerError::NoPlace { .. })), "({dx}, {dy})");
        assert_eq!(walker, before);
    }
    assert_eq!(effects, []);
}

#[test]
fn hp_stops_at_the_ends_of_its_range() {
    let hit = |hp| WalkerMessage::Hit { hp };
    assert_eq!(walker_after([hit(30)]).0.hp(), 70);
    assert_eq!(walker_after([hit(i32::MAX), hit(i32::MAX)]).0.hp(), i32::MIN);
    assert_eq!(walker_after([hit(i32::MIN)]).0.hp(), i32::MAX);
}

#[test]
fn a_note_goes_into_the_ledger() {
    let note = |number| WalkerMessage::Note { sender: "ann".to_owned(), number };
    let (walker, effects) = walker_after([note(1), note(2)]);
    assert_eq!(walker.ledger().entry("ann"), Some(&Entry { count: 2, last: 2, gaps: 0, repeats: 0 }));
    assert_eq!(effects, []);
}

#[test]
fn a_note_under_an_impossible_name_is_refused_and_leaves_no_trace() {
    let (mut walker, mut effects) = walker_after([]);
    let before = walker.clone();
    let refusal = walker.take(WalkerMessage::Note { sender: "x".repeat(65), number: 1 }, &mut effects);
    assert_eq!(refusal, Err(WalkerError::Ledger(LedgerError::SenderName { bytes: 65 })));
    assert_eq!(refusal.expect_err("refused").to_string(), "a sender's name has 1 to 64 bytes, not 65");
    assert_eq!(walker, before);
}

#[test]
fn a_greeting_sends_a_note_under_the_walkers_own_id() {
    let to = OnlineId::new(RangeId(9), 1);
    let (walker, effects) = walker_after([WalkerMessage::Greet { to, number: 4 }]);
    let message = WalkerMessage::Note { sender: "3.7".to_owned(), number: 4 };
    assert_eq!(effects, [WalkerEffect::Send { to, message }]);
    assert_eq!(walker, walker_after([]).0);
}

#[test]
fn a_walker_decoded_from_what_another_encoded_is_alike() {
    let note = |sender: &str, number| WalkerMessage::Note { sender: sender.to_owned(), number };
    let step = WalkerMessage::Step { dx: 0.1, dy: -0.0 };
    let (walker, _) = walker_after([step, WalkerMessage::Hit { hp: 1 }, note("ann", 2), note("bob", 1)]);
    let text = serde_json::to_string(&walker).expect("a walker is JSON");
    assert_eq!(serde_json::from_str::<Walker>(&text).expect("its own text"), walker);
}

#[test]
fn the_names_of_a_walkers_fields_stay_as_they_are() {
    let (walker, _) = walker_after([WalkerMessage::Note { sender: "ann".to_owned(), number: 2 }]);
    let text = concat!(
        r#"{"id":"3.7","x":0.0,"y":0.0,"hp":100,"#,
        r#""ledger":{"senders":{"ann":{"count":1,"last":2,"gaps":1,"repeats":0}},"others":0}}"#
    );
    assert_eq!(serde_json::to_string(&walker).expect("a walker is JSON"), text);
}

#[test]
fn messages_read_from_json_by_their_names() {
    let read = |text| serde_json::from_str::<WalkerMessage>(text).expect(text);
    assert_eq!(read(r#"{"hit":{"hp":5}}"#), WalkerMessage::Hit { hp: 5 });
    let to = OnlineId::new(RangeId(3), 1204);
    assert_eq!(read(r#"{"greet":{"to":"3.1204","number":1}}"#), WalkerMessage::Greet { to, number: 1 });
}

#[test]
fn state_from_outside_with_a_position_that_is_not_finite_is_no_walker() {
    let forged = state::WalkerState::forged(f32::NAN);
    let refusal = Walker::try_from(forged).expect_err("NaN is no position");
    assert_eq!(refusal.to_string(), "the position (NaN, 0) is not finite");
}

#[test]
fn state_from_outside_beyond_the_ledgers_limits_is_no_ledger() {
    let ledger = |senders: Vec<String>| {
        let lines: Vec<_> =
            senders.iter().map(|name| format!(r#""{name}":{{"count":1,"last":1,"gaps":0,"repeats":0}}"#)).collect();
        serde_json::from_str::<Ledger>(&format!(r#"{{"senders":{{{}}},"others":0}}"#, lines.join(",")))
    };
    let numbered = |count: usize| (0..count).map(|number| format!("s{number}")).collect();
    assert!(ledger(numbered(Ledger::SENDERS_MAX)).is_ok());
    for forged in [numbered(Ledger::SENDERS_MAX + 1), vec![String::new()], vec!["x".repeat(65)]] {
        assert!(ledger(forged).is_err());
    }
}
