//! [bevy_ecs](https://docs.rs/bevy_ecs) without its default features: entities in tables by the components that they
//! have, here one; looked up through a query, as a system does.

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::QueryState;
use bevy_ecs::world::World;

use crate::slots::{Payload, Table};

pub(crate) struct WithBevy {
    world: World,
    query: QueryState<&'static Held>,
}

#[derive(Component)]
struct Held(Payload);

impl Default for WithBevy {
    fn default() -> Self {
        let mut world = World::new();
        let query = world.query();
        Self { world, query }
    }
}

impl Table for WithBevy {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> Entity {
        self.world.spawn(Held(payload)).id()
    }

    #[inline]
    fn despawn(&mut self, id: Entity) -> bool {
        self.world.despawn(id)
    }

    fn sum(&mut self, ids: &[Entity]) -> u64 {
        let query = self.query.query(&self.world);
        ids.iter().filter_map(|&id| query.get(id).ok()).fold(0, |sum, held| sum.wrapping_add(held.0[0]))
    }
}
