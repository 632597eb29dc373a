//! Components: adding, finding, data, and what they see of each other.

use slipgate_entity::game::doc::{Health, Hit, Player};
use slipgate_entity::game::{
    AddError, Behaviour, Body, Caller, Callers, Component, Context, CreateError, Data, Entry, Handlers, Spawn, Types,
};

use crate::stage::{Stage, identity, tell, told};

data! {
    Bag { slots: u8, gold: u32 }
    Armour {}
    Sulky {}
    Stranger {}
    Rename { name: String }
    Dress {}
    Look {}
}
message!(Rename, "rename", ());
message!(Dress, "dress", ());
message!(Look, "look", String);

impl Behaviour for Bag {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, Rename { name }: Rename, cx: &mut Context<'_>| {
            cx.own_mut::<Player>().expect("it is a player").name = name;
            assert!(cx.component::<Bag>().is_none(), "it runs");
        });
        table.on(Callers::ANY, |bag: &mut Self, _: Look, cx: &mut Context<'_>| {
            let hp = cx.component::<Health>().map_or(0, |health| health.hp);
            cx.component_mut::<Health>().expect("a player has it").hp += 1;
            format!("{} slots, hp {hp}", bag.slots)
        });
        table.on(Callers::ANY, |_: &mut Self, _: Dress, cx: &mut Context<'_>| {
            tell(format!("{:?} {:?}", cx.add(Armour {}), cx.add(Armour {})));
        });
    }
}

impl Behaviour for Armour {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, _: super::types::Howl, _: &mut Context<'_>| tell("clank"));
    }
    fn init(&mut self, _: &mut Context<'_>) -> Result<(), String> {
        tell("armour.init");
        Ok(())
    }
    fn on_enter_scene(&mut self, _: &Entry, _: &mut Context<'_>) {
        tell("armour.enter");
    }
    fn activate(&mut self, _: &mut Context<'_>) {
        tell("armour.activate");
    }
}

impl Behaviour for Sulky {
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        cx.spawn(Spawn::of::<Player>());
        let _ = cx.add(Armour {});
        Err("I do not want to".to_owned())
    }
}

impl Behaviour for Stranger {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, _: Hit, _: &mut Context<'_>| 0);
    }
}

part!(Bag, "bag");
part!(Armour, "armour");
part!(Sulky, "sulky");
part!(Stranger, "stranger");
impl Component for Bag {}
impl Component for Armour {}
impl Component for Sulky {}
impl Component for Stranger {}

fn stage() -> Stage {
    let builder = Types::builder().entity::<Player>().component::<Bag>().component::<Armour>().component::<Sulky>();
    Stage::new(builder.component::<Stranger>().build().expect("nothing is wrong"))
}

fn names(body: &Body) -> Vec<&'static str> {
    body.parts().map(|(name, _)| name).collect()
}

#[test]
fn a_component_is_added_once_and_found_by_its_type() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    assert_eq!(ann.component::<Bag>(), None);
    let add = |ann: &mut Body, slots| stage.turn(|world, effects| ann.add(Bag { slots, gold: 0 }, world, effects));
    let mut add = add;
    assert_eq!(add(&mut ann, 4), Ok(()));
    assert_eq!(add(&mut ann, 9), Err(AddError::Duplicated { component: "bag" }));
    assert_eq!(ann.component::<Bag>().map(|bag| bag.slots), Some(4));
    assert_eq!(names(&ann), ["player", "health", "bag"]);
}

#[test]
fn a_component_that_is_not_registered_is_not_added() {
    let mut stage = Stage::new(Types::builder().entity::<Player>().build().expect("nothing is wrong"));
    let mut ann = stage.spawn("player", 1);
    let result = stage.turn(|world, effects| ann.add(Bag::default(), world, effects));
    assert_eq!(result, Err(AddError::NotRegistered { component: "bag" }));
}

#[test]
fn a_component_whose_init_says_no_is_not_added_and_nothing_of_it_follows() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    let error = stage.turn(|world, effects| ann.add(Sulky {}, world, effects)).expect_err("it sulks");
    assert_eq!(error.to_string(), "the component sulky says: I do not want to");
    assert_eq!((names(&ann), stage.effects()), (vec!["player", "health"], vec![]));
    let howl = super::types::Howl { pitch: 1 };
    assert!(stage.call(&mut ann, Caller::Tool, &howl).is_err(), "what it added took that, and is gone");
}

#[test]
fn a_component_that_takes_what_another_takes_is_not_added() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    let error = stage.turn(|world, effects| ann.add(Stranger {}, world, effects)).expect_err("health takes it");
    assert_eq!(error, AddError::Handles { component: "stranger", message: "hit", by: "health" });
}

