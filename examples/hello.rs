//! A player walks from one node to another, and misses nothing of what is said to her.

#![expect(clippy::print_stdout, reason = "it tells a story")]

use slipgate::prelude::*;

#[derive(Entity, Default, Debug)]
struct Player {
    name: String,
    gold: u32,
}

#[derive(Message, Debug)]
struct Earn {
    gold: u32,
}

#[handlers]
impl Player {
    #[from(cluster)]
    fn earn(&mut self, earn: Earn, cx: &mut Context<'_>) {
        self.gold += earn.gold;
        cx.log(Level::Info, format!("{} has {} gold", self.name, self.gold));
    }
}

async fn hello() -> Result<(), Box<dyn std::error::Error>> {
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
    slipgate::block_on(hello())
}
