//! Who may begin and end the evacuation of a scene: its own end goes before the drain of its node.

use std::time::Duration;

use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::scene::{AskScene, Cause, Evacuate, HowFar, Question, SceneActor, Wind};
use slipgate_cluster::evacuation::{Target, UNDER_WAY_MAX};
use slipgate_cluster::{Limits, Now, Own, Session};
use slipgate_entity::SceneId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::node::{LIMIT, Make, Node, ask, me, spawn};

/// One more than can be on the move at once.
const ENTITIES: u64 = UNDER_WAY_MAX as u64 + 1;
const FOREST: SceneId = SceneId(1);
const MEADOW: SceneId = SceneId(2);
const NEVER: Now = Now(u64::MAX);

#[actix_rt::test]
async fn targets_that_are_all_gone_are_no_targets_any_more() {
    let scene = forest_within(Limits { reserve: Duration::from_millis(10), ..Limits::default() }).await;
    scene.tell(begin(Cause::Drain));
    let mut far = ask(&scene, Question::HowFar).await;
    assert_eq!(far.progress.kept, 0);
    scene.tell(Evacuate::Retarget { cause: Cause::Drain, targets: vec![] });
    let all_stay = async {
        while far.progress.kept < ENTITIES {
            far = ask(&scene, |reply| Question::HowFarThen { unlike: far, reply }).await;
        }
    };
    timeout(LIMIT, all_stay).await.expect("nobody is sent where nobody is any more");
}

#[actix_rt::test]
async fn a_drain_leaves_the_evacuation_of_a_scene_alone_that_closes() {
    let scene = forest().await;
    scene.tell(begin(Cause::Close));
    let closing = ask(&scene, Question::HowFar).await;
    for of_the_drain in [
        Evacuate::Begin { cause: Cause::Drain, targets: vec![], deadline: Now(0) },
        Evacuate::Retarget { cause: Cause::Drain, targets: vec![] },
        Evacuate::Cancel,
    ] {
        scene.tell(of_the_drain);
        assert_eq!(ask(&scene, Question::HowFar).await, closing);
    }
}

#[actix_rt::test]
async fn a_scene_that_closes_takes_the_evacuation_of_a_drain_over() {
    let scene = forest().await;
    scene.tell(begin(Cause::Drain));
    scene.tell(begin(Cause::Close));
    scene.tell(Evacuate::Cancel);
    let (_, waiting, kept) = standing(&scene).await;
    assert_eq!((waiting > 0, kept), (true, 0), "the drain has nothing to cancel any more");

    let scene = forest().await;
    scene.tell(begin(Cause::Drain));
    scene.tell(Evacuate::Despawn { deadline: NEVER });
    scene.tell(Evacuate::Begin { cause: Cause::Drain, targets: vec![], deadline: Now(0) });
    let HowFar { is_over, .. } = ask(&scene, Question::HowFar).await;
    assert!(!is_over, "whoever is on the move is despawned after it");
}

#[actix_rt::test]
async fn whoever_is_on_the_move_when_another_evacuation_begins_is_counted_once() {
    for [first, second] in [[Cause::Drain, Cause::Close], [Cause::Close, Cause::Close], [Cause::Drain, Cause::Drain]] {
        let scene = forest().await;
        scene.tell(Wind::Drain);
        scene.tell(begin_to(first, meadow()));
        scene.tell(begin_to(second, meadow()));
        assert_eq!(standing(&scene).await, (UNDER_WAY_MAX as u64, 1, 0));
        assert_eq!(moved_and_gone(&scene).await, (ENTITIES, 0));
    }
}

#[actix_rt::test]
async fn whoever_is_on_the_move_when_an_evacuation_ends_is_counted_once_by_the_next() {
    let scene = forest().await;
    scene.tell(Wind::Drain);
    scene.tell(begin_to(Cause::Drain, meadow()));
    // Everybody is late for this one at once.
    scene.tell(Evacuate::Begin { cause: Cause::Drain, targets: vec![], deadline: Now(0) });
    scene.tell(Evacuate::Despawn { deadline: NEVER });
    assert_eq!(moved_and_gone(&scene).await, (UNDER_WAY_MAX as u64, 1));
}

