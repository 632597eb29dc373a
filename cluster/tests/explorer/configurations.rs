//! What is explored: in every run of the tests, and when somebody takes the time.

use super::plan::Plan;

/// One entity: moves there and back or on to a third scene, given up or not; the home with the source, with the
/// target, or with neither.
pub(crate) fn moves() -> Vec<Plan> {
    vec![
        Plan::new("a move, 2 messages, home at the source", &[1, 2], 1).moves(1).messages(2).late(),
        Plan::new("a move, 2 messages, home at the target", &[1, 2], 2).moves(1).messages(2).late(),
        Plan::new("a move, 2 messages, home elsewhere", &[1, 2], 3).moves(1).messages(2).late(),
        Plan::new("a move within a node, 2 messages", &[1, 1], 1).moves(1).messages(2).late(),
        Plan::new("a move, a message, reports of the source", &[1, 2], 3).moves(1).messages(1).late().reports(),
        Plan::new("2 moves, a message", &[1, 2], 3).moves(2).messages(1).late(),
        Plan::new("2 moves, tombstones forgotten twice", &[1, 2], 3).moves(2).late().forgets(2),
        Plan::new("3 moves", &[1, 2], 3).moves(3).late(),
        Plan::new("3 scenes, 2 moves", &[1, 2, 3], 4).moves(2).late(),
        Plan::new("3 scenes, 2 moves, a message, no give-up", &[1, 2, 3], 4).moves(2).messages(1),
    ]
}

/// Despawns and deaths of scenes' nodes, with their verdicts.
pub(crate) fn ends() -> Vec<Plan> {
    vec![
        Plan::new("a move, a message, a despawn", &[1, 2], 3).moves(1).messages(1).late().despawn(),
        Plan::new("a despawn, tombstones forgotten", &[1, 2], 3).moves(1).messages(1).late().despawn().forgets(1),
        Plan::new("a move, 2 messages, the source's node dies", &[1, 2], 3).moves(1).messages(2).late().deaths(&[1]),
        Plan::new("a move, 2 messages, the target's node dies", &[1, 2], 3).moves(1).messages(2).late().deaths(&[2]),
        Plan::new("a move, a message, both nodes die", &[1, 2], 3).moves(1).messages(1).late().deaths(&[1, 2]),
        Plan::new("2 moves, a message, a node dies, no give-up", &[1, 2], 3).moves(2).messages(1).deaths(&[2]),
        Plan::new("3 scenes, 2 moves, a node dies", &[1, 2, 3], 4).moves(2).late().deaths(&[2]),
        Plan::new("2 moves, both nodes die", &[1, 2], 3).moves(2).late().deaths(&[1, 2]),
        Plan::new("3 moves, a node dies, no give-up", &[1, 2], 3).moves(3).deaths(&[2]),
    ]
}

/// Two entities: what one hears, it tells the other.
pub(crate) fn friends() -> Vec<Plan> {
    vec![
        Plan::new("friends, a move, a message", &[1, 2], 1).friend(0, 1, 1).moves(1).late(),
        Plan::new("friends apart, a move, a message", &[1, 2], 1).friend(1, 2, 1).moves(1).late(),
        Plan::new("friends, a move, 2 messages, no give-up", &[1, 2], 3).friend(0, 3, 2).moves(1),
        Plan::new("friends, a move, a despawn, no give-up", &[1, 2], 1).friend(0, 1, 1).moves(1).despawn(),
        Plan::new("friends, a move, a node dies", &[1, 2], 3).friend(1, 3, 1).moves(1).late().deaths(&[1]),
    ]
}

/// Two senders to one entity: the tool, and another entity that the tool talks to as well.
pub(crate) fn senders() -> Vec<Plan> {
    let two = |name| Plan::new(name, &[1, 2], 3).messages(1);
    vec![
        two("2 senders, a move, no give-up").friend(1, 3, 1).moves(1),
        two("2 senders in one scene, a move, no give-up").friend(0, 3, 1).moves(1),
        two("2 senders, a despawn").friend(1, 3, 1).despawn().late(),
        two("2 senders, a node dies").friend(1, 3, 1).deaths(&[2]).late(),
    ]
}

/// Two entities that set out together, or not at all.
pub(crate) fn parties() -> Vec<Plan> {
    let together = |name| Plan::new(name, &[1, 2], 3).together();
    vec![
        together("friends set out together, a message, no give-up").friend(0, 3, 1).moves(1),
        together("friends set out together, a node dies").friend(0, 3, 0).moves(1).late().deaths(&[2]),
        together("friends set out together, room for one")
            .friend(0, 3, 0)
            .friend(1, 3, 0)
            .moves(1)
            .late()
            .despawn()
            .capacity(2),
    ]
}

