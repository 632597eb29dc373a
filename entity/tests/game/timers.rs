//! Timers: fired once, in order, wherever their entity is.

use std::time::Duration;

use proptest::prelude::*;
use slipgate_entity::game::{
    Behaviour, Body, CallError, Caller, Callers, Context, Entity, Full, Handlers, Moment, TIMERS_MAX, TimerId, Types,
};

use crate::stage::{Stage, identity, tell, told};

data! { Clock { set: Vec<u64> } Set { number: u64, after: u64 } Ring { number: u64 } Cancel { timer: u64 } Again {} }
message!(Set, "set", ());
message!(Ring, "ring", ());
message!(Cancel, "cancel", ());
message!(Again, "again", ());

impl Behaviour for Clock {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |clock: &mut Self, Set { number, after }: Set, cx: &mut Context<'_>| {
            match cx.after(Duration::from_micros(after), Ring { number }) {
                Ok(TimerId(id)) => clock.set.push(id),
                Err(full) => tell(format!("{full:?}")),
            }
        });
        table.on(Callers::CLUSTER, |_: &mut Self, Ring { number }: Ring, cx: &mut Context<'_>| {
            assert_eq!(cx.caller(), Caller::Timer);
            assert_ne!(number, 666, "it rings");
            tell(number.to_string());
        });
        table.on(Callers::ANY, |_: &mut Self, Cancel { timer }: Cancel, cx: &mut Context<'_>| {
            tell(cx.cancel(TimerId(timer)).to_string());
        });
        table.on(Callers::ANY, |_: &mut Self, _: Again, cx: &mut Context<'_>| {
            cx.after(Duration::ZERO, Again {}).expect("room");
        });
    }
}

part!(Clock, "clock");
impl Entity for Clock {
    type Parent = ();
}

fn stage() -> (Stage, Body) {
    let mut stage = Stage::new(Types::builder().entity::<Clock>().build().expect("nothing is wrong"));
    let clock = stage.spawn("clock", 1);
    (stage, clock)
}

fn set(stage: &mut Stage, clock: &mut Body, number: u64, after: u64) {
    stage.call(clock, Caller::Tool, &Set { number, after }).expect("taken");
}

/// The clock arrives in a scene whose time is `now`.
fn moved(stage: &mut Stage, clock: &Body, now: u64) -> Body {
    let mut bytes = Vec::new();
    clock.encode(Moment(stage.now), None, &mut bytes).expect("it is small");
    stage.now = now;
    stage.types.decode("clock", identity(1), &bytes, Moment(now)).expect("its own bytes")
}

#[test]
fn timers_ring_once_in_the_order_of_their_times_and_then_of_their_setting() {
    let (mut stage, mut clock) = stage();
    for (number, after) in [(1, 30), (2, 10), (3, 30), (4, 40)] {
        set(&mut stage, &mut clock, number, after);
    }
    assert_eq!(clock.due(), Some(Moment(1_000_010)));
    stage.now += 30;
    assert_eq!(stage.fire(&mut clock).len(), 3);
    assert_eq!((told().as_str(), stage.fire(&mut clock).len()), ("2 1 3", 0));
}

#[test]
fn a_timer_is_cancelled_once_and_does_not_ring() {
    let (mut stage, mut clock) = stage();
    set(&mut stage, &mut clock, 1, 10);
    let timer = clock.own::<Clock>().expect("a clock").set[0];
    for _ in 0..2 {
        stage.call(&mut clock, Caller::Tool, &Cancel { timer }).expect("taken");
    }
    assert_eq!((told().as_str(), clock.due()), ("true false", None));
}

#[test]
fn a_timer_keeps_its_id_and_the_time_it_has_left_over_moves() {
    let (mut stage, mut clock) = stage();
    set(&mut stage, &mut clock, 1, 100);
    set(&mut stage, &mut clock, 2, 50);
    stage.now += 20;
    let mut clock = moved(&mut stage, &clock, 5);
    assert_eq!(clock.due(), Some(Moment(35)));
    stage.call(&mut clock, Caller::Tool, &Cancel { timer: 2 }).expect("taken");
    set(&mut stage, &mut clock, 3, 10);
    assert_eq!(clock.own::<Clock>().expect("a clock").set, [1, 2, 3], "no id is given out twice");
    stage.now = 85;
    stage.fire(&mut clock);
    assert_eq!(told(), "true 3 1");
}

