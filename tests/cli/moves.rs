//! `migrate`, and every way in which it does not move. Whatever happens, the answer says where the entity is.

use crate::dev_cluster::DevCluster;

/// Checks an answer that refuses, and that the walker stays and takes messages.
#[track_caller]
fn check_stays(label: &str, to: &str, code: u8, text: &str, hint: &str) {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("harbor", label);
    cluster.ask(&["migrate", label, "--to", to]).fails(
        i32::from(code),
        &format!("error: {text}\n  {label} ({entity}) is still in harbor@n1 and takes messages\n  try:  {hint}\n"),
    );
    assert_eq!(cluster.place(&entity), "harbor@n1");
    cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
}

#[test]
fn a_move_to_another_node_tells_places_pause_and_move_id() {
    let cluster = DevCluster::shared();
    cluster.spawn("forest", "ann");
    let done = cluster.ask(&["migrate", "ann", "--to", "keep"]).ends(0);
    assert!(done.out.starts_with("ann  forest@n1 -> keep@n2  ok in "), "{done:?}");
    for part in ["  paused ", " B  0 held, 0 delivered  move "] {
        assert!(done.out.contains(part), "{done:?}");
    }
    assert_eq!((done.err.as_str(), cluster.place("ann").as_str()), ("", "keep@n2"));
    cluster.ask(&["migrate", "ann", "--to", "forest@n1"]).ends(0);
    assert_eq!(cluster.place("ann"), "forest@n1");
}

#[test]
fn a_move_to_another_scene_of_the_same_node_is_a_move() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("mine", "near");
    let done = cluster.ask(&["migrate", &entity, "--to", "6"]).ends(0);
    assert!(done.out.starts_with("near  mine@n3 -> tower@n3  ok in "), "{done:?}");
    assert_eq!(cluster.place(&entity), "tower@n3");
}

#[test]
fn a_move_to_the_scene_it_is_in_is_refused() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("market", "homebody");
    let done = cluster.ask(&["migrate", "homebody", "--to", "market"]).ends(4);
    let (text, rest) = done.err.split_once(" (move ").expect("a move id");
    assert_eq!(text, "error: homebody may not move from market@n2 to market@n2: it is in that scene already");
    let expected = format!(")\n  homebody is in market@n2\n  try:  slipgate show {entity}      slipgate scenes\n");
    assert_eq!((&rest[36..], done.out.as_str()), (expected.as_str(), ""));
}

#[test]
fn an_unknown_scene_is_told_with_those_there_are() {
    let known = "there are forest, harbor, keep, market, mine, tower";
    check_stays("lost1", "nowhere", 3, &format!("there is no scene \"nowhere\"; {known}"), "slipgate scenes");
    check_stays("lost2", "99", 3, &format!("there is no scene \"99\"; {known}"), "slipgate scenes");
}

#[test]
fn a_scene_on_another_node_than_named_is_told_with_the_right_one() {
    check_stays("astray", "keep@n3", 4, "scene keep is on node n2, not on n3", "--to keep@n2");
}

#[test]
fn a_node_that_is_not_there_is_told_with_those_there_are() {
    check_stays("nobody1", "keep@n9", 3, "there is no node \"n9\"; there are n1, n2, n3", "slipgate nodes");
}

#[test]
fn of_several_all_are_tried_and_the_first_failure_decides() {
    let cluster = DevCluster::shared();
    let [one, two] = [cluster.spawn("forest", "many1"), cluster.spawn("keep", "many2")];
    let done = cluster.ask(&["migrate", "many1", "nobody", "many2", "--to", "mine"]).ends(3);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("many1  forest@n1 -> mine@n3  ok"), "{done:?}");
    assert!(lines[1].starts_with("many2  keep@n2 -> mine@n3  ok"), "{done:?}");
    assert!(done.err.starts_with("error: no entity has the id or label \"nobody\""), "{done:?}");
    assert_eq!([cluster.place(&one), cluster.place(&two)], ["mine@n3", "mine@n3"]);
}

#[test]
fn what_was_applied_moves_along_and_messages_follow() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "nomad");
    for scene in ["keep", "mine", "harbor", "tower"] {
        cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--count", "3"]).ends(0);
        cluster.ask(&["migrate", &entity, "--to", scene]).ends(0);
    }
    cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--wait"]).ends(0);
    let shown = cluster.json(&["show", &entity]).ends(0).object();
    assert_eq!((&shown["body"]["own"]["hp"], &shown["applied"], &shown["epoch"]), (&87.into(), &13.into(), &5.into()));
}
