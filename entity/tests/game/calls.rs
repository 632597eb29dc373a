//! Messages: who takes them, who may send them, what comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use slipgate_entity::game::doc::{Health, Hit, Player};
use slipgate_entity::game::{
    AskError, AskId, Audience, Behaviour, Body, CallError, Caller, Callers, Component, Context, Effect, Entity, Full,
    Handlers, Level, Position, Reply, Returned, ReturnedMessage, SceneRef, Tag, Types, asking, payload, reply,
    without_answer,
};
use slipgate_entity::{LookupError, OnlineId, PlayerId};

use crate::stage::{Stage, handle, id, identity, tell, told};

data! {
    Knight { x: f32 }
    Squire {}
    Poke { counter: u32 }
    Secret {}
    Order {}
    Stumble {}
    Shout { radius: f32 }
    Aim { counter: u32 }
    Herald {}
    Brittle {}
    Enlist {}
    Snap {}
}
message!(Poke, "poke", ());
message!(Secret, "secret", u64);
message!(Order, "order", ());
message!(Stumble, "stumble", ());
message!(Shout, "shout", ());
message!(Aim, "aim", ());
message!(Enlist, "enlist", ());
message!(Snap, "snap", ());

impl Behaviour for Knight {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::CLUSTER, |_: &mut Self, Poke { counter }: Poke, cx: &mut Context<'_>| {
            cx.ask(id(counter), Hit { hp: 5 }, Duration::from_secs(1)).expect("room");
        });
        table.on(Callers::CLIENT, |_: &mut Self, _: Secret, cx: &mut Context<'_>| cx.id().as_u64());
        table.on(Callers::ANY, Self::order);
        table.on(Callers::ANY, |knight: &mut Self, _: Stumble, cx: &mut Context<'_>| {
            knight.x = 9.0;
            cx.send(id(2), Order {});
            cx.after(Duration::from_secs(1), Order {}).expect("room");
            cx.ask(id(2), Hit { hp: 1 }, Duration::from_secs(1)).expect("room");
            cx.add(Squire {}).expect("it can be");
            panic!("stumbled");
        });
        table.on(Callers::ANY, |knight: &mut Self, Shout { radius }: Shout, cx: &mut Context<'_>| {
            cx.send_around(radius, Order {});
            knight.x += 1.0;
        });
        table.on(Callers::ANY, |knight: &mut Self, _: Enlist, cx: &mut Context<'_>| {
            cx.add(Herald {}).expect("it can be");
            knight.x += 1.0;
        });
        table.on(Callers::ANY, |_: &mut Self, _: Snap, cx: &mut Context<'_>| {
            cx.add(Brittle {}).expect("it can be");
            panic!("snapped");
        });
        table.on(Callers::ANY, |_: &mut Self, Aim { counter }: Aim, cx: &mut Context<'_>| {
            let found = cx.lookup(handle(counter)).map(|other| other.type_name());
            tell(format!("{found:?} {:?}", cx.despawn_other(handle(counter))));
        });
        table.on_answer(|_: &mut Self, answer: slipgate_entity::game::Answered<Hit>, _: &mut Context<'_>| {
            tell(format!("{} {:?}", answer.ask.0, answer.result));
        });
    }

    fn returned(&mut self, back: &ReturnedMessage, _: &mut Context<'_>) {
        tell(format!("{} to {}: {} ({})", back.message, back.to, back.why, back.reason));
    }
}

impl Knight {
    fn order(&mut self, _: Order, cx: &mut Context<'_>) {
        cx.send(id(2), Hit { hp: 1 });
        cx.send_scene(Hit { hp: 2 });
        cx.send_type::<Knight, _>(Hit { hp: 3 });
        cx.send_type::<Player, _>(Hit { hp: 4 });
        cx.move_to_named("keep");
        cx.log(Level::Info, "done");
        cx.despawn();
        assert!(cx.is_exact::<Knight>() && cx.is_a::<Knight>() && !cx.is_a::<Player>());
        assert_eq!((cx.scene().name.as_str(), cx.tick(), cx.now().0, cx.handle()), ("forest", 7, 1_000_000, handle(1)));
    }
}

impl Behaviour for Squire {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, _: Hit, cx: &mut Context<'_>| {
            cx.ask(id(2), Hit { hp: 1 }, Duration::from_secs(1)).map_or(0, |_| 1)
        });
    }

    fn returned(&mut self, back: &ReturnedMessage, _: &mut Context<'_>) {
        tell(format!("squire: {} {}", back.message, back.why));
    }
}

