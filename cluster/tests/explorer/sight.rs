//! What an outsider sees of an actor: as much as the promises speak of.

use slipgate_cluster::message::Sender;
use slipgate_cluster::{Epoch, Own, Record};
use slipgate_entity::OnlineId;

use super::body::Body;
use super::desks::{Desk, Fate};
use super::ensemble::Actor;
use super::plan::{Plan, session};
use super::stage::Stage;

/// What is seen of an actor.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    Scene(Scene),
    /// The record of each entity whose home it is.
    Home(Vec<Option<Record>>),
    Desk(Tool),
    Gone,
}

/// What is seen of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) me: Own,
    /// By index of the entity.
    pub(crate) here: Vec<Option<Here>>,
    /// Moves and copies that are not settled, and room that is reserved.
    pub(crate) unsettled: usize,
    /// Streams that are open, at either end.
    pub(crate) streams: usize,
}

impl Scene {
    /// Whether an entity is parked here.
    pub(crate) fn is_parked(&self, plan: &Plan, entity: OnlineId) -> bool {
        let here =
            self.here.iter().zip(plan.entities()).find(|(_, id)| *id == entity).and_then(|(here, _)| here.as_ref());
        here.is_some_and(|here| here.is_parked)
    }
}

/// How an entity stands in a scene.
#[derive(Clone, Debug)]
pub(crate) struct Here {
    pub(crate) stand: Stand,
    pub(crate) epoch: Epoch,
    /// Which copy it is.
    pub(crate) data: Epoch,
    pub(crate) body: Body,
    /// Messages that it has sent and that are not acknowledged.
    pub(crate) unacknowledged: u64,
    pub(crate) is_parked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    Active,
    Frozen,
    Deciding,
    Staged,
}

/// What is seen of the router.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    /// What became of each message, by its number less one.
    pub(crate) fates: Vec<Option<Fate>>,
    pub(crate) waiting: usize,
    /// Streams that are open, or to be closed.
    pub(crate) streams: usize,
}

impl Sight {
    pub(crate) fn of(actor: &Actor, plan: &Plan) -> Self {
        match actor {
            Actor::Scene(stage) => {
                let here = plan.entities().into_iter().map(|entity| here(stage, entity)).collect();
                stage.scene.audit();
                let tables = stage.scene.tables();
                let unsettled = stage.scene.unsettled() + stage.scene.arriving() + tables.parties;
                let streams = tables.open + tables.outboxes + tables.receivers;
                Self::Scene(Scene { me: stage.scene.me(), here, unsettled, streams })
            }
            Actor::Home(home) => {
                Self::Home(plan.entities().into_iter().map(|entity| home.directory.record(entity)).collect())
            }
            Actor::Desk(desk) => Self::Desk(Tool::of(desk, plan)),
            Actor::Gone => Self::Gone,
        }
    }
}

impl Tool {
    fn of(desk: &Desk, plan: &Plan) -> Self {
        let numbers = (1..=plan.says.len()).map(|number| u8::try_from(number).expect("few messages"));
        let tables = desk.router.tables();
        Self {
            fates: numbers.map(|number| desk.fates.get(&number).copied()).collect(),
            waiting: tables.waiting,
            streams: tables.streams + tables.receivers + tables.closings,
        }
    }
}

fn here(stage: &Stage, entity: OnlineId) -> Option<Here> {
    if let Some(stand) = stage.scene.stand(entity) {
        let body = stage.bodies[&entity].clone();
        let (epoch, data, unacknowledged) = (stand.epoch, stand.data, stand.unacknowledged);
        let is_parked = stand.parked.is_some();
        let stand = match stand.phase {
            "active" | "parked" => Stand::Active,
            "frozen" => Stand::Frozen,
            "deciding" => Stand::Deciding,
            phase => panic!("expected a phase of an entity, got {phase}"),
        };
        return Some(Here { stand, epoch, data, body, unacknowledged, is_parked });
    }
    let (label, body) = stage.aside.get(&entity)?.clone();
    Some(Here { stand: Stand::Staged, epoch: label, data: label, body, unacknowledged: 0, is_parked: false })
}

impl Here {
    /// Numbers of what it heard from the tool, in order.
    pub(crate) fn heard_from_tool(&self, plan: &Plan) -> &[u8] {
        self.body.heard.get(&Sender::Tool(session(plan.router))).map_or(&[], Vec::as_slice)
    }
}
