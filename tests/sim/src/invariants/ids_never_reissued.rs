//! An id is given out once, and so is a range: also by a manager that starts again, and to a node that does.

use std::collections::{BTreeMap, BTreeSet};

use slipgate_cluster::Session;
use slipgate_entity::{OnlineId, RangeId};

use super::Verdict;

/// All that was given out.
#[derive(Debug, Default)]
pub(crate) struct Issued {
    ids: BTreeSet<OnlineId>,
    /// To whom, and in answer to which of its requests.
    ranges: BTreeMap<RangeId, (Session, u64)>,
}

impl Issued {
    pub(crate) fn id(&mut self, id: OnlineId) -> Verdict {
        if self.ids.insert(id) { Ok(()) } else { Err(format!("the id {id} is given out twice")) }
    }

    /// Whether an id was given out.
    pub(crate) fn knows(&self, id: OnlineId) -> bool {
        self.ids.contains(&id)
    }

    /// A range is granted; the same answer may be given twice.
    pub(crate) fn range(&mut self, range: RangeId, to: Session, request: u64) -> Verdict {
        let first = *self.ranges.entry(range).or_insert((to, request));
        if first == (to, request) {
            return Ok(());
        }
        Err(format!("range {range} is granted to {to:?} for its request {request}, and was to {first:?}"))
    }
}

#[test]
fn an_id_or_a_range_that_is_given_out_twice_is_found() {
    let mut issued = Issued::default();
    let (id, one, two) = (OnlineId::new(RangeId(1), 1), Session::new(1, 1), Session::new(1, 2));
    assert!(issued.id(id).is_ok() && issued.id(id).is_err());
    assert!(issued.range(RangeId(1), one, 1).is_ok() && issued.range(RangeId(1), one, 1).is_ok());
    assert!(issued.range(RangeId(1), one, 2).is_err() && issued.range(RangeId(1), two, 1).is_err());
}
