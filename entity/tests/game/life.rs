//! The turns of a life: hooks in their order, panics among them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use slipgate_entity::SceneId;
use slipgate_entity::game::{
    Behaviour, Body, Component, ComponentList, Context, Data, Destination, Effect, Entered, Entity, Entry, Flags, Hook,
    Leave, Level, Moment, MoveFailed, Part, Types, unguarded,
};

use crate::stage::{Stage, handle, id, identity, tell, told};

/// A part that tells all that happens to it.
macro_rules! teller {
    ($type:ident, $name:literal) => {
        #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
        struct $type {
            panics_in: String,
            refuses: bool,
            takes: Vec<u32>,
        }

        impl $type {
            fn hear(&self, hook: &str, cx: &mut Context<'_>) {
                tell(format!("{}.{hook}", $name));
                cx.log(Level::Info, hook);
                assert_ne!(self.panics_in, hook, "as it was told");
            }
        }

        impl Behaviour for $type {
            fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
                self.hear("init", cx);
                if self.refuses { Err("no".to_owned()) } else { Ok(()) }
            }
            fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
                self.hear("enter", cx);
                if let Some(brings) = &entry.brings {
                    tell(brings.to_string());
                }
            }
            fn activate(&mut self, cx: &mut Context<'_>) {
                self.hear("activate", cx);
            }
            fn deactivate(&mut self, cx: &mut Context<'_>) {
                self.hear("deactivate", cx);
            }
            fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
                self.hear("leave", cx);
            }
            fn leaving(&mut self, to: &Destination, cx: &mut Context<'_>) -> Leave {
                self.hear("leaving", cx);
                if self.refuses { Leave::refuse(format!("not to {}", to.name)) } else { Leave::allow() }
                    .with(self.takes.iter().map(|&counter| id(counter)))
            }
            fn left(&mut self, cx: &mut Context<'_>) {
                self.hear("left", cx);
                cx.despawn();
            }
            fn arrived(&mut self, cx: &mut Context<'_>) {
                self.hear("arrived", cx);
            }
            fn move_failed(&mut self, why: &MoveFailed, cx: &mut Context<'_>) {
                self.hear(why.word, cx);
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                // A decoder makes one, too, and a test of what is shown takes one apart.
                tell(format!("{}.drop", $name));
                assert!(self.panics_in != "drop" || std::thread::panicking(), "as it was told");
            }
        }

        part!($type, $name);
    };
}

teller!(A, "a");
teller!(B, "b");
teller!(C, "c");
impl Component for B {}
impl Component for C {}
impl Entity for A {
    type Parent = ();
    fn components(list: &mut ComponentList) {
        list.with::<C>().with::<B>();
    }
}

fn stage() -> Stage {
    Stage::new(Types::builder().entity::<A>().build().expect("nothing is wrong"))
}

/// An entity in its scene, after which nothing is told yet.
fn spawned(stage: &mut Stage) -> Body {
    let body = stage.spawn("a", 1);
    told();
    stage.effects();
    body
}

fn enter(stage: &mut Stage, body: &mut Body, how: Entered) {
    stage.turn(|world, effects| body.enter(how, world, effects, &mut unguarded));
}

fn keep() -> Destination {
    Destination { scene: SceneId(2), name: "keep".to_owned(), node: "n2".to_owned() }
}

fn leaving(stage: &mut Stage, body: &mut Body) -> Leave {
    stage.turn(|world, effects| body.leaving(&keep(), world, effects))
}

#[test]
fn at_a_spawn_the_own_part_hears_first_and_components_in_the_order_of_their_list() {
    let mut stage = stage();
    let _ = told();
    let body = stage.spawn("a", 1);
    let expected = "a.init c.init b.init a.enter c.enter b.enter a.activate c.activate b.activate";
    assert_eq!(told(), expected);
    drop(body);
}

#[test]
fn an_entity_of_which_a_part_says_no_is_none() {
    let mut stage = stage();
    let data = Data::default().with("c", json!({ "refuses": true }));
    let mut body = stage.types.create("a", identity(1), &data).expect("it fits");
    body.settle(handle(1));
    let error = stage.turn(|world, effects| body.init(world, effects)).expect_err("c says no");
    assert_eq!(error.to_string(), "c says: no");
}

#[test]
fn a_despawn_goes_the_other_way_round_and_the_parts_are_dropped_last_to_first() {
    let mut stage = stage();
    let body = spawned(&mut stage);
    stage.turn(|world, effects| body.remove(world, effects, &mut unguarded));
    let expected = "b.deactivate c.deactivate a.deactivate b.leave c.leave a.leave b.drop c.drop a.drop";
    assert_eq!(told(), expected);
}

#[test]
fn parts_go_in_reverse_order_also_when_some_of_them_panic() {
    for (part, panics_in) in [("c", "deactivate"), ("b", "leave"), ("b", "drop"), ("a", "drop")] {
        let mut stage = stage();
        let mut body = spawned(&mut stage);
        *panics(&mut body, part) = panics_in.to_owned();
        let mut caught = Vec::new();
        let mut guard = |part: &'static str, run: &mut dyn FnMut()| {
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                caught.push(part);
            }
        };
        stage.turn(|world, effects| body.remove(world, effects, &mut guard));
        assert_eq!(caught, [part]);
        let expected = "b.deactivate c.deactivate a.deactivate b.leave c.leave a.leave b.drop c.drop a.drop";
        assert_eq!(told(), expected, "{part} panics in {panics_in}");
        let said = stage.effects().len();
        assert_eq!(said, if panics_in == "drop" { 6 } else { 5 }, "what a hook that panicked said is left out");
    }
}