part!(Knight, "knight");
part!(Herald, "herald");
part!(Brittle, "brittle");
impl Component for Herald {}
impl Component for Brittle {}
impl Behaviour for Brittle {}
impl Behaviour for Herald {
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        cx.send_around(5.0, Order {});
        Ok(())
    }
}
impl Drop for Brittle {
    fn drop(&mut self) {
        panic!("its end");
    }
}
part!(Squire, "squire");
impl Component for Squire {}
impl Entity for Knight {
    type Parent = ();
    fn position(&self) -> Option<Position> {
        (self.x < 100.0).then_some(Position { x: self.x, y: 0.0 })
    }
}

fn stage() -> (Stage, Body) {
    let types = Types::builder().entity::<Knight>().component::<Squire>().component::<Health>();
    let types = types.component::<Herald>().component::<Brittle>().build();
    let mut stage = Stage::new(types.expect("nothing is wrong"));
    let knight = stage.spawn("knight", 1);
    (stage, knight)
}

/// Knight 1 has asked 2: the ask as it went out.
fn asked() -> (Stage, Body, Vec<u8>) {
    let (mut stage, mut knight) = stage();
    stage.call(&mut knight, Caller::Tool, &Poke { counter: 2 }).expect("taken");
    let (to, ask) = stage.sent();
    assert_eq!(to, id(2));
    (stage, knight, ask)
}

const FROM_2: fn() -> Caller = || Caller::Entity(id(2));

#[test]
fn what_a_handler_asks_for_follows_in_its_order() {
    let (mut stage, mut knight) = stage();
    stage.call(&mut knight, Caller::Tool, &Order {}).expect("taken");
    let kind = knight.description().type_number();
    let hit = |hp| payload(&Hit { hp });
    let expected = [
        Effect::Send { to: id(2), payload: hit(1) },
        Effect::SendTo { audience: Audience::Scene, payload: hit(2) },
        Effect::SendTo { audience: Audience::Type(kind), payload: hit(3) },
        Effect::Move { to: SceneRef::Name("keep".to_owned()), brings: None },
        Effect::Log { level: Level::Info, text: "done".to_owned() },
        Effect::Despawn(id(1)),
    ];
    assert_eq!(stage.effects(), expected, "and nobody is of a type that the node does not have");
}

#[test]
fn what_is_unknown_ill_typed_or_forbidden_is_an_error_and_changes_nothing() {
    let (mut stage, mut knight) = stage();
    let hit = payload(&Hit { hp: 1 });
    let unknown = CallError::Unknown { tag: Tag::of("hit"), message: Some("hit") };
    assert_eq!(stage.bytes(&mut knight, Caller::Tool, &hit), Err(unknown));
    let nobodys = [&[1][..], &[0; 4]].concat();
    let error = stage.bytes(&mut knight, Caller::Tool, &nobodys).expect_err("no such message");
    assert_eq!(error.to_string(), "it takes no message with the tag 00000000");
    assert_eq!(stage.bytes(&mut knight, Caller::Tool, b"nonsense"), Err(CallError::NoMessage));
    for arguments in [&[][..], &[0, 0, 0], &[251]] {
        let ill = [&payload(&Poke { counter: 0 })[..5], arguments].concat();
        let error = stage.bytes(&mut knight, Caller::Tool, &ill).expect_err("it does not fit");
        assert!(matches!(error, CallError::IllTyped { message: "poke", .. }), "{error}");
    }
    let client = Caller::Client(PlayerId(1));
    assert!(matches!(stage.call(&mut knight, client, &Poke { counter: 2 }), Err(CallError::Forbidden { .. })));
    assert!(matches!(stage.call(&mut knight, Caller::Tool, &Secret {}), Err(CallError::Forbidden { .. })));
    assert_eq!(stage.call(&mut knight, client, &Secret {}), Ok(()));
    assert_eq!((stage.effects(), knight.due()), (vec![], None));
}

#[test]
fn what_an_entity_sent_and_another_does_not_take_comes_back_to_it() {
    let (mut stage, mut knight) = stage();
    let mut other = stage.spawn("knight", 2);
    stage.call(&mut other, Caller::Entity(id(1)), &Secret {}).expect_err("for clients");
    let (to, back) = stage.sent();
    assert_eq!((to, told().as_str()), (id(1), ""));
    stage.bytes(&mut knight, FROM_2(), &back).expect("taken");
    assert_eq!(told(), "secret to 3.2: refused (secret is not for Entity(3.1))");
    assert!(matches!(stage.bytes(&mut knight, Caller::Tool, &back), Err(CallError::Forbidden { .. })));
}

