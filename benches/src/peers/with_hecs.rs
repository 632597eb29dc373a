//! [hecs](https://docs.rs/hecs): entities in columns by the components that they have, here one; looked up through a
//! view, its way to many of them.

use hecs::{Entity, World};

use crate::slots::{Payload, Table};

#[derive(Default)]
pub(crate) struct WithHecs(World);

impl Table for WithHecs {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> Entity {
        self.0.spawn((payload,))
    }

    #[inline]
    fn despawn(&mut self, id: Entity) -> bool {
        self.0.despawn(id).is_ok()
    }

    fn sum(&mut self, ids: &[Entity]) -> u64 {
        let view = self.0.view::<&Payload>();
        ids.iter().filter_map(|&id| view.get(id)).fold(0, |sum, payload| sum.wrapping_add(payload[0]))
    }
}
