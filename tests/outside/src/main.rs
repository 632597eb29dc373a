//! A teahouse: guests order, the kettle answers when it has boiled. All of its binary is `slipgate::main`.

use std::process::ExitCode;
use std::time::Duration;

use slipgate::prelude::*;

/// Something hot.
#[derive(Component, Default, Debug)]
struct Warmth {
    degrees: u8,
}

impl Behaviour for Warmth {}

/// Fills cups.
#[derive(Entity, Default, Debug)]
#[entity(components(Warmth))]
struct Kettle {
    poured: u32,
}

/// A guest wants tea.
#[derive(Message, Debug)]
struct Order {
    cups: u32,
    guest: OnlineId,
}

/// It boils.
#[derive(Message, Debug)]
struct Boil {
    cups: u32,
    guest: OnlineId,
}

#[handlers]
impl Kettle {
    #[from(cluster)]
    fn order(&mut self, order: Order, cx: &mut Context<'_>) {
        let Order { cups, guest } = order;
        if cx.after(Duration::from_millis(5), Boil { cups, guest }).is_err() {
            cx.log(Level::Warn, "too many orders");
        }
    }

    #[from(cluster)]
    fn boil(&mut self, boil: Boil, cx: &mut Context<'_>) {
        self.poured += boil.cups;
        if let Some(warmth) = cx.component_mut::<Warmth>() {
            warmth.degrees = 90;
        }
        cx.send(boil.guest, Tea { cups: boil.cups });
    }
}

/// Whoever drinks it.
#[derive(Entity, Default, Debug)]
struct Guest {
    cups: u32,
}

/// What was ordered.
#[derive(Message, Debug)]
struct Tea {
    cups: u32,
}

#[handlers]
impl Guest {
    #[from(cluster)]
    fn tea(&mut self, tea: Tea) {
        self.cups += tea.cups;
    }
}

slipgate::game! {
    name: "teahouse",
    about: "one kettle, one guest, two rooms",
    scenes: &["kitchen", "garden"],
    populate: |crowd| {
        crowd.spawn("kitchen", Kettle::default()).label("kettle").with(Warmth { degrees: 20 });
        crowd.spawn("garden", Guest::default()).label("guest");
    },
}

fn main() -> ExitCode {
    slipgate::main()
}

#[cfg(test)]
mod tests {
    use slipgate::test;

    use super::*;

    #[test]
    fn tea_that_was_ordered_comes_once_to_a_guest_who_walks_about() {
        test::cluster().node("n1", ["kitchen"]).node("n2", ["garden"]).seeds(0..20).run(|world| {
            let kettle = world.spawn("kitchen", Kettle::default());
            let guest = world.spawn("garden", Guest::default());
            world.lose(0.1);
            kettle.tell(Order { cups: 2, guest: guest.id() }).unwrap();
            for scene in ["kitchen", "garden", "kitchen"] {
                // Where too much is lost, the guest stays.
                let _ = guest.move_to(scene);
            }
            world.run_until(|_| kettle.own().poured == 2);
            world.settle();
            world.assert_exactly_one(&guest);
            assert_eq!(guest.own().cups, 2);
            assert_eq!(kettle.part::<Warmth>().degrees, 90);
        });
    }
}
