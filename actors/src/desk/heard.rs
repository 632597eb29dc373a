//! Questions of other desks that were heard already: a repeat is answered, and not carried out, again.
//!
//! Keeps: a question under way is never forgotten, and one that was answered not before its answer would take too much room.

use std::collections::{BTreeMap, VecDeque};

use slipgate_cluster::Place;
use slipgate_cluster::message::Nonce;

/// The latest questions, and their answers as far as there are any.
#[derive(Debug, Default)]
pub(super) struct Heard {
    answers: BTreeMap<(Place, Nonce), Option<Vec<u8>>>,
    order: VecDeque<(Place, Nonce)>,
    bytes: usize,
}

/// What to do about a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// It is new: carry it out.
    New,
    /// It is being carried out.
    UnderWay,
    /// It was answered so.
    Answered(Vec<u8>),
}

impl Heard {
    pub(super) fn hear(&mut self, from: Place, nonce: Nonce) -> Hearing {
        match self.answers.get(&(from, nonce)) {
            Some(Some(answer)) => Hearing::Answered(answer.clone()),
            Some(None) => Hearing::UnderWay,
            None => {
                self.answers.insert((from, nonce), None);
                self.order.push_back((from, nonce));
                self.forget_oldest();
                Hearing::New
            }
        }
    }

    pub(super) fn answered(&mut self, from: Place, nonce: Nonce, answer: &[u8]) {
        if let Some(slot) = self.answers.get_mut(&(from, nonce)) {
            self.bytes += answer.len();
            *slot = Some(answer.to_vec());
            self.forget_oldest();
        }
    }

    /// Those under way are fewer than what is remembered, so some answered one is there to be forgotten.
    fn forget_oldest(&mut self) {
        while self.order.len() > QUESTIONS_MAX || self.bytes > BYTES_MAX {
            let is_answered = |key: &(Place, Nonce)| self.answers.get(key).is_some_and(Option::is_some);
            let Some(at) = self.order.iter().position(is_answered) else { return };
            let oldest = self.order.remove(at).expect("it was found there");
            self.bytes -= self.answers.remove(&oldest).flatten().map_or(0, |answer| answer.len());
        }
    }
}

/// Questions remembered; above what may be open at once, so that none under way is forgotten.
const QUESTIONS_MAX: usize = 2 * super::OPEN_MAX;
/// Bytes of answers remembered.
const BYTES_MAX: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use slipgate_cluster::{Port, Session};

    use super::*;

    fn desk(node: u16) -> Place {
        Place { session: Session::new(node, 1), port: Port::Admin }
    }

    #[test]
    fn a_repeat_is_not_carried_out_again_and_gets_the_same_answer() {
        let mut heard = Heard::default();
        assert_eq!(heard.hear(desk(1), Nonce(1)), Hearing::New);
        assert_eq!(heard.hear(desk(1), Nonce(1)), Hearing::UnderWay);
        assert_eq!(heard.hear(desk(2), Nonce(1)), Hearing::New);
        heard.answered(desk(1), Nonce(1), b"yes");
        assert_eq!(heard.hear(desk(1), Nonce(1)), Hearing::Answered(b"yes".to_vec()));
        assert_eq!(heard.hear(desk(2), Nonce(1)), Hearing::UnderWay);
    }

    #[test]
    fn large_answers_to_others_do_not_make_it_forget_what_is_under_way() {
        let mut heard = Heard::default();
        heard.hear(desk(1), Nonce(1));
        for nonce in 0..9 {
            heard.hear(desk(2), Nonce(nonce));
            heard.answered(desk(2), Nonce(nonce), &[0; 1 << 20]);
        }
        assert_eq!(heard.hear(desk(1), Nonce(1)), Hearing::UnderWay);
        assert!(heard.bytes <= BYTES_MAX);
    }

    #[test]
    fn what_is_remembered_is_bounded_in_number_and_bytes() {
        let mut heard = Heard::default();
        for nonce in 0..3 * QUESTIONS_MAX as u64 {
            heard.hear(desk(1), Nonce(nonce));
            heard.answered(desk(1), Nonce(nonce), &[0; 10_000]);
        }
        assert!(heard.answers.len() <= QUESTIONS_MAX && heard.bytes <= BYTES_MAX);
        assert_eq!(heard.order.len(), heard.answers.len());
    }
}