#[test]
fn an_answer_comes_to_the_part_that_asked_and_once() {
    let (mut stage, mut knight, ask) = asked();
    let mut other = stage.spawn("knight", 2);
    stage.turn(|world, effects| other.add(Health { hp: 100 }, world, effects)).expect("it can be");
    stage.bytes(&mut other, Caller::Entity(id(1)), &ask).expect("taken");
    let (to, answer) = stage.sent();
    assert_eq!(to, id(1));

    let not_asked = Err(CallError::NotAsked { ask: AskId(1) });
    for stranger in [Caller::Entity(id(3)), Caller::Client(PlayerId(1)), Caller::Tool] {
        assert_eq!(stage.bytes(&mut knight, stranger, &answer), not_asked);
    }
    assert_eq!(stage.bytes(&mut knight, FROM_2(), &answer), Ok(()));
    assert_eq!(told(), "1 Ok(95)");
    assert_eq!(stage.bytes(&mut knight, FROM_2(), &answer), not_asked);
    assert_eq!((told().as_str(), knight.due()), ("", None));
}

#[test]
fn a_tool_that_asks_hears_the_answer_or_why_there_is_none_and_nothing_if_it_does_not_ask() {
    let (mut stage, mut knight) = stage();
    stage.turn(|world, effects| knight.add(Health { hp: 100 }, world, effects)).expect("it can be");
    let hit = payload(&Hit { hp: 5 });
    stage.bytes(&mut knight, Caller::Tool, &hit).expect("taken");
    assert_eq!(stage.effects(), [], "it did not ask");
    stage.bytes(&mut knight, Caller::Tool, &asking(&hit, AskId(7)).expect("a plain message")).expect("taken");
    let [Effect::Reply { payload: answer }] = &stage.effects()[..] else { panic!("expected a reply alone") };
    let Some((AskId(7), Reply::Answer { tag, bytes })) = reply(answer) else { panic!("{answer:?}") };
    assert_eq!(stage.types.describe_answer(tag, bytes), Ok(serde_json::json!(90)));
    assert!(stage.types.describe_answer(tag, &[]).is_err());

    let done = without_answer(answer.clone());
    assert_eq!(reply(&done), Some((AskId(7), Reply::Done)));
    assert!(matches!(stage.bytes(&mut knight, Caller::Tool, &done), Err(CallError::NoMessage)));

    let secret = asking(&payload(&Secret {}), AskId(8)).expect("a plain message");
    stage.bytes(&mut knight, Caller::Tool, &secret).expect_err("for clients");
    let [Effect::Reply { payload: refusal }] = &stage.effects()[..] else { panic!("expected a reply alone") };
    assert_eq!(reply(refusal), Some((AskId(8), Reply::Refused("secret is not for Tool".to_owned()))));
    assert_eq!(without_answer(refusal.clone()), *refusal, "why it was not taken is never left out");
    assert_eq!((asking(&secret, AskId(9)), reply(&secret), reply(b"")), (None, None, None));
}

#[test]
fn an_ask_that_nobody_answers_is_over_at_its_deadline() {
    let (mut stage, mut knight, _) = asked();
    assert_eq!(knight.due().map(|due| due.0), Some(2_000_000));
    assert_eq!(stage.fire(&mut knight), []);
    stage.now = 2_000_000;
    assert_eq!(stage.fire(&mut knight), [Ok(())]);
    assert_eq!((told().as_str(), knight.due()), ("1 Err(Timeout)", None));
}

#[test]
fn an_ask_that_is_refused_or_comes_back_is_over_with_that() {
    let (mut stage, mut knight, ask) = asked();
    let mut other = stage.spawn("knight", 2);
    stage.bytes(&mut other, Caller::Entity(id(1)), &ask).expect_err("it has no health");
    let (_, refused) = stage.sent();
    stage.bytes(&mut knight, FROM_2(), &refused).expect("taken");
    let text = AskError::Refused("it takes no message named hit".to_owned());
    assert_eq!(told(), format!("1 Err({text:?})"));

    let (mut stage, mut knight, ask) = asked();
    stage.turn(|world, effects| knight.returned(id(2), Returned::Dead, &ask, world, effects));
    assert_eq!(told(), "1 Err(Returned(Dead))");
}

#[test]
fn an_answer_that_cannot_be_read_is_told_as_that() {
    let (mut stage, mut knight, ask) = asked();
    let forged = [&[3], &ask[1..13], &[253]].concat();
    stage.bytes(&mut knight, FROM_2(), &forged).expect("taken");
    assert!(told().starts_with("1 Err(Unreadable("));
}

#[test]
fn what_comes_back_of_a_message_or_of_an_ask_without_a_handler_is_told_to_all_parts() {
    let (mut stage, mut knight) = stage();
    stage.turn(|world, effects| knight.add(Squire {}, world, effects)).expect("it can be");
    stage.call(&mut knight, Caller::Tool, &Hit { hp: 1 }).expect("taken");
    let (_, ask) = stage.sent();
    stage.turn(|world, effects| knight.returned(id(2), Returned::Busy, &ask, world, effects));
    assert_eq!(told(), "hit to 3.2: busy () squire: hit busy");
    stage.turn(|world, effects| knight.returned(id(2), Returned::Dead, b"?", world, effects));
    assert_eq!(told(), "? to 3.2: dead () squire: ? dead");
}

