//! What a tool hears of an entity whose home changes while it is looked for.

use slipgate_cluster::message::{Control, Message, Nonce, ToolMessage};
use slipgate_cluster::{Envelope, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_proto::admin::{Problem, Question};

use crate::alone::{Alone, Kept};
use crate::node::me;

#[actix_rt::test]
async fn an_entity_is_not_unknown_because_somebody_else_is_its_home_by_now() {
    tokio::time::pause();
    let mut node = Alone::start();
    let (before, after) = (Session::new(2, 1), Session::new(3, 1));
    let (asked_before, asked_after) = (node.link(before), node.link(after));
    node.name_home(ann().range(), before);
    let desk = node.desk.clone();
    let (answer, ()) = tokio::join!(desk.ask(Question::Show { entity: ann().to_string() }), async {
        let nonce = asked(&asked_before).await;
        say(&node, before, Control::NotHome { entity: ann(), nonce });
        let nonce = asked(&asked_before).await;
        node.name_home(ann().range(), after);
        let record = Record::registered(Own::new(before, SceneId(1))).changed_to(None);
        say(&node, after, Control::RecordIs { entity: ann(), record, nonce: Some(asked(&asked_after).await) });
        // The first one answers late, and is not listened to any more.
        say(&node, before, Control::NotHome { entity: ann(), nonce });
    });
    let Problem { reason, .. } = answer.expect_err("she is dead");
    assert_eq!(reason, "dead");
}

#[actix_rt::test]
async fn an_entity_whose_home_denies_to_be_it_for_all_of_the_time_is_not_called_unknown_either() {
    tokio::time::pause();
    let mut node = Alone::start();
    let home = Session::new(2, 1);
    let kept = node.link(home);
    node.name_home(ann().range(), home);
    let desk = node.desk.clone();
    let denying = async {
        loop {
            let nonce = asked(&kept).await;
            say(&node, home, Control::NotHome { entity: ann(), nonce });
        }
    };
    let answer = tokio::select! {
        answer = desk.ask(Question::Show { entity: ann().to_string() }) => answer,
        () = denying => panic!("it denies for ever"),
    };
    assert_eq!(answer.expect_err("nobody knows").reason, "home_unreachable");
}

#[actix_rt::test]
async fn an_answer_counts_from_whoever_was_asked_alone() {
    tokio::time::pause();
    let mut node = Alone::start();
    let (home, other) = (Session::new(2, 1), Session::new(3, 1));
    let (asked_home, asked_other) = (node.link(home), node.link(other));
    node.name_home(ann().range(), home);
    let desk = node.desk.clone();
    let to = Place { session: me(), port: Port::Admin };
    let record = Record::registered(Own::new(home, SceneId(1))).changed_to(None);
    let (answer, ()) = tokio::join!(desk.ask(Question::Show { entity: ann().to_string() }), async {
        let nonce = asked(&asked_home).await;
        let alive = Record::registered(Own::new(other, SceneId(1)));
        say(&node, other, Control::RecordIs { entity: ann(), record: alive, nonce: Some(nonce) });
        say(&node, home, Control::RecordIs { entity: ann(), record, nonce: Some(nonce) });
    });
    assert_eq!(answer.expect_err("she is dead").reason, "dead");

    let ask = |message: &Message| {
        let Message::Tool(ToolMessage::Ask { nonce, .. }) = message else { return None };
        Some(*nonce)
    };
    let (answer, ()) = tokio::join!(desk.ask(Question::Scenes), async {
        let nonce = asked_home.await_one("which scenes?", ask).await;
        let nonsense = Message::Tool(ToolMessage::Answer { nonce, answer: vec![7; 10] });
        let from = Place { session: other, port: Port::Admin };
        node.post.send(vec![Envelope { from, to, message: nonsense }]);
        assert!(asked_home.await_one("it is asked again", ask).await == nonce);
    });
    drop((answer.expect("the scenes of those who answer"), asked_other));
}

fn ann() -> OnlineId {
    OnlineId::new(RangeId(7), 5)
}

/// The next question that comes to a home.
async fn asked(kept: &Kept) -> Nonce {
    let query = |message: &Message| {
        let Message::Control(Control::Query { entity, nonce }) = message else { return None };
        (*entity == ann()).then_some(*nonce)
    };
    kept.await_one("whose is ann?", query).await
}

fn say(node: &Alone, home: Session, control: Control) {
    let from = Place { session: home, port: Port::Directory };
    let to = Place { session: me(), port: Port::Admin };
    node.post.send(vec![Envelope { from, to, message: Message::Control(control) }]);
}
