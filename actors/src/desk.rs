//! The admin desk: answers questions of tools for the whole cluster.

use slipgate_proto::admin::{Answer, Problem, ProblemKind, Question};

/// A handle on the node's desk; cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {}

impl Desk {
    /// Answers a question, asking other nodes where they know more.
    ///
    /// # Errors
    ///
    /// If there is no answer; the problem says why, what state is left, and what to do.
    pub async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        let _ = question;
        Err(Problem {
            kind: ProblemKind::Unavailable,
            reason: "starting".into(),
            text: "the node is starting".into(),
            state: None,
            hint: None,
        })
    }
}
