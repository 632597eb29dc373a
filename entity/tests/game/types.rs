//! Types: names, numbers, the tree, and what is wrong with them.

use proptest::prelude::*;
use serde_json::json;
use slipgate_entity::LocalId;
use slipgate_entity::game::doc::{Actor, Health, Hit, Player};
use slipgate_entity::game::{
    Behaviour, Callers, Component, ComponentList, Context, CreateError, Data, Entity, Flags, Handlers, Tag, TypeFault,
    Types, TypesBuilder, payload,
};

use crate::stage::{Stage, identity};

data! { Monster {} Wolf {} Trap {} Howl { pitch: u8 } Nap {} }
message!(Howl, "howl", ());
message!(Nap, "nap", ());

macro_rules! entity {
    ($type:ident, $name:literal, $parent:ty $(, $constant:ident : $of:ty = $value:expr)*) => {
        part!($type, $name);
        impl Entity for $type {
            type Parent = $parent;
            $(const $constant: $of = $value;)*
        }
    };
}

impl Behaviour for Monster {}
impl Behaviour for Trap {}
impl Behaviour for Wolf {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::CLUSTER, |_: &mut Self, _: Howl, _: &mut Context<'_>| {});
        table.on(Callers::CLIENT, |_: &mut Self, _: Nap, _: &mut Context<'_>| {});
    }
}
entity!(Monster, "monster", Actor, FLAGS: Flags = Flags::IS_MONSTER);
entity!(Wolf, "wolf", Monster, FLAGS: Flags = Flags::IS_COMBAT);
entity!(Trap, "trap", (), FLAGS: Flags = Flags::IS_TRAP);
slipgate_entity::register!(entity Wolf);
slipgate_entity::register!(component Health);

fn all() -> Types {
    Types::builder().entity::<Wolf>().entity::<Player>().entity::<Trap>().build().expect("nothing is wrong")
}

fn faults(builder: TypesBuilder) -> Vec<TypeFault> {
    builder.build().expect_err("something is wrong").faults
}

#[test]
fn a_type_is_created_by_its_name_and_by_its_rust_type() {
    let types = all();
    let by_name = types.create("wolf", identity(1), &Data::default()).expect("a wolf");
    let by_type = types.create_of(Wolf {}, identity(1)).expect("a wolf");
    assert_eq!((by_name.own(), by_type.own()), (Some(&Wolf {}), Some(&Wolf {})));
    let number = types.get::<Wolf>().expect("a wolf").number();
    let by_number = types.create_number(number, identity(1), &Data::default()).expect("a wolf");
    assert_eq!(by_number.description(), by_name.description());
}

#[test]
fn an_entity_knows_who_it_is_and_nobody_can_change_it() {
    let body = Stage::new(all()).spawn("player", 5);
    let description = body.description();
    assert_eq!((description.type_name(), description.online().to_string().as_str()), ("player", "3.5"));
    assert_eq!(
        (description.handle().to_string().as_str(), description.local().map(LocalId::slot)),
        ("1:5/gen1", Some(5))
    );
    assert_eq!((description.label(), description.player().0, description.persist().0.as_u128()), (Some("ann"), 9, 5));
}

