//! The desk of whichever life the node is in; between two lives there is none.

use std::sync::{Arc, PoisonError, RwLock};

use slipgate_actors::desk::Desk;
use slipgate_entity::game::Types;
use slipgate_proto::admin::{Answer, Problem, ProblemKind, Question};

use crate::admin::Oracle;

/// A handle on the node's desk, over all its lives; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SharedDesk {
    desk: Arc<RwLock<Option<Desk>>>,
    types: Types,
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
        *self.desk.write().unwrap_or_else(PoisonError::into_inner) = Some(desk);
    }

    pub(super) fn close(&self) {
        *self.desk.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Oracle for SharedDesk {
    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        let desk = self.desk.read().unwrap_or_else(PoisonError::into_inner).clone();
        match desk {
            Some(desk) => desk.ask(question).await,
            None => Err(Problem {
                kind: ProblemKind::Unavailable,
                reason: "joining".to_owned(),
                text: "this node has not joined the cluster: it waits for the manager".to_owned(),
                state: None,
                hint: Some("look at its log, or ask another node: slipgate status --at ...".to_owned()),
            }),
        }
    }
}
