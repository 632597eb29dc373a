//! Ids of ranges that nobody has told this node of, and questions to a node that is lost or stops.

use slipgate_actors::mailbox::Halt;
use slipgate_cluster::Session;
use slipgate_cluster::manager::{ManagerReply, ManagerRequest};
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::{Now, Place, Port};
use slipgate_entity::RangeId;
use slipgate_proto::admin::{Answer, Outgoing, Problem, ProblemKind, Question};

use crate::alone::Alone;
use crate::node::me;

#[actix_rt::test]
async fn whoever_writes_to_an_id_that_was_never_given_out_hears_so_once_the_manager_was_asked() {
    tokio::time::pause();
    let node = Alone::start();
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(step("9.9")), async {
        let sent = renewal(&node).await;
        renew(&node, sent);
    });
    let Problem { reason, text, .. } = answer.expect_err("there is no range 9");
    assert_eq!(reason, "never_granted");
    assert_eq!(text, "no entity has ever had the id 9.9: no node was given ids of range 9");
}

#[actix_rt::test]
async fn a_range_that_the_manager_tells_of_when_it_is_asked_is_as_good_as_one_that_was_known() {
    tokio::time::pause();
    let mut node = Alone::start();
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(step("9.9")), async {
        let sent = renewal(&node).await;
        node.name_home(RangeId(9), Session::new(1, 1));
        renew(&node, sent);
    });
    let Ok(Answer::Sent(report)) = answer else { panic!("{answer:?}") };
    assert_eq!(report.accepted, 1);
}

#[actix_rt::test]
async fn a_manager_that_is_silent_leaves_it_open_whether_there_is_such_an_id() {
    tokio::time::pause();
    let node = Alone::start();
    for question in [step("9.9"), Question::Show { entity: "9.9".to_owned() }] {
        let Problem { reason, kind, .. } = node.desk.ask(question).await.expect_err("nobody knows");
        assert_eq!((reason.as_str(), kind), ("manager_silent", ProblemKind::Unavailable));
    }
}

#[actix_rt::test]
async fn whoever_asks_a_node_that_is_lost_meanwhile_hears_that_and_not_that_it_is_slow() {
    tokio::time::pause();
    let mut node = Alone::start();
    let other = Session::new(2, 1);
    let kept = node.link(other);
    node.name_home(RangeId(1), other);
    let question = Question::Send { via: Some("n2".to_owned()), messages: messages("1.1"), wait: false, timeout_ms: 0 };
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(question), async {
        kept.await_one("the question", |message| matches!(message, Message::Tool(_)).then_some(())).await;
        node.post.lose(other);
    });
    let Problem { reason, kind, text, .. } = answer.expect_err("nobody answers");
    // It may have been carried out.
    assert_eq!((reason.as_str(), kind), ("node_lost", ProblemKind::Timeout));
    assert!(text.starts_with("node n2 was lost before it answered"), "{text}");
}

#[actix_rt::test]
async fn whoever_waits_for_an_answer_when_the_node_stops_hears_that_it_may_have_been_done() {
    tokio::time::pause();
    let mut node = Alone::start();
    let other = Session::new(2, 1);
    let kept = node.link(other);
    node.name_home(RangeId(1), other);
    let question = || Question::Send { via: None, messages: messages("1.1"), wait: true, timeout_ms: 5_000 };
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(question()), async {
        kept.await_one("where it is", |message| matches!(message, Message::Control(_)).then_some(())).await;
        node.router.tell(Halt);
        desk.close();
    });
    let Problem { reason, kind, state, .. } = answer.expect_err("nobody has answered");
    assert_eq!((reason.as_str(), kind), ("stopping", ProblemKind::Timeout), "it was accepted");
    assert_eq!(state.as_deref(), Some("what was asked for may have been done"));
    let Problem { reason, kind, .. } = desk.ask(question()).await.expect_err("it has stopped");
    assert_eq!((reason.as_str(), kind), ("stopping", ProblemKind::Unavailable), "nothing was taken up");
}

fn step(entity: &str) -> Question {
    Question::Send { via: None, messages: messages(entity), wait: false, timeout_ms: 0 }
}

fn messages(entity: &str) -> Vec<Outgoing> {
    let arguments = r#"{"dx":1.0,"dy":0.0}"#.to_owned();
    vec![Outgoing { entity: entity.to_owned(), name: "step".to_owned(), arguments }]
}

async fn renewal(node: &Alone) -> Now {
    let renewal = |request: &ManagerRequest| {
        let ManagerRequest::Renew { sent, .. } = request else { return None };
        Some(*sent)
    };
    node.await_request("a renewal", renewal).await
}

fn renew(node: &Alone, sent: Now) {
    let reply = ManagerReply::Renewed { session: me(), sent };
    let member = Place { session: me(), port: Port::Member };
    node.post.send_one(Port::Manager, member, Message::Manager(ManagerMessage::Reply(reply)));
}
