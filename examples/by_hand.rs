//! The player of `hello`, without macros: what the derives write, in plain Rust.

#![expect(clippy::print_stdout, reason = "it tells a story")]

use serde::{Deserialize, Serialize};
use slipgate::prelude::*;

#[derive(Default, Debug, Serialize, Deserialize)]
struct Player {
    name: String,
    gold: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Earn {
    gold: u32,
}

impl Message for Earn {
    const NAME: &'static str = "earn";
    type Answer = ();
}

impl Part for Player {
    const NAME: &'static str = "player";

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Entity for Player {
    type Parent = ();
}

register!(entity Player);

impl Behaviour for Player {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::CLUSTER, |player: &mut Self, earn: Earn, cx: &mut Context<'_>| {
            player.gold += earn.gold;
            cx.log(Level::Info, format!("{} has {} gold", player.name, player.gold));
        });
    }
}

async fn by_hand() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).start().await?;
    let ann = cluster.scene("forest").spawn(Player { name: "ann".into(), gold: 0 }).label("ann").await?;
    ann.send(Earn { gold: 5 }).await?;
    let moved = ann.move_to("harbor").await?;
    println!("ann went from {} to {}, and stood still for {:?}", moved.from, moved.to, moved.paused);
    ann.send(Earn { gold: 7 }).await?;

    let ann = ann.show().await?;
    let player: Player = ann.part()?;
    println!("{} is in {} and has {} gold", player.name, ann.at, player.gold);
    assert_eq!((ann.at.to_string().as_str(), player.gold), ("harbor@n2", 12));
    cluster.stop().await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    slipgate::block_on(by_hand())
}
