//! Bytes and text of derived types.

use serde::Serialize;
use serde::de::DeserializeOwned;
use slipgate::__private::{Behaviour, Part, Position};
use slipgate::codec;
use slipgate_macros::{Component, Message, State};

use crate::{by_hand, derived};

#[derive(Component, PartialEq, Debug)]
struct Oven {
    warm: bool,
    #[component(transient)]
    degrees: NoDefault,
}

/// Has neither `Default` nor serde, as a handle of the process may.
#[derive(PartialEq, Debug)]
struct NoDefault(u32);

impl Default for Oven {
    fn default() -> Self {
        Self { warm: false, degrees: NoDefault(20) }
    }
}

impl Behaviour for Oven {}

#[derive(State, PartialEq, Debug)]
struct Pair<T: PartialEq, const N: usize = 2>
where
    T: Clone,
{
    one: T,
    others: Vec<[u8; 2]>,
    #[state(transient)]
    hits: Option<[u8; N]>,
}

impl<T: PartialEq + Clone, const N: usize> Pair<T, N> {
    const LENGTH: usize = N;
}

#[derive(State, PartialEq, Debug)]
enum Stance {
    Standing,
    Aiming(u64, #[state(transient)] Option<u8>),
}

#[derive(State, PartialEq, Debug)]
enum Step {
    First = 1,
    Last = 9,
}

type Branches = Vec<Tree>;

#[derive(State, PartialEq, Debug)]
struct Tree {
    branches: Branches,
    forest: Option<Box<Forest>>,
}

#[derive(State, PartialEq, Debug)]
enum Forest {
    Of(Vec<Tree>),
}

#[derive(State, PartialEq, Default, Debug)]
struct Unit;

#[derive(State, PartialEq, Debug)]
struct Tuple(u8, Unit, Stance);

#[derive(Message, PartialEq, Debug)]
struct Everything {
    tuple: Tuple,
    pair: Option<Pair<String>>,
}

fn bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::append_part(value, &mut bytes).expect("it is small");
    bytes
}

fn moved<T: Serialize + DeserializeOwned>(value: &T) -> T {
    codec::decode_part(&bytes(value)).expect("it was encoded")
}

#[test]
fn a_derived_type_has_the_bytes_of_one_with_the_derives_of_serde() {
    let wounds = vec![derived::How::Unknown, derived::How::Fall(1, 2)];
    let health = derived::Health { hp: 7, wounds, seen: Some(1) };
    let wounds = vec![by_hand::How::Unknown, by_hand::How::Fall(1, 2)];
    assert_eq!(bytes(&health), bytes(&by_hand::Health { hp: 7, wounds, seen: Some(2) }));

    let at = Position { x: 1.0, y: -2.0 };
    let hero = derived::Player { r#type: "ann".to_owned(), at, turns: 1 };
    assert_eq!(bytes(&hero), bytes(&by_hand::Player { r#type: "ann".to_owned(), at, turns: 2 }));

    let how = derived::How::Weapon { name: "axe".to_owned(), weight: 300 };
    let hit = derived::Hit { damage: 70_000, how };
    let how = by_hand::How::Weapon { name: "axe".to_owned(), weight: 300 };
    assert_eq!(bytes(&hit), bytes(&by_hand::Hit { damage: 70_000, how }));
    assert_eq!(moved(&hit), hit);
    assert_eq!(bytes(&derived::Rest), bytes(&by_hand::Rest));
    assert_eq!(moved(&derived::Rest), derived::Rest);
}

#[test]
fn what_does_not_travel_comes_back_as_the_default_of_the_part_has_it() {
    let health = derived::Health { hp: 7, wounds: Vec::new(), seen: Some(1) };
    assert_eq!(moved(&health), derived::Health { seen: None, ..health });
    let oven = Oven { warm: true, degrees: NoDefault(240) };
    assert_eq!(moved(&oven), Oven { warm: true, degrees: NoDefault(20) });
}

#[test]
fn enums_tuples_generic_and_nested_states_come_back() {
    let pair = |hits| Pair::<String> { one: "a".to_owned(), others: vec![[1, 2]], hits };
    let everything = |hits, seen| Everything { tuple: Tuple(1, Unit, Stance::Aiming(2, seen)), pair: Some(pair(hits)) };
    assert_eq!(moved(&everything(Some([3, 4]), Some(5))), everything(None, None));
    assert_eq!(moved(&Stance::Standing), Stance::Standing);
    assert_eq!([Step::First, Step::Last].map(|step| bytes(&step)), [[0], [1]]);
    assert_eq!(Pair::<u8, 3>::LENGTH, 3);
}

#[test]
fn a_state_may_hold_others_of_its_kind_by_another_name_or_by_way_of_another_type() {
    let leaf = || Tree { branches: Vec::new(), forest: None };
    let tree = Tree { branches: vec![leaf()], forest: Some(Box::new(Forest::Of(vec![leaf(), leaf()]))) };
    assert_eq!(moved(&tree), tree);
}

#[test]
fn a_part_read_from_text_takes_what_is_missing_from_its_default() {
    let health: derived::Health = serde_json::from_str(r#"{"hp":3}"#).expect("hp is a field");
    assert_eq!(health, derived::Health { hp: 3, ..Default::default() });
    assert_eq!(serde_json::from_str::<Oven>("{}").expect("nothing is needed"), Oven::default());
    for unknown in [r#"{"hq":3}"#, r#"{"seen":3}"#] {
        let fault = serde_json::from_str::<derived::Health>(unknown).expect_err("no such field travels").to_string();
        assert!(fault.contains("unknown field"), "{fault}");
    }
}

#[test]
fn a_message_read_from_text_has_all_of_its_fields_and_no_other() {
    let read = |text| serde_json::from_str::<derived::Hit>(text).map_err(|fault| fault.to_string());
    let hit = derived::Hit { damage: 3, how: derived::How::Unknown };
    assert_eq!(read(r#"{"damage":3,"how":"Unknown"}"#), Ok(hit));
    assert!(read(r#"{"how":"Unknown"}"#).expect_err("damage is missing").contains("missing field `damage`"));
    let fault = read(r#"{"damage":3,"how":"Unknown","who":1}"#).expect_err("there is no who");
    assert!(fault.contains("unknown field `who`"), "{fault}");
    assert_eq!(serde_json::from_str::<derived::Rest>("{}").expect("no fields"), derived::Rest);
    assert_eq!(serde_json::to_string(&derived::Rest).expect("no fields"), "{}");
}

#[test]
fn a_state_with_a_default_takes_what_is_missing_from_it() {
    assert!(serde_json::from_str::<derived::HealthV1>("{}").is_ok());
    assert!(serde_json::from_str::<Pair<u8>>("{}").is_err());
}

#[test]
fn a_part_is_named_after_its_type_and_has_a_number_of_its_own() {
    assert_eq!((Oven::NAME, Oven::VERSION), ("oven", 1));
    assert_eq!(Oven::number(), Oven::number());
    assert_ne!(Oven::number(), derived::Health::number());
}
