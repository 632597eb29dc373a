//! At most one scene is active for an entity, and only where the record says so; at rest, exactly one.

use slipgate_cluster::{Own, Record};
use slipgate_entity::OnlineId;

/// At every step.
pub(crate) fn check(entity: OnlineId, record: &Record, active: &[Own]) -> Result<(), String> {
    match active {
        [] => Ok(()),
        [own] if record.names(*own) => Ok(()),
        _ => Err(format!("{entity} is active at {active:?}, but its record is {record:?}")),
    }
}

/// Once faults have ceased.
pub(crate) fn check_at_rest(entity: OnlineId, record: &Record, active: &[Own]) -> Result<(), String> {
    check(entity, record, active)?;
    if record.owner.is_some() && active.is_empty() {
        return Err(format!("{entity} is active nowhere, though its record is {record:?}"));
    }
    Ok(())
}

#[test]
fn two_active_scenes_or_one_that_the_record_does_not_name_are_found() {
    use slipgate_cluster::Session;
    use slipgate_entity::{RangeId, SceneId};
    let own = |node| Own::new(Session::new(node, 1), SceneId::from(node));
    let (entity, record) = (OnlineId::new(RangeId(1), 1), Record::registered(own(1)));
    assert!(check(entity, &record, &[own(1)]).is_ok());
    assert!(check(entity, &record, &[own(2)]).is_err());
    assert!(check(entity, &record, &[own(1), own(2)]).is_err());
    assert!(check(entity, &Record::never(), &[own(1)]).is_err());
    assert!(check_at_rest(entity, &record, &[]).is_err());
}
