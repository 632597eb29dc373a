//! The desk of whichever life the node is in; between two lives there is none.

use std::sync::{Arc, PoisonError, RwLock};

use slipgate_actors::desk::Desk;
use slipgate_entity::game::Types;
use slipgate_proto::admin::{Answer, Problem, ProblemKind, Question};

use crate::admin::Oracle;
use crate::fault::Fault;

/// A handle on the node's desk, over all its lives; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SharedDesk {
    desk: Arc<RwLock<State>>,
    types: Types,
}

/// What there is to ask.
#[derive(Debug, Default)]
enum State {
    /// Nothing, between two lives.
    #[default]
    Joining,
    Open(Desk),
    /// Nothing, for good.
    Failed(Fault),
}

impl SharedDesk {
    /// The desk of a node that can host these types.
    pub(crate) fn new(types: Types) -> Self {
        Self { desk: Arc::default(), types }
    }

    /// What the node can host.
    pub(crate) fn types(&self) -> &Types {
        &self.types
    }

    pub(super) fn open(&self, desk: Desk) {
        self.put(State::Open(desk));
    }

    pub(super) fn close(&self) {
        self.put(State::Joining);
    }

    /// The node has met a fault: whoever asks from here on hears that.
    pub(super) fn fail(&self, fault: &Fault) {
        self.put(State::Failed(fault.clone()));
    }

    fn put(&self, state: State) {
        *self.desk.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// What there is to ask, or why there is nothing.
    fn get(&self) -> Result<Desk, Problem> {
        match &*self.desk.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(desk) => Ok(desk.clone()),
            State::Joining => Err(Problem {
                kind: ProblemKind::Unavailable,
                reason: "joining".to_owned(),
                text: "this node has not joined the cluster: it waits for the manager".to_owned(),
                state: None,
                hint: Some("look at its log, or ask another node: slipgate status --at ...".to_owned()),
            }),
            State::Failed(fault) => Err(Problem {
                kind: ProblemKind::Unavailable,
                reason: "fault".to_owned(),
                text: format!("this node has ended by a fault of Slipgate's own: {fault}"),
                state: Some("what its scenes held is lost once its lease is over".to_owned()),
                hint: Some("start it again, and report the fault".to_owned()),
            }),
        }
    }
}

impl Oracle for SharedDesk {
    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        self.get()?.ask(question).await
    }
}
