//! State that travels, and state that is saved.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use slipgate_entity::game::doc::{Hit, Player};
use slipgate_entity::game::{
    Behaviour, Body, Caller, Callers, Component, ComponentList, Context, DecodeBodyError, Entity, Flags, Handlers,
    Moment, Types,
};

use crate::stage::{Stage, id, identity};

/// The hero as it is, and its earlier versions; one name, three programs.
mod now {
    use super::*;

    data! {
        Hero { name: String, gold: u64, #[serde(skip)] path: Vec<u8> }
        Purse { coins: u32 }
        Cape {}
    }
    part!(Hero, "hero", VERSION = 3, PERSISTENT = &["name"]);
    part!(Purse, "purse", PERSISTENT = &["coins"]);
    part!(Cape, "cape");
    impl Component for Purse {}
    impl Component for Cape {}
    impl Behaviour for Cape {}
    impl Behaviour for Purse {}
    impl Entity for Hero {
        type Parent = ();
        fn components(list: &mut ComponentList) {
            list.with::<Purse>();
        }
    }
    impl Behaviour for Hero {
        fn handlers(table: &mut Handlers<Self>) {
            table.on(Callers::ANY, |_: &mut Self, hit: Hit, cx: &mut Context<'_>| {
                cx.after(Duration::from_secs(2), Hit { hp: 1 }).expect("room");
                cx.ask(id(2), Hit { hp: 2 }, Duration::from_secs(1)).expect("room");
                cx.set_flag(Flags::IS_COMBAT);
                hit.hp
            });
            table.migrate_from(1, |old: HeroV1| Hero { name: old.0, ..Hero::default() });
            table.migrate_from(2, |old: HeroV2| Hero { name: old.name, gold: old.gold.into(), path: Vec::new() });
        }
    }

    #[derive(serde::Deserialize)]
    pub(super) struct HeroV1(String);
    #[derive(serde::Deserialize)]
    pub(super) struct HeroV2 {
        pub(super) name: String,
        #[serde(default)]
        pub(super) gold: u16,
    }
}

mod v2 {
    use super::*;

    data! { Hero { name: String, gold: u16 } }
    part!(Hero, "hero", VERSION = 2, PERSISTENT = &["name"]);
    impl Behaviour for Hero {}
    impl Entity for Hero {
        type Parent = ();
    }
}

mod v1 {
    use super::*;

    data! { Hero { name: String } }
    part!(Hero, "hero");
    impl Behaviour for Hero {}
    impl Entity for Hero {
        type Parent = ();
    }
}

use now::{Cape, Hero, Purse};

fn types() -> Types {
    Types::builder().entity::<Hero>().component::<Cape>().build().expect("nothing is wrong")
}

fn encode(body: &Body, now: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    body.encode(Moment(now), None, &mut bytes).expect("it is small");
    bytes
}

fn decode(types: &Types, bytes: &[u8]) -> Result<Body, DecodeBodyError> {
    types.decode("hero", identity(1), bytes, Moment(50))
}

/// With everything that a body can hold.
fn rich() -> (Stage, Body) {
    let mut stage = Stage::new(types());
    let mut hero = stage.spawn("hero", 1);
    *hero.own_mut().expect("a hero") = Hero { name: "ann".to_owned(), gold: 7, path: vec![1, 2] };
    hero.component_mut::<Purse>().expect("it has one").coins = 300;
    stage.turn(|world, effects| hero.add(Cape {}, world, effects)).expect("it can be");
    stage.call(&mut hero, Caller::Tool, &Hit { hp: 1 }).expect("taken");
    (stage, hero)
}

