//! What a walker does with each message, and with state from outside.

use slipgate_entity::game::{Body, Caller, Data, Effect, Incoming, Lookup, Moment, SceneInfo, Types, World, payload};
use slipgate_entity::game::{Description, Identity, Message};
use slipgate_entity::{Handle, LookupError, PersistId, PlayerId, RangeId, SceneId};

use super::*;

struct Nobody;

impl Lookup for Nobody {
    fn find(&self, _: Handle) -> Result<&Description, LookupError> {
        Err(LookupError::NotFound)
    }
}

fn types() -> Types {
    Types::builder().entity::<Walker>().build().expect("a walker is a type")
}

fn walker() -> Body {
    let online = OnlineId::new(RangeId(3), 7);
    let identity = Identity { online, persist: PersistId(uuid::Uuid::nil()), player: PlayerId::NONE, label: None };
    types().create("walker", identity, &Data::default()).expect("a walker")
}

/// Tells it a message; returns what should follow.
fn tell<M: Message>(walker: &mut Body, message: &M) -> Vec<Effect> {
    let (types, mut effects) = (types(), Vec::new());
    let scene = SceneInfo { id: SceneId(1), name: "forest".to_owned(), node: "n1".to_owned() };
    let world = World { types: &types, scene: &scene, tick: 0, now: Moment(0), handles: &Nobody };
    let incoming = Incoming { caller: Caller::Tool, payload: &payload(message) };
    walker.call(incoming, &world, &mut effects).expect("a message of walkers");
    effects
}

fn own(walker: &Body) -> &Walker {
    walker.own().expect("a walker")
}

#[test]
fn steps_add_up() {
    let mut walker = walker();
    for _ in 0..2 {
        assert_eq!(tell(&mut walker, &Step { dx: 1.5, dy: -2.0 }), []);
    }
    assert_eq!(walker.position(), Some(Position { x: 3.0, y: -4.0 }));
}

#[test]
fn a_step_to_nowhere_is_told_and_leaves_the_walker_where_it_is() {
    let mut walker = walker();
    tell(&mut walker, &Step { dx: f32::MAX, dy: 1.0 });
    let before = walker.position();
    for (dx, dy) in [(f32::NAN, 0.0), (0.0, f32::INFINITY), (f32::NEG_INFINITY, 0.0), (f32::MAX, 0.0)] {
        let told = tell(&mut walker, &Step { dx, dy });
        assert!(matches!(&told[..], [Effect::Log { level: Level::Warn, .. }]), "({dx}, {dy}): {told:?}");
        assert_eq!(walker.position(), before);
    }
}

#[test]
fn hp_stops_at_the_ends_of_its_range() {
    let hp_after = |hits: &[i32]| {
        let mut walker = walker();
        hits.iter().for_each(|&hp| drop(tell(&mut walker, &Hit { hp })));
        own(&walker).hp
    };
    assert_eq!(hp_after(&[30]), 70);
    assert_eq!(hp_after(&[i32::MAX, i32::MAX]), i32::MIN);
    assert_eq!(hp_after(&[i32::MIN]), i32::MAX);
}

#[test]
fn a_note_goes_into_the_ledger() {
    let mut walker = walker();
    for number in [1, 2] {
        assert_eq!(tell(&mut walker, &Note { sender: "ann".to_owned(), number }), []);
    }
    assert_eq!(own(&walker).ledger.entry("ann"), Some(&Entry { count: 2, last: 2, gaps: 0, repeats: 0 }));
}

#[test]
fn a_note_under_an_impossible_name_is_told_and_leaves_no_trace() {
    let mut walker = walker();
    let told = tell(&mut walker, &Note { sender: "x".repeat(65), number: 1 });
    let [Effect::Log { text, .. }] = &told[..] else { panic!("expected a line, found {told:?}") };
    assert_eq!(text, "a note is left out: a sender's name has 1 to 64 bytes, not 65");
    assert_eq!(own(&walker), &Walker::default());
}

#[test]
fn a_greeting_sends_a_note_under_the_walkers_own_id() {
    let mut walker = walker();
    let to = OnlineId::new(RangeId(9), 1);
    let payload = payload(&Note { sender: "3.7".to_owned(), number: 4 });
    assert_eq!(tell(&mut walker, &Greet { to, number: 4 }), [Effect::Send { to, payload }]);
    assert_eq!(own(&walker), &Walker::default());
}

#[test]
fn the_names_of_a_walkers_fields_stay_as_they_are() {
    let mut walker = walker();
    tell(&mut walker, &Note { sender: "ann".to_owned(), number: 2 });
    let text = concat!(
        r#"{"x":0.0,"y":0.0,"hp":100,"#,
        r#""ledger":{"senders":{"ann":{"count":1,"last":2,"gaps":1,"repeats":0}},"others":0}}"#
    );
    assert_eq!(serde_json::to_string(own(&walker)).expect("a walker is JSON"), text);
}

#[test]
fn messages_read_from_json_by_their_names() {
    let types = types();
    let to = OnlineId::new(RangeId(3), 1204);
    assert_eq!(types.parse("walker", "hit", r#"{"hp":5}"#), Ok(payload(&Hit { hp: 5 })));
    assert_eq!(types.parse("walker", "greet", r#"{"to":"3.1204","number":1}"#), Ok(payload(&Greet { to, number: 1 })));
    assert_eq!(types.parse("walker", "stumble", ""), Ok(payload(&Stumble {})));
}

#[test]
fn state_from_outside_with_a_place_that_is_not_finite_is_no_walker() {
    let bytes = slipgate_entity::codec::encode(&f32::NAN).expect("a number");
    let refusal = slipgate_entity::codec::decode::<Metres>(&bytes).expect_err("NaN is no place");
    assert!(format!("{refusal:?}").contains("NaN metres are no finite length"), "{refusal:?}");
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
