//! Every request of a scene is answered exactly once.

use std::collections::BTreeMap;

use slipgate_cluster::scene::Ticket;

/// `answers` counts the answers of each request made.
pub(crate) fn check_at_rest(answers: &BTreeMap<Ticket, u32>) -> Result<(), String> {
    let wrong: Vec<_> = answers.iter().filter(|(_, count)| **count != 1).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("not answered once: {wrong:?}")) }
}

#[test]
fn a_request_without_an_answer_and_one_with_two_are_found() {
    assert!(check_at_rest(&[(Ticket(1), 1)].into()).is_ok());
    assert!(check_at_rest(&[(Ticket(1), 0)].into()).is_err());
    assert!(check_at_rest(&[(Ticket(1), 2)].into()).is_err());
}
