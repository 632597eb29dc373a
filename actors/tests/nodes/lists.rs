//! Lists over nodes of which one does not answer.

use slipgate_cluster::Session;
use slipgate_proto::admin::{Answer, PartialList, Question, Rows};

use crate::alone::Alone;

#[actix_rt::test]
async fn a_list_names_the_nodes_that_did_not_answer() {
    tokio::time::pause();
    let mut node = Alone::start();
    let limit = 10;
    let questions = || {
        [
            Question::Entities { scene: None, type_name: None, limit },
            Question::Moves { limit },
            Question::Lost { limit },
        ]
    };
    for question in questions() {
        let answer = node.desk.ask(question).await.expect("a list");
        assert!(!matches!(answer, Answer::Partial(_)), "everybody has answered: {answer:?}");
    }
    let _silent = node.link(Session::new(2, 1));
    for question in questions() {
        let Ok(Answer::Partial(PartialList { rows, silent })) = node.desk.ask(question.clone()).await else {
            panic!("expected that something is missing: {question:?}")
        };
        assert_eq!(silent, ["n2"]);
        let asked = match rows {
            Rows::Entities(_) => Question::Entities { scene: None, type_name: None, limit },
            Rows::Moves(_) => Question::Moves { limit },
            Rows::Lost(_) => Question::Lost { limit },
        };
        assert_eq!(asked, question);
    }
    node.bury(Session::new(2, 1));
    for question in questions() {
        let answer = node.desk.ask(question).await.expect("a list");
        assert!(!matches!(answer, Answer::Partial(_)), "of the dead nothing is missing: {answer:?}");
    }
}