/// Streams that are closed whenever they are at rest, and begun again.
pub(crate) fn closings() -> Vec<Plan> {
    vec![
        Plan::new("streams close, 2 messages", &[1], 3).messages(2).idles(),
        Plan::new("streams close, 3 messages", &[1], 3).messages(3).idles(),
        Plan::new("streams close, a move, 2 messages, no give-up", &[1, 2], 3).moves(1).messages(2).idles(),
        Plan::new("streams close, a move, 2 messages", &[1, 2], 3).moves(1).messages(2).late().idles(),
        Plan::new("streams close, friends, 2 messages", &[1, 2], 3).friend(1, 3, 2).late().idles(),
        Plan::new("streams close, friends, a move, a message", &[1, 2], 3).friend(1, 3, 1).moves(1).late().idles(),
        Plan::new("streams close, two friends of one scene tell a third", &[1, 2], 3)
            .friend(1, 3, 1)
            .friend(1, 3, 1)
            .idles()
            .late(),
        Plan::new("streams close, friends, a despawn", &[1, 2], 3).friend(1, 3, 1).despawn().late().idles(),
        Plan::new("streams close, a message, a move, a despawn", &[1, 2], 3).messages(1).moves(1).despawn().idles(),
        Plan::new("streams close, friends, 2 messages, a node dies", &[1, 2], 3)
            .friend(1, 3, 2)
            .deaths(&[2])
            .late()
            .idles(),
        Plan::new("streams close, 2 messages, a move, a node dies, no give-up", &[1, 2], 3)
            .messages(2)
            .moves(1)
            .deaths(&[2])
            .idles(),
        Plan::new("streams close, 2 messages, a move, the tool dies, no give-up", &[1, 2], 3)
            .messages(2)
            .moves(1)
            .deaths(&[9])
            .idles(),
    ]
}

/// Handlers that panic: who is told so, and that nothing is applied behind that.
pub(crate) fn panics() -> Vec<Plan> {
    let friends = |name| Plan::new(name, &[1, 2], 3).friend(1, 3, 2).stumbles_at(1);
    vec![
        Plan::new("a handler panics, 2 messages, a move", &[1, 2], 3).messages(2).moves(1).late().stumbles_at(1),
        Plan::new("a handler panics, streams close, 3 messages", &[1], 3).messages(3).idles().stumbles_at(2),
        Plan::new("a handler panics, streams close, 2 messages, a move, no give-up", &[1, 2], 3)
            .messages(2)
            .moves(1)
            .idles()
            .stumbles_at(1),
        Plan::new("a handler panics, 2 messages, a despawn", &[1], 3).messages(2).late().despawn().stumbles_at(1),
        Plan::new("who panics is despawned, 2 messages, a move", &[1, 2], 3)
            .messages(2)
            .moves(1)
            .late()
            .stumbles_at(1)
            .despawns_who_panics(),
        friends("a friend's handler panics, no give-up"),
        Plan::new("a handler panics, the home dies, a message, a move, no give-up", &[1, 2], 3)
            .heirs(&[4])
            .deaths(&[3])
            .messages(1)
            .moves(1)
            .stumbles_at(1),
    ]
}

/// Homes that die and are rebuilt: one that has no scene, or with a scene that an entity leaves or goes to.
pub(crate) fn homes() -> Vec<Plan> {
    let apart = |name| Plan::new(name, &[1, 2], 3).heirs(&[4]).deaths(&[3]);
    vec![
        apart("the home dies, a move, a message").moves(1).messages(1).late(),
        apart("the home dies, 2 moves").moves(2).late(),
        apart("the home dies, a move, a despawn").moves(1).late().despawn(),
        apart("the home dies, a move, a message, reports of the source, no give-up").moves(1).messages(1).reports(),
        Plan::new("the home dies, 3 scenes, 2 moves, no give-up", &[1, 2, 3], 4).heirs(&[1]).deaths(&[4]).moves(2),
        Plan::new("the home dies, a scene joins, a move", &[1, 2], 3)
            .heirs(&[1])
            .joins(&[2])
            .deaths(&[3])
            .moves(1)
            .late(),
        Plan::new("the home dies, then the next, a move", &[1, 2], 3).heirs(&[4, 1]).deaths(&[3, 4]).moves(1).late(),
        apart("the home dies, streams close, 2 messages").messages(2).idles(),
        apart("the home dies, friends set out together, no give-up").friend(0, 3, 0).together().moves(1),
        apart("the home dies, the source dies, a move, a message, no give-up").deaths(&[1, 3]).moves(1).messages(1),
        apart("the home dies, the target dies, a move, a message, no give-up").deaths(&[2, 3]).moves(1).messages(1),
        apart("the home dies, the target dies, 2 moves, no give-up").deaths(&[2, 3]).moves(2),
        Plan::new("home and source die, a move, a message", &[1, 2], 1)
            .heirs(&[2])
            .deaths(&[1])
            .moves(1)
            .messages(1)
            .late(),
        Plan::new("home and source die, 2 moves, a message, no give-up", &[1, 2], 1)
            .heirs(&[2])
            .deaths(&[1])
            .moves(2)
            .messages(1),
        Plan::new("home and source die, a move, a despawn", &[1, 2], 1)
            .heirs(&[2])
            .deaths(&[1])
            .moves(1)
            .late()
            .despawn(),
        Plan::new("home and target die, a move, a message", &[1, 2], 2)
            .heirs(&[1])
            .deaths(&[2])
            .moves(1)
            .messages(1)
            .late(),
        Plan::new("home and target die, 2 moves", &[1, 2], 2).heirs(&[1]).deaths(&[2]).moves(2).late(),
        Plan::new("home and a target die, 3 scenes, 2 moves, no give-up", &[1, 2, 3], 2)
            .heirs(&[1])
            .deaths(&[2])
            .moves(2),
    ]
}