#[test]
fn after_a_panic_the_part_is_in_its_place_and_nothing_follows_from_the_handler() {
    let (mut stage, mut knight) = stage();
    assert!(stage.panics(&mut knight, &Stumble {}));
    assert_eq!((stage.effects(), knight.due()), (vec![], None));
    assert_eq!(knight.own(), Some(&Knight { x: 9.0 }), "what the handler did to its part is done");
    assert!(knight.component::<Squire>().is_none(), "what the handler has added is gone");
    stage.call(&mut knight, Caller::Tool, &Poke { counter: 2 }).expect("it goes on");
    assert_eq!(stage.sent().0, id(2));
}

#[test]
fn a_component_that_a_panic_takes_away_ends_when_the_panic_is_over() {
    let (mut stage, mut knight) = stage();
    assert!(stage.panics(&mut knight, &Snap {}), "two panics at once would end the process");
    assert!(knight.component::<Brittle>().is_none());
    let mut ends = Vec::new();
    knight.bury(&mut |part, end| ends.push((part, catch_unwind(AssertUnwindSafe(end)).is_err())));
    assert_eq!(ends, [("brittle", true)]);
    knight.bury(&mut |part, _| panic!("{part} ends once"));
}

#[test]
fn a_component_that_is_added_while_its_entitys_own_part_runs_speaks_to_those_around_too() {
    let (mut stage, mut knight) = stage();
    stage.call(&mut knight, Caller::Tool, &Enlist {}).expect("taken");
    let audience = Audience::Around { position: Position { x: 1.0, y: 0.0 }, radius: 5.0 };
    assert_eq!(stage.effects(), [Effect::SendTo { audience, payload: payload(&Order {}) }]);
}

#[test]
fn those_around_are_those_around_where_it_stands_when_the_handler_has_returned() {
    let (mut stage, mut knight) = stage();
    stage.call(&mut knight, Caller::Tool, &Shout { radius: 5.0 }).expect("taken");
    let audience = Audience::Around { position: Position { x: 1.0, y: 0.0 }, radius: 5.0 };
    assert_eq!(stage.effects(), [Effect::SendTo { audience, payload: payload(&Order {}) }]);

    knight.own_mut::<Knight>().expect("a knight").x = 100.0;
    stage.call(&mut knight, Caller::Tool, &Shout { radius: 5.0 }).expect("taken");
    assert!(matches!(stage.effects()[..], [Effect::Log { level: Level::Warn, .. }]));
}

#[test]
fn a_handle_finds_who_lives_and_nobody_else() {
    let (mut stage, mut knight) = stage();
    stage.others.0 = Some(stage.spawn("knight", 2).description().clone());
    stage.call(&mut knight, Caller::Tool, &Aim { counter: 2 }).expect("taken");
    stage.call(&mut knight, Caller::Tool, &Aim { counter: 3 }).expect("taken");
    stage.call(&mut knight, Caller::Tool, &Aim { counter: 1 }).expect("taken");
    let gone = format!("{:?}", LookupError::NotFound);
    assert_eq!(told(), format!(r#"Ok("knight") Ok(()) Err({gone}) Err({gone}) Ok("knight") Ok(())"#));
    assert_eq!(stage.effects(), [Effect::Despawn(id(2)), Effect::Despawn(id(1))]);
}

#[test]
fn asks_are_bounded() {
    let (mut stage, mut knight) = stage();
    stage.turn(|world, effects| knight.add(Squire {}, world, effects)).expect("it can be");
    for _ in 0..slipgate_entity::game::ASKS_MAX {
        stage.call(&mut knight, Caller::Tool, &Hit { hp: 1 }).expect("taken");
    }
    stage.effects();
    stage.call(&mut knight, Caller::Tool, &Hit { hp: 1 }).expect("taken");
    assert_eq!((stage.effects(), Full::Asks.to_string().as_str()), (vec![], "256 asks wait for an answer already"));
}

#[test]
fn an_entity_without_the_component_does_not_take_its_messages() {
    let (mut stage, mut knight) = stage();
    stage.call(&mut knight, Caller::Tool, &Hit { hp: 1 }).expect_err("no health");
    let mut body = stage.types.create("knight", identity(4), &Default::default()).expect("a knight");
    let to: OnlineId = id(4);
    assert_eq!(body.description().online(), to);
    stage.turn(|world, effects| body.add(Health { hp: 3 }, world, effects)).expect("it can be");
    stage.call(&mut body, Caller::Tool, &Hit { hp: 1 }).expect("taken");
    assert_eq!(body.component(), Some(&Health { hp: 2 }));
}