#[test]
fn a_timer_that_was_due_during_the_freeze_rings_once_at_the_target() {
    let (mut stage, mut clock) = stage();
    set(&mut stage, &mut clock, 1, 10);
    stage.now += 500;
    let mut clock = moved(&mut stage, &clock, 7);
    assert_eq!((stage.fire(&mut clock).len(), told().as_str()), (1, "1"));
    assert_eq!(moved(&mut stage, &clock, 9).due(), None);
}

#[test]
fn a_timer_that_panics_has_rung_and_the_others_still_do() {
    let (mut stage, mut clock) = stage();
    set(&mut stage, &mut clock, 666, 1);
    set(&mut stage, &mut clock, 2, 1);
    stage.now += 1;
    let fire = std::panic::AssertUnwindSafe(|| stage.fire(&mut clock));
    assert!(std::panic::catch_unwind(fire).is_err());
    assert_eq!((stage.fire(&mut clock).len(), told().as_str()), (1, "2"));
}

#[test]
fn a_timer_that_sets_itself_again_rings_once_in_a_turn() {
    let (mut stage, mut clock) = stage();
    stage.call(&mut clock, Caller::Tool, &Again {}).expect("taken");
    stage.now += 1;
    assert_eq!(stage.fire(&mut clock).len(), 1);
    assert_eq!(clock.due(), Some(Moment(stage.now + 1)));
}

#[test]
fn more_timers_than_an_entity_may_have_are_refused() {
    let (mut stage, mut clock) = stage();
    for number in 0..=TIMERS_MAX as u64 {
        set(&mut stage, &mut clock, number, 1);
    }
    assert_eq!((told().as_str(), Full::Timers.to_string().as_str()), ("Timers", "256 timers run already"));
}

#[test]
fn a_timer_whose_message_nobody_takes_is_told() {
    let (mut stage, mut clock) = stage();
    set(&mut stage, &mut clock, 1, 1);
    let bare = Types::builder().entity::<super::types::Wolf>().build().expect("nothing is wrong");
    let mut bytes = Vec::new();
    clock.encode(Moment(stage.now), None, &mut bytes).expect("it is small");
    assert!(bare.decode("clock", identity(1), &bytes, Moment(0)).is_err());
    let mut clock = moved(&mut stage, &clock, 9);
    stage.now = 100;
    assert_eq!(stage.fire(&mut clock), [Ok::<(), CallError>(())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]
    #[test]
    fn timers_agree_with_an_ordered_list(steps in prop::collection::vec((0..4u8, 0..60u64), 1..20)) {
        let (mut stage, mut clock) = stage();
        let mut model: Vec<(u64, u64)> = Vec::new();
        let mut given = 0;
        for (step, value) in steps {
            match step {
                0 => {
                    given += 1;
                    model.push((stage.now + value.max(1), given));
                    set(&mut stage, &mut clock, given, value);
                }
                1 => {
                    let known = model.iter().position(|&(_, id)| id == value % 8);
                    stage.call(&mut clock, Caller::Tool, &Cancel { timer: value % 8 }).expect("taken");
                    prop_assert_eq!(told(), known.map(|at| model.remove(at)).is_some().to_string());
                }
                2 => {
                    stage.now += value;
                    stage.fire(&mut clock);
                    model.sort_unstable();
                    let rung = model.iter().take_while(|(due, _)| *due <= stage.now).count();
                    let rung: Vec<_> = model.drain(..rung).map(|(_, id)| id.to_string()).collect();
                    prop_assert_eq!(told(), rung.join(" "));
                }
                _ => {
                    let (before, after) = (stage.now, value * 1000);
                    clock = moved(&mut stage, &clock, after);
                    for (due, _) in &mut model {
                        *due = due.saturating_sub(before) + after;
                    }
                }
            }
            prop_assert_eq!(clock.due(), model.iter().map(|&(due, _)| Moment(due)).min());
        }
    }
}
