//! What a block of handlers makes of a part, in bodies.

use std::time::Duration;

use slipgate::__private::{
    Answered, AskError, Body, CallError, Caller, Context, Data, Description, Effect, Entity, Flags, Hook, Identity,
    Incoming, Lookup, Moment, Part, Position, SceneInfo, Tag, Types, World, payload, unguarded,
};
use slipgate::{Handle, LookupError, OnlineId, PersistId, PlayerId, RangeId, SceneId};
use slipgate_macros::{Component, Entity, Message, handlers};
use uuid::Uuid;

use crate::derived::{Health, Hit, How, Rest};
use crate::{by_hand, derived};

/// Sends a hit to another, and asks what is left of it.
#[derive(Message, Debug)]
struct Strike {
    other: u32,
}

#[derive(Entity, Default, PartialEq, Debug)]
#[entity(components(Nerves), position = stand())]
struct Duelist {
    left_of_other: Option<u32>,
    fault: Option<String>,
}

#[handlers]
impl Duelist {
    #[from(client, cluster)]
    fn strike(&mut self, strike: Strike, cx: &mut Context<'_>) {
        let hit = Hit { damage: 3, how: How::Unknown };
        cx.ask(id(strike.other), hit, Duration::from_secs(1)).expect("nothing else is asked");
    }

    fn heard(&mut self, answer: Answered<Hit>) {
        match answer.result {
            Ok(left) => self.left_of_other = Some(left),
            Err(error) => self.fault = Some(error.to_string()),
        }
    }

    fn stand(&self) -> Position {
        Position { x: 4.0, y: if self.fault.is_some() { 0.0 } else { 2.0 } }
    }

    #[from(client)]
    #[cfg(any())]
    fn never_built(&mut self, strike: Strike) {}
}

/// Notes which of its hooks ran.
#[derive(Component, Default, PartialEq, Debug)]
struct Nerves {
    felt: Vec<String>,
}

#[handlers]
impl Nerves {
    #[hook]
    fn init(&mut self, _: &mut Context<'_>) -> Result<(), String> {
        self.feel("init");
        Ok(())
    }

    #[hook(activate)]
    fn wake(&self) {
        assert_eq!(self.felt, ["init"], "a hook that only looks");
    }

    #[hook(arrived)]
    fn came(&mut self, cx: &mut Context<'_>) {
        self.feel(&format!("came to {}", cx.scene().name));
    }

    fn feel(&mut self, what: &str) {
        self.felt.push(what.to_owned());
    }
}

#[derive(Entity, Default, Debug)]
#[entity(flags(
    is_client_visible,
    is_dead,
    is_player,
    is_monster,
    is_trap,
    is_global,
    is_combat,
    is_ghost,
    support_ghost,
    support_migrate,
    support_aoi_max_limit,
    is_main_player,
    is_other_player,
    is_observer_player
))]
struct Banner {}

#[handlers]
impl Banner {}

struct Nobody;

impl Lookup for Nobody {
    fn find(&self, _: Handle) -> Result<&Description, LookupError> {
        Err(LookupError::NotFound)
    }
}

