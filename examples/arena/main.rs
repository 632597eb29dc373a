//! The arena, from a program: an arrow that misses who took the slot of its target, and then a brawl.
//!
//! ```text
//! t0  the target has slot 1        handle 1:1/gen1
//! t1  the arrow is shot            remembers 1:1/gen1
//! t2  the target leaves            slot 1 is free
//! t3  a newcomer is spawned        gets slot 1: 1:1/gen2
//! t4  the arrow comes down         1:1/gen1 names nobody any more: it misses
//! ```
//!
//! `slipgate dev --game arena` runs the same game on three nodes.

#![expect(clippy::print_stdout, reason = "it tells a story")]

mod game;

use game::{Arrow, Fighter, Health, Lair, Land, Shoot};
use slipgate::prelude::*;

type Story = Result<(), Box<dyn std::error::Error>>;

/// How the target is gone before the arrow comes down.
#[derive(Clone, Copy, Debug)]
enum Gone {
    Leaves,
    Dies,
}

async fn an_arrow_misses_the_newcomer(cluster: &Cluster, gone: Gone) -> Story {
    let pit = cluster.scene("pit");
    let target = pit.spawn(Fighter::default()).await?;
    let archer = pit.spawn(Fighter::default()).await?;
    let before = target.show().await?.handle;

    archer.send(Shoot { at: target.id(), flight_ms: 60_000 }).await?;
    let shot = archer.until(|archer| archer.part::<Fighter>().is_ok_and(|archer| archer.arrow.is_some())).await?;
    let arrow = cluster.entity::<Arrow>(shot.part::<Fighter>()?.arrow.ok_or("it was shot")?);
    match gone {
        Gone::Leaves => drop(target.move_to("gallery").await?),
        Gone::Dies => target.despawn().await?,
    }
    let newcomer = pit.spawn(Fighter::default()).await?;
    let after = newcomer.show().await?.handle;
    println!("an arrow flies at {before}; the target {gone:?}, and a newcomer gets its place as {after}");
    assert_eq!(slot(&before), slot(&after), "the newcomer has the slot of the target");
    assert_ne!(before, after, "and another handle");

    arrow.send(Land).await?;
    let archer_sees = archer.until(|archer| archer.part::<Fighter>().is_ok_and(|archer| archer.missed == 1)).await?;
    let hits = newcomer.show().await?.part::<Health>()?.hits;
    println!("the arrow comes down: missed {}, newcomer hit {hits} times", archer_sees.part::<Fighter>()?.missed);
    assert_eq!(hits, 0);

    archer.send(Shoot { at: newcomer.id(), flight_ms: 1 }).await?;
    newcomer.until(|newcomer| newcomer.part::<Health>().is_ok_and(|health| health.hits == 1)).await?;
    println!("the next one is aimed at the newcomer, and hits");
    newcomer.despawn().await?;
    archer.despawn().await?;
    Ok(())
}

/// The scene and the slot of a handle such as `1:42/gen3`.
fn slot(handle: &str) -> &str {
    handle.split('/').next().unwrap_or(handle)
}

async fn a_brawl(cluster: &Cluster) -> Story {
    let arena = Game::named("arena").ok_or("it is linked in")?;
    let crowd = cluster.populate(&arena.crowd()).await?;
    let lair = crowd.first().ok_or("somebody lives there")?;
    let seen = lair.until(|lair| lair.part::<Lair>().is_ok_and(|lair| lair.ended > 0)).await?;
    let ended = seen.part::<Lair>()?.ended;
    println!("{}: {ended} of its monsters will not growl again", seen.label.unwrap_or_default());
    Ok(())
}

async fn story() -> Story {
    let cluster = Cluster::builder().node("n1", ["pit"]).node("n2", ["gallery"]).node("n3", ["crypt"]).start().await?;
    for gone in [Gone::Leaves, Gone::Dies] {
        an_arrow_misses_the_newcomer(&cluster, gone).await?;
    }
    a_brawl(&cluster).await?;
    cluster.stop().await?;
    Ok(())
}

fn main() -> Story {
    slipgate::block_on(story())
}