fn panics<'b>(body: &'b mut Body, part: &str) -> &'b mut String {
    match part {
        A::NAME => &mut body.own_mut::<A>().expect("an a").panics_in,
        B::NAME => &mut body.component_mut::<B>().expect("it has a b").panics_in,
        _ => &mut body.component_mut::<C>().expect("it has a c").panics_in,
    }
}

#[test]
fn a_body_that_is_merely_dropped_drops_its_parts_last_to_first() {
    let body = spawned(&mut stage());
    drop(body);
    assert_eq!(told(), "b.drop c.drop a.drop");
}

#[test]
fn a_body_that_takes_no_turns_ends_without_hooks() {
    let body = spawned(&mut stage());
    body.end(&mut unguarded);
    assert_eq!(told(), "b.drop c.drop a.drop");
}

#[test]
fn a_move_runs_its_hooks_on_both_sides_and_brings_along_what_was_asked_for() {
    let mut stage = stage();
    let mut body = spawned(&mut stage);
    assert_eq!(leaving(&mut stage, &mut body), Leave::allow());
    stage.turn(|world, effects| body.leave(world, effects, &mut unguarded));
    let mut bytes = Vec::new();
    body.encode(Moment(0), Some(&json!({ "gate": 3 })), &mut bytes).expect("it is small");
    assert_eq!(told(), "a.leaving c.leaving b.leaving b.deactivate c.deactivate a.deactivate b.leave c.leave a.leave");

    let mut copy = stage.types.decode("a", identity(1), &bytes, Moment(0)).expect("its own bytes");
    let _ = told();
    enter(&mut stage, &mut copy, Entered::Arrived { from: SceneId(1) });
    let brings = r#"{"gate":3}"#;
    let entered = format!("a.enter {brings} c.enter {brings} b.enter {brings}");
    assert_eq!(told(), format!("{entered} a.arrived c.arrived b.arrived a.activate c.activate b.activate"));
    enter(&mut stage, &mut copy, Entered::Spawned);
    assert!(!told().contains("gate"), "it is brought once");

    stage.effects();
    stage.turn(|world, effects| body.run(&Hook::Left, world, effects, &mut unguarded));
    assert_eq!(told(), "b.left c.left a.left");
    let effects = stage.effects();
    let logs = effects.iter().filter(|effect| matches!(effect, Effect::Log { .. })).count();
    assert_eq!((effects.len(), logs), (3, 3), "what has left sends nothing");
}

#[test]
fn a_move_that_came_to_nothing_is_told_where_the_entity_was() {
    let mut stage = stage();
    let mut body = spawned(&mut stage);
    stage.turn(|world, effects| body.leave(world, effects, &mut unguarded));
    stage.turn(|world, effects| body.leave(world, effects, &mut unguarded));
    told();
    let why = MoveFailed { word: "timeout", text: "given up".to_owned() };
    enter(&mut stage, &mut body, Entered::MoveFailed);
    stage.turn(|world, effects| body.run(&Hook::MoveFailed(&why), world, effects, &mut unguarded));
    let expected = "a.enter c.enter b.enter a.activate c.activate b.activate a.timeout c.timeout b.timeout";
    assert_eq!(told(), expected);
}

#[test]
fn the_first_part_that_refuses_a_move_decides_and_says_why() {
    let mut stage = stage();
    let mut body = spawned(&mut stage);
    body.component_mut::<C>().expect("it has a c").refuses = true;
    assert_eq!(leaving(&mut stage, &mut body), Leave::refuse("not to keep"));
    assert_eq!(told(), "a.leaving c.leaving");
}

#[test]
fn companions_of_all_parts_come_along_once() {
    let mut stage = stage();
    let mut body = spawned(&mut stage);
    body.own_mut::<A>().expect("an a").takes = vec![7, 8];
    body.component_mut::<B>().expect("it has a b").takes = vec![8, 9];
    assert_eq!(leaving(&mut stage, &mut body), Leave::Allowed { companions: vec![id(7), id(8), id(9)] });
}

data! { Rock {} }
impl Behaviour for Rock {
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        cx.clear_flag(Flags::SUPPORT_MIGRATE);
        cx.set_flag(Flags::IS_TRAP);
        Ok(())
    }
}
part!(Rock, "rock");
impl Entity for Rock {
    type Parent = ();
}

#[test]
fn an_entity_that_does_not_support_it_is_not_moved() {
    let mut stage = Stage::new(Types::builder().entity::<Rock>().build().expect("nothing is wrong"));
    let mut rock = stage.spawn("rock", 1);
    assert_eq!(rock.flags(), Flags::IS_TRAP);
    assert_eq!(leaving(&mut stage, &mut rock), Leave::refuse("this rock does not have the flag support_migrate"));
}

#[test]
fn a_hook_that_panics_does_not_keep_the_others_from_theirs() {
    let mut stage = stage();
    let mut body = stage.types.create("a", identity(1), &Data::default()).expect("it fits");
    *panics(&mut body, "c") = "enter".to_owned();
    let mut guard = |_: &'static str, run: &mut dyn FnMut()| drop(catch_unwind(AssertUnwindSafe(run)));
    stage.turn(|world, effects| body.enter(Entered::Spawned, world, effects, &mut guard));
    assert_eq!(told(), "a.enter c.enter b.enter a.activate c.activate b.activate");
}