#[test]
fn a_component_that_comes_late_catches_up_with_the_others_and_takes_its_messages() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    let howl = super::types::Howl { pitch: 1 };
    assert!(stage.call(&mut ann, Caller::Tool, &howl).is_err(), "handlers come with their component");
    stage.turn(|world, effects| ann.add(Bag::default(), world, effects)).expect("it fits");
    stage.call(&mut ann, Caller::Tool, &Dress {}).expect("taken");
    let expected = r#"armour.init armour.enter armour.activate Ok(()) Err(Duplicated { component: "armour" })"#;
    assert_eq!(told(), expected);
    stage.call(&mut ann, Caller::Tool, &howl).expect("taken");
    assert_eq!(told(), "clank");
}

#[test]
fn a_handler_reaches_the_other_parts_of_its_entity() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    stage.turn(|world, effects| ann.add(Bag::default(), world, effects)).expect("it fits");
    stage.call(&mut ann, Caller::Tool, &Rename { name: "bob".to_owned() }).expect("taken");
    stage.call(&mut ann, Caller::Tool, &Look {}).expect("taken");
    assert_eq!(ann.own::<Player>().map(|player| player.name.as_str()), Some("bob"));
    assert_eq!(ann.component::<Health>(), Some(&Health { hp: 101 }));
}

#[test]
fn parts_begin_with_data_laid_over_their_default_in_json_or_toml() {
    let stage = stage();
    let toml = "[player]\nname = 'ann'\n[health]\nhp = 70\n[bag]\nslots = 4\n";
    let json = r#"{"player":{"name":"ann"},"health":{"hp":70},"bag":{"slots":4}}"#;
    for data in [Data::from_toml(toml).expect("TOML"), Data::from_json(json).expect("JSON")] {
        let ann = stage.types.create("player", identity(1), &data).expect("it fits");
        assert_eq!(ann.own(), Some(&Player { name: "ann".to_owned(), x: 0.0 }));
        assert_eq!(ann.component(), Some(&Health { hp: 70 }));
        assert_eq!(ann.component(), Some(&Bag { slots: 4, gold: 0 }));
    }
    let typed = Data::default().part(&Health { hp: 70 });
    let ann = stage.types.create("player", identity(1), &typed).expect("it fits");
    assert_eq!(ann.component(), Some(&Health { hp: 70 }));
}

#[test]
fn data_that_does_not_fit_makes_no_entity_and_says_what_does_not() {
    let stage = stage();
    let error = |json: &str| {
        let data = Data::from_json(json).expect("JSON");
        stage.types.create("player", identity(1), &data).expect_err("it does not fit").to_string()
    };
    assert_eq!(error(r#"{"baag":{}}"#), r#"no component is named "baag", did you mean "bag"?"#);
    let expected =
        r#"the data of bag does not fit: no field is named "slot", did you mean "slots"?; there are: gold, slots"#;
    assert_eq!(error(r#"{"bag":{"slot":4}}"#), expected);
    assert!(error(r#"{"bag":{"slots":400}}"#).contains("expected u8"));
    assert!(error(r#"{"bag":7}"#).contains("expected fields by name"));
    assert!(Data::from_json("[]").is_err() && Data::from_toml("x").is_err());
}

#[test]
fn a_list_of_components_is_added_whole_or_not_at_all() {
    let mut stage = stage();
    let mut ann = stage.spawn("player", 1);
    let mut init = |ann: &mut Body, json: &str| {
        let data = Data::from_json(json).expect("JSON");
        let result = stage.turn(|world, effects| ann.init_components(&data, world, effects));
        (result, stage.effects())
    };
    for json in [
        r#"{"armour":{},"bag":{"slots":4},"sulky":{}}"#,
        r#"{"armour":{},"bag":{"slots":-1}}"#,
        r#"{"armour":{},"health":{}}"#,
        r#"{"armour":{},"wings":{}}"#,
        r#"{"armour":{},"player":{}}"#,
    ] {
        let (result, effects) = init(&mut ann, json);
        result.expect_err(json);
        assert_eq!((names(&ann), effects.len()), (vec!["player", "health"], 0), "{json}");
    }
    assert_eq!(init(&mut ann, r#"{"bag":{"slots":4},"armour":{}}"#).0, Ok(()));
    assert_eq!(names(&ann), ["player", "health", "armour", "bag"]);
    let duplicated = CreateError::Add(AddError::Duplicated { component: "bag" });
    assert_eq!(init(&mut ann, r#"{"bag":{}}"#).0, Err(duplicated));
}

#[test]
fn what_begins_as_data_may_be_given_typed_with_a_spawn() {
    let spawn = Spawn::of::<Player>().label("ann").part(&Health { hp: 70 });
    let ann = stage().types.create(spawn.type_name, identity(1), &spawn.data).expect("it fits");
    assert_eq!(ann.component(), Some(&Health { hp: 70 }));
}
