//! A gate between two nodes: whoever walks through it comes out in another scene, with all that she carries.
//!
//! ```text
//!  forest@n1                                   harbor@n2
//!    ann --walk--> (10, 0)  gate "old oak"  ~ ~ ~>  (0, 3)  ann, with her bag
//!     |   Passing      |
//!     +---------------> +-- GoThrough --> ann: move, brings the exit
//! ```

#![expect(clippy::print_stdout, reason = "it tells a story")]

use slipgate::prelude::*;
use slipgate::serde_json::{from_value, json};

/// What is carried: a component, so that whoever can carry has one.
#[derive(Component, Default, Debug)]
struct Bag {
    items: Vec<String>,
}

#[derive(Message, Debug)]
struct Take {
    item: String,
}

#[handlers]
impl Bag {
    #[from(cluster)]
    fn take(&mut self, take: Take) {
        self.items.push(take.item);
    }
}

#[derive(Entity, Default, Debug)]
#[entity(components(Bag), position = at)]
struct Player {
    at: Position,
    arrived: u32,
}

#[derive(Message, Debug)]
struct Walk {
    to: Position,
}

/// A gate says so to whoever walks through it.
#[derive(Message, Debug)]
struct GoThrough {
    scene: String,
    exit: Position,
}

#[handlers]
impl Player {
    #[from(client)]
    #[from(cluster)]
    fn walk(&mut self, walk: Walk, cx: &mut Context<'_>) {
        self.at = walk.to;
        cx.send_type::<Gate, _>(Passing { who: cx.id(), at: self.at });
    }

    #[from(cluster)]
    fn go_through(&mut self, gate: GoThrough, cx: &mut Context<'_>) {
        cx.move_with(SceneRef::Name(gate.scene), json!(gate.exit));
    }

    #[hook]
    fn on_enter_scene(&mut self, entry: &Entry) {
        if let Some(exit) = &entry.brings {
            self.at = from_value(exit.clone()).unwrap_or(self.at);
        }
    }

    #[hook]
    fn arrived(&mut self) {
        self.arrived += 1;
    }
}

/// Somebody is at a place; a gate wants to know.
#[derive(Message, Debug)]
struct Passing {
    who: OnlineId,
    at: Position,
}

/// It stays where it is: without `support_migrate` a move of it is refused.
#[derive(Entity, Default, Debug)]
#[entity(flags(!support_migrate))]
struct Gate {
    at: Position,
    leads_to: String,
    exit: Position,
}

#[handlers]
impl Gate {
    #[from(cluster)]
    fn passing(&mut self, passing: Passing, cx: &mut Context<'_>) {
        if self.at.is_within(1.0, passing.at) {
            cx.send(passing.who, GoThrough { scene: self.leads_to.clone(), exit: self.exit });
        }
    }
}

async fn portal() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).start().await?;
    let (oak, quay) = (Position { x: 10.0, y: 0.0 }, Position { x: 0.0, y: 3.0 });
    let gate = Gate { at: oak, leads_to: "harbor".into(), exit: quay };
    let gate = cluster.scene("forest").spawn(gate).label("old oak").await?;
    let ann = cluster.scene("forest").spawn(Player::default()).label("ann").await?;
    ann.send(Take { item: "lantern".into() }).await?;

    ann.send(Walk { to: Position { x: 5.0, y: 0.0 } }).await?;
    println!("ann walks past, and is still in {}", ann.show().await?.at);
    ann.send(Walk { to: oak }).await?;
    let there = ann.until(|ann| ann.at.scene == "harbor").await?;
    let (player, bag): (Player, Bag) = (there.part()?, there.part()?);
    println!("she walks through the old oak and comes out in {} at {:?}, with {:?}", there.at, player.at, bag.items);
    assert_eq!((player.at, player.arrived, bag.items), (quay, 1, vec!["lantern".to_owned()]));

    let refused = gate.move_to("harbor").await.expect_err("a gate stays");
    println!("the gate itself stays: {refused}");
    assert_eq!(gate.show().await?.at.to_string(), "forest@n1");
    cluster.stop().await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    slipgate::block_on(portal())
}