fn id(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

fn identity(counter: u32) -> Identity {
    Identity { online: id(counter), persist: PersistId(Uuid::nil()), player: PlayerId::NONE, label: None }
}

/// Runs `turn` in a scene, and returns what it leads to.
fn in_scene<T>(types: &Types, turn: impl FnOnce(&World<'_>, &mut Vec<Effect>) -> T) -> (T, Vec<Effect>) {
    let scene = SceneInfo { id: SceneId(1), name: "forest".to_owned(), node: "n1".to_owned() };
    let world = World { types, scene: &scene, tick: 41, now: Moment(1), handles: &Nobody };
    let mut effects = Vec::new();
    let result = turn(&world, &mut effects);
    (result, effects)
}

fn call(body: &mut Body, types: &Types, caller: Caller, payload: &[u8]) -> (Result<(), CallError>, Vec<Effect>) {
    in_scene(types, |world, effects| body.call(Incoming { caller, payload }, world, effects))
}

fn types_of<T: Entity>() -> Types {
    Types::builder().entity::<T>().build().expect("nothing is wrong with them")
}

#[test]
fn derived_types_make_the_same_table_as_those_written_by_hand() {
    let derived = serde_json::to_value(types_of::<derived::Player>().schema()).expect("it is JSON");
    let by_hand = serde_json::to_value(types_of::<by_hand::Player>().schema()).expect("it is JSON");
    assert_eq!(derived, by_hand);
    assert_eq!(derived["types"][1]["name"], "hero");
    assert_eq!(derived["components"][0]["handlers"][0]["message"], "hit");
}

#[test]
fn bodies_of_derived_types_do_and_hold_what_those_written_by_hand_do_and_hold() {
    fn play<T: Entity>() -> (Vec<Vec<Effect>>, Vec<u8>, serde_json::Value) {
        let types = types_of::<T>();
        let data =
            Data::from_json(r#"{"hero":{"type":"a","at":{"x":1,"y":2}},"health":{"hp":9}}"#).expect("it is JSON");
        let mut body = types.create(T::NAME, identity(1), &data).expect("the data fits");
        let hit = payload(&Hit { damage: 2, how: How::Fall(1, 2) });
        let ask = [&[2], &8u64.to_le_bytes()[..], &hit[1..]].concat();
        let rest = payload(&Rest);
        let calls = [(Caller::Client(PlayerId(4)), &hit), (Caller::Entity(id(2)), &ask), (Caller::Tool, &rest)];
        let effects = calls.map(|(caller, payload)| {
            let (result, effects) = call(&mut body, &types, caller, payload);
            assert_eq!(result, Ok(()));
            effects
        });
        let forbidden = call(&mut body, &types, Caller::Client(PlayerId(4)), &rest);
        assert!(matches!(forbidden, (Err(CallError::Forbidden { message: "rest", .. }), _)), "{forbidden:?}");
        in_scene(&types, |world, effects| body.run(&Hook::Arrived, world, effects, &mut unguarded));
        assert_eq!(body.position().map(|at| (at.x, at.y)), Some((1.0, 2.0)));
        let mut bytes = Vec::new();
        body.encode(Moment(1), None, &mut bytes).expect("it is small");
        (effects.into(), bytes, body.describe())
    }
    let derived = play::<derived::Player>();
    assert_eq!(derived, play::<by_hand::Player>());
    assert!(matches!(&derived.0[1][..], [Effect::Send { payload, .. }] if payload.ends_with(&[5])), "{:?}", derived.0);
}

#[test]
fn an_answer_comes_to_the_part_that_asked() {
    let types = types_of::<Duelist>();
    let mut body = types.create_of(Duelist::default(), identity(1)).expect("it is not abstract");
    let (result, effects) = call(&mut body, &types, Caller::Tool, &payload(&Strike { other: 2 }));
    assert_eq!(result, Ok(()));
    let [Effect::Send { to, payload: asked }] = &effects[..] else { panic!("expected one ask, found {effects:?}") };
    assert_eq!((*to, asked[0]), (id(2), 2));

    let answer = [&[3], &asked[1..9], &Tag::of("hit").0.to_le_bytes()[..], &[6]].concat();
    assert_eq!(call(&mut body, &types, Caller::Entity(id(2)), &answer).0, Ok(()));
    let own = body.own::<Duelist>().expect("it is one");
    assert_eq!(own, &Duelist { left_of_other: Some(6), fault: None });
}

#[test]
fn an_ask_in_vain_comes_to_the_same_handler() {
    let types = types_of::<Duelist>();
    let mut body = types.create_of(Duelist::default(), identity(1)).expect("it is not abstract");
    let (_, effects) = call(&mut body, &types, Caller::Tool, &payload(&Strike { other: 2 }));
    let [Effect::Send { payload: asked, .. }] = &effects[..] else { panic!("expected one ask, found {effects:?}") };
    let why = slipgate::__private::Returned::Dead;
    in_scene(&types, |world, effects| body.returned(id(2), why, asked, world, effects));
    assert_eq!(body.own::<Duelist>().expect("it is one").fault, Some(AskError::Returned(why).to_string()));
}

#[test]
fn hooks_run_under_their_own_names_and_under_those_of_the_game() {
    let types = types_of::<Duelist>();
    let mut body = types.create_of(Duelist::default(), identity(1)).expect("it is not abstract");
    let (result, _) = in_scene(&types, |world, effects| body.init(world, effects));
    assert_eq!(result, Ok(()));
    for hook in [Hook::Activate, Hook::Arrived] {
        in_scene(&types, |world, effects| body.run(&hook, world, effects, &mut unguarded));
    }
    assert_eq!(body.component::<Nerves>().expect("its type lists it").felt, ["init", "came to forest"]);
}

#[test]
fn a_part_reads_the_state_of_its_earlier_version() {
    let types = types_of::<derived::Player>();
    assert_eq!(types.readable(), [("actor", 1, 1), ("health", 1, 2), ("hero", 3, 3)]);
    let saved = serde_json::json!({ "type": "hero", "flags": "0", "parts": {
        "health": { "version": 1, "fields": { "percent": 40 } },
    }});
    let body = types.create_saved(identity(1), &saved).expect("version 1 can be read");
    assert_eq!(body.component::<Health>().expect("its type lists it").hp, 400);
}

#[test]
fn all_flags_with_a_name_can_be_set_by_it() {
    let named = (0..64).map(|bit| Flags(1 << bit)).filter(|flag| !flag.to_string().starts_with("bit_"));
    assert_eq!(Banner::FLAGS, named.fold(Flags::NONE, Flags::with));
}

#[test]
fn a_position_may_be_what_a_method_says() {
    let body = types_of::<Duelist>().create_of(Duelist::default(), identity(1)).expect("it is not abstract");
    assert_eq!(body.position(), Some(Position { x: 4.0, y: 2.0 }));
}

#[test]
fn declared_types_are_found_without_a_list_of_them() {
    let types = Types::linked().expect("nothing is wrong with them");
    assert_eq!(types.entities().map(|kind| kind.name()).collect::<Vec<_>>(), ["actor", "hero", "banner", "duelist"]);
    assert_eq!(types.components().collect::<Vec<_>>(), ["health", "nerves", "oven"]);
    assert_eq!((Duelist::NAME, Duelist::CLIENT_KIND), ("duelist", None));
}
