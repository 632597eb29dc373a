//! What is told of an entity and of a move, in the words of the admin interface.

use slipgate_cluster::message::Parked;
use slipgate_cluster::scene::{CompanionDone, MoveDone};
use slipgate_cluster::{Own, View};
use slipgate_proto::admin::{CompanionRow, EntityReport, EntityRow, MoveReport, ParkedReport};

use super::question::SceneEntity;
use super::story::{explain, outcome_word, place_after, scene_text};

/// An entity of a scene in a line.
#[must_use]
pub fn entity_row(at: Own, found: &SceneEntity, view: &View) -> EntityRow {
    EntityRow {
        entity: found.entity.to_string(),
        type_name: found.stand.identity.type_name.to_string(),
        label: found.stand.identity.label.clone(),
        scene: view.scene_text(at.scene),
        node: view.node_text(at.session.node),
        state: found.stand.phase.to_owned(),
        epoch: found.stand.epoch.as_u64(),
    }
}

/// All that there is to tell of an entity of a scene, with its body in its own words.
#[must_use]
pub fn entity_report(at: Own, found: &SceneEntity, body: String, view: &View) -> EntityReport {
    let home = view.home_of(found.entity.range());
    let EntityRow { entity, type_name, label, scene, node, state, epoch } = entity_row(at, found, view);
    EntityReport {
        entity,
        type_name,
        label,
        scene,
        node,
        state,
        epoch,
        handle: found.handle.clone(),
        persist: found.stand.identity.persist.to_string(),
        home: home.map_or_else(|| "unknown".to_owned(), |home| view.node_text(home.session.node)),
        data: found.stand.data.as_u64(),
        reset: found.stand.base.as_u64(),
        senders: found.stand.senders,
        applied: found.stand.applied,
        unacknowledged: found.stand.unacknowledged,
        parked: found.stand.parked.as_ref().map(parked_report),
        body,
    }
}

/// What a move came to that has ended at `unix_ms`.
#[must_use]
pub fn move_report((from, label): (Own, Option<String>), done: &MoveDone, unix_ms: u64, view: &View) -> MoveReport {
    let (_, result, reason) = outcome_word(&done.outcome);
    let (from, to) = (view.own_text(from), scene_text(done.to, view));
    let companion = |CompanionDone { id, entity, outcome }: &CompanionDone| {
        let (_, result, reason) = outcome_word(outcome);
        CompanionRow {
            id: id.to_string(),
            entity: entity.to_string(),
            result: result.to_owned(),
            reason: reason.map(str::to_owned),
            text: explain(outcome, &to),
            at: place_after(outcome, &from, &to),
        }
    };
    MoveReport {
        companions: done.companions.iter().map(companion).collect(),
        id: done.id.to_string(),
        entity: done.entity.to_string(),
        label,
        text: explain(&done.outcome, &to),
        at: place_after(&done.outcome, &from, &to),
        from,
        to,
        result: result.to_owned(),
        reason: reason.map(str::to_owned),
        epoch: done.epoch.as_u64(),
        cost: done.cost,
        began_ms: unix_ms.saturating_sub(done.cost.total_us / 1000),
    }
}

fn parked_report(Parked { why, since_ms }: &Parked) -> ParkedReport {
    ParkedReport { why: why.clone(), since_ms: *since_ms }
}
