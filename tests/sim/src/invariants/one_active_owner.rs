//! At most one scene is active for an entity, and only where the record says so; at rest, exactly one.

use slipgate_cluster::{Own, Record};
use slipgate_entity::OnlineId;

use super::Verdict;

/// At every step. No record, where its home is dead or incomplete.
pub(crate) fn check(entity: OnlineId, record: Option<&Record>, active: &[Own]) -> Verdict {
    match active {
        [] => Ok(()),
        [own] if record.is_none_or(|record| record.names(*own)) => Ok(()),
        _ => Err(format!("{entity} is active at {active:?}, and its record is {record:?}")),
    }
}

/// Once faults have ceased.
pub(crate) fn check_at_rest(entity: OnlineId, record: Option<&Record>, active: &[Own]) -> Verdict {
    let Some(record) = record else { return Err(format!("{entity} has no home")) };
    check(entity, Some(record), active)?;
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
    assert!(check(entity, Some(&record), &[own(1)]).is_ok());
    assert!(check(entity, None, &[own(2)]).is_ok());
    assert!(check(entity, Some(&record), &[own(2)]).is_err());
    assert!(check(entity, None, &[own(1), own(2)]).is_err());
    assert!(check(entity, Some(&Record::never()), &[own(1)]).is_err());
    assert!(check_at_rest(entity, Some(&record), &[own(1)]).is_ok());
    assert!(check_at_rest(entity, Some(&record), &[]).is_err() && check_at_rest(entity, None, &[]).is_err());
}
