//! What a tool hears that closes a scene while the manager is late.

use slipgate_cluster::manager::{ManagerReply, ManagerRequest, SceneNews};
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::view::{Clearing, SceneStage};
use slipgate_cluster::{Place, Port};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{self, Answer, CloseReport, Problem, ProblemKind, Question};

use crate::alone::Alone;
use crate::node::me;

const DUNGEON: SceneId = SceneId(0x1_8000);

#[actix_rt::test]
async fn a_scene_that_is_empty_is_not_closed_before_the_manager_says_so_and_that_is_a_time_out() {
    tokio::time::pause();
    let mut node = with_dungeon().await;
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(close(true)), async {
        grant(&mut node).await;
        node.await_news(DUNGEON, SceneNews::Cleared).await;
    });
    let Problem { kind, reason, text, state, .. } = answer.expect_err("the view never says that it is over");
    assert_eq!((kind, reason.as_str()), (ProblemKind::Timeout, "still_closing"), "{text}");
    assert_eq!(text, "nobody is left in dungeon, but the manager has not said within 10000 ms that it is over");
    assert!(state.is_some_and(|state| state.starts_with("it takes nobody in")));

    node.show(Some((DUNGEON, SceneStage::Over)));
    let problem = node.desk.ask(close(true)).await.expect_err("there is no such scene any more");
    assert_eq!(problem.reason, "unknown_scene");
}

#[actix_rt::test]
async fn a_scene_is_closed_for_the_tool_that_waits_as_soon_as_the_view_says_that_it_is_over() {
    tokio::time::pause();
    let mut node = with_dungeon().await;
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(close(true)), async {
        grant(&mut node).await;
        node.await_news(DUNGEON, SceneNews::Cleared).await;
        node.show(Some((DUNGEON, SceneStage::Over)));
    });
    let Ok(Answer::Closed(report)) = answer else { panic!("{answer:?}") };
    assert_eq!((report.state.as_str(), report.left), (CloseReport::CLOSED, 0));
}

#[actix_rt::test]
async fn a_manager_that_is_silent_leaves_it_open_what_becomes_of_the_scene_and_says_so() {
    tokio::time::pause();
    let node = with_dungeon().await;
    let name = "arena".to_owned();
    let open = Question::OpenScene { name, node: None, capacity: 9, timeout_ms: 700 };
    for (question, done) in [(open, "opened"), (close(false), "closed")] {
        let Problem { kind, reason, state, .. } = node.desk.ask(question).await.expect_err("nobody answers");
        assert_eq!((kind, reason.as_str()), (ProblemKind::Timeout, "manager_silent"));
        let said = format!("whether it is {done} is not known: the manager may still take the request up");
        assert_eq!(state, Some(said));
    }
}

/// With a scene made at run time that is open.
async fn with_dungeon() -> Alone {
    let mut node = Alone::start();
    node.show(Some((DUNGEON, SceneStage::Opening)));
    node.await_news(DUNGEON, SceneNews::Opened).await;
    node.show(Some((DUNGEON, SceneStage::Open)));
    node
}

/// The manager closes the scene as it is asked to.
async fn grant(node: &mut Alone) {
    let request = node.await_request("close the dungeon", |request| {
        let ManagerRequest::CloseScene { request, scene, .. } = request else { return None };
        (*scene == DUNGEON).then_some(*request)
    });
    let request = request.await;
    node.show(Some((DUNGEON, SceneStage::Closing(Clearing::Move))));
    let reply = ManagerReply::Scene { session: me(), request, result: Ok(DUNGEON) };
    let desk = Place { session: me(), port: Port::Admin };
    node.post.send_one(Port::Manager, desk, Message::Manager(ManagerMessage::Reply(reply)));
}

fn close(wait: bool) -> Question {
    Question::CloseScene { scene: "dungeon".to_owned(), clearing: admin::Clearing::Move, wait, timeout_ms: 10_000 }
}