#[actix_rt::test]
async fn a_drain_begins_anew_after_it_was_cancelled() {
    let scene = forest().await;
    scene.tell(begin(Cause::Drain));
    scene.tell(Evacuate::Cancel);
    assert_eq!(standing(&scene).await, (UNDER_WAY_MAX as u64, 0, 1));
    scene.tell(begin(Cause::Drain));
    let (on_the_move, waiting, kept) = standing(&scene).await;
    assert_eq!((on_the_move + waiting, kept), (ENTITIES, 0), "those on the move are tried again after it");
}

#[actix_rt::test]
async fn an_evacuation_that_is_over_takes_no_news_and_says_who_is_there() {
    let scene = forest().await;
    scene.tell(Wind::Drain);
    scene.tell(Evacuate::Begin { cause: Cause::Drain, targets: vec![], deadline: NEVER });
    let over = ask(&scene, Question::HowFar).await;
    assert!(over.is_over);
    assert_eq!(over.progress.kept, ENTITIES);
    scene.tell(Wind::Reopen);
    spawn(&scene, "walker").await;
    let later = ask(&scene, Question::HowFar).await;
    assert_eq!((later.is_over, later.progress.kept, later.progress.waiting), (true, ENTITIES + 1, 0));
}

#[actix_rt::test]
async fn who_waits_for_news_is_answered_once_there_is_some() {
    let scene = forest().await;
    let was = ask(&scene, Question::HowFar).await;
    let (reply, mut news) = oneshot::channel();
    scene.tell(AskScene(Question::HowFarThen { unlike: was, reply }));
    assert_eq!(ask(&scene, Question::HowFar).await, was);
    assert!(news.try_recv().is_err(), "nothing has happened");
    scene.tell(begin(Cause::Drain));
    let now = news.await.expect("an answer");
    assert_eq!((now.is_over, now.progress.under_way), (false, UNDER_WAY_MAX as u64));
    let at_once = ask(&scene, |reply| Question::HowFarThen { unlike: was, reply }).await;
    assert_eq!(at_once, now);
}

/// Entities on the move, whose turn has not come, and that stay.
async fn standing(scene: &Mailbox<SceneActor>) -> (u64, u64, u64) {
    let HowFar { progress, .. } = ask(scene, Question::HowFar).await;
    (progress.under_way, progress.waiting, progress.kept)
}

/// At the end: entities moved, and gone by other means.
async fn moved_and_gone(scene: &Mailbox<SceneActor>) -> (u64, u64) {
    let mut far = ask(scene, Question::HowFar).await;
    let end = async {
        while !far.is_over || far.unsettled > 0 {
            far = ask(scene, |reply| Question::HowFarThen { unlike: far, reply }).await;
        }
    };
    timeout(LIMIT, end).await.expect("everybody leaves");
    (far.progress.moved, far.progress.gone)
}

fn begin(cause: Cause) -> Evacuate {
    begin_to(cause, silent_target())
}

fn begin_to(cause: Cause, target: Target) -> Evacuate {
    Evacuate::Begin { cause, targets: vec![target], deadline: NEVER }
}

/// On the forest's own node.
fn meadow() -> Target {
    Target { own: Own::new(me(), MEADOW), capacity: 1_000, room: None }
}

/// On a node that never answers.
fn silent_target() -> Target {
    Target { own: Own::new(Session::new(2, 1), SceneId(2)), capacity: 1_000, room: None }
}

/// A scene with entities, and one without, on a node without links.
async fn forest() -> Mailbox<SceneActor> {
    forest_within(Limits::default()).await
}

async fn forest_within(limits: Limits) -> Mailbox<SceneActor> {
    let (node, _) = Node::start(me(), Make { limits, scenes: vec![FOREST, MEADOW], ..Make::default() });
    let scene = node.scene(FOREST);
    for _ in 0..ENTITIES {
        spawn(&scene, "walker").await;
    }
    scene
}
