//! A raid: who leads it takes the others along, and nobody leaves in the middle of a fight.
//!
//! ```text
//!   keep@n1   ann (leads: bob, cid)  --leaving: all three-->  dungeon@n2     all reserved before any stops
//!             bob in combat: refuses, and the raid waits
//! ```

#![expect(clippy::print_stdout, reason = "it tells a story")]

use slipgate::prelude::*;

#[derive(Entity, Default, Debug)]
struct Raider {
    name: String,
    in_combat: bool,
    leads: Vec<OnlineId>,
}

#[derive(Message, Debug)]
struct Lead {
    whom: Vec<OnlineId>,
}

#[derive(Message, Debug)]
struct Fight {
    on: bool,
}

#[handlers]
impl Raider {
    #[from(cluster)]
    fn lead(&mut self, lead: Lead) {
        self.leads = lead.whom;
    }

    #[from(cluster)]
    fn fight(&mut self, fight: Fight) {
        self.in_combat = fight.on;
    }

    #[hook]
    fn leaving(&mut self, _to: &Destination) -> Leave {
        if self.in_combat { Leave::refuse("in combat") } else { Leave::allow().with(self.leads.iter().copied()) }
    }
}

async fn raid() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::builder().node("n1", ["keep"]).node("n2", ["dungeon"]).start().await?;
    let keep = cluster.scene("keep");
    let raider = |name: &str| keep.spawn(Raider { name: name.into(), ..Raider::default() }).label(name);
    let (ann, bob, cid) = (raider("ann").await?, raider("bob").await?, raider("cid").await?);
    ann.send(Lead { whom: vec![bob.id(), cid.id()] }).await?;

    bob.send(Fight { on: true }).await?;
    let refused = ann.move_to("dungeon").await.expect_err("nobody leaves a fight");
    println!("ann wants to leave: {refused}");
    assert_eq!((refused.kind, refused.reason.as_str()), (ProblemKind::Refused, "companion"));
    assert!(refused.text.contains(&bob.to_string()) && refused.text.contains("in combat"), "{}", refused.text);
    let listed: Vec<_> = refused.companions.iter().map(|companion| companion.id).collect();
    assert_eq!(listed, [bob.id(), cid.id()]);
    for companion in &refused.companions {
        let stayed = companion.outcome.as_ref().expect_err("nobody sets out alone");
        println!("{} was to come along: {stayed}", companion.id);
    }
    for raider in [&ann, &bob, &cid] {
        let raider = raider.show().await?;
        println!("{} is still in {}", raider.label.unwrap_or_default(), raider.at);
        assert_eq!((raider.at.scene.as_str(), raider.standing.as_str()), ("keep", "active"));
    }

    bob.send(Fight { on: false }).await?;
    let moved = ann.move_to("dungeon").await?;
    println!("the fight is over: ann is in {}", moved.to);
    let listed: Vec<_> = moved.companions.iter().map(|companion| companion.id).collect();
    assert_eq!(listed, [bob.id(), cid.id()]);
    for (name, companion) in ["bob", "cid"].iter().zip(moved.companions) {
        companion.outcome?;
        println!("{name} came along");
    }
    assert_eq!((bob.show().await?.at, cid.show().await?.at), (moved.to.clone(), moved.to));
    cluster.stop().await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    slipgate::block_on(raid())
}
