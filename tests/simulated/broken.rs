//! Games with a fault are found out, and what is told says which seed, and how to have it again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use slipgate::test::{self, World};

use super::{Hit, Player, Pocket, meadow_and_castle};

/// What a test that fails says.
fn failure(cluster: test::Cluster, test: impl Fn(&World)) -> String {
    let result = catch_unwind(AssertUnwindSafe(|| cluster.run(test)));
    let panic = result.expect_err("it fails");
    panic.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn a_field_that_was_left_behind_by_mistake_is_found_out_with_the_seed_and_the_command() {
    let told = failure(meadow_and_castle().seeds(4..9), |world| {
        let ann = world.spawn("meadow", Player::default());
        ann.send(Pocket { coins: 3 }).expect("applied");
        ann.move_to("castle").expect("moved");
        assert_eq!(ann.own().purse, 3, "she has what she had");
    });
    assert!(told.starts_with("seed 4, "), "{told}");
    assert!(told.contains("she has what she had"), "{told}");
    assert!(told.contains("move.ok") && told.contains("castle@n2"), "{told}");
    let name = "broken::a_field_that_was_left_behind_by_mistake_is_found_out_with_the_seed_and_the_command";
    assert!(told.ends_with(&format!("this seed alone:  SLIPGATE_TEST_SEED=4 cargo test {name}")), "{told}");
}

#[test]
fn a_handler_that_panics_fails_a_test_that_does_not_look_at_it() {
    let told = failure(meadow_and_castle().seeds(0..1), |world| {
        let ann = world.spawn("meadow", Player { hp: 5, ..Player::default() });
        ann.tell(Hit { hp: 4 }).expect("accepted");
        ann.tell(Hit { hp: 4 }).expect("accepted");
    });
    assert!(told.contains("game code panicked") && told.contains("whoever is hit has health left"), "{told}");
}

#[test]
fn a_test_of_a_panic_takes_it_and_the_entity_is_parked_until_it_is_unparked() {
    meadow_and_castle().seeds(0..3).run(|world| {
        let ann = world.spawn("meadow", Player { hp: 5, ..Player::default() });
        let failed = ann.send(Hit { hp: 6 }).expect_err("the handler panics");
        assert!(failed.to_string().contains("whoever is hit has health left"), "{failed}");
        let [panic] = world.take_panics().try_into().expect("one panic");
        assert!(panic.contains("player") && panic.contains("meadow@n1"), "{panic}");
        let shown = ann.show().expect("she is there");
        assert_eq!(shown.standing, "parked");
        ann.unpark().expect("unparked");
        ann.send(Hit { hp: 1 }).expect("applied");
        assert_eq!(ann.own().hp, 4);
    });
}

#[test]
fn a_game_may_have_its_entities_despawned_when_they_panic() {
    meadow_and_castle().set("entities.on_panic", "despawn").seeds(0..3).run(|world| {
        let ann = world.spawn("meadow", Player::default());
        ann.send(Hit { hp: 1 }).expect_err("the handler panics");
        assert_eq!(world.take_panics().len(), 1);
        world.settle();
        ann.show().expect_err("she is gone");
    });
}

#[test]
fn whoever_is_gone_or_on_the_way_for_good_is_not_exactly_one() {
    let told = failure(meadow_and_castle().seeds(0..1), |world| {
        let ann = world.spawn("meadow", Player::default());
        ann.despawn().expect("despawned");
        world.assert_exactly_one(&ann);
    });
    assert!(told.contains("it takes turns in no scene, and its home says that it was despawned"), "{told}");
}

#[test]
fn what_never_comes_about_is_told_after_a_while_of_simulated_time() {
    let told = failure(meadow_and_castle().seeds(0..1), |world| world.run_until(|_| false));
    assert!(told.contains("it is not so after 60s"), "{told}");
    let told = failure(meadow_and_castle().seeds(0..1), |world| {
        world.spawn("attic", Player::default());
    });
    assert!(told.contains("there is no scene \"attic\"; there are"), "{told}");
    let told = failure(test::cluster().node("n1", ["meadow"]).set("limits.hoops", "1"), |_| {});
    assert!(told.contains("hoops"), "{told}");
    let told = failure(meadow_and_castle().seeds(0..1), |world| world.pause("n3", Duration::from_secs(1)));
    assert!(told.contains("there is no node \"n3\"; there are n1, n2"), "{told}");
}
