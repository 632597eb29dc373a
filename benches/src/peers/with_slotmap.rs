//! [slotmap](https://docs.rs/slotmap): a table with a version for each slot, and the vacant slots in a list through
//! the table itself.

use slotmap::{DefaultKey, SlotMap};

use crate::slots::{Payload, Table};

#[derive(Default)]
pub(crate) struct WithSlotmap(SlotMap<DefaultKey, Payload>);

impl Table for WithSlotmap {
    type Id = DefaultKey;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> DefaultKey {
        self.0.insert(payload)
    }

    #[inline]
    fn despawn(&mut self, id: DefaultKey) -> bool {
        self.0.remove(id).is_some()
    }

    fn sum(&mut self, ids: &[DefaultKey]) -> u64 {
        ids.iter().filter_map(|&id| self.0.get(id)).fold(0, |sum, payload| sum.wrapping_add(payload[0]))
    }
}
