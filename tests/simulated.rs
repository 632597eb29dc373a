//! Games in simulated clusters, as studios test theirs: what a game may rely on holds under each kind of fault, a game that is
//! broken is found out, and every run can be had again.

#[path = "simulated/broken.rs"]
mod broken;
#[path = "simulated/faults.rs"]
mod faults;
#[path = "simulated/talk.rs"]
mod talk;
#[path = "simulated/turns.rs"]
mod turns;

use slipgate::prelude::*;
use slipgate::test;

/// Has gold, a purse that does not travel by mistake, and little health.
#[derive(Entity, Default, Debug)]
struct Player {
    gold: u32,
    #[entity(transient)]
    purse: u32,
    hp: u32,
}

#[derive(Message, Debug)]
#[message(answer = u32)]
struct Earn {
    gold: u32,
}

#[derive(Message, Debug)]
struct Pocket {
    coins: u32,
}

#[derive(Message, Debug)]
struct Hit {
    hp: u32,
}

#[handlers]
impl Player {
    #[from(cluster)]
    fn earn(&mut self, earn: Earn) -> u32 {
        self.gold += earn.gold;
        self.gold
    }

    #[from(cluster)]
    fn pocket(&mut self, pocket: Pocket) {
        self.purse += pocket.coins;
    }

    /// Nobody has thought of one that is dead already.
    #[from(cluster)]
    fn hit(&mut self, hit: Hit) {
        self.hp = self.hp.checked_sub(hit.hp).expect("whoever is hit has health left");
    }
}

fn meadow_and_castle() -> test::Cluster {
    test::cluster().node("n1", ["meadow"]).node("n2", ["castle"])
}

#[test]
fn a_player_keeps_her_gold_over_a_crossing() {
    meadow_and_castle().seeds(0..50).run(|world| {
        let ann = world.spawn("meadow", Player { gold: 7, ..Player::default() });
        world.lose(0.1);
        ann.send(Earn { gold: 1 }).expect("applied");
        let going = ann.set_out("castle");
        ann.tell(Earn { gold: 2 }).expect("accepted");
        // Where too much is lost she stays.
        let came = going.wait();
        world.settle();
        world.assert_exactly_one(&ann);
        if let Ok(moved) = came {
            assert_eq!(
                (moved.from.to_string(), moved.to.to_string()),
                ("meadow@n1".to_owned(), "castle@n2".to_owned())
            );
            assert_eq!(ann.show().expect("she is there").at, moved.to);
        }
        assert_eq!(ann.own().gold, 10);
    });
}

#[test]
fn what_a_test_does_reads_as_in_a_cluster_that_is_not_simulated() {
    meadow_and_castle().seeds(0..1).run(|world| {
        let ann = world.spawning("meadow", Player::default()).label("ann").make().expect("spawned");
        assert_eq!(ann.ask(Earn { gold: 3 }), Ok(3));
        let labelled: Vec<_> = world.labelled("ann").iter().map(test::Ref::id).collect();
        assert_eq!(labelled, [ann.id()]);
        assert_eq!(world.entity::<Player>(ann.id()), ann);
        let refused = ann.move_to("meadow").expect_err("she is there already");
        assert_eq!((refused.kind, refused.reason.as_str()), (ProblemKind::Refused, "already_there"));
        let nowhere = ann.move_to("attic").expect_err("there is none");
        assert_eq!(nowhere.reason, "unknown_scene");
        ann.despawn().expect("despawned");
        assert_eq!(ann.send(Earn { gold: 1 }), Err(SendError::Dead));
        assert_eq!(ann.show().expect_err("she is gone").kind, ProblemKind::NotFound);
    });
}

#[test]
fn a_seed_is_the_same_run_each_time_and_another_seed_is_another_run() {
    let run = |seed| {
        meadow_and_castle().replay(seed, |world| {
            world.storm();
            let ann = world.spawn("meadow", Player::default());
            let bob = world.spawn("castle", Player::default());
            for scene in ["castle", "meadow", "castle"] {
                let going = ann.set_out(scene);
                bob.tell(Earn { gold: 1 }).expect("accepted");
                let _ = going.wait();
            }
            world.crash("n2");
            world.settle();
        })
    };
    let one = run(3);
    assert!(one.len() > 100, "there is something to compare: {}", one.len());
    assert!(one == run(3), "the same lines");
    assert!(one != run(4), "other lines");
}
