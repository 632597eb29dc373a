//! Entities that talk to each other over crossings of both: in order, each word once.

use std::time::Duration;

use slipgate::prelude::*;
use slipgate::test;

/// Says a number to somebody every few milliseconds.
#[derive(Entity, Default, Debug)]
struct Speaker {
    to: Option<OnlineId>,
    said: u32,
    last: u32,
}

/// Remembers all that it hears.
#[derive(Entity, Default, Debug)]
struct Listener {
    heard: Vec<u32>,
}

#[derive(Message, Debug)]
struct Speak {
    to: OnlineId,
    upto: u32,
}

#[derive(Message, Debug)]
struct Again {}

#[derive(Message, Debug)]
struct Word {
    number: u32,
}

#[handlers]
impl Speaker {
    #[from(cluster)]
    fn speak(&mut self, speak: Speak, cx: &mut Context<'_>) {
        (self.to, self.last) = (Some(speak.to), speak.upto);
        self.go_on(cx);
    }

    #[from(cluster)]
    fn again(&mut self, _: Again, cx: &mut Context<'_>) {
        self.go_on(cx);
    }
}

impl Speaker {
    fn go_on(&mut self, cx: &mut Context<'_>) {
        let Some(to) = self.to.filter(|_| self.said < self.last) else { return };
        self.said += 1;
        cx.send(to, Word { number: self.said });
        cx.after(Duration::from_millis(20), Again {}).expect("there is room for a timer");
    }
}

#[handlers]
impl Listener {
    #[from(cluster)]
    fn word(&mut self, word: Word) {
        self.heard.push(word.number);
    }
}

#[test]
fn two_who_both_walk_about_hear_all_that_each_says_in_order_and_once() {
    let cluster = test::cluster().node("n1", ["meadow", "cave"]).node("n2", ["castle"]).node("n3", ["harbor"]);
    cluster.seeds(0..20).run(|world| {
        let places = ["meadow", "cave", "castle", "harbor"];
        let speakers = [0, 1].map(|at| world.spawn(places[at], Speaker::default()));
        let listeners = [2, 3].map(|at| world.spawn(places[at], Listener::default()));
        world.lose(0.05);
        world.delay(Duration::from_millis(20));
        for (speaker, listener) in speakers.iter().zip(&listeners) {
            speaker.send(Speak { to: listener.id(), upto: 100 }).expect("applied");
        }
        for _ in 0..12 {
            let place = places[usize::try_from(world.roll(4)).expect("an index")];
            let going = match world.roll(4) {
                0 => speakers[0].set_out(place),
                1 => speakers[1].set_out(place),
                2 => listeners[0].set_out(place),
                _ => listeners[1].set_out(place),
            };
            drop(going);
            world.run_for(Duration::from_millis(10 * (1 + world.roll(20))));
        }
        world.run_until(|world| {
            listeners
                .iter()
                .all(|listener| listener.show().is_ok_and(|shown| shown.applied == 100) && world.now() > Duration::ZERO)
        });
        world.settle();
        for listener in &listeners {
            world.assert_exactly_one(listener);
            assert_eq!(listener.own().heard, (1..=100).collect::<Vec<_>>());
        }
    });
}
