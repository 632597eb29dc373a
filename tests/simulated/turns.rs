//! What else of a game runs as on a node: timers that move, questions of entities, hooks, companions, globals, spawns.

use std::time::Duration;

use slipgate::prelude::*;

use super::meadow_and_castle;

/// Does a little of everything.
#[derive(Entity, Default, Debug)]
struct Scout {
    friends: Vec<OnlineId>,
    rang: u32,
    arrivals: u32,
    price: Option<u32>,
    is_busy: bool,
}

#[derive(Message, Debug)]
struct Ring {}

#[derive(Message, Debug)]
struct SetAlarm {
    ms: u64,
}

#[derive(Message, Debug)]
struct Befriend {
    friends: Vec<OnlineId>,
    is_busy: bool,
}

#[derive(Message, Debug)]
struct Visit {
    scene: String,
}

#[derive(Message, Debug)]
struct Haggle {}

#[derive(Message, Debug)]
struct Recruit {}

#[derive(Message, Debug)]
#[message(answer = u32)]
struct Price {}

#[handlers]
impl Scout {
    #[from(cluster)]
    fn set_alarm(&mut self, alarm: SetAlarm, cx: &mut Context<'_>) {
        cx.after(Duration::from_millis(alarm.ms), Ring {}).expect("there is room for a timer");
    }

    #[from(cluster)]
    fn ring(&mut self, _: Ring) {
        self.rang += 1;
    }

    #[from(cluster)]
    fn befriend(&mut self, befriend: Befriend) {
        (self.friends, self.is_busy) = (befriend.friends, befriend.is_busy);
    }

    #[from(cluster)]
    fn visit(&mut self, visit: Visit, cx: &mut Context<'_>) {
        cx.move_to_named(visit.scene);
    }

    #[from(cluster)]
    fn haggle(&mut self, _: Haggle, cx: &mut Context<'_>) {
        let market = cx.global("market").expect("there is a market");
        cx.ask(market, Price {}, Duration::from_secs(5)).expect("there is room for a question");
    }

    fn priced(&mut self, answer: Answered<Price>) {
        self.price = answer.result.ok();
    }

    #[from(cluster)]
    fn recruit(&mut self, _: Recruit, cx: &mut Context<'_>) {
        cx.spawn(Spawn::of::<Scout>().label("recruit"));
    }

    #[hook]
    fn leaving(&mut self, _to: &Destination) -> Leave {
        if self.is_busy { Leave::refuse("busy") } else { Leave::allow().with(self.friends.iter().copied()) }
    }

    #[hook]
    fn arrived(&mut self) {
        self.arrivals += 1;
    }
}

/// Found from everywhere.
#[derive(Entity, Default, Debug)]
#[entity(flags(is_global))]
struct Market {
    asked: u32,
}

#[handlers]
impl Market {
    #[from(cluster)]
    fn price(&mut self, _: Price) -> u32 {
        self.asked += 1;
        40 + self.asked
    }
}

#[test]
fn a_timer_that_is_under_way_rings_once_at_the_target_and_time_passes_only_when_it_is_let() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let ann = world.spawn("meadow", Scout::default());
        ann.send(SetAlarm { ms: 3_600_000 }).expect("applied");
        ann.move_to("castle").expect("moved");
        world.run_for(Duration::from_secs(3_590));
        assert_eq!((ann.own().rang, ann.own().arrivals), (0, 1));
        world.run_for(Duration::from_secs(20));
        assert_eq!(ann.own().rang, 1);
    });
}

#[test]
fn companions_come_along_or_nobody_does() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let [ann, bob] = [(); 2].map(|()| world.spawn("meadow", Scout::default()));
        ann.send(Befriend { friends: vec![bob.id()], is_busy: false }).expect("applied");
        bob.send(Befriend { friends: Vec::new(), is_busy: true }).expect("applied");
        let refused = ann.move_to("castle").expect_err("he is busy");
        assert_eq!(refused.reason, "companion");
        bob.send(Befriend { friends: Vec::new(), is_busy: false }).expect("applied");
        let moved = ann.move_to("castle").expect("moved");
        assert_eq!(moved.companions.len(), 1);
        world.settle();
        for scout in [ann, bob] {
            world.assert_exactly_one(&scout);
            assert_eq!(scout.show().expect("there").at.scene, "castle");
        }
    });
}

#[test]
fn an_entity_that_wants_to_move_asks_a_global_one_and_spawns_another_does_so() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let market = world.spawning("castle", Market::default()).label("market").make().expect("spawned");
        let ann = world.spawn("meadow", Scout::default());
        // Word of it goes around.
        world.run_for(Duration::from_secs(1));
        world.double(0.3);
        world.delay(Duration::from_millis(30));
        ann.send(Haggle {}).expect("applied");
        world.run_until(|_| ann.own().price == Some(41));
        ann.send(Recruit {}).expect("applied");
        world.run_until(|world| world.labelled("recruit").len() == 1);
        ann.send(Visit { scene: "castle".to_owned() }).expect("applied");
        ann.until(|ann| ann.at.scene == "castle").expect("she goes there");
        world.settle();
        assert_eq!((ann.own().arrivals, market.own().asked), (1, 1));
    });
}