#[test]
fn a_name_that_no_type_has_is_refused_with_the_one_that_may_be_meant() {
    let error = all().create("plyer", identity(1), &Data::default()).expect_err("no such type");
    assert_eq!(error.to_string(), r#"no type is named "plyer", did you mean "player"?"#);
    let error = all().create("dragon", identity(1), &Data::default()).expect_err("no such type");
    assert_eq!(error.to_string(), r#"no type is named "dragon""#);
}

#[test]
fn types_that_registered_themselves_are_found_without_a_list() {
    let types = Types::linked().expect("nothing is wrong");
    assert_eq!(types.entities().map(|kind| kind.name()).collect::<Vec<_>>(), ["actor", "monster", "wolf"]);
    assert_eq!(types.components().collect::<Vec<_>>(), ["health"]);
}

#[test]
fn a_type_that_a_node_needs_and_that_is_not_linked_in_is_named() {
    let types = Types::linked().expect("nothing is wrong");
    assert_eq!(types.require(&["wolf", "actor"]), Ok(()));
    let error = types.require(&["wolf", "wolff", "dragon"]).expect_err("two are missing");
    assert_eq!(error.names, ["wolff", "dragon"]);
    let expected = r#"no type of this program is named "wolff", did you mean "wolf"?, or "dragon"; link in the"#;
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn what_is_above_a_type_and_what_it_lists_come_along() {
    let types = Types::builder().entity::<Player>().build().expect("nothing is wrong");
    assert_eq!(types.entities().map(|kind| kind.name()).collect::<Vec<_>>(), ["actor", "player"]);
    assert_eq!(types.components().collect::<Vec<_>>(), ["health"]);
}

#[test]
fn only_types_below_an_abstract_one_can_be_created() {
    let error = all().create("actor", identity(1), &Data::default()).expect_err("abstract");
    assert_eq!(error, CreateError::Abstract { name: "actor" });
    assert!(all().create_of(Actor {}, identity(1)).is_err());
}

#[test]
fn flags_come_from_the_type_and_all_above_it() {
    let wolf = Stage::new(all()).spawn("wolf", 1);
    assert_eq!(wolf.flags(), Flags::DEFAULT.with(Flags::IS_MONSTER).with(Flags::IS_COMBAT));
}

#[test]
fn numbers_are_dense_and_what_is_below_a_type_follows_it() {
    let types = all();
    let names: Vec<_> = types.entities().map(|kind| kind.name()).collect();
    assert_eq!(names, ["actor", "monster", "wolf", "player", "trap"]);
    assert!(types.entities().enumerate().all(|(index, kind)| kind.number().index() == index));
}

proptest! {
    #[test]
    fn is_a_agrees_with_a_walk_up_the_tree_whatever_was_registered_in_which_order(
        chosen in Just([0, 1, 2, 3, 4]).prop_shuffle(), count in 0..=5usize,
    ) {
        let add = |builder: TypesBuilder, &choice: &i32| match choice {
            0 => builder.entity::<Actor>(),
            1 => builder.entity::<Monster>(),
            2 => builder.entity::<Wolf>(),
            3 => builder.entity::<Player>(),
            _ => builder.entity::<Trap>(),
        };
        let types = chosen[..count].iter().fold(Types::builder(), add).build().expect("nothing is wrong");
        for one in types.entities() {
            for other in types.entities() {
                let up = std::iter::successors(Some(one.number()), |&number| types.by_number(number).parent());
                prop_assert_eq!(types.is_a(one.number(), other.number()), up.into_iter().any(|at| at == other.number()));
            }
        }
    }
}

data! { Captain {} Unread {} Unversioned {} Forgetful {} Named {} Named2 {} Bad {} Loop1 {} Loop2 {} Kind1 {} Kind2 {} Twice {} Gap {} Both {} Echo {} Echo2 {} Old {} }
message!(Echo, "echo", ());
message!(Echo2, "echo", ());
impl Behaviour for Named {}
impl Behaviour for Bad {}
impl Behaviour for Loop1 {}
impl Behaviour for Loop2 {}
impl Behaviour for Kind1 {}
impl Behaviour for Kind2 {}
impl Behaviour for Named2 {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, _: Echo2, _: &mut Context<'_>| {});
    }
}
impl Behaviour for Twice {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::CLIENT, |_: &mut Self, _: Echo, _: &mut Context<'_>| {});
        table.on(Callers::CLUSTER, |_: &mut Self, _: Echo, _: &mut Context<'_>| {});
    }
}
impl Behaviour for Gap {
    fn handlers(table: &mut Handlers<Self>) {
        table.migrate_from(1, |_: Old| Gap {});
    }
}
impl Behaviour for Both {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, _: Hit, _: &mut Context<'_>| 0);
    }
}
part!(Named, "named");
part!(Named2, "named");
part!(Bad, "Not-A-Name");
part!(Twice, "twice");
part!(Gap, "gap", VERSION = 3);
part!(Unread, "unread");
impl Behaviour for Unread {}
impl Component for Unread {}
part!(Unversioned, "unversioned", VERSION = 0);
part!(Forgetful, "forgetful", PERSISTENT = &["home"], FIELDS = &[slipgate_entity::game::Field::new("name", "String")]);
impl Behaviour for Unversioned {}
impl Behaviour for Forgetful {}
impl Component for Unversioned {}
impl Component for Forgetful {}
part!(Both, "both");
impl Component for Named {}
impl Component for Named2 {}
impl Component for Bad {}
impl Component for Twice {}
impl Component for Gap {}
entity!(Loop1, "loop1", Loop2);
entity!(Loop2, "loop2", Loop1);
entity!(Kind1, "kind1", (), CLIENT_KIND: Option<u8> = Some(4));
entity!(Kind2, "kind2", (), CLIENT_KIND: Option<u8> = Some(4));
part!(Captain, "captain");
impl Behaviour for Captain {}
impl Entity for Captain {
    type Parent = Player;
    fn components(list: &mut ComponentList) {
        list.with::<Named>();
        list.with::<Health>();
        list.with::<Unread>();
    }
}
impl Entity for Both {
    type Parent = ();
    fn components(list: &mut ComponentList) {
        list.with::<Health>();
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_the_names_of_it() {
    let builder = Types::builder().component::<Named>().component::<Named2>().component::<Bad>();
    let builder = builder.component::<Twice>().component::<Gap>().entity::<Both>();
    let builder = builder.component::<Unversioned>().component::<Forgetful>();
    let error = builder.entity::<Kind1>().entity::<Kind2>().build().expect_err("much is wrong");
    let text = error.to_string();
    for expected in [
        "10 things are wrong with the types of this program",
        r#"both named "named"; give one of them another name"#,
        r#""Not-A-Name" of game::types::Bad is no name"#,
        r#"the messages game::types::Echo2 and game::types::Echo are both named "echo""#,
        "in twice, both twice and twice take echo",
        "gap has version 3 and reads [1, 3]; it may read versions up to 3, without a gap",
        "in both, both both and health take hit",
        "unversioned has version 0; versions count from 1",
        r#"forgetful saves "home", and has no such field"#,
        "kind1 and kind2 both have the client kind 4",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }
}

#[test]
fn components_of_the_types_above_come_first_and_each_comes_once() {
    let types = Types::builder().entity::<Captain>().build().expect("nothing is wrong");
    let captain = types.create("captain", identity(1), &Data::default()).expect("it is no abstract type");
    assert_eq!(captain.parts().map(|(name, _)| name).collect::<Vec<_>>(), ["captain", "health", "named", "unread"]);
}

#[test]
fn types_that_are_above_each_other_are_named() {
    let expected = [TypeFault::Cycle { name: "loop1" }, TypeFault::Cycle { name: "loop2" }];
    assert_eq!(faults(Types::builder().entity::<Loop1>()), expected);
}

/// Its static is one for all of them.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Generic<const N: u8> {}

impl<const N: u8> Behaviour for Generic<N> {}
impl<const N: u8> Component for Generic<N> {}
impl<const N: u8> slipgate_entity::game::Part for Generic<N> {
    const NAME: &'static str = if N == 0 { "generic0" } else { "generic1" };

    fn number() -> slipgate_entity::game::PartNumber {
        static CELL: slipgate_entity::game::PartCell = slipgate_entity::game::PartCell::new();
        CELL.number()
    }
}

#[test]
fn parts_that_share_a_number_are_named() {
    let faults = faults(Types::builder().component::<Generic<0>>().component::<Generic<1>>());
    assert!(matches!(faults[..], [TypeFault::Number { .. }]), "{faults:?}");
}

data! { Liquid {} Costarring {} }
impl Behaviour for Liquid {}
impl Behaviour for Costarring {}
part!(Liquid, "liquid");
part!(Costarring, "costarring");
impl Component for Liquid {}
impl Component for Costarring {}

#[test]
fn names_that_are_the_same_on_the_wire_are_named() {
    let faults = faults(Types::builder().component::<Liquid>().component::<Costarring>());
    assert_eq!(faults, [TypeFault::Tag { tag: Tag::of("liquid"), one: "costarring", other: "liquid" }]);
}

#[test]
fn a_message_is_made_from_its_name_and_json_and_named_again_from_its_bytes() {
    let types = all();
    let bytes = types.parse("player", "hit", r#"{"hp":5}"#).expect("it fits");
    assert_eq!(bytes, payload(&Hit { hp: 5 }));
    assert_eq!((types.kind_of(&bytes), types.kind_of(b"what")), (Some("hit"), None));
    for nothing in ["", "  ", "{}"] {
        assert_eq!(types.parse("wolf", "nap", nothing), Ok(payload(&Nap {})));
    }
    assert_eq!(types.parse("wolf", "hit", r#"{"hp":5}"#), Ok(bytes), "a component may have been added");
}

#[test]
fn a_message_that_cannot_be_made_is_refused_with_what_could() {
    let types = all();
    let error = |kind: &str, name: &str, json: &str| types.parse(kind, name, json).expect_err("no message").to_string();
    assert_eq!(
        error("wolf", "howll", "{}"),
        r#"wolf takes no message named "howll", did you mean "howl"?; it takes: howl, nap"#
    );
    assert_eq!(error("wulf", "howl", "{}"), r#"no type is named "wulf", did you mean "wolf"?"#);
    let text = error("player", "hit", r#"{"hp":"much"}"#);
    assert!(text.starts_with("the arguments of hit do not fit: invalid type: string"), "{text}");
    assert!(text.ends_with(r#"; it takes {"hp": i32}"#), "{text}");
}

#[test]
fn the_schema_is_the_same_whatever_the_order_of_registration() {
    let one = Types::builder().entity::<Player>().entity::<Trap>().build().expect("nothing is wrong").schema();
    let other = Types::builder().entity::<Trap>().entity::<Player>().build().expect("nothing is wrong").schema();
    assert_eq!(one, other);
    let json = serde_json::to_value(&one).expect("a schema is JSON");
    assert_eq!(json["types"][1]["name"], "player");
    assert_eq!(json["types"][1]["parent"], "actor");
    assert_eq!(json["types"][1]["client_kind"], 1);
    assert_eq!(json["types"][1]["flags"], json!(["is_player", "support_migrate"]));
    assert_eq!(
        json["components"],
        json!([{
            "name": "health", "version": 1, "oldest": 1,
            "fields": [{ "name": "hp", "type": "i32", "travels": true, "persistent": false }],
            "handlers": [{
                "message": "hit", "tag": Tag::of("hit").to_string(), "from": { "client": true, "cluster": true },
                "fields": [{ "name": "hp", "type": "i32", "travels": true, "persistent": false }], "answer": "i32",
            }],
        }])
    );
}

#[test]
fn a_type_tells_what_it_takes_and_from_whom() {
    let types = all();
    let player = types.entity("player").expect("a player");
    let takes: Vec<_> =
        player.handlers().map(|handler| (handler.message, handler.component, handler.callers)).collect();
    assert_eq!(takes, [("hit", Some("health"), Callers::ANY)]);
    let wolf = types.entity("wolf").expect("a wolf");
    let takes: Vec<_> = wolf.handlers().map(|handler| (handler.message, handler.component, handler.callers)).collect();
    assert_eq!(takes, [("howl", None, Callers::CLUSTER), ("nap", None, Callers::CLIENT)]);
}
