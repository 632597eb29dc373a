//! Once faults have ceased, a global entity is found by its name on every node, the same everywhere.

use slipgate_cluster::globals::Names;

use super::Verdict;

/// Whether a node finds whom it is to find; those who have just parted may be found, too.
pub(crate) fn finds(renowned: &Names, names: &Names) -> bool {
    renowned.iter().all(|(name, entity)| names.get(name) == Some(entity))
}

/// Long after: nobody is found who does not live.
pub(crate) fn check(renowned: &Names, names: &Names) -> Verdict {
    if renowned == names { Ok(()) } else { Err(format!("{names:?} are found, and there are {renowned:?}")) }
}

#[test]
fn a_global_entity_that_is_not_found_or_another_in_its_place_is_found_out() {
    use slipgate_entity::{OnlineId, RangeId};
    let names = |names: &[(&str, u32)]| -> Names {
        names.iter().map(|(name, counter)| ((*name).to_owned(), OnlineId::new(RangeId(1), *counter))).collect()
    };
    let renowned = names(&[("bank", 3)]);
    assert!(finds(&renowned, &names(&[("bank", 3), ("inn", 6)])) && check(&renowned, &renowned).is_ok());
    assert!(!finds(&renowned, &names(&[("bank", 6)])) && !finds(&renowned, &Names::new()));
    assert!(check(&renowned, &names(&[("bank", 3), ("inn", 6)])).is_err());
}