#[test]
fn what_travels_arrives_and_what_is_transient_begins_anew() {
    let (mut stage, hero) = rich();
    let copy = decode(&stage.types, &encode(&hero, stage.now)).expect("its own bytes");
    assert_eq!(copy.own(), Some(&Hero { name: "ann".to_owned(), gold: 7, path: Vec::new() }));
    assert_eq!(copy.component(), Some(&Purse { coins: 300 }));
    assert_eq!(copy.parts().collect::<Vec<_>>(), [("hero", 3), ("purse", 1), ("cape", 1)]);
    assert_eq!((copy.flags(), copy.due()), (Flags::DEFAULT.with(Flags::IS_COMBAT), Some(Moment(50 + 1_000_000))));
    assert_eq!(copy.description().online(), id(1));
    stage.now = 50;
    assert_eq!(encode(&copy, 50), encode(&hero, 1_000_000), "and would arrive the same again");
}

#[test]
fn the_bytes_of_a_body_stay_as_they_are() {
    let (stage, hero) = rich();
    let hit = slipgate_entity::game::payload(&Hit { hp: 1 });
    let tag = |name| slipgate_entity::game::Tag::of(name).0.to_le_bytes();
    let expected = [
        &[1][..],
        &Flags::DEFAULT.with(Flags::IS_COMBAT).0.to_le_bytes(),
        &[3, 0, 5, 0, 0, 0, 3, b'a', b'n', b'n', 7],
        &[2, 0],
        &tag("purse"),
        &[1, 0, 3, 0, 0, 0, 251, 44, 1],
        &tag("cape"),
        &[1, 0, 0, 0, 0, 0],
        &[1, 0],
        &1u64.to_le_bytes(),
        &2_000_000u64.to_le_bytes(),
        &[6, 0, 0, 0],
        &hit,
        &[1, 0],
        &2u64.to_le_bytes(),
        &1_000_000u64.to_le_bytes(),
        &tag("hero"),
        &tag("hit"),
        &id(2).as_u64().to_le_bytes(),
        &[0, 0, 0, 0],
        &2u64.to_le_bytes(),
    ];
    assert_eq!(encode(&hero, stage.now), expected.concat());
}

#[test]
fn earlier_versions_are_read_as_far_as_the_part_says() {
    let old = |types: Result<Types, _>| {
        let mut stage = Stage::new(types.expect("nothing is wrong"));
        encode(&stage.spawn("hero", 1), 0)
    };
    let (v1, v2) =
        (old(Types::builder().entity::<v1::Hero>().build()), old(Types::builder().entity::<v2::Hero>().build()));
    for bytes in [&v1, &v2] {
        let hero = decode(&types(), bytes).expect("an earlier version");
        assert_eq!(hero.own(), Some(&Hero::default()));
        assert_eq!(hero.component(), Some(&Purse::default()), "the list has grown since");
    }
    let narrow = Types::builder().entity::<v2::Hero>().build().expect("nothing is wrong");
    let error = decode(&narrow, &v1).expect_err("nothing reads it there");
    assert_eq!(error.to_string(), "hero has version 1; versions 2 to 2 can be read here");
    assert_eq!(types().readable(), [("cape", 1, 1), ("hero", 1, 3), ("purse", 1, 1)]);
}

#[test]
fn a_copy_of_what_this_node_does_not_know_is_refused_by_name() {
    let (stage, hero) = rich();
    let bytes = encode(&hero, 0);
    let without = Types::builder().entity::<Hero>().build().expect("nothing is wrong");
    let cape = slipgate_entity::game::Tag::of("cape").to_string();
    assert_eq!(decode(&without, &bytes).expect_err("no cape"), DecodeBodyError::Component { name: cape });
    let players = Types::builder().entity::<Player>().build().expect("nothing is wrong");
    assert_eq!(decode(&players, &bytes).expect_err("no hero"), DecodeBodyError::Type { name: "hero".to_owned() });
    let abstract_one = players.decode("actor", identity(1), &bytes, Moment(0));
    assert_eq!(abstract_one.expect_err("abstract"), DecodeBodyError::Type { name: "actor".to_owned() });
    assert!(decode(&stage.types, &bytes).is_ok());
}

