//! Every accepted message is applied, or answered `Dead`; and `Dead` is only said of the dead.

use slipgate_cluster::Record;

use crate::chaos::history::Line;

/// When a sender hears `Dead`.
pub(crate) fn check_dead(number: u64, receiver: &Record) -> Result<(), String> {
    match receiver.owner {
        None => Ok(()),
        Some(owner) => Err(format!("message {number} is answered dead, but its receiver lives at {owner:?}")),
    }
}

/// The ends of a line, once faults have ceased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The receiver lives: everything must be applied.
    ReceiverLives,
    /// The receiver is dead: everything is applied or answered.
    ReceiverDead,
    /// Nobody is left to be told.
    BothDead,
}

/// Once faults have ceased.
pub(crate) fn check_at_rest(line: &Line, ends: Ends) -> Result<(), String> {
    let open: Vec<_> = line.accepted.iter().skip(line.applied).copied().collect();
    let unanswered = match ends {
        Ends::ReceiverLives => open,
        Ends::ReceiverDead => open.into_iter().filter(|number| !line.dead.contains(number)).collect(),
        Ends::BothDead => Vec::new(),
    };
    if unanswered.is_empty() { Ok(()) } else { Err(format!("messages {unanswered:?} vanished ({ends:?})")) }
}

#[test]
fn a_message_that_vanished_and_a_false_dead_are_found() {
    use slipgate_cluster::{Own, Session};
    use slipgate_entity::SceneId;
    let line = Line { accepted: vec![1, 2, 3], applied: 1, dead: [3].into() };
    assert!(check_at_rest(&line, Ends::ReceiverLives).is_err());
    assert!(check_at_rest(&line, Ends::ReceiverDead).is_err());
    assert!(check_at_rest(&Line { applied: 2, ..line.clone() }, Ends::ReceiverDead).is_ok());
    assert!(check_at_rest(&line, Ends::BothDead).is_ok());
    assert!(check_dead(1, &Record::never()).is_ok());
    assert!(check_dead(1, &Record::registered(Own::new(Session::new(1, 1), SceneId(1)))).is_err());
}