/// Nodes that die and start again, before or after anybody has noticed: 11 is the second life of 1.
pub(crate) fn restarts() -> Vec<Plan> {
    let target = |name, home| Plan::new(name, &[1, 2, 12], home).joins(&[12]).deaths(&[2]);
    let home = |name| Plan::new(name, &[1, 2], 3).joins(&[13]).deaths(&[3]);
    let source = |name| Plan::new(name, &[1, 2, 11], 1).joins(&[11]).deaths(&[1]);
    vec![
        target("the target's node starts again while it runs, and the home dies, a move", 3)
            .overlaps()
            .deaths(&[2, 3])
            .heirs(&[4])
            .moves(1),
        target("the target's node starts again, a move, a message", 3).moves(1).messages(1).late(),
        target("the target's node starts again, 2 moves", 3).moves(2).late(),
        target("the target's node starts again, with the home, a move", 2).heirs(&[12, 1]).moves(1).late(),
        target("the target's node starts again, with the home, 2 moves, no give-up", 2).heirs(&[1, 12]).moves(2),
        home("the home's node starts again and is heir, a move").heirs(&[13, 4]).moves(1).late(),
        source("the source's node starts again and is heir, a move, a message, no give-up")
            .heirs(&[11, 2])
            .moves(1)
            .messages(1),
    ]
}

/// Homes that are given away at a planned stop.
pub(crate) fn handovers() -> Vec<Plan> {
    let apart = |name| Plan::new(name, &[1, 2], 3).heirs(&[4]).retires(&[3]);
    vec![
        apart("the home is handed over, a move").moves(1).late(),
        apart("the home is handed over, a move, a message, no give-up").moves(1).messages(1),
        apart("the home is handed over, a move, a despawn").moves(1).late().despawn(),
        apart("the home is handed over or dies, a move").deaths(&[3]).moves(1).late(),
        apart("the home is handed over, a scene joins, a move, no give-up").heirs(&[1]).joins(&[2]).moves(1),
        apart("the home is handed over, the next dies, a move, no give-up").heirs(&[4, 1]).deaths(&[4]).moves(1),
        apart("the home is handed over, streams close, 2 messages").messages(2).idles(),
        apart("the home is handed over, a handler panics, 2 messages").messages(2).stumbles_at(1),
        apart("the home is handed over twice, a despawn").heirs(&[4, 1]).retires(&[3, 4]).despawn(),
        Plan::new("the home is handed over or dies with the source, a move", &[1, 2], 1)
            .heirs(&[2])
            .retires(&[1])
            .deaths(&[1])
            .moves(1)
            .late(),
        Plan::new("the home is handed over or dies with the source, a move, a message, no give-up", &[1, 2], 1)
            .heirs(&[2])
            .retires(&[1])
            .deaths(&[1])
            .moves(1)
            .messages(1),
    ]
}

