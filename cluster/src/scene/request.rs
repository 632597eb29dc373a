//! What is asked for when an entity is to move, and what is answered: for itself and for those who go along.
//!
//! Leaves out: all else that a scene is told (`port`); what becomes of the request (`leave`, `party`).

use slipgate_entity::{OnlineId, SceneId};

use super::port::Ticket;
use crate::moves::{Cost, MoveId, Outcome, Refusal};
use crate::schema::Part;
use crate::{Epoch, Own};

/// A request to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRequest {
    /// Names the request, where somebody waits for its answer.
    pub ticket: Option<Ticket>,
    /// Fresh id of the attempt.
    pub id: MoveId,
    /// The entity.
    pub entity: OnlineId,
    /// The target, or the number that no open scene has.
    pub to: Result<Own, SceneId>,
    /// Encoded size of the body now.
    pub body_bytes: u64,
    /// Its components, in the versions in which it would be encoded.
    pub components: Vec<Part>,
    /// What the entity itself says against it, if so.
    pub objection: Option<Refusal>,
    /// Who goes along, from the same scene; at most [`COMPANIONS`](crate::bounds::COMPANIONS). Nobody freezes before
    /// there is room for all; then each goes by itself. The answer comes once all attempts have ended, and lists them.
    pub companions: Vec<Companion>,
}

impl MoveRequest {
    /// A request of which nothing is known of the entity itself yet: no bytes, no components, no objection, nobody who
    /// goes along.
    #[must_use]
    pub fn new(ticket: Option<Ticket>, id: MoveId, entity: OnlineId, to: Result<Own, SceneId>) -> Self {
        let (components, objection, companions) = (Vec::new(), None, Vec::new());
        Self { ticket, id, entity, to, body_bytes: 0, components, objection, companions }
    }
}

/// Another entity that sets out with one that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// The entity.
    pub entity: OnlineId,
    /// Fresh id of its own attempt.
    pub id: MoveId,
    /// Encoded size of its body now.
    pub body_bytes: u64,
    /// Its components, in the versions in which it would be encoded.
    pub components: Vec<Part>,
    /// What it says itself against it, if so.
    pub objection: Option<Refusal>,
}

/// How an attempt to move ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveDone {
    /// The attempt.
    pub id: MoveId,
    /// The entity.
    pub entity: OnlineId,
    /// The target, or the number that no open scene has.
    pub to: Result<Own, SceneId>,
    /// How it ended.
    pub outcome: Outcome,
    /// The entity's epoch, as far as the source knows.
    pub epoch: Epoch,
    /// What it cost.
    pub cost: Cost,
    /// In the answer to whoever asked: how it went for those who were to come along, in the order of the request.
    pub companions: Vec<CompanionDone>,
}

/// How the attempt of one ended that was to come along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanionDone {
    /// The attempt.
    pub id: MoveId,
    /// The entity.
    pub entity: OnlineId,
    /// How it ended.
    pub outcome: Outcome,
}
