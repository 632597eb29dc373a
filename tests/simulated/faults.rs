//! Each kind of fault that a test can ask for, and what a game may rely on in it.

use std::time::Duration;

use slipgate::prelude::*;

use super::{Earn, Player, meadow_and_castle};

fn rich(gold: u32) -> Player {
    Player { gold, ..Player::default() }
}

#[test]
fn lost_doubled_and_late_messages_are_applied_once_each() {
    meadow_and_castle().seeds(0..20).run(|world| {
        let ann = world.spawn("castle", rich(0));
        world.lose(0.3);
        world.double(0.3);
        world.delay(Duration::from_millis(50));
        for _ in 0..20 {
            ann.tell(Earn { gold: 1 }).expect("accepted");
        }
        let going = ann.set_out("meadow");
        for _ in 0..20 {
            ann.tell(Earn { gold: 1 }).expect("accepted");
        }
        drop(going);
        world.settle();
        world.assert_exactly_one(&ann);
        assert_eq!(ann.own().gold, 40);
    });
}

#[test]
fn a_move_over_a_cut_link_ends_and_what_was_said_arrives_once_it_is_mended() {
    meadow_and_castle().seeds(0..20).run(|world| {
        let ann = world.spawn("meadow", rich(1));
        world.cut("n1", "n2");
        let failed = ann.move_to("castle").expect_err("nobody is there");
        assert_eq!(failed.at.map(|at| at.to_string()).as_deref(), Some("meadow@n1"), "{}", failed.text);
        let bob = world.spawn("castle", rich(0));
        bob.tell(Earn { gold: 5 }).expect("accepted");
        world.run_for(Duration::from_secs(2));
        assert_eq!(bob.own().gold, 0, "nothing passes");
        world.mend("n1", "n2");
        bob.until(|bob| bob.applied == 1).expect("it arrives");
        ann.move_to("castle").expect("moved");
        world.assert_exactly_one(&ann);
    });
}

#[test]
fn a_cut_in_the_middle_of_a_move_leaves_one_of_her() {
    meadow_and_castle().seeds(0..40).run(|world| {
        let ann = world.spawn("meadow", rich(3));
        let going = ann.set_out("castle");
        world.run_for(Duration::from_millis(10 * world.roll(4)));
        world.cut("n1", "n2");
        let _ = going.wait();
        world.settle();
        world.assert_exactly_one(&ann);
        assert_eq!(ann.own().gold, 3);
    });
}

#[test]
fn whoever_was_on_a_node_that_crashes_is_lost_and_the_others_are_not() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let (ann, bob) = (world.spawn("castle", rich(1)), world.spawn("meadow", rich(2)));
        ann.send(Earn { gold: 1 }).expect("applied");
        world.crash("n2");
        ann.show().expect_err("her node is gone");
        bob.send(Earn { gold: 1 }).expect("he is well");
        world.settle();
        assert!(world.is_lost(&ann) && !world.is_lost(&bob));
        assert_eq!(ann.send(Earn { gold: 1 }), Err(SendError::Lost), "it has not left");
        world.assert_exactly_one(&bob);
        let cid = world.spawn("castle", rich(0));
        cid.send(Earn { gold: 1 }).expect("the node is there again");
    });
}

#[test]
fn a_target_that_crashes_in_the_middle_of_a_move_leaves_her_whole_or_lost_and_never_twice() {
    let outcomes = std::cell::RefCell::new(std::collections::BTreeSet::new());
    meadow_and_castle().seeds(0..40).run(|world| {
        let ann = world.spawn("meadow", rich(3));
        let going = ann.set_out("castle");
        world.run_for(Duration::from_millis(10 * world.roll(4)));
        world.crash("n2");
        let _ = going.wait();
        world.settle();
        if world.is_lost(&ann) {
            outcomes.borrow_mut().insert("lost");
        } else {
            world.assert_exactly_one(&ann);
            assert_eq!(ann.own().gold, 3);
            outcomes.borrow_mut().insert("whole");
        }
    });
    assert_eq!(outcomes.into_inner().into_iter().collect::<Vec<_>>(), ["lost", "whole"], "both come about");
}

#[test]
fn a_node_that_stands_still_for_longer_than_its_lease_is_over_and_nobody_lives_twice() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let ann = world.spawn("castle", rich(1));
        world.pause("n2", Duration::from_secs(30));
        world.run_for(Duration::from_secs(20));
        assert!(world.is_lost(&ann), "there was a verdict");
        world.settle();
        ann.show().expect_err("her life there is over");
        world.spawn("castle", rich(0)).send(Earn { gold: 1 }).expect("its node has joined anew");
    });
}

#[test]
fn a_short_pause_and_a_manager_that_crashes_lose_nobody() {
    meadow_and_castle().seeds(0..10).run(|world| {
        let ann = world.spawn("castle", rich(1));
        world.pause("n2", Duration::from_secs(3));
        ann.tell(Earn { gold: 1 }).expect("accepted");
        world.settle();
        assert_eq!(ann.own().gold, 2);
        // Who lives on the manager's node is lost with it; she does not.
        world.crash("n1");
        world.run_for(Duration::from_secs(2));
        world.restart("n1");
        world.settle();
        world.assert_exactly_one(&ann);
        ann.send(Earn { gold: 1 }).expect("applied");
        assert_eq!(ann.own().gold, 3);
    });
}

#[test]
fn in_any_weather_that_a_seed_brings_everything_is_applied_once() {
    meadow_and_castle().seeds(0..30).run(|world| {
        let ann = world.spawn("meadow", rich(0));
        world.storm();
        for scene in ["castle", "meadow", "castle"] {
            let going = ann.set_out(scene);
            for _ in 0..5 {
                ann.tell(Earn { gold: 1 }).expect("accepted");
            }
            let _ = going.wait();
        }
        world.settle();
        world.assert_exactly_one(&ann);
        assert_eq!(ann.own().gold, 15);
    });
}