/// Minutes each.
pub(crate) fn wide() -> Vec<Plan> {
    vec![
        Plan::new("a move, 3 messages", &[1, 2], 3).moves(1).messages(3).late(),
        Plan::new("streams close, 2 messages, a move, a despawn", &[1, 2], 3).messages(2).moves(1).despawn().idles(),
        Plan::new("streams close, 2 moves, a message, no give-up", &[1, 2], 3).moves(2).messages(1).idles(),
        Plan::new("streams close, friends, a move, 2 messages, no give-up", &[1, 2], 3)
            .friend(1, 3, 2)
            .moves(1)
            .idles(),
        Plan::new("streams close, friends, a move, a despawn", &[1, 2], 3)
            .friend(1, 3, 1)
            .moves(1)
            .despawn()
            .late()
            .idles(),
        Plan::new("a move, 2 messages, a despawn", &[1, 2], 3).moves(1).messages(2).late().despawn(),
        Plan::new("a handler panics, 2 messages, a move, a despawn, no give-up", &[1, 2], 3)
            .messages(2)
            .moves(1)
            .despawn()
            .stumbles_at(1),
        Plan::new("2 moves, 2 messages, no give-up", &[1, 2], 3).moves(2).messages(2),
        Plan::new("3 moves, a message, no give-up", &[1, 2], 3).moves(3).messages(1),
        Plan::new("4 moves", &[1, 2], 3).moves(4).late(),
        Plan::new("3 scenes, 2 moves, a message", &[1, 2, 3], 4).moves(2).messages(1).late(),
        Plan::new("3 scenes, 3 moves", &[1, 2, 3], 4).moves(3).late(),
        Plan::new("3 scenes, 2 moves, a message, a node dies", &[1, 2, 3], 4).moves(2).messages(1).late().deaths(&[2]),
        Plan::new("friends, a move, 2 messages", &[1, 2], 3).friend(0, 3, 2).moves(1).late(),
        Plan::new("friends, 2 moves, a message, no give-up", &[1, 2], 1).friend(0, 1, 1).moves(2),
        Plan::new("2 senders, a move", &[1, 2], 3).messages(1).friend(1, 3, 1).moves(1).late(),
        Plan::new("2 senders, a move, a node dies, no give-up", &[1, 2], 3)
            .messages(1)
            .friend(1, 3, 1)
            .moves(1)
            .deaths(&[2]),
        Plan::new("2 senders, 2 moves, no give-up", &[1, 2], 3).messages(1).friend(1, 3, 1).moves(2),
        Plan::new("2 moves, a message, both nodes die, no give-up", &[1, 2], 3).moves(2).messages(1).deaths(&[1, 2]),
        Plan::new("3 moves, a message, a node dies, no give-up", &[1, 2], 3).moves(3).messages(1).deaths(&[2]),
        Plan::new("4 scenes, 2 moves", &[1, 2, 3, 4], 5).moves(2).late(),
    ]
}

/// Minutes each, too: with homes that die or are given away.
pub(crate) fn wide_homes() -> Vec<Plan> {
    let apart = |name| Plan::new(name, &[1, 2], 3).heirs(&[4]);
    vec![
        apart("the home dies, a move, 2 messages, no give-up").deaths(&[3]).moves(1).messages(2),
        apart("the home dies, 2 moves, a message, no give-up").deaths(&[3]).moves(2).messages(1),
        apart("the home dies, 3 moves").deaths(&[3]).moves(3).late(),
        apart("the home dies, a move, a message, reports of the source")
            .deaths(&[3])
            .moves(1)
            .messages(1)
            .late()
            .reports(),
        apart("the home dies, friends, a move, no give-up").friend(0, 3, 1).deaths(&[3]).moves(1),
        apart("the home dies, friends apart, a move, no give-up").friend(1, 4, 1).deaths(&[3]).moves(1),
        Plan::new("the home dies, a scene joins, 2 moves", &[1, 2], 3)
            .heirs(&[1])
            .joins(&[2])
            .deaths(&[3])
            .moves(2)
            .late(),
        Plan::new("the home dies, 3 scenes, 2 moves", &[1, 2, 3], 4).heirs(&[1]).deaths(&[4]).moves(2).late(),
        Plan::new("the home dies, a scene dies, 3 scenes, 2 moves, no give-up", &[1, 2, 3], 4)
            .heirs(&[1])
            .deaths(&[2, 4])
            .moves(2),
        apart("the home dies, the source dies, a move, a despawn, a message, no give-up")
            .deaths(&[1, 3])
            .moves(1)
            .despawn()
            .messages(1),
        Plan::new("home and source die, 3 scenes, 3 moves, no give-up", &[1, 2, 3], 1)
            .heirs(&[2])
            .deaths(&[1])
            .moves(3),
        apart("the home dies, streams close, a message, a move, no give-up").deaths(&[3]).messages(1).moves(1).idles(),
        apart("the home is handed over, streams close, a message, a move, no give-up")
            .retires(&[3])
            .messages(1)
            .moves(1)
            .idles(),
        apart("the home dies, 2 senders, a move, no give-up").deaths(&[3]).messages(1).friend(1, 3, 1).moves(1),
        apart("the home is handed over, a move, a message").retires(&[3]).moves(1).messages(1).late(),
        apart("the home is handed over, 2 moves").retires(&[3]).moves(2).late(),
        apart("the home is handed over twice, a move, no give-up").heirs(&[4, 1]).retires(&[3, 4]).moves(1),
        Plan::new("the home is handed over or dies with the target, a move, a message, no give-up", &[1, 2], 2)
            .heirs(&[1])
            .retires(&[2])
            .deaths(&[2])
            .moves(1)
            .messages(1),
    ]
}