#[test]
fn bytes_that_are_cut_anywhere_or_go_on_are_no_body() {
    let (stage, hero) = rich();
    let mut bytes = encode(&hero, 0);
    for length in 0..bytes.len() {
        decode(&stage.types, &bytes[..length]).expect_err("it is cut");
    }
    bytes.push(0);
    assert_eq!(decode(&stage.types, &bytes).expect_err("too long"), DecodeBodyError::Trailing { count: 1 });
    bytes[0] = 9;
    assert_eq!(decode(&stage.types, &bytes).expect_err("another form"), DecodeBodyError::Form { found: 9 });
}

#[test]
fn numbers_that_would_come_to_an_end_are_refused() {
    let (stage, hero) = rich();
    let bytes = encode(&hero, 0);
    let given = bytes.len() - 8;
    let ends_in = |number: u64| [&bytes[..given], &number.to_le_bytes()].concat();
    assert!(decode(&stage.types, &ends_in(u64::MAX / 2)).is_ok());
    let refused = decode(&stage.types, &ends_in(u64::MAX)).expect_err("no timer could follow");
    assert_eq!(refused, DecodeBodyError::Numbers { given: u64::MAX });
}

proptest! {
    #[test]
    fn whatever_bytes_come_nothing_panics(at in 0..150usize, with: u8, tail in prop::collection::vec(any::<u8>(), 0..40)) {
        let (stage, hero) = rich();
        let mut bytes = encode(&hero, 0);
        let at = at % bytes.len();
        bytes[at] = with;
        if let Ok(mut body) = decode(&stage.types, &bytes) {
            let mut stage = Stage::new(types());
            stage.now = 1 << 60;
            stage.fire(&mut body);
            encode(&body, 0);
        }
        bytes.truncate(at);
        bytes.extend(tail);
        let _ = decode(&stage.types, &bytes);
    }
}

#[test]
fn what_is_persistent_is_saved_and_makes_the_entity_again() {
    let (stage, hero) = rich();
    let saved = hero.save();
    assert_eq!(
        saved,
        json!({ "type": "hero", "flags": "576", "parts": {
            "hero": { "version": 3, "fields": { "name": "ann" } },
            "purse": { "version": 1, "fields": { "coins": 300 } },
            "cape": { "version": 1, "fields": {} },
        }})
    );
    let hero = stage.types.create_saved(identity(1), &saved).expect("it was saved");
    assert_eq!(hero.own(), Some(&Hero { name: "ann".to_owned(), gold: 0, path: Vec::new() }));
    assert_eq!(hero.component(), Some(&Purse { coins: 300 }));
    assert_eq!((hero.save(), hero.due()), (saved, None));
}

#[test]
fn what_an_earlier_version_saved_is_read_and_what_nothing_reads_is_refused() {
    let saved = |version: u64| json!({ "type": "hero", "flags": "0", "parts": { "hero": { "version": version, "fields": { "name": "ann" } } } });
    let hero = types().create_saved(identity(1), &saved(2)).expect("an earlier version");
    assert_eq!(hero.own::<Hero>().map(|hero| hero.name.as_str()), Some("ann"));
    let error = types().create_saved(identity(1), &saved(4)).expect_err("a later version");
    assert_eq!(error.to_string(), "hero was saved with version 4; versions 1 to 3 can be read here");
    for nothing in [json!(null), json!({ "type": "hero" }), json!({ "type": "hero", "flags": "0" })] {
        types().create_saved(identity(1), &nothing).expect_err("nothing of the kind");
    }
}

#[test]
fn an_entity_describes_itself_to_people() {
    let (_, hero) = rich();
    assert_eq!(
        hero.describe(),
        json!({
            "type": "hero", "flags": ["is_combat", "support_migrate"],
            "own": { "name": "ann", "gold": 7 },
            "components": { "purse": { "coins": 300 }, "cape": {} },
            "timers": 1, "asks": 1,
        })
    );
}
